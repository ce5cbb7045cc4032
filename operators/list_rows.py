# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists in panels: verbs that need a row of one, and what removing the chosen row means."""

from typing import Any

import bpy

from .reporting import SaysWhyNot


class NeedsRows(SaysWhyNot):
    """A part of an operator that needs rows in a list of the chosen armature's.

    rows_path: the list's data path from the armature. no_rows: what is said where it is empty, with the fix.
    """

    rows_path: str
    no_rows: str

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be one."""
        if reason := super().why_not(context):
            return reason
        return "" if context.scene.sinew.armature.path_resolve(cls.rows_path) else cls.no_rows


def chosen_row(owner: Any, rows_name: str, index_name: str) -> int:
    """Which row of a list is chosen; the last stands for a choice beyond the end, as an undo or a script may leave."""
    return int(min(getattr(owner, index_name), len(getattr(owner, rows_name)) - 1))


def remove_chosen_row(owner: Any, rows_name: str, index_name: str) -> int:
    """Take the chosen row off a list; the choice stays within what is left. Gives which row it was."""
    rows, index = getattr(owner, rows_name), chosen_row(owner, rows_name, index_name)
    rows.remove(index)
    setattr(owner, index_name, max(min(index, len(rows) - 1), 0))
    return index
