# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench respond``: deeds on cue without a body, on libraries of ../shared: on their frames, in their places, in time.

Sheets of four random cues, half of them with a place, planned as they are and then edited; and trials from random
moments, of deeds or, where a library has none, of changes of direction. One row a measurement.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..bridge.library.assembling import assemble, make_library_body
from ..bridge.library.file_sources import find_motion_files, make_file_sources
from ..core.body.foot_skate import source_foot_skate
from ..core.control.respond.cue_report import report_cues
from ..core.control.respond.cues import CueSheet, parse_cue, sort_cues
from ..core.control.respond.goals import deed_names, find_goal
from ..core.control.respond.learned_file import RESPONDER, TrainedResponder
from ..core.control.respond.responding import Responding
from ..core.control.respond.student.controls import Controls
from ..core.control.respond.student.student import Student, StudentPlayer
from ..core.control.respond.student.student_trials import read_states, student_trials
from ..core.control.respond.trials import ResponseTrial, run_trials
from ..core.control.tracking.library_files import StoredLibrary
from ..core.errors import BadSettings, NotLearned
from .direct import CMU_SCALE, LIBRARY
from .options import print_progress, split_words
from .respond_groups import measure_courses, measure_deeds, measure_turns
from .respond_page import write_page
from .rows import Row, append_row, code_version, describe_machine

LIBRARIES = LIBRARY.parent
NAMES = ("martial", "obstacles", "locomotion")
_FPS, _CUES, _TRIALS = 30.0, 4, 300
_TAUS_S, _SHARES = (0.5, 0.8, 1.0), (0.4, 0.7, 1.0)
_CHARACTERS, _FRAMES = 100, 120  # that a student is timed with
_REACH_M = {"martial": 1.0, "obstacles": 3.0}  # how far the next place is from the one before, at most


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    parser.add_argument("--only", type=split_words, default=(), metavar="NAMES", help=f"some of: {', '.join(NAMES)}")
    parser.add_argument("--sheets", type=int, default=15, metavar="N", help="sheets of four cues each (default 15)")
    parser.add_argument("--rows", type=Path, metavar="FILE.jsonl", help="add the rows to this file")
    parser.add_argument("--trained", type=Path, metavar="FILE", help="what 'respond train' wrote: its student alone")
    parser.add_argument(
        "--figures",
        type=split_words,
        default=(),
        metavar="NAMES",
        help="with --trained, the page's figures instead: turns, deeds, courses",
    )
    parser.add_argument("--trials", type=int, default=120, metavar="N", help="of each point of a figure (default 120)")
    parser.add_argument(
        "--page", type=Path, metavar="FOLDER", help="make the page in a docs folder from its rows, and nothing else"
    )
    parser.add_argument("--seed", type=int, default=5, metavar="N", help="another seed (default 5)")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the libraries that were asked for."""
    if unknown := [name for name in arguments.only if name not in NAMES]:
        raise BadSettings(f"There is no library '{unknown[0]}'", f"Choose from: {', '.join(NAMES)}")
    if arguments.page:
        return {"page": str(write_page(arguments.page))}
    rows: list[Row] = []
    if arguments.trained:
        rows = _measure_figures(arguments) if arguments.figures else _measure_student(arguments.trained, arguments.seed)
    for name in () if arguments.trained else arguments.only or NAMES:
        print_progress(name)
        responding, first = _prepare(name)
        rows.append(first)
        if deed_names(responding.library):
            for reach in (False, True):
                rows.append(_measure_sheets(name, responding, arguments.sheets, arguments.seed, reach))
        rows += [_measure_trials(name, responding, tau_s, arguments.seed) for tau_s in _TAUS_S]
        if deed_names(responding.library):
            rows += [_measure_trials(name, responding, 0.5, arguments.seed, share) for share in _SHARES]
    for row in rows:
        row |= {"code": code_version(), "machine": describe_machine()}
        if arguments.rows:
            append_row(arguments.rows, row)
    return {"rows": rows}


def _prepare(name: str) -> tuple[Responding, Row]:
    sources = make_file_sources(find_motion_files([LIBRARIES / name]), CMU_SCALE)
    body = make_library_body(sources)
    stored = StoredLibrary(body, tuple(assemble(body, sources, ())), mirror=True, scale=CMU_SCALE).with_deeds
    begun = time.perf_counter()
    responding = Responding(stored.body, stored.library)
    deeds = {deed: len(find_goal(responding.library, deed).frames) for deed in deed_names(responding.library)}
    row: Row = {"what": f"{name}: made ready", "frames": len(stored.library.motion), "key_moments": deeds}
    return responding, row | {"seconds_with_the_cache_as_it_is": time.perf_counter() - begun}


def _measure_sheets(name: str, responding: Responding, count: int, seed: int, reach: bool) -> Row:
    """How many cues are on their frames, how far from their places, and how feet slide."""
    rng, names = np.random.default_rng(seed), deed_names(responding.library)
    late, away, skate, findings, refused = [], [], [], 0, 0
    for number in range(count):
        sheet = _make_sheet(rng, names, _REACH_M[name])
        try:
            made = responding.make_motion(sheet, np.random.default_rng(number), reach=reach)
        except BadSettings:
            refused += 1
            continue
        keys = responding.key_poses(made.keys)
        for row in report_cues(responding.body, sheet, keys, made.limbs, made.motion, made.motion):
            late.append(abs(row["done_frame"] - row["asked_frame"]))
            away += [] if row["distance_m"] is None else [row["distance_m"]]
        skate.append(source_foot_skate(responding.body, made.motion) or 0.0)
        findings += len(made.findings)
    return {
        "what": f"{name}: {count} sheets of {_CUES} cues, {'edited' if reach else 'as planned'}",
        "refused": refused,
        "cues": len(late),
        "on_their_frame": float(np.mean(np.array(late) == 0)),
        "places": len(away),
        "place_median_m": float(np.median(away)),
        "place_90_percent_m": float(np.percentile(away, 90)),
        "places_within_5_cm": float(np.mean(np.array(away) < 0.05)),
        "skate_median_m_s": float(np.median(skate)),
        "skate_most_m_s": float(np.max(skate)),
        "findings": findings,
        "goal": {"on_their_frame": 0.95, "places_within_5_cm": 1.0, "skate_median_m_s": 0.02},
    }


def _make_sheet(rng: np.random.Generator, names: tuple[str, ...], reach_m: float) -> CueSheet:
    """Cues 1.5 to 4 s apart; every second one, by chance, with a place that is a little further on."""
    frame, here, texts = 1, np.zeros(2), []
    for _ in range(_CUES):
        frame += int(rng.integers(45, 120))
        deed, place = str(rng.choice(names)), ""
        if rng.uniform() < 0.5:
            here = here + rng.uniform(-0.6, 1.0, 2) * reach_m
            place = f":{here[0]:.2f},{here[1]:.2f}"
        texts.append(f"{deed}@{frame}{place}")
    return CueSheet(sort_cues(parse_cue(text, 1, _FPS) for text in texts), 1, _FPS)


def _measure_trials(name: str, responding: Responding, tau_s: float, seed: int, share: float = 0.0) -> Row:
    """Of deeds or changes of direction from random moments, those that are done within so many seconds, or a share."""
    trials = run_trials(responding, tau_s, _TRIALS, np.random.default_rng(seed), share=share)
    what = "deeds" if deed_names(responding.library) else "changes of direction"
    within = f"{100 * share:g} % of the library's own time" if share else f"{tau_s:g} s"
    goal = {"on_time": 0.98 if what == "deeds" else 0.99}
    return {"what": f"{name}: {what} within {within}", **_count_trials(trials), "goal": goal}


def _count_trials(trials: list[ResponseTrial]) -> Row:
    bent = np.degrees(np.abs([trial.bent for trial in trials]))
    return {
        "trials": len(trials),
        "on_time": float(np.mean([trial.is_on_time for trial in trials])),
        "pace_mean": float(np.mean([trial.pace for trial in trials])),
        "bent_degrees_90_percent": float(np.percentile(bent, 90)),
    }


def _read_trained(path: Path) -> tuple[Responding, Student]:
    responder = RESPONDER.from_content(RESPONDER.read_content(path), str(path))
    if not isinstance(responder, TrainedResponder):
        raise NotLearned(f"The library in '{path}' has no student", "Train it first, with 'sinew respond train'")
    return Responding(responder.stored.body, responder.stored.library), responder.student


def _measure_figures(arguments: argparse.Namespace) -> list[Row]:
    """Rows of the figures of a trained library: turns and courses of one that goes, deeds of one that has some."""
    if unknown := [name for name in arguments.figures if name not in ("turns", "deeds", "courses")]:
        raise BadSettings(f"There is no figure '{unknown[0]}'", "Choose from: turns, deeds, courses")
    responding, student = _read_trained(arguments.trained)
    rows: list[Row] = []
    if "turns" in arguments.figures:
        rows += measure_turns(responding, student, arguments.trials, arguments.seed, print_progress)
    if "deeds" in arguments.figures:
        rows += measure_deeds(responding, student, arguments.trials, arguments.seed, print_progress)
    if "courses" in arguments.figures:
        rows += measure_courses(responding, student, print_progress)
    return rows


def _measure_student(path: Path, seed: int) -> list[Row]:
    """A student's trials, and the processor time that a frame of many characters takes."""
    (responding, student), rows = _read_trained(path), []
    amounts = _SHARES if deed_names(responding.library) else _TAUS_S
    for amount in amounts:
        share = amount if deed_names(responding.library) else 0.0
        trials = student_trials(responding, student, amount, _TRIALS, np.random.default_rng(seed), share=share)
        rows.append({"what": f"student: {'share' if share else 'seconds'} {amount:g}", **_count_trials(trials)})
    frames = np.linspace(0, len(responding.library.motion) - 1, _CHARACTERS).astype(int)
    states, none = read_states(responding, student.layout, frames), np.full(_CHARACTERS, np.nan)
    player = StudentPlayer(student, states, np.zeros(_CHARACTERS, dtype=complex), np.zeros(_CHARACTERS))
    told = Controls(np.zeros(_CHARACTERS, dtype=int), np.full(_CHARACTERS, 0.5), none, none + 0j)
    taken = []
    for _ in range(_FRAMES):
        begun = time.process_time()
        player.step(told)
        player.poses()
        taken.append(1000.0 * (time.process_time() - begun))
    what = f"student: {_CHARACTERS} characters, a frame with their poses"
    return [*rows, {"what": what, "processor_ms": float(np.median(taken)), "goal": {"processor_ms": 10.0}}]
