# SPDX-License-Identifier: GPL-3.0-or-later
"""Sampling-based control: many copies try small offsets, the best go on (SAMCON; control graphs, section 5.3)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ...motion.falling import STRAY, astray
from ...sim.engine import World
from .cost import Weights, cost
from .reference import CONTROL_FPS, FRAGMENT_STEPS, Reference


@dataclass(frozen=True, eq=False)
class Layer:
    """What a fragment leaves behind of its elite: E samples.

    states: (E, state_size) at its end. offsets: (E, nu). parents: (E,) into the layer before. total: (E,) running cost.
    drift: (E, 2) metres in the plane from where the centre of mass should be to where it is.
    cost: of the cheapest sample alone; astray: how far that one is from the wanted heights (``core.motion.falling``).
    """

    states: Array
    offsets: Array
    parents: NDArray[np.int64]
    total: Array
    drift: Array
    cost: float
    astray: float


@dataclass(frozen=True)
class Effort:
    """How hard to look: samples kept of those tried, the spread of offsets in radians, and how often to go back.

    patience: how many fragments may be tried again, as a share of all.
    """

    elite: int
    spread: float
    retries: int = 3
    patience: float = 1.0


# How much of the cost so far still counts a fragment later: without it a lucky start outweighs a stumble now.
_MEMORY = 0.6
# When the best sample is this far astray, it will soon be down: a little earlier than a take counts as fallen.
_LOST = 0.8 * STRAY
# How much of a drift from the reference's place is let be from one fragment to the next.
_FOLLOW = 0.6
_BACK = 6  # fragments to go back when lost


def search(
    world: World,
    reference: Reference,
    noise: Array,
    effort: Effort,
    rng: np.random.Generator,
    progress: Callable[[int, float], None],
) -> list[Layer]:
    """Follow the reference with offsets from its targets, spread by ``noise`` (nu,) times the effort's.

    Returns a layer for each fragment. Where the motion is lost, the search goes back and tries again with more
    spread; where that does not help either, it goes on with the best there is, for the shot to show.
    """
    layers: list[Layer] = []
    tries = np.zeros(reference.fragments, dtype=int)
    spare = round(effort.patience * reference.fragments)
    while len(layers) < reference.fragments:
        fragment = len(layers)
        wider = 1.0 + 0.35 * tries[max(fragment - 2, 0) : fragment + _BACK].max(initial=0)
        layer = _advance(world, reference, layers, noise * effort.spread * wider, effort, rng)
        layers.append(layer)
        back = min(_BACK * (1 + int(tries[fragment])), fragment + 1)
        if layer.astray > _LOST and tries[fragment] < effort.retries and back <= spare:
            tries[fragment - back + 1 : fragment + 1] += 1
            spare -= back
            del layers[len(layers) - back :]
        progress(len(layers), layer.cost)
    return layers


def best_path(layers: list[Layer]) -> tuple[Array, Array]:
    """The cheapest way through: states at the fragments' ends (F, state_size) and their offsets (F, nu)."""
    index = int(np.argmin(layers[-1].total))
    states, offsets = [], []
    for layer in reversed(layers):
        states.append(layer.states[index])
        offsets.append(layer.offsets[index])
        index = int(layer.parents[index])
    return np.array(states[::-1]), np.array(offsets[::-1])


def _advance(
    world: World,
    reference: Reference,
    layers: list[Layer],
    noise: Array,
    effort: Effort,
    rng: np.random.Generator,
) -> Layer:
    """One fragment for every copy; the elite of it."""
    count = world.copies
    if layers:
        parents = _resampled(layers[-1].total, count, rng)
        starts, before = layers[-1].states[parents], layers[-1].total[parents]
        drift = _FOLLOW * layers[-1].drift[parents]
    else:
        parents = np.zeros(count, dtype=np.int64)
        starts, before = np.repeat(reference.states[:1], count, axis=0), np.zeros(count)
        drift = np.zeros((count, 2))
    offsets = rng.normal(size=(count, len(noise))) * noise
    offsets[0] = 0.0
    frames = reference.frames_of(len(layers))
    targets = reference.targets[frames][None] + offsets[:, None]
    substeps = round(1.0 / (CONTROL_FPS * world.dt_s))
    states, rows = world.rollout(starts, targets, substeps=substeps)
    ends = states[:, FRAGMENT_STEPS - 1]
    each = cost(reference, int(frames[-1]), world.pose_of(ends)[0], rows, offsets, drift, Weights())
    total = _MEMORY * before + each
    elite = np.argsort(total, kind="stable")[: effort.elite]
    best = int(np.argmin(each))
    away = rows.com[elite, -1, 0, :2] - reference.rows.com[0, frames[-1], 0, :2]
    lost = astray(reference.rows.link_pos[0, frames[-1:]], rows.link_pos[best, -1:])[0]
    return Layer(ends[elite], offsets[elite], parents[elite], total[elite], away, float(each[best]), float(lost))


def _resampled(total: Array, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(count,) indices drawn systematically: cheaper samples have more successors."""
    spread = max(float(np.std(total[np.isfinite(total)])) if np.isfinite(total).any() else 1.0, 1e-6)
    weight = np.exp(-(total - total.min()) / spread) if np.isfinite(total.min()) else np.ones_like(total)
    edges = np.cumsum(weight / weight.sum())
    return np.minimum(np.searchsorted(edges, (np.arange(count) + rng.random()) / count), len(total) - 1)
