# SPDX-License-Identifier: GPL-3.0-or-later
"""``sinew respond``: from a library and cues to a take, what is on time, and what is wrong with what it is given."""

import json

import bpy
import numpy as np
import pytest

from deed_clips import make_deeds
from sinew.bridge.cli import main
from sinew.core.control.tracking.library_files import LIBRARY_FILE, store_library


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The file of a small library."""
    path = tmp_path_factory.mktemp("libraries") / "kicks.library.npz"
    LIBRARY_FILE.write_content(path, *store_library(make_deeds()))
    return path


def bake(library, *words):
    return main(["respond", "bake", str(library), "--physics", "off", *map(str, words)])


def test_cues_are_done_on_time_and_the_report_says_so(scene, library, tmp_path):
    out, report = tmp_path / "out.blend", tmp_path / "report.json"
    assert bake(library, "--cue", "kick@60", "--cue", "walk@160:2,1", "--out", out, "--report", report) == 0
    made = json.loads(report.read_text())
    kick, walk = made["cues"]
    assert made["method"] == "respond_bake" and made["fell"] is False
    assert kick["asked_frame"] == 60 and abs(kick["done_frame"] - 60) <= 1 and kick["distance_m"] is None
    assert walk["asked_frame"] == 160 and walk["distance_m"] < 0.4
    bpy.ops.wm.open_mainfile(filepath=str(out))
    obj = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    assert bpy.context.scene.render.fps == 30
    # The foot is highest where the kick was asked for.
    heights = []
    for frame in range(45, 76):
        bpy.context.scene.frame_set(frame)
        heights.append((obj.matrix_world @ obj.pose.bones["foot.R"].matrix).translation[2])
    assert abs(45 + int(np.argmax(heights)) - 60) <= 3
    bpy.context.scene.frame_set(160)
    place = (obj.matrix_world @ obj.pose.bones["pelvis"].matrix).translation[:2]
    assert np.linalg.norm(np.array(place) - [2.0, 1.0]) < 0.4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), ("There are no cues", "frontkick@96")),
        (("--cue", "kick"), ("'kick' is no cue", "frontkick@96")),
        (("--cue", "vault@90"), ("The library has no deed 'vault'", "Its deeds are: kick")),
        (("--cue", "kick@60", "--cue", "walk@60"), ("contradict each other", "Move one of them")),
        (("--cue", "kick@4"), ("'kick' cannot be done by frame 4", "The earliest frame for it is")),
        (("--cue", "kick@60:90,0"), ("cannot be at 90,0 by frame 60", "The earliest frame for it is")),
        (("--cue", "kick@60", "--fps", "0"), ("0 is no frame rate", "from 1 to 240")),
    ],
)
def test_what_cannot_be_is_one_line_with_the_fix(scene, library, capfd, words, told):
    assert bake(library, *words) == 1
    said = capfd.readouterr().err.strip().splitlines()[-1]
    assert all(part in said for part in told), said


def test_a_library_without_deeds_and_a_cut_file(scene, library, tmp_path, capfd):
    cut = tmp_path / "cut.library.npz"
    cut.write_bytes(library.read_bytes()[:5000])
    assert bake(cut, "--cue", "kick@60") == 1 and str(cut) in capfd.readouterr().err
    assert bake(tmp_path / "none.library.npz", "--cue", "kick@60") == 1
    assert "There is no library in" in capfd.readouterr().err


def test_responses_are_counted(scene, library, tmp_path, capfd):
    report = tmp_path / "report.json"
    words = ("--tau", "1.0", "--trials", "20", "--seed", "3", "--physics", "off", "--report", str(report))
    assert main(["respond", "test", str(library), *words]) == 0
    found = json.loads(report.read_text())
    assert found["trials"] == 20 and found["on_time"] == 1.0 and 0.3 < found["mean_ttc_s"] <= 1.0
    assert "100.0 % of 20 within 1 s" in capfd.readouterr().out


def test_training_has_a_place_to_write_to(scene, library, tmp_path, capfd):
    for words, told in (
        ((), "There is no place for what is learned"),
        (("--out", library), "is what is learned from"),
        (("--out", tmp_path / "a.library.npz", "--minutes", "0"), "Setting 'minutes' is 0"),
    ):
        assert main(["respond", "train", str(library), *map(str, words)]) == 1
        assert told in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_library_says_which_deeds_it_has(library, capfd):
    assert main(["library", "show", str(library), "--json"]) == 0
    deeds = json.loads(capfd.readouterr().out)["deeds"]
    assert deeds["kick"]["count"] == 4 and deeds["kick"]["proposed"] is True
    assert all(clip.startswith("kick_") for clip, _ in deeds["kick"]["moments"])
    assert main(["library", "show", str(library)]) == 0
    assert "Deeds: kick? ×4" in capfd.readouterr().out
