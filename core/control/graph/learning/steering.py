# SPDX-License-Identifier: GPL-3.0-or-later
"""Steering (control graphs, 6.1): the feedback to gentle sideways pushes, applied without them, turns a gait."""

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


def count_turn_steps(chain: Chain) -> int:
    """How many steps ``learn_turn_offsets`` takes for a gait, for progress."""
    return 2 * (_SETTLE + _COUNTED) * chain.count


def learn_turn_offsets(
    simulator: FragmentSimulator, policies: Policies, chain: Chain, on_step: Callable[[], None]
) -> tuple[Array, float]:
    """(K, A) radians, offsets of a gait's actions for its fastest left turn, and its rate in radians a second.

    Actions under pushes from either side are recorded and averaged, fragment by fragment. Their slope over the push is
    then applied without pushes, scaled to several strengths, to either side.
    """
    shift = _push_responses(simulator, policies, chain, on_step)
    strengths = np.array(_STRENGTHS)
    both = np.concatenate([strengths, -strengths])
    left, right = np.split(_turn_rates(simulator, policies, chain, both[:, None, None] * shift, on_step), 2)
    rates = 0.5 * (left - right)
    # Strengths up to the first at which it falls to one of the sides.
    upright = np.isfinite(rates) & (np.abs(rates) < MAX_TURN_RATE)
    upright &= np.logical_and.accumulate(upright)
    if not upright.any():
        return np.zeros_like(shift), 0.0
    best = int(np.argmax(np.where(upright, np.abs(rates), 0.0)))
    # Of something weaker it turns by more than as much less.
    known = strengths[: best + 1]
    rate = float(np.interp(_SAFE * strengths[best], known, np.sign(rates[best]) * rates[: best + 1]))
    if rate <= 0.0:
        return np.zeros_like(shift), 0.0
    return np.sign(rates[best]) * _SAFE * strengths[best] * shift, rate


def _push_responses(
    simulator: FragmentSimulator, policies: Policies, chain: Chain, on_step: Callable[[], None]
) -> Array:
    """(K, A) change of actions from no push to the strongest to the left, regressed over copies that stay up."""
    forces = np.resize(np.array(_SIDEWAYS_N), simulator.world.copies)
    batch = simulator.start(np.full(simulator.world.copies, chain.first))
    sums = np.zeros((len(forces), chain.count, len(simulator.features.action_dofs)))
    for step in range((_SETTLE + _COUNTED) * chain.count):
        on_step()
        fragment = chain.first + step % chain.count
        actions = policies.mean_actions(batch.fragments, np.nan_to_num(batch.observations))
        if step >= _SETTLE * chain.count:
            sums[:, fragment - chain.first] += actions / _COUNTED
        aside = rotate_about_z(np.full(len(forces), 0.5 * np.pi), simulator.facing_directions(batch.states))
        states, rows = simulator.execute(batch, actions, np.nan_to_num(forces[:, None] * aside))
        states[simulator.height_error(batch.fragments, rows) > 0.25] = np.nan
        batch = simulator.next_batch(
            states, rows, actions, np.full(len(forces), chain.first + (step + 1) % chain.count)
        )
    upright = np.isfinite(batch.states).all(-1)
    if upright.sum() < 3:
        return np.zeros_like(sums[0])
    x = forces[upright] - forces[upright].mean()
    return np.asarray(np.einsum("n,nka->ka", x, sums[upright]) / max(float(x @ x), 1e-9) * max(_SIDEWAYS_N))


def _turn_rates(
    simulator: FragmentSimulator, policies: Policies, chain: Chain, offsets: Array, on_step: Callable[[], None]
) -> Array:
    """(M,) left turn rates in radians a second with offsets (M, K, A) of actions; not a number after a fall."""
    which = np.resize(np.arange(len(offsets)), simulator.world.copies)
    batch = simulator.start(np.full(simulator.world.copies, chain.first))
    total, last = np.zeros(len(which)), None
    for step in range((_SETTLE + _COUNTED) * chain.count):
        on_step()
        fragment = step % chain.count
        actions = policies.mean_actions(batch.fragments, np.nan_to_num(batch.observations)) + offsets[which, fragment]
        states, rows = simulator.execute(batch, actions)
        states[simulator.height_error(batch.fragments, rows) > 0.25] = np.nan
        batch = simulator.next_batch(states, rows, actions, np.full(len(which), chain.first + (step + 1) % chain.count))
        if step >= _SETTLE * chain.count and fragment == chain.count - 1:
            root = simulator.world.pose_of(states)[0][:, 3:7]
            if last is not None:
                total += twist_angle(root, last)
            last = root
    seconds = (_COUNTED - 1) * chain.count * 0.1
    return np.array([float(np.mean(total[which == one] / seconds)) for one in range(len(offsets))])
