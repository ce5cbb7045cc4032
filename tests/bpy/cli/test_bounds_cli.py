# SPDX-License-Identifier: GPL-3.0-or-later
"""``bounds train`` and ``bake`` of a scene: the bounds are those on its armature, and so is the controller."""

import json

import bpy
import pytest

from sinew.bridge import cli
from sinew.bridge.importing.importers import open_input
from sinew.bridge.learned.learned_file import learned_file
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core.control.bounds.files import load_controller
from sinew.core.jobs import worker

from ...stock_clips import needs_stock
from ..helpers.keyframes import key
from ..helpers.skilled_mannequin import mannequin

pytestmark = needs_stock

LITTLE = ("--set", "warm=0", "--set", "millions=0.001", "--set", "worlds=16", "--set", "seconds=1")


def run(*words):
    return cli.main([str(word) for word in words])


@pytest.fixture
def blend(addon, monkeypatch, tmp_path):
    """A scene with the walk, whose bounds are keyed; jobs are done at once, in this process."""

    def at_once(job):
        worker._run(job)
        return job.status()

    monkeypatch.setattr("sinew.bridge.cli.running.run_to_end", at_once)
    obj = mannequin("walk")
    obj.sinew_body.use_mesh = False
    key(obj, "sinew_bounds.com", (1, 0.3), (17, 0.15), (33, 0.3), index=2)
    obj.sinew_bounds.use_joints = False
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    return tmp_path / "scene.blend"


def test_what_is_keyed_in_a_scene_is_trained_within_and_its_controller_baked(blend, tmp_path):
    out, shot, told = (tmp_path / name for name in ("hero.safetensors", "shot.blend", "told.json"))
    assert run("bounds", "train", blend, "--armature", "Mannequin", *LITTLE, "--out", out) == 0
    widths = load_controller(out).widths
    assert widths[:, 2].min() == pytest.approx(0.15, abs=0.01) and widths[0, 2] == pytest.approx(0.3, abs=0.01)
    assert (widths[:, 4:9] == float("inf")).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hero.safetensors", "scene.blend"]
    # A preset that is named goes before what is keyed.
    assert run("bounds", "train", blend, "--bounds", "tight", *LITTLE, "--out", out) == 0
    assert load_controller(out).widths[:, 2].max() == pytest.approx(0.1)

    open_input(str(blend))
    obj = bpy.data.objects["Mannequin"]
    learned_file("bounds").refer(obj, out)
    assert obj.sinew_bounds.file == "//hero.safetensors"
    bpy.ops.wm.save_mainfile()
    # In the open scene, and in one that is named.
    for words in ((), (blend,)):
        assert run("bounds", "bake", *words, "--seconds", 1.5, "--out", shot, "--report", told) == 0
        report = json.loads(told.read_text())
        assert (report["controller"], report["armature"]) == (str(out), "Mannequin")
    assert read_rig(bpy.data.objects["Mannequin"]).clip.duration_s == pytest.approx(1.5, abs=0.04)


def test_keys_outside_of_the_motion_and_no_controller_are_one_line(blend, tmp_path, capsys):
    obj = bpy.data.objects["Mannequin"]
    assert run("bounds", "bake", blend) == 1
    assert "'Mannequin' has no controller yet" in capsys.readouterr().err
    open_input(str(blend))
    obj = bpy.data.objects["Mannequin"]
    key(obj, "sinew_bounds.root", (900, 0.5))
    bpy.ops.wm.save_mainfile()
    assert run("bounds", "train", blend, "--out", tmp_path / "a.safetensors") == 1
    assert "The bound 'Root' has a key at frame 900, and the motion the frames 1 to" in capsys.readouterr().err


def test_without_a_scene_there_must_be_a_file(scene, capsys):
    assert run("bounds", "bake") == 1
    assert "There is no controller. Give a FILE.safetensors" in capsys.readouterr().err
