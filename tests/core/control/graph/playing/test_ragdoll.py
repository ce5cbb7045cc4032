# SPDX-License-Identifier: GPL-3.0-or-later
"""Who lies goes to the get-up that begins most as it lies, and begins it once it lies still."""

import numpy as np
import pytest

from sinew.core.control.graph.playing.ragdoll import RagdollController
from sinew.core.control.tracking.facing import rotate_pose_about_z
from sinew.core.geometry.quaternions import from_rotation_vector, multiply


@pytest.fixture(scope="module")
def rises(town):
    return np.array([town[1].chain(name).first for name in ("getup_facedown", "getup_faceup")])


@pytest.fixture(scope="module")
def ragdoll(town, rises) -> RagdollController:
    return RagdollController(town[2], rises)


def lying(town, rises, turn: float = 0.0, roll: float = 0.0):
    """(2, nq) and (2, nv) both get-ups' beginnings, still, turned on the floor and rolled about the world's X."""
    qpos = np.array(town[2].qpos[rises, 0])
    qpos[:, 3:7] = multiply(from_rotation_vector(np.array([roll, 0.0, 0.0])), qpos[:, 3:7])
    return rotate_pose_about_z(np.full(2, turn), qpos, np.zeros((2, town[2].body.nv)))


@pytest.mark.parametrize("turn", [0.0, 1.4, -2.9])
def test_the_nearest_get_up_is_picked_however_the_body_is_turned(town, ragdoll, rises, turn):
    found = ragdoll.control(*lying(town, rises, turn, roll=0.3), np.full(2, 2.0))
    assert np.array_equal(found.rise, rises)
    assert found.ready.all()
    targets = ragdoll.control(*lying(town, rises), np.full(2, 2.0)).targets
    assert np.array_equal(found.targets, targets) and not np.allclose(targets[0], targets[1])


def test_a_get_up_begins_when_the_body_lies_still_and_as_it_begins(town, ragdoll, rises):
    qpos, qvel = lying(town, rises)
    long = np.full(2, 2.0)
    assert not ragdoll.control(qpos, qvel, np.full(2, 0.2)).ready.any()  # it has hardly fallen
    sliding, rolling = np.array(qvel), np.array(qvel)
    sliding[:, 0], rolling[:, 4] = 1.0, 3.0
    assert not ragdoll.control(qpos, sliding, long).ready.any()
    assert not ragdoll.control(qpos, rolling, long).ready.any()
    on_its_side = lying(town, rises, roll=1.5)[0]
    assert not ragdoll.control(on_its_side, qvel, long).ready.any()
    curled = np.array(qpos)
    curled[:, 7:] = town[2].qpos[5, 0, 7:]  # limbs as in walking
    curled = town[2].space.integrate(curled, np.concatenate([np.zeros(6), np.full(town[2].body.nv - 6, 0.5)]))
    assert not ragdoll.control(curled, qvel, long).ready.any()
    assert ragdoll.control(curled, rolling, np.full(2, 6.0)).ready.all()  # nobody lies for ever


def test_limp_at_first_then_stronger(town, ragdoll, rises):
    qpos, qvel = (np.repeat(values[:1], 5, axis=0) for values in lying(town, rises))
    muscle = ragdoll.control(qpos, qvel, np.array([0.0, 0.4, 1.0, 2.5, 9.0])).muscle
    assert muscle[0] == muscle[1] == pytest.approx(0.1) and muscle[-1] == 1.0
    assert (np.diff(muscle[1:]) > 0.0).all()
