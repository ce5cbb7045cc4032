# SPDX-License-Identifier: GPL-3.0-or-later
"""Everybody of a job reaches its method, in order, each with a body of their own."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sinew.core import jobs
from sinew.core.body import Shape
from sinew.core.control import registry
from sinew.core.control.cast import CastMember, load_cast, make_member_attachments, resample_prop_motions
from sinew.core.control.character import BodyChoices, build_job_body
from sinew.core.control.passthrough import Passthrough
from sinew.core.control.staging import build_job_stage
from sinew.core.errors import BadFile, JobError
from sinew.core.jobs.report import make_report
from sinew.core.jobs.running import WorkerRun
from sinew.core.motion import Clip, Take
from sinew.core.motion.io import stock
from sinew.core.sim.assembly import require_apart
from sinew.core.sim.stage import Prop, Stage
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import StageParts


def standing(name: str, x: float = 0.0, frames: int = 4, shift: float = 0.0) -> Clip:
    skeleton = stock.stock_skeleton()
    pos = np.tile(skeleton.rest_pos, (frames, 1, 1))
    pos[:, 0, 0] += x + shift * np.arange(frames)
    return Clip(skeleton, 30.0, pos, np.tile(skeleton.rest_quat_wxyz, (frames, 1, 1)), name)


def run_of(tmp_path, *members, more=None):
    """A worker's run of a job with these characters, which travel through the job's folder."""
    attachments = dict(more or {})
    for member, others in members:
        attachments |= make_member_attachments(member, others)
    clip = standing("Main")
    return WorkerRun(
        jobs.create(clip, method="sampling", settings={}, attachments=attachments, folder=tmp_path / "job"), 1
    )


def body(**choices):
    return {"body": ({}, BodyChoices(**choices).to_mapping())}


def test_a_job_of_one_has_nobody_else(tmp_path):
    run = run_of(tmp_path)
    assert load_cast(run) == ()
    assert sorted(run.job.spec.inputs) == ["clip.npz"]


def test_everybody_comes_through_the_job_in_order_to_the_bit(tmp_path):
    # More than nine, so that the order of names is not the order of numbers.
    sent = [CastMember(f"Läufer {13 - n}", standing(f"Action {n}", n, shift=0.1 * n), n) for n in range(1, 13)]
    got = load_cast(run_of(tmp_path, *((member, {}) for member in reversed(sent))))
    assert [(member.name, member.number) for member in got] == [(member.name, member.number) for member in sent]
    for one, other in zip(got, sent, strict=True):
        assert one.clip.local_pos.tobytes() == other.clip.local_pos.tobytes()
        assert one.clip.local_quat_wxyz.tobytes() == other.clip.local_quat_wxyz.tobytes()
        assert (one.clip.name, one.clip.fps) == (other.clip.name, other.clip.fps)
        assert one.clip.skeleton.names == other.clip.skeleton.names


def test_everybody_has_a_body_of_their_own(tmp_path):
    anna, bert = CastMember("Anna", standing("A", 1.0), 1), CastMember("Bert", standing("B", 2.0), 2)
    run = run_of(tmp_path, (anna, body(mass_kg=50.0)), (bert, body(mass_kg=90.0)), more=body(mass_kg=70.0))
    main = build_job_body(run.job.clip(), run)[0]
    others = [build_job_body(member.clip, run, member)[0] for member in load_cast(run)]
    assert [one.mass for one in (main, *others)] == pytest.approx([70.0, 50.0, 90.0])
    assert {"body", "cast1_body", "cast2_body"} <= run.details.keys()


def test_a_member_without_choices_gets_a_plain_body_not_the_main_one_s(tmp_path):
    run = run_of(tmp_path, (CastMember("Anna", standing("A", 1.0), 1), {}), more=body(preset="heavy", mass_kg=140.0))
    (anna,) = load_cast(run)
    assert build_job_body(anna.clip, run, anna)[1].body_preset == "adult"


def test_what_is_told_of_a_member_s_body_names_it(tmp_path):
    name = standing("A").skeleton.names[1]
    run = run_of(tmp_path, (CastMember("Anna", standing("A", 1.0), 1), body(overrides={name: "thigh.L"})))
    (anna,) = load_cast(run)
    build_job_body(anna.clip, run, anna)
    assert run.findings and all(finding["message"].startswith("'Anna': ") for finding in run.findings)


def test_the_stage_has_the_main_character_first(tmp_path):
    members = [(CastMember("Anna", standing("A", 1.0), 1), {}), (CastMember("Bert", standing("B", 2.0), 2), {})]
    parts = StageParts(("Main", "Anna", "Bert"))
    run = run_of(tmp_path, *members, more={"stage": stage_to_arrays(parts)})
    bodies = [
        build_job_body(run.job.clip(), run)[0],
        *(build_job_body(member.clip, run, member)[0] for member in load_cast(run)),
    ]
    stage = build_job_stage(run, *bodies)
    assert [character.name for character in stage.characters] == ["Main", "Anna", "Bert"]
    roots = [np.concatenate([[x, 0.0, 1.0], np.zeros(one.nq - 3)]) for x, one in enumerate(bodies)]
    require_apart(stage, np.concatenate(roots))


def test_a_member_s_clip_must_be_whole(tmp_path):
    attachments = make_member_attachments(CastMember("Anna", standing("A"), 1), {})
    arrays, meta = attachments["cast1_clip"]

    def cast_with(arrays, meta):
        return load_cast(SimpleNamespace(attachment={"cast1_clip": (arrays, meta)}.get))

    assert [member.name for member in cast_with(arrays, meta)] == ["Anna"]
    with pytest.raises(BadFile, match="local_pos"):
        cast_with({name: array for name, array in arrays.items() if name != "local_pos"}, meta)
    with pytest.raises(JobError, match="no name"):
        cast_with(arrays, {name: value for name, value in meta.items() if name != "character"})
    with pytest.raises(BadFile, match="newer Sinew"):
        cast_with(arrays, {**meta, "version": 99})


def test_a_job_knows_who_has_gone_missing(tmp_path):
    run = run_of(tmp_path, (CastMember("Anna", standing("A", 1.0), 1), {}))
    (run.job.inputs / "cast1_clip.npz").unlink()
    with pytest.raises(JobError, match="cast1_clip"):
        run.job.check_inputs()


def test_props_come_home_on_the_take_s_clock():
    """A ball that falls for two seconds, seen 60 times a second, in a take at 24 fps."""
    ball = Prop("Ball", 1.0, np.zeros(3), shape=Shape("sphere", np.array([0.1, 0, 0]), np.zeros(3)))
    times = np.arange(121) / 60.0
    pos = np.zeros((121, 2, 3))
    pos[:, 1, 2] = 20.0 - 4.905 * times**2
    turn = np.zeros((121, 2, 4))
    turn[..., 0], turn[..., 3] = np.cos(times)[:, None], np.sin(times)[:, None]
    motion = replace(standing("Main", frames=49), fps=24.0)
    first, second = resample_prop_motions(Stage((), props=(ball, replace(ball, name="Cup"))), pos, turn, 60.0, motion)
    assert (first.name, second.name, len(first), len(second)) == ("Ball", "Cup", 49, 49)
    seconds = np.arange(49) / 24.0
    np.testing.assert_allclose(second.pos[:, 2], 20.0 - 4.905 * seconds**2, atol=1e-3)
    np.testing.assert_allclose(second.quat_wxyz[:, 3], np.sin(seconds), atol=1e-6)
    assert not first.pos.any()


def test_the_report_says_how_everybody_fared(tmp_path):
    anna, bert = CastMember("Anna", standing("A", 1.0), 1), CastMember("Bert", standing("B", 2.0), 2)
    run = run_of(tmp_path, (anna, {}), (bert, {}))
    take = Take(
        standing("Main"), others=(Take(anna.clip, fell_at_s=0.5), Take(bert.clip, measurements={"skate_m_s": 1.0}))
    )
    main, first, second = make_report(run, take)["characters"]
    assert (main["fell"], first["name"], first["fell"], first["fell_at_s"]) == (False, "Anna", True, 0.5)
    assert (second["name"], second["fell"], second["measurements"]) == ("Bert", False, {"skate_m_s": 1.0})


def test_only_methods_that_say_so_are_given_a_cast(monkeypatch):
    assert registry.get_method("passthrough").simulates_cast is False
    monkeypatch.setattr(Passthrough, "simulates_cast", True, raising=False)
    assert registry.get_method("passthrough").simulates_cast is True
