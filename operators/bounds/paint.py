# SPDX-License-Identifier: GPL-3.0-or-later
"""What loosening and tightening have in common: keys around the current frame."""

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty

from ...bridge.bounds import painting
from ...bridge.scene.chosen_armature import why_no_armature
from .bounds_verb import BoundsVerb

_KEPT = {"options": {"SKIP_SAVE"}}


class BoundsPaint(BoundsVerb):
    """A part of an operator that paints bounds; the panel gives it amount and frames, and both can be changed after."""

    amount: FloatProperty(
        name="By",
        description="How many times wider, or tighter, the bounds become",
        default=1.5,
        min=1.01,
        soft_max=4.0,
        max=100.0,
        **_KEPT,
    )
    frames: IntProperty(
        name="Frames",
        description="Over how many frames before the current one, and after it, that eases in and out",
        default=10,
        min=1,
        soft_max=120,
        max=100000,
        **_KEPT,
    )
    what: EnumProperty(items=painting.KINDS, name="What", description="Which bounds are painted", **_KEPT)

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be an Action for the keys, and a moment of it."""
        if reason := why_no_armature(context.scene):
            return reason
        return painting.why_not(context.scene.sinew.armature, context.scene.frame_current_final)

    def paint(self, context: bpy.types.Context, obj: bpy.types.Object, amount: float) -> str:
        """Key it; gives where."""
        frame = context.scene.frame_current_final
        painting.paint(obj, frame, self.frames, amount, self.what)
        return f"at frame {frame:g}, over {self.frames} frames before and after"
