# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear models at a lower price: one Jacobian for fragments that are alike, and for one trajectory after another.

Every cycle of a gait, and every moment of standing, has nearly the same Jacobian as the last, and so has the trajectory
that a pass finds beside the reference. Where a fragment leads by itself differs, so each has a bias of its own.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ...sim.engine import World
from .linear_dynamics import LinearModels, NominalFragments, fit_linear_models, roll_out_trials, start_errors
from .rollout import RolloutMeter
from .tracking_error import OFFSET_SCALE, TrackingError

# Root mean square of state errors, in the tracking error's scales, up to which fragments count as alike.
_ALIKE = 1.0


def fit_shared_models(
    world: World,
    tracking_error: TrackingError,
    nominal: NominalFragments,
    scale: float,
    rng: np.random.Generator,
    *,
    poll_cancel: Callable[[], None] | None = None,
    meter: RolloutMeter | None = None,
) -> LinearModels:
    """Models of fragments as ``fit_linear_models`` makes them, with Jacobians shared by those that are alike."""
    leaders, group = group_similar_fragments(world, tracking_error, nominal)
    led = nominal[leaders]
    models = fit_linear_models(world, tracking_error, led, scale, rng, poll_cancel=poll_cancel, meter=meter)
    # Central differences leave what is curved in the mean of the trials: it is shared, too.
    centre = start_errors(world, tracking_error, led)
    mean = models.bias + np.matmul(models.jacobian, centre[..., None])[..., 0]
    curvature = mean - _nominal_outcomes(world, tracking_error, led, meter)
    return centre_models(world, tracking_error, models.jacobian[group], curvature[group], nominal, meter)


def centre_models(
    world: World,
    tracking_error: TrackingError,
    jacobian: Array,
    curvature: Array,
    nominal: NominalFragments,
    meter: RolloutMeter | None = None,
) -> LinearModels:
    """Models with known Jacobians (F, ny, nx + servos) and curvatures (F, ny) around where nominal fragments lead."""
    outcomes = _nominal_outcomes(world, tracking_error, nominal, meter) + curvature
    outcomes = np.where(np.isfinite(outcomes), outcomes, 0.0)  # one that blows up by itself says nothing
    centre = start_errors(world, tracking_error, nominal)
    return LinearModels(jacobian, outcomes - np.matmul(jacobian, centre[..., None])[..., 0], curvature)


def group_similar_fragments(
    world: World, tracking_error: TrackingError, nominal: NominalFragments
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Indices (G,) of fragments that lead a group, and for every fragment (F,) which of the groups it belongs to.

    Alike are those whose start, reference at the end and offsets are, wherever on the ground; on a stage where places
    differ, none are.
    """
    count = len(nominal.fragments)
    if world.stage.terrain is not None or world.stage.obstacles:
        return np.arange(count), np.arange(count)
    reference = tracking_error.reference
    ends = reference.frames_of_many(nominal.fragments)[:, -1]
    starts = world.pose_of(nominal.starts)
    leaders: list[int] = []
    group = np.zeros(count, dtype=np.int64)
    for index in range(count):
        led = np.array(leaders, dtype=np.int64)
        far = np.maximum.reduce([
            _distances(tracking_error, *starts, index, led),
            _distances(tracking_error, reference.qpos[ends], reference.rates[ends], index, led),
            _root_mean_square((nominal.offsets[index] - nominal.offsets[led]) / OFFSET_SCALE),
            _root_mean_square((nominal.before[index] - nominal.before[led]) / OFFSET_SCALE),
        ])  # fmt: skip
        far = np.where(reference.muscle[ends[led]] == reference.muscle[ends[index]], far, np.inf)
        if not leaders or far.min() > _ALIKE:
            group[index] = len(leaders)
            leaders.append(index)
        else:
            group[index] = int(np.argmin(far))
    return np.array(leaders, dtype=np.int64), group


def _distances(tracking_error: TrackingError, qpos: Array, qvel: Array, index: int, others: NDArray[np.int64]) -> Array:
    """(K,) how far poses and velocities of ``others`` (K,) are from those of one, places in the plane apart."""
    pose = tracking_error.reference.space.difference(qpos[others], np.repeat(qpos[index][None], len(others), axis=0))
    pose[..., :2] = 0.0
    rates = qvel[index] - qvel[others]
    dofs = tracking_error.dofs
    return _root_mean_square(np.concatenate([pose[..., dofs], rates[..., dofs]], axis=-1) / tracking_error.scales)


def _root_mean_square(values: Array) -> Array:
    return np.asarray(np.sqrt(np.mean(values**2, axis=-1)))


def _nominal_outcomes(
    world: World, tracking_error: TrackingError, nominal: NominalFragments, meter: RolloutMeter | None
) -> Array:
    """(F, ny) output errors after fragments that go as they are."""
    count, size = len(nominal.fragments), tracking_error.nx + len(tracking_error.servos)
    parts = []
    for first in range(0, count, world.copies):
        some = np.arange(first, min(first + world.copies, count))
        parts.append(roll_out_trials(world, tracking_error, nominal[some], np.zeros((len(some), size)), meter))
    return np.concatenate(parts)
