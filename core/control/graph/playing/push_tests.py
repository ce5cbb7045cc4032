# SPDX-License-Identifier: GPL-3.0-or-later
"""How much the policies stand by themselves: pushes of growing force, and walks without end (control graphs, 6.1)."""

from collections.abc import Callable, Sequence

import numpy as np

from ....geometry.quaternions import Array
from ...tracking.facing import rotate_about_z
from ..model.fragments import Indices
from ..model.policies import Policies
from .fragment_simulator import FragmentSimulator

FALL_HEIGHT_ERROR = 0.25
"""How far astray, as a share of the body's height, counts as fallen."""
_STEP_N = 10.0
_AFTER_WAYS, _NUDGE_N = 10, 60.0  # fragments after a way, and newtons on it, that policies are tried with


def survived_fragments(
    arena: FragmentSimulator,
    policies: Policies,
    starts: Indices,
    after: Callable[[Indices], Indices],
    steps: int,
    pushes: Callable[[int, Array], Array | None] | None = None,
    breathe: Callable[[], None] | None = None,
) -> Indices:
    """(N,) how many fragments copies begun at fragments (N,) did before they fell; ``steps`` where they did not.

    pushes: newtons (N, 3) for a step, given the directions (N, 3) that the copies face.
    """
    crowd = arena.begun(starts)
    lasted = np.full(len(starts), steps, dtype=np.int64)
    for step in range(steps):
        actions = policies.means(crowd.fragments, np.nan_to_num(crowd.seen))
        force = pushes(step, arena.ahead(crowd.states)) if pushes is not None else None
        states, rows = arena.done(crowd, actions, force)
        fallen = arena.astray(crowd.fragments, rows) > FALL_HEIGHT_ERROR
        lasted[fallen & (lasted == steps)] = step
        if (lasted < steps).all():
            break
        states[lasted < steps] = np.nan  # who fell costs no more time
        crowd = arena.next(states, rows, actions, after(crowd.fragments))
        if breathe is not None:
            breathe()
    return lasted


def find_hardest_push(
    arena: FragmentSimulator,
    policies: Policies,
    first: int,
    after: Callable[[Indices], Indices],
    cycle: int,
    cycles: int = 20,
) -> tuple[float, Array]:
    """Newtons at the trunk for 0.1 s, along where the body faces, that it stands for so many cycles.

    The pushes come at the beginning of the second cycle, at fragment ``first``. In steps of 10 N, as many as there are
    copies, each from a calm start. Gives the last before the first that fells it, and for each whether it stood.
    """
    force = _STEP_N * np.arange(arena.world.copies)

    def pushes(step: int, ahead: Array) -> Array | None:
        return np.nan_to_num(force[:, None] * ahead) if step == cycle else None

    starts = np.full(arena.world.copies, first, dtype=np.int64)
    lasted = survived_fragments(arena, policies, starts, after, cycle * (cycles + 1), pushes)
    stood = lasted == cycle * (cycles + 1)
    if stood.all():
        return float(force[-1]), stood
    return float(force[np.argmin(stood)] - _STEP_N), stood


def transition_success_rate(
    arena: FragmentSimulator,
    policies: Policies,
    walks: Sequence[Indices],
    follows: Sequence[Sequence[int]],
    rng: np.random.Generator,
) -> float:
    """The share of copies that stay up on walks and a while after, with a nudge from anywhere at their beginning."""
    copies, steps = arena.world.copies, max(map(len, walks)) + _AFTER_WAYS
    paths = []
    for walk in walks:
        path = [int(fragment) for fragment in walk]
        while len(path) < steps:
            path.append(follows[path[-1]][0])
        paths.append(path)
    walked = np.resize(np.array(paths), (copies, steps))
    force = rotate_about_z(rng.uniform(0.0, 2.0 * np.pi, copies), np.tile([_NUDGE_N, 0.0, 0.0], (copies, 1)))
    turns = iter(walked[:, 1:].T)
    lasted = survived_fragments(
        arena, policies, walked[:, 0], lambda _: next(turns), steps - 1, lambda step, _: force if step == 1 else None
    )
    return float(np.mean(lasted == steps - 1))
