# SPDX-License-Identifier: GPL-3.0-or-later
"""A .blend whose properties hold junk: what Sinew keeps in it is set to anything, then drawn, listed and asked for."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Iterator

import bpy
import numpy as np

from sinew.bridge import cli
from sinew.bridge.importing.importers import open_input
from sinew.bridge.jobs import monitor

from .mutations import NAMES, NUMBERS, junk, pick

_TEXTS = (
    *NAMES,
    "[]",
    "{}",
    "null",
    "[1,2",
    '{"a": 1e999}',
    "//sinew/gone.npz",
    "/dev/zero",
    "/proc/self/mem",
    "//",
    "~",
)


@contextlib.contextmanager
def registered() -> Iterator[None]:
    """Sinew as an add-on."""
    package = sys.modules["sinew"]
    addons = bpy.context.preferences.addons
    if "sinew" not in addons:
        addons.new().module = "sinew"
    package.register()
    try:
        yield
    finally:
        package.unregister()


def open_and_draw(path: Path, seed: int) -> None:
    """Open it, spoil it, then do what an animator's looking and clicking does."""
    rng = np.random.default_rng(seed)
    with registered():
        open_input(str(path))
        spoil(rng)
        bpy.context.view_layer.update()
        for _ in range(2):
            monitor.tick_monitor()
            draw_panels()
        ask_operators()
        cli.main(["takes"])
        cli.main(["takes", "--json"])


def spoil(rng: np.random.Generator) -> None:
    """Set a few of Sinew's properties to what nobody would."""
    owners = [*bpy.data.scenes, *bpy.data.objects]
    for _ in range(int(rng.integers(1, 12))):
        # Looked up each time: rows move in memory when others come or go.
        owner, name = pick([field for owner in owners for field in _fields(owner, owner.bl_rna)], rng)
        with contextlib.suppress(TypeError, ValueError, AttributeError, RuntimeError, ReferenceError, OverflowError):
            _spoil_one(owner, name, rng)
    for owner in owners:
        for key in [key for key in list(owner.keys()) if key.startswith("sinew")]:
            value = holdable(junk(rng))
            if rng.random() < 0.1 and not _is_no_list_of_rows(value):
                with contextlib.suppress(TypeError, ValueError, OverflowError, KeyError):
                    owner[key] = value
    for action in bpy.data.actions:
        if rng.random() < 0.3:
            with contextlib.suppress(TypeError, ValueError, OverflowError, KeyError):
                action[str(pick(("sinew_take", "sinew_source", "sinew_placed", "sinew"), rng))] = holdable(junk(rng))


def _is_no_list_of_rows(value: Any) -> bool:
    """Whether Blender 4.5 would take it for rows and read memory that is none: only a file can be mended for that."""
    return isinstance(value, list) and any(isinstance(one, (str, list, dict)) for one in value)


def holdable(value: Any) -> Any:
    """The value as far as Blender can hold it at all: Python itself fails where a text is none."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and abs(value) >= 2**31:
        return float(value)
    if isinstance(value, dict):
        return {holdable(key): holdable(one) for key, one in value.items()}
    return [holdable(one) for one in value] if isinstance(value, list) else value


def _fields(owner: Any, rna: Any, within: bool = False) -> list[tuple[Any, str]]:
    found: list[tuple[Any, str]] = []
    for prop in rna.properties:
        name = prop.identifier
        if not within and not name.startswith("sinew"):
            continue
        if name == "rna_type":
            continue
        value = getattr(owner, name, None)
        if prop.type == "POINTER" and isinstance(value, bpy.types.PropertyGroup):
            found += _fields(value, value.bl_rna, within=True)
        elif prop.type == "COLLECTION" and hasattr(value, "add"):
            found.append((owner, name))
            for row in value:
                found += _fields(row, row.bl_rna, within=True)
        elif prop.type in ("STRING", "INT", "FLOAT", "BOOLEAN", "ENUM"):
            found.append((owner, name))
    return found


def _spoil_one(owner: Any, name: str, rng: np.random.Generator) -> None:
    prop = owner.bl_rna.properties[name]
    if prop.type == "COLLECTION":
        rows = getattr(owner, name)
        if rng.random() < 0.3:
            rows.clear()
        else:
            for _ in range(int(2 ** rng.uniform(0, 6))):
                rows.add()
    elif prop.type == "STRING":
        setattr(owner, name, holdable(pick(_TEXTS, rng)))
    elif prop.type == "ENUM" and rng.random() < 0.3:
        owner[name] = int(rng.integers(-5, 2**31 - 1))  # as a file of another version may hold it
    elif prop.type == "ENUM":
        setattr(owner, name, pick(prop.enum_items, rng).identifier)
    elif prop.type == "BOOLEAN":
        setattr(owner, name, bool(rng.integers(2)))
    else:
        value = holdable(pick((*NUMBERS, float("nan"), float("inf")), rng))
        values = [value] * len(getattr(owner, name)) if getattr(prop, "is_array", False) else value
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            owner[name] = values  # past the property's own limits
            return
        setattr(owner, name, int(value) if prop.type == "INT" else value)


class Canvas:
    """A layout that takes anything that a panel draws, and draws the rows of lists."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: Canvas()

    def __setattr__(self, name: str, value: Any) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        return iter((Canvas(), Canvas()))

    def progress(self, factor: float = 0.0, text: str = "") -> None:
        """Blender wants a number here."""
        if not 0.0 <= factor <= 1.0:
            raise ValueError("a bar of %r" % factor)

    def label(self, text: str = "", icon: str = "NONE", **_: Any) -> None:
        """Blender wants text that is one."""
        text.encode()

    def template_list(self, kind: str, _: str, data: Any, name: str, active: Any, active_name: str, **__: Any) -> None:
        """As Blender: filter, then draw each row."""
        list_type = getattr(bpy.types, kind)
        rows = getattr(data, name)
        for index, row in enumerate(rows):
            drawn = (None, drawing_context(), Canvas(), data, row, 0, active, active_name)
            count = list_type.draw_item.__code__.co_argcount
            list_type.draw_item(*drawn, *((index,) if count > len(drawn) else ()))


def draw_panels() -> None:
    """Every panel of Sinew's, as far as its poll lets it, for each thing that a character can do."""
    chosen = bpy.context.scene.sinew
    before = chosen.what
    for item in chosen.bl_rna.properties["what"].enum_items:
        chosen.what = item.identifier
        _draw_panels()
    if before:  # else the file had a number that stands for nothing
        chosen.what = before


def _draw_panels() -> None:
    context = drawing_context()
    for name in sorted(dir(bpy.types)):
        panel = getattr(bpy.types, name)
        if not name.startswith("SINEW_PT_") or name.endswith("_presets"):
            continue
        if hasattr(panel, "poll") and not panel.poll(context):
            continue
        panel.draw(SimpleNamespace(layout=Canvas(), bl_label=""), context)
        if hasattr(panel, "draw_header"):
            panel.draw_header(SimpleNamespace(layout=Canvas()), context)


def drawing_context() -> SimpleNamespace:
    """A context as panels have it; in the background Blender's interface has no size."""
    style = SimpleNamespace(widget=SimpleNamespace(points=11.0))
    return SimpleNamespace(
        scene=bpy.context.scene,
        active_object=bpy.context.view_layer.objects.active,
        object=bpy.context.view_layer.objects.active,
        view_layer=bpy.context.view_layer,
        region=SimpleNamespace(width=320),
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0), ui_styles=[style], addons={}),
    )


def ask_operators() -> None:
    """Whether each of Sinew's verbs could be done now."""
    for name in dir(bpy.ops.sinew):
        getattr(bpy.ops.sinew, name).poll()
