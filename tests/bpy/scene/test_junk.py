# SPDX-License-Identifier: GPL-3.0-or-later
"""Junk in a .blend: whatever Sinew's properties hold, panels draw, operators say yes or why not, and files open."""

import contextlib
import json
import os
import random
import shutil

import bpy
import numpy as np
import pytest

import written_before
from sinew import operators
from sinew.bridge.jobs import monitor, notices
from sinew.bridge.learned.file_views import FileViews
from sinew.bridge.learned.learned_file import LearnedView, learned_file
from sinew.bridge.rig import sources
from sinew.bridge.scene import library_overrides, stored_types
from sinew.bridge.setup import readiness
from sinew.bridge.takes import take_data, views
from sinew.core.control import registry
from sinew.core.control.learned import LearnedKind
from sinew.tools.fuzz.blend_properties import draw_panels, spoil

# What starts something that goes on for long, asks the network, or writes where the user says.
NOT_RUN = {"install_packages", "clean_jobs", "tell", "try_mannequin"}
ODD = [
    "null",
    "[]",
    "{}",
    "[1, 2",
    '"text"',
    "7",
    "NaN",
    '{"a": 1e999}',
    "[" * 5000,
    "x" * 100_000,
    json.dumps({"summary": 5, "measurements": [1], "controls": "x", "engine": [], "title": {}, "wall_s": "long"}),
    json.dumps({"summary": [None, {}, 1], "measurements": {"a": [], "skate_m_s": "fast", "b": 1e300}, "lost_at_s": []}),
    json.dumps(
        {"measurements": {"joint_error_m": True, "x_use": 10**39}, "wall_s": -1, "duration_s": 1e300, "seed": []}
    ),
    json.dumps({"lost": True, "lost_at_s": "early", "fell_at_s": {}, "method": 3, "engine": {"a": 1}}),
]
FILES = ["/dev/zero", "/proc/self/mem", "//", "~", "//../../../../etc/passwd", "\\\\server\\share", "C:\\", "x" * 5000]
FILES += [
    "//sinew",
    ".",
    "//sinew/Mannequin.graph.npz/x",
    "/tmp/" + "a" * 300,
    "//circle",
    "//pipe.npz",
    "~nosuchuserx/y.npz",
    "//character.blend",
    "//\udcff".encode("utf-8", "replace").decode(),
]


@pytest.fixture
def opened(addon, tmp_path, monkeypatch):
    """The .blend of an older Sinew, with all that a character can have; its jobs are elsewhere."""
    monkeypatch.setattr(readiness, "_known", [])
    monkeypatch.setattr(notices, "_said", [])
    monkeypatch.setattr("sinew.core.jobs.launch", lambda job, python, where=None: None)
    shutil.copytree(written_before.FOLDER / "sinew", tmp_path / "sinew")
    blend = shutil.copy(written_before.FOLDER / "character.blend", tmp_path)
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.context.view_layer.objects.active = bpy.data.objects["Mannequin"]
    return bpy.data.objects["Mannequin"]


def polls():
    """Ask every operator; called here, because Blender itself only prints what goes wrong in a poll."""
    return {cls.bl_idname: cls.poll(bpy.context) for cls in operators._CLASSES if hasattr(cls, "poll")}


def look_at_everything():
    monitor.tick_monitor()
    draw_panels()
    polls()


def clicked(name, values=None):
    """Click; what goes wrong is a message."""
    said = ""
    try:
        getattr(bpy.ops.sinew, name)("EXEC_DEFAULT", **(values or {}))
    except RuntimeError as error:
        said = str(error)
    assert "Traceback" not in said, name


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_a_takes_report_may_be_anything(opened, text, capfd):
    for row in opened.sinew_takes:
        row.report = text
        view = views.view_take(opened, row)
        json.dumps(views.take_mapping(opened, row))
        assert all(isinstance(word, str) for pair in (*view.facts, *view.numbers) for word in pair)
        assert all(isinstance(sentence, str) for sentence in view.sentences)
    look_at_everything()
    for sort in ("TIME", "NAME", "ERROR"):
        views.arrange_takes(opened.sinew_takes, sort)
    assert "Traceback" not in capfd.readouterr().err


def test_a_takes_rows_may_hold_anything(opened, capfd):
    for text in ("", "x" * 5000 + "9" * 5000, "²\n../..", opened.name):
        row = opened.sinew_takes.add()
        row.name = row.action_name = row.source_name = row.armature_name = row.armature_mark = row.copy_name = text
        row.copy_mark = row.job = row.made = row.label = text
        row.variation, row.error_m = -5, float("nan")
        opened.sinew_take_index = len(opened.sinew_takes) + 5
        look_at_everything()
        for sort in ("TIME", "NAME", "ERROR"):
            views.arrange_takes(opened.sinew_takes, sort, only_up=True, search=text)
    assert "Traceback" not in capfd.readouterr().err


FAMILIES = [family.name for family in registry.families()]


def verbs_with_files():
    """The names of all operators that read the learned file of a family, or the library that directing goes by."""
    names = [cls.bl_idname.removeprefix("sinew.") for cls in operators._CLASSES]
    return [name for name in names if name.partition("_")[0] in (*FAMILIES, "library")]


@pytest.mark.parametrize("path", FILES, ids=range(len(FILES)))
def test_a_file_property_may_point_anywhere(opened, path, capfd, tmp_path):
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.npz")
    for family in FAMILIES:
        if hasattr(opened, f"sinew_{family}"):
            getattr(opened, f"sinew_{family}").file = path
    opened.sinew_direct.style = "x" * 1000
    look_at_everything()
    verbs = verbs_with_files()
    assert {"graph_bake", "bounds_test", "direct_bake", "direct_train", "library_build", "library_picture"} <= {*verbs}
    for verb in verbs:
        clicked(verb)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("words", ["", "*", "[", "[!", "x" * 10_000, ",,,", "\u202e\n", "walk, walk, walk", "*" * 300])
def test_a_library_may_be_asked_for_anything(opened, words, capfd):
    opened.sinew_library.actions = opened.sinew_direct.style = words
    opened.sinew_library.action_index = 2**31 - 1
    opened.sinew_direct.curve = opened.sinew_direct.target = opened.sinew_direct.look_at = opened
    opened.sinew_direct.seconds, opened.sinew_direct.speed = 3600.0, 20.0
    look_at_everything()
    for verb in ("library_build", "library_picture", "direct_bake", "direct_train"):
        clicked(verb)
    assert "Traceback" not in capfd.readouterr().err


def test_memory_that_is_at_its_end_is_told_and_tried_once(opened, monkeypatch, capfd):
    tried = []

    def read(self, path):
        tried.append(path)
        raise MemoryError

    monkeypatch.setattr(LearnedKind, "read_content", read)
    for family in ("graph", "bounds", "direct"):
        file = learned_file(family)
        monkeypatch.setattr(file, "_views", FileViews(file._read_view, LearnedView(is_reading=True)))
        getattr(opened, f"sinew_{family}").file = f"//{family}.npz"
        for _ in range(3):
            assert "takes more memory than there is" in file.why_none(opened)
    assert len(tried) == 3, "once a file, whatever is drawn"
    look_at_everything()
    for verb in verbs_with_files():
        clicked(verb)
    assert "Traceback" not in capfd.readouterr().err


HELD = [5, 1.5, True, "text", "{", [1, 2], [0.5], {"a": 1}, {"pose": {"x": "y"}}, "[1]", '{"spans": 1}', "{}", b"bytes"]


def test_what_an_action_keeps_may_be_anything(opened, capfd):
    action = opened.sinew_takes[0].action
    for name in ("sinew_contacts", "sinew_source_frames", "sinew_source", "sinew_placed"):
        before = action.get(name)
        for value in [*HELD, *ODD, bpy.data.objects["Mannequin"]]:
            with contextlib.suppress(TypeError):
                action[name] = value
            take_data.bones_in_contact(action, 5.0)
            assert isinstance(take_data.source_frame(action, 5.0), float | None)
            assert isinstance(sources.source_action(action), bpy.types.Action | None)
            sources.restore_prior(opened, action)
            sources.prior_animation(opened)
            draw_panels()
        del action[name]
        if before is not None:
            action[name] = before
    assert "Traceback" not in capfd.readouterr().err


def test_what_an_action_keeps_moves_nothing_else(opened):
    action = opened.sinew_takes[0].action
    other = bpy.data.objects.new("Other", None)
    opened.parent, bpy.context.scene["number"] = other, 1.0
    placed = {"parent.location": [9.0, 9.0, 9.0], "data.name": ["x"], "location": [1.0, 2.0], "scale": ["a", 1, 2]}
    placed |= {"hide_viewport": [1.0], 'pose.bones["hips"].constraints': [1], "animation_data.action": [1]}
    action["sinew_placed"] = json.dumps(placed)
    before = list(opened.location), list(opened.scale), opened.data.name, opened.hide_viewport
    sources.restore_prior(opened, action)
    assert (list(opened.location), list(opened.scale), opened.data.name, opened.hide_viewport) == before
    assert list(other.location) == [0.0, 0.0, 0.0]


def test_an_overrides_copy_may_be_anything(opened, tmp_path, capfd):
    bpy.ops.wm.save_mainfile()
    blend = bpy.data.filepath
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(blend, link=True) as (_, wanted):
        wanted.objects = ["Mannequin"]
    linked = wanted.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    own = linked.override_create(remap_local_usages=True)
    groups = [
        {"sinew_body": value} for value in (5, [], "x", None, {"overrides": 5}, {"overrides": [1, {}, {"name": 4}]})
    ]
    groups += [{"sinew_body": {"overrides": [{"name": "head", "mass_kg": "heavy"}], "mass_kg": 1e308, "build": 7}}]
    groups += [{"sinew_graph": {"file": 5, "seed": 10**30}}, {"sinew": [1]}, {"sinew_bounds": {"com": [1]}}]
    for text in [*ODD, *map(json.dumps, groups)]:
        own.sinew_override = text
        library_overrides.restore_overrides()
        draw_panels()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("seed", range(6))
def test_any_property_may_hold_anything(opened, seed, capfd):
    rng = np.random.default_rng(seed)
    for _ in range(3):
        spoil(rng)
        bpy.context.view_layer.update()
        look_at_everything()
    assert "Traceback" not in capfd.readouterr().err


def set_wrong_types(rng):
    """Put values of other types where Blender keeps those of properties; it lets anybody."""
    owners = [bpy.context.scene, *bpy.data.objects, *bpy.data.actions]
    props = [(owner, prop) for owner in owners for prop in owner.bl_rna.properties]
    for owner, prop in props:
        name, kind = prop.identifier, prop.type
        if not name.startswith("sinew"):
            continue
        if kind == "POINTER" and rng.random() < 0.5:
            group = getattr(owner, name)
            for inner in getattr(group, "bl_rna", owner.bl_rna).properties:
                if inner.type in ("STRING", "INT", "FLOAT", "BOOLEAN", "ENUM") and rng.random() < 0.3:
                    with contextlib.suppress(TypeError, KeyError, AttributeError):
                        group[inner.identifier] = rng.choice(HELD)
        elif kind in ("STRING", "INT", "FLOAT", "BOOLEAN") and rng.random() < 0.3:
            with contextlib.suppress(TypeError, KeyError):
                owner[name] = rng.choice(HELD)


@pytest.mark.parametrize("seed", range(4))
def test_any_property_may_be_of_another_type(opened, seed, capfd):
    set_wrong_types(random.Random(seed))
    look_at_everything()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("seed", range(2))
def test_operators_say_what_is_wrong_with_it(opened, seed, capfd, tmp_path):
    rng = np.random.default_rng(100 + seed)
    spoil(rng)
    stored_types.remove_junk()  # as opening the file does
    for row in opened.sinew_takes:
        row.report = ODD[seed]
    for name in sorted(set(dir(bpy.ops.sinew)) - NOT_RUN):
        if not name.startswith(("install", "preset", "save", "render")) and getattr(bpy.ops.sinew, name).poll():
            clicked(name)
    assert "Traceback" not in capfd.readouterr().err


def store_of(owner):
    """Where Blender keeps the values of properties: among the custom ones, from 5.0 on in a place of their own."""
    return owner.bl_system_properties_get() if hasattr(owner, "bl_system_properties_get") else owner


def test_what_is_stored_as_something_else_is_taken_out_when_a_file_is_opened(opened):
    counts = len(opened.sinew_takes), len(opened.sinew_skills), opened.sinew_body.mass_kg
    assert stored_types.remove_junk() == 0, "what an older Sinew stored is left alone"
    assert (len(opened.sinew_takes), len(opened.sinew_skills), opened.sinew_body.mass_kg) == counts
    store, chosen = store_of(opened), store_of(bpy.context.scene)["sinew"]
    del store["sinew_body"]
    store["sinew_takes"], store["sinew_mark"], store["sinew_body"] = ["a", "b"], 5, "text"
    chosen["seed"], chosen["engine"] = -5, 99
    store["sinew_bounds"]["com"] = [float("nan")] * 3
    assert stored_types.remove_junk() == 6
    assert len(opened.sinew_takes) == 0 and opened.sinew_mark == "" and len(opened.sinew_skills) == counts[1]
    store_of(opened)["sinew_takes"] = ["a", "b"]
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert len(bpy.data.objects["Mannequin"].sinew_takes) == 0
    draw_panels()
