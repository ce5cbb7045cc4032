# SPDX-License-Identifier: GPL-3.0-or-later
"""What a state costs: nothing on the reference, and every term of equation 20 off it."""

import numpy as np
import pytest

from sinew.core.body.build import build_body
from sinew.core.body.clearance import put_on_floor
from sinew.core.control.sampling.cost import compute_cost
from sinew.core.control.sampling.cost_report import sum_cost_by_second
from sinew.core.control.tracking.reference import FRAGMENT_STEPS, make_reference
from sinew.core.control.tracking.tracking_cost import CostTerms, CostWeights
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
    assert np.abs(each.total).max() < 1e-6


def test_every_term_of_the_cost_is_felt(walk):
    reference, world = walk
    qpos, qvel = world.pose_of(reference.states[FRAGMENT_STEPS])
    still = np.zeros((world.copies, 2))

    def seen(qpos, qvel, offsets=0.0, drift=still):
        states = world.state_of(np.repeat(qpos[None], world.copies, 0), np.repeat(qvel[None], world.copies, 0))
        asked = np.full((world.copies, reference.body.nu), offsets)
        return compute_cost(
            reference, FRAGMENT_STEPS, qpos[None], world.sense(states), asked, drift, CostWeights()
        ).total[0]

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


def test_terms_have_names_and_add_up_to_the_total(walk):
    reference, world = walk
    rng = np.random.default_rng(0)
    qpos, qvel = world.pose_of(np.repeat(reference.states[FRAGMENT_STEPS][None], world.copies, axis=0))
    states = world.state_of(reference.space.integrate(qpos, 0.1 * rng.normal(size=qvel.shape)), qvel)
    asked, drift = 0.1 * rng.normal(size=(world.copies, reference.body.nu)), np.zeros((world.copies, 2))
    terms = compute_cost(
        reference, FRAGMENT_STEPS, world.pose_of(states)[0], world.sense(states), asked, drift, CostWeights()
    )
    assert terms._fields == tuple(vars(CostWeights()))
    assert all(term.shape == (world.copies,) and (term > 0.0).all() for term in terms)
    np.testing.assert_array_equal(terms.total, sum(terms))
    assert terms.action == pytest.approx(0.05 * np.linalg.norm(asked, axis=1))


def test_the_report_says_which_term_was_lost_when(walk):
    count = walk[0].fragments
    terms = [CostTerms(*(np.full(1, 10.0 * fragment + at) for at in range(8))) for fragment in range(count)]
    report = sum_cost_by_second(terms)
    assert count > 0 and list(report) == [*CostTerms._fields, "total"]
    assert report["pose"][0] == pytest.approx(sum(10.0 * fragment for fragment in range(min(count, 10))))
    assert report["root"][0] - report["pose"][0] == pytest.approx(min(count, 10))
    assert len(report["total"]) == -(-count // 10)
    assert sum(report["total"]) == pytest.approx(sum(float(one.total[0]) for one in terms))
    blown = [*terms[:-1], CostTerms(*(np.full(1, np.nan) for _ in range(8)))]
    assert sum(sum_cost_by_second(blown)["total"]) == pytest.approx(sum(float(one.total[0]) for one in terms[:-1]))
