# SPDX-License-Identifier: GPL-3.0-or-later
"""What is rarely touched: behind one switch that is remembered, and never hidden where it is not as it was at first."""

from collections.abc import Iterable
from typing import Any

import bpy

_BASIC: dict[str, tuple[str, ...]] = {
    "sampling": ("quality",),
    "graph_learn": ("quality",),
    "bounds_train": ("seconds",),
    "direct_train": ("minutes",),
    "direct_bake": ("physics", "quality"),
    "respond_train": ("minutes",),
    "respond_bake": ("physics", "quality"),
    "improvise_train": ("minutes",),
    "improvise_bake": ("seconds",),
}
"""The settings of a method that everybody needs; of a method that is not here, all."""


def shows_advanced(scene: bpy.types.Scene) -> bool:
    """Whether all there is is to be drawn."""
    return scene.sinew.show_advanced


def draw_rare(layout: bpy.types.UILayout, scene: bpy.types.Scene, owner: Any, names: Iterable[str]) -> None:
    """Fields that are rarely touched: all of them if that is wanted, else those that somebody has touched."""
    for name in names:
        if shows_advanced(scene) or is_changed(owner, name):
            layout.prop(owner, name)


def draw_method_settings(
    layout: bpy.types.UILayout, scene: bpy.types.Scene, method: str, owner: Any, names: Iterable[str]
) -> None:
    """Settings of a method in their order: those that everybody needs, and the others as ``draw_rare`` does."""
    basic = _BASIC.get(method)
    for name in names:
        if basic is None or name in basic:
            layout.prop(owner, name)
        else:
            draw_rare(layout, scene, owner, (name,))


def is_changed(owner: Any, name: str) -> bool:
    """Whether a property is not as it was at first."""
    kind, value = owner.bl_rna.properties[name], getattr(owner, name)
    if kind.type == "POINTER":
        return value is not None
    if getattr(kind, "is_array", False):
        return tuple(value) != tuple(kind.default_array)
    return value != kind.default
