# SPDX-License-Identifier: GPL-3.0-or-later
"""Episodes to distil (section 6.1): what the exact answer plays when it is asked for this and that, one after another.

Each episode is planned, hurried to a random time within what the library itself takes, and its way is bent at random;
what it was asked for is then told as what it does, so that every example does exactly what it is told, in time.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....geometry.quaternions import Array
from ....motion import Clip
from ....motion.library import make_library
from ....motion.time_warp import warp_clip
from ...matching.directing import IDLE
from ...matching.features import FPS, track_root
from ...matching.foot_locking import lock_feet_in_contact
from ...matching.inertialisation import make_clip
from ...matching.matching import Complex, from_complex, to_complex
from ..critical_times import find_critical_times
from ..direction_tables import build_direction_table, find_steady_frames, plan_turn
from ..goals import Goal, deed_names, find_deed_frames, find_goal
from ..hurrying import HURRY, choose_length, most_frames, solve_hurry
from ..interludes import GOING
from ..planning import trace_table
from ..responding import Responding
from ..response_tables import STEP, STEPS
from ..root_paths import RootPath, bend_path, join_paths, play_frames
from ..transition_graph import Frames
from .controls import Controls, count_due, encode_controls
from .key_choice import begin_key_choice
from .state_layout import StudentLayout, encode_raw

LEAST_SHARE = 0.4
"""Of the time that the library takes from one deed to another: the least that is trained (section 7.2)."""

_STYLES, _LEAST_STYLE = 0.3, 60  # share of episodes that ask for a style where there are deeds; frames of a style
_EITHER_S, _TURN_S = (0.25, 2.4), (0.35, 1.2)  # response times besides those of pairs of deeds, and of turns
_STAYS = (20, 110)  # frames that a style goes on for
_FOLLOWS = (12, 70)  # that a deed is played out for, at most to its end
_BENDS, _SHARE = np.radians(40.0), 0.3  # by which ways are bent at random
_TURN_BENDS = 2.5, np.radians(100.0)
_TOLD_HEADING, _TOLD_PLACE = 0.5, 0.5  # shares of episodes in which a deed has a direction, and a place
_EACH = 2  # every second frame of 60


@dataclass(frozen=True, eq=False)
class Episodes:
    """One long sequence. states: (T, S) in metres and radians, at 30 frames a second. controls: (T, U).

    due: (T,) frames left until what is asked for is done, -1 after that. keys: (T,) the key pose, -1 for none.
    """

    states: Array
    controls: Array
    due: NDArray[np.int64]
    keys: NDArray[np.int64]
    asked: tuple["Ask", ...]


@dataclass(frozen=True)
class Ask:
    """Something asked for: in which frame of the sequence, the word, in what time, and the key pose, -1 for none."""

    at: int
    word: int
    left_s: float
    key: int


@dataclass(frozen=True)
class _Asked:
    """One episode: the word, the frame of the sequence it begins in and the one it is done in, and frames for that.

    asked: how many frames, at 60 a second, it is played in. told_heading, told_place: whether these are told.
    key: which of the key poses it is done in, -1 for a style.
    """

    word: int
    begin: int
    done: int
    asked: int
    told_heading: bool
    told_place: bool
    key: int


def list_words(responding: Responding) -> tuple[str, ...]:
    """What a student of a library can be told: its deeds, and to stand or go."""
    library = responding.library
    styles = [name for name in library.tag_names() if name in (*GOING, IDLE)]
    long_enough = [name for name in styles if library.find_frames(name).sum() >= _LEAST_STYLE]
    return (*deed_names(library), *long_enough)


class EpisodeMaker:
    """Makes sequences of episodes from a library made ready."""

    def __init__(self, responding: Responding, words: tuple[str, ...], layout: StudentLayout) -> None:
        self.responding, self.words, self.layout = responding, words, layout
        library, planner = responding.library, responding.planner
        self._goals = {name: find_goal(library, name) for name in words}
        self._deeds = [name for name in words if self._goals[name].is_deed]
        self._styles = [name for name in words if not self._goals[name].is_deed]
        self._critical = find_critical_times(responding) if self._deeds else {}
        going = [name for name in self._styles if name in GOING]
        steps = -(-most_frames(round(_TURN_S[1] * FPS), HURRY) // STEP)
        self._turns = {
            name: build_direction_table(planner, find_steady_frames(planner, library.find_frames(name)), steps)
            for name in (() if self._deeds else going)
        }
        self._active = np.zeros((len(planner.ends), len(layout.deeds)), dtype=bool)
        for column, name in enumerate(layout.deeds):
            self._active[find_deed_frames(library, name), column] = True
        keys = {frame for name in self._deeds for frame in self._goals[name].frames.tolist()}
        self._keys = np.array(sorted(keys), dtype=np.int64)
        targets = read_poses(responding, layout, self._keys)
        self.choice = begin_key_choice(targets, 3 * len(layout.joints) if self._deeds else 0)
        self._present = np.flatnonzero(planner.ends - np.arange(len(planner.ends)) > STEP)

    def make(self, seconds: float, rng: np.random.Generator) -> Episodes:
        """So many seconds of episodes, from a random frame on."""
        first = np.array([int(rng.choice(self._present))])
        parts = [RootPath(first, np.zeros(1, dtype=complex), rng.uniform(-np.pi, np.pi, 1))]
        asked: list[_Asked] = []
        length, before = 1, ""
        while length < seconds * FPS:
            found = self._ask(parts[-1], length, before, rng)
            if found is None:  # no way on from here within the horizon: the sequence ends
                break
            one, own, before = found
            asked.append(one)
            parts += own
            length += sum(map(len, own))
        return self._show(join_paths(parts), asked)

    def _ask(
        self, last: RootPath, length: int, before: str, rng: np.random.Generator
    ) -> tuple[_Asked, list[RootPath], str] | None:
        """One more episode after what was played: what is asked, and the paths to its moment and beyond."""
        frame = int(last.frame[-1])
        for _ in range(8):
            turns = bool(self._turns) and rng.uniform() < 0.8
            name, frames, asked, turn = self._choose_turn(frame, rng) if turns else self._choose(frame, before, rng)
            if len(frames):
                break
        else:
            return None
        goal, roots = self._goals[name], self.responding.planner.roots
        path = play_frames(roots, frames, last)
        faced = float(last.yaw[-1]) + turn if np.isfinite(turn) else float(path.yaw[-1] + rng.uniform(-1, 1) * _BENDS)
        bends = _TURN_BENDS if np.isfinite(turn) else (_BENDS, _BENDS)
        way = float(np.abs(np.diff(path.pos)).sum()) if len(path) > 1 else 0.0
        aside = None if turns else complex(path.pos[-1]) + _SHARE * way * complex(*rng.uniform(-0.7, 0.7, 2))
        path = bend_path(last, path, aside, faced, _SHARE, *bends)
        stays = self._count_stay(goal, int(frames[-1]), rng)
        after = play_frames(roots, int(frames[-1]) + 1 + np.arange(stays), path)
        told = rng.uniform(size=2) < ((_TOLD_HEADING, _TOLD_PLACE) if goal.is_deed else (0.85, 0.0))
        one = _Asked(
            self.words.index(name),
            length - 1,
            length - 1 + len(path),
            asked,
            bool(told[0]),
            bool(told[1]),
            self._find_key(goal, int(frames[-1])),
        )
        return one, [path, *([after] if stays else [])], name if goal.is_deed else ""

    def _choose(self, frame: int, before: str, rng: np.random.Generator) -> tuple[str, Frames, int, float]:
        """A deed or a style, the frames that lead to it, and in how many it is to be done."""
        names = self._styles if not self._deeds or (self._styles and rng.uniform() < _STYLES) else self._deeds
        name = str(rng.choice(names))
        goal, planner = self._goals[name], self.responding.planner
        critical = self._critical.get((before, name))
        share = rng.uniform(LEAST_SHARE, 1.0)
        tau_s = share * critical if critical and rng.uniform() < 0.6 else float(rng.uniform(*_EITHER_S))
        most = max(int(tau_s * FPS), 2 * _EACH)
        table = self.responding.table(goal)
        length = choose_length(table, planner.ends, frame, most, HURRY)
        if length is None:
            return name, np.zeros(0, dtype=np.int64), 0, np.nan
        return name, trace_table(table, frame, length).frames, min(length, most), np.nan

    def _choose_turn(self, frame: int, rng: np.random.Generator) -> tuple[str, Frames, int, float]:
        """A change of direction in a style that goes somewhere."""
        name = str(rng.choice(sorted(self._turns)))
        turn, most = float(rng.uniform(-np.pi, np.pi)), int(rng.uniform(*_TURN_S) * FPS)
        length = int(rng.uniform(most, min(most_frames(most, HURRY), STEP * STEPS)))
        plan = plan_turn(self.responding.planner, self._turns[name], frame, turn, length)
        if plan is None:
            return name, np.zeros(0, dtype=np.int64), 0, turn
        return name, plan.frames, min(length, most), turn

    def _find_key(self, goal: Goal, frame: int) -> int:
        """Which key pose a frame of the library is."""
        return int(np.searchsorted(self._keys, frame)) if goal.is_deed else -1

    def _count_stay(self, goal: Goal, key: int, rng: np.random.Generator) -> int:
        """Frames that are played on after a goal."""
        room = int(self.responding.planner.ends[key]) - key
        if not goal.is_deed:
            return min(int(rng.integers(*_STAYS)), room)
        follow = int(goal.follow[int(np.searchsorted(goal.frames, key))])
        return min(int(rng.integers(*_FOLLOWS)), follow, room)

    def _show(self, path: RootPath, asked: list[_Asked]) -> Episodes:
        """The sequence played, each episode in its time, and what it was told."""
        responding, body = self.responding, self.responding.body
        clip = make_clip(responding.database, path.frame, from_complex(path.pos), path.yaw, "episodes")
        clip = lock_feet_in_contact(body, clip, responding.contacts[path.frame])
        moments, now_s, last = {}, 0.0, 0
        for one in asked:
            now_s += (one.begin - last) / FPS
            moments[one.begin] = now_s
            now_s += one.asked / FPS
            moments[one.done], last = now_s, one.done
        moments.pop(0, None)
        places = solve_hurry(len(clip), moments, HURRY, [one.done for one in asked])
        clip = warp_clip(clip, places / FPS)
        nearest = path.frame[np.clip(np.rint(places).astype(int), 0, len(path) - 1)]
        track = track_root(body, make_library([clip]), clip.world())
        pos, yaw = to_complex(np.asarray(track.pos))[::_EACH], np.asarray(track.heading)[::_EACH]
        part = slice(None, None, _EACH)
        motion = type(clip)(clip.skeleton, FPS / _EACH, clip.local_pos[part], clip.local_quat_wxyz[part], clip.name)
        steps = find_steps(pos, yaw)
        flags, active = responding.contacts[nearest[part]], self._active[nearest[part]]
        states = encode_raw(self.layout, motion, (pos, yaw), steps, flags, active)
        return Episodes(states, *self._tell(asked, moments, pos, yaw))

    def _tell(
        self, asked: list[_Asked], moments: dict[int, float], pos: Complex, yaw: Array
    ) -> tuple[Array, NDArray[np.int64], NDArray[np.int64], tuple[Ask, ...]]:
        """(T, U) what each step is told: from where the frame before was, how long it is until its episode is done.

        And (T,) what is due when, (T,) which key pose it comes to, and what was asked for, in the order of time.
        """
        count = len(pos)
        time_s = np.arange(count) * _EACH / FPS
        told = Controls(
            np.full(count, asked[0].word if asked else 0),
            np.zeros(count),
            np.full(count, np.nan),
            np.full(count, np.nan + 0j),
        )
        keys, asks = np.full(count, -1, dtype=np.int64), []
        for one in asked:
            begin_s, done_s = moments.get(one.begin, 0.0), moments[one.done]
            own = time_s > begin_s + 1e-9  # later ones write over what is theirs
            at = min(round(done_s * FPS / _EACH), count - 1)
            told.action[own] = one.word
            keys[own] = one.key
            begin = int(own.argmax()) - 1
            if own.any() and begin >= 0:
                asks.append(Ask(begin, one.word, float(max(done_s - time_s[begin + 1], 0.0)), one.key))
            told.left_s[own] = np.maximum(done_s - time_s[own], 0.0)
            goes = own & (time_s <= done_s + 0.5 * _EACH / FPS)
            told.heading[own], told.place[own] = np.nan, np.nan
            keeps = own if self.words[one.word] in self._styles else goes
            if one.told_heading:
                told.heading[keeps] = yaw[at]
            if one.told_place:
                told.place[goes] = pos[at]
        before = np.maximum(np.arange(count) - 1, 0)
        controls = encode_controls(len(self.words), told, pos[before], yaw[before], self.choice.tell(keys))
        due = count_due(told.left_s, np.concatenate([[0.0], told.left_s[:-1]]))
        return np.asarray(controls, dtype=float), due, keys, tuple(asks)


def read_poses(responding: Responding, layout: StudentLayout, frames: Frames) -> Array:
    """(N, P) places and rotations of frames of the library, as raw states have them."""
    database, motion = responding.database, responding.library.motion
    if not len(frames):
        return np.zeros((0, layout.turns.stop - layout.places.start))
    clip = Clip(motion.skeleton, FPS, motion.local_pos[frames], motion.local_quat_wxyz[frames], "places")
    track = to_complex(np.asarray(database.track.pos))[frames], np.asarray(database.track.heading)[frames]
    none = np.zeros((len(frames), 3)), np.zeros((len(frames), layout.feet)), np.zeros((len(frames), len(layout.deeds)))
    return encode_raw(layout, clip, track, *none)[:, layout.places.start : layout.turns.stop]


def find_steps(pos: Complex, yaw: Array) -> Array:
    """(T, 3) the root's step to each frame, as seen from the frame before, in metres and radians."""
    way = np.diff(pos) * np.exp(-1j * yaw[:-1])
    steps = np.stack([way.real, way.imag, np.diff(yaw)], axis=-1)
    return np.concatenate([steps[:1], steps]) if len(steps) else np.zeros((1, 3))


def make_episodes(
    maker: EpisodeMaker, count: int, seconds: float, rng: np.random.Generator, progress: Callable[[int], None]
) -> list[Episodes]:
    """So many sequences; those that end at once are left out."""
    found = []
    for number in range(count):
        one = maker.make(seconds, rng)
        if len(one.states) > 2 * FPS / _EACH:
            found.append(one)
        progress(number + 1)
    return found
