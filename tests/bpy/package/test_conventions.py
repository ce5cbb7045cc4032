# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's conventions, kept by all that Sinew registers: names, tooltips, overrides, and what the manifest says."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import bpy
import pytest

import sinew
from sinew import operators, panels
from sinew.core import errors

ROOT = Path(sinew.__file__).parent
ROOMS = ("bridge", "core", "operators", "panels")
OWNERS = ("Action", "Armature", "Bone", "Object", "PoseBone", "Scene", "WindowManager")
# What takes each of Blender's permissions: words of sources that use it.
PERMISSIONS = {
    "network": ("urllib.request", "http.client", "import socket", "import requests", "pip install"),
    "clipboard": ("window_manager.clipboard",),
    "camera": ("cv2", "VideoCapture"),
    "microphone": ("sounddevice", "pyaudio"),
}


def sources(*rooms):
    """(path, text) of every source of these rooms."""
    return [(path, path.read_text("utf-8")) for room in rooms for path in sorted((ROOT / room).rglob("*.py"))]


def groups():
    """Every group of properties that is registered."""
    return [cls for cls in bpy.types.PropertyGroup.__subclasses__() if cls.__module__.startswith("sinew.")]


def test_classes_are_named_as_blender_wants_it(addon):
    kinds = {bpy.types.Operator: "OT", bpy.types.Panel: "PT", bpy.types.UIList: "UL", bpy.types.PropertyGroup: "PG"}
    found = [*operators._CLASSES, *panels._CLASSES, *groups()]
    assert len(found) > 100
    for cls in found:
        prefix = next(word for kind, word in kinds.items() if issubclass(cls, kind))
        assert cls.__name__.startswith(f"SINEW_{prefix}_"), cls
        if issubclass(cls, bpy.types.Panel):
            assert cls.bl_idname == cls.__name__ and cls.bl_label[0].isupper()
        if prefix == "OT":
            assert cls.bl_idname == f"sinew.{cls.__name__.removeprefix('SINEW_OT_')}"


def test_every_property_has_a_name_and_a_tooltip(addon):
    rows = [(cls.__name__, prop) for cls in groups() for prop in cls.bl_rna.properties]
    for owner in OWNERS:
        found = getattr(bpy.types, owner).bl_rna.properties
        rows += [(owner, prop) for prop in found if prop.identifier.startswith("sinew")]
    own = bpy.context.preferences.addons["sinew"].preferences.bl_rna
    rows += [
        ("preferences", own.properties[name]) for name in set(own.properties.keys()) - set(own.base.properties.keys())
    ]
    assert len(rows) > 200 and {"Object", "Scene", "preferences"} <= {owner for owner, _ in rows}
    bare = [(owner, prop.identifier) for owner, prop in rows if not (prop.name and prop.description)]
    assert [row for row in bare if row[1] != "rna_type"] == []
    ended = [(owner, prop.identifier) for owner, prop in rows if prop.description.endswith(".")]
    assert ended == [], "Blender puts the full stop itself"


def test_all_that_is_said_of_an_object_can_be_said_of_an_override(addon):
    seen = []

    def look(struct):
        for prop in struct.properties:
            if prop.identifier == "rna_type" or (struct.identifier != "Object" and prop.identifier == "name"):
                continue  # rows are found by their names, which travel with them
            if struct.identifier == "Object" and not prop.identifier.startswith("sinew"):
                continue
            seen.append(f"{struct.identifier}.{prop.identifier}")
            assert prop.is_overridable, seen[-1]
            kind = getattr(prop, "fixed_type", None)
            if prop.type in {"POINTER", "COLLECTION"} and kind.identifier.startswith("SINEW_"):
                look(kind)

    look(bpy.types.Object.bl_rna)
    assert {"Object.sinew_body", "SINEW_PG_object.mass", "SINEW_PG_bone_override.role"} <= set(seen)


@pytest.mark.parametrize("room", ["bridge", "operators", "panels"])
def test_what_translators_read_is_literal(room):
    """Blender looks labels and tooltips up as they stand in the source: none may be put together there.

    Settings of methods say their labels in core, and are literal there.
    """
    found = 0
    for path, text in sources(room):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("bl_label", "bl_description"):
                found += 1
                assert isinstance(node.value, ast.Constant), f"{path}: {ast.unparse(node)}"
            if not isinstance(node, ast.Call) or not getattr(node.func, "id", "").endswith("Property"):
                continue
            for word in node.keywords:
                if word.arg in ("name", "description"):
                    found += 1
                    said = isinstance(word.value, ast.Constant) or _is_from_core(word.value)
                    assert said, f"{path}: {ast.unparse(node)}"
    assert found > 15


def _is_from_core(value):
    """``_METHODS[name].label`` and the like: what a method or its settings say of themselves."""
    return ast.unparse(value) in ("_METHODS[name].label", "_METHODS[name].help", "family.label")


@pytest.mark.parametrize("room", ["bridge", "operators", "panels"])
def test_every_error_names_the_fix(room):
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
    bare = [
        f"{path.name}:{node.lineno}"
        for path, text in sources(room)
        if not path.name.startswith("bench_")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in kinds
        and len(node.args) + len(node.keywords) < 2
    ]
    assert bare == []


def test_blender_accepts_the_manifest():
    """By the code that Blender itself validates extensions with."""
    script = Path(bpy.utils.system_resource("SCRIPTS")) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    done = subprocess.run(
        [sys.executable, str(script), "validate", str(ROOT)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "Success" in done.stdout, done.stdout + done.stderr


def test_the_manifest_asks_for_what_is_used_and_says_why():
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))
    text = "\n".join(text for _, text in sources(*ROOMS))
    used = {name for name, words in PERMISSIONS.items() if any(word in text for word in words)}
    assert set(manifest["permissions"]) == used | {"files"}, "jobs and their results are files"
    for reason in [*manifest["permissions"].values(), manifest["tagline"]]:
        assert 10 < len(reason) <= 64 and reason[0].isupper() and reason[-1].isalpha()
