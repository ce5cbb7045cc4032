# SPDX-License-Identifier: GPL-3.0-or-later
"""``sinew retime``: a motion file and its key moment become a new Action, and what is wrong with what it is given."""

import json

import bpy
import numpy as np
import pytest

from sinew.bridge.cli import main
from sinew.core.motion.io.npz import save_clip
from sinew.core.motion.plain_walk import plain_walk


@pytest.fixture
def walk(tmp_path):
    """The file of a short walk."""
    path = tmp_path / "walk.npz"
    save_clip(path, plain_walk(2.2, 24.0))
    return str(path)


def test_a_key_moment_is_when_where_and_as_it_is_wanted(scene, walk, tmp_path):
    out, report, picture = tmp_path / "out.blend", tmp_path / "report.json", tmp_path / "sheet.png"
    words = ("--frame", "20", "--at", "25", "--place", "-0.2,0.3", "--heading", "-60", "--also", "45:0.3,-0.5")
    words = (*words, "--out", str(out), "--report", str(report), "--preview", str(picture))
    assert main(["retime", walk, *words]) == 0
    made = json.loads(report.read_text())
    assert made["method"] == "retime" and made["action"].endswith("retimed") and picture.stat().st_size > 1000
    first, second = made["edits"]["key_moments"]
    assert (first["frame"], first["result_frame"], second["frame"]) == (20, 25, 45)
    for row in (first, second):
        assert row["place_off_m"] < 0.01 and abs(row["heading_off_rad"]) < np.radians(1.0) and row["pose_rad"] < 1e-3
    assert made["edits"]["stance_slide_m_s"] < 0.02
    bpy.ops.wm.open_mainfile(filepath=str(out))
    obj = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    bpy.context.scene.frame_set(25)
    assert (obj.matrix_world @ obj.pose.bones["pelvis"].matrix).translation[:2] == pytest.approx((-0.2, 0.3), abs=0.01)


def test_a_foot_reaches_a_point(scene, walk, tmp_path, capsys):
    report = tmp_path / "report.json"
    words = ("--frame", "20", "--reach", "foot.R", "0.1,0.2,0.3", "--set", "reach_s=0.2", "--report", str(report))
    assert main(["retime", walk, *words]) == 0
    (row,) = json.loads(report.read_text())["edits"]["reaches"]
    assert row["bone"] == "foot.R" and row["off_m"] < 0.01
    assert "'foot.R' is 0.0 cm from its target at frame 20" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--frame", "20"), "Nothing is asked of frame 20"),
        (("--frame", "20", "--place", "1"), "'1' is not 2 numbers. Write --place X,Y"),
        (("--frame", "20", "--reach", "foot.R", "1,2"), "'1,2' is not 3 numbers. Write --reach BONE X,Y,Z"),
        (("--frame", "20", "--at", "22", "--also", "fast"), "'fast' is no key moment"),
        (("--frame", "20", "--at", "22", "--also", "20@23"), "Frame 20 is wanted at two moments"),
        (("--frame", "20", "--at", "90"), "the latest frame 39"),
        (("--frame", "99", "--at", "90"), "Frame 99 is outside of the motion"),
        (("--frame", "20", "--at", "22", "--set", "slowest=0"), "Setting 'slowest' is 0"),
        (("--frame", "20", "--at", "22", "--result", "moon"), "There is no place 'moon'"),
        (("--frame", "20", "--reach", "foot.R", "0,0,4"), "cm short of its target at frame 20"),
    ],
)
def test_what_cannot_be_is_one_line(scene, walk, words, said, capsys):
    assert main(["retime", walk, *words]) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("sinew: ")]
    assert said in lines[-1]
