# SPDX-License-Identifier: GPL-3.0-or-later
"""The same trials with a body: one asked for after the other, as a motion that sampling control follows.

Each begins where the one before left off. What cannot be in time without a body is put off, and counts as late.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...body import BodyModel
from ...body.deed_proposals import find_acting_role
from ...errors import BadSettings
from ...geometry.quaternions import Array
from ...motion import Clip, Take
from ...motion.library import make_library
from ...motion.time_warp import warp_clip
from ..editing.constraints import FrameNumbers
from ..editing.limb_reaching import Limb, limb_point
from ..matching.features import FPS, track_root
from ..matching.foot_locking import lock_feet_in_contact
from ..matching.inertialisation import make_clip
from ..matching.matching import from_complex
from ..method import Run
from ..searched_body import SearchedBodySettings, give_searched_body
from .aiming import AIMED_TRIES, HOLD_PLACE_M_S, simulate_aimed
from .critical_times import find_critical_times
from .cue_report import report_cues
from .cues import Cue, CueSheet
from .direction_tables import build_direction_table, find_steady_frames
from .goals import deed_names, find_goal
from .hurrying import most_frames, solve_hurry
from .reaching import Reaim, WantedMoment, make_reaim, reach_moments
from .responding import Responding
from .response_tables import STEP
from .root_paths import RootPath, join_paths
from .trials import DONE_M, AskedTurn, ResponseTrial, ask_turns, choose_turn, play_turn, time_turn

SIMULATED_M = 1.5 * DONE_M
"""How near a body comes to a key pose that does the deed."""
HIT_M = 0.1
"""How near a simulated hand or foot comes to a target that it hits."""
FRAMES_LATE = 2
"""Frames of 30 a second that a body may be late by."""

_CHUNK = 12  # trials that are simulated together
_FOLLOW_S, _FIRST_S = 0.2, 1.5
_STAYS, _TURN_AFTER = 45, 20
_ASIDE_M, _KEY_S = 0.05, 0.2  # how far targets are from where a deed hits by itself, and what of it is kept


@dataclass(frozen=True)
class BodyTrial:
    """A trial with a body, and the same without.

    off_s: by how much a deed was late with a body, less than 0 for early; None where it fell. hit_m: how far the hand
    or foot that does it was from its target then; None for a deed that is not done with one.
    """

    simulated: ResponseTrial
    kinematic: ResponseTrial
    fell: bool
    off_s: float | None = None
    hit_m: float | None = None


def summarize_body_trials(pairs: Sequence[BodyTrial]) -> dict[str, Any]:
    """kinematic_on_time, and of those the share on time with a body: on_time_of_kinematic, also by name; falls.

    key_within_2_frames: share of deeds whose moment is no further off with a body. hit_within_10_cm: share of targets.
    off_s, hit_m: of each trial.
    """
    names = sorted({one.simulated.name for one in pairs})
    offs = [one.off_s for one in pairs if one.off_s is not None]
    hits = [one.hit_m for one in pairs if one.hit_m is not None]
    return {
        "kinematic_on_time": float(np.mean([one.kinematic.is_on_time for one in pairs])),
        "on_time_of_kinematic": _share_of_kinematic(pairs),
        "on_time_of_kinematic_by_name": {
            name: _share_of_kinematic([one for one in pairs if one.simulated.name == name]) for name in names
        },
        "falls": sum(one.fell for one in pairs),
        "key_within_2_frames": _share([abs(off) * 30.0 <= FRAMES_LATE + 1e-6 for off in offs]),
        "hit_within_10_cm": _share([hit <= HIT_M for hit in hits]),
        "off_s": [one.off_s for one in pairs],
        "hit_m": [one.hit_m for one in pairs],
    }


def _share_of_kinematic(pairs: Sequence[BodyTrial]) -> float | None:
    return _share([one.simulated.is_on_time for one in pairs if one.kinematic.is_on_time])


def _share(flags: Sequence[bool]) -> float | None:
    return float(np.mean(flags)) if flags else None


class _PartRun:
    """A run of a part: what it says of itself is not told, and nothing of it is kept for later."""

    def __init__(self, run: Run, seed: int, progress: Callable[[float], None]) -> None:
        self.engine, self.seed, self._run, self._progress = run.engine, seed, run, progress
        self.rng = np.random.default_rng(seed)

    def progress(self, step: int, total: int, /, **measurements: Any) -> None:
        self._progress(step / max(total, 1))

    def save_checkpoint(self, step: int, /, **arrays: np.ndarray) -> None:
        return None

    def load_checkpoint(self) -> None:
        return None

    def attachment(self, name: str) -> Any:
        return self._run.attachment(name)

    def is_enough(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name in ("add_finding", "add_detail", "add_trace", "add_product", "show"):
            return lambda *_, **__: None
        raise AttributeError(name)


def run_body_trials(
    responding: Responding,
    settings: SearchedBodySettings,
    run: Run,
    *,
    about_deeds: bool,
    tau_s: float,
    count: int,
    share: float,
    hurry: float,
) -> list[BodyTrial]:
    """So many trials, some of them at a time."""
    rng = np.random.default_rng(run.seed)
    found: list[BodyTrial] = []
    make = _try_deeds if about_deeds else _try_turns
    while len(found) < count:
        now, done = min(_CHUNK, count - len(found)), len(found)

        def tell(share_done: float, now: int = now, done: int = done) -> None:
            run.progress(round(1000 * (done + share_done * now)), 1000 * count)

        part = _PartRun(run, int(rng.integers(2**31)), tell)

        def simulate(motion: Clip, own: Run) -> Take:
            return give_searched_body(motion, settings, own, HOLD_PLACE_M_S if about_deeds else 0.0)

        found += make(responding, simulate, part, rng, now, tau_s, share, hurry)
    return found


def _try_deeds(
    responding: Responding,
    simulate: Callable[[Clip, Run], Take],
    part: Run,
    rng: np.random.Generator,
    count: int,
    tau_s: float,
    share: float,
    hurry: float,
) -> list[BodyTrial]:
    """Deeds, each to be done within its time from a moment after the one before."""
    names = _deal(deed_names(responding.library), count, rng)
    critical = find_critical_times(responding) if share else {}
    if share and not critical:
        raise BadSettings("No deed of the library leads to another", "Allow larger transitions, or add clips")
    cues, taus, befores, at_s, before = [], [], [], _FIRST_S, ""
    for name in names:
        tau = share * critical.get((before, name), max(critical.values())) if share else tau_s
        at_s += _FOLLOW_S + tau
        cues.append(Cue(name, at_s, at_s * FPS))
        taus.append(tau)
        befores.append(before)
        before = name
    sheet = CueSheet(tuple(cues), 0.0, FPS)
    made = responding.make_motion(sheet, rng, reach=False, hurry=hurry, put_off=True)
    assert made.sheet is not None
    planned, aimed, limbs, reaim = aim_deeds(responding, made.motion, made.sheet, made.keys, rng)
    tries = simulate_aimed(responding.body, aimed.cues, limbs, planned, simulate, reaim, part, AIMED_TRIES)
    take, found, late_s = tries.take, [], 0.0
    keys = responding.key_poses(made.keys)
    rows = [
        report_cues(responding.body, aimed, keys, limbs, planned, motion, fell)
        for motion, fell in ((planned, None), (take.motion, take.fell_at_s))
    ]
    for number, (cue, put_off) in enumerate(zip(cues, made.sheet.cues, strict=True)):
        late_s, before_s = put_off.time_s - cue.time_s, late_s
        done = [own[number]["done_frame"] for own in rows]
        trials = []
        for frame, row, most_m, slack in zip(
            done, (rows[0][number], rows[1][number]), (DONE_M, SIMULATED_M), (1, 2 * FRAMES_LATE), strict=True
        ):
            ttc_s = None
            if frame is not None and row["pose_error_m"] <= most_m:
                off = frame / FPS - put_off.time_s
                ttc_s = taus[number] + late_s - before_s + (0.0 if abs(off) * FPS <= slack + 1e-6 else off)
            rough = float(np.sqrt(made.costs[number]))
            trials.append(
                ResponseTrial(
                    cue.deed, 0.0, ttc_s, rough, taus[number], befores[number], 1.0, float(row["pose_error_m"])
                )
            )
        off_s = None if done[1] is None else done[1] / FPS - put_off.time_s
        found.append(BodyTrial(trials[1], trials[0], done[1] is None, off_s, rows[1][number]["distance_m"]))
    return found


def _deal(names: Sequence[str], count: int, rng: np.random.Generator) -> list[str]:
    """So many names in random order, each about as often as any other."""
    dealt = [str(name) for _ in range(-(-count // len(names))) for name in rng.permutation(names)]
    return dealt[:count]


def aim_deeds(
    responding: Responding, motion: Clip, sheet: CueSheet, keys: Sequence[int], rng: np.random.Generator
) -> tuple[Clip, CueSheet, tuple[Limb | None, ...], Reaim]:
    """A motion in which each deed of a hand or foot hits a target near where it was, and its cues with the targets."""
    limbs, cues, wanted = [], [], []
    for asked, key in zip(sheet.cues, keys, strict=True):
        limb, cue = None, asked
        if find_acting_role(cue.deed):
            goal = find_goal(responding.library, cue.deed)
            limb = responding.hitting(goal).limbs[int(np.searchsorted(goal.frames, key))]
            x, y, z = limb_point(motion, limb)[cue.at] + rng.uniform(-_ASIDE_M, _ASIDE_M, 3)
            cue = replace(cue, hit=(float(x), float(y), float(z)))
        wanted.append(WantedMoment(cue.at, cue.at / FPS, None, None, _KEY_S, limb.name if limb else "", cue.hit))
        limbs.append(limb)
        cues.append(cue)
    edited = reach_moments(responding.body, motion, wanted, FrameNumbers(FPS))
    reaim = make_reaim(responding.body, motion, wanted, FrameNumbers(FPS))
    return motion if edited is None else edited.clip, replace(sheet, cues=tuple(cues)), tuple(limbs), reaim


def _try_turns(
    responding: Responding,
    simulate: Callable[[Clip, Run], Take],
    part: Run,
    rng: np.random.Generator,
    count: int,
    tau_s: float,
    share: float,
    hurry: float,
) -> list[BodyTrial]:
    """Changes of direction, each from a moment after the one before."""
    planner, library = responding.planner, responding.library
    asked, most = ask_turns(responding, tau_s, count, rng), int(tau_s * FPS + 1e-6)
    steps = -(-most_frames(most, hurry) // STEP)
    tables = {
        name: build_direction_table(planner, find_steady_frames(planner, library.find_frames(name)), steps)
        for name in sorted({one.style for one in asked})
    }
    parts = [RootPath(np.array([asked[0].frame]), np.zeros(1, dtype=complex), np.zeros(1))]
    done: list[tuple[AskedTurn, int, int, float, float]] = []  # where it begins, how long it is, and its headings
    for one in asked:
        begin = parts[-1]
        plan = choose_turn(planner, tables[one.style], int(begin.frame[-1]), one.turn, most, hurry)
        if plan is None:
            continue
        heading, first = float(begin.yaw[-1]) + one.turn, sum(map(len, parts)) - 1
        parts.append(play_turn(planner, begin, plan.frames, heading, _STAYS))
        done.append((one, first, len(plan.frames), heading, float(np.sqrt(plan.cost))))
    clip, begins = _play_turns(responding, join_paths(parts), [one[1:3] for one in done], most, hurry)
    take = simulate(clip, part)
    headings = [_read_heading(responding.body, motion) for motion in (clip, take.motion.resample(FPS, end="hold"))]
    found = [BodyTrial(late, late, False) for late in (_late_turn(one) for one in asked[len(done) :])]
    for (one, _, _, heading, rough), at in zip(done, begins, strict=True):
        trials = []
        for yaw, slack in zip(headings, (0, 2 * FRAMES_LATE), strict=True):
            own = yaw[at + 1 : at + 1 + most + _TURN_AFTER]
            ttc_s = time_turn(own, heading)
            late = ttc_s is not None and 0.0 < ttc_s - tau_s <= slack / FPS + 1e-6
            trials.append(ResponseTrial(one.style, one.turn, tau_s if late else ttc_s, rough, tau_s))
        fell = take.fell_at_s is not None and (at + most) / FPS >= take.fell_at_s
        found.append(BodyTrial(_late_turn(one) if fell else trials[1], trials[0], fell))
    return found


def _play_turns(
    responding: Responding, path: RootPath, turns: list[tuple[int, int]], most: int, hurry: float
) -> tuple[Clip, list[int]]:
    """The motion of a path whose turns, (first frame, how many frames), are played in ``most``, and their begins."""
    clip = make_clip(responding.database, path.frame, from_complex(path.pos), path.yaw, "turns")
    clip = lock_feet_in_contact(responding.body, clip, responding.contacts[path.frame])
    moments, begins, now, last = {}, [], 0, 0
    for first, length in turns:
        now += first - last
        moments[first] = now / FPS
        begins.append(now)
        now, last = now + min(length, most), first + length
        moments[last] = now / FPS
    moments.pop(0, None)
    places = solve_hurry(len(clip), moments, hurry)
    return warp_clip(clip, places / FPS), begins


def _read_heading(body: BodyModel, clip: Clip) -> Array:
    return np.asarray(track_root(body, make_library([clip]), clip.world()).heading)


def _late_turn(asked: AskedTurn) -> ResponseTrial:
    return ResponseTrial(asked.style, asked.turn, None, 0.0, asked.tau_s)
