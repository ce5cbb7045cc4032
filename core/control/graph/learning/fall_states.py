# SPDX-License-Identifier: GPL-3.0-or-later
"""Falls from which get-ups are learned (6.2): copies are pushed over, and a ragdoll controller brings them to lie."""

from collections.abc import Callable

import numpy as np

from ....geometry.quaternions import Array
from ...tracking.facing import rotate_about_z
from ...tracking.reference import FRAGMENT_STEPS
from ..model.fragments import Indices
from ..model.policies import Policies
from ..playing.fragment_simulator import FragmentSimulator
from ..playing.ragdoll import RagdollController

_PUSH_N = (500.0, 1200.0)
_PUSHED, _LONGEST = 3, 70  # fragments: how long the push lasts, and until all of them lie


def collect_fall_states(
    simulator: FragmentSimulator,
    policies: Policies,
    starts: Indices,
    successor: Callable[[Indices], Indices],
    rises: Indices,
    rng: np.random.Generator,
    on_step: Callable[[], None],
) -> dict[int, Array]:
    """By a get-up's first fragment, states (n, state_size) in which it begins.

    Copies begin with fragments ``starts`` (N,), are pushed from all sides, and fall as ragdolls. successor: gives the
    next fragments (N,).
    """
    ragdoll = RagdollController(simulator.track, rises)
    count = len(starts)
    force = np.zeros((count, 3))
    force[:, 0] = rng.uniform(*_PUSH_N, size=count)
    force = rotate_about_z(rng.uniform(0.0, 2.0 * np.pi, size=count), force)
    batch, down_s = simulator.start(starts), np.zeros(count)
    found: dict[int, list[Array]] = {int(rise): [] for rise in rises}
    for step in range(_LONGEST):
        on_step()
        if step < _PUSHED:
            actions = policies.mean_actions(batch.fragments, batch.observations)
            states, rows = simulator.execute(batch, actions, force)
            batch = simulator.next_batch(states, rows, actions, successor(batch.fragments))
            continue
        control = ragdoll.control(*simulator.world.pose_of(batch.states), down_s)
        ready = control.ready & np.isfinite(batch.states).all(-1)  # a copy that was collected already is not a number
        for index in np.flatnonzero(ready):
            found[int(control.rise[index])].append(np.array(batch.states[index]))
        batch.states[ready] = np.nan
        if not np.isfinite(batch.states).all(-1).any():
            break
        targets = np.repeat(control.targets[:, None], FRAGMENT_STEPS, axis=1)
        muscle = np.repeat(control.muscle[:, None], FRAGMENT_STEPS, axis=1)
        states, _ = simulator.world.rollout(
            batch.states, np.nan_to_num(targets), substeps=simulator.substeps, muscle=np.nan_to_num(muscle, nan=1.0)
        )
        batch.states, down_s = states[:, -1], down_s + 0.1
    return {rise: np.array(states) for rise, states in found.items() if states}
