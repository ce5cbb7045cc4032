# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes are measured by the worker: from what physics saw, for everybody on the stage, into take, report and status."""

from types import SimpleNamespace

import numpy as np
import pytest

from sinew.core.body import BodyModel, Joint, Link, Shape
from sinew.core.control.cast import CastMember, make_member_attachments
from sinew.core.jobs.measuring import measure_job_takes
from sinew.core.motion import Clip, Skeleton, Take
from sinew.core.sim.stage import Character, Stage
from sinew.core.sim.trace import Trace

FRAMES, FPS = 20, 40.0
SKELETON = Skeleton(
    ("hips", "foot"), [-1, 0], [[0, 0, 1.0], [0, 0, -0.95]], np.tile([1.0, 0, 0, 0], (2, 1)), [0.1, 0.1]
)


def body() -> BodyModel:
    """Hips and one foot that is a ball of 5 cm."""
    ball = (Shape("sphere", np.array([0.05, 0.0, 0.0]), np.zeros(3)),)
    joints = (Joint("free", np.zeros(3)), Joint("ball", np.array([0.0, 0.0, -0.95]), torque_limit=10.0))
    links = [
        Link(bone, role, "", index - 1, joints[index], ball, 5.0, np.zeros(3), 0.1 * np.eye(3))
        for index, (bone, role) in enumerate((("hips", "pelvis"), ("foot", "foot")))
    ]
    return BodyModel(SKELETON, tuple(links))


def clip(name="") -> Clip:
    pos = np.tile(SKELETON.rest_pos, (FRAMES, 1, 1))
    return Clip(SKELETON, FPS, pos, np.tile([1.0, 0, 0, 0], (FRAMES, 2, 1)), name)


def sliding(speed: float) -> Trace:
    """The foot is carried and slides at a speed; everything else is as wanted."""
    model, wanted = body(), clip().world()
    seen = wanted[0].copy()
    seen[:, 1, 0] += speed * np.arange(FRAMES) / FPS
    force = np.zeros((FRAMES, 2, 3))
    force[:, 1, 2] = 100.0
    rest = np.zeros((FRAMES, 3))
    com = wanted[0][:, 0]
    return Trace(
        model, Stage((Character(model),)), 0, FPS, wanted[0], wanted[1], com, seen, wanted[1], com, force, rest, rest
    )


def run_with(traces, cast=()):
    """What a worker's run looks like to whoever measures."""
    attached = {}
    for member in cast:
        attached |= make_member_attachments(member, {})
    findings = []
    return SimpleNamespace(
        traces=traces,
        attachment=attached.get,
        job=SimpleNamespace(log="worker.log"),
        findings=findings,
        add_finding=lambda *finding: findings.append(finding),
    )


def test_what_physics_saw_is_measured_beside_what_the_method_says():
    take = measure_job_takes(Take(clip(), measurements={"passes": np.int64(3)}), clip(), run_with([sliding(0.2)]))
    assert take.measurements["skate_m_s"] == pytest.approx(0.2)
    assert (take.measurements["passes"], type(take.measurements["passes"])) == (3, int)


def test_one_definition_holds_for_everybody():
    take = measure_job_takes(Take(clip(), measurements={"skate_m_s": 9.0}), clip(), run_with([sliding(0.2)]))
    assert take.measurements["skate_m_s"] == pytest.approx(0.2)


def test_everybody_on_the_stage_is_measured_by_their_own_trace():
    cast = (CastMember("Anna", clip("Anna"), 1), CastMember("Ben", clip("Ben"), 2))
    take = Take(clip(), others=(Take(clip("Anna")), Take(clip("Ben"))))
    done = measure_job_takes(take, clip(), run_with([sliding(0.1), sliding(0.2), sliding(0.3)], cast))
    assert [one.measurements["skate_m_s"] for one in (done, *done.others)] == pytest.approx([0.1, 0.2, 0.3])
    assert [other.motion.name for other in done.others] == ["Anna", "Ben"]


def test_without_a_trace_the_clips_are_compared():
    take = measure_job_takes(Take(clip()), clip(), run_with([]))
    assert take.measurements["joint_error_m"] == 0.0 and "skate_m_s" not in take.measurements


def test_a_take_with_a_clock_of_its_own_is_not_compared_with_the_clip():
    elsewhere = Clip(SKELETON, FPS, clip().local_pos[:7] + [5.0, 0.0, 0.0], clip().local_quat_wxyz[:7])
    alone = measure_job_takes(Take(elsewhere, own_clock=True), clip(), run_with([])).measurements
    assert alone["jerk_m_s3"] == pytest.approx(0.0, abs=1e-6)
    assert not {"joint_error_m", "root_error_m", "jerk_ratio"} & set(alone)
    # What physics saw is still compared with what was wanted of it.
    seen = measure_job_takes(Take(elsewhere, own_clock=True), clip(), run_with([sliding(0.2)])).measurements
    assert seen["skate_m_s"] == pytest.approx(0.2) and seen["joint_error_m"] > 0.0 and "jerk_ratio" not in seen


def test_a_take_on_other_bones_is_told_of_and_kept():
    trace = sliding(0.1)
    bones = Skeleton(("a",), [-1], np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), [0.1])
    other = Clip(bones, FPS, np.zeros((FRAMES, 1, 3)), np.tile([1.0, 0, 0, 0], (FRAMES, 1, 1)))
    run = run_with([trace])
    take = measure_job_takes(Take(other, measurements={"passes": 1}), clip(), run)
    assert take.measurements == {"passes": 1}
    assert [finding[0] for finding in run.findings] == ["measuring"]
