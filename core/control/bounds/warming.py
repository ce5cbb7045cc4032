# SPDX-License-Identifier: GPL-3.0-or-later
"""A policy that begins with what sampling control knows: cloned from a demonstration, and begun in its states."""

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
from .course import FILM_STEPS, Course, Indices
from .demonstration import STEPS, Breathe, Demonstration, demonstrated
from .environment import mirrored_actions, targets_of
from .observations import Flags, Frames, see
from .playing import substeps_of
from .starts import Start

_COPIES = 256
_ROUNDS = 10
_LASTS = 15  # fragments that copies are watched for
_NOISE = 0.06  # radians, of what copies do besides what they should: to see what to do where a policy may get to
_ASIDE = 0.7  # how far from the way copies begin, of the gauge's distances
_FROM_START = 0.2  # how many copies begin where the course does
_WORTHY = 12  # control steps that a state must be lived on from to be a good one to begin in

# How far offsets have come, as a mean over each control step of a fragment.
_EASED = EASE.reshape(STEPS, FILM_STEPS).mean(axis=1)


@dataclass(frozen=True, eq=False)
class Lessons:
    """B control steps within the bounds. observed: (B, O), actions: (B, nu) what was right there, returns: (B,) what
    was earned from there on. good: states to begin in. samples: control steps that it all took."""

    observed: Floats
    actions: Floats
    returns: Floats
    good: Start
    samples: int


def lessons(course: Course, widths: Array, engine: Engine, discount: float, seed: int, breathe: Breathe) -> Lessons:
    """Let sampling control show what to do on the course and around it, within widths (T + 1, R)."""
    shown = demonstrated(course, engine, seed, breathe)
    rng, rounds = np.random.default_rng([seed, 7]), []
    with closing(engine.compile(Stage((Character(course.body),)), _COPIES)) as world:
        good = _within(course, widths, world, shown)
        for _ in range(_ROUNDS):
            breathe()
            rounds.append(_watched(course, widths, world, shown, good, rng))
    parts = {name: np.concatenate([one[name] for one in rounds], axis=1) for name in rounds[0]}
    tried, returns, lived = parts["tried"], *_worths(parts["tried"], parts["stayed"], discount)
    worthy = tried & (lived >= _WORTHY)
    states = Start(*(parts[name][worthy] for name in ("at", "qpos", "qvel", "observed")))
    return Lessons(
        parts["observed"][tried],
        parts["actions"][tried].astype(np.float32),
        returns[tried].astype(np.float32),
        states,
        shown.samples + int(tried.sum()),
    )


def _within(course: Course, widths: Array, world: World, shown: Demonstration) -> Indices:
    """The fragments that begin within the bounds on the way: sampling control knows nothing of them, and may get lost.

    The first always does, for there the way is where the course is.
    """
    found = []
    for first in range(0, shown.usable, world.copies):
        some = np.minimum(np.arange(first, first + world.copies), shown.usable - 1)
        frames = Frames(*(part[some] for part in vars(shown.frames).values()))
        states = world.state_of(shown.qpos[some], shown.qvel[some])
        seen = see(course, world, states, world.sense(states), frames)
        within = (np.nan_to_num(seen.deviations / widths[frames.at], nan=np.inf) <= 1.0).all(axis=1)
        found.append(np.unique(some[within]))
    return np.unique(np.concatenate([np.zeros(1, dtype=np.int64), *found]))


def _watched(
    course: Course, widths: Array, world: World, shown: Demonstration, begin: Indices, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """What copies do that begin beside the way, (T, N, ...) by name, of T control steps.

    begin: the fragments to begin with.
    tried: whether they were still at it when the step began; stayed: whether they were within the bounds after it.
    """
    count = world.copies
    chosen = rng.choice(begin, size=count)
    fragments: Indices = np.where(rng.random(count) > _FROM_START, chosen, 0)
    frames = Frames(*(part[fragments] for part in vars(shown.frames).values()))
    states = world.state_of(*_aside(course, shown, fragments, rng))
    before, going, kept = shown.before[fragments], np.ones(count, dtype=bool), []
    seen = see(course, world, states, world.sense(states), frames)
    for _ in range(_LASTS):
        asked = shown.corrected(np.minimum(fragments, len(shown.aims) - 1), *world.pose_of(states))
        for eased in _EASED:
            right = mirrored_actions(course, frames.at, before + eased * (asked - before))
            row = {"observed": seen.observed(), "actions": right, "at": frames.at, "qpos": seen.qpos, "qvel": seen.qvel}
            noisy = right + _NOISE * rng.standard_normal(right.shape)
            states[~going] = np.nan  # who has left costs no more time
            targets = targets_of(course, frames.at, noisy)
            states, rows = world.rollout(states, targets, substeps=substeps_of(world), end_only=True)
            states, frames = states[:, -1], frames.advanced(course)
            seen = see(course, world, states, rows, frames)
            over = np.nan_to_num(seen.deviations / widths[frames.at], nan=np.inf)
            stayed = going & (over.max(axis=1) <= 1.0)
            kept.append({**row, "tried": going, "stayed": stayed})
            going = stayed & (course.cyclic | (frames.at < course.steps))
        before, fragments = asked, fragments + 1
        going = going & (fragments < shown.usable)
    return {name: np.stack([row[name] for row in kept]) for name in kept[0]}


def _aside(course: Course, shown: Demonstration, at: Indices, rng: np.random.Generator) -> tuple[Array, Array]:
    """Poses (N, nq) and velocities (N, nv) near those in which fragments (N,) begin on the way."""
    gauge = shown.gauge
    apart = _ASIDE * gauge.far * rng.standard_normal((len(at), gauge.nx))
    moves, rates = np.zeros((2, len(at), course.body.nv))
    moves[:, gauge.dofs], rates[:, gauge.dofs] = np.split(apart, 2, axis=1)
    return course.space.integrate(shown.qpos[at], moves), shown.qvel[at] + rates


def _worths(tried: Flags, stayed: Flags, discount: float) -> tuple[Array, Array]:
    """(T, N) what is earned from each step on, and for how many steps it is gone on; whoever is not seen to leave, and
    whoever comes to the end, goes on for ever."""
    endless = 1.0 / (1.0 - discount)
    returns, lived = np.zeros(tried.shape), np.zeros(tried.shape)
    earned, steps = np.full(tried.shape[1], endless), np.full(tried.shape[1], np.inf)
    for step in range(len(tried) - 1, -1, -1):
        on = tried[step]
        earned = np.where(on, np.where(stayed[step], 1.0 + discount * earned, 0.0), endless)
        steps = np.where(on, np.where(stayed[step], 1.0 + steps, 0.0), np.inf)
        returns[step], lived[step] = earned, steps
    return returns, lived
