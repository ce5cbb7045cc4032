# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear models of the tracking error over a fragment, by finite differences in the engine.

Contacts make physics jump from one step to the next, so derivatives taken there mislead. Over a whole fragment and
over deviations of the size that really occur, a linear model explains nineteen twentieths of what happens.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ...sim.engine import World
from .reference import pad_batch
from .rollout import RolloutMeter, roll_out
from .tracking_error import OFFSET_SCALE, TrackingError


@dataclass(frozen=True, eq=False)
class LinearModels:
    """The output error at the end of fragments: bias + jacobian @ (state error at the start, offsets).

    jacobian: (F, ny, nx + servos). bias: (F, ny). curvature: (F, ny) by how much the mean outcome of perturbed
    fragments is off that of the nominal ones, which the bias has in it; zero where it is not known.
    """

    jacobian: Array
    bias: Array
    curvature: Array = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class NominalFragments:
    """F fragments to linearise around.

    fragments: (F,) their numbers. starts: (F, state_size) states at their starts. offsets: (F, nu) radians, before:
    (F, nu) those of the fragments before them. anchors: (F, 2) metres by which the reference is moved.
    """

    fragments: NDArray[np.int64]
    starts: Array
    before: Array
    offsets: Array
    anchors: Array

    def __getitem__(self, some: NDArray[np.int64]) -> "NominalFragments":
        return NominalFragments(*(part[some] for part in vars(self).values()))


def reference_fragments(tracking_error: TrackingError, fragments: NDArray[np.int64]) -> NominalFragments:
    """The reference itself as what to linearise around: its own states, no offsets."""
    reference, nothing = tracking_error.reference, np.zeros((len(fragments), tracking_error.nu))
    starts = reference.states[reference.frame_before(fragments)]
    return NominalFragments(fragments, starts, nothing, nothing, np.zeros((len(fragments), 2)))


def fit_linear_models(
    world: World,
    tracking_error: TrackingError,
    nominal: NominalFragments,
    scale: float,
    rng: np.random.Generator,
    *,
    poll_cancel: Callable[[], None] | None = None,
    meter: RolloutMeter | None = None,
) -> LinearModels:
    """Models of fragments around their nominal states and offsets.

    Every fragment gets as many trials as there are unknowns, in random orthogonal directions, so that nothing is
    estimated twice, and their opposites (central differences), so that what is curved cancels. Either half alone makes
    feedback that falls. scale: how far out they are, of the tracking error's scales. poll_cancel: called all the
    while. meter: counts what is simulated.
    """
    size = tracking_error.nx + len(tracking_error.servos)
    trials = np.array([_directions(size, rng) for _ in nominal.fragments])
    reach = scale * np.concatenate([tracking_error.scales, np.full(len(tracking_error.servos), OFFSET_SCALE)])
    count = trials.shape[1]
    which = np.repeat(np.arange(len(nominal.fragments)), count)
    perturbations = trials.reshape(-1, size) * reach
    parts = []
    for first in range(0, len(which), world.copies):
        some = slice(first, first + world.copies)
        if poll_cancel is not None:
            poll_cancel()
        parts.append(roll_out_trials(world, tracking_error, nominal[which[some]], perturbations[some], meter))
    outcome = np.concatenate(parts).reshape(len(nominal.fragments), count, -1)
    # A trial that blew up says nothing, nor does its opposite without it.
    broken = ~np.isfinite(outcome).all(-1)
    broken |= np.roll(broken, size, axis=1)
    outcome[broken] = 0.0
    good = np.maximum(np.sum(~broken, axis=1), 1)[:, None]
    jacobian = np.matmul(outcome.transpose(0, 2, 1), trials) / good[..., None] / reach
    centre = start_errors(world, tracking_error, nominal)
    return LinearModels(jacobian, outcome.sum(1) / good - np.matmul(jacobian, centre[..., None])[..., 0])


def start_errors(world: World, tracking_error: TrackingError, nominal: NominalFragments) -> Array:
    """(F, nx + servos) what nominal fragments have at their starts: state errors and offsets."""
    frames = tracking_error.reference.frame_before(nominal.fragments)
    begun = tracking_error.state_error(*world.pose_of(nominal.starts), frames, nominal.anchors)
    return np.concatenate([begun, nominal.offsets[:, tracking_error.servos]], axis=-1)


def _directions(size: int, rng: np.random.Generator) -> Array:
    """(2 size, size) orthogonal directions of length sqrt(size), and their opposites."""
    turned = np.linalg.qr(rng.normal(size=(size, size)))[0] * np.sqrt(size)
    return np.concatenate([turned, -turned])


def roll_out_trials(
    world: World,
    tracking_error: TrackingError,
    nominal: NominalFragments,
    perturbations: Array,
    meter: RolloutMeter | None,
) -> Array:
    """(n, ny) output errors after n fragments that begin ``perturbations`` (n, nx + servos) from nominal."""
    count, reference = len(nominal.fragments), tracking_error.reference
    qpos, qvel = world.pose_of(nominal.starts)
    pose, rates, asked = (np.zeros((count, size)) for size in (qvel.shape[-1], qvel.shape[-1], tracking_error.nu))
    nx, half = tracking_error.nx, tracking_error.nx // 2
    pose[:, tracking_error.dofs], rates[:, tracking_error.dofs] = perturbations[:, :half], perturbations[:, half:nx]
    asked[:, tracking_error.servos] = perturbations[:, nx:]
    posed = world.replace_pose(nominal.starts, reference.space.integrate(qpos, pose), qvel + rates)
    frames = reference.frames_of_many(nominal.fragments)
    targets = reference.servo_targets(nominal.fragments, nominal.before, nominal.offsets + asked)
    states, rows = roll_out(
        world,
        pad_batch(posed, world.copies),
        pad_batch(targets, world.copies),
        pad_batch(reference.muscle[frames], world.copies),
        meter,
        end_only=True,
    )
    error = tracking_error.state_error(*world.pose_of(states[:count, -1]), frames[:, -1], nominal.anchors)
    return tracking_error.output_error(error, rows.link_pos[:count, -1], frames[:, -1], nominal.anchors)
