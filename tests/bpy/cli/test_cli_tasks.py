# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes of tasks in scenes: each in one that is made for it, and what of a scene cannot be done, in one line."""

import json
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from directed_walks import make_stored_walks
from little_improvisers import make_improviser, make_policy
from little_policies import launch_here
from sinew.bench.improvise_scenes import make_task_scene
from sinew.bridge.api.library_character import make_scene, stand_up_character
from sinew.bridge.api.registering import registered
from sinew.bridge.cli import main
from sinew.core.control.improvise.learned_file import IMPROVISER, TaskPolicy
from sinew.core.control.tasks.tasks_table import get_task, task_names


@pytest.fixture(scope="module")
def improviser():
    stored = make_stored_walks(("stand",))
    return make_improviser(stored.body, stored.library.clip(0))


@pytest.fixture
def with_task(improviser, tmp_path):
    """A file of what stands and wobbles, with a task of a policy that does nothing."""

    def make(name):
        size = improviser.model.latent_size
        policy = make_policy(improviser.model.state_size + get_task(name).goal_size, size, np.zeros(size))
        made = replace(improviser, task=TaskPolicy(name, policy, 0.0, {}, {"seconds": 60.0}))
        path = tmp_path / f"{name}.improvise.npz"
        IMPROVISER.write_content(path, *made.to_content())
        return path, made

    return make


@pytest.fixture
def at_once(scene, monkeypatch):
    launch_here(monkeypatch.setattr)


@pytest.fixture
def blend(improviser, tmp_path):
    """A .blend with characters in places, each (x, y), and boxes by role: (role, middle, size)."""

    def make(places=((0.0, 0.0),), boxes=(), scale=1.0):
        path = tmp_path / "scene.blend"
        with registered():
            make_scene(60.0)
            for number, place in enumerate(places):
                obj = stand_up_character(improviser.body.skeleton, 1.0)
                obj.location[:2] = place
                obj.scale = (scale,) * 3
                obj.sinew.role = "CHARACTER" if number else "NONE"
            for role, middle, size in boxes:
                bpy.ops.mesh.primitive_cube_add(size=1.0, location=middle, scale=size)
                bpy.context.object.name, bpy.context.object.sinew.role = role.title(), role
            bpy.ops.wm.save_as_mainfile(filepath=str(path))
        return path

    return make


def bake(path, scene, *words):
    begun = ("improvise", "bake", path, "--blend", scene, "--seconds", 0.5, "--armature", "Mannequin")
    return main([str(word) for word in (*begun, *words)])


@pytest.mark.parametrize("name", task_names())
def test_every_task_is_a_take_in_a_scene_of_its_own(at_once, with_task, tmp_path, name):
    path, made = with_task(name)
    words = make_task_scene(made, tmp_path / "scene.blend")
    report = tmp_path / "r.json"
    begun = ["improvise", "bake", path, "--blend", tmp_path / "scene.blend", *words, "--seconds", 0.5]
    assert main([str(word) for word in (*begun, "--report", report)]) == 0
    told = json.loads(report.read_text())
    count = get_task(name).together
    assert told["task"]["task"] == name and len(told["task"]["done"]) == count
    assert told["improvise"]["fell_at_s"] == [None] * count
    assert len(told.get("characters", [None])) == count


FLAT, CLIFF = ("TERRAIN", (0.0, 0.0, -0.5), (20.0, 20.0, 1.0)), ("TERRAIN", (6.0, 0.0, 0.0), (8.0, 20.0, 6.0))


@pytest.mark.parametrize(
    ("name", "boxes", "words", "told"),
    [
        ("point_goal", [("OBSTACLE", (2.0, 0.0, 1.0), (1.0, 1.0, 2.0))], ("--points", "2,0"), "is inside 'Obstacle'"),
        ("terrain", [FLAT, CLIFF], ("--points", "4,0"), "degrees: nobody climbs that"),
        ("terrain", [], (), "the stage is flat"),
        ("peaks", [], (), "the stage is flat"),
        ("maze", [], (), "There are no walls to explore"),
        ("bag", [], (), "There is nothing to hit"),
        ("joystick", [], ("--points", "2,0"), "goes to no points"),
        ("path", [], ("--points", "2,0"), "One point is no path"),
        ("path", [], ("--curve", "nobody"), "There is no curve 'nobody'"),
        ("point_goal", [], ("--goals", "nobody"), "There is no object 'nobody'"),
        ("point_goal", [], ("--goals", "Mannequin", "--points", "1,0"), "points, objects and a curve"),
    ],
)
def test_what_a_scene_does_not_allow_is_refused(at_once, with_task, blend, capsys, name, boxes, words, told):
    path, _ = with_task(name)
    assert bake(path, blend(boxes=boxes), *words) == 1
    assert told in capsys.readouterr().err


def test_a_crowd_that_begins_in_each_other_is_refused(at_once, with_task, blend, capsys):
    path, _ = with_task("circle")
    assert bake(path, blend(places=((0.0, 0.0), (3.0, 0.0), (3.1, 0.0)))) == 1
    assert "they stand in each other" in capsys.readouterr().err


def test_a_task_on_another_body_is_refused(at_once, with_task, blend, capsys):
    path, _ = with_task("point_goal")
    assert bake(path, blend(scale=1.4), "--points", "2,0") == 1
    assert "has another body than what improvises" in capsys.readouterr().err


def test_the_freedom_of_a_task_is_its_own_unless_it_is_said(at_once, with_task, tmp_path):
    path, _ = with_task("point_goal")
    little = [word for one in ("worlds=8", "millions=0.001", "threads=1") for word in ("--set", one)]
    found = []
    for name, more in (("joystick", ()), ("bag", ()), ("bag", ("--set", "sigma=0.2"))):
        out = tmp_path / "out.improvise.npz"
        begun = ["improvise", "task", name, path, "--out", out, "--minutes", 0.01, *little, *more]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sinew.core.control.improvise.task_training._TEST_COPIES", 2)
            patch.setattr(get_task(name), "seconds", 0.5)
            assert main([str(word) for word in begun]) == 0
        found.append(IMPROVISER.from_content(IMPROVISER.read_content(Path(out)), "it").task.sigma_rad)
    assert found == [0.1, 0.5, 0.2]
