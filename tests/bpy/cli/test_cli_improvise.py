# SPDX-License-Identifier: GPL-3.0-or-later
"""``sinew improvise``: from a library to takes of several characters, and what is wrong with what it is given."""

import json

import bpy
import numpy as np
import pytest

from directed_walks import make_stored_walks
from little_improvisers import make_improviser
from little_policies import launch_here
from sinew.bridge.cli import main
from sinew.core.control.improvise import steadying, training
from sinew.core.control.improvise.learned_file import IMPROVISER
from sinew.core.control.tracking.library_files import LIBRARY_FILE, store_library
from sinew.core.files import read_arrays, write_arrays

LITTLE = ("minutes=0.02", "worlds=8", "world=0.001", "millions=0.001", "latent=4", "threads=1")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The file of a small library with a body."""
    path = tmp_path_factory.mktemp("libraries") / "walks.library.npz"
    LIBRARY_FILE.write_content(path, *store_library(make_stored_walks(("straight", "arc +1"))))
    return path


@pytest.fixture(scope="module")
def improviser(tmp_path_factory):
    """A file of what stands and wobbles."""
    path, stored = tmp_path_factory.mktemp("improvisers") / "a.improvise.npz", make_stored_walks(("stand",))
    IMPROVISER.write_content(path, *make_improviser(stored.body, stored.library.clip(0)).to_content())
    return path


@pytest.fixture
def at_once(scene, monkeypatch):
    """Jobs are done in this process, with little effort."""
    launch_here(monkeypatch.setattr)
    monkeypatch.setattr(training, "TEST_S", 0.5)
    monkeypatch.setattr(steadying, "_TEST_S", 0.5)
    monkeypatch.setattr(steadying, "_COPIES", 2)
    monkeypatch.setattr(training, "_TEST_COPIES", 2)


def run(*words):
    return main(["improvise", *map(str, words)])


def test_a_library_is_learned_from_and_what_was_learned_is_tested(at_once, library, tmp_path, capsys):
    out, report = tmp_path / "c.improvise.npz", tmp_path / "r.json"
    words = [word for one in LITTLE for word in ("--set", one)]
    assert run("train", library, "--out", out, "--seed", 2, "--report", report, *words) == 0
    told = json.loads(report.read_text())
    assert told["method"] == "improvise_train" and told["train"]["samples"] >= 128 and told["expert"]["samples"] > 0
    assert "stays up" in capsys.readouterr().out
    assert run("test", out, "--rollouts", 3, "--seconds", 0.5, "--seed", 1, "--report", report) == 0
    told = json.loads(report.read_text())
    assert 0.0 < told["mean_time_until_fall_s"] <= 0.5 and 0.0 <= told["coverage"] <= 1.0
    assert set(told["styles"]) == {"straight", "arc +1"} and told["rollouts"] == 3


def test_several_characters_are_baked_each_in_its_place(at_once, improviser, tmp_path):
    out, report = tmp_path / "out.blend", tmp_path / "r.json"
    words = ("--seconds", 0.5, "--characters", 3, "--seed", 1, "--out", out, "--report", report)
    assert run("bake", improviser, *words) == 0
    told = json.loads(report.read_text())
    assert told["method"] == "improvise_bake" and len(told["characters"]) == 3
    assert not [one for one in told["findings"] if one["kind"] == "still"]  # nobody here has an Action to follow
    bpy.ops.wm.open_mainfile(filepath=str(out))
    armatures = [obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE"]
    places = []
    for obj in armatures:
        assert obj.animation_data.action is not None
        bpy.context.scene.frame_set(20)
        places.append((obj.matrix_world @ obj.pose.bones["pelvis"].matrix).translation[:2])
    apart = [np.linalg.norm(np.subtract(places[0], other)) for other in places[1:]]
    assert len(armatures) == 3 and min(apart) > 1.5


def _newer(arrays, meta):
    return arrays, {**meta, "version": 99}


def _cut(arrays, meta):
    return {name: array for name, array in arrays.items() if name != "decoder.weights0"}, meta


def _other_body(arrays, meta):
    return {**arrays, "start_qpos": arrays["start_qpos"][:, :-1]}, meta


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_newer, "was written by a newer Sinew"),
        (_cut, "is no whole improviser"),
        (_other_body, "is no whole improviser"),
    ],
)
def test_a_file_that_is_not_whole_is_refused(scene, improviser, tmp_path, capsys, change, told):
    path = tmp_path / "odd.npz"
    write_arrays(path, *change(*read_arrays(improviser)), checksum=True)
    assert run("test", path, "--rollouts", 2) == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("bake", "--characters", 0), "0 characters cannot be"),
        (("bake", "--characters", 65), "from 1 to 64"),
        (("bake", "--seconds", 0), "seconds"),
        (("test", "--rollouts", 0), "rollouts"),
        (("train",), "no place for what is learned"),
    ],
)
def test_wrong_words_are_refused_before_anything_is_opened(scene, improviser, capsys, words, told):
    assert run(words[0], improviser, *words[1:]) == 1
    assert told.lower() in capsys.readouterr().err.lower()


def test_a_library_is_no_improviser_and_the_other_way_round(scene, library, improviser, tmp_path, capsys):
    assert run("test", library) == 1 and "is no improviser" in capsys.readouterr().err
    assert run("train", improviser, "--out", tmp_path / "x.npz") == 1 and "no library in it" in capsys.readouterr().err
    assert run("train", library, "--out", library) == 1 and "is what is learned from" in capsys.readouterr().err


def test_clips_that_never_come_near_each_other_are_refused_and_the_graph_is_offered(at_once, tmp_path, capsys):
    from dataclasses import replace

    stored = make_stored_walks(("straight", "arc +1"))
    lying = stored.clips[1]
    turned = np.array(lying.local_quat_wxyz)
    turned[:, 0] = (1.0, 0.0, 0.0, 0.0)  # on its back
    clips = (stored.clips[0], replace(lying, local_quat_wxyz=turned))
    path = tmp_path / "apart.library.npz"
    LIBRARY_FILE.write_content(path, *store_library(replace(stored, clips=clips)))
    words = [word for one in LITTLE for word in ("--set", one)]
    assert run("train", path, "--out", tmp_path / "x.npz", *words) == 1
    told = capsys.readouterr().err
    assert "no transitions" in told and "sinew library join" in told
