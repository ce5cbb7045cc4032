# SPDX-License-Identifier: GPL-3.0-or-later
"""Someone to wear the stock clips, and a place to stand: armature, skinned mesh, ground, light, camera."""

from .build import build
from .studio_set import StudioSet, build_set

__all__ = ["StudioSet", "build", "build_set"]
