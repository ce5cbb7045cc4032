# SPDX-License-Identifier: GPL-3.0-or-later
"""What the verbs about a family of methods have in common: one class a verb, and one operator of it a family."""

from typing import Any

import bpy

from ..bridge.methods.adapter import FamilyAdapter
from ..bridge.methods.adapters import get_adapter
from .armature_verb import ArmatureVerb, RecipeVerb


class FamilyVerb(ArmatureVerb):
    """A part of an operator that does something with a family of methods. Problems stand in the family's panel."""

    family: str

    @classmethod
    def adapter(cls) -> FamilyAdapter:
        """The family, for the scene's chosen armature."""
        return get_adapter(cls.family)

    def say(self, armature: str, problem: Any) -> None:
        """Show a problem in the family's panel, or none any more."""
        self.adapter().say(armature, problem)


class FamilyRecipeVerb(FamilyVerb, RecipeVerb):
    """The same for a verb whose work is a recipe."""


def make_operator(name: str, label: str, tooltip: str, family: str, *parts: type) -> type[bpy.types.Operator]:
    """The operator ``sinew.<name>`` of a family, with what its parts do."""
    known = {"bl_idname": f"sinew.{name}", "bl_label": label, "__doc__": f"{tooltip}.", "family": family}
    return type(f"SINEW_OT_{name}", (*parts, bpy.types.Operator), known | {"__module__": parts[0].__module__})
