# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear models of what a fragment does with small deviations, found by trying them in the engine.

Contacts make physics jump from one step to the next, so derivatives taken there mislead. Over a whole fragment and
over deviations of the size that really occur, a straight line explains nineteen twentieths of what happens.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ...sim.engine import World
from .reference import CONTROL_FPS, pad_batch
from .tracking_error import OFFSET_SCALE, TrackingError


@dataclass(frozen=True, eq=False)
class LinearModels:
    """What is seen at the end of fragments: base + slopes @ (state deviation at the start, offsets).

    slopes: (F, ny, nx + servos). base: (F, ny).
    """

    slopes: Array
    base: Array


def fit_linear_models(
    world: World,
    gauge: TrackingError,
    fragments: NDArray[np.int64],
    starts: Array,
    before: Array,
    offsets: Array,
    scale: float,
    rng: np.random.Generator,
    anchors: Array | None = None,
    breathe: Callable[[], None] | None = None,
) -> LinearModels:
    """Models of fragments (F,) around states (F, state_size) at their starts and offsets (F, nu); anchors: (F, 2).

    before: (F, nu) the offsets of the fragments before them, which are not tried otherwise.

    Every fragment gets as many trials as there are unknowns, in random directions at right angles to each other, so
    that nothing is estimated twice, and their opposites, so that what is curved cancels. Either half alone makes a
    guide that falls. ``scale`` is how far out they are, of the gauge's distances. ``breathe`` is called all the while.
    """
    reference, size = gauge.reference, gauge.nx + len(gauge.servos)
    anchors = np.zeros((len(fragments), 2)) if anchors is None else anchors
    trials = np.array([_directions(size, rng) for _ in fragments])
    reach = scale * np.concatenate([gauge.far, np.full(len(gauge.servos), OFFSET_SCALE)])
    count = trials.shape[1]
    which = np.repeat(np.arange(len(fragments)), count)
    aside = trials.reshape(-1, size) * reach
    seen = []
    for first in range(0, len(which), world.copies):
        some = which[first : first + world.copies]
        apart = aside[first : first + world.copies]
        if breathe is not None:
            breathe()
        where = (fragments[some], starts[some], before[some], offsets[some])
        seen.append(_tried(world, gauge, *where, apart, anchors[some]))
    outcome = np.concatenate(seen).reshape(len(fragments), count, -1)
    # A trial that blew up says nothing, nor does its opposite without it.
    broken = ~np.isfinite(outcome).all(-1)
    broken |= np.roll(broken, size, axis=1)
    outcome[broken] = 0.0
    good = np.maximum(np.sum(~broken, axis=1), 1)[:, None]
    slopes = np.einsum("fty,ftn->fyn", outcome, trials) / good[..., None] / reach
    begun = gauge.state(*world.pose_of(starts), reference.frame_before(fragments), anchors)
    centre = np.concatenate([begun, offsets[:, gauge.servos]], axis=-1)
    return LinearModels(slopes, outcome.sum(1) / good - np.einsum("fyn,fn->fy", slopes, centre))


def _directions(size: int, rng: np.random.Generator) -> Array:
    """(2 size, size) orthogonal directions of length sqrt(size), and their opposites."""
    turned = np.linalg.qr(rng.normal(size=(size, size)))[0] * np.sqrt(size)
    return np.concatenate([turned, -turned])


def _tried(
    world: World,
    gauge: TrackingError,
    fragments: NDArray[np.int64],
    starts: Array,
    before: Array,
    offsets: Array,
    aside: Array,
    anchors: Array,
) -> Array:
    """(n, ny) what is seen after fragments (n,) begun ``aside`` (n, nx + servos) of states and offsets."""
    count, reference = len(fragments), gauge.reference
    qpos, qvel = world.pose_of(starts)
    pose, rates, asked = (np.zeros((count, size)) for size in (qvel.shape[-1], qvel.shape[-1], gauge.nu))
    half = gauge.nx // 2
    pose[:, gauge.dofs], rates[:, gauge.dofs] = aside[:, :half], aside[:, half : gauge.nx]
    asked[:, gauge.servos] = aside[:, gauge.nx :]
    posed = world.replace_pose(starts, reference.space.integrate(qpos, pose), qvel + rates)
    frames = reference.frames_of_many(fragments)
    targets = reference.aims(fragments, before, offsets + asked)
    states, rows = world.rollout(
        pad_batch(posed, world.copies),
        pad_batch(targets, world.copies),
        substeps=round(1.0 / (CONTROL_FPS * world.dt_s)),
        muscle=pad_batch(reference.muscle[frames], world.copies),
    )
    deviation = gauge.state(*world.pose_of(states[:count, -1]), frames[:, -1], anchors)
    return gauge.seen(deviation, rows.link_pos[:count, -1], frames[:, -1], anchors)
