# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators on a part of the body have in common."""

import bpy

from ...bridge.body import part_editing
from ...bridge.body.edits import override_row
from ...bridge.scene.report_lines import fit_line


class PartVerb:
    """A part of an operator that needs an active bone of the chosen character."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Say what is missing."""
        reason = part_editing.why_no_part(context)
        if reason:
            cls.poll_message_set(fit_line(reason))
        return not reason


class EditedPartVerb:
    """A part of an operator that needs an active bone of which something is said."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Say what is missing."""
        reason = part_editing.why_no_part(context)
        if not reason and override_row(context.scene.sinew.armature, part_editing.active_bone(context)) is None:
            reason = f"Bone '{part_editing.active_bone(context)}' is as it was fitted: edit it first"
        if reason:
            cls.poll_message_set(fit_line(reason))
        return not reason
