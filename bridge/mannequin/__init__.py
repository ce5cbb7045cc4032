# SPDX-License-Identifier: GPL-3.0-or-later
"""Someone to wear the stock clips, and a place to stand: armature, skinned mesh, ground, light, camera."""

from .build import build
from .stage import Stage, build_set

__all__ = ["Stage", "build", "build_set"]
