# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups of ``bench respond``: changes of direction beside motion matching, deeds in less time, and courses to run.

The figures of the paper that they are for: 3 and 4 (time to completion by angle), 5 (deeds at 40 to 100 % of the
library's own time), 7 (what is left of the recorded motion), the shuttle run and the slalom of 7.1.3, and the ablation
of 7.7.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.control.matching.database import MatchingDatabase, MatchingWeights
from ..core.control.matching.features import FPS
from ..core.control.matching.guides import WishGuide
from ..core.control.matching.matching import MotionMatching
from ..core.control.matching.wish import Wish
from ..core.control.respond.goals import deed_names, find_goal
from ..core.control.respond.hurrying import HURRY
from ..core.control.respond.motion_quality import deed_error
from ..core.control.respond.responding import Responding
from ..core.control.respond.student.controls import Controls
from ..core.control.respond.student.state_layout import STUDENT_FPS
from ..core.control.respond.student.student import Student, StudentPlayer
from ..core.control.respond.student.student_trials import play_deeds, read_states, student_trials
from ..core.control.respond.trials import (
    DONE_M,
    AskedDeed,
    AskedTurn,
    ResponseTrial,
    answer_deed,
    ask_deeds,
    ask_turns,
    run_trials,
    time_turn,
)
from .rows import Row

TAUS_S, SHARES = (0.5, 0.75, 1.0), (0.4, 0.55, 0.7, 0.85, 1.0)
WEIGHTS = (1.0, 5.0, 20.0, 50.0)
COURSE_TAUS_S = (0.5, 0.75, 1.0, 1.25, 1.5)
_PLAYED_S = 3.2  # that motion matching may take for a turn
_LINE_M, _RUN_S, _GATES, _GATE_M = 4.0, 24.0, 8, 3.0
_FAR_M = 50.0

Tell = Callable[[str], None]


def measure_turns(responding: Responding, student: Student | None, count: int, seed: int, tell: Tell) -> list[Row]:
    """Figures 3 and 4 and the ablation: changes of direction by answer, and by response time or weight."""
    rows = []
    for tau_s in TAUS_S:
        tell(f"turns within {tau_s:g} s")
        made = {
            "exact": run_trials(responding, tau_s, count, np.random.default_rng(seed), "direction", hurry=HURRY),
            "as recorded": run_trials(responding, tau_s, count, np.random.default_rng(seed), "direction", hurry=1.0),
        }
        if student is not None:
            made["student"] = student_trials(
                responding, student, tau_s, count, np.random.default_rng(seed), "direction"
            )
        rows += [{"what": "turns", "answer": name, "tau_s": tau_s, **_times(own)} for name, own in made.items()]
    asked = ask_turns(responding, TAUS_S[0], count, np.random.default_rng(seed))
    for weight in WEIGHTS:
        tell(f"motion matching, weight {weight:g}")
        own = [_match_turn(database, one) for database in [_weighed(responding, weight)] for one in asked]
        rows.append({"what": "turns", "answer": "motion matching", "weight": weight, **_times(own)})
    return rows


def _times(trials: Sequence[ResponseTrial]) -> Row:
    return {
        "trials": len(trials),
        "on_time": float(np.mean([trial.is_on_time for trial in trials])),
        "turn_deg": [round(float(np.degrees(trial.turn)), 1) for trial in trials],
        "ttc_s": [None if trial.ttc_s is None else round(trial.ttc_s, 3) for trial in trials],
    }


def _weighed(responding: Responding, weight: float) -> MatchingDatabase:
    """A database for which it counts so many times as much to go where it is told."""
    plain = MatchingWeights()
    return MatchingDatabase(
        responding.body,
        responding.library,
        MatchingWeights(path=min(weight * plain.path, 100.0), facing=min(weight * plain.facing, 100.0)),
    )


def _match_turn(database: MatchingDatabase, asked: AskedTurn) -> ResponseTrial:
    """When motion matching faces another way that it is told to go from a frame on."""
    frames = round(_PLAYED_S * FPS)
    speed = float(np.linalg.norm(database.track.vel[asked.frame]))
    goal = _FAR_M * np.array([np.cos(asked.turn), np.sin(asked.turn)])
    style = (asked.style,)
    speed = float(np.clip(speed, 0.5, database.candidates(style).fastest_m_s))
    wish = Wish(np.full(frames + 1, speed), goal=np.tile(goal, (frames + 1, 1)), styles=(style,))
    place = np.zeros((1, 2)), np.zeros(1)
    matching = MotionMatching(database, WishGuide(wish), np.array([asked.frame]), *place, steering=0.1)
    played = matching.advance(frames)
    return ResponseTrial(asked.style, asked.turn, time_turn(played.yaw[0], asked.turn), 0.0, asked.tau_s)


def measure_deeds(responding: Responding, student: Student | None, count: int, seed: int, tell: Tell) -> list[Row]:
    """Figures 5 and 7: deeds at shares of the library's own time, and how they differ from how they were recorded."""
    rows = []
    for share in SHARES:
        tell(f"deeds at {100 * share:g} % of the library's own time")
        asked = ask_deeds(responding, 0.5, count, np.random.default_rng(seed), share)
        rows.append({"what": "deeds", "answer": "exact", "share": share, **_answer_deeds(responding, asked, HURRY)})
        rows.append({"what": "deeds", "answer": "as recorded", "share": share, **_answer_deeds(responding, asked, 1.0)})
        if student is not None:
            rows.append(
                {"what": "deeds", "answer": "student", "share": share, **_play_deeds(responding, student, asked)}
            )
    return rows


def _answer_deeds(responding: Responding, asked: Sequence[AskedDeed], hurry: float) -> Row:
    trials, errors = [], []
    for one in asked:
        trial, clip = answer_deed(responding, one, hurry)
        trials.append(trial)
        if clip is not None and trial.ttc_s is not None:
            goal = find_goal(responding.library, one.name)
            errors.append(deed_error(responding, clip, goal, min(round(trial.ttc_s * clip.fps), len(clip) - 1)))
    return _by_deed(responding, trials, errors)


def _play_deeds(responding: Responding, student: Student, asked: Sequence[AskedDeed]) -> Row:
    trials, errors = [], []
    for trial, clip in play_deeds(responding, student, asked):
        trials.append(trial)
        if trial.ttc_s is not None:
            goal = find_goal(responding.library, trial.name)
            errors.append(deed_error(responding, clip, goal, min(round(trial.ttc_s * clip.fps), len(clip) - 1)))
    return _by_deed(responding, trials, errors)


def _by_deed(responding: Responding, trials: Sequence[ResponseTrial], errors: Sequence[float]) -> Row:
    rows: dict[str, Any] = {}
    for name in deed_names(responding.library):
        own = [trial for trial in trials if trial.name == name]
        times = [trial.ttc_s for trial in own if trial.ttc_s is not None]
        if own:
            rows[name] = {
                "trials": len(own),
                "on_time": float(np.mean([trial.is_on_time for trial in own])),
                "ttc_s": [min(times), float(np.mean(times)), max(times)] if times else None,
            }
    poses = [trial.pose_m for trial in trials if trial.pose_m is not None]
    return {
        "trials": len(trials),
        "on_time": float(np.mean([trial.is_on_time for trial in trials])),
        "pose_median_m": float(np.median(poses)) if poses else None,
        "warped_error_m": float(np.mean(errors)) if errors else None,
        "by_deed": rows,
        "goal": {"on_time": 0.98, "pose_within_m": DONE_M},
    }


def measure_courses(responding: Responding, student: Student, tell: Tell) -> list[Row]:
    """7.1.3: to and fro between two lines, and between gates, by response time; as a user with a joystick would."""
    tell("shuttle run and slalom")
    rows = []
    style = "run" if "run" in student.words else student.words[0]
    for tau_s in COURSE_TAUS_S:
        shuttle, slalom = (_run(responding, student, style, tau_s, course) for course in (_Shuttle(), _Slalom()))
        row = {"what": "courses", "tau_s": tau_s, "style": style}
        rows.append({**row, "overshoot_m": shuttle.beyond(), "turns": shuttle.turns, "gate_miss_m": slalom.misses})
    return rows


class _Shuttle:
    """Who comes to a line is told to turn back. path: complex metres, frame by frame."""

    def __init__(self) -> None:
        self.path: list[complex] = []
        self.heading, self.turns = 0.0, 0
        self._beyond: list[float] = []

    def tell(self, here: complex) -> bool:
        """Look where it is; whether it is told something else now."""
        self.path.append(here)
        ahead = np.cos(self.heading)
        if ahead * here.real > _LINE_M:
            self.heading = np.pi - self.heading
            self.turns += 1
            self._beyond.append(0.0)
            return True
        if self._beyond:
            self._beyond[-1] = max(self._beyond[-1], -ahead * here.real - _LINE_M)
        return False

    def beyond(self) -> float | None:
        """Metres that it goes on beyond a line, on average over turns."""
        return float(np.mean(self._beyond)) if self._beyond else None


class _Slalom:
    """Who passes a gate is told to go for the next one, which is on the other side."""

    def __init__(self) -> None:
        self.gates = [complex(_GATE_M * (number + 1), 0.9 * (-1) ** number) for number in range(_GATES)]
        self.heading = 0.0
        self.misses: list[float] = []
        self._next, self._before = 0, 0j

    def tell(self, here: complex) -> bool:
        """Look where it is; the way to the next gate is told anew when one is passed, and twice a second."""
        before, self._before = self._before, here
        if self._next == len(self.gates):
            return False
        gate = self.gates[self._next]
        if before.real < gate.real <= here.real:
            share = (gate.real - before.real) / max(here.real - before.real, 1e-9)
            self.misses.append(float(abs(before.imag + share * (here.imag - before.imag) - gate.imag)))
            self._next += 1
            gate = self.gates[min(self._next, len(self.gates) - 1)]
        wished = float(np.angle(gate - here)) if gate.real > here.real else 0.0
        changed = abs(np.angle(np.exp(1j * (wished - self.heading)))) > np.radians(8.0)
        self.heading = wished if changed else self.heading
        return bool(changed)


def _run(responding: Responding, student: Student, style: str, tau_s: float, course: Any) -> Any:
    """A student that runs a course, told a direction to face within tau whenever that changes."""
    frames = np.flatnonzero(responding.library.find_frames(style))
    speed = np.linalg.norm(responding.database.track.vel[frames], axis=-1)
    first = frames[int(np.argsort(speed)[len(speed) * 3 // 4])]
    states = read_states(responding, student.layout, np.array([first]))
    player = StudentPlayer(student, states, np.zeros(1, dtype=complex), np.zeros(1))
    word, left_s, nowhere = np.array([student.words.index(style)]), 0.0, np.array([np.nan + 0j])
    for _ in range(round(_RUN_S * STUDENT_FPS)):
        left_s = tau_s if course.tell(complex(player.pos[0])) else max(left_s - 1.0 / STUDENT_FPS, 0.0)
        player.step(Controls(word, np.array([left_s]), np.array([course.heading]), nowhere))
    return course
