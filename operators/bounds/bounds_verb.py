# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs about bounds, whose problems stand in the Bounds panel."""

from ..family_verb import FamilyVerb


class BoundsVerb(FamilyVerb):
    """A part of an operator that does something with the chosen armature's bounds."""

    family = "bounds"
