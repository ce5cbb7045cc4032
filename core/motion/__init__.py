# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons, clips and takes: what an Action is once it has come through the bridge."""

from .clip import Clip, Tag
from .skeleton import Skeleton
from .take import PropMotion, Take

__all__ = ["Clip", "PropMotion", "Skeleton", "Tag", "Take"]
