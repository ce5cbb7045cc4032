# SPDX-License-Identifier: GPL-3.0-or-later
"""How soon a library responds (section 7.1.1): from random frames, to random deeds or changes of direction.

A deed is done when the pose is nearest to one of its key poses, in the motion that was made and not in the plan; of a
change of direction, when the root faces the wished way and goes on doing so.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...errors import BadSettings
from ...geometry.quaternions import Array
from ...motion import Clip
from ..matching.features import FPS
from ..matching.foot_locking import lock_feet_in_contact
from ..matching.inertialisation import make_clip
from ..matching.matching import from_complex
from .critical_times import find_critical_times
from .direction_tables import DirectionTable, TurnPlan, build_direction_table, find_steady_frames, plan_turn
from .goals import Goal, deed_names, find_deed_frames, find_goal
from .hurrying import HURRY, choose_length, hurry_clip, most_frames, price_hurry, solve_hurry
from .interludes import GOING
from .planning import PlanningData, trace_table
from .pose_features import local_joints
from .responding import Responding, find_earliest
from .response_tables import STEP
from .root_paths import RootPath, bend_path, join_paths, play_frames
from .transition_graph import Frames

TASKS = (
    ("auto", "Automatic", "Deeds, if the library has any, else changes of direction"),
    ("deeds", "Deeds", "Do a deed"),
    ("direction", "Direction", "Turn to another direction, and go on"),
)
DONE_M = 0.1
"""Who is so near to a key pose, as the mean over joints, does the deed."""

_FACES = np.radians(15.0)  # who faces the wished way within so much has turned
_AFTER = 20  # frames that a direction is kept for
_ALIKE_M = 0.002  # poses that differ by no more are equally near
_FOLLOW = 12  # frames that are played out after a key moment, to see which one is nearest to it
_LATEST_S = 2.5
_BENDS_RAD_S, _MOST_BEND = 2.5, np.radians(100.0)  # what turns beyond the library's own are bent by


@dataclass(frozen=True)
class ResponseTrial:
    """name: the deed, or the style. before: the deed that was under way, '' for none. tau_s: the time that it had.

    turn: radians that were asked for. ttc_s: None for never within 2.5 s.
    transition_m: the root of what transitions cost. pace: how much faster than recorded it was played, on average.
    pose_m: mean distance of joints to the key pose. bent: radians of a turn that are not the library's.
    """

    name: str
    turn: float
    ttc_s: float | None
    transition_m: float
    tau_s: float
    before: str = ""
    pace: float = 1.0
    pose_m: float | None = None
    bent: float = 0.0

    @property
    def is_on_time(self) -> bool:
        """Whether it was done within the critical response time."""
        return self.ttc_s is not None and self.ttc_s <= self.tau_s + 1e-9


@dataclass(frozen=True)
class AskedDeed:
    """A trial as it begins: the frame of the library, the deed under way there, and what is asked within tau."""

    frame: int
    before: str
    name: str
    tau_s: float


@dataclass(frozen=True)
class AskedTurn:
    """A trial as it begins: the frame of the library, the style to go on in, and by how much to turn (radians)."""

    frame: int
    style: str
    turn: float
    tau_s: float


def is_about_deeds(responding: Responding, task: str) -> bool:
    """What trials of a task ask for; a library that has nothing of it is refused."""
    names = deed_names(responding.library)
    if task == "deeds" and not names:
        raise BadSettings("The library has no deeds to test", "Mark their key moments, or test --task direction")
    return bool(names) and task != "direction"


def run_trials(
    responding: Responding,
    tau_s: float,
    count: int,
    rng: np.random.Generator,
    task: str = "auto",
    progress: Callable[[int], None] = lambda _: None,
    *,
    share: float = 0.0,
    hurry: float = HURRY,
) -> list[ResponseTrial]:
    """So many trials of the exact answer. share: of the time from deed to deed in the library, instead of tau."""
    if is_about_deeds(responding, task):
        found = []
        for asked in ask_deeds(responding, tau_s, count, rng, share):
            found.append(answer_deed(responding, asked, hurry)[0])
            progress(len(found))
        return found
    return _answer_turns(responding, ask_turns(responding, tau_s, count, rng), hurry, progress)


def ask_deeds(
    responding: Responding, tau_s: float, count: int, rng: np.random.Generator, share: float = 0.0
) -> list[AskedDeed]:
    """Deeds from any frame that has a little of its clip left; with a share, from frames of another deed."""
    names, planner = deed_names(responding.library), responding.planner
    if not share:
        usable = find_present_frames(planner, np.ones(len(planner.ends), dtype=bool))
        return [AskedDeed(int(rng.choice(usable)), "", str(rng.choice(names)), tau_s) for _ in range(count)]
    critical = find_critical_times(responding)
    if not critical:
        raise BadSettings("No deed of the library leads to another", "Allow larger transitions, or add clips")
    pairs, found = sorted(critical), []
    for _ in range(count):
        before, after = pairs[int(rng.integers(len(pairs)))]
        frame = int(rng.choice(find_deed_frames(responding.library, before)))
        found.append(AskedDeed(frame, before, after, share * critical[before, after]))
    return found


def answer_deed(responding: Responding, asked: AskedDeed, hurry: float) -> tuple[ResponseTrial, Clip | None]:
    """What the exact answer does, and its motion; it is as cheap as the time allows."""
    goal, planner = find_goal(responding.library, asked.name), responding.planner
    table, most = responding.table(goal), int(asked.tau_s * FPS + 1e-6)
    length = choose_length(table, planner.ends, asked.frame, most, hurry)
    if length is None:
        late = find_earliest(table, planner.ends, asked.frame, most + 1)
        late_s = None if late is None else max(late / hurry, most + 1) / FPS
        return ResponseTrial(asked.name, 0.0, late_s, 0.0, asked.tau_s, asked.before), None
    plan = trace_table(table, asked.frame, length)
    key = int(plan.frames[-1])
    follow = key + 1 + np.arange(min(_FOLLOW, int(planner.ends[key]) - key))
    clip = play_from(responding, asked.frame, np.concatenate([plan.frames, follow]))
    done = min(length, most)
    if length > most:
        clip = hurry_clip(clip, length, most, hurry)
    found, far = find_done(responding, clip, goal, done)
    ttc_s = found / FPS if far <= DONE_M else None
    pace = max(length / most, 1.0)
    rough = float(np.sqrt(plan.cost))
    return ResponseTrial(asked.name, 0.0, ttc_s, rough, asked.tau_s, asked.before, pace, far), clip


def play_from(responding: Responding, frame: int, frames: Frames) -> Clip:
    """The motion of frames of the library that are played after one; it begins in that one, at the origin."""
    begin = RootPath(np.array([frame]), np.zeros(1, dtype=complex), np.zeros(1))
    path = join_paths([begin, play_frames(responding.planner.roots, frames, begin)])
    clip = make_clip(responding.database, path.frame, from_complex(path.pos), path.yaw, "trial")
    return lock_feet_in_contact(responding.body, clip, responding.contacts[path.frame])


def find_done(responding: Responding, clip: Clip, goal: Goal, asked: int) -> tuple[int, float]:
    """(frame, metres): when a motion is nearest to a key pose of a goal, and how near; of like ones the asked."""
    poses = local_joints(responding.body, clip)[1:]
    keys = local_joints(responding.body, responding.key_poses(goal.frames.tolist()))
    far = np.stack([np.linalg.norm(poses - key, axis=-1).mean(axis=-1) for key in keys]).min(axis=0)
    if 0 < asked <= len(far) and far[asked - 1] <= far.min() + _ALIKE_M:
        return asked, float(far[asked - 1])
    return int(far.argmin()) + 1, float(far.min())


def ask_turns(responding: Responding, tau_s: float, count: int, rng: np.random.Generator) -> list[AskedTurn]:
    """Changes of direction by any angle, in the styles that go somewhere."""
    library, planner = responding.library, responding.planner
    known = [name for name in GOING if name in library.tag_names()]
    if not known:
        raise BadSettings("The library has no style that goes somewhere", f"Tag clips as one of: {', '.join(GOING)}")
    usable = {name: find_present_frames(planner, library.find_frames(name)) for name in known}
    found = []
    for _ in range(count):
        style, turn = str(rng.choice(known)), float(rng.uniform(-np.pi, np.pi))
        frame = int(usable[style][int(rng.uniform() * len(usable[style]))])
        found.append(AskedTurn(frame, style, turn, tau_s))
    return found


def _answer_turns(
    responding: Responding, asked: list[AskedTurn], hurry: float, progress: Callable[[int], None]
) -> list[ResponseTrial]:
    """What the exact answer does of each, one style's table at a time: each is large."""
    library, planner = responding.library, responding.planner
    found: dict[int, ResponseTrial] = {}
    for name in sorted({one.style for one in asked}):
        most = int(asked[0].tau_s * FPS + 1e-6)
        steps = -(-most_frames(most, hurry) // STEP)
        table = build_direction_table(planner, find_steady_frames(planner, library.find_frames(name)), steps)
        for number, one in enumerate(asked):
            if one.style != name:
                continue
            found[number] = answer_turn(planner, table, one, hurry)
            progress(len(found))
    return [found[number] for number in range(len(asked))]


def answer_turn(planner: PlanningData, table: DirectionTable, asked: AskedTurn, hurry: float) -> ResponseTrial:
    """The cheapest of turns that are played as they are, and of longer ones that are played faster."""
    most = int(asked.tau_s * FPS + 1e-6)
    plan = choose_turn(planner, table, asked.frame, asked.turn, most, hurry)
    if plan is None:
        return ResponseTrial(asked.style, asked.turn, None, 0.0, asked.tau_s)
    begin = RootPath(np.array([asked.frame]), np.zeros(1, dtype=complex), np.zeros(1))
    path = play_turn(planner, begin, plan.frames, asked.turn, _AFTER)
    length, plain = len(plan.frames), play_frames(planner.roots, plan.frames, begin)
    bent = float(np.angle(np.exp(1j * (path.yaw[length - 1] - plain.yaw[-1]))))
    yaw = np.concatenate([begin.yaw, path.yaw])
    if length > most:
        places = solve_hurry(len(yaw), {length: most / FPS}, hurry)
        yaw = np.interp(places, np.arange(len(yaw)), yaw)
    rough = float(np.sqrt(plan.cost))
    pace = max(length / most, 1.0)
    return ResponseTrial(
        asked.style, asked.turn, time_turn(yaw[1:], asked.turn), rough, asked.tau_s, "", pace, None, bent
    )


def choose_turn(
    planner: PlanningData, table: DirectionTable, frame: int, turn: float, most: int, hurry: float
) -> TurnPlan | None:
    """The cheapest of turns that are played as they are, in ``most`` frames, and of longer ones, played faster."""
    longest = max(most_frames(most, hurry), most)
    best: tuple[float, TurnPlan] | None = None
    for length in sorted({most, *np.linspace(most, longest, 4).astype(int).tolist()}):
        plan = plan_turn(planner, table, frame, turn, length)
        if plan is None:
            continue
        score = plan.cost + plan.left_m2 + float(price_hurry(np.array(length), most))
        if best is None or score < best[0]:
            best = score, plan
    return None if best is None else best[1]


def find_present_frames(planner: PlanningData, flags: np.ndarray) -> Frames:
    """(n,) of the frames that are flagged those that have a little of their clip left."""
    return np.flatnonzero(flags & (planner.ends - np.arange(len(flags)) > STEP))


def play_turn(planner: PlanningData, begin: RootPath, frames: Frames, heading: float, after: int) -> RootPath:
    """The path of frames that follow on a beginning, bent to a heading (radians), and of some that follow on them."""
    path = bend_path(begin, play_frames(planner.roots, frames, begin), None, heading, 0.0, _BENDS_RAD_S, _MOST_BEND)
    last = int(frames[-1])
    more = last + 1 + np.arange(min(after, int(planner.ends[last]) - last))
    done = join_paths([begin, path])
    tail = play_frames(planner.roots, more, done)
    if len(more):
        tail = bend_path(done, tail, None, heading, 0.0, _BENDS_RAD_S, _MOST_BEND)
    # What a transition left of its turn is steered against, so that the direction is kept.
    return join_paths([path, tail])


def time_turn(yaw: Array, turn: float, fps: float = FPS) -> float | None:
    """Seconds until the root faces as asked and stays so; None if it does not."""
    away = np.abs(np.angle(np.exp(1j * (yaw - turn))))
    wrong = np.flatnonzero(away > _FACES)
    first = int(wrong[-1]) + 1 if len(wrong) else 0
    return None if first >= len(yaw) or (first + 1) / fps > _LATEST_S else (first + 1) / fps
