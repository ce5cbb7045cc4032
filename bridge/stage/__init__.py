# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage as it is declared on the scene's objects: terrain, obstacles, props, projectiles, pushes."""

from .reader import gravity_of, on_stage, read_stage, stage_in_pieces

__all__ = ["gravity_of", "on_stage", "read_stage", "stage_in_pieces"]
