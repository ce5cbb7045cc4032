# SPDX-License-Identifier: GPL-3.0-or-later
"""A course as sampling control does it: a way that physics can go, and feedback that holds copies on it.

What it shows is where a policy begins (``warming``): the search costs as much as some ten thousand samples, and knows
how to fly a flight that the source only hints at.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...body.poses import velocity_of_pose
from ...geometry.quaternions import Array
from ...sim.engine import Engine, SensorRows, World
from ...sim.stage import Character, Stage
from ..sampling.plan import SECTION, Planner, PlanTask, SearchEffort
from ..sampling.search import SearchProblem
from ..sampling.stage_character import compute_noise_scale
from ..tracking.linear_dynamics import fit_linear_models
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
from ..tracking.tracking_error import TrackingError
from .course import CONTROL_FPS, FILM_STEPS, Course, Indices
from .observations import Frames, begun, placed

STEPS = FRAGMENT_STEPS // FILM_STEPS
"""Control steps of a policy in a fragment of the search."""

_EFFORT = SearchEffort(100, (0.1, 0.05))
_CYCLED_S, _UNSEEN_S = 6.0, 1.5
# Seconds of a cycle that are searched, and at its end how many are left out: what comes after them is not foreseen.
_NEAR = 0.5  # how far around the way its surroundings are explored, of the gauge's distances
_AROUND = 99  # what randomness is for, besides the passes of the search

Breathe = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Demonstration:
    """What sampling control found on a course: F fragments of ``STEPS`` control steps each.

    frames: where on the course each fragment begins. qpos: (F, nq), qvel: (F, nv) on the way, in the world. before,
    offsets: (F, nu) radians that the fragment before and this one ask for. aims: (F, nu), gains: (F, nu, nx): offsets
    for whoever is off the way. usable: how many fragments, from the first, know what comes after them.
    samples: control steps of all copies that the search took.
    """

    gauge: TrackingError
    frames: Frames
    qpos: Array
    qvel: Array
    before: Array
    offsets: Array
    aims: Array
    gains: Array
    usable: int
    samples: int

    def corrected(self, fragments: Indices, qpos: Array, qvel: Array) -> Array:
        """(N, nu) radians for copies with poses (N, nq) and velocities (N, nv) at the beginning of fragments (N,)."""
        at = self.gauge.reference.frame_before(fragments)
        off = self.gauge.state(qpos, qvel, at, np.zeros((len(qpos), 2)))
        asked = self.aims[fragments] + np.einsum("nux,nx->nu", self.gains[fragments], off)
        return np.clip(asked, -MAX_OFFSET, MAX_OFFSET)


def demonstrated(
    course: Course, engine: Engine, seed: int, breathe: Breathe = lambda: None, effort: SearchEffort = _EFFORT
) -> Demonstration:
    """Let sampling control do the course; a cycle some times over."""
    cycles = max(2, int(np.ceil(_CYCLED_S / course.duration_s))) if course.cyclic else 1
    with closing(engine.compile(Stage((Character(course.body),)), effort.copies)) as bare:
        world, spent = _counted(bare)
        frames, reference = _reference(course, world, cycles)
        gauge, noise = TrackingError(reference), compute_noise_scale(course.body)

        def ground(number: int) -> SearchProblem:
            spread = effort.spreads[min(number, len(effort.spreads) - 1)]
            return SearchProblem(
                world, gauge, spread * noise, lambda *what: np.random.default_rng([seed, number, *what])
            )

        states, offsets = _way(Planner(gauge, ground, effort), reference, breathe)
        before = np.concatenate([np.zeros_like(offsets[:1]), offsets[:-1]])
        some = np.arange(reference.fragments)
        rng = np.random.default_rng([seed, _AROUND])
        guide = solve_lqr(
            gauge, fit_linear_models(world, gauge, some, states, before, offsets, _NEAR, rng, breathe=breathe)
        )
        qpos, qvel = world.pose_of(states)
    unseen = round(_UNSEEN_S * CONTROL_FPS / STEPS) if course.cyclic else 0
    where = np.arange(0, STEPS * len(some), STEPS)
    first = Frames(frames.at[where], frames.heading[where], frames.place[where])
    return Demonstration(
        gauge, first, qpos, qvel, before, offsets, guide.aims, guide.gains, len(some) - unseen, spent()
    )


def _reference(course: Course, world: World, cycles: int) -> tuple[Frames, Reference]:
    """The course as the search sees it, and the frames (K,) of its control steps."""
    frames = begun(np.zeros(1, dtype=np.int64))
    steps, film, rates = [], [], velocity_of_pose(course.body, course.film, 1.0 / FILM_FPS)
    for _ in range(cycles):
        whole = Frames(*(np.repeat(part, len(course.film), axis=0) for part in vars(frames).values()))
        film.append(placed(course, course.film, rates, whole))
        for _ in range(course.steps):
            steps.append(frames)
            frames = frames.advanced(course)
    steps.append(frames)
    # Where a cycle ends the next one begins, with the same pose.
    qpos, qvel = (np.concatenate([*(one[at][:-1] for one in film), film[-1][at][-1:]]) for at in (0, 1))
    targets = np.concatenate([course.targets.reshape(-1, course.body.nu)] * cycles)
    states = compute_states(world, qpos, qvel)
    reference = Reference(
        course.body,
        course.space,
        qpos,
        qvel,
        states,
        np.concatenate([targets[:1], targets]),
        np.ones(len(qpos)),
        read_sensors(world, states),
        find_foot_links(course.body),
        find_end_effectors(course.body),
    )
    return Frames(*(np.concatenate([getattr(one, name) for one in steps]) for name in vars(frames))), reference


def _way(planner: Planner, reference: Reference, breathe: Breathe) -> tuple[Array, Array]:
    """(F, state_size) and (F, nu): the states that fragments begin in on the best way, and their offsets."""
    planner.breathe = breathe
    start, anchor, before = reference.states[0], np.zeros(2), np.zeros(reference.targets.shape[1])
    states, offsets = [], []
    for first in range(0, reference.fragments, SECTION):
        stop = min(first + SECTION, reference.fragments)
        way = planner.planned(PlanTask(first, stop, start, anchor, before), lambda *_: breathe())
        states.append(way.starts)
        offsets.append(way.offsets)
        start, anchor, before = way.ends[-1], way.anchors[-1], way.offsets[-1]
    return np.concatenate(states), np.concatenate(offsets)


def _counted(world: World) -> tuple[World, Callable[[], int]]:
    """The world, and how many control steps of a policy it has done for all copies since then."""
    rollout, steps = world.rollout, [0.0]

    def counting(states: Array, targets: Array, *, substeps: int, **options: Any) -> tuple[Array, SensorRows]:
        alive = int(np.isfinite(states).all(axis=-1).sum())
        steps[0] += alive * targets.shape[1] * substeps * world.dt_s * CONTROL_FPS
        return rollout(states, targets, substeps=substeps, **options)

    world.rollout = counting  # type: ignore[method-assign]
    return world, lambda: round(steps[0])
