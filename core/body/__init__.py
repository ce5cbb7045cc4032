# SPDX-License-Identifier: GPL-3.0-or-later
"""The physical body of a character: links, joints, shapes, mass, limits and gains."""

from .model import BodyModel, Joint, Link, Shape

__all__ = ["BodyModel", "Joint", "Link", "Shape"]
