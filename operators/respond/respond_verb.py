# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs about cues, whose problems stand in the Respond panel."""

from ..family_verb import FamilyVerb


class RespondVerb(FamilyVerb):
    """A part of an operator that does something with the chosen armature's cues."""

    family = "respond"
