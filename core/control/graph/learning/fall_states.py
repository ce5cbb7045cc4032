# SPDX-License-Identifier: GPL-3.0-or-later
"""Falls to learn getting up from: copies are pushed over, go limp, and where they come to lie a get-up begins."""

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
    arena: FragmentSimulator,
    policies: Policies,
    starts: Indices,
    after: Callable[[Indices], Indices],
    rises: Indices,
    rng: np.random.Generator,
    breathe: Callable[[], None],
) -> dict[int, Array]:
    """By a get-up's first fragment, states (n, state_size) in which it begins.

    The copies begin with fragments ``starts`` (N,), are pushed from all sides, and go limp.
    """
    ragdoll = RagdollController(arena.track, rises)
    count = len(starts)
    force = np.zeros((count, 3))
    force[:, 0] = rng.uniform(*_PUSH_N, size=count)
    force = rotate_about_z(rng.uniform(0.0, 2.0 * np.pi, size=count), force)
    crowd, down_s = arena.begun(starts), np.zeros(count)
    found: dict[int, list[Array]] = {int(rise): [] for rise in rises}
    for step in range(_LONGEST):
        breathe()
        if step < _PUSHED:
            actions = policies.means(crowd.fragments, crowd.seen)
            states, rows = arena.done(crowd, actions, force)
            crowd = arena.next(states, rows, actions, after(crowd.fragments))
            continue
        lying = ragdoll.lying(*arena.world.pose_of(crowd.states), down_s)
        ready = lying.ready & np.isfinite(crowd.states).all(-1)  # who was found already is no number any more
        for index in np.flatnonzero(ready):
            found[int(lying.rise[index])].append(np.array(crowd.states[index]))
        crowd.states[ready] = np.nan
        if not np.isfinite(crowd.states).all(-1).any():
            break
        targets = np.repeat(lying.targets[:, None], FRAGMENT_STEPS, axis=1)
        muscle = np.repeat(lying.muscle[:, None], FRAGMENT_STEPS, axis=1)
        states, _ = arena.world.rollout(
            crowd.states, np.nan_to_num(targets), substeps=arena.substeps, muscle=np.nan_to_num(muscle, nan=1.0)
        )
        crowd.states, down_s = states[:, -1], down_s + 0.1
    return {rise: np.array(states) for rise, states in found.items() if states}
