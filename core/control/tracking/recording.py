# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated motion as it was recorded, and the takes that are made of it."""

from dataclasses import dataclass

import numpy as np

from ...body import BodyModel
from ...body.foot_lock import FootLockReport, lock_feet
from ...body.footprints import copy_footprints
from ...body.pose_smoothing import MOST_SMOOTHING_S, smooth_poses
from ...body.pose_space import PoseSpace
from ...body.poses import clip_of_pose
from ...body.servos import servo_torques
from ...body.stances import Flags, detect_support
from ...geometry.quaternions import Array, conjugate, multiply
from ...motion import Clip, PropMotion, Take
from ...motion.falling import find_fall_time
from ...sim.engine import SensorRows, character_offsets
from ...sim.stage import Stage
from ...sim.surface import build_surface
from ...sim.trace import Trace
from ..cast import resample_prop_motions
from .contact_jitter_filter import filter_contact_jitter
from .reference import CONTROL_FPS

# A push of this much on a link counts as touching: a fifth of a litre of water.
_TOUCH_N = 2.0


@dataclass(frozen=True, eq=False)
class Recording:
    """K moments at ``CONTROL_FPS``, the first at 0 s: poses (K, sum nq), velocities (K, sum nv), targets (K, sum nu).

    rows: what the sensors saw, as (1, K, ...) arrays of ``SensorRows``.
    """

    stage: Stage
    qpos: Array
    qvel: Array
    targets: Array
    rows: SensorRows

    def __len__(self) -> int:
        return len(self.qpos)


@dataclass(frozen=True, eq=False)
class RecordedCharacter:
    """A character of a recording, and what it was to do.

    source: what riders and merged bones go on with. muscle: (K,) share of strength.
    limp: ranges of moments in which it followed nothing. away: those from letting go to being with its source again.
    wanted_pos: (K, L, 3), wanted_quat_wxyz: (K, L, 4), wanted_com: (K, 3): where its links and centroid should be.
    """

    body: BodyModel
    source: Clip
    space: PoseSpace
    muscle: Array
    wanted_pos: Array
    wanted_quat_wxyz: Array
    wanted_com: Array
    limp: tuple[tuple[int, int], ...] = ()
    away: tuple[tuple[int, int], ...] = ()


def make_take(
    recording: Recording,
    index: int,
    character: RecordedCharacter,
    fps: float,
    smooth: float = 0.0,
    frames: int | None = None,
) -> tuple[Take, Trace, FootLockReport]:
    """A character's take at ``fps``, without others and props, its trace, and how its feet were locked for it.

    frames: how many it has, where it follows so many of a source; else as many as were recorded.

    Feet are locked where they stand, and contact jitter is filtered out of everything else, and as much more as
    ``smooth`` says, from 0 to 1.

    The take's places and those of the trace are the same. Forces, torques and the centre of mass are those of physics.
    """
    where = {
        name: slice(values[index], values[index + 1]) for name, values in character_offsets(recording.stage).items()
    }
    body, rows = character.body, recording.rows
    links = where["links"]
    qpos, qvel = recording.qpos[:, where["nq"]], recording.qvel[:, where["nv"]]
    force = rows.contact_force[0, :, links]
    simulated = clip_of_pose(body, character.source, qpos, CONTROL_FPS)
    fell_s = find_fall_time(character.wanted_pos, rows.link_pos[0, :, links], 1.0 / CONTROL_FPS)
    until = min(
        len(recording) if fell_s is None else round(fell_s * CONTROL_FPS),
        next((first for first, stop in character.limp if stop >= len(recording)), len(recording)),
    )
    stands = detect_support(body, force)
    for first, stop in (*character.limp, (until, len(recording))):
        stands[first:stop] = False  # the feet of who lies are where they are
    # Feet are filtered before they are locked, for soles tremble most of all.
    steady = filter_contact_jitter(character.space, qpos)
    planted = clip_of_pose(body, character.source, steady, CONTROL_FPS)
    standing, holding = lock_feet(body, planted, stands, build_surface(recording.stage), until)
    calm = smooth_poses(character.space, steady, smooth, CONTROL_FPS)
    finished = copy_footprints(
        body, clip_of_pose(body, character.source, calm, CONTROL_FPS), standing, stands, 2.0 * smooth * MOST_SMOOTHING_S
    )
    seen_pos, seen_quat = _moved_along(
        body, simulated, finished, rows.link_pos[0, :, links], rows.link_quat_wxyz[0, :, links]
    )
    motion = finished.resample(fps)
    if frames is not None:
        motion = motion.frames(0, frames)
    take = Take(
        motion,
        contacts=mark_touching_bones(body, np.linalg.norm(force, axis=-1), motion, CONTROL_FPS),
        fell_at_s=find_fall_time(character.wanted_pos, seen_pos, 1.0 / CONTROL_FPS),
    )
    trace = Trace(
        body,
        recording.stage,
        index,
        CONTROL_FPS,
        wanted_pos=character.wanted_pos,
        wanted_quat_wxyz=character.wanted_quat_wxyz,
        wanted_com=character.wanted_com,
        seen_pos=seen_pos,
        seen_quat_wxyz=seen_quat,
        seen_com=rows.com[0, :, index],
        contact_force=force,
        torque=servo_torques(body, qpos, qvel, recording.targets[:, where["nu"]], character.muscle),
        rate=qvel[:, 6:],
        away=character.away,
    )
    return take, trace, holding


def _moved_along(body: BodyModel, before: Clip, after: Clip, pos: Array, quat_wxyz: Array) -> tuple[Array, Array]:
    """Links' frames (K, L, 3) and (K, L, 4) moved as their bones are from one clip to the other; the rest stays.

    Not simply those of the bones: where a source stretches, bones are not where the links are.
    """
    if after is before:
        return pos, quat_wxyz
    bones = [before.skeleton.index(link.bone) for link in body.links]
    (old_pos, old_quat), (new_pos, new_quat) = ((p[:, bones], q[:, bones]) for p, q in (before.world(), after.world()))
    turned = multiply(multiply(new_quat, conjugate(old_quat)), quat_wxyz)
    changed = np.any(new_quat != old_quat, axis=-1, keepdims=True)
    return pos + (new_pos - old_pos), np.where(changed, turned, quat_wxyz)


def collect_prop_motions(recording: Recording, motion: Clip) -> tuple[PropMotion, ...]:
    """What the props did, on the motion's clock."""
    rows = recording.rows
    return resample_prop_motions(recording.stage, rows.prop_pos[0], rows.prop_quat_wxyz[0], CONTROL_FPS, motion)


def mark_touching_bones(body: BodyModel, force_n: Array, motion: Clip, fps: float) -> Flags:
    """(T, B) which bones touch something at the motion's frames, from newtons (K, L) on links at ``fps``."""
    touched = force_n > _TOUCH_N
    frames = np.minimum(np.round(np.arange(len(motion)) * fps / motion.fps).astype(int), len(touched) - 1)
    contacts = np.zeros((len(motion), len(motion.skeleton)), dtype=bool)
    for index, link in enumerate(body.links):
        contacts[:, motion.skeleton.index(link.bone)] = touched[frames, index]
    return contacts
