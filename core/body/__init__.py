# SPDX-License-Identifier: GPL-3.0-or-later
"""The physical body of a character: links, joints, shapes, mass, limits and gains."""

from .build import build_body
from .model import BodyModel, Joint, Link, Shape
from .poses import clip_of_pose, loss_of_clip, pose_of_clip, targets_of_pose
from .report import BodyReport

__all__ = [
    "BodyModel",
    "BodyReport",
    "Joint",
    "Link",
    "Shape",
    "build_body",
    "clip_of_pose",
    "loss_of_clip",
    "pose_of_clip",
    "targets_of_pose",
]
