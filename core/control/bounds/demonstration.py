# SPDX-License-Identifier: GPL-3.0-or-later
"""A demonstration of the reference by sampling control: a feasible trajectory, and LQR feedback around it.

It is what a warm start is cloned from (``warm_start``): the search costs as much as some ten thousand samples, and
finds flights that the source only hints at.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from ...body.poses import velocity_of_pose
from ...geometry.quaternions import Array
from ...sim.engine import Engine, World
from ...sim.stage import Character, Stage
from ..sampling.tracker import SearchEffort, track_reference
from ..tracking.linear_dynamics import NominalFragments, fit_linear_models
from ..tracking.lqr import MAX_OFFSET, solve_lqr
from ..tracking.reference import CONTROL_FPS as FILM_FPS
from ..tracking.reference import (
    FRAGMENT_STEPS,
    Reference,
    compute_states,
    find_end_effectors,
    find_foot_links,
    read_sensors,
)
from ..tracking.rollout import RolloutMeter
from ..tracking.tracking_error import TrackingError
from .observations import ReferencePlacement, place_at_origin, transform_to_world
from .reference_trajectory import CONTROL_FPS, FILM_STEPS, Indices, ReferenceTrajectory

STEPS = FRAGMENT_STEPS // FILM_STEPS
"""Control steps of a policy in a fragment of the search."""

_EFFORT = SearchEffort(100, (0.1, 0.05))
_CYCLED_S, _UNSEEN_S = 6.0, 1.5
# Seconds of a cycle that are searched, and of its end that are left out: feedback there knows nothing of what follows.
_EXPLORATION = 0.5  # perturbations around the trajectory for linear models, of the scale of the tracking error
_CALLS = 7  # a fragment: a search in each pass, and batches of trials for the models of three fits
_MODELS_STREAM = 99  # random stream of the linear models, beside those of the search's passes

Breathe = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Demonstration:
    """F fragments of ``STEPS`` control steps each.

    placement: where on the reference each fragment begins. qpos: (F, nq), qvel: (F, nv) there, in the world. before,
    offsets: (F, nu) radians of the fragment before and of this one. aims: (F, nu), gains: (F, nu, nx): LQR feedback.
    usable: how many fragments, from the first, have feedback that knows what follows. samples: control steps of all
    copies that the search took.
    """

    tracking_error: TrackingError
    placement: ReferencePlacement
    qpos: Array
    qvel: Array
    before: Array
    offsets: Array
    aims: Array
    gains: Array
    usable: int
    samples: int

    def feedback(self, fragments: Indices, qpos: Array, qvel: Array) -> Array:
        """(N, nu) offsets in radians for copies (poses (N, nq), velocities (N, nv)) where fragments (N,) begin."""
        at = self.tracking_error.reference.frame_before(fragments)
        off = self.tracking_error.state_error(qpos, qvel, at, np.zeros((len(qpos), 2)))
        asked = self.aims[fragments] + np.einsum("nux,nx->nu", self.gains[fragments], off)
        return np.clip(asked, -MAX_OFFSET, MAX_OFFSET)


def count_search_calls(reference: ReferenceTrajectory) -> float:
    """About how often ``demonstrate_reference`` breathes, for progress: fragments, and batches of their models."""
    fragments = _count_cycles(reference) * reference.steps / STEPS
    return fragments * _CALLS


def _count_cycles(reference: ReferenceTrajectory) -> int:
    """How many times over a cycle is searched."""
    return max(2, int(np.ceil(_CYCLED_S / reference.duration_s))) if reference.cyclic else 1


def demonstrate_reference(
    reference: ReferenceTrajectory,
    engine: Engine,
    seed: int,
    breathe: Breathe = lambda: None,
    effort: SearchEffort = _EFFORT,
) -> Demonstration:
    """Track the reference by sampling control, a cycle several times over, and solve for the feedback around it."""
    cycles = _count_cycles(reference)
    meter = RolloutMeter(CONTROL_FPS)
    with closing(engine.compile(Stage((Character(reference.body),)), effort.copies)) as world:
        placement, search_reference = _make_search_reference(reference, world, cycles)
        tracking_error = TrackingError(search_reference)
        found = track_reference(
            search_reference, world, effort, (seed,), on_fragment=breathe, poll_cancel=breathe, meter=meter
        )
        states, offsets = found.starts, found.offsets
        before = found.offsets_before(np.zeros(tracking_error.nu))
        some = np.arange(search_reference.fragments)
        rng = np.random.default_rng([seed, _MODELS_STREAM])
        nominal = NominalFragments(some, states, before, offsets, np.zeros((len(some), 2)))
        models = fit_linear_models(world, tracking_error, nominal, _EXPLORATION, rng, poll_cancel=breathe, meter=meter)
        lqr = solve_lqr(tracking_error, models)
        qpos, qvel = world.pose_of(states)
    unseen = round(_UNSEEN_S * CONTROL_FPS / STEPS) if reference.cyclic else 0
    where = np.arange(0, STEPS * len(some), STEPS)
    first = ReferencePlacement(placement.at[where], placement.heading[where], placement.place[where])
    return Demonstration(
        tracking_error,
        first,
        qpos,
        qvel,
        before,
        offsets,
        lqr.feedforward,
        lqr.gains,
        len(some) - unseen,
        round(meter.steps),
    )


def _make_search_reference(
    reference: ReferenceTrajectory, world: World, cycles: int
) -> tuple[ReferencePlacement, Reference]:
    """The placements (K,) of control steps, and the reference as the search takes it."""
    placement = place_at_origin(np.zeros(1, dtype=np.int64))
    steps, film, rates = [], [], velocity_of_pose(reference.body, reference.film_qpos, 1.0 / FILM_FPS)
    for _ in range(cycles):
        whole = ReferencePlacement(
            *(np.repeat(part, len(reference.film_qpos), axis=0) for part in vars(placement).values())
        )
        film.append(transform_to_world(reference, reference.film_qpos, rates, whole))
        for _ in range(reference.steps):
            steps.append(placement)
            placement = placement.advance(reference)
    steps.append(placement)
    # Where a cycle ends the next one begins, with the same pose.
    qpos, qvel = (np.concatenate([*(one[at][:-1] for one in film), film[-1][at][-1:]]) for at in (0, 1))
    targets = np.concatenate([reference.targets.reshape(-1, reference.body.nu)] * cycles)
    states = compute_states(world, qpos, qvel)
    search_reference = Reference(
        reference.body,
        reference.pose_space,
        qpos,
        qvel,
        states,
        np.concatenate([targets[:1], targets]),
        np.ones(len(qpos)),
        read_sensors(world, states),
        find_foot_links(reference.body),
        find_end_effectors(reference.body),
    )
    return ReferencePlacement(
        *(np.concatenate([getattr(one, name) for one in steps]) for name in vars(placement))
    ), search_reference
