# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs about skills, whose problems stand in the Skills panel."""

from ...bridge.graph import views
from ..armature_verb import ArmatureVerb


class GraphVerb(ArmatureVerb):
    """A part of an operator that does something with the chosen armature's skills."""

    say = staticmethod(views.say)
