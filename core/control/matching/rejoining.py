# SPDX-License-Identifier: GPL-3.0-or-later
"""From lying on: motion matching on the simulated body finds a get-up, and goes on with what was told."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...body.poses import clip_of_pose
from ...geometry.quaternions import Array, slerp
from ...motion import Clip
from .directing import DirectedMotion, Directing
from .features import FPS
from .foot_locking import Flags, lock_feet_in_contact
from .getups import GetUpLibrary
from .guides import Guide
from .inertialisation import make_clip
from .matching import Frames, MotionMatching
from .wish import Wish

_LEAST_REACH_S, _REACH_M_S = 0.5, 0.2  # how long it takes from where it lies to where the get-up begins


@dataclass(frozen=True, eq=False)
class Rejoined:
    """A motion from lying on. motion: the first frame is as the body lies. contacts: (T, legs) which feet stand.

    stands: the frame in which it is up. clip: whose get-up it is. apart_m: how far links were from it.
    """

    motion: Clip
    contacts: Flags
    stands: int
    clip: str
    apart_m: float


class Rejoining:
    """Plans how a body that lies gets up and goes on. guide_of: who guides it from a frame on, in which it is
    at a place (2,)."""

    def __init__(self, directing: Directing, guide_of: Callable[[int, Array], Guide]) -> None:
        database = directing.database
        self._directing, self._guide_of = directing, guide_of
        self.get_ups = GetUpLibrary(database.body, database.library, database.grounded)

    def plan(self, qpos: Array, frame: int, frames: int) -> Rejoined | None:
        """A motion of so many frames from a pose (nq,) at a frame of the wish; None where no clip gets up."""
        if not self.get_ups:
            return None
        database, found = self._directing.database, self.get_ups.match(qpos)
        reach = round((_LEAST_REACH_S + found.apart_m / _REACH_M_S) * FPS)
        rising = np.arange(found.frame, found.stop + 1)
        heading = database.track.heading[rising] + found.yaw
        pos = self._place(found.place, found.yaw, rising)
        stands = reach + len(rising) - 1
        after = MotionMatching(
            database, self._guide_of(frame + stands, pos[-1]), rising[-1:], pos[-1:], heading[-1:], clock=frame + stands
        ).advance(max(frames - stands - 1, 1))
        own, later = (rising, pos, heading), (after.frame[0], after.pos[0], after.yaw[0])
        played, pos, heading = (
            np.concatenate([np.repeat(first[:1], reach, axis=0), first, then])
            for first, then in zip(own, later, strict=True)
        )
        contacts = self._directing.contacts[played] & ~database.grounded[played, None]
        motion = make_clip(database, played, pos, heading)
        motion = self._reach(lock_feet_in_contact(database.body, motion, contacts), qpos, reach)
        name = database.library.names[int(database.clip_of[found.frame])]
        stop = max(frames, 2)
        return Rejoined(motion.frames(0, stop), contacts[:stop], min(stands, stop - 1), name, found.apart_m)

    def _place(self, place: Array, yaw: float, rising: Frames) -> Array:
        """(K, 2) metres of the root track, so that the root link is at a place in the first frame."""
        database = self._directing.database
        root = database.body.skeleton.index(database.body.links[0].bone)
        first = database.library.motion.frames(int(rising[0]), int(rising[0]) + 1).world()[0][0, root, :2]
        away = (database.track.pos[rising] - first) @ np.array(
            [[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]]
        )
        return np.asarray(place + away)

    def _reach(self, motion: Clip, qpos: Array, reach: int) -> Clip:
        """The motion with its first frames led there from a pose (nq,), every bone by the shorter way."""
        lying = clip_of_pose(self._directing.database.body, motion.frames(0, 1), qpos[None], FPS)
        share = 0.5 - 0.5 * np.cos(np.pi * np.arange(reach) / reach)
        pos, quat = np.array(motion.local_pos), np.array(motion.local_quat_wxyz)
        pos[:reach] += (1.0 - share)[:, None, None] * (lying.local_pos[0] - pos[:reach])
        for frame in range(reach):
            quat[frame] = slerp(lying.local_quat_wxyz[0], quat[frame], np.full(len(quat[frame]), share[frame]))
        return replace(motion, local_pos=pos, local_quat_wxyz=quat)


def rejoin_wish(directing: Directing, wish: Wish, made: DirectedMotion) -> Rejoining:
    """How to go on with a wish that somebody has fallen from, where the motion that was made for it was to go."""

    def guide_of(frame: int, place: Array) -> Guide:
        guide = directing.make_guide(wish)
        guide.go_on_from(frame, place, made.played.pos[0])
        return guide

    return Rejoining(directing, guide_of)
