# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that is measured of a take, in one place: the reference, the simulated trajectory and the baked motion."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from ..body.foot_skate import foot_skate_by_force, foot_skate_by_shape
from ..geometry.quaternions import Array
from ..motion import Clip
from ..motion.losing import LostMotionDetector
from ..sim.trace import Trace
from . import effort, ground_contact, position_errors, smoothness

Part = dict[str, float | None]


@dataclass(frozen=True)
class TakeMeasures:
    """Numbers of one character's take; None where there is nothing to measure. Units are in the names.

    lost_at_s: when the body was first where its source never is. lost_s: how long it was so in all.
    rejoined_at_s: since when it was with its source for good, after it was lost.

    Up to then, for nothing is followed after it: errors, skate, jerk.
    joint_error: mean per-joint position error, root-relative; the others are in the world. tip: far ends of feet,
    toes, hands (or forearms) and head. skate: of soles that carry and are not to glide. source_skate: the source's own,
    before its feet were planted, by the shape of the feet.
    jerk: of the bones as baked. jerk_ratio: against the source's, both at the lowest frame rate involved.

    To the end: penetration (mean of the deepest point while anything touches), torque_use (share of the limits),
    energy.
    """

    lost_at_s: float | None = None
    lost_s: float | None = None
    rejoined_at_s: float | None = None
    joint_error_m: float | None = None
    joint_error_max_m: float | None = None
    joint_error_global_m: float | None = None
    root_error_m: float | None = None
    root_error_max_m: float | None = None
    com_error_m: float | None = None
    com_error_max_m: float | None = None
    tip_error_m: float | None = None
    tip_error_max_m: float | None = None
    skate_m_s: float | None = None
    source_skate_m_s: float | None = None
    penetration_m: float | None = None
    penetration_max_m: float | None = None
    jerk_m_s3: float | None = None
    jerk_ratio: float | None = None
    torque_use: float | None = None
    torque_use_max: float | None = None
    energy_j_kg: float | None = None

    def to_mapping(self) -> dict[str, float]:
        """By name, what there is; but for when it was lost, which the take itself says."""
        return {name: value for name, value in asdict(self).items() if value is not None and name != "lost_at_s"}


def measure_take(trace: Trace | None, source: Clip | None, motion: Clip) -> TakeMeasures:
    """Measure a take: its motion, the source it was made from, and what physics saw on the way.

    Without a trace only the clips are compared, by all of their bones. Without a source, where the take follows none of
    it, errors are those from what the trace says was wanted.
    """
    if trace is None:
        every = range(len(motion.skeleton))
        compared = {} if source is None else _of_clips(source, motion)
        return TakeMeasures(**compared, **_of_smoothness(source, motion, every, motion.fps, np.inf))
    spans = find_lost_spans(trace, follows_source=source is not None)
    kept, until_s = (spans[0][0], (spans[0][0] - 1) * trace.dt_s) if spans else (len(trace), np.inf)
    bones = [motion.skeleton.index(link.bone) for link in trace.body.links]
    return TakeMeasures(
        **_of_losing(spans, trace),
        **_of_following(trace, min(kept, _living(trace))),
        **_of_physics(trace, _living(trace)),
        **_of_smoothness(source, motion, bones, trace.fps, trace.begin_s + until_s),
    )


def find_lost_spans(trace: Trace, follows_source: bool = True) -> list[tuple[int, int]]:
    """Ranges of moments in which a body was where its source never is.

    follows_source: it has a place to be at, so that being elsewhere counts where nothing on the stage pushed it there.
    """
    if trace.is_part:
        return []
    stage = trace.stage
    alone = len(stage.characters) == 1 and not stage.props and not stage.pushes
    detector = LostMotionDetector(trace.wanted_pos, trace.wanted_quat_wxyz, trace.body.trunk, trace.fps)
    return detector.lost_spans(trace.seen_pos, trace.seen_quat_wxyz, alone and follows_source, trace.away)


def _of_losing(spans: Sequence[tuple[int, int]], trace: Trace) -> Part:
    if not spans:
        return {}
    end = spans[-1][1]
    return {
        "lost_at_s": trace.begin_s + spans[0][0] * trace.dt_s,
        "lost_s": sum(stop - start for start, stop in spans) * trace.dt_s,
        "rejoined_at_s": None if end == len(trace) else trace.begin_s + end * trace.dt_s,
    }


def _of_following(trace: Trace, count: int) -> Part:
    """Of the first ``count`` moments: how far from the wanted motion, and how the feet stand."""
    body, terrain, dt_s = trace.body, trace.stage.terrain, trace.dt_s
    wanted, seen = trace.wanted_pos[:count], trace.seen_pos[:count]
    wanted_quat, seen_quat = trace.wanted_quat_wxyz[:count], trace.seen_quat_wxyz[:count]
    tips = position_errors.point_distances(
        position_errors.limb_end_positions(body, wanted, wanted_quat),
        position_errors.limb_end_positions(body, seen, seen_quat),
    )
    return {
        **_of_joints(wanted, seen),
        **_pair("com_error", position_errors.point_distances(trace.wanted_com[:count], trace.seen_com[:count])),
        **_pair("tip_error", tips),
        "skate_m_s": foot_skate_by_force(
            body,
            seen,
            seen_quat,
            trace.contact_force[:count],
            dt_s,
            ground_contact.height_under(terrain),
            (wanted, wanted_quat),
        ),
        "source_skate_m_s": _source_skate(trace, count),
    }


def _source_skate(trace: Trace, count: int) -> float | None:
    """As it was measured of the source before anything was done about it, else of what was wanted."""
    if trace.source_skate_m_s is not None:
        return trace.source_skate_m_s
    under = ground_contact.height_under(trace.stage.terrain)
    return foot_skate_by_shape(trace.body, trace.wanted_pos[:count], trace.wanted_quat_wxyz[:count], trace.dt_s, under)


def _of_physics(trace: Trace, count: int) -> Part:
    """Of the first ``count`` moments: how deep in the ground, and what it cost."""
    body, terrain = trace.body, trace.stage.terrain
    pos, quat, force = trace.seen_pos[:count], trace.seen_quat_wxyz[:count], trace.contact_force[:count]
    depth, deepest = ground_contact.penetration(body, pos, quat, force, terrain)
    torque, rate = trace.torque[:count], trace.rate[:count]
    use, most = position_errors.mean_and_max(effort.torque_shares(body, torque))
    return {
        "penetration_m": depth,
        "penetration_max_m": deepest,
        "torque_use": use,
        "torque_use_max": most,
        "energy_j_kg": effort.mechanical_energy(body, torque, rate, trace.dt_s) if count else None,
    }


def _living(trace: Trace) -> int:
    """How many moments there are before anything is not a number."""
    seen = (trace.seen_pos, trace.seen_quat_wxyz, trace.seen_com, trace.contact_force, trace.torque, trace.rate)
    sound = np.all([np.isfinite(array).reshape(len(trace), -1).all(axis=-1) for array in seen], axis=0)
    return len(trace) if sound.all() else int(np.argmin(sound))


def _of_clips(source: Clip, motion: Clip) -> Part:
    """How far the bones are from the source's; the first bone is the root."""
    bones, until_s = range(len(motion.skeleton)), min(source.duration_s, motion.duration_s)
    fps = min(source.fps, motion.fps)
    return _of_joints(*(smoothness.bone_places(clip, bones, fps, until_s) for clip in (source, motion)))


def _of_joints(wanted: Array, seen: Array) -> Part:
    """Of joints (K, L, 3) in metres, the root first."""
    return {
        **_pair("joint_error", position_errors.root_relative_distances(wanted, seen)),
        "joint_error_global_m": position_errors.mean_and_max(position_errors.point_distances(wanted, seen))[0],
        **_pair("root_error", position_errors.point_distances(wanted[:, 0], seen[:, 0])),
    }


def _of_smoothness(source: Clip | None, motion: Clip, bones: Sequence[int], fps: float, until_s: float) -> Part:
    """Jerk of the bones at the lowest rate involved, up to ``until_s``, wherever the source is sound."""
    if source is None:
        fps, until_s = min(motion.fps, fps), min(until_s, motion.duration_s)
        if until_s < 0.0:
            return {}
        places = smoothness.bone_places(motion, bones, fps, until_s)
        return {"jerk_m_s3": smoothness.jerk(places, fps)}
    fps = min(source.fps, motion.fps, fps)
    until_s = min(until_s, source.duration_s, motion.duration_s)
    if until_s < 0.0:
        return {}
    before, after = (smoothness.bone_places(clip, bones, fps, until_s) for clip in (source, motion))
    sound = smoothness.sound_frames(source, fps, len(before))
    theirs, own = (smoothness.jerk(places[: len(sound)], fps, sound) for places in (before, after))
    return {"jerk_m_s3": own, "jerk_ratio": smoothness.jerk_ratio(own, theirs)}


def _pair(name: str, errors: Array) -> Part:
    mean, most = position_errors.mean_and_max(errors)
    return {f"{name}_m": mean, f"{name}_max_m": most}
