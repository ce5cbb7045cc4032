# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs about bounds, whose problems stand in the Bounds panel."""

from ...bridge.bounds import views
from ..armature_verb import ArmatureVerb


class BoundsVerb(ArmatureVerb):
    """A part of an operator that does something with the chosen armature's bounds."""

    say = staticmethod(views.say)
