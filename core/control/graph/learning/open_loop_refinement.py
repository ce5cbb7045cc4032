# SPDX-License-Identifier: GPL-3.0-or-later
"""Open-loop refinement (control graphs, 5.4; Algorithm 2, line 4): control clips as averages of sampled instances.

A captured motion is not always physically plausible. SAMCON reconstructs a walk on the graph, and each fragment becomes
the average of its instances, which suits all the states that walks arrive in, and is free of single samples' noise.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ....geometry.quaternions import Array
from ....sim.engine import World
from ...sampling.tracker import SearchEffort, track_reference
from ...tracking.facing import rotate_pose_about_z, twist_angle
from ...tracking.reference import FRAGMENT_STEPS, Reference, pad_batch
from ...tracking.rollout import roll_out
from ..model.fragments import Indices, Track, walk_reference

_WARM_UP = 5  # fragments at the walk's beginning that do not count: it starts from the reference's own state
_SPREADS = (0.1, 0.05)
_AROUND, _MUCH_WORSE = 3, 1.5  # fragments before and after that are looked at, and how much more than the least is much


def refine_open_loop(
    track: Track,
    walk: Indices,
    world: World,
    seeds: Sequence[tuple[int, ...]],
    look: Callable[[], None],
    locked: Indices | None = None,
) -> tuple[Track, Array]:
    """The track as averages of a walk's instances, and the costs (W,) of the walk's fragments.

    seeds: the walk is sampled with each, and the one that cost least counts. locked: fragments that stay as they are.
    Those that the walk does not visit stay, too.
    """
    every = (_sample_walk(track, walk, world, seed, look) for seed in seeds)
    qpos, rates, targets, costs = min(every, key=lambda sampled: float(sampled[-1].mean()))
    return _average_instances(track, walk, qpos, rates, targets, _select_instances(walk, costs), locked), costs


def _sample_walk(
    track: Track, walk: Indices, world: World, seed: tuple[int, ...], look: Callable[[], None]
) -> tuple[Array, Array, Array, Array]:
    """Poses (W, STEPS + 1, nq), rates, targets (W, STEPS, nu) and costs (W,) of a walk as one sampling did it."""
    reference, _ = walk_reference(track, walk, world)
    effort = SearchEffort(world.copies, _SPREADS)
    found = track_reference(reference, world, effort, seed, on_fragment=look, poll_cancel=look)
    return (*_replay_fragments(reference, world, found.starts, found.offsets), found.cost)


def _replay_fragments(reference: Reference, world: World, starts: Array, offsets: Array) -> tuple[Array, Array, Array]:
    """Poses (W, STEPS + 1, nq), rates and targets (W, STEPS, nu) of fragments played again from their starts."""
    count = len(starts)
    before = np.concatenate([np.zeros_like(offsets[:1]), offsets[:-1]])
    targets = reference.servo_targets(np.arange(count), before, offsets)
    played = []
    for first in range(0, count, world.copies):
        some = slice(first, first + world.copies)
        states, _ = roll_out(world, pad_batch(starts[some], world.copies), pad_batch(targets[some], world.copies))
        played.append(states[: len(starts[some])])
    states = np.concatenate([starts[:, None], np.concatenate(played)], axis=1)
    return (*world.pose_of(states), targets)


def _select_instances(walk: Indices, costs: Array) -> NDArray[np.bool_]:
    """(W,) the instances that are averaged: none of a walk's beginning, and none that cost much more than the others.

    A stumble costs more for a while, so the fragments right before and after count as well.
    """
    near = np.ones(2 * _AROUND + 1) / (2 * _AROUND + 1)
    around = np.convolve(np.pad(costs, _AROUND, mode="edge"), near, "valid")
    good = np.zeros(len(walk), dtype=bool)
    for fragment in np.unique(walk):
        every = np.flatnonzero(walk == fragment)
        some = every[every >= _WARM_UP] if (every >= _WARM_UP).any() else every
        good[some] = around[some] <= _MUCH_WORSE * around[some].min()
    return good


def _average_instances(
    track: Track,
    walk: Indices,
    qpos: Array,
    rates: Array,
    targets: Array,
    good: NDArray[np.bool_],
    locked: Indices | None,
) -> Track:
    """Each fragment as the mean of its instances; good: (W,) which of them count."""
    new_qpos, new_rates, new_targets = (np.array(part) for part in (track.qpos, track.rates, track.targets))
    for fragment in np.setdiff1d(np.unique(walk), [] if locked is None else locked):
        some = np.flatnonzero((walk == fragment) & good)
        heading = twist_angle(qpos[some, 0, 3:7], track.qpos[fragment, 0, 3:7])
        moments = np.broadcast_to(-heading[:, None], (len(some), FRAGMENT_STEPS + 1))
        moved = np.array(qpos[some])
        # Above the origin where the track has it: the first moment's place counts, not the average of places.
        moved[..., :2] -= moved[:, :1, :2]
        posed, turned_rates = rotate_pose_about_z(moments, moved, rates[some])
        mean = track.space.difference(track.qpos[fragment], posed).mean(0)
        new_qpos[fragment] = track.space.integrate(track.qpos[fragment], mean)
        new_rates[fragment] = turned_rates.mean(0)
        new_targets[fragment] = targets[some].mean(0)
    return Track(track.body, new_qpos, new_rates, new_targets)
