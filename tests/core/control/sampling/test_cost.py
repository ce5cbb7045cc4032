# SPDX-License-Identifier: GPL-3.0-or-later
"""What a state costs: nothing on the reference, and every term of equation 20 off it."""

import numpy as np
import pytest

from sinew.core.body.build import build_body
from sinew.core.body.clearance import put_on_floor
from sinew.core.control.sampling.cost import CostWeights, compute_cost
from sinew.core.control.tracking.reference import FRAGMENT_STEPS, make_reference
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage

from ....stock_clips import stock_clip


@pytest.fixture(scope="module")
def walk():
    """A step of the stock walk in a world of eight copies."""
    clip = stock_clip("walk", 0, 16)
    body, _ = build_body(clip.skeleton, clip=clip)
    clip, _ = put_on_floor(body, clip)
    world = engines.get_engine("mujoco").compile(Stage((Character(body),)), 8)
    yield make_reference(body, clip, world), world
    world.close()


def test_the_reference_itself_costs_nothing(walk):
    reference, world = walk
    states = np.repeat(reference.states[FRAGMENT_STEPS][None], world.copies, axis=0)
    zero = np.zeros((world.copies, reference.body.nu))
    rows = world.sense(states)
    each = compute_cost(
        reference, FRAGMENT_STEPS, world.pose_of(states)[0], rows, zero, np.zeros((world.copies, 2)), CostWeights()
    )
    assert np.abs(each).max() < 1e-6


def test_every_term_of_the_cost_is_felt(walk):
    reference, world = walk
    qpos, qvel = world.pose_of(reference.states[FRAGMENT_STEPS])
    still = np.zeros((world.copies, 2))

    def seen(qpos, qvel, offsets=0.0, drift=still):
        states = world.state_of(np.repeat(qpos[None], world.copies, 0), np.repeat(qvel[None], world.copies, 0))
        asked = np.full((world.copies, reference.body.nu), offsets)
        return compute_cost(reference, FRAGMENT_STEPS, qpos[None], world.sense(states), asked, drift, CostWeights())[0]

    lifted, moved, faster, bent = np.array(qpos), np.array(qpos), np.array(qvel), np.array(qpos)
    lifted[2] += 0.2
    moved[0] += 0.5
    faster[0] += 1.0
    bent[reference.body.qpos_starts[-2]] *= -1.0
    assert seen(lifted, qvel) == pytest.approx(10.0 * 0.2 + 3.0 * 0.2, rel=0.01)
    assert seen(moved, qvel) == pytest.approx(3.0 * 0.5, rel=0.01)
    assert seen(moved, qvel, drift=np.tile([0.5, 0.0], (world.copies, 1))) == pytest.approx(0.0, abs=1e-6)
    assert seen(qpos, faster) == pytest.approx(0.1 * 1.0, rel=0.05)
    assert seen(qpos, qvel, offsets=0.1) == pytest.approx(0.05 * 0.1 * np.sqrt(reference.body.nu), rel=0.01)
    assert np.isinf(seen(np.full_like(qpos, np.nan), qvel))
