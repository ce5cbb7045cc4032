# SPDX-License-Identifier: GPL-3.0-or-later
"""A stride begins when its foot comes down, if that is a little before its time and the foot really swung."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body.poses import link_transforms
from sinew.core.control.graph.playing.phase_resetting import PhaseResetting


@pytest.fixture
def phases(walker) -> PhaseResetting:
    return PhaseResetting(walker)


@pytest.fixture
def strides(walker) -> tuple[int, int]:
    """The last fragments before the feet come down."""
    (chain,) = walker.structure.chains
    half = chain.count // 2
    return (chain.touch - 1) % chain.count, (chain.touch + half - 1) % chain.count


def on(body, side: str, newtons: float):
    """(L,) force on the feet of a side."""
    force = np.zeros(len(body.links))
    force[[i for i, link in enumerate(body.links) if link.role == "foot" and link.side == side]] = newtons
    return force


def stepped(phases, fragment: int, side: str, swing: int, other: float = 400.0) -> int | None:
    """What ends when that foot comes down after a swing of so many control steps, while the other one stands."""
    body = phases.graph.body
    standing = on(body, {"L": "R", "R": "L"}[side], other)
    phases.finished_stride(fragment, standing + on(body, side, 300.0))
    for _ in range(swing):
        assert phases.finished_stride(fragment, standing) is None
    return phases.finished_stride(fragment, standing + on(body, side, 300.0))


def side_of(walker, last: int) -> str:
    """Whose foot is ahead when the stride after this fragment begins: it has just come down."""
    first = walker.structure.successors[last][0]
    places = link_transforms(walker.body, walker.track.qpos[[first], 0])[0][0]
    feet = {link.side: places[i, 0] for i, link in enumerate(walker.body.links) if link.role == "foot"}
    return max(feet, key=feet.get)


def test_both_feet_take_turns(walker, strides):
    assert sorted(side_of(walker, last) for last in strides) == ["L", "R"]


def test_a_foot_that_comes_down_early_ends_its_stride(walker, phases, strides):
    for last in strides:
        side = side_of(walker, last)
        assert stepped(phases, last, side, 12) == last
        if last:
            assert stepped(phases, last - 1, side, 12) == last


def test_the_other_foot_and_other_times_end_nothing(walker, phases, strides):
    other = {"L": "R", "R": "L"}
    for last in strides:
        assert stepped(phases, last, other[side_of(walker, last)], 12) is None
    far = [f for f in range(12) if all(f not in (last, last - 1) for last in strides)]
    assert len(far) >= 6
    for fragment in far:
        assert all(stepped(phases, fragment, side, 12) is None for side in "LR")


def test_a_foot_that_only_trembles_has_not_come_down(walker, phases, strides):
    side = side_of(walker, strides[0])
    assert stepped(phases, strides[0], side, 2) is None


def test_a_graph_without_gaits_has_no_strides(walker):
    chains = tuple(replace(chain, gait=False) for chain in walker.structure.chains)
    phases = PhaseResetting(replace(walker, structure=replace(walker.structure, chains=chains)))
    assert all(stepped(phases, fragment, side, 12) is None for fragment in range(12) for side in "LR")
