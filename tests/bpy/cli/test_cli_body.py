# SPDX-License-Identifier: GPL-3.0-or-later
"""The body from the command line: wrong choices are refused by name, right ones reach the job and its report."""

import json

import bpy
import numpy as np
import pytest

from sinew.bridge import cli, properties
from sinew.bridge.body import properties as body_properties
from sinew.bridge.importing.importers import open_input
from sinew.bridge.scene.saving import save_blend
from sinew.core import jobs
from sinew.core.motion.io import stock

SHORT = ("simulate", "kick", "--frames", "1:12", "--method", "sampling", "--set", "quality=draft")


def run(*words):
    return cli.main([str(word) for word in words])


@pytest.fixture
def never(monkeypatch):
    """Jobs are made but not run."""

    class Made(Exception):
        pass

    def stop(job, *_, **__):
        raise Made

    monkeypatch.setattr("sinew.bridge.cli.running.run_to_end", stop)
    return Made


def made(never, folder, *words):
    """The job that the words make; it is not run."""
    with pytest.raises(never):
        run(*words, "--job-dir", folder)
    return jobs.open_job(folder)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--body", "giant"], "There is no body preset 'giant'. Choose one of: adult, child, heavy"),
        (["--gains", "weak"], "There is no gain preset 'weak'. Choose one of: athlete, locomotion, stunts, uniform"),
        (["--mass", "0"], "The body's mass is 0 kg. Give kilograms above zero"),
        (["--mass", "-70"], "The body's mass is -70 kg. Give kilograms above zero"),
        (["--bone", "pelvis"], "'pelvis' says not which bone is what. Write --bone NAME=ROLE"),
        (["--bone", "pelvis=wing"], "'wing' is no role for bone 'pelvis'. Choose one of: ride, merge, pelvis"),
        (
            ["--bone", "thihg.L=thigh.L"],
            "There is no bone 'thihg.L', which was to be 'thigh.L'. Did you mean 'thigh.L'",
        ),
    ],
)
def test_wrong_choices_are_one_line_with_the_fix(scene, capsys, tmp_path, words, said):
    assert run(*SHORT, *words, "--job-dir", tmp_path / "job") == 1
    err = capsys.readouterr().err
    assert said in err and "Traceback" not in err
    assert not (tmp_path / "job").exists()
    assert not hasattr(bpy.types.Object, "sinew_body")


def test_choices_and_mesh_are_in_the_jobs_folder(scene, tmp_path, never):
    words = ["--body", "child", "--gains", "stunts", "--mass", 31.5, "--bone", "foot.L=ride"]
    job = made(never, tmp_path / "job", *SHORT, *words)
    _, body = job.attachment("body")
    assert body == {"preset": "child", "gains": "stunts", "mass_kg": 31.5, "overrides": {"foot.L": "ride"}}
    mesh, _ = job.attachment("mesh")
    assert mesh["vertices"].shape == (len(mesh["weights"]), 3)
    assert mesh["weights"].shape[1] == len(job.clip().skeleton)
    # Metres, and standing where the skeleton stands.
    heads, _ = job.clip().skeleton.rest_world()
    assert np.all(mesh["vertices"].min(0) < heads.min(0)) and np.ptp(mesh["vertices"], axis=0).max() < 2.5


def test_without_the_mesh_there_is_none(scene, tmp_path, never):
    job = made(never, tmp_path / "job", *SHORT, "--no-mesh")
    assert set(job.spec.inputs) == {"clip.npz", "rig.npz", "body.npz", "stage.npz"}
    assert job.attachment("body")[1]["mass_kg"] is None


def test_a_method_without_an_engine_needs_no_body(scene, tmp_path, never):
    job = made(never, tmp_path / "job", "simulate", "kick", "--method", "passthrough")
    assert set(job.spec.inputs) == {"clip.npz", "rig.npz"}


def test_what_a_blend_says_holds_until_the_command_line_says_otherwise(scene, tmp_path, never):
    path = tmp_path / "hero.blend"
    properties.register()
    body_properties.register()
    open_input("kick")
    own = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE").sinew_body
    own.preset, own.gains, own.mass_kg, own.use_mesh = "heavy", "uniform", 95.0, False
    own.overrides.add().name = "foot.L"
    save_blend(path)
    body_properties.unregister()
    properties.unregister()

    words = ["simulate", path, "--frames", "1:12", "--method", "sampling"]
    job = made(never, tmp_path / "a", *words)
    assert set(job.spec.inputs) == {"clip.npz", "rig.npz", "body.npz", "stage.npz"}
    asked = {"preset": "heavy", "gains": "uniform", "mass_kg": 95.0, "overrides": {"foot.L": "ride"}}
    assert job.attachment("body")[1] == asked
    job = made(never, tmp_path / "b", *words, "--body", "child", "--mass", 30, "--bone", "foot.R=ride")
    overrides = {"foot.L": "ride", "foot.R": "ride"}
    assert job.attachment("body")[1] == asked | {"preset": "child", "mass_kg": 30.0, "overrides": overrides}
    assert not hasattr(bpy.types.Object, "sinew_body")


def test_a_mesh_that_cannot_be_fitted_is_refused_with_a_way_out(scene, capsys, tmp_path, monkeypatch, never):
    def without_weights(text, scale):
        open_input(text, scale)
        for obj in bpy.context.scene.objects:
            if obj.type == "MESH":
                obj.vertex_groups.clear()
        return scale

    monkeypatch.setattr("sinew.bridge.cli.simulate.open_input", without_weights)
    assert run(*SHORT, "--job-dir", tmp_path / "a") == 1
    err = capsys.readouterr().err
    assert "has no weights for the bones of" in err and "--no-mesh" in err
    assert made(never, tmp_path / "b", *SHORT, "--no-mesh").spec.method == "sampling"


def test_the_report_shows_what_every_bone_became(scene, tmp_path, capsys):
    report = tmp_path / "kick.json"
    assert run(*SHORT, "--mass", 66, "--bone", "foot.L=ride", "--report", report) == 0, capsys.readouterr().err
    told = json.loads(report.read_text())["body"]
    bones = {choice["bone"]: choice for choice in told["bones"]}
    assert set(bones) == set(stock.stock_skeleton().names)
    assert (bones["foot.L"]["use"], bones["foot.L"]["why"]) == ("ride", "override")
    assert bones["foot.R"]["use"] == "link"
    assert sum(link["mass"] for link in told["links"]) == pytest.approx(66.0)
    assert any("vertices of the mesh" in link["solid"] for link in told["links"])
