# SPDX-License-Identifier: GPL-3.0-or-later
"""Data for a warm start by behaviour cloning: what the LQR feedback of a demonstration does on and around it.

The same copies give states to begin episodes in.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ...learn.environment import Floats
from ...sim.engine import Engine, World
from ...sim.stage import Character, Stage
from ..tracking.reference import EASE
from .closed_loop import ClosedLoop
from .demonstration import STEPS, Breathe, Demonstration, demonstrate_reference
from .environment import mirror_actions
from .initial_states import InitialStates
from .observations import Flags, ReferencePlacement
from .reference_trajectory import FILM_STEPS, Indices, ReferenceTrajectory

_COPIES = 256
ROUNDS = 10
"""Of copies that are simulated around the demonstration."""
_FRAGMENTS = 15  # that copies are simulated for
_NOISE = 0.06  # radians, added to the demonstrated actions, so that states are visited that a policy may get into
_PERTURBATION = 0.7  # standard deviation of initial states, of the scale of the tracking error
_FROM_START = 0.2  # the share of copies that begin where the reference does
_SURVIVED_STEPS = 12  # control steps that a state must be survived for to be a state to begin in

# The share of a fragment's offset that is reached, as a mean over each of its control steps.
_EASED = EASE.reshape(STEPS, FILM_STEPS).mean(axis=1)


@dataclass(frozen=True, eq=False)
class CloningData:
    """B control steps within the bounds. observations: (B, O), actions: (B, nu) demonstrated there, returns: (B,)
    discounted. initial_states: to begin episodes in. samples: control steps that it all took."""

    observations: Floats
    actions: Floats
    returns: Floats
    initial_states: InitialStates
    samples: int


def collect_cloning_data(
    reference: ReferenceTrajectory,
    widths: Array,
    engine: Engine,
    discount: float,
    seed: int,
    breathe: Breathe,
    begin_part: Callable[[str], None] = lambda _: None,
) -> CloningData:
    """Demonstrate the reference by sampling control, and simulate copies around it within widths (T + 1, R).

    breathe: called all the while. begin_part: called with 'demonstrate' and 'simulate' where these begin.
    """
    begin_part("demonstrate")
    demonstration = demonstrate_reference(reference, engine, seed, breathe)
    begin_part("simulate")
    rng, rounds = np.random.default_rng([seed, 7]), []
    with closing(engine.compile(Stage((Character(reference.body),)), _COPIES)) as world:
        usable = _fragments_within(reference, widths, world, demonstration)
        for _ in range(ROUNDS):
            breathe()
            rounds.append(_simulate_round(reference, widths, world, demonstration, usable, rng))
    parts = {name: np.concatenate([one[name] for one in rounds], axis=1) for name in rounds[0]}
    alive = parts["alive"]
    returns, survived = _compute_returns(alive, parts["survived"], discount)
    chosen = alive & (survived >= _SURVIVED_STEPS)
    return CloningData(
        parts["observed"][alive],
        parts["actions"][alive].astype(np.float32),
        returns[alive].astype(np.float32),
        InitialStates(*(parts[name][chosen] for name in ("at", "qpos", "qvel", "observed"))),
        demonstration.samples + int(alive.sum()),
    )


def _fragments_within(
    reference: ReferenceTrajectory, widths: Array, world: World, demonstration: Demonstration
) -> Indices:
    """The fragments of a demonstration that begin within the bounds, of which sampling control knows nothing.

    The first always does, for there the demonstration is where the reference is.
    """
    found = []
    for first in range(0, demonstration.usable, world.copies):
        some = np.minimum(np.arange(first, first + world.copies), demonstration.usable - 1)
        states = world.state_of(demonstration.qpos[some], demonstration.qvel[some])
        loop = ClosedLoop(reference, world, states, _select(demonstration.placement, some))
        within = (loop.exceeded(widths) <= 1.0).all(axis=1)
        found.append(np.unique(some[within]))
    return np.unique(np.concatenate([np.zeros(1, dtype=np.int64), *found]))


def _simulate_round(
    reference: ReferenceTrajectory,
    widths: Array,
    world: World,
    demonstration: Demonstration,
    usable: Indices,
    rng: np.random.Generator,
) -> dict[str, NDArray[Any]]:
    """Copies that begin around usable fragments of the demonstration and follow its feedback with noise.

    Gives arrays (T, N, ...) of T control steps by name: states and observations before each step, the demonstrated
    actions, alive: whether the copy was within the bounds before it, survived: whether it still was after it.
    """
    count = world.copies
    chosen = rng.choice(usable, size=count)
    fragments: Indices = np.where(rng.random(count) > _FROM_START, chosen, 0)
    states = world.state_of(*_perturb_states(reference, demonstration, fragments, rng))
    loop = ClosedLoop(reference, world, states, _select(demonstration.placement, fragments))
    before, alive, steps = demonstration.before[fragments], np.ones(count, dtype=bool), []
    for _ in range(_FRAGMENTS):
        last = len(demonstration.aims) - 1
        offsets = demonstration.feedback(np.minimum(fragments, last), *world.pose_of(loop.states))
        for eased in _EASED:
            kinematics, at = loop.kinematics, loop.placement.at
            actions = mirror_actions(reference, at, before + eased * (offsets - before))
            row = {"observed": kinematics.observations(), "actions": actions, "at": at}
            row |= {"qpos": kinematics.qpos, "qvel": kinematics.qvel}
            noisy = actions + _NOISE * rng.standard_normal(actions.shape)
            loop.drop(~alive)
            loop.step(noisy, end_only=True)
            survived = alive & (loop.exceeded(widths).max(axis=1) <= 1.0)
            steps.append({**row, "alive": alive, "survived": survived})
            alive = survived & (reference.cyclic | (loop.placement.at < reference.steps))
        before, fragments = offsets, fragments + 1
        alive = alive & (fragments < demonstration.usable)
    return {name: np.stack([row[name] for row in steps]) for name in steps[0]}


def _select(placement: ReferencePlacement, chosen: Indices) -> ReferencePlacement:
    return ReferencePlacement(*(part[chosen] for part in vars(placement).values()))


def _perturb_states(
    reference: ReferenceTrajectory, demonstration: Demonstration, fragments: Indices, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Poses (N, nq) and velocities (N, nv) around those in which fragments (N,) of the demonstration begin."""
    error = demonstration.tracking_error
    noise = _PERTURBATION * error.scales * rng.standard_normal((len(fragments), error.nx))
    moves, velocities = np.zeros((2, len(fragments), reference.body.nv))
    moves[:, error.dofs], velocities[:, error.dofs] = np.split(noise, 2, axis=1)
    qpos = reference.pose_space.integrate(demonstration.qpos[fragments], moves)
    return qpos, demonstration.qvel[fragments] + velocities


def _compute_returns(alive: Flags, survived: Flags, discount: float) -> tuple[Array, Array]:
    """(T, N) discounted returns, and control steps survived from each step on.

    Both are those of an endless episode where a copy is never seen to leave the bounds, or reaches the end.
    """
    endless = 1.0 / (1.0 - discount)
    all_returns, all_steps = np.zeros(alive.shape), np.zeros(alive.shape)
    returns, steps = np.full(alive.shape[1], endless), np.full(alive.shape[1], np.inf)
    for step in range(len(alive) - 1, -1, -1):
        on = alive[step]
        returns = np.where(on, np.where(survived[step], 1.0 + discount * returns, 0.0), endless)
        steps = np.where(on, np.where(survived[step], 1.0 + steps, 0.0), np.inf)
        all_returns[step], all_steps[step] = returns, steps
    return all_returns, all_steps
