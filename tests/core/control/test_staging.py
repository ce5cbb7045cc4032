# SPDX-License-Identifier: GPL-3.0-or-later
"""A method gets the stage that its job was made with, and flat ground where it has none."""

from types import SimpleNamespace

import numpy as np
import pytest

from sinew.core.body import BodyModel, Joint, Link, Shape
from sinew.core.control.staging import build_job_stage
from sinew.core.motion import Skeleton
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import Finding, Mesh, ObstaclePart, PushPart, StageParts

ELL = [(0, 0), (1, 0), (1, 0.3), (0.3, 0.3), (0.3, 1), (0, 1)]


def ball():
    shape = Shape("sphere", np.array([0.1, 0.0, 0.0]), np.zeros(3))
    link = Link("hips", "pelvis", "", -1, Joint("free", np.zeros(3)), (shape,), 1.0, np.zeros(3), np.eye(3))
    skeleton = Skeleton(("hips",), np.array([-1]), np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.ones(1))
    return BodyModel(skeleton, (link,))


def ell():
    """A mesh that has to be taken apart."""
    front = np.insert(np.array(ELL, float), 1, 0.0, axis=1)
    side, after = np.arange(6), (np.arange(6) + 1) % 6
    fan = np.stack([np.zeros(4, int), side[1:-1], side[2:]], -1)
    walls = [np.stack([side, side + 6, after], -1), np.stack([after, side + 6, after + 6], -1)]
    return Mesh(np.concatenate([front, front + [0, 0.3, 0]]), np.concatenate([fan, fan[:, ::-1] + 6, *walls]))


def run_with(parts=None):
    """A run that remembers its findings."""
    findings = []
    return SimpleNamespace(
        attachment=lambda name: stage_to_arrays(parts) if parts is not None and name == "stage" else None,
        progress=lambda step, total: None,
        add_finding=lambda *finding: findings.append(finding),
        findings=findings,
    )


def test_a_job_without_a_stage_stands_on_flat_ground():
    run = run_with()
    stage = build_job_stage(run, ball(), ball())
    assert len(stage.characters) == 2 and stage.terrain is None and stage.gravity[2] == -9.81
    assert (stage.obstacles, stage.props, stage.pushes, run.findings) == ((), (), (), [])


def test_the_stage_of_the_job_is_assembled_and_its_findings_are_told():
    push = PushPart("Shove", "Hero", "hips", np.array([0.0, 50.0, 0.0]), 0.1, 0.2)
    told = Finding("left_out", "'Cup' was left out", "Move it")
    run = run_with(StageParts(("Hero",), pushes=(push,), self_collision=True, findings=(told,)))
    stage = build_job_stage(run, ball())
    assert (stage.characters[0].name, stage.characters[0].self_collision) == ("Hero", True)
    assert stage.pushes[0].force.tolist() == [0.0, 50.0, 0.0]
    assert run.findings == [("left_out", "'Cup' was left out", "Move it")]


def test_a_cancel_ends_the_taking_apart():
    class Cancelled(BaseException):
        pass

    def progress(*_):
        raise Cancelled

    run = run_with(StageParts(("Hero",), obstacles=(ObstaclePart("Ell", ell()),)))
    run.progress = progress
    with pytest.raises(Cancelled):
        build_job_stage(run, ball())
