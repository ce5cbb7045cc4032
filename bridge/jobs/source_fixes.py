# SPDX-License-Identifier: GPL-3.0-or-later
"""What a button sets to mend what looks wrong with a motion: always a setting, never the scene or the Action."""

from collections.abc import Callable

import bpy

from ...core.errors import BadSettings
from . import notices
from .scene_request import method_group, request_of


def apply_fix(scene: bpy.types.Scene, fix: str, value: float) -> None:
    """Set what mends it."""
    if fix not in _FIXES:
        raise BadSettings(f"There is no fix '{fix}'", f"Choose one of: {', '.join(_FIXES)}")
    _FIXES[fix](scene, value)


def apply_all_fixes(scene: bpy.types.Scene) -> None:
    """Set all that mends what is shown now."""
    offers = [(notice.fix, notice.value) for notice in notices.of(request_of(scene)) if notice.fix]
    if not offers:
        raise BadSettings("There is nothing to fix", "Check the motion first")
    for fix, value in dict.fromkeys(offers):
        apply_fix(scene, fix, value)


def fix_label(scene: bpy.types.Scene, fix: str, value: float) -> str:
    """What the button does."""
    return _LABELS[fix](scene, value)


def _use_scale(scene: bpy.types.Scene, value: float) -> None:
    scene.sinew.scale *= value


def _use_frame_rate(scene: bpy.types.Scene, value: float) -> None:
    scene.sinew.true_fps = value


def _use_trim(scene: bpy.types.Scene, value: float) -> None:
    method_group(scene).trim = "auto"


def _use_travel(scene: bpy.types.Scene, value: float) -> None:
    method_group(scene).travel = "auto"


_FIXES: dict[str, Callable[[bpy.types.Scene, float], None]] = {
    "scale": _use_scale,
    "frame_rate": _use_frame_rate,
    "trim": _use_trim,
    "travel": _use_travel,
}
_LABELS: dict[str, Callable[[bpy.types.Scene, float], str]] = {
    "scale": lambda scene, value: f"Fix: {scene.sinew.scale * value:.3g} Metres a Unit",
    "frame_rate": lambda _, value: f"Fix: {value:g} Frames a Second",
    "trim": lambda *_: "Fix: Leave It Out",
    "travel": lambda *_: "Fix: Let It Travel",
}
