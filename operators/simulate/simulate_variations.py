# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate the chosen Action several times over, each time a little different."""

import bpy

from ...bridge.jobs import recipes
from ...bridge.jobs.preparing import Recipe
from ...bridge.jobs.scene_request import variations_of
from ..reporting import SimulatingVerb
from .simulate import keep_source_chosen, requested_motion


class SINEW_OT_simulate_variations(SimulatingVerb, bpy.types.Operator):
    """Make takes to choose from: the same Action with pushes from other sides, at other times, one after the other."""

    bl_idname = "sinew.simulate_variations"
    bl_label = "Simulate Variations"
    bl_options = {"REGISTER", "UNDO"}  # as for one take

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Simulate all of them."""
        return recipes.variations_recipe(requested_motion(scene), variations_of(scene), anyway=self.anyway)

    def begun(self, scene: bpy.types.Scene) -> None:
        """The source stays chosen."""
        keep_source_chosen(scene.sinew)
