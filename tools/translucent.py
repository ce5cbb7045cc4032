# SPDX-License-Identifier: GPL-3.0-or-later
"""A material that one looks through, for the pictures that tools here make."""

from __future__ import annotations

import bpy


def make_translucent(material: bpy.types.Material, share: float) -> bpy.types.Material:
    """Let only a share of the material be seen, from 0 to 1, and the rest be clear; gives it back."""
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    output = next(node for node in nodes if node.type == "OUTPUT_MATERIAL")
    clear, mixed = nodes.new("ShaderNodeBsdfTransparent"), nodes.new("ShaderNodeMixShader")
    mixed.inputs[0].default_value = share
    links.new(clear.outputs[0], mixed.inputs[1])
    links.new(shader.outputs[0], mixed.inputs[2])
    links.new(mixed.outputs[0], output.inputs["Surface"])
    return material
