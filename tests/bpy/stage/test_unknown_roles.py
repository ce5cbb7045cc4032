# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles and strengths that only another version knows: such objects are not on the stage, and panels draw."""

import bpy

from sinew.bridge.stage.reader import objects_on_stage
from sinew.bridge.stage.views import stage_items


def test_what_another_version_wrote_is_passed_over(addon):
    scene = bpy.context.scene
    for name, role in (("Crate", "PROP"), ("Ball", "PROJECTILE"), ("Odd", "PROP")):
        obj = bpy.data.objects.new(name, bpy.data.meshes.new(name))
        scene.collection.objects.link(obj)
        obj.sinew.role = role
    bpy.data.objects["Odd"].sinew["role"] = 77
    bpy.data.objects["Ball"].sinew["intent"] = 77
    assert [obj.name for obj in objects_on_stage(scene)] == ["Ball", "Crate"]
    assert [item.name for item in stage_items(scene)] == ["Crate", "Ball"]
