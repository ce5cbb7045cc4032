# SPDX-License-Identifier: GPL-3.0-or-later
"""A learned policy at work: how long it stays within the bounds by itself, and films of it, pushed or not."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...body.poses import link_transforms, pose_of_clip
from ...errors import BoundsError
from ...geometry.quaternions import Array
from ...learn.environment import Floats
from ...motion import Clip
from ...sim.engine import SensorRows, World
from ..tracking.facing import rotate_about_z, twist_angle
from ..tracking.recording import RecordedCharacter, Recording
from .bounds import AXES, bound_names
from .course import CONTROL_FPS, FILM_STEPS, Course, Indices, com_of
from .environment import targets_of
from .observations import Frames, Seen, begun, placed, see

Act = Callable[[Floats], Floats]
"""Observations (N, O) -> corrections (N, nu): a ``core.learn.policy.Policy``."""

# A course waits for who falls behind it, or was pushed aside, at this share of the bounds.
_FOLLOWS = 0.5
_FREE_M, _FREE_RAD = 0.3, 0.5  # where there is no bound

# How differently tries begin: standard deviations of joints, and of all velocities in m/s and rad/s.
_APART_RAD, _APART_RATE = 0.01, 0.05


@dataclass(frozen=True, eq=False)
class Endurance:
    """What became of copies that began in frames (n,) of the course, without noise.

    lived: (n,) control steps within the bounds. asked: how many there could be. why: the bound that
    ended each, '' for none.
    """

    at: Indices
    lived: Indices
    asked: Indices
    why: tuple[str, ...]

    @property
    def share(self) -> float:
        """How much of what was asked for was done within the bounds, as a mean over the copies."""
        return float(np.mean(self.lived / self.asked))

    @property
    def whole(self) -> bool:
        """Whether all copies stayed within the bounds for as long as they could."""
        return bool((self.lived >= self.asked).all())


def endured(course: Course, widths: Array, act: Act, world: World, seconds: float, enough: float = 1.0) -> Endurance:
    """Let copies begin, and see how long they stay within widths (T + 1, R).

    A cycle is gone on with; what ends is done from its beginning to its end, over and over. All begin where the course
    does, each a little differently: in its middle the source may be where nobody could go on, in a leap that it would
    not land.
    enough: stop once more than this share of the copies has left.
    """
    count = world.copies
    at = np.zeros(count, dtype=np.int64)
    limit = round(seconds * CONTROL_FPS)
    asked = np.full(count, limit if course.cyclic else min(course.steps, limit))
    frames, names = begun(at), bound_names(course.body)
    states = world.state_of(*placed(course, *first_states(course, count), frames))
    seen = see(course, world, states, world.sense(states), frames)
    lived, why = asked.copy(), [""] * count
    substeps = substeps_of(world)
    for step in range(int(asked.max())):
        going = (lived == asked) & (step < asked)
        if not going.any():
            break
        if np.mean(lived < asked) > enough:
            lived[going] = step
            break
        states[~going] = np.nan  # who has left costs no more time
        targets = targets_of(course, frames.at, act(seen.observed()))
        states, rows = world.rollout(states, targets, substeps=substeps, end_only=True)
        states, frames = states[:, -1], frames.advanced(course)
        seen = see(course, world, states, rows, frames)
        over = np.nan_to_num(seen.deviations / widths[frames.at], nan=np.inf)
        left = going & (over.max(axis=1) > 1.0)
        for copy in np.flatnonzero(left):
            why[copy] = names[int(np.argmax(over[copy]))]
        lived[left] = step
    return Endurance(at, lived, asked, tuple(why))


def first_states(course: Course, count: int) -> tuple[Array, Array]:
    """Poses (n, nq) and velocities (n, nv) to be tested from; the first is the source's own."""
    apart = np.random.default_rng(0).standard_normal((2, count, course.body.nv))
    apart[:, 0] = 0.0
    apart[0, :, :6] = 0.0  # joints differ, feet stay on the floor
    return course.space.integrate(course.qpos[0], _APART_RAD * apart[0]), course.rates[0] + _APART_RATE * apart[1]


@dataclass(frozen=True, eq=False)
class Played:
    """What one character did. left: by bound how many control steps it was violated."""

    film: Recording
    subject: RecordedCharacter
    left: dict[str, int]


def played(
    course: Course,
    widths: Array,
    act: Act,
    world: World,
    source: Clip,
    seconds: float,
    look: Callable[[float], None] = lambda _: None,
) -> Played:
    """Play one character for so many seconds in a world of one copy, with whatever is on its stage.

    It begins where the source stands and faces. The course follows who is pushed aside or falls behind, so that nobody
    is dragged back.
    """
    require_length(course, seconds)
    frames, space = _standing_as(course, pose_of_clip(course.body, source.frames(0, 1))[0][0]), course.space
    state = world.state_of(*placed(course, course.qpos[:1], course.rates[:1], frames))
    rows = world.sense(state)
    seen = see(course, world, state, rows, frames)
    states, parts, targets = [state], [rows], []
    wanted = [placed(course, course.film[:1], np.zeros((1, 6)), frames)[0]]
    left: dict[str, int] = {}
    count = max(round(seconds * CONTROL_FPS), 1)
    for step in range(count):
        asked = targets_of(course, frames.at, act(seen.observed()))
        moved, rows = world.rollout(state, asked, substeps=substeps_of(world))
        moments = int(frames.at[0]) * FILM_STEPS + np.arange(1, FILM_STEPS + 1)
        wanted.append(placed(course, course.film[moments], np.zeros((FILM_STEPS, 6)), _repeated(frames))[0])
        states.append(moved[0])
        parts.append(rows)
        targets.append(asked[0])
        state, frames = np.array(moved[:, -1]), frames.advanced(course)
        seen = see(course, world, state, rows, frames)
        if (moved_along := followed(course, widths, seen, frames)) is not frames:
            frames = moved_along
            seen = see(course, world, state, rows, frames)
        for bound in np.flatnonzero(~(seen.deviations[0] <= widths[frames.at[0]])):
            name = bound_names(course.body)[bound]
            left[name] = left.get(name, 0) + 1
        look((step + 1) / count)
    qpos, qvel = world.pose_of(np.concatenate(states))
    asked = np.concatenate(targets)
    film = Recording(world.stage, qpos, qvel, np.concatenate([asked[:1], asked]), _together(parts))
    poses = np.concatenate(wanted)
    pos, quat = link_transforms(course.body, poses)
    subject = RecordedCharacter(course.body, source, space, np.ones(len(poses)), pos, quat, com_of(course.body, poses))
    return Played(film, subject, left)


def require_length(course: Course, seconds: float) -> None:
    """Refuse more of a motion than there is."""
    if not course.cyclic and seconds > course.duration_s + 1e-6:
        raise BoundsError(
            f"{seconds:g} s were asked for, and the motion is over after {course.duration_s:.2f} s: it is no cycle",
            f"Ask for {course.duration_s:.2f} s at most, or learn a range that ends as it begins",
        )


def followed(course: Course, widths: Array, seen: Seen, frames: Frames) -> Frames:
    """The frames moved so that no copy is further along the floor, or turned further, than half of what it may be."""
    if not np.isfinite(seen.com).all():
        return frames
    bound = widths[seen.at]
    reach = np.where(np.isfinite(bound[:, :2]), _FOLLOWS * bound[:, :2], _FREE_M)
    root = bound[:, len(AXES)]
    most = np.where(np.isfinite(root), _FOLLOWS * root, _FREE_RAD)
    off = (seen.com - seen.course.com[seen.at])[:, :2]
    moved = np.zeros((len(off), 3))
    moved[:, :2] = off - np.clip(off, -reach, reach)
    heading = np.angle(np.exp(1j * seen.heading_off))
    turn = heading - np.clip(heading, -most, most)
    if not moved.any() and not turn.any():
        return frames
    place = frames.place + rotate_about_z(frames.heading, moved)[:, :2]
    # Turned about where the centre of mass is to be, which then stays there.
    pivot = np.concatenate([course.com[seen.at, :2], np.zeros((len(off), 1))], axis=1)
    place = place + (rotate_about_z(frames.heading, pivot) - rotate_about_z(frames.heading + turn, pivot))[:, :2]
    return Frames(frames.at, frames.heading + turn, place)


def _standing_as(course: Course, qpos: Array) -> Frames:
    """One copy at the beginning of a course that begins where a pose (nq,) stands and faces."""
    heading = np.atleast_1d(twist_angle(qpos[3:7], course.qpos[0, 3:7]))
    return Frames(
        np.zeros(1, dtype=np.int64), heading, qpos[None, :2] - rotate_about_z(heading, course.qpos[:1, :3])[:, :2]
    )


def substeps_of(world: World) -> int:
    """Physics steps in a moment of the film."""
    return round(1.0 / (CONTROL_FPS * FILM_STEPS * world.dt_s))


def _repeated(frames: Frames) -> Frames:
    return Frames(*(np.repeat(values, FILM_STEPS, axis=0) for values in vars(frames).values()))


def _together(rows: list[SensorRows]) -> SensorRows:
    """Rows (1, K, ...) of moments as one."""
    return SensorRows(**{name: np.concatenate([getattr(one, name) for one in rows], axis=1) for name in vars(rows[0])})
