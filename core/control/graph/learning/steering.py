# SPDX-License-Identifier: GPL-3.0-or-later
"""Turning while walking: what feedback does against a gentle push from the side, done without the push (6.1)."""

from collections.abc import Callable

import numpy as np

from ....geometry.quaternions import Array
from ...tracking.facing import rotate_about_z, twist_angle
from ..model.control_graph import MAX_TURN_RATE
from ..model.policies import Policies
from ..model.structure import Chain
from ..playing.fragment_simulator import FragmentSimulator

_SIDEWAYS_N = (-30.0, -20.0, -10.0, 0.0, 10.0, 20.0, 30.0)
_SETTLE, _COUNTED = 6, 6  # cycles until the gait has settled, and that are averaged after
_STRENGTHS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.9, 1.3, 2.0, 3.0)
_SAFE = 0.7  # of what it just stands


def learn_turn_offsets(
    arena: FragmentSimulator, policies: Policies, chain: Chain, breathe: Callable[[], None]
) -> tuple[Array, float]:
    """(K, A) radians on top of a gait's actions to turn left as fast as it can, and how fast that is: radians a second.

    Actions under pushes from either side are recorded and averaged, fragment by fragment. What changes with the push is
    then tried without it, weaker and stronger, to either side.
    """
    shift = _push_responses(arena, policies, chain, breathe)
    strengths = np.array(_STRENGTHS)
    both = np.concatenate([strengths, -strengths])
    left, right = np.split(_turn_rates(arena, policies, chain, both[:, None, None] * shift, breathe), 2)
    rates = 0.5 * (left - right)
    # As far as it stands to both sides, and turns the more the stronger it is.
    stood = np.isfinite(rates) & (np.abs(rates) < MAX_TURN_RATE)
    stood &= np.logical_and.accumulate(stood)
    if not stood.any():
        return np.zeros_like(shift), 0.0
    best = int(np.argmax(np.where(stood, np.abs(rates), 0.0)))
    # Of something weaker it turns by more than as much less.
    known = strengths[: best + 1]
    rate = float(np.interp(_SAFE * strengths[best], known, np.sign(rates[best]) * rates[: best + 1]))
    if rate <= 0.0:
        return np.zeros_like(shift), 0.0
    return np.sign(rates[best]) * _SAFE * strengths[best] * shift, rate


def _push_responses(arena: FragmentSimulator, policies: Policies, chain: Chain, breathe: Callable[[], None]) -> Array:
    """(K, A) how actions change when the push changes from none to the strongest that is still stood, to the left."""
    forces = np.resize(np.array(_SIDEWAYS_N), arena.world.copies)
    crowd = arena.begun(np.full(arena.world.copies, chain.first))
    sums = np.zeros((len(forces), chain.count, len(arena.features.acts)))
    for step in range((_SETTLE + _COUNTED) * chain.count):
        breathe()
        fragment = chain.first + step % chain.count
        actions = policies.means(crowd.fragments, np.nan_to_num(crowd.seen))
        if step >= _SETTLE * chain.count:
            sums[:, fragment - chain.first] += actions / _COUNTED
        aside = rotate_about_z(np.full(len(forces), 0.5 * np.pi), arena.ahead(crowd.states))
        states, rows = arena.done(crowd, actions, np.nan_to_num(forces[:, None] * aside))
        states[arena.astray(crowd.fragments, rows) > 0.25] = np.nan
        crowd = arena.next(states, rows, actions, np.full(len(forces), chain.first + (step + 1) % chain.count))
    stood = np.isfinite(crowd.states).all(-1)
    if stood.sum() < 3:
        return np.zeros_like(sums[0])
    x = forces[stood] - forces[stood].mean()
    return np.asarray(np.einsum("n,nka->ka", x, sums[stood]) / max(float(x @ x), 1e-9) * max(_SIDEWAYS_N))


def _turn_rates(
    arena: FragmentSimulator, policies: Policies, chain: Chain, shifts: Array, breathe: Callable[[], None]
) -> Array:
    """(M,) radians a second that bodies turn left with shifts (M, K, A) of their actions; not a number if they fall."""
    which = np.resize(np.arange(len(shifts)), arena.world.copies)
    crowd = arena.begun(np.full(arena.world.copies, chain.first))
    total, last = np.zeros(len(which)), None
    for step in range((_SETTLE + _COUNTED) * chain.count):
        breathe()
        fragment = step % chain.count
        actions = policies.means(crowd.fragments, np.nan_to_num(crowd.seen)) + shifts[which, fragment]
        states, rows = arena.done(crowd, actions)
        states[arena.astray(crowd.fragments, rows) > 0.25] = np.nan
        crowd = arena.next(states, rows, actions, np.full(len(which), chain.first + (step + 1) % chain.count))
        if step >= _SETTLE * chain.count and fragment == chain.count - 1:
            root = arena.world.pose_of(states)[0][:, 3:7]
            if last is not None:
                total += twist_angle(root, last)
            last = root
    seconds = (_COUNTED - 1) * chain.count * 0.1
    return np.array([float(np.mean(total[which == one] / seconds)) for one in range(len(shifts))])
