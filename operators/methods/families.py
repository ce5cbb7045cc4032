# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators of every family of methods, by what its methods declare."""

from collections.abc import Iterator

import bpy

from ...bridge.methods.declared import Product, families
from ..family_verb import make_operator
from .bake import BakeVerb
from .bring_along import BringAlongVerb
from .finish import FinishVerb
from .learn import LearnVerb
from .test import TestVerb

_VERBS = {Product.LEARNED_FILE: LearnVerb, Product.TAKE: BakeVerb, Product.REPORT: TestVerb}


def family_operators() -> Iterator[type[bpy.types.Operator]]:
    """``sinew.<method>`` of each, ``sinew.<family>_bring_along``, and ``_finish`` where learning can stop early."""
    for family in families():
        for product, verb in _VERBS.items():
            method = family.method(product)
            if method is not None:
                words = method.button or method.label, method.tooltip or method.help
                yield make_operator(method.name, *words, family.name, verb)
        label = family.learned.label
        about = (
            f"Copy the learned {label} into a folder beside the .blend, so that both can go to another machine together"
        )
        title = f"Copy {label.title()} Beside .blend"
        yield make_operator(f"{family.name}_bring_along", title, about, family.name, BringAlongVerb)
        if family.learn is not None and family.learn.stops_early:
            about = "Stop training now, and keep the best that was learned so far"
            if family.learn.makes_take:
                about = "Stop training now, keep the best that was learned so far, and bake a take of it"
            yield make_operator(f"{family.name}_finish", "Stop and Keep Best", about, family.name, FinishVerb)


CLASSES = tuple(family_operators())
