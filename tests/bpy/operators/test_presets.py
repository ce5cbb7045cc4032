# SPDX-License-Identifier: GPL-3.0-or-later
"""Menus of presets: shipped ones fill in the panel and stay, one's own come and go, and using one can be undone."""

from pathlib import Path

import bpy
import pytest

import sinew
from sinew.core.sim.variations import VariationSettings

from ..helpers.interface import hero, refusal
from ..helpers.stage_objects import arrow

KINDS = ("body", "gains", "bounds", "style", "disturbance", "push")


@pytest.fixture
def person(addon, tmp_path, monkeypatch):
    """An armature, chosen in the panel with a method that has physics, and a push, which is active."""
    monkeypatch.setenv("BLENDER_USER_SCRIPTS", str(tmp_path / "scripts"))
    bpy.ops.ed.undo_push(message="Original")
    obj = hero()
    bpy.context.scene.sinew.method = "sampling"
    bpy.context.view_layer.objects.active = arrow("Push")
    bpy.ops.ed.undo_push(message="Person")
    return obj


def verb(kind, more=""):
    return getattr(bpy.ops.sinew, f"{kind}_preset{more}")


def shipped(kind):
    folder = Path(sinew.__file__).parent / "presets" / "sinew" / kind
    assert str(folder) in bpy.utils.preset_paths(f"sinew/{kind}")
    return sorted(folder.glob("*.py"))


def values(kind):
    """What a preset of that kind is about, as plain values."""
    scene = bpy.context.scene
    obj = scene.sinew.armature
    body, training, push = obj.sinew_body, scene.sinew.methods.bounds_train, bpy.data.objects["Push"].sinew
    return {
        "body": lambda: (body.preset, body.gains, body.mass_kg),
        "gains": lambda: (body.gains, body.muscle),
        "bounds": lambda: (tuple(obj.sinew_bounds.com), obj.sinew_bounds.use_joints, len(obj.sinew_bound_parts)),
        "style": lambda: (training.style, training.strength),
        "disturbance": lambda: _varied(scene.sinew.variations),
        "push": lambda: (push.force, push.duration),
    }[kind]()


def _varied(own):
    return own.least_n, own.most_n, own.side, own.throw, own.mass, own.friction, own.gravity


def change(kind):
    """Set everything that a preset of that kind is about to something that no preset has."""
    scene = bpy.context.scene
    obj = scene.sinew.armature
    if kind in ("body", "gains"):
        obj.sinew_body.mass_kg, obj.sinew_body.muscle = 12.5, 0.25
    elif kind == "bounds":
        obj.sinew_bounds.com = (0.5, 0.25, 0.125)
    elif kind == "style":
        scene.sinew.methods.bounds_train.strength = 0.125
    elif kind == "disturbance":
        scene.sinew.variations.most_n, scene.sinew.variations.gravity = 4000.0, 0.5
    else:
        bpy.data.objects["Push"].sinew.force = 1234.0
    bpy.ops.ed.undo_push(message="Change")


@pytest.mark.parametrize("kind", KINDS)
def test_each_menu_has_presets_that_differ_and_its_operators(person, kind):
    menu = getattr(bpy.types, f"SINEW_PT_{kind}_presets")
    assert menu.preset_subdir == f"sinew/{kind}"
    assert (menu.preset_operator, menu.preset_add_operator) == (f"sinew.{kind}_preset", f"sinew.{kind}_preset_add")
    found = []
    for path in shipped(kind):
        change(kind)
        assert verb(kind)(filepath=str(path)) == {"FINISHED"}
        found.append(values(kind))
    assert len(found) > 1 and len(set(found)) == len(found)


@pytest.mark.parametrize("kind", KINDS)
def test_using_one_is_one_step_back_and_forth(person, kind):
    change(kind)
    before = values(kind)
    assert verb(kind)("EXEC_DEFAULT", True, filepath=str(shipped(kind)[0])) == {"FINISHED"}
    after = values(kind)
    assert after != before
    for _ in range(2):
        bpy.ops.ed.undo()
        assert values(kind) == before
        bpy.ops.ed.redo()
        assert values(kind) == after


@pytest.mark.parametrize("kind", KINDS)
def test_ones_own_is_kept_used_and_removed(person, tmp_path, kind):
    change(kind)
    wanted = values(kind)
    assert verb(kind, "_add")(name="My Own") == {"FINISHED"}
    (kept,) = (tmp_path / "scripts").rglob("*.py")
    assert kept.relative_to(tmp_path / "scripts") == Path("presets", "sinew", kind, "My_Own.py")
    verb(kind)(filepath=str(shipped(kind)[0]))
    assert values(kind) != wanted
    verb(kind)(filepath=str(kept))
    assert values(kind) == wanted
    with refusal("There is a preset 'My Own' already", "another name"):
        verb(kind, "_add")(name="My Own")
    assert verb(kind, "_add")(name="My Own", remove_name=True) == {"FINISHED"}
    assert not kept.exists()
    with refusal("There is no preset 'My Own'"):
        verb(kind, "_add")(name="My Own", remove_name=True)


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_with_sinew_stays(person, kind):
    before = {path: path.read_bytes() for path in shipped(kind)}
    name = bpy.path.display_name(shipped(kind)[0].name, title_case=False)
    with refusal(f"'{name}' comes with Sinew and stays"):
        verb(kind, "_add")(name=name, remove_name=True)
    with refusal("needs a name"):
        verb(kind, "_add")(name=" ")
    assert {path: path.read_bytes() for path in shipped(kind)} == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_gone_or_broken_is_named(person, tmp_path, kind):
    before = values(kind)
    with refusal("no preset 'Gone'", "another"):
        verb(kind)(filepath=str(tmp_path / "Gone.py"))
    (tmp_path / "Torn.py").write_text("import bpy\nbpy.context.scene.sinew.nothing.of = 1\n")
    with refusal("Preset 'Torn' cannot be used", "add it again"):
        verb(kind)(filepath=str(tmp_path / "Torn.py"))
    assert values(kind) == before


def test_every_disturbance_is_one_that_can_be_simulated(person):
    own = bpy.context.scene.sinew.variations
    for path in shipped("disturbance"):
        verb("disturbance")(filepath=str(path))
        VariationSettings(**{name: getattr(own, name) for name in VariationSettings.__dataclass_fields__})
