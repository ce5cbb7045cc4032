# SPDX-License-Identifier: GPL-3.0-or-later
"""A trained library that is live: motion matching plays what is wished, a little ahead of the body that follows it.

The policy looks four tenths of a second ahead, and so the played motion is that much ahead of what is shown. Every
third of a second what was played last and what comes is made into a stream anew.
"""

import copy
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...body import BodyModel
from ...body.poses import link_transforms
from ...errors import NotLearned
from ...geometry.quaternions import Array
from ...motion import Clip
from ..live_character import (
    HELP_FRAMES,
    LiveCast,
    SensedBody,
    Steering,
    WantedPose,
    fade_help,
    place_learned_cast,
    skills_of,
)
from ..matching.directing import IDLE, Directing
from ..matching.foot_locking import lock_feet_in_contact
from ..matching.guides import StickGuide
from ..matching.inertialisation import make_clip
from ..matching.matching import SEARCH_FRAMES, Frames, MotionMatching
from ..method import Run
from ..tracking.facing import twist_angle, upright_rotation
from ..tracking_policy.drawing import draw_along
from ..tracking_policy.environment import find_acting, servo_targets
from ..tracking_policy.learned_file import DIRECTED, TrainedDirector, director_from_content
from ..tracking_policy.observations import StreamFeatures, TrackingState
from ..tracking_policy.reference_streams import CONTROL_FRAMES, ReferenceStreams, make_streams

PlayedRow = tuple[Frames, Array, Array]

_AHEAD, _BEHIND = 24 + CONTROL_FRAMES, 40  # frames that a stream has of what comes, and of what was
_APART = 4  # frames from one character's new stream to the next one's
_LEAST_M_S = 0.1
_LOW, _LOST_FRAMES = 0.5, 60  # of the height of the root that it should have, for so long


@dataclass(frozen=True, eq=False)
class DirectedMoment:
    """Where a directed character is: frame of the session's own count, and of what was played all that may come again.

    matching: never advanced, only copies of it are. played: (T,) frames of the library with roots (T, 2) and (T,), the
    first of which is frame ``first``. offsets: (1, A) of the policy; targets: (CONTROL_FRAMES, nu). drawn: (1, 2)
    metres that the stream has been drawn along by the body. low: frames for which it was too low. help: frames for
    which it is helped up yet.
    """

    frame: int
    matching: MotionMatching
    first: int
    played: PlayedRow
    stream: "_Stream"
    offsets: Array
    targets: Array
    drawn: Array
    low: int = 0
    help: int = 0


@dataclass(frozen=True, eq=False)
class _Stream:
    """A stretch of F frames of what was played, as the policy follows it, from frame ``first`` on.

    link_quat_wxyz: (F, L, 4) in the world.
    """

    first: int
    motion: Clip
    streams: ReferenceStreams
    features: StreamFeatures
    link_quat_wxyz: Array


def open_directed(clip: Clip, settings: Any, run: Run, opened: ExitStack) -> LiveCast:
    """Everybody with the job's trained library, each standing where its clip begins."""
    attached = run.attachment(DIRECTED.attachment)
    if attached is None:
        raise NotLearned("The job has no library", "Choose a trained library")
    director = director_from_content(*attached, "The library")
    if not isinstance(director, TrainedDirector):
        raise NotLearned("The library is not trained", "Train it first: sinew direct train")
    body = director.stored.body
    stage, clips = place_learned_cast(body, clip, run)
    directing = Directing(body, director.library)
    characters = tuple(
        DirectedCharacter(director, directing, *_place_of(body, one), number) for number, one in enumerate(clips)
    )
    return LiveCast(stage, characters, clips)


def _place_of(body: BodyModel, clip: Clip) -> tuple[Array, float]:
    """Where a clip begins: metres in the plane (2,), and radians about Z that it faces."""
    pos, quat = clip.frames(0, 1).world()
    root = clip.skeleton.index(body.links[0].bone)
    return pos[0, root, :2], float(twist_angle(quat[0, root], upright_rotation(body)))


class DirectedCharacter:
    """A ``LiveCharacter`` that goes where it is steered. It begins at a place (2,), facing ``heading``.

    number: of how many are live; a stream takes a frame's time to make, so that no two are made in the same frame.
    """

    is_over, steered, own_strength = False, True, 1.0

    def __init__(
        self,
        director: TrainedDirector,
        directing: Directing,
        place: Array | None = None,
        heading: float = 0.0,
        number: int = 0,
    ) -> None:
        self._first_ahead = _APART * number % (2 * SEARCH_FRAMES)
        self.body = director.stored.body
        self._controller = director.controller
        self._directing = directing
        self.styles = skills_of(directing.database.library.tag_names())
        self._acting = find_acting(self.body, self._controller.all_joints)
        self._begun = self._begin(np.zeros(2) if place is None else place, heading)
        self.moment = self._begun

    def begin_anew(self) -> None:
        """Stand at the beginning, or whatever the library has that comes nearest."""
        self.moment = self._begun

    def _begin(self, place: Array, heading: float) -> DirectedMoment:
        database = self._directing.database
        styles = (IDLE,) if IDLE in database.library.tag_names() else ()
        first = int(database.candidates(styles).frames[0])
        guide = StickGuide(np.zeros((1, 2)), np.array([heading]), np.zeros(1), [styles])
        matching = MotionMatching(database, guide, np.array([first]), place[None], np.array([heading]))
        nothing = (np.zeros(0, dtype=np.int64), np.zeros((0, 2)), np.zeros(0))
        offsets = self._controller.first_offsets(self.body, 1)
        targets = np.zeros((CONTROL_FRAMES, self.body.nu))
        return self._play_on(0, matching, 0, nothing, offsets, targets, np.zeros((1, 2)))

    def _play_on(
        self,
        frame: int,
        matching: MotionMatching,
        first: int,
        played: PlayedRow,
        offsets: Array,
        targets: Array,
        drawn: Array,
    ) -> DirectedMoment:
        """A moment with enough of what comes. matching: one that may be advanced."""
        lacking = frame + _AHEAD + SEARCH_FRAMES - (first + len(played[0]))
        count = -(-lacking // SEARCH_FRAMES) * SEARCH_FRAMES + (0 if len(played[0]) else self._first_ahead)
        new = matching.advance(count)
        got = (new.frame[0], new.pos[0], new.yaw[0])
        joined = [np.concatenate(parts) for parts in zip(played, got, strict=True)]
        cut = max(0, frame - _BEHIND - first)
        kept = (joined[0][cut:], joined[1][cut:], joined[2][cut:])
        first += cut
        motion = make_clip(self._directing.database, *kept, name="Live")
        contacts = self._directing.contacts[kept[0]]
        motion = lock_feet_in_contact(self.body, motion, contacts)
        streams = make_streams(self.body, [motion], [contacts])
        _, turned = link_transforms(self.body, streams.qpos.astype(float))
        stream = _Stream(first, motion, streams, StreamFeatures(streams, self._acting), turned)
        return DirectedMoment(frame, matching, first, kept, stream, offsets, targets, drawn)

    def first_pose(self) -> tuple[Array, Array]:
        """(nq,) and (nv,) at the beginning."""
        streams = self._begun.stream.streams
        return streams.qpos[0].astype(float), streams.qvel[0].astype(float)

    def steer(self, steering: Steering) -> None:
        """Go with another velocity, facing where it goes; from the next search on."""
        now = self.moment
        matching = _copy_matching(now.matching)
        guide, velocity = matching.guide, np.array(steering.velocity)
        assert isinstance(guide, StickGuide)
        goes = steering.speed_m_s > _LEAST_M_S
        guide.velocity = velocity[None] if goes else np.zeros((1, 2))
        if goes:
            guide.heading = np.array([np.arctan2(velocity[1], velocity[0])])
        standing = () if goes or IDLE not in self.styles else (IDLE,)
        guide.style = [(steering.style,) if steering.style in self.styles else standing]
        self.moment = replace(now, matching=matching)

    @property
    def is_lost(self) -> bool:
        """Whether it has fallen, and lets go."""
        return self.moment.low >= _LOST_FRAMES and not self.moment.help

    @property
    def helped(self) -> float:
        """Whether it is helped up."""
        return fade_help(self.moment.help)

    def come_back(self, sensed: SensedBody) -> None:
        """It has its strength again; who lies is helped up to what is played."""
        now = self.moment
        self.moment = replace(now, low=0, help=HELP_FRAMES if now.low else 0)

    def choose_targets(self, sensed: SensedBody) -> Array:
        """(nu,) servo targets for the next control step; the policy acts every other one."""
        now = self.moment
        step = now.frame % CONTROL_FRAMES
        if step == 0:
            if now.frame + _AHEAD > now.first + len(now.played[0]):
                matching = _copy_matching(now.matching)
                going = now.offsets, now.targets, now.drawn
                fresh = self._play_on(now.frame, matching, now.first, now.played, *going)
                now = replace(fresh, low=now.low, help=now.help)
            stream, at = now.stream, np.array([now.frame - now.stream.first])
            state = TrackingState(
                stream.streams,
                stream.features,
                at,
                np.array(sensed.qpos[None]),
                sensed.qvel[None],
                np.array(sensed.link_pos[None]),
                np.array(sensed.rows.com[:, -1, 0]),
                sensed.rows.com_velocity[:, -1, 0],
            )
            state.move(-now.drawn)
            moves = draw_along(state, now.drawn)
            state.move(-moves)
            offsets = self._controller.act(state, now.offsets)
            targets = servo_targets(stream.streams, at, offsets, self._acting)[0]
            now = self.moment = replace(now, offsets=offsets, targets=targets, drawn=now.drawn + moves)
        return np.asarray(now.targets[step])

    def pass_step(self, sensed: SensedBody) -> None:
        """A control step has led to this."""
        now = self.moment
        at = now.frame + 1 - now.stream.first
        is_low = float(sensed.qpos[2]) < _LOW * float(now.stream.streams.qpos[at, 2])
        low, left = now.low + 1 if is_low else 0, max(now.help - 1, 0)
        self.moment = replace(now, frame=now.frame + 1, low=low, help=left)

    def wanted(self) -> WantedPose:
        """Where what is played has it."""
        now = self.moment
        at, streams = now.frame - now.stream.first, now.stream.streams
        drawn = np.append(now.drawn[0], 0.0)
        local_pos = np.array(now.stream.motion.local_pos[at])
        local_pos[now.stream.motion.skeleton.parents < 0] += drawn
        return WantedPose(
            streams.link_pos[at].astype(float) + drawn,
            now.stream.link_quat_wxyz[at],
            streams.com[at].astype(float) + drawn,
            local_pos,
            now.stream.motion.local_quat_wxyz[at],
        )


def _copy_matching(matching: MotionMatching) -> MotionMatching:
    """One that goes on by itself, with a guide of its own; the database is the same."""
    found = copy.copy(matching)
    for name, value in vars(matching).items():
        if isinstance(value, np.ndarray):
            setattr(found, name, value.copy())
    found.guide = copy.copy(matching.guide)
    return found
