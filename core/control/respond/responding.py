# SPDX-License-Identifier: GPL-3.0-or-later
"""From a library and cues to a motion, without physics.

Up to a cue the character goes where the next place is, or waits, by motion matching; the last one to two and a half
seconds are planned, from that moment on from which it costs least.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...body import BodyModel
from ...errors import BadSettings
from ...motion import Clip
from ...motion.library import Library
from ...sim.stage_parts import Finding
from ..editing.constraints import FrameNumbers
from ..editing.limb_reaching import Limb
from ..matching.database import MatchingDatabase, MatchingWeights
from ..matching.features import FPS
from ..matching.foot_locking import lock_feet_in_contact, read_contacts
from ..matching.inertialisation import make_clip
from ..matching.matching import from_complex
from .cues import Cue, CueSheet
from .goals import Goal, find_goal, require_key_moment
from .hitting import HittingLimbs, find_hitting_limbs
from .hurrying import HURRY, find_costs, most_frames, price_hurry
from .interludes import Interludes
from .planning import PlanningData, Wanted, plan_response
from .pose_features import compute_pose_features
from .reaching import Reaim, WantedMoment, make_reaim, reach_moments
from .response_tables import HORIZON_S, STEP, STEPS, ResponseTable, Roots, build_table, count_to_keys
from .root_paths import RootPath, bend_path, join_paths, play_frames
from .transition_graph import Frames, build_graph

_SHORTEST, _LONGEST = 5 * STEP, 18 * STEP  # frames that are planned, where there is time for more
_TRIED = 3  # moments to begin a plan at, of which the best is kept
_LEAST_FOLLOW, _STYLE_FOLLOW = 12, 30  # frames that are played out after a key moment, and after a style's
_TAIL = 60  # frames of standing after the last cue
_KEY_S = 0.2  # on either side of a key moment, which editing bends least
_GLIDES_M_S = 0.8  # that the root goes besides its own steps: more shows
_TOO_FAST = 1.3  # times the fastest that there is in the library
_ON_THE_WAY = 0.1  # what a squared metre from the way to the next place costs
_NEAR_M = 0.5  # that a deed's own steps may make up for


@dataclass(frozen=True, eq=False)
class ResponseMotion:
    """What was made. motion: at 60 frames a second, feet locked. path: which frames of the library, and where.

    keys: for each cue the frame of the library that is its goal. costs: m² of the transitions to it.
    limbs: for each cue that hits what it does that with. sheet: the cues, where some were put off. reaim: makes the
    motion with places and targets moved by (3,) metres, one for each cue.
    """

    motion: Clip
    path: RootPath
    keys: tuple[int, ...]
    costs: tuple[float, ...]
    limbs: tuple[Limb | None, ...]
    findings: tuple[Finding, ...] = ()
    sheet: CueSheet | None = None
    reaim: Reaim | None = None


class Responding:
    """A library made ready to respond, on one body. most_m: the largest transition, in metres of pose and velocity.

    build: the body that a motion will have, if it is built of that motion.
    """

    def __init__(
        self,
        body: BodyModel,
        library: Library,
        weights: MatchingWeights | None = None,
        build: Callable[[Clip], BodyModel] | None = None,
        most_m: float = 0.3,
    ) -> None:
        self.body, self.library = body, library
        self._build = build or (lambda _: body)
        self.database = MatchingDatabase(body, library, weights)
        self.contacts = read_contacts(body, library)
        features = compute_pose_features(body, library, self.database.track)
        graph = build_graph(library, features, self.database.track.heading)
        roots = Roots(self.database.track)
        self.planner = PlanningData(features, graph, roots, count_to_keys(library), self.database.ends, most_m**2)
        self._tables: dict[str, ResponseTable] = {}
        self._hitting: dict[str, HittingLimbs] = {}
        self.fastest_m_s = float(np.percentile(np.abs(roots.vel), 99.5))

    def table(self, goal: Goal) -> ResponseTable:
        """D and T of a goal, made once."""
        if goal.name not in self._tables:
            planner = self.planner
            self._tables[goal.name] = build_table(
                self.library,
                planner.features,
                planner.graph,
                planner.roots,
                goal.frames,
                most_m2=planner.most_m2,
                is_deed=goal.is_deed,
            )
        return self._tables[goal.name]

    def find_goals(self, cues: Sequence[Cue]) -> list[Goal]:
        """What each cue means; all are looked at before anything is planned."""
        for cue in cues:
            require_key_moment(self.library, cue.deed)
        return [find_goal(self.library, cue.deed) for cue in cues]

    def make_motion(
        self,
        sheet: CueSheet,
        rng: np.random.Generator,
        *,
        start: tuple[float, float] = (0.0, 0.0),
        heading: float = 0.0,
        steering: float = 0.15,
        lock: bool = True,
        reach: bool = True,
        hurry: float = HURRY,
        put_off: bool = False,
        name: str = "",
    ) -> ResponseMotion:
        """The motion that cues ask for; what the library cannot do in time is refused, with when it could.

        reach: edit it so that each cue is done in its place. hurry: how many times as fast as it is a clip may be
        played where there is no way in time, or only a rough one. put_off: what cannot be in time is done as soon as
        it can be, with all that follows, instead of being refused.
        """
        goals, asked = self.find_goals(sheet.cues), sheet
        first = Interludes(self.database, sheet.cues, self.fastest_m_s).find_beginning(rng)
        paths = [RootPath(np.array([first]), np.array([complex(*start)]), np.array([heading]))]
        keys: list[int] = []
        costs: list[float] = []
        for number, goal in enumerate(goals):
            cue = sheet.cues[number]  # later, where what came before is hurried
            if number:
                paths.append(self._play_out(join_paths(paths), goals[number - 1], keys[-1], cue))
            done = join_paths(paths)
            if put_off and (late := self._count_late(cue, goal, done, hurry)):
                sheet, asked = (_put_off(one, number, late) for one in (sheet, asked))
                cue = sheet.cues[number]
            later = _count_longer(sheet, asked, number)
            self._require_place(sheet, cue, done, later)
            sheet = self._find_time(sheet, number, goal, done, hurry, later)
            between = Interludes(self.database, sheet.cues, self.fastest_m_s)
            whole, cost = self._answer(sheet, number, goal, between, done, steering)
            paths.append(whole)
            keys.append(int(whole.frame[-1]))
            costs.append(cost)
        paths.append(self._play_out(join_paths(paths), goals[-1], keys[-1], None))
        done = join_paths(paths)
        paths.append(between.wait(done, _TAIL))
        path = join_paths(paths)
        limbs = tuple(self._find_limb(*one) for one in zip(sheet.cues, goals, keys, strict=True))
        motion, findings, reaim = self._make_clip(sheet, asked, path, limbs, lock, reach, hurry, name)
        findings = (*findings, *self._describe(asked, motion))
        return ResponseMotion(motion, path, tuple(keys), tuple(costs), limbs, findings, asked, reaim)

    def hitting(self, goal: Goal) -> HittingLimbs:
        """What each key moment of a deed hits with."""
        if goal.name not in self._hitting:
            keys = self.key_poses(goal.frames.tolist())
            self._hitting[goal.name] = find_hitting_limbs(self.body, goal, keys, self.planner.roots)
        return self._hitting[goal.name]

    def _find_limb(self, cue: Cue, goal: Goal, key: int) -> Limb | None:
        return None if cue.hit is None else self.hitting(goal).limbs[int(np.searchsorted(goal.frames, key))]

    def key_poses(self, keys: Sequence[int]) -> Clip:
        """Frames of the library, as a clip."""
        motion = self.library.motion
        return Clip(
            motion.skeleton, motion.fps, motion.local_pos[list(keys)], motion.local_quat_wxyz[list(keys)], "keys"
        )

    def _answer(
        self, sheet: CueSheet, number: int, goal: Goal, between: Interludes, done: RootPath, steering: float
    ) -> tuple[RootPath, float]:
        """The path from what is done to a cue's moment, and what its transitions cost."""
        cue, table = sheet.cues[number], self.table(goal)
        want = self._find_want(sheet, number, goal, done)
        count = cue.at - (len(done) - 1)
        waited = between.go(done, number, count - _SHORTEST) if count > _SHORTEST else None
        options = self._find_departures(table, done, waited, count, want)
        best: tuple[float, RootPath, float] | None = None
        for before, left in options:
            begin = join_paths([done, before]) if len(before) else done
            now = int(begin.frame[-1]), complex(begin.pos[-1]), float(begin.yaw[-1])
            straight = goal.frames if goal.is_deed else goal.frames[:0]
            plan = plan_response(self.planner, table, straight, now[0], left, now[1], now[2], want)
            if plan is None:
                continue
            path = play_frames(self.planner.roots, plan.frames, begin)
            score = plan.cost + float(want.error(path.pos[-1:], path.yaw[-1:])[0])
            if best is None or score < best[0]:
                best = score, join_paths([before, path]) if len(before) else path, plan.cost
        assert best is not None, "there is a way, as the table has it"
        if cue.place is None and cue.heading is None and cue.hit is None:
            return best[1], best[2]
        place = want.place if cue.place is not None else None
        if cue.place is None and cue.hit is not None:  # where the root is when this key moment's limb hits
            key = int(np.searchsorted(goal.frames, best[1].frame[-1]))
            limb = complex(self.hitting(goal).away[key])
            place = complex(*cue.hit[:2]) - np.exp(1j * float(best[1].yaw[-1])) * limb
        return bend_path(done, best[1], place, want.heading, steering), best[2]

    def _find_want(self, sheet: CueSheet, number: int, goal: Goal, done: RootPath) -> Wanted:
        """Where a cue wants the root; one without a place wants it on the way to the next place, a little."""
        cue = sheet.cues[number]
        if cue.place is not None:
            return Wanted(complex(*cue.place), cue.heading)
        if cue.hit is not None:
            return Wanted(complex(*cue.hit[:2]), cue.heading, limb=self.hitting(goal).usual)
        here, now = complex(done.pos[-1]), len(done) - 1
        after = next((one for one in sheet.cues[number:] if one.ground_from(here) is not None), None)
        there = None if after is None else after.ground_from(here)
        if after is None or there is None:
            return Wanted(None, cue.heading)
        share = (cue.at - now) / max(after.at - now, 1)
        return Wanted(here + share * (there - here), cue.heading, _ON_THE_WAY)

    def _find_departures(
        self, table: ResponseTable, done: RootPath, waited: RootPath | None, count: int, want: Wanted
    ) -> list[tuple[RootPath, int]]:
        """What to play before planning, and how many frames are left then: the most promising, by D and T."""
        if waited is None:
            return [(_cut(done, 0), count)]
        found = []
        for left in range(_SHORTEST, min(_LONGEST, count) + 1, STEP):
            frames = count - left
            end = _cut(waited, frames) if frames else done
            frame, steps = int(end.frame[-1]), left // STEP
            cost = float(table.cost[steps, frame])
            pos = end.pos[-1:] + np.exp(1j * end.yaw[-1:]) * table.way[steps, frame]
            score = cost + float(want.error(pos, end.yaw[-1:] + table.turn[steps, frame])[0])
            found.append((score, frames, left))
        found = [one for one in sorted(found) if np.isfinite(one[0])][:_TRIED]
        options = [(_cut(waited, frames), left) for _, frames, left in found]
        if count <= STEP * STEPS and not any(left == count for _, left in options):
            options.append((_cut(done, 0), count))
        return options

    def _play_out(self, done: RootPath, goal: Goal, key: int, after: Cue | None) -> RootPath:
        """What follows on a key moment: the deed to its end, as far as the next cue leaves time for that."""
        place = int(np.searchsorted(goal.frames, key))
        wished = int(goal.follow[place]) if goal.is_deed else _STYLE_FOLLOW
        if after is not None:
            wished = min(wished, max(_LEAST_FOLLOW, after.at - len(done) - 6 * STEP), (after.at - len(done)) // 2)
        room = int(self.planner.ends[key]) - key
        return play_frames(self.planner.roots, key + 1 + np.arange(max(min(wished, room), 0)), done)

    def _find_time(
        self, sheet: CueSheet, number: int, goal: Goal, done: RootPath, hurry: float, later: int
    ) -> CueSheet:
        """The cues, all later from this one on by what it takes longer in the library than it is to take."""
        cue, table = sheet.cues[number], self.table(goal)
        frame, count = int(done.frame[-1]), cue.at - (len(done) - 1)
        if count > _LONGEST:
            return sheet
        counts = np.arange(max(count, 1), max(most_frames(max(count, 0), hurry), count, 1) + 1)
        cost = find_costs(table, self.planner.ends, frame, counts) + price_hurry(counts, max(count, 1))
        best = int(np.argmin(cost))
        if count < 1 or not np.isfinite(cost[best]):
            raise self._too_soon(sheet, cue, table, done, hurry, later)
        return sheet if not best else _put_off(sheet, number, best)

    def _count_late(self, cue: Cue, goal: Goal, done: RootPath, hurry: float) -> int:
        """By how many frames a cue is too soon; 0 for what can be, and for what never can."""
        frame, count = int(done.frame[-1]), cue.at - (len(done) - 1)
        shortest = find_earliest(self.table(goal), self.planner.ends, frame, max(count, 1))
        if shortest is None:
            return 0
        least = next((n for n in range(1, shortest + 1) if most_frames(n, hurry) >= shortest), shortest)
        return max(least - count, 0)

    def _too_soon(
        self, sheet: CueSheet, cue: Cue, table: ResponseTable, done: RootPath, hurry: float, later: int
    ) -> BadSettings:
        """Why a cue cannot be, with the first frame at which it could. later: frames that were hurried before it."""
        frame, now = int(done.frame[-1]), len(done) - 1
        count = find_earliest(table, self.planner.ends, frame)
        if count is not None and hurry > 1.0:
            count = max(int(np.ceil(count / hurry)), 1)
        now -= later
        message = f"'{cue.deed}' cannot be done by frame {cue.frame:g}"
        if count is None:
            return BadSettings(
                f"{message}: there is no way to it in {HORIZON_S:g} s", "Allow larger transitions, or add clips"
            )
        count = max(count, cue.at - later - now + 1)
        return BadSettings(message, f"The earliest frame for it is {int(np.ceil(self._frame(sheet, now + count)))}")

    def _require_place(self, sheet: CueSheet, cue: Cue, done: RootPath, later: int) -> None:
        """Refuse a place that nobody in the library is fast enough for."""
        here = complex(done.pos[-1])
        there = cue.ground_from(here)
        if there is None:
            return
        now = len(done) - 1
        away = max(abs(there - here) - _NEAR_M, 0.0)
        needed = int(np.ceil(FPS * away / (_TOO_FAST * self.fastest_m_s)))
        if now + needed > cue.at:
            raise BadSettings(
                f"'{cue.deed}' cannot be at {there.real:.2g},{there.imag:.2g} by frame {cue.frame:g}: that is "
                f"{away + _NEAR_M:.1f} m away, and the library's fastest motion goes {self.fastest_m_s:.1f} m/s",
                f"The earliest frame for it is {int(np.ceil(self._frame(sheet, now + needed - later)))}",
            )

    @staticmethod
    def _frame(sheet: CueSheet, index: float) -> float:
        return sheet.frame_start + index / FPS * sheet.fps

    def _make_clip(
        self,
        sheet: CueSheet,
        asked: CueSheet,
        path: RootPath,
        limbs: Sequence[Limb | None],
        lock: bool,
        reach: bool,
        hurry: float,
        name: str,
    ) -> tuple[Clip, tuple[Finding, ...], Reaim]:
        motion = make_clip(self.database, path.frame, from_complex(path.pos), path.yaw, name)
        body = self._build(motion)
        if lock:
            motion = lock_feet_in_contact(body, motion, self.contacts[path.frame])
        wanted = []
        for cue, own, limb in zip(sheet.cues, asked.cues, limbs, strict=True):
            one = WantedMoment(cue.at, own.at / FPS, None, None, _KEY_S)
            if reach:
                one = replace(
                    one, place=cue.place, turn=_turn_left(cue, path), limb=limb.name if limb else "", hit=cue.hit
                )
            wanted.append(one)
        numbers = FrameNumbers(sheet.fps, sheet.frame_start, sheet.fps / FPS)
        edited = reach_moments(body, motion, wanted, numbers, hurry)
        reaim = make_reaim(body, motion, wanted, numbers, hurry)
        if edited is None:
            return motion, (), reaim
        if edited.shift_m_s < _GLIDES_M_S:
            return edited.clip, (), reaim
        message = f"To be in their places, cues need the character to glide by up to {edited.shift_m_s:.1f} m/s"
        return edited.clip, (Finding("cue", message, "Give them more time, or places that are nearer"),), reaim

    def _describe(self, sheet: CueSheet, motion: Clip) -> tuple[Finding, ...]:
        """Cues whose place was not reached."""
        found = []
        ground = motion.world()[0][:, motion.skeleton.index(self.body.links[0].bone), :2]
        for cue in sheet.cues:
            away = 0.0 if cue.place is None else float(np.hypot(*(ground[cue.at] - cue.place)))
            if away > _NEAR_M / 2:
                message = f"'{cue.label}' is done {away:.1f} m from its place"
                found.append(Finding("cue", message, "Give it more time, or a place that is nearer"))
        return tuple(found)


def _put_off(sheet: CueSheet, number: int, frames: int) -> CueSheet:
    """Cues that are later by so many frames of 60 a second, from one on."""
    cues = [
        cue if index < number else replace(cue, time_s=cue.time_s + frames / FPS)
        for index, cue in enumerate(sheet.cues)
    ]
    return replace(sheet, cues=tuple(cues))


def _count_longer(sheet: CueSheet, asked: CueSheet, number: int) -> int:
    """Frames by which a cue is later than it is asked for."""
    return sheet.cues[number].at - asked.cues[number].at


def _turn_left(cue: Cue, path: RootPath) -> float | None:
    """Radians that a cue's heading is off what was planned; None where it has none."""
    return None if cue.heading is None else float(np.angle(np.exp(1j * (cue.heading - path.yaw[cue.at]))))


def find_earliest(table: ResponseTable, ends: Frames, frame: int, least: int = 1) -> int | None:
    """Frames, at least so many, in which a goal can be reached from a frame; None where it cannot in the horizon."""
    for count in range(max(least, 1), STEP * STEPS + 1):
        steps, rest = divmod(count, STEP)
        if frame + rest <= ends[frame] and np.isfinite(table.cost[steps, frame + rest]):
            return count
    return None


def _cut(path: RootPath, frames: int) -> RootPath:
    return replace(path, frame=path.frame[:frames], pos=path.pos[:frames], yaw=path.yaw[:frames])
