# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes: what was simulated for an armature, as a list on its object, each an Action with its report."""

from .copies import list_owner, moved_object, original_of
from .marks import ensure_mark
from .rows import add_take, armatures_with_takes, baked_jobs, copies_apart, copies_of, row_at, take_owner

__all__ = [
    "add_take",
    "armatures_with_takes",
    "baked_jobs",
    "copies_apart",
    "copies_of",
    "ensure_mark",
    "list_owner",
    "moved_object",
    "original_of",
    "row_at",
    "take_owner",
]
