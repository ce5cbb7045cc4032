# SPDX-License-Identifier: GPL-3.0-or-later
"""``sinew direct bake``: from a library and points or a curve to a take, and what is wrong with what it is given."""

import json

import bpy
import numpy as np
import pytest

from directed_walks import make_walks
from sinew.bridge.cli import main
from sinew.core.control.tracking_policy.learned_file import DIRECTED


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The file of a small library."""
    path = tmp_path_factory.mktemp("libraries") / "walks.library.npz"
    DIRECTED.write_content(path, *make_walks()[0].to_arrays())
    return path


def bake(library, *words):
    return main(["direct", "bake", str(library), "--physics", "off", "--seconds", "3", *words])


def places(name="pelvis"):
    """(frames, 2) where the directed armature's bone is, in the open scene."""
    scene = bpy.context.scene
    obj = next(obj for obj in scene.objects if obj.type == "ARMATURE")
    found = []
    for frame in range(
        int(obj.animation_data.action.frame_range[0]), int(obj.animation_data.action.frame_range[1]) + 1
    ):
        scene.frame_set(frame)
        found.append((obj.matrix_world @ obj.pose.bones[name].matrix).translation[:2])
    return np.array(found)


def test_points_are_gone_along_from_the_first_one_on(scene, library, tmp_path):
    out, report = tmp_path / "out.blend", tmp_path / "report.json"
    words = ("--points", "-1,1", "-1,4", "--speed", "1.05", "--style", "walk")
    assert bake(library, *words, "--out", str(out), "--report", str(report)) == 0
    made = json.loads(report.read_text())
    assert made["method"] == "direct_bake" and made["fell"] is False and made["direct"]["played"][0]["clip"]
    bpy.ops.wm.open_mainfile(filepath=str(out))
    way = places()
    assert np.linalg.norm(way[0] - [-1.0, 1.0]) < 0.1
    assert np.linalg.norm(way[-1] - [-1.0, 4.0]) < 0.5 and np.abs(way[:, 0] + 1.0).max() < 0.3


def test_a_curve_of_a_scene_is_gone_along_from_the_chosen_frame_on(scene, library, tmp_path):
    curve = bpy.data.curves.new("Way", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    for point, place in zip(spline.points, ((0, 0, 0, 1), (0, 6, 0, 1)), strict=True):
        point.co = place
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Way", curve))
    bpy.context.scene.render.fps = 30
    path, out = tmp_path / "scene.blend", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    words = ("--blend", str(path), "--curve", "Way", "--speed", "1.05", "--frame", "21", "--out", str(out))
    assert bake(library, *words) == 0
    action = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE").animation_data.action
    assert action.frame_range[0] == 21 and action.frame_range[1] == pytest.approx(111, abs=1)
    assert places()[-1][1] == pytest.approx(3.15, abs=0.4)


def test_a_push_comes_from_the_side_that_was_told_and_who_is_down_wants_to_get_up(scene, library, tmp_path):
    report = tmp_path / "report.json"
    words = ("--physics", "on", "--points", "0,0", "0,9", "--speed", "1.05", "--style", "walk", "--seconds", "3")
    words += ("--push", "1800@0.4:right", "--set", "quality=draft", "--out", str(tmp_path / "out.blend"))
    assert bake(library, *words, "--report", str(report)) == 0
    made = json.loads(report.read_text())
    assert made["lost"] and 0.4 < made["lost_at_s"] < 2.0
    # Along +Y its right is +X. That it stays down is told of who was to get up, and was given no time for it.
    way = places()
    assert way[-1][0] < -0.3
    assert any("It stays down" in finding["message"] for finding in made["findings"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "There is nowhere to go"),
        (("--points", "0,0"), "is a single point"),
        (("--points", "0,0", "zero"), "'zero' is no point"),
        (("--points", "0,0", "0,0"), "The path is only 0.00 m long"),
        (
            ("--points", "0,0", "3,0", "--style", "dance"),
            "no style 'dance'. Its styles are: fast, idle, start, turn, walk",
        ),
        (("--points", "0,0", "3,0", "--speed", "9"), "Ask for at most"),
        (("--points", "0,0", "3,0", "--speed", "-1"), "is no speed"),
        (("--curve", "Nowhere"), "Give --blend FILE.blend"),
        (("--points", "0,0", "3,0", "--seconds", "0"), "is no length"),
        (("--points", "0,0", "3,0", "--set", "feets=1"), "no setting 'feets'"),
        (("--points", "0,0", "3,0", "--armature", "Nobody"), "no armature 'Nobody'"),
        (("--points", "0,0", "3,0", "--push", "200@1"), "Without physics nothing can be pushed"),
        (("--points", "0,0", "3,0", "--physics", "on", "--push", "hard@1"), "'hard@1' is no push"),
    ],
)
def test_what_cannot_be_is_told_with_its_fix(scene, library, capsys, words, said):
    assert bake(library, *words) == 1
    assert said in capsys.readouterr().err


def test_no_such_curve_names_those_there_are(scene, library, tmp_path, capsys):
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Way", bpy.data.curves.new("Way", "CURVE")))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    for name, said in (("Path", "The curves here are: 'Way'"), ("Way", "Curve 'Way' is empty")):
        assert bake(library, "--blend", str(tmp_path / "scene.blend"), "--curve", name) == 1
        assert said in capsys.readouterr().err


def test_a_file_that_is_no_library_is_refused(scene, tmp_path, capsys):
    torn = tmp_path / "torn.npz"
    torn.write_bytes(b"nothing")
    for path, said in ((torn, "not a whole .npz"), (tmp_path / "none.npz", "There is no library in")):
        assert bake(path, "--points", "0,0", "3,0") == 1
        assert said in capsys.readouterr().err
