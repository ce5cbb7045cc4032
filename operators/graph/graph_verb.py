# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs about skills, whose problems stand in the Skills panel."""

from ..family_verb import FamilyRecipeVerb, FamilyVerb


class GraphVerb(FamilyVerb):
    """A part of an operator that does something with the chosen armature's skills."""

    family = "graph"


class GraphRecipeVerb(FamilyRecipeVerb):
    """The same for one that reads the skills, which takes a while."""

    family = "graph"
