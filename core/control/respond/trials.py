# SPDX-License-Identifier: GPL-3.0-or-later
"""How soon a library responds (section 7.1.1): from random frames, to random deeds or changes of direction.

A deed's time-to-completion is when its key moment is; of a change of direction, when the root faces the wished way and
goes on doing so.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...errors import BadSettings
from ..direct.features import FPS
from .direction_tables import build_direction_table, find_steady_frames, plan_turn
from .goals import deed_names, find_goal
from .interludes import GOING
from .planning import PlanningData, Wanted, plan_response
from .responding import Responding, find_earliest
from .response_tables import STEP, STEPS
from .root_paths import RootPath, bend_path, play_frames

TASKS = (
    ("auto", "Automatic", "Deeds, if the library has any, else changes of direction"),
    ("deeds", "Deeds", "Do a deed"),
    ("direction", "Direction", "Turn to another direction, and go on"),
)

_FACES = np.radians(15.0)  # who faces the wished way within so much has turned
_AFTER = 20  # frames that a direction is kept for
_LATEST_S = 2.5


@dataclass(frozen=True)
class ResponseTrial:
    """name: the deed, or the style. turn: radians that were asked for. ttc_s: None for never within 2.5 s.

    transition_m: the root of what transitions cost.
    """

    name: str
    turn: float
    ttc_s: float | None
    transition_m: float

    def is_on_time(self, tau_s: float) -> bool:
        """Whether it was done within the critical response time."""
        return self.ttc_s is not None and self.ttc_s <= tau_s + 1e-9


def run_trials(
    responding: Responding,
    tau_s: float,
    count: int,
    rng: np.random.Generator,
    task: str = "auto",
    progress: Callable[[int], None] = lambda _: None,
) -> list[ResponseTrial]:
    """So many trials; a library that has nothing of the task is refused."""
    names = deed_names(responding.library)
    if task == "deeds" and not names:
        raise BadSettings("The library has no deeds to test", "Mark their key moments, or test --task direction")
    make = _try_deeds if names and task != "direction" else _try_directions
    return make(responding, tau_s, count, rng, progress)


def _try_deeds(
    responding: Responding, tau_s: float, count: int, rng: np.random.Generator, progress: Callable[[int], None]
) -> list[ResponseTrial]:
    """Deeds from any frame that has a little of its clip left, each as cheaply as the time allows."""
    names, planner = deed_names(responding.library), responding.planner
    usable = _present_frames(planner, np.ones(len(planner.ends), dtype=bool))
    most, found = int(tau_s * FPS + 1e-6), []
    for number in range(count):
        goal, frame = find_goal(responding.library, str(rng.choice(names))), int(rng.choice(usable))
        table = responding.table(goal)
        best, cost = None, np.inf
        for frames in range(1, min(most, STEP * STEPS) + 1):
            steps, rest = divmod(frames, STEP)
            if frame + rest <= planner.ends[frame] and float(table.cost[steps, frame + rest]) < cost:
                best, cost = frames, float(table.cost[steps, frame + rest])
        plan = None if best is None else plan_response(planner, table, goal.frames, frame, best, 0j, 0.0, Wanted())
        if plan is not None:
            found.append(ResponseTrial(goal.name, 0.0, len(plan.frames) / FPS, float(np.sqrt(plan.cost))))
        else:
            late = find_earliest(table, planner.ends, frame, most + 1)
            found.append(ResponseTrial(goal.name, 0.0, None if late is None else late / FPS, 0.0))
        progress(number + 1)
    return found


def _try_directions(
    responding: Responding, tau_s: float, count: int, rng: np.random.Generator, progress: Callable[[int], None]
) -> list[ResponseTrial]:
    """Changes of direction by any angle, in the styles that go somewhere."""
    library, planner = responding.library, responding.planner
    known = [name for name in GOING if name in library.tag_names()]
    if not known:
        raise BadSettings("The library has no style that goes somewhere", f"Tag clips as one of: {', '.join(GOING)}")
    flags = {name: library.find_frames(name) for name in known}
    asked = [(str(rng.choice(known)), float(rng.uniform(-np.pi, np.pi)), float(rng.uniform())) for _ in range(count)]
    found: dict[int, ResponseTrial] = {}
    for name in known:  # one table at a time: each is large
        frames = int(tau_s * FPS + 1e-6)
        table = build_direction_table(planner, find_steady_frames(planner, flags[name]), -(-frames // STEP))
        usable = _present_frames(planner, flags[name])
        for number, (style, turn, share) in enumerate(asked):
            if style != name:
                continue
            frame = int(usable[int(share * len(usable))])
            plan = plan_turn(planner, table, frame, turn, frames)
            ttc_s = None if plan is None else _time_turn(planner, frame, plan.frames, turn)
            found[number] = ResponseTrial(name, turn, ttc_s, 0.0 if plan is None else float(np.sqrt(plan.cost)))
            progress(len(found))
    return [found[number] for number in range(count)]


def _present_frames(planner: PlanningData, flags: np.ndarray) -> np.ndarray:
    return np.flatnonzero(flags & (planner.ends - np.arange(len(flags)) > STEP))


def _time_turn(planner: PlanningData, frame: int, frames: np.ndarray, turn: float) -> float | None:
    """Seconds until the root faces as asked and stays so; None if it does not."""
    begin = RootPath(np.array([frame]), np.zeros(1, dtype=complex), np.zeros(1))
    last = int(frames[-1])
    after = last + 1 + np.arange(min(_AFTER, int(planner.ends[last]) - last))
    path = bend_path(begin, play_frames(planner.roots, frames, begin), None, turn, 0.0)
    tail = play_frames(planner.roots, after, path).yaw
    away = np.abs(np.angle(np.exp(1j * (np.concatenate([path.yaw, tail]) - turn))))
    wrong = np.flatnonzero(away > _FACES)
    first = int(wrong[-1]) + 1 if len(wrong) else 0
    return None if first >= len(path) else (first + 1) / FPS
