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
def even(town, body):
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


def test_both_strides_become_mirror_images_and_all_else_stays(even, uneven, town, body):
    layout, track = town[1], even.track(uneven)
    gaits = np.concatenate([np.array(chain.fragments) for chain in layout.chains if chain.gait])
    rest = np.setdiff1d(np.arange(layout.count), gaits)
    assert len(even.seconds) == len(gaits) // 2
    assert np.array_equal(track.qpos[rest], uneven.qpos[rest])
    assert np.array_equal(track.targets[rest], uneven.targets[rest])
    first, second = (
        link_transforms(body, track.qpos[some].reshape(-1, body.nq))[0]
        for some in (layout.twins[even.seconds], even.seconds)
    )
    assert second[:, other_side(body)] == pytest.approx(first * FLIP, abs=1e-6)
    again = even.track(track)
    assert again.qpos == pytest.approx(track.qpos, abs=1e-9) and again.targets == pytest.approx(track.targets, abs=1e-9)


def test_it_is_half_way_between_what_both_strides_were(even, uneven, body):
    """Knees: left in the first stride and right in the second meet in the middle."""
    track, seconds = even.track(uneven), even.seconds
    left, right = (
        int(body.qpos_starts[next(i for i, link in enumerate(body.links) if (link.role, link.side) == ("shin", side))])
        for side in "LR"
    )
    firsts = even.layout.twins[seconds]
    wanted = 0.5 * (uneven.qpos[firsts][..., left] + uneven.qpos[seconds][..., right])
    assert track.qpos[firsts][..., left] == pytest.approx(wanted, abs=1e-3)


def test_an_even_walk_goes_straight(even, uneven):
    turns = [concatenate_fragments(track, list(range(12)) * 8).headings[::12] for track in (uneven, even.track(uneven))]
    assert np.abs(turns[1] - turns[1][1]).max() < 1e-6 and np.ptp(turns[0]) > 0.1


def test_feedback_of_the_second_stride_is_that_of_the_first_in_the_mirror(even, town):
    rng, layout = np.random.default_rng(1), town[1]
    policies = zero_policies(rng.normal(size=(layout.count, 18)), 11)
    policies = policies.with_fragments(
        np.arange(layout.count),
        type(policies)(
            rng.normal(size=policies.gains.shape),
            policies.states,
            rng.normal(size=policies.actions.shape),
            rng.uniform(0.1, 0.2, size=policies.spreads.shape),
        ),
    )
    found = even.policies(policies)
    seconds = even.seconds
    firsts = layout.twins[seconds]
    seen = rng.normal(size=(len(firsts), 18))
    states, actions = even.pooled(seen, found.asked(firsts, seen))
    assert found.asked(seconds, states) == pytest.approx(actions, abs=1e-9)
    # As examples of the first again, they are what they were.
    assert np.concatenate(even.pooled(states, actions), axis=1) == pytest.approx(
        np.concatenate([seen, found.asked(firsts, seen)], axis=1), abs=1e-9
    )
    others = np.setdiff1d(np.arange(layout.count), seconds)
    assert np.array_equal(found.gains[others], policies.gains[others])


def test_a_graph_without_gaits_is_left_alone(town, body, uneven):
    layout = town[1]
    plain = replace(layout, chains=tuple(replace(chain, gait=False) for chain in layout.chains))
    even = FragmentSymmetry(body, plain, Features(body))
    assert even.track(uneven) is uneven and not len(even.seconds)
