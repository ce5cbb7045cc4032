# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage as it is declared on the scene's objects: terrain, obstacles, props, projectiles, pushes."""

from .reader import objects_on_stage, read_stage, read_stage_in_slices, scene_gravity

__all__ = ["objects_on_stage", "read_stage", "read_stage_in_slices", "scene_gravity"]
