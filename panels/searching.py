# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding things: long lists have a field above them, and rows without a name are found by what they say."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import bpy

_FEW = 8
"""So many rows are seen at a glance."""


def draw_search(layout: bpy.types.UILayout, scene: bpy.types.Scene, count: int) -> None:
    """A field to search what is listed below, where there is more than is seen at a glance."""
    if count > _FEW:
        layout.prop(scene.sinew, "search", text="", icon="VIEWZOOM")


def filter_sought(scene: bpy.types.Scene, rows: Sequence[Any], text_of: Callable[[Any], str]) -> list[Any]:
    """The rows that have what is sought in their text; all of them where few are listed, which nobody searches."""
    sought = scene.sinew.search.strip().casefold()
    if not sought or len(rows) <= _FEW:
        return list(rows)
    return [row for row in rows if sought in text_of(row).casefold()]


def list_flags(flag: int, sought: str, texts: Iterable[str]) -> list[int]:
    """What a ``UIList`` shows of its rows, each known by its text."""
    sought = sought.strip().casefold()
    return [flag if sought in text.casefold() else 0 for text in texts]
