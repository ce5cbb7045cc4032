# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench improvise``: what improvises stays up and is varied, what tasks it has learned, and what a character costs.

What takes long to train is given as files of ``sinew improvise train`` and ``task``. Variants are trained here, each
(``--variants KEY=VALUE,…``) with as many samples from the same trained library.
"""

import argparse
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..bridge.api.playing import place_in_rings
from ..core.control.improvise.learned_file import IMPROVISER, Improviser
from ..core.control.improvise.playing import RandomPlayer, TogetherPlay
from ..core.control.improvise.task_training import run_task
from ..core.control.improvise.test_method import ImproviseTestSettings, describe_rollouts, roll_out_from
from ..core.control.improvise.train_method import ImproviseTrainSettings, make_latent_config, make_vae_settings
from ..core.control.improvise.training import TEST_S, LatentTraining
from ..core.control.improvise.variety import measure_spread, measure_variety
from ..core.control.improvise.wandering import WanderingBodies, wander_by, wander_until_fall
from ..core.control.matching.directing import Directing
from ..core.control.tasks.task import CONTROL_FPS
from ..core.control.tasks.tasks_table import get_task
from ..core.control.tracking_policy.learned_file import DIRECTED, TrainedDirector
from ..core.control.tracking_policy.matching_streams import make_clip_streams
from ..core.errors import BadSettings
from ..core.geometry.quaternions import Array
from ..core.sim import engines
from ..core.sim.engine import World
from ..core.sim.stage import Character, Stage
from .improvise_page import write_improvise_page
from .options import print_progress, split_words
from .rows import Row, append_row, code_version, describe_machine

_TOGETHER, _TOGETHER_S = 10, 30.0
_TASK_S = 20.0
_CROWD, _CROWD_S = 16, 10.0
_APART_SHARE = 0.75  # of the two metres that characters begin apart in takes: they meet
_GOALS: dict[str, dict[str, float]] = {
    "point_goal": {"goals_per_minute": 6.0},
    "joystick": {"velocity_error_m_s": 0.4},
    "path": {"path_error_m": 0.5},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    add = parser.add_argument
    add("--improviser", type=Path, metavar="FILE", help="what 'sinew improvise train' wrote")
    add("--tasks", nargs="*", default=[], type=Path, metavar="FILE", help="what 'sinew improvise task' wrote")
    add("--library", type=Path, metavar="FILE", help="a trained library, to train variants from")
    add("--variants", type=split_words, default=(), metavar="KEY=VALUE,…", help="settings of training, one at a time")
    add("--only", type=split_words, default=(), metavar="PART,…", help="of training,rollouts,together,cost,crowd")
    add("--samples", type=float, default=1.0, metavar="M", help="million samples of each variant (default 1)")
    add("--rollouts", type=int, default=100, metavar="N", help="characters of a test (default 100)")
    add("--seconds", type=float, default=60.0, metavar="T", help="of a random rollout, at most (default 60)")
    add("--of", default="locomotion", metavar="NAME", help="which library it is, in words, for rows and page")
    add("--page", type=Path, metavar="FOLDER", help="write improvise_figures.md of all rows in --rows into this folder")
    add("--rows", type=Path, metavar="FILE.jsonl", help="add the rows to this file")
    add("--seed", type=int, default=5, metavar="N", help="another seed (default 5)")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure what was given."""
    if arguments.variants and arguments.library is None:
        raise BadSettings("There is no library to train variants from", "Give --library FILE")
    rows: list[Row] = []

    if arguments.page is not None and arguments.rows is None:
        raise BadSettings("There are no rows to make a page of", "Give --rows FILE.jsonl")

    def keep(row: Row) -> None:
        rows.append(row | {"library": arguments.of, "code": code_version(), "machine": describe_machine()})
        if arguments.rows:
            append_row(arguments.rows, rows[-1])

    if arguments.improviser is not None:
        improviser = _read(arguments.improviser)
        settings = ImproviseTestSettings(arguments.rollouts, arguments.seconds)
        parts: dict[str, Callable[[], Row]] = {
            "training": lambda: _describe_training(improviser),
            "rollouts": lambda: _measure_rollouts(improviser, settings, arguments.seed),
            "together": lambda: _measure_together(improviser, arguments.seed),
            "cost": lambda: _measure_cost(improviser, arguments.seed),
            "crowd": lambda: _measure_crowd(improviser, arguments.seed),
        }
        for name in arguments.only or parts:
            if name not in parts:
                raise BadSettings(f"There is nothing called '{name}' to measure", f"Choose of: {', '.join(parts)}")
            print_progress(name)
            keep(parts[name]())
    for path in arguments.tasks:
        print_progress(str(path))
        keep(_measure_task(_read(path), arguments.rollouts, arguments.seed))
    for text in arguments.variants:
        print_progress(text)
        keep(_measure_variant(arguments.library, text, arguments.samples, arguments.seed))
    if arguments.page is not None:
        write_improvise_page(arguments.page, arguments.rows)
    return {"rows": rows}


def _read(path: Path) -> Improviser:
    found: Improviser = IMPROVISER.from_content(IMPROVISER.read_content(path), f"'{path}'")
    return found


def _world(improviser: Improviser, copies: int, threads: int = 0) -> closing[World]:
    stage = Stage((Character(improviser.body),))
    return closing(engines.get_engine("mujoco").compile(stage, copies, threads=threads))


def _describe_training(improviser: Improviser) -> Row:
    about = improviser.about
    row: Row = {
        "what": "training",
        "kind": "training",
        "million_samples": about["samples"] / 1e6,
        "minutes": about["seconds"] / 60.0,
    }
    row |= {"minutes_of_that_for_an_expert": about["expert_seconds"] / 60.0}
    row |= {"library_minutes": about["library_minutes"], "seed": about["seed"]}
    errors = {f"world_model_{name}": value for name, value in about["world_model"].items()}
    row["pairs_minutes"] = about.get("watched_seconds", 0.0) / 60.0
    tests = [(one["samples"], one["mean_up_s"] / TEST_S) for one in about.get("tests", ())]
    first = tests[-1][0] if tests else 0
    steadied = about.get("steadying", {}).get("tests", ())
    row["up_share_at"] = [*tests, *((first + one["samples"], one["up_s"] / one["seconds"]) for one in steadied)]
    row["million_samples_steadied"] = about.get("steadying", {}).get("samples", 0) / 1e6
    return row | errors | {"goal": {"minutes": 45.0}}


def _measure_rollouts(improviser: Improviser, settings: ImproviseTestSettings, seed: int) -> Row:
    with _world(improviser, settings.rollouts) as world:
        found, _ = roll_out_from(improviser, world, settings, seed)
    row: Row = {
        "what": f"{settings.rollouts} random rollouts, cut at {settings.seconds:g} s",
        "kind": "rollouts",
        "seconds": settings.seconds,
        "fell_after_s": np.sort(found.up_s[found.fell]).round(1).tolist(),
        "speed_m_s": _mean_speed(found.root),
        "library_speed_m_s": float(np.linalg.norm(improviser.start_qvel[:, :2], axis=1).mean()),
    }
    row |= describe_rollouts(improviser, found)
    return row | {"goal": {"mean_time_until_fall_s": 55.0}}


def _mean_speed(root: Array) -> float:
    """m/s over the ground of bodies at (K, N, 3), every third of a second, as long as they are up."""
    return float(np.nanmean(CONTROL_FPS / 10.0 * np.linalg.norm(np.diff(root[:, :, :2], axis=0), axis=-1)))


def _measure_together(improviser: Improviser, seed: int) -> Row:
    """Ten from one place, standing."""
    qpos = np.repeat(improviser.start_qpos[:1], _TOGETHER, axis=0)
    with _world(improviser, _TOGETHER) as world:
        qvel = np.zeros((_TOGETHER, improviser.body.nv))
        bodies = WanderingBodies(improviser.body, world, qpos, qvel, improviser.fall_heights)
        found = wander_until_fall(bodies, wander_by(improviser.model), _TOGETHER_S, np.random.default_rng([seed, 1]))
    variety = measure_variety(improviser.known, found.rows)
    shown = sum(one["time"] > 0.0 for one in variety["styles"].values())
    row: Row = {
        "what": f"{_TOGETHER} rollouts of {_TOGETHER_S:g} s from one place",
        "kind": "together",
        "spread_m": measure_spread(found.root),
    }
    row |= {"styles_shown": shown, "styles": len(variety["styles"]), "mean_up_s": found.mean_up_s}
    row |= {name: variety[name] for name in ("coverage", "evenness", "distance_m", "near_m")}
    return row | {"goal": {"styles_shown": float(len(variety["styles"]))}}


def _measure_cost(improviser: Improviser, seed: int) -> Row:
    """Processor time of one character, and of a crowd in which nobody touches anybody."""
    row: Row = {"what": "a character at run time, processor time as a share of real time", "kind": "cost"}
    for copies, name in ((1, "one"), (_CROWD, f"each_of_{_CROWD}")):
        with _world(improviser, copies, threads=1) as world:
            settings = ImproviseTestSettings(copies, _CROWD_S)
            begun = time.process_time()
            found, _ = roll_out_from(improviser, world, settings, seed)
            spent = time.process_time() - begun
        row[name] = spent / (copies * float(found.up_s.max()))
    return row | {"goal": {"one": 0.1}}


def _measure_crowd(improviser: Improviser, seed: int) -> Row:
    """Time of a crowd in one world, whose characters may touch each other, as a share of real time."""
    stage = Stage((Character(improviser.body),) * _CROWD)
    qpos = np.repeat(improviser.start_qpos[:1], _CROWD, axis=0)
    qpos[:, :2] = np.array(place_in_rings(_CROWD)) * _APART_SHARE
    with closing(engines.get_engine("mujoco").compile(stage, 1)) as world:
        players = [RandomPlayer(improviser, 1.0) for _ in range(_CROWD)]
        play = TogetherPlay(
            improviser, world, players, qpos, np.zeros((_CROWD, improviser.body.nv)), seed, try_again=False
        )
        begun, spent = time.perf_counter(), time.process_time()
        play.run(_TOGETHER_S / 10.0)
        lasted, spent = time.perf_counter() - begun, time.process_time() - spent
    row: Row = {"what": f"{_CROWD} characters in one world, as a share of real time", "kind": "crowd"}
    return row | {"wall": 10.0 * lasted / _TOGETHER_S, "processor": 10.0 * spent / _TOGETHER_S, "goal": {"wall": 1.0}}


def _measure_task(improviser: Improviser, rollouts: int, seed: int) -> Row:
    task = improviser.task
    if task is None:
        return {"what": "a task", "skipped": "the file has none"}
    kind = get_task(task.name)
    stage, copies = kind.make_stage(improviser.body), -(-rollouts // kind.together)
    with closing(engines.get_engine("mujoco").compile(stage, copies)) as world:
        doing = kind(copies * kind.together, None, stage)
        found = run_task(improviser, doing, task.policy, task.sigma_rad, world, seed, seconds=_TASK_S)
    row: Row = {"what": f"task {task.name}", "kind": "task", "million_samples": task.about["samples"] / 1e6}
    row |= {"minutes": task.about["seconds"] / 60.0, "sigma_rad": task.sigma_rad, **found.figures}
    row |= {"earned": found.earned, "falls": found.falls, "rollouts": rollouts, "mean_up_s": found.up_s}
    row["earned_at"] = [(one["samples"], one["earned"]) for one in task.about.get("tests", ())]
    return row | {"seconds": _TASK_S, "goal": {**_GOALS.get(task.name, {}), "minutes": 15.0, "million_samples": 3.0}}


def _measure_variant(path: Path, text: str, millions: float, seed: int) -> Row:
    """Train with one setting changed, and let it wander."""
    director = DIRECTED.from_content(DIRECTED.read_content(path), f"'{path}'")
    if not isinstance(director, TrainedDirector):
        raise BadSettings(f"'{path}' has no policy", "Give a library that 'sinew direct train' wrote")
    settings = ImproviseTrainSettings.from_texts([text, f"millions={millions}"])
    streams = make_clip_streams(
        Directing(director.stored.body, director.library), director.stored.body, np.arange(len(director.library))
    )
    config, vae = make_latent_config(settings), make_vae_settings(settings)
    begun, config = time.perf_counter(), replace(config, test_interval=max(1, config.samples // 4))
    with LatentTraining(director.controller, streams, engines.get_engine("mujoco"), config, vae, seed) as training:
        while training.samples < config.samples:
            training.advance()
        best = max((training.tests or [training.test()]), key=lambda test: test.merit)
    row: Row = {
        "what": f"variant {text}",
        "kind": "variant",
        "million_samples": millions,
        "mean_up_s_of_30": best.mean_up_s,
    }
    return row | {"falls_of_32": best.falls, "minutes": (time.perf_counter() - begun) / 60.0}
