# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaits do left as they do right: tracks and feedback of the second stride are the first's mirror images."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body.poses import link_transforms
from sinew.core.control.graph.learning.gait_symmetry import FragmentSymmetry
from sinew.core.control.graph.model.features import Features
from sinew.core.control.graph.model.fragments import Track, concatenate_fragments
from sinew.core.control.graph.model.policies import zero_policies

FLIP = np.array([1.0, -1.0, 1.0])


@pytest.fixture(scope="module")
def symmetry(town, body):
    return FragmentSymmetry(body, town[1], Features(body))


@pytest.fixture(scope="module")
def uneven(town):
    """The track with noise: no two strides are alike."""
    track, rng = town[2], np.random.default_rng(0)
    qpos = track.space.integrate(track.qpos, rng.normal(scale=0.03, size=track.rates.shape))
    rates = track.rates + rng.normal(scale=0.1, size=track.rates.shape)
    return Track(track.body, qpos, rates, track.targets + rng.normal(scale=0.03, size=track.targets.shape))


def other_side(body) -> list[int]:
    """For each link the one on the other side."""
    places = {(link.role, link.side): index for index, link in enumerate(body.links)}
    return [places[link.role, {"L": "R", "R": "L"}.get(link.side, link.side)] for link in body.links]


def test_both_strides_become_mirror_images_and_all_else_stays(symmetry, uneven, town, body):
    structure, track = town[1], symmetry.symmetrize_track(uneven)
    gaits = np.concatenate([np.array(chain.fragments) for chain in structure.chains if chain.gait])
    rest = np.setdiff1d(np.arange(structure.count), gaits)
    assert len(symmetry.second_strides) == len(gaits) // 2
    assert np.array_equal(track.qpos[rest], uneven.qpos[rest])
    assert np.array_equal(track.targets[rest], uneven.targets[rest])
    first, second = (
        link_transforms(body, track.qpos[some].reshape(-1, body.nq))[0]
        for some in (structure.mirror_of[symmetry.second_strides], symmetry.second_strides)
    )
    assert second[:, other_side(body)] == pytest.approx(first * FLIP, abs=1e-6)
    again = symmetry.symmetrize_track(track)
    assert again.qpos == pytest.approx(track.qpos, abs=1e-9) and again.targets == pytest.approx(track.targets, abs=1e-9)


def test_it_is_half_way_between_what_both_strides_were(symmetry, uneven, body):
    """Knees: left in the first stride and right in the second meet in the middle."""
    track, seconds = symmetry.symmetrize_track(uneven), symmetry.second_strides
    left, right = (
        int(body.qpos_starts[next(i for i, link in enumerate(body.links) if (link.role, link.side) == ("shin", side))])
        for side in "LR"
    )
    firsts = symmetry.structure.mirror_of[seconds]
    wanted = 0.5 * (uneven.qpos[firsts][..., left] + uneven.qpos[seconds][..., right])
    assert track.qpos[firsts][..., left] == pytest.approx(wanted, abs=1e-3)


def test_an_even_walk_goes_straight(symmetry, uneven):
    turns = [
        concatenate_fragments(track, list(range(12)) * 8).headings[::12]
        for track in (uneven, symmetry.symmetrize_track(uneven))
    ]
    assert np.abs(turns[1] - turns[1][1]).max() < 1e-6 and np.ptp(turns[0]) > 0.1


def test_feedback_of_the_second_stride_is_that_of_the_first_in_the_mirror(symmetry, town):
    rng, structure = np.random.default_rng(1), town[1]
    policies = zero_policies(rng.normal(size=(structure.count, 18)), 11)
    policies = policies.with_fragments(
        np.arange(structure.count),
        type(policies)(
            rng.normal(size=policies.gains.shape),
            policies.states,
            rng.normal(size=policies.actions.shape),
            rng.uniform(0.1, 0.2, size=policies.spreads.shape),
        ),
    )
    found = symmetry.symmetrize_policies(policies)
    seconds = symmetry.second_strides
    firsts = structure.mirror_of[seconds]
    seen = rng.normal(size=(len(firsts), 18))
    states, actions = symmetry.mirror_tuples(seen, found.unclipped_actions(firsts, seen))
    assert found.unclipped_actions(seconds, states) == pytest.approx(actions, abs=1e-9)
    # As examples of the first again, they are what they were.
    assert np.concatenate(symmetry.mirror_tuples(states, actions), axis=1) == pytest.approx(
        np.concatenate([seen, found.unclipped_actions(firsts, seen)], axis=1), abs=1e-9
    )
    others = np.setdiff1d(np.arange(structure.count), seconds)
    assert np.array_equal(found.gains[others], policies.gains[others])


def test_a_graph_without_gaits_is_left_alone(town, body, uneven):
    structure = town[1]
    plain = replace(structure, chains=tuple(replace(chain, gait=False) for chain in structure.chains))
    symmetry = FragmentSymmetry(body, plain, Features(body))
    assert symmetry.symmetrize_track(uneven) is uneven and not len(symmetry.second_strides)
