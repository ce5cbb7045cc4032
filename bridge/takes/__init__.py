# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes: what was simulated for an armature, as a list on its object, each an Action with its report."""

from .rows import add, armatures_with_takes, baked_jobs, copies_of, model_of, owner_of, row_at

__all__ = ["add", "armatures_with_takes", "baked_jobs", "copies_of", "model_of", "owner_of", "row_at"]
