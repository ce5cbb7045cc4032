# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes: what was simulated for an armature, as a list on its object, each an Action with its report."""

from .rows import add_take, armatures_with_takes, baked_jobs, copies_of, original_of, row_at, take_owner

__all__ = ["add_take", "armatures_with_takes", "baked_jobs", "copies_of", "original_of", "row_at", "take_owner"]
