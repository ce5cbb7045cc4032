# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs about libraries and style tags, whose problems stand in the panel of what uses them."""

from ..family_verb import FamilyRecipeVerb, FamilyVerb


class LibraryVerb(FamilyVerb):
    """A part of an operator that does something with the chosen armature's style tags."""

    family = "direct"


class LibraryRecipeVerb(FamilyRecipeVerb):
    """The same for one that reads Actions, which takes a while."""

    family = "direct"
