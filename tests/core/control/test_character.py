# SPDX-License-Identifier: GPL-3.0-or-later
"""The body that a method gets is the one that its job was asked for."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from sinew.core import jobs
from sinew.core.body.build import build_body
from sinew.core.body.presets import body_presets, gain_presets
from sinew.core.body.report import BodyReport
from sinew.core.control import character
from sinew.core.control.character import BodyChoices, build_job_body, override_choices
from sinew.core.errors import BadSettings, EngineMissing, RigError
from sinew.core.jobs.running import WorkerRun
from sinew.core.motion import Clip
from sinew.core.motion.io import stock


@pytest.fixture(scope="module")
def clip() -> Clip:
    skeleton = stock.stock_skeleton()
    count = 3
    pos, quat = np.tile(skeleton.rest_pos, (count, 1, 1)), np.tile(skeleton.rest_quat_wxyz, (count, 1, 1))
    return Clip(skeleton, 30.0, pos, quat, "Stand")


def run_of(clip, tmp_path, **attachments):
    """A worker's run of a job with these attachments, which travel through the job's folder."""
    job = jobs.create(clip, method="sampling", settings={}, attachments=attachments, folder=tmp_path / "job")
    run = WorkerRun(job, 1)
    run.engine = "mujoco"
    return run


def body_with(clip, tmp_path, choices, **more):
    run = run_of(clip, tmp_path, body=({}, choices.to_mapping()), **more)
    return *build_job_body(clip, run), run


def test_a_job_without_attachments_has_a_plain_body(clip, tmp_path):
    run = run_of(clip, tmp_path)
    assert run.attachment("body") is None and run.attachment("mesh") is None
    body, report = build_job_body(clip, run)
    wanted, _ = build_body(clip.skeleton, clip=clip)
    assert body.mass == wanted.mass
    assert (report.body_preset, report.gain_preset) == ("adult", "athlete")


def test_every_choice_reaches_body_and_report(clip, tmp_path):
    name = next(n for n in clip.skeleton.names if n.endswith(".L") and "forearm" in n)
    choices = BodyChoices("heavy", "stunts", 81.5, {name: "ride"})
    body, report, run = body_with(clip, tmp_path, choices)
    assert body.mass == pytest.approx(81.5)
    assert name not in [link.bone for link in body.links]
    assert (report.choice(name).use, report.choice(name).why) == ("ride", "override")
    told = run.details["body"]
    assert (told["body_preset"], told["gain_preset"]) == ("heavy", "stunts")
    assert [choice["bone"] for choice in told["bones"]] == list(clip.skeleton.names)
    assert run.findings == []


def test_the_mesh_is_what_is_fitted(clip, tmp_path, monkeypatch):
    given = {}
    whole = build_body(clip.skeleton, clip=clip)
    monkeypatch.setattr(character, "build_body", lambda skeleton, **more: given.update(more) or whole)
    vertices = np.random.default_rng(0).normal(size=(20, 3))
    weights = np.eye(len(clip.skeleton), dtype=np.float32)[np.arange(20) % len(clip.skeleton)]
    mesh = {"vertices": vertices, "weights": weights, "areas": np.arange(20.0)}
    body_with(clip, tmp_path, BodyChoices(), mesh=(mesh, {}))
    for name, array in mesh.items():
        assert np.array_equal(getattr(given["mesh"], name), array), name


def test_a_worker_that_cannot_fit_says_what_it_lacks(clip, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cma", None)
    heads, _ = clip.skeleton.rest_world()
    rng = np.random.default_rng(0)
    vertices = np.repeat(heads, 40, axis=0) + 0.05 * rng.normal(size=(40 * len(heads), 3))
    weights = np.repeat(np.eye(len(heads), dtype=np.float32), 40, axis=0)
    with pytest.raises(EngineMissing, match=r"has no 'cma'.*--no-mesh"):
        body_with(clip, tmp_path, BodyChoices(), mesh=({"vertices": vertices, "weights": weights}, {}))


def test_what_looks_wrong_is_told(clip, tmp_path, monkeypatch):
    body, report = build_body(clip.skeleton, clip=clip)
    noted: BodyReport = replace(report, notes=("one", "two", "three", "four", "five"))
    monkeypatch.setattr(character, "build_body", lambda *_, **__: (body, noted))
    bone = clip.skeleton.names[0]
    *_, run = body_with(clip, tmp_path, BodyChoices(overrides={bone: "thigh.L"}))
    missed, notes = run.findings
    assert f"'{bone}' was to be 'thigh.L'" in missed["message"]
    assert notes["message"] == "one; two; three; and 2 more in the report" and "--bone" in notes["hint"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"preset": "giant"}, "no body preset 'giant'. Choose one of: adult"),
        ({"gains": "weak"}, "no gain preset 'weak'. Choose one of: athlete, locomotion"),
        ({"mass_kg": 0.0}, "mass is 0 kg. Give kilograms above zero"),
        ({"mass_kg": float("nan")}, "mass is nan kg"),
        ({"overrides": {"Hips": "wing"}}, "'wing' is no role for bone 'Hips'. Choose one of: ride"),
    ],
)
def test_wrong_choices_name_the_fix(wrong, said):
    with pytest.raises(BadSettings) as caught:
        BodyChoices(**wrong)
    assert said in str(caught.value)


def test_a_bone_that_is_not_there_is_refused_with_a_likely_one(clip):
    with pytest.raises(RigError, match=r"no bone 'Pelvs'.*Did you mean 'pelvis'"):
        BodyChoices(overrides={"Pelvs": "pelvis"}).require_bones(clip.skeleton)
    with pytest.raises(RigError, match="The bones are: "):
        BodyChoices(overrides={"§§§": "pelvis"}).require_bones(clip.skeleton)


def test_choices_come_back_from_a_job_as_they_were():
    choices = BodyChoices("child", "uniform", 25.0, {"a": "ride"})
    assert BodyChoices.from_mapping(choices.to_mapping()) == choices
    assert {"adult", "child", "heavy"} <= set(body_presets()) and "stunts" in gain_presets()


def test_every_override_on_offer_is_known_to_the_body(clip):
    """The menu and the body's own list of roles are the same."""
    with pytest.raises(RigError) as caught:
        build_body(clip.skeleton, overrides={clip.skeleton.names[0]: "wing"})
    offered = sorted(value for value, _, _ in override_choices())
    assert caught.value.hint == f"Choose one of: {', '.join(offered)}"
