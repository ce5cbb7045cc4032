# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of families that read more of a scene than their methods declare."""

from functools import cache
from importlib import import_module

from ...core.control import registry
from .adapter import FamilyAdapter

_OWN = {
    "graph": "..graph.adapter:GraphAdapter",
    "bounds": "..bounds.adapter:BoundsAdapter",
    "direct": "..direct.adapter:DirectAdapter",
    "respond": "..respond.adapter:RespondAdapter",
    "improvise": "..improvise.adapter:ImproviseAdapter",
}


@cache
def get_adapter(family: str) -> FamilyAdapter:
    """The adapter of a family of methods."""
    module, _, name = _OWN.get(family, ".adapter:FamilyAdapter").partition(":")
    adapter: FamilyAdapter = getattr(import_module(module, __package__), name)(registry.get_family(family))
    return adapter
