# SPDX-License-Identifier: GPL-3.0-or-later
"""Robustness of policies, executed without search: the maximal recoverable push, and transitions (6.1, table II)."""

from collections.abc import Callable, Sequence

import numpy as np

from ....geometry.quaternions import Array
from ...tracking.facing import rotate_about_z
from ..model.fragments import Indices
from ..model.policies import Policies
from .fragment_simulator import FragmentSimulator

FALL_HEIGHT_ERROR = 0.25
"""Error of the links' heights, as a share of the body's height, that counts as a fall."""
PUSHED_CYCLES = 20
"""That a copy must stay up for after a push."""
_STEP_N = 10.0
_RUN_OUT, _NUDGE_N = 10, 60.0  # fragments executed after a transition, and the push in it


def survived_fragments(
    simulator: FragmentSimulator,
    policies: Policies,
    starts: Indices,
    successor: Callable[[Indices], Indices],
    steps: int,
    pushes: Callable[[int, Array], Array | None] | None = None,
    on_step: Callable[[], None] | None = None,
) -> Indices:
    """(N,) fragments that copies started at fragments (N,) execute before they fall; ``steps`` where they do not fall.

    successor: gives the next fragments (N,). pushes: newtons (N, 3) for a step, given the facing directions (N, 3).
    """
    batch = simulator.start(starts)
    lasted = np.full(len(starts), steps, dtype=np.int64)
    for step in range(steps):
        actions = policies.mean_actions(batch.fragments, np.nan_to_num(batch.observations))
        force = pushes(step, simulator.facing_directions(batch.states)) if pushes is not None else None
        states, rows = simulator.execute(batch, actions, force)
        fallen = simulator.height_error(batch.fragments, rows) > FALL_HEIGHT_ERROR
        lasted[fallen & (lasted == steps)] = step
        if (lasted < steps).all():
            break
        states[lasted < steps] = np.nan  # a fallen copy costs no more time
        batch = simulator.next_batch(states, rows, actions, successor(batch.fragments))
        if on_step is not None:
            on_step()
    return lasted


def find_hardest_push(
    simulator: FragmentSimulator,
    policies: Policies,
    first: int,
    successor: Callable[[Indices], Indices],
    cycle: int,
    cycles: int = PUSHED_CYCLES,
    on_step: Callable[[], None] | None = None,
) -> tuple[float, Array]:
    """The maximal recoverable push f_max in newtons (table II), and for each push whether the copy stayed up.

    Pushes act on the trunk for 0.1 s along the facing direction, at the beginning of the second cycle, which begins
    with fragment ``first``; the copy must not fall for ``cycles`` cycles. They grow by 10 N, one push a copy, each copy
    started from the reference. The result is the last push before the first one that ends in a fall.
    """
    force = _STEP_N * np.arange(simulator.world.copies)

    def pushes(step: int, ahead: Array) -> Array | None:
        return np.nan_to_num(force[:, None] * ahead) if step == cycle else None

    starts = np.full(simulator.world.copies, first, dtype=np.int64)
    lasted = survived_fragments(simulator, policies, starts, successor, cycle * (cycles + 1), pushes, on_step)
    survived = lasted == cycle * (cycles + 1)
    if survived.all():
        return float(force[-1]), survived
    return float(force[np.argmin(survived)] - _STEP_N), survived


def transition_success_rate(
    simulator: FragmentSimulator,
    policies: Policies,
    walks: Sequence[Indices],
    successors: Sequence[Sequence[int]],
    rng: np.random.Generator,
) -> float:
    """The share of copies that do not fall on walks through transitions, each with a small push from anywhere."""
    copies, steps = simulator.world.copies, max(map(len, walks)) + _RUN_OUT
    paths = []
    for walk in walks:
        path = [int(fragment) for fragment in walk]
        while len(path) < steps:
            path.append(successors[path[-1]][0])
        paths.append(path)
    walked = np.resize(np.array(paths), (copies, steps))
    force = rotate_about_z(rng.uniform(0.0, 2.0 * np.pi, copies), np.tile([_NUDGE_N, 0.0, 0.0], (copies, 1)))
    following = iter(walked[:, 1:].T)
    lasted = survived_fragments(
        simulator,
        policies,
        walked[:, 0],
        lambda _: next(following),
        steps - 1,
        lambda step, _: force if step == 1 else None,
    )
    return float(np.mean(lasted == steps - 1))
