# SPDX-License-Identifier: GPL-3.0-or-later
"""What learning within bounds costs: samples and minutes until a skill lasts, and how much of the engine is left of it.

Table 1 of the paper (Ma et al. 2021) with its own definition: 20 s without leaving the bounds, or the whole of a clip
that is no cycle, over and over; bounds alone, no imitation.
"""

import logging
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.body import BodyModel
from ...core.body.build import build_body
from ...core.control.bounds.bounds import bounds_of_preset, sample_widths
from ...core.control.bounds.presets import BoundsPreset
from ...core.control.bounds.reference_trajectory import CONTROL_FPS, ReferenceTrajectory
from ...core.control.bounds.train_settings import (
    BoundsTrainSettings,
    make_bounds_training_config,
    make_reward_terms,
    make_training_reference,
)
from ...core.control.bounds.training import BoundsTrainingConfig, Training, mean_survival_s
from ...core.errors import BadFile, SinewError
from ...core.files import make_folder, read_arrays, write_arrays
from ...core.geometry.quaternions import Array
from ...core.motion import Clip
from ...core.motion.io import stock
from ...core.sim import engines
from ...core.sim.stage import Character, Stage
from .. import rows as bench_rows
from ..rows import Row

CLIPS = ("walk", "run", "jump", "roll", "cartwheel", "dance_a", "backflip", "spinkick")
PAPER_M = {"walk": 4.08, "run": 4.11, "jump": 41.63, "roll": 12.31, "cartwheel": 17.35, "dance_a": 10.0}
PAPER_M |= {"backflip": 41.20}
DEEPMIMIC_M = {"walk": 23.80, "run": 19.31, "jump": 25.65, "roll": 23.00, "cartwheel": 30.45, "dance_a": 24.59}
DEEPMIMIC_M |= {"backflip": 31.18}
"""Millions of samples in table 1: the paper's own, and DeepMimic's as the paper has them."""
PARTS = ("table", "throughput")
GOAL_SHARE = 0.55
"""Of the bare engine's samples a second, for the whole loop."""
_LINE_EVERY_S, _SAVED_EVERY_S = 10.0, 60.0
_CURVE_POINTS = 200

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class BoundsBench:
    """What is measured.

    settings: of ``bounds_train``. minutes: how long a row may take in this run; None for as long as it wants. What is
    not finished by then is kept in ``stock_folder`` and goes on in the next run. anew: begin even what is kept anew.
    """

    folder: Path
    engine: str = "mujoco"
    clips: tuple[str, ...] = CLIPS
    settings: BoundsTrainSettings = field(default_factory=lambda: BoundsTrainSettings(bounds="loose"))
    minutes: float | None = None
    anew: bool = False
    say: Callable[[str], None] = lambda _: None

    def rows(self, parts: Sequence[str], seeds: Sequence[int]) -> Iterator[Row]:
        """Every row as soon as it is known; what fails has its reason in its row."""
        for part in parts:
            for seed in seeds if part == "table" else seeds[:1]:
                for name in self.clips if part == "table" else self.clips[:1]:
                    yield self._row(part, name, seed)

    def _row(self, part: str, name: str, seed: int) -> Row:
        begun = self.started(part, name, seed)
        return measure_row(
            begun, lambda: (measure_table_row if part == "table" else measure_training_throughput)(self, name, seed)
        )

    def started(self, part: str, name: str, seed: int) -> Row:
        """What a row begins with: what it is of."""
        return {
            "part": part,
            "name": name,
            "seed": seed,
            "engine": self.engine,
            "bounds": self.settings.bounds,
            "warm": self.settings.warm,
            "importance": self.settings.importance,
            "evolution": self.settings.evolution,
            "commit": bench_rows.code_version(),
            "machine": bench_rows.describe_machine(),
        }

    def training(self, name: str, seed: int) -> Training:
        """A stock clip to be learned."""
        reference, widths = prepare_stock_clip(name, self.settings)
        config = make_bounds_training_config(self.settings)
        return Training(
            reference, widths, engines.get_engine(self.engine), config, seed, lambda: make_reward_terms(self.settings)
        )


def measure_row(begun: Row, measure: Callable[[], Row]) -> Row:
    """The row with what is measured, or with the reason why that failed: one bug must not cost the rows of an hour."""
    try:
        return begun | measure()
    except SinewError as error:
        return begun | {"refused": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever it is, the other rows are not to blame
        traceback.print_exc()
        return begun | {"bug": f"{type(error).__name__}: {error}"}


def prepare_stock_clip(name: str, settings: BoundsTrainSettings) -> tuple[ReferenceTrajectory, Array]:
    """A stock clip as a course, and the widths on it."""
    clip = stock.load_stock(name)
    return prepare_bounded_reference(build_body(clip.skeleton, clip=clip)[0], clip, settings, settings.bounds)


def prepare_bounded_reference(
    body: BodyModel, clip: Clip, settings: BoundsTrainSettings, bounds: BoundsPreset | str
) -> tuple[ReferenceTrajectory, Array]:
    """A clip as a course of a body, and the widths of some bounds on it."""
    reference = make_training_reference(body, clip, settings)
    return reference, sample_widths(bounds_of_preset(body, bounds), reference, clip)


def measure_table_row(bench: BoundsBench, name: str, seed: int) -> Row:
    """One row of table 1: millions of samples and minutes until the skill lasts."""
    words = (name, bench.engine, bench.settings.bounds, str(seed), *(["warm"] if bench.settings.warm else []))
    with bench.training(name, seed) as training:
        path = bench.folder / f"{'_'.join(words)}.npz"
        spent = train_for_row(bench, training, name, path, begin=training.warm_start if bench.settings.warm else None)
        return {**_figures(name, training), **spent}


def train_for_row(
    bench: BoundsBench, training: Training, label: str, path: Path, begin: Callable[[], object] | None = None
) -> Row:
    """Let a training go on from what is kept of it, until it is done or has used up its samples or this run's minutes.

    begin: what to do first where nothing is kept.
    Gives the minutes that it has taken in all runs.
    """
    kept = TrainingCache(path, training)
    if not bench.anew:
        kept.load()
    if begin is not None and not training.samples:
        begin()
        training.test()
    budget = round(bench.settings.millions * 1e6)
    began = told = saved = time.perf_counter()
    while training.samples < budget and not (bench.settings.stop and training.done_after is not None):
        record = training.advance()
        now = time.perf_counter()
        if now - told > _LINE_EVERY_S:
            told = now
            lasts = "".join(f", lasts {100 * test.share:.0f} %" for test in training.tests[-1:])
            lives = mean_survival_s(record, training.config)
            bench.say(f"{label}: {training.samples / 1e6:.2f} M, lives {lives:.1f} s{lasts}")
        if now - saved > _SAVED_EVERY_S:
            saved = now
            kept.save()
        if bench.minutes is not None and now - began > 60.0 * bench.minutes:
            break
    kept.save()
    return {"minutes": kept.seconds / 60.0, "core_minutes": kept.core_seconds / 60.0}


def _figures(name: str, training: Training) -> Row:
    best = min((column[name] for column in (PAPER_M, DEEPMIMIC_M) if name in column), default=None)
    done = training.done_after
    return {
        **describe_bounds_training(training),
        "paper_m": PAPER_M.get(name),
        "deepmimic_m": DEEPMIMIC_M.get(name),
        "reached": None if best is None else done is not None and done / 1e6 < best,
        "starts": training.environments[0].initial_states.curve[-1:],
    }


def describe_bounds_training(training: Training) -> Row:
    """How a training went, with its curve: seconds that copies live with noise, by samples."""
    config, curve, done = training.config, training.trainer.curve, training.done_after
    thin = max(1, len(curve) // _CURVE_POINTS)
    return {
        "cycle_s": training.reference.duration_s,
        "cyclic": training.reference.cyclic,
        "even": training.reference.symmetric,
        "worlds": config.worlds,
        "learn": {name: getattr(config.ppo, name) for name in ("horizon", "epochs", "minibatch", "width")},
        "samples_m": training.samples / 1e6,
        "done_m": None if done is None else done / 1e6,
        "share": max((test.share for test in training.tests), default=0.0),
        "curve": [[one.samples, round(mean_survival_s(one, config), 3)] for one in curve[::thin]],
        "tests": [[test.samples, round(test.share, 4)] for test in training.tests],
    }


class TrainingCache:
    """A training in a file between two runs of the benchmark, with what it has cost so far."""

    def __init__(self, path: Path, training: Training) -> None:
        self.path, self.training = path, training
        self.seconds = self.core_seconds = 0.0
        self._clocks = time.perf_counter(), time.process_time()

    def load(self) -> None:
        """Go on from what was kept, if there is something."""
        if not self.path.is_file():
            return
        try:
            arrays, meta = read_arrays(self.path)
            self.training.restore(arrays)
            self.seconds, self.core_seconds = float(meta["seconds"]), float(meta["core_seconds"])
        except (BadFile, KeyError):  # of another Sinew, or learned in another way: a cache is no reason to stop
            _log.warning("'%s' is of no use, so it is learned from the beginning", self.path)

    def save(self) -> None:
        """Keep it, with the time since it was loaded or kept last."""
        now = time.perf_counter(), time.process_time()
        self.seconds += now[0] - self._clocks[0]
        self.core_seconds += now[1] - self._clocks[1]
        self._clocks = now
        make_folder(self.path.parent)
        meta = {"seconds": self.seconds, "core_seconds": self.core_seconds}
        write_arrays(self.path, self.training.state(), meta)


def measure_training_throughput(bench: BoundsBench, name: str, seed: int, turns: int = 40) -> Row:
    """Samples a second of the whole loop and of the engine alone: one update, then as many samples of the bare engine.

    Whatever else the machine does slows down both of a turn, so each turn has a share, and the middle one counts.
    """
    with bench.training(name, seed) as training:
        engine, worlds, horizon = engines.get_engine(bench.engine), training.config.worlds, training.config.ppo.horizon
        stage = Stage((Character(training.reference.body),))
        with closing(engine.compile(stage, worlds)) as world:
            training.advance()
            spent = []
            for _ in range(turns):
                begin, begin_core = time.perf_counter(), time.process_time()
                training.trainer.update()
                loop = time.perf_counter() - begin, time.process_time() - begin_core
                states = np.concatenate([one.states for one in training.environments])
                begin_core, substeps = time.process_time(), round(1.0 / (CONTROL_FPS * world.dt_s))
                bare = world.bare_seconds(states, horizon * substeps)
                spent.append([loop, (bare, time.process_time() - begin_core)])
    return _speeds(training.config, np.array(spent))


def _speeds(config: BoundsTrainingConfig, spent: Array) -> Row:
    """spent: (turns, 2, 2) seconds of loop and bare engine, by the clock and of CPU time."""
    (loop, _), (bare, _) = np.median(spent, axis=0)
    share, share_of_cpu = np.median(spent[:, 1] / spent[:, 0], axis=0)
    samples = config.worlds * config.ppo.horizon
    return {
        "worlds": config.worlds,
        "horizon": config.ppo.horizon,
        "epochs": config.ppo.epochs,
        "turns": len(spent),
        "samples_per_s": float(samples / loop),
        "bare_samples_per_s": float(samples / bare),
        "share_of_bare": float(share),
        "share_of_bare_by_cpu_time": float(share_of_cpu),
        "goal": GOAL_SHARE,
        "reached": bool(share >= GOAL_SHARE),
    }


def format_learning_row(row: Row) -> str:
    """A row in a line, for whoever watches."""
    head = f"{row['part']} {row['name']} seed {row['seed']}"
    for word in ("refused", "bug"):
        if word in row:
            return f"{head}: {word}: {row[word]}"
    if row["part"] == "throughput":
        speeds = f"{row['samples_per_s']:.0f} of {row['bare_samples_per_s']:.0f} samples/s"
        return f"{head}: {speeds}: {row['share_of_bare']:.0%}"
    if row["done_m"] is None:
        return f"{head}: not after {row['samples_m']:.2f} M, {row['minutes']:.1f} min; lasts {row['share']:.0%}"
    paper = f" (paper {row['paper_m']} M)" if row["paper_m"] else ""
    return f"{head}: {row['done_m']:.2f} M{paper}, {row['minutes']:.1f} min"


def summarise_bounds_goals(rows: Sequence[Row]) -> dict[str, Any]:
    """How many goals the rows reach."""
    judged = [row for row in rows if row.get("reached") is not None]
    return {"rows": len(rows), "judged": len(judged), "reached": sum(bool(row["reached"]) for row in judged)}


def override_settings(bench: BoundsBench, texts: Sequence[str]) -> BoundsBench:
    """The benchmark with settings of training such as 'millions=5'."""
    given = BoundsTrainSettings.from_texts(list(texts)).to_mapping()
    named = {text.partition("=")[0].strip() for text in texts}
    said = {name: value for name, value in given.items() if name in named}
    return replace(bench, settings=BoundsTrainSettings.from_mapping({**bench.settings.to_mapping(), **said}))
