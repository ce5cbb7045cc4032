# SPDX-License-Identifier: GPL-3.0-or-later
"""A fragment that is done as it is meant to costs nothing, wherever it leads; the further off, the more it costs."""

import numpy as np
import pytest

from sinew.core.body import build_body, pose_of_clip, targets_of_pose
from sinew.core.body.poses import velocity_of_pose
from sinew.core.control.graph.learning.fragment_cost import fragment_cost
from sinew.core.control.graph.model.chains import ChainMotion
from sinew.core.control.graph.model.features import Features
from sinew.core.control.graph.model.fragments import fragment_reference
from sinew.core.control.graph.playing.fragment_simulator import FragmentSimulator
from sinew.core.control.tracking.facing import rotate_pose_about_z
from sinew.core.control.tracking.reference import FRAGMENT_STEPS

from ....body.figures import person, wiggling

FRAGMENTS = np.array([0, 1, 4, 7, 11, 13, 17, 25])
COPIES = len(FRAGMENTS)


@pytest.fixture(scope="module")
def simulator(town, arena_of):
    return arena_of(town[2], COPIES)


@pytest.fixture
def ends(simulator):
    """Poses and rates in which the fragments are meant to end."""
    return np.array(simulator.track.qpos[FRAGMENTS, -1]), np.array(simulator.track.rates[FRAGMENTS, -1])


def costs(simulator, qpos, rates, actions=None):
    rows = simulator.world.sense(simulator.world.state_of(qpos, rates))
    return fragment_cost(simulator, FRAGMENTS, qpos, rows, np.zeros((COPIES, 11)) if actions is None else actions)


def test_on_the_track_it_costs_nothing(simulator, ends):
    assert costs(simulator, *ends) == pytest.approx(0.0, abs=1e-6)


def test_it_costs_the_same_wherever_the_body_is_and_faces(simulator, ends):
    qpos, rates = ends
    rng = np.random.default_rng(0)
    qpos = simulator.track.space.integrate(qpos, rng.normal(scale=0.05, size=rates.shape))
    rates = rates + rng.normal(scale=0.2, size=rates.shape)
    before = costs(simulator, qpos, rates)
    assert before.min() > 0.3
    turned, moved = rotate_pose_about_z(np.linspace(-3.0, 3.0, COPIES), qpos, rates)
    turned[:, :2] += rng.normal(scale=30.0, size=(COPIES, 2))
    assert costs(simulator, turned, moved) == pytest.approx(before, abs=1e-5)


@pytest.mark.parametrize("what", ["tilt", "height", "joints", "speed"])
def test_the_further_off_the_more_it_costs(simulator, ends, what):
    body, (qpos, rates) = simulator.track.body, ends
    aside, faster = np.zeros(body.nv), np.zeros(body.nv)
    if what == "speed":
        faster[0] = 1.0
    else:
        aside[{"tilt": slice(3, 5), "height": slice(2, 3), "joints": slice(6, None)}[what]] = 0.2
    found = [
        costs(
            simulator,
            simulator.track.space.integrate(qpos, np.tile(share * aside, (COPIES, 1))),
            rates + share * faster,
        )
        for share in (0.0, 0.5, 1.0)
    ]
    assert (np.diff(found, axis=0) > 0.01).all()


def test_effort_counts_a_little_and_the_broken_are_worth_nothing(simulator, ends):
    actions = np.zeros((COPIES, 11))
    actions[0] = 0.3
    found = costs(simulator, *ends, actions)
    assert 0.0 < found[0] < 0.1 and found[1] == pytest.approx(0.0, abs=1e-6)
    rows = simulator.world.sense(simulator.world.state_of(*ends))
    qpos = np.array(ends[0])
    qpos[2] = np.nan
    broken = fragment_cost(simulator, FRAGMENTS, qpos, rows, np.zeros((COPIES, 11)))
    assert broken[2] == np.inf and np.isfinite(np.delete(broken, 2)).all()


def test_astray_are_those_who_are_lower_than_they_should_be(simulator, ends):
    qpos, rates = ends
    qpos[3, 2] -= 0.6
    qpos[4, :2] += 50.0
    rows = simulator.world.sense(simulator.world.state_of(qpos, rates))
    off = simulator.height_error(FRAGMENTS, rows)
    assert off[3] > 0.25 and np.delete(off, 3) == pytest.approx(0.0, abs=1e-9)


def test_a_body_without_feet_stands_on_its_shins_and_costs_something(world_of):
    """Nothing is ever the average of no feet."""
    skeleton = person(without=("foot", "toe"))
    body, _ = build_body(skeleton)
    qpos, _ = pose_of_clip(body, wiggling(skeleton, frames=2 * FRAGMENT_STEPS + 1))
    targets = targets_of_pose(body, qpos)
    moments = ChainMotion(qpos, velocity_of_pose(body, qpos, 1.0 / 60.0), targets, np.linspace(0.0, 0.2, 3))
    track, world = moments.segment(body), world_of(body, 2)
    simulator = FragmentSimulator(track, fragment_reference(track, world), world, Features(body))
    assert {body.links[foot].role for foot in simulator.reference.feet} == {"shin"}
    states, rows = simulator.execute(simulator.start(np.arange(2)), np.zeros((2, len(simulator.features.action_dofs))))
    found = fragment_cost(
        simulator, np.arange(2), world.pose_of(states)[0], rows, np.zeros((2, len(simulator.features.action_dofs)))
    )
    assert np.isfinite(found).all() and (found > 0.0).all()
