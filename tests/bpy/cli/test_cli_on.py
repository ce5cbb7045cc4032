# SPDX-License-Identifier: GPL-3.0-or-later
"""``--on``: a motion on the body of another character, from the command line."""

import json

import bpy
import numpy as np
import pytest
from tests.core.sim.robot_models import MJCF

from sinew.bridge import cli
from sinew.bridge.api.registering import registered
from sinew.bridge.importing.importers import open_input
from sinew.bridge.scene.saving import save_blend
from sinew.core import jobs
from sinew.core.body.given_body import given_from_mapping
from sinew.core.control.character import BodyChoices

ON = ("simulate", "walk", "--method", "passthrough", "--on")


def run(*words):
    return cli.main([str(word) for word in words])


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "tin.xml"
    path.write_text(MJCF)
    return path


def test_a_walk_goes_onto_a_robot(scene, tmp_path, model):
    folder, out = tmp_path / "job", tmp_path / "tin.blend"
    words = ("simulate", "walk", "--frames", "1:12", "--on", model, "--set", "quality=draft")
    assert run(*words, "--out", out, "--job-dir", folder, "--report", tmp_path / "tin.json") == 0
    report = json.loads((tmp_path / "tin.json").read_text())
    assert report["armature"] == "tin" and not report["fell"]
    assert report["body"]["body_preset"] == "given" and report["body"]["mass"] == pytest.approx(25.2)
    obj = bpy.data.objects["tin"]
    assert obj.animation_data.action.name == "walk on tin, simulated, draft"
    attached = BodyChoices.from_mapping(jobs.open_job(folder).attachment("body")[1])
    given = given_from_mapping(attached.given)
    assert [link.bone for link in given.links] == list(obj.data.bones.keys())
    torso = next(child for child in obj.children if child.parent_bone == "torso")
    middle = np.mean([torso.matrix_world @ vertex.co for vertex in torso.data.vertices], axis=0)
    bone = np.array(obj.matrix_world @ obj.pose.bones["torso"].head)
    assert np.linalg.norm(middle - bone) == pytest.approx(0.15, abs=0.02)


def test_what_is_no_character_is_one_line(scene, capsys, tmp_path, model):
    for words, said in (
        ((*ON, tmp_path / "gone.urdf"), "gone.urdf' does not exist. Check the path"),
        ((*ON, "walk"), "'walk' is no character. Give a file that ends in .urdf, .xml, .mjcf, .blend"),
        ((*ON, model, "--on-scale", "0"), "The scale of 'tin.xml' is 0"),
        ((*ON[:-1], "--on-scale", "2"), "There is no other character to scale or to choose. Give --on FILE"),
        (
            ("bounds", "train", "walk", "--out", tmp_path / "a.safetensors", *ON[-1:], "b.txt"),
            "'b.txt' is no character",
        ),
    ):
        assert run(*words) == 1
        assert said in capsys.readouterr().err


def test_a_body_that_was_scaled_is_refused(scene, capsys, tmp_path, model):
    blend = tmp_path / "tin.blend"
    with registered():
        open_input(str(model))
        bpy.data.objects["tin"].scale = (2.0, 2.0, 2.0)
        save_blend(blend)
    assert run("simulate", blend) == 1
    assert "from where the given body has it" in capsys.readouterr().err
