# SPDX-License-Identifier: GPL-3.0-or-later
"""A finished performance played again, all fragments at once, for what lies between their ends; and takes from it."""

from dataclasses import dataclass

import numpy as np

from ...body import BodyModel
from ...body.foot_lock import FootLockReport, lock_feet
from ...body.footprints import copy_footprints
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
from ..sampling.stage_character import StageCharacter
from ..sampling.stage_rollout import StageRollout
from .contact_jitter_filter import filter_contact_jitter
from .reference import CONTROL_FPS, FRAGMENT_STEPS

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


def record_rollout(performance: StageRollout) -> Recording:
    """Play every fragment again from where it began; the engine does the same again."""
    world, count = performance.world, performance.fragments
    begun, offsets = np.array(performance.begun), np.array(performance.offsets)
    before = np.concatenate([np.zeros_like(offsets[:1]), offsets[:-1]])
    first = np.tile(begun[0], (world.copies, 1))
    sensed = world.sense(first)
    states, parts = [begun[:1]], [{name: values[:1, 0] for name, values in vars(sensed).items()}]
    for start in range(0, count, world.copies):
        some = np.arange(start, min(start + world.copies, count))
        played, rows = performance.simulated(some, begun[some], before[some], offsets[some])
        states.append(played[: len(some)].reshape(-1, world.state_size))
        moments = len(some) * FRAGMENT_STEPS
        parts.append(
            {name: values[: len(some)].reshape(moments, *values.shape[2:]) for name, values in vars(rows).items()}
        )
    frames = len(performance.performers[0].reference.states)
    together = {name: np.concatenate([part[name] for part in parts])[None, :frames] for name in parts[0]}
    qpos, qvel = world.pose_of(np.concatenate(states)[:frames])
    asked = performance.targets(np.arange(count), before, offsets).reshape(count * FRAGMENT_STEPS, -1)
    return Recording(performance.stage, qpos, qvel, np.concatenate([asked[:1], asked])[:frames], SensorRows(**together))


@dataclass(frozen=True, eq=False)
class RecordedCharacter:
    """Who is seen on a film, and what it was to do.

    source: what riders and merged bones go on with. muscle: (K,) share of strength.
    wanted_pos: (K, L, 3), wanted_quat_wxyz: (K, L, 4), wanted_com: (K, 3): where its links and centroid should be.
    """

    body: BodyModel
    source: Clip
    space: PoseSpace
    muscle: Array
    wanted_pos: Array
    wanted_quat_wxyz: Array
    wanted_com: Array


def describe_character(performer: StageCharacter) -> RecordedCharacter:
    """A performer and its reference."""
    reference, wanted = performer.reference, performer.reference.rows
    return RecordedCharacter(
        performer.body,
        performer.source,
        reference.space,
        reference.muscle,
        wanted.link_pos[0],
        wanted.link_quat_wxyz[0],
        wanted.com[0, :, 0],
    )


def make_take(film: Recording, who: int, subject: RecordedCharacter, fps: float) -> tuple[Take, Trace, FootLockReport]:
    """A character's take at ``fps``, without others and props, its trace, and how its feet were held for it.

    Feet are held where they stand, and tremble is taken out of everything else.

    The take's places and those of the trace are the same. Forces, torques and the centre of mass are those of physics.
    """
    where = {name: slice(values[who], values[who + 1]) for name, values in character_offsets(film.stage).items()}
    body, rows = subject.body, film.rows
    links = where["links"]
    qpos, qvel = film.qpos[:, where["nq"]], film.qvel[:, where["nv"]]
    force = rows.contact_force[0, :, links]
    simulated = clip_of_pose(body, subject.source, qpos, CONTROL_FPS)
    fell_s = find_fall_time(subject.wanted_pos, rows.link_pos[0, :, links], 1.0 / CONTROL_FPS)
    until = None if fell_s is None else round(fell_s * CONTROL_FPS)
    stands = detect_support(body, force)
    standing, holding = lock_feet(body, simulated, stands, build_surface(film.stage), until)
    calm = clip_of_pose(body, subject.source, filter_contact_jitter(subject.space, qpos), CONTROL_FPS)
    finished = copy_footprints(body, calm, standing, stands)
    seen_pos, seen_quat = _moved_along(
        body, simulated, finished, rows.link_pos[0, :, links], rows.link_quat_wxyz[0, :, links]
    )
    motion = finished.resample(fps)
    take = Take(
        motion,
        contacts=_on_bones(body, np.linalg.norm(force, axis=-1) > _TOUCH_N, motion),
        fell_at_s=find_fall_time(subject.wanted_pos, seen_pos, 1.0 / CONTROL_FPS),
    )
    trace = Trace(
        body,
        film.stage,
        who,
        CONTROL_FPS,
        wanted_pos=subject.wanted_pos,
        wanted_quat_wxyz=subject.wanted_quat_wxyz,
        wanted_com=subject.wanted_com,
        seen_pos=seen_pos,
        seen_quat_wxyz=seen_quat,
        seen_com=rows.com[0, :, who],
        contact_force=force,
        torque=servo_torques(body, qpos, qvel, film.targets[:, where["nu"]], subject.muscle),
        rate=qvel[:, 6:],
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


def collect_prop_motions(film: Recording, motion: Clip) -> tuple[PropMotion, ...]:
    """What the props did, on the motion's clock."""
    rows = film.rows
    return resample_prop_motions(film.stage, rows.prop_pos[0], rows.prop_quat_wxyz[0], CONTROL_FPS, motion)


def _on_bones(body: BodyModel, touched: Flags, motion: Clip) -> Flags:
    """(T, B) contacts of links (K, L) at the control rate as contacts of their bones at the clip's."""
    frames = np.minimum(np.round(np.arange(len(motion)) * CONTROL_FPS / motion.fps).astype(int), len(touched) - 1)
    contacts = np.zeros((len(motion), len(motion.skeleton)), dtype=bool)
    for index, link in enumerate(body.links):
        contacts[:, motion.skeleton.index(link.bone)] = touched[frames, index]
    return contacts
