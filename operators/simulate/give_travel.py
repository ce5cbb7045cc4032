# SPDX-License-Identifier: GPL-3.0-or-later
"""Give a walk or run on the spot the travel that its feet ask for, without physics."""

from dataclasses import replace

import bpy
from bpy.props import IntProperty

from ...bridge.jobs import recipes
from ...bridge.jobs.preparing import Recipe
from ..reporting import MotionVerb
from .simulate import keep_source_chosen, requested_motion


class SINEW_OT_give_travel(MotionVerb, bpy.types.Operator):
    """Make an Action of its own in which the chosen walk or run on the spot travels, as its feet ask for."""

    bl_idname = "sinew.give_travel"
    bl_label = "Give It Travel"
    bl_options = {"REGISTER", "UNDO"}

    cycles: IntProperty(
        name="Cycles", description="How many times over the cycle is played", default=5, min=1, max=1000
    )

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """The method that does it, for the chosen motion."""
        request = replace(requested_motion(scene), method="travel", settings={"cycles": self.cycles}, body=None)
        return recipes.simulate_recipe(request, doing="Giving travel to")

    def begun(self, scene: bpy.types.Scene) -> None:
        """The source stays chosen."""
        keep_source_chosen(scene.sinew)
