# SPDX-License-Identifier: GPL-3.0-or-later
"""The few materials of the mannequin and its stage."""

import bpy

Colour = tuple[float, float, float]


def plain_material(name: str, colour: Colour, roughness: float) -> bpy.types.Material:
    """An evenly coloured material (linear RGB), the same in the solid view."""
    material, shader = _principled(name)
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    material.diffuse_color = (*colour, 1.0)
    material.roughness = roughness
    return material


def checker_material(name: str, light: Colour, dark: Colour, square_m: float) -> bpy.types.Material:
    """Squares of ``square_m`` in the object's own space, so that a sliding foot shows."""
    material, shader = _principled(name)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    place = nodes.new("ShaderNodeTexCoord")
    texture = nodes.new("ShaderNodeTexChecker")
    texture.inputs["Color1"].default_value = (*light, 1.0)
    texture.inputs["Color2"].default_value = (*dark, 1.0)
    texture.inputs["Scale"].default_value = 1.0 / square_m
    links.new(place.outputs["Object"], texture.inputs["Vector"])
    links.new(texture.outputs["Color"], shader.inputs["Base Color"])
    shader.inputs["Roughness"].default_value = 0.9
    # Nothing glints on it, and without a gloss it renders in two thirds of the time.
    shader.inputs["Specular IOR Level"].default_value = 0.0
    material.diffuse_color = (*light, 1.0)
    return material


def _principled(name: str) -> tuple[bpy.types.Material, bpy.types.Node]:
    material = bpy.data.materials.new(name)
    if material.node_tree is None:  # before 5.0 a material has no nodes until asked
        material.use_nodes = True
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    return material, shader
