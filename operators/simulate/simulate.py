# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate the chosen Action in a worker process."""

from dataclasses import replace

import bpy

from ...bridge import takes
from ...bridge.jobs import recipes
from ...bridge.jobs.preparing import Recipe
from ...bridge.jobs.requests import Request
from ...bridge.jobs.scene_request import request_of
from ..reporting import SimulatingVerb


class SINEW_OT_simulate(SimulatingVerb, bpy.types.Operator):
    """Send the chosen armature's Action to a worker and bake what comes back as a new Action beside it."""

    bl_idname = "sinew.simulate"
    bl_label = "Simulate Selected Action"
    # A started job cannot be undone; the step is there so that undoing its bake stops right before the bake.
    bl_options = {"REGISTER", "UNDO"}

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Simulate it."""
        return recipes.simulate_recipe(requested_motion(scene), anyway=self.anyway)

    def begun(self, scene: bpy.types.Scene) -> None:
        """The source stays chosen."""
        keep_source_chosen(scene.sinew)


def requested_motion(scene: bpy.types.Scene) -> Request:
    """What the animator asks for, with the name of what moves the armature now where no Action is chosen."""
    request, data = request_of(scene), scene.sinew.armature.animation_data
    moved = data is not None and data.action is not None
    return replace(request, action=data.action.name) if moved and not request.action else request


def keep_source_chosen(chosen: bpy.types.PropertyGroup) -> None:
    """Choose the source in the panel: once its result is baked, it is no longer what moves the armature.

    The armature is marked within this step, so that undoing what comes later leaves it known by its mark.
    """
    takes.ensure_mark(chosen.armature)
    data = chosen.armature.animation_data
    if chosen.action is None and data is not None and data.action is not None:
        chosen.action = data.action
