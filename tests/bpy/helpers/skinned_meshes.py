# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes made by hand, and skinned to an armature."""

import bpy
import numpy as np


def tube(name="Body", radius=0.1, rings=7, sides=8, height=1.5):
    """A closed tube around the arm's bones, not linked to anything yet."""
    up, around = np.linspace(0.0, height, rings), 2 * np.pi * np.arange(sides) / sides
    points = [(radius * np.cos(a), radius * np.sin(a), z) for z in up for a in around]
    faces = [
        (r * sides + s, r * sides + (s + 1) % sides, (r + 1) * sides + (s + 1) % sides, (r + 1) * sides + s)
        for r in range(rings - 1)
        for s in range(sides)
    ]
    faces += [tuple(range(sides)), tuple(range((rings - 1) * sides, rings * sides))]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def skin(mesh, armature, parent=True):
    """Weights by height, half a metre a bone, and an armature modifier."""
    for index in range(3):
        group = mesh.vertex_groups.new(name=f"bone{index}")
        own = [v.index for v in mesh.data.vertices if min(int(v.co.z / 0.5), 2) == index]
        group.add(own, 1.0, "REPLACE")
    modifier = mesh.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    if parent:
        mesh.parent = armature
    return mesh
