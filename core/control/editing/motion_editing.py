# SPDX-License-Identifier: GPL-3.0-or-later
"""Laplacian motion editing in space and time: the one module of this room that other methods call.

A clip is warped in time, deformed along the ground, its stances are kept, and limbs reach: each only as far as key
moments ask for it, and stiffest around them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...body import BodyModel
from ...body.foot_contacts import find_foot_contacts, legs_by_foot
from ...body.foot_correction import smootherstep
from ...body.stances import Flags
from ...body.terrain_adaptation import adapt_to_ground
from ...errors import BadSettings
from ...geometry.quaternions import Array, angle_between
from ...motion import Clip
from ...motion.time_warp import warp_clip
from ...motion.travel import move_roots, turn_in_plane
from ..tracking.facing import twist_angle, upright_rotation
from .constraints import EditConstraint, FrameNumbers, Reach, require_consistent
from .limb_reaching import Limb, find_limb, limb_point, place_to_reach, reach_target
from .path_deformation import PathDeformation, deform_path
from .stance_keeping import keep_stances, measure_slide
from .time_map import PaceBounds, invert_time_map, solve_time_map

# Stiffness by frame, of 1 elsewhere: around key moments; in the time map where no foot stands, for a body in the air
# falls as fast as it falls; along the path once for each foot that stands, which it would take along.
_KEY, _AIRBORNE, _STANDING = 200.0, 8.0, 4.0
_SWING_S = 0.15  # a foot that reaches comes and goes in no less, also if it has to be lifted sooner for it
_THERE_M, _SOLE_M = 0.005, 0.08  # a target so far from the middle of a standing foot, and below it, is reached
_ROUNDS, _AGREES_RAD = 6, 1e-3  # in which the place that a reach asks for and the turn that it leads to agree


@dataclass(frozen=True)
class MetConstraint:
    """What became of a constraint: how far off the result is, 0 for what was not wanted.

    frame: of the source, result_frame: where it is in the result. pose_rad: the most that a joint turned from its pose.
    """

    frame: int
    result_frame: int
    time_off_s: float
    place_off_m: float
    heading_off_rad: float
    pose_rad: float


@dataclass(frozen=True)
class MetReach:
    """What became of a reach: how far from its target the limb is."""

    frame: int
    result_frame: int
    bone: str
    off_m: float


@dataclass(frozen=True, eq=False)
class EditedMotion:
    """An edited clip, and what was done to it.

    times_s: (N,) seconds in the source, of each frame of the result. contacts: (N, feet) as ``name_feet`` has them.
    slowest, fastest: the pace, 1 as in the source. stretch: the largest factor by which steps are longer or shorter.
    turn_rad: the most that a frame is turned by. shift_m_s: the most that the root glides besides its own way.
    let_go_s: for how long feet are lifted that stand in the source, because their legs are too short for the way.
    slide_m_s, source_slide_m_s: mean speed of soles in stance, None where no foot stands.
    """

    clip: Clip
    times_s: Array
    contacts: Flags
    constraints: tuple[MetConstraint, ...]
    reaches: tuple[MetReach, ...]
    slowest: float
    fastest: float
    stretch: float
    turn_rad: float
    shift_m_s: float
    let_go_s: float
    slide_m_s: float | None
    source_slide_m_s: float | None


def edit_motion(
    body: BodyModel,
    clip: Clip,
    constraints: Sequence[EditConstraint],
    reaches: Sequence[Reach] = (),
    *,
    bounds: PaceBounds | None = None,
    hold_start: bool = True,
    hold_end: bool = False,
    numbers: FrameNumbers | None = None,
) -> EditedMotion:
    """The clip edited so that its key moments are when, where and as they are wanted.

    hold_start: whether the first frame stays where it is, unless a constraint says otherwise; else all of the motion
    is moved, as far as that will do. hold_end: the same of the last frame, and of when it is.
    numbers: how frames are told in messages; from 0 on if None.
    """
    numbers, bounds = numbers or FrameNumbers(clip.fps), bounds or PaceBounds()
    require_consistent(constraints, reaches, len(clip), numbers)
    limbs = [find_limb(body, reach.bone) for reach in reaches]
    wanted = _join(constraints, reaches)
    contacts = find_foot_contacts(body, adapt_to_ground(body, clip, None)[0])
    timed = find_timed(clip, constraints, hold_end)
    times = _find_times(clip, wanted, timed, contacts, bounds, numbers)
    places = invert_time_map(times, clip.fps)
    warped = warp_clip(clip, places / clip.fps)
    stands = contacts[np.clip(np.round(places).astype(int), 0, len(clip) - 1)]
    at = {frame: int(np.clip(round(times[frame] * clip.fps), 0, len(warped) - 1)) for frame in wanted}
    path = _Path.of(body, warped)
    deformed = path.deform(wanted, at, list(zip(reaches, limbs, strict=True)), stands, hold_start, hold_end)
    moved = path.apply(deformed)
    keys = sorted({*at.values(), *([0] if hold_start else []), *([len(warped) - 1] if hold_end else [])})
    edited, held = keep_stances(body, moved, stands, keys)
    for reach, limb in zip(reaches, limbs, strict=True):
        edited, held = _reach(body, edited, reach, limb, at[reach.frame], held, numbers)
    return _measure(
        body, clip, edited, (times, places, deformed), (contacts, stands, held), constraints, reaches, limbs, at
    )


def _join(constraints: Sequence[EditConstraint], reaches: Sequence[Reach]) -> dict[int, EditConstraint]:
    """Constraints by frame; what reaches is a key moment too."""
    joined: dict[int, EditConstraint] = {}
    for one in (*constraints, *(EditConstraint(reach.frame, rigid_s=reach.span_s) for reach in reaches)):
        known = joined.get(one.frame, one)
        told = {name: getattr(known, name) for name in ("time_s", "place", "heading")}
        told = {name: getattr(one, name) if value is None else value for name, value in told.items()}
        joined[one.frame] = replace(known, rigid_s=max(one.rigid_s, known.rigid_s), **told)
    return joined


def find_timed(clip: Clip, constraints: Sequence[EditConstraint], hold_end: bool) -> dict[int, float]:
    """Seconds by frame, of the frames whose moment is wanted."""
    timed = {one.frame: one.time_s for one in constraints if one.time_s is not None}
    return {len(clip) - 1: clip.duration_s, **timed} if hold_end else timed


def _find_times(
    clip: Clip,
    wanted: Mapping[int, EditConstraint],
    timed: Mapping[int, float],
    contacts: Flags,
    bounds: PaceBounds,
    numbers: FrameNumbers,
) -> Array:
    """(T,) seconds at which frames happen; key moments and the end on whole frames, so that their poses are kept."""
    stiffness = _rigidity(len(clip), clip.fps, {frame: one.rigid_s for frame, one in wanted.items()})
    if contacts.shape[1]:
        stiffness = stiffness * np.where(contacts.any(axis=1), 1.0, _AIRBORNE)
    stiffness = 0.5 * (stiffness[1:] + stiffness[:-1])
    times = solve_time_map(clip.fps, stiffness, timed, bounds, numbers)
    whole = {frame: round(times[frame] * clip.fps) / clip.fps for frame in (*wanted, len(clip) - 1)}
    try:
        return solve_time_map(clip.fps, stiffness, {**whole, **timed}, bounds)
    except BadSettings:  # at the very edge of what is possible, a frame more or less is not
        return times


def _rigidity(count: int, fps: float, keys: Mapping[int, float]) -> Array:
    """(T,) stiffness: high around keys for as many seconds as each says, and 1 away from them."""
    frames, near = np.arange(count), np.zeros(count)
    for key, span_s in keys.items():
        away = np.abs(frames - key) / max(span_s * fps, 1.0)
        near = np.maximum(near, 1.0 - smootherstep(2.0 * (away - 0.5)))
    return np.asarray(1.0 + (_KEY - 1.0) * near)


@dataclass(frozen=True, eq=False)
class _Path:
    """Where the root of a clip goes. place: (T, 2) metres, heading: (T,) radians from +X, without jumps."""

    clip: Clip
    place: Array
    heading: Array

    @classmethod
    def of(cls, body: BodyModel, clip: Clip) -> "_Path":
        pos, quat = clip.world()
        root = clip.skeleton.index(body.links[0].bone)
        return cls(clip, np.array(pos[:, root, :2]), np.unwrap(twist_angle(quat[:, root], upright_rotation(body))))

    def deform(
        self,
        wanted: Mapping[int, EditConstraint],
        at: Mapping[int, int],
        reaches: Sequence[tuple[Reach, Limb]],
        stands: Flags,
        hold_start: bool,
        hold_end: bool,
    ) -> PathDeformation:
        """The path through all that is wanted; at: frames of the result by frames of the source."""
        count, fps = len(self.place), self.clip.fps
        stiffness = _rigidity(count, fps, {at[frame]: one.rigid_s for frame, one in wanted.items()})
        if stands.shape[1]:
            stiffness = stiffness * _STANDING ** stands.sum(axis=1)
        places = {at[frame]: np.array(one.place) for frame, one in wanted.items() if one.place is not None}
        turns = {at[f]: one.heading - self.heading[at[f]] for f, one in wanted.items() if one.heading is not None}
        for frame, held in ((0, hold_start), (count - 1, hold_end)):
            if held:
                places.setdefault(frame, self.place[frame])
                turns.setdefault(frame, 0.0)
        turns = _shortest(turns)
        # Who reaches without a place of its own goes where it can.
        free = {at[one.frame]: (one, limb) for one, limb in reversed(reaches) if at[one.frame] not in places}
        found = deform_path(self.place, fps, stiffness, {**places, **{f: self.place[f] for f in free}}, turns)
        faced = {frame: float(found.turn[frame]) for frame in free}
        for _ in range(_ROUNDS if free else 0):
            there = self._places_to_reach(free, faced)
            found = deform_path(self.place, fps, stiffness, {**places, **there}, turns)
            before, faced = faced, {frame: 0.5 * (turn + float(found.turn[frame])) for frame, turn in faced.items()}
            if all(abs(faced[frame] - turn) < _AGREES_RAD for frame, turn in before.items()):
                break
        if not free:
            return found
        # In the end it faces as the place was found for, whether or not the two had settled.
        there = self._places_to_reach(free, faced)
        return deform_path(self.place, fps, stiffness, {**places, **there}, {**faced, **turns})

    def _places_to_reach(self, free: Mapping[int, tuple[Reach, Limb]], faced: Mapping[int, float]) -> dict[int, Array]:
        """(2,) metres by frame: where the root has to be for limbs to reach, turned by so much."""
        return {
            frame: place_to_reach(self.clip, frame, limb, self.place[frame], faced[frame], np.array(reach.target))
            for frame, (reach, limb) in free.items()
        }

    def apply(self, deformed: PathDeformation) -> Clip:
        """The clip along the deformed path."""
        shift = deformed.place - turn_in_plane(self.place, deformed.turn)
        return move_roots(self.clip, deformed.turn, np.concatenate([shift, np.zeros((len(shift), 1))], axis=-1))


def _shortest(turns: Mapping[int, float]) -> dict[int, float]:
    """Turns by frame, each the shortest way from the one before."""
    found: dict[int, float] = {}
    last = 0.0
    for frame, turn in sorted(turns.items()):
        last = found[frame] = last + float(np.angle(np.exp(1j * (turn - last))))
    return found


def _reach(
    body: BodyModel, clip: Clip, reach: Reach, limb: Limb, frame: int, held: Flags, numbers: FrameNumbers
) -> tuple[Clip, Flags]:
    """The clip with a limb that reaches, and where feet stand then: one that is lifted for it does not.

    A foot comes and goes while it swings, as far as that is time enough.
    """
    most, column = max(reach.span_s * clip.fps, 1.0), _foot_column(body, limb)
    if column is None:
        return reach_target(clip, limb, reach, frame, (most, most), numbers), held
    off = np.array(reach.target) - limb_point(clip, limb)[frame]
    if held[frame, column] and np.linalg.norm(off[:2]) < _THERE_M and -_SOLE_M < off[2] < _THERE_M:
        return clip, held  # it stands there already, and a target on the ground is under it
    standing = np.flatnonzero(held[:, column])
    rooms = [
        np.min(np.abs(side - frame), initial=most) for side in (standing[standing <= frame], standing[standing > frame])
    ]
    least = most if held[frame, column] else min(_SWING_S * clip.fps, most)
    edges = (max(float(rooms[0]), least), max(float(rooms[1]), least))
    frames = np.arange(len(clip))
    lifted = (frames > frame - edges[0]) & (frames < frame + edges[1])
    held = held.copy()
    held[lifted, column] = False
    return reach_target(clip, limb, reach, frame, edges, numbers), held


def _foot_column(body: BodyModel, limb: Limb) -> int | None:
    """Which of ``name_feet`` a limb ends in; None for a hand."""
    return next((i for i, leg in enumerate(legs_by_foot(body).values()) if leg.foot == limb.end), None)


def _measure(
    body: BodyModel,
    source: Clip,
    edited: Clip,
    made: tuple[Array, Array, PathDeformation],
    feet: tuple[Flags, Flags, Flags],
    constraints: Sequence[EditConstraint],
    reaches: Sequence[Reach],
    limbs: Sequence[Limb],
    at: Mapping[int, int],
) -> EditedMotion:
    (times, places, deformed), (contacts, stands, held) = made, feet
    path, pace = _Path.of(body, edited), 1.0 / np.maximum(np.diff(times) * source.fps, 1e-9)
    met = []
    inner = np.flatnonzero(source.skeleton.parents >= 0)
    for one in constraints:
        frame = at[one.frame]
        pose = angle_between(edited.local_quat_wxyz[frame, inner], source.local_quat_wxyz[one.frame, inner])
        off = np.exp(1j * (path.heading[frame] - one.heading)) if one.heading is not None else 1.0
        met.append(
            MetConstraint(
                one.frame,
                frame,
                0.0 if one.time_s is None else frame / source.fps - one.time_s,
                0.0 if one.place is None else float(np.linalg.norm(path.place[frame] - one.place)),
                float(np.angle(off)),
                float(pose.max(initial=0.0)),
            )
        )
    touched = tuple(
        MetReach(
            one.frame,
            at[one.frame],
            one.bone,
            float(np.linalg.norm(limb_point(edited, limb)[at[one.frame]] - one.target)),
        )
        for one, limb in zip(reaches, limbs, strict=True)
    )
    return EditedMotion(
        edited,
        np.asarray(places / source.fps),
        held,
        tuple(met),
        touched,
        float(pace.min(initial=1.0)),
        float(pace.max(initial=1.0)),
        float(np.exp(np.abs(np.log(deformed.scale)).max(initial=0.0))),
        float(np.abs(deformed.turn).max(initial=0.0)),
        float(deformed.shift_m_s.max(initial=0.0)),
        float(np.sum(stands & ~held) / source.fps),
        measure_slide(body, edited, held),
        measure_slide(body, source, contacts),
    )
