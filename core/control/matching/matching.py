# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion matching for N characters at once: which frame of the library each plays, and where that takes it.

Between two searches clips are played as they are, so all frames up to the next search are computed together. The pose
is not needed for that and is made afterwards, for all frames at once (``inertialisation``): what is compared of it are
the features of the frame that plays.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from .database import MatchingDatabase
from .features import AHEAD, FEATURES, FPS, PATH
from .guides import Guide, RootState
from .springs import damping_of, fade, fade_integral

SEARCH_FRAMES = 10
"""Frames from one search to the next."""
_NEIGHBOURS = 8  # frames of the same clip that are no transition worth its blend
_BETTER = 0.8  # a transition must be nearer by so much than going on, unless the wish has changed
# Squared distance of pose features from which on a transition is put off, and how soon twice that is near enough.
_NEAR_POSE, _DOUBLES_S = 2.0, 0.25
BRAKING, BRAKING_ON_A_PATH = 0.85, 1.0
"""Of how far the clip goes in a second: who is to come less far brakes. On a path that is a corner, or its end."""
_WAIT_FRAMES = 5  # from one search to the next where one is put off
_LEAST_GAIN = 0.03  # by which a squared distance must be less in any case: who stands needs no other stillness
_ROOT_HALF_LIFE_S = 0.15
_STEER_S = AHEAD[0] / FPS
_STEERED_S = float(fade_integral(damping_of(_ROOT_HALF_LIFE_S), np.array(_STEER_S)))
_STEER_TURN = 2.0  # rad/s that the root may be turned by, for each of steering and m/s
_FULL_SPEED_M_S = 1.0
_LEAST_STEERED_M_S = 0.2  # who stands is moved as who goes so fast: by as much as standing drifts

_FRAMES = np.arange(SEARCH_FRAMES + 1)
_SECONDS = _FRAMES / FPS

Frames = NDArray[np.int64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Played:
    """What N characters played in T frames: ``frame`` (N, T) of the library, root ``pos`` (N, T, 2) and ``yaw``."""

    frame: Frames
    pos: Array
    yaw: Array


class MotionMatching:
    """N characters that play a library as a guide tells them.

    steering: how much of its speed a root may be moved and turned by so that it goes where it is wished, where no clip
    does that exactly. clock: the guide's frame in which they begin. puts_off: whether a transition from too far a pose
    waits for a nearer one; who is to be somewhere by a frame has no time for that. braking: who does not wait, either.
    """

    def __init__(
        self,
        database: MatchingDatabase,
        guide: Guide,
        frame: Frames,
        pos: Array,
        yaw: Array,
        steering: float = 0.1,
        clock: int = 0,
        puts_off: bool = True,
        braking: float = BRAKING,
    ) -> None:
        self.database, self.guide, self.steering, self._puts_off = database, guide, steering, puts_off
        self._braking = braking
        self.frame = np.array(frame, dtype=np.int64)
        self.yaw = np.array(yaw, dtype=float)
        count = len(self.frame)
        self.searches = self.transitions = 0
        self._clock = self._due = clock
        # Places and velocities on the ground are complex numbers in here, which turn by a product.
        self._pos = to_complex(pos)
        self._waits_since = np.full(count, -1, dtype=np.int64)  # frame in which a transition was first put off
        self._again = 0
        self._late, self._late_turn = np.zeros(count, dtype=complex), np.zeros(count)  # left of the last transition's
        self._age_s = np.zeros(count)
        self._holds = np.zeros(count, dtype=bool)
        self._push, self._twist = np.zeros(count, dtype=complex), np.zeros(count)
        self._vel, self._ahead = to_complex(database.track.vel), to_complex(database.raw_trajectory.reshape(-1, 6, 2))
        self._damping = damping_of(_ROOT_HALF_LIFE_S)

    @property
    def pos(self) -> Array:
        """(N, 2) metres."""
        return from_complex(self._pos)

    def state(self) -> RootState:
        """Where everybody is, and how fast their clips go: steering is no velocity to go on from."""
        vel = np.where(self._holds, 0.0, np.exp(1j * self.yaw) * self._vel[self.frame])
        return RootState(self.pos, self.yaw, from_complex(vel + self._late * fade(self._damping, self._age_s)))

    def advance(self, frames: int) -> Played:
        """Play so many frames, with a search when one is due."""
        count = len(self.frame)
        played = Played(
            np.empty((count, frames), dtype=np.int64), np.empty((count, frames, 2)), np.empty((count, frames))
        )
        done = 0
        while done < frames:
            changed = self.guide.has_changed(self._clock)
            if self._clock >= self._due:
                self._search(np.ones(count, dtype=bool), np.where(changed, 1.0, _BETTER))
                self._due = self._clock + SEARCH_FRAMES
            elif changed.any():
                self._search(changed, np.ones(count))
            elif self._clock >= self._again:
                self._search(self._waits_since >= 0, np.full(count, _BETTER))
            self._again = self._clock + _WAIT_FRAMES if (self._waits_since >= 0).any() else self._due
            until = min(self._due, self._again, self.guide.next_change(self._clock))
            stop = min(done + until - self._clock, frames)
            self._play(played, done, stop)
            done = stop
        return played

    def _search(self, who: NDArray[np.bool_], better: Array) -> None:
        """Look for a better frame for each of those, and go over to it. better: (N,) how much nearer it must be."""
        database, state = self.database, self.state()
        places, facing = self.guide.predict(self._clock, state)
        query = self._query(state, places, facing)
        names = self.guide.styles(self._clock)
        stays = self._keep_still(state, names, who)
        now = database.features[self.frame]
        ahead = query - now
        going_on = better * np.einsum("nd,nd->n", ahead, ahead) - _LEAST_GAIN
        room = database.ends[self.frame] - self.frame
        if len(self.frame) == 1:
            target = [-1 if stays[0] else self._find(0, query[0], names[0], float(going_on[0]), int(room[0]))]
        else:
            target = self._find_all(query, names, going_on, room, who & ~stays)
        for index, found in enumerate(target):
            if who[index] and not self._is_put_off(index, found, query[index], int(room[index])):
                self._go_over(index, found, state)
        self.searches += int(who.sum())
        self._steer(state, places, facing, who)

    def _is_put_off(self, index: int, found: int, query: NDArray[np.float32], room: int) -> bool:
        """Whether to go on for now: there is nothing to go over to, or only from too far a pose.

        Two clips come near each other once a step, mostly. The longer one has waited, the further may they be apart.
        Who is to brake does not wait: that would be beyond where it was to stop, or to turn.
        """
        database, now = self.database, int(self.frame[index])
        may_wait = self._puts_off and room > SEARCH_FRAMES + _WAIT_FRAMES
        if found >= 0 and may_wait and not self._brakes(query, now):
            apart = query[: PATH.start] - database.features[found, : PATH.start]  # the query has the present pose
            since = int(self._waits_since[index])
            waited_s = 0.0 if since < 0 else (self._clock - since) / FPS
            if float(apart @ apart) > _NEAR_POSE * 2.0 ** (waited_s / _DOUBLES_S):
                self._waits_since[index] = self._clock if since < 0 else since
                return True
        self._waits_since[index] = -1
        return found < 0

    def _brakes(self, query: NDArray[np.float32], now: int) -> bool:
        """Whether a second of what is wished is shorter than a second of the clip that plays."""
        database, far = self.database, slice(PATH.stop - 2, PATH.stop)
        wished = query[far] / np.maximum(database.scale[far], 1e-9) + database.mean[far]
        goes = database.raw_trajectory[now, 4:6]
        return bool(np.hypot(*wished) < self._braking * np.hypot(*goes))

    def _keep_still(self, state: RootState, names: list[tuple[str, ...]], who: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(N,) who stands as wished in a clip of standing. Its last still frame is held: clips of it are short."""
        database, now = self.database, self.frame
        stays = self.guide.may_hold(state) & database.calm[now]
        holds = stays & ~database.stays_calm[now]
        for index in np.flatnonzero(stays):
            has = database.candidates(names[index]).has
            stays[index] = has[now[index]]
            holds[index] |= not has[min(now[index] + SEARCH_FRAMES, len(has) - 1)]
        self._holds = np.where(who, holds & stays, self._holds)
        return stays

    def _query(self, state: RootState, places: Array, facing: Array) -> NDArray[np.float32]:
        """(N, 27) normalised: the playing frame's pose, and the wished trajectory in each root's frame."""
        database, ahead = self.database, slice(PATH.start, FEATURES)
        local = np.empty((len(places), 6), dtype=complex)
        local[:, :3], local[:, 3:] = to_complex(places) - self._pos[:, None], to_complex(facing)
        local *= np.exp(-1j * state.yaw)[:, None]
        query = database.features[self.frame]
        query[:, ahead] = (from_complex(local).reshape(-1, 12) - database.mean[ahead]) * database.scale[ahead]
        return query

    def _find(self, index: int, query: NDArray[np.float32], names: tuple[str, ...], going_on: float, room: int) -> int:
        """The frame to go over to; -1 to go on."""
        database = self.database
        candidates, now = database.candidates(names), int(self.frame[index])
        may_go_on = room > SEARCH_FRAMES and bool(candidates.has[now])
        if may_go_on and going_on <= 0.0:
            return -1
        place, _ = candidates.search.find_nearest(query, going_on if may_go_on else np.inf)
        if place < 0:
            return -1
        return self._unless_here(int(candidates.frames[place]), now, may_go_on)

    def _unless_here(self, found: int, now: int, may_go_on: bool) -> int:
        near = self.database.clip_of[found] == self.database.clip_of[now] and abs(found - now) <= _NEIGHBOURS
        return -1 if may_go_on and near else found

    def _find_all(
        self,
        query: NDArray[np.float32],
        names: list[tuple[str, ...]],
        going_on: Array,
        room: Frames,
        who: NDArray[np.bool_],
    ) -> list[int]:
        """The same for N characters: one product for all of a style."""
        target = [-1] * len(names)
        for style in dict.fromkeys(names):
            asking = [index for index, name in enumerate(names) if name == style and who[index]]
            if not asking:
                continue
            candidates = self.database.candidates(style)
            places, distances = candidates.search.find_all_nearest(query[asking])
            for index, place, distance in zip(asking, places, distances, strict=True):
                now = int(self.frame[index])
                may_go_on = room[index] > SEARCH_FRAMES and bool(candidates.has[now])
                if not may_go_on or distance < going_on[index]:
                    target[index] = self._unless_here(int(candidates.frames[place]), now, bool(may_go_on))
        return target

    def _go_over(self, index: int, found: int, state: RootState) -> None:
        """Play another frame from now on; the velocity that it had fades into that of the new frame."""
        turn, left = self.database.track.turn, float(fade(self._damping, self._age_s[index]))
        was = complex(*state.vel[index])
        self._late[index] = was - np.exp(1j * self.yaw[index]) * self._vel[found]
        self._late_turn[index] = turn[self.frame[index]] + self._late_turn[index] * left - turn[found]
        self._age_s[index] = 0.0
        self.frame[index] = found
        self.transitions += 1

    def _steer(self, state: RootState, places: Array, facing: Array, who: NDArray[np.bool_]) -> None:
        """How the clips that those play are bent so that they come to what is wished 20 frames ahead."""
        own, heading = self._ahead[self.frame], np.exp(1j * self.yaw)
        missing = to_complex(places[:, 0]) - self._pos - heading * own[:, 0] - self._late * _STEERED_S
        speed = np.abs(to_complex(state.vel))
        most = self.steering * np.maximum(speed, _LEAST_STEERED_M_S) * _STEER_S
        push = missing * (np.minimum(1.0, most / (np.abs(missing) + 1e-9)) / _STEER_S)
        turn = np.angle(to_complex(facing[:, 0]) * (heading * own[:, 3]).conj()) / _STEER_S
        most = _STEER_TURN * self.steering * np.minimum(speed / _FULL_SPEED_M_S, 1.0)
        self._push = np.where(who, push, self._push)
        self._twist = np.where(who, np.minimum(np.maximum(turn, -most), most), self._twist)

    def _play(self, played: Played, first: int, stop: int) -> None:
        """Play frames ``first`` to ``stop`` of what is asked for, all at once."""
        track, count = self.database.track, stop - first
        frames, t_s = _FRAMES[: count + 1], _SECONDS[: count + 1]
        index = self.frame[:, None] + frames * ~self._holds[:, None]
        np.minimum(index, self.database.ends[self.frame][:, None], out=index)
        faded_s = fade_integral(self._damping, self._age_s[:, None] + t_s)
        faded_s -= faded_s[:, :1]
        heading = track.heading[index]
        yaw = heading + (self.yaw - heading[:, 0])[:, None]
        yaw += self._late_turn[:, None] * faded_s + self._twist[:, None] * t_s
        step = np.exp(1j * yaw[:, :-1]) * self._vel[index[:, :-1]] * ((index[:, 1:] > index[:, :-1]) / FPS)
        way = np.cumsum(step, axis=1) + self._late[:, None] * faded_s[:, 1:] + self._push[:, None] * t_s[1:]
        way += self._pos[:, None]
        played.frame[:, first:stop], played.yaw[:, first:stop] = index[:, 1:], yaw[:, 1:]
        played.pos[:, first:stop] = from_complex(way)
        self.frame, self._pos, self.yaw = index[:, -1].copy(), way[:, -1].copy(), yaw[:, -1].copy()
        self._age_s += count / FPS
        self._clock += count


def to_complex(vectors: Array) -> Complex:
    """(...) complex numbers of vectors (..., 2)."""
    found: Complex = np.ascontiguousarray(vectors, dtype=float).view(np.complex128)[..., 0]
    return found


def from_complex(numbers: Complex) -> Array:
    """(..., 2) vectors of complex numbers (...)."""
    found: Array = np.ascontiguousarray(numbers)[..., None].view(np.float64)
    return found
