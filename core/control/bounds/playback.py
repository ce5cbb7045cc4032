# SPDX-License-Identifier: GPL-3.0-or-later
"""Playing a policy: one character is simulated and recorded, pushed or not, while the reference follows it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...body.poses import link_transforms, pose_of_clip
from ...errors import BoundsError
from ...geometry.quaternions import Array
from ...motion import Clip
from ...sim.engine import SensorRows, World
from ..tracking.facing import rotate_about_z, twist_angle
from ..tracking.recording import RecordedCharacter, Recording
from .bounds import AXES, bound_names
from .closed_loop import Act, ClosedLoop
from .observations import ReferencePlacement, RelativeKinematics, transform_to_world
from .reference_trajectory import CONTROL_FPS, FILM_STEPS, ReferenceTrajectory, pose_centre_of_mass

# The reference is relocated for a character that is farther from it than this share of the bounds.
_RELOCATION_SHARE = 0.5
_FREE_M, _FREE_RAD = 0.3, 0.5  # where there is no bound


@dataclass(frozen=True, eq=False)
class PolicyPlayback:
    """The recording of one character. violations: by bound how many control steps it was violated."""

    film: Recording
    subject: RecordedCharacter
    violations: dict[str, int]


def play_policy(
    reference: ReferenceTrajectory,
    widths: Array,
    act: Act,
    world: World,
    source: Clip,
    seconds: float,
    on_progress: Callable[[float], None] = lambda _: None,
) -> PolicyPlayback:
    """Simulate one character for so many seconds in a world of one copy, with whatever is on its stage.

    It begins at the source's place and heading. The reference is relocated for a character that is pushed aside or
    falls behind, so that it is not dragged back.
    """
    require_length(reference, seconds)
    placement = place_at(reference, pose_of_clip(reference.body, source.frames(0, 1))[0][0])
    states = world.state_of(*transform_to_world(reference, reference.qpos[:1], reference.qvel[:1], placement))
    loop = ClosedLoop(reference, world, states, placement)
    states_so_far, rows, targets = [states], [loop.rows], []
    poses = [transform_to_world(reference, reference.film_qpos[:1], np.zeros((1, 6)), placement)[0]]
    violations: dict[str, int] = {}
    count = max(round(seconds * CONTROL_FPS), 1)
    for step in range(count):
        poses.append(film_poses(reference, loop.placement))
        film_states, film_rows = loop.step(act(loop.kinematics.observations()))
        targets.append(loop.targets[0])
        states_so_far.append(film_states[0])
        rows.append(film_rows)
        relocated = relocate_reference(reference, widths, loop.kinematics, loop.placement)
        if relocated is not loop.placement:
            loop.placement = relocated
            loop.measure()
        for bound in np.flatnonzero(~(loop.kinematics.deviations[0] <= widths[loop.placement.at[0]])):
            name = bound_names(reference.body)[bound]
            violations[name] = violations.get(name, 0) + 1
        on_progress((step + 1) / count)
    qpos, qvel = world.pose_of(np.concatenate(states_so_far))
    all_targets = np.concatenate(targets)
    film = Recording(world.stage, qpos, qvel, np.concatenate([all_targets[:1], all_targets]), _concatenate_rows(rows))
    return PolicyPlayback(film, _make_subject(reference, source, np.concatenate(poses)), violations)


def film_poses(reference: ReferenceTrajectory, placement: ReferencePlacement) -> Array:
    """(FILM_STEPS, nq) the reference's poses, in the world, at the film steps of the control step from a placement."""
    film_steps = int(placement.at[0]) * FILM_STEPS + np.arange(1, FILM_STEPS + 1)
    repeated = ReferencePlacement(*(np.repeat(values, FILM_STEPS, axis=0) for values in vars(placement).values()))
    return transform_to_world(reference, reference.film_qpos[film_steps], np.zeros((FILM_STEPS, 6)), repeated)[0]


def _make_subject(reference: ReferenceTrajectory, source: Clip, poses: Array) -> RecordedCharacter:
    """What a recording is compared with: the reference's poses (K, nq) as they lay in the world."""
    body = reference.body
    pos, quat = link_transforms(body, poses)
    com = pose_centre_of_mass(body, poses)
    return RecordedCharacter(body, source, reference.pose_space, np.ones(len(poses)), pos, quat, com)


def require_length(reference: ReferenceTrajectory, seconds: float) -> None:
    """Refuse more of a motion than there is."""
    if not reference.cyclic and seconds > reference.duration_s + 1e-6:
        raise BoundsError(
            f"{seconds:g} s were asked for, and the motion is over after {reference.duration_s:.2f} s: it is no cycle",
            f"Ask for {reference.duration_s:.2f} s at most, or learn a range that ends as it begins",
        )


def relocate_reference(
    reference: ReferenceTrajectory, widths: Array, kinematics: RelativeKinematics, placement: ReferencePlacement
) -> ReferencePlacement:
    """The placement moved so that no copy is farther along the floor, or turned farther, than a share of its bounds."""
    if not np.isfinite(kinematics.com).all():
        return placement
    bound = widths[kinematics.at]
    max_m = np.where(np.isfinite(bound[:, :2]), _RELOCATION_SHARE * bound[:, :2], _FREE_M)
    root = bound[:, len(AXES)]
    max_rad = np.where(np.isfinite(root), _RELOCATION_SHARE * root, _FREE_RAD)
    off = (kinematics.com - kinematics.reference.com[kinematics.at])[:, :2]
    moved = np.zeros((len(off), 3))
    moved[:, :2] = off - np.clip(off, -max_m, max_m)
    heading = np.angle(np.exp(1j * kinematics.heading_error))
    turn = heading - np.clip(heading, -max_rad, max_rad)
    if not moved.any() and not turn.any():
        return placement
    place = placement.place + rotate_about_z(placement.heading, moved)[:, :2]
    # Turned about the reference's centre of mass, which stays where it is.
    pivot = np.concatenate([reference.com[kinematics.at, :2], np.zeros((len(off), 1))], axis=1)
    place = place + (rotate_about_z(placement.heading, pivot) - rotate_about_z(placement.heading + turn, pivot))[:, :2]
    return ReferencePlacement(placement.at, placement.heading + turn, place)


def place_at(reference: ReferenceTrajectory, qpos: Array) -> ReferencePlacement:
    """One copy at the beginning of a reference that is placed at a pose's (nq,) place and heading."""
    heading = np.atleast_1d(twist_angle(qpos[3:7], reference.qpos[0, 3:7]))
    return ReferencePlacement(
        np.zeros(1, dtype=np.int64), heading, qpos[None, :2] - rotate_about_z(heading, reference.qpos[:1, :3])[:, :2]
    )


def _concatenate_rows(rows: list[SensorRows]) -> SensorRows:
    """Sensor rows (1, K, ...) joined in time."""
    return SensorRows(**{name: np.concatenate([getattr(one, name) for one in rows], axis=1) for name in vars(rows[0])})
