# SPDX-License-Identifier: GPL-3.0-or-later
"""Send a take to the NLA."""

import bpy

from ...bridge.takes import take_operations
from .take_verb import TakeVerb


class SINEW_OT_take_to_nla(TakeVerb, bpy.types.Operator):
    """Put this take into the NLA, on a new track above all others, at its own frames, and let the NLA play."""

    bl_idname = "sinew.take_to_nla"
    bl_label = "Send to NLA"

    def do(self, obj: bpy.types.Object) -> str:
        """Make the track and the strip."""
        return take_operations.send_take_to_nla(obj, self.index)
