# SPDX-License-Identifier: GPL-3.0-or-later
"""How far styles lead from the neutral policy: energy and volume within loose bounds, and the manner of other motions.

Every style begins with the neutral policy and is learned within the bounds for style exploration. All are then watched
for 20 s, from everywhere on the course and without noise.
"""

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ...core.control.bounds.controller import Controller
from ...core.control.bounds.files import ENDING, load_controller, save_controller
from ...core.control.bounds.playback import play_policy
from ...core.control.bounds.reference_trajectory import ReferenceTrajectory
from ...core.control.bounds.rewards import RewardTerm
from ...core.control.bounds.style.energy_and_volume import NAME, EnergyReward, VolumeReward
from ...core.control.bounds.style.gram_style import GramStyle, GramStyleReward
from ...core.control.bounds.style.measurement import StyleRollout, measure_style
from ...core.control.bounds.style.style_choice import VARIANTS, make_clip_style
from ...core.control.bounds.style.training import StyledTraining, require_same_reference
from ...core.control.bounds.train_settings import BoundsTrainSettings, make_bounds_training_config
from ...core.control.bounds.training import Training, mean_survival_s
from ...core.control.tracking.recording import make_take
from ...core.errors import BadFile, SinewError
from ...core.files import make_folder
from ...core.motion import Clip
from ...core.motion.io import stock
from ...core.sim import engines
from ...core.sim.engine import World
from ...core.sim.stage import Character, Stage
from ..rows import Row, code_version, describe_machine
from .table import BoundsBench, TrainingCache, prepare_stock_clip

PARTS = ("style", "manner")
SKILLS = ("walk", "run")
MANNERS = ("82_10_style_sad_walk", "82_12_style_happy_walk")
GOAL_CHANGE, GOAL_DISTANCE = 0.3, 0.5
"""How far each way energy and volume must move, and what may be left of the Gram distance: shares of the neutral."""

_BOUNDS = "style_exploration"
_MOST_MILLIONS = 2.0  # a style that is not there by then is not found
_WATCHED_S, _COPIES = 20.0, 16
_LINE_EVERY_S, _SAVED_EVERY_S = 10.0, 60.0

Clips = Callable[[str], Clip]
"""The recorded motion of a name, which only Blender can read."""


def measure_styles(
    bench: BoundsBench, parts: Sequence[str], seeds: Sequence[int], clips: Clips, only: Sequence[str] = ()
) -> Iterator[Row]:
    """Every row as soon as it is known; what fails has its reason in its row. only: some styles, or all."""
    for part in parts:
        for seed in seeds:
            for name in [name for name in bench.clips if name in SKILLS] if part == "style" else SKILLS[:1]:
                neutral: StyleRollout | None = None
                for style in ("neutral", *(VARIANTS if part == "style" else MANNERS)):
                    if only and style not in (*only, "neutral"):
                        continue
                    row = _started(bench, part, name, seed, style)
                    try:
                        work = _Work(bench, name, seed, clips)
                        found, performance = work.figures(style, neutral)
                        neutral = performance if style == "neutral" else neutral
                        row |= found
                    except SinewError as error:
                        row |= {"refused": str(error)}
                    except Exception as error:  # noqa: BLE001 - one bug must not cost the rows of an hour
                        traceback.print_exc()
                        row |= {"bug": f"{type(error).__name__}: {error}"}
                    yield row


def _started(bench: BoundsBench, part: str, name: str, seed: int, style: str) -> Row:
    return {
        "part": part,
        "name": name,
        "seed": seed,
        "style": style,
        "engine": bench.engine,
        "bounds": bench.settings.bounds if style == "neutral" else _BOUNDS,
        "strength": bench.settings.strength,
        "commit": code_version(),
        "machine": describe_machine(),
    }


class _Work:
    """A skill in some styles."""

    def __init__(self, bench: BoundsBench, name: str, seed: int, clips: Clips) -> None:
        self.bench, self.name, self.seed, self.clips = bench, name, seed, clips

    def path(self, style: str, ending: str = ENDING) -> Path:
        """Where a style's controller is kept, or with another ending its training."""
        words = (self.name, self.bench.engine, "style", str(self.seed), style)
        return self.bench.folder / f"{'_'.join(words)}{ending}"

    def figures(self, style: str, neutral: StyleRollout | None) -> tuple[Row, StyleRollout]:
        """What is to be told of a style, and how it was done."""
        controller, told = self._learned(style)
        with closing(self._world(controller.reference, _COPIES)) as world:
            found = measure_style(controller, world, _WATCHED_S)
        figures = found.figures
        told |= {"energy_j": figures.energy_j, "volume_m3": figures.volume_m3, "lasts": found.lasts}
        if neutral is None:
            return told, found
        if style in MANNERS:
            return told | self._nearness(style, controller.reference, neutral, found), found
        told["energy_change"] = figures.energy_j / neutral.figures.energy_j - 1.0
        told["volume_change"] = figures.volume_m3 / neutral.figures.volume_m3 - 1.0
        change = told["energy_change" if style.endswith("energy") else "volume_change"]
        moved = change if style.startswith("more") else -change
        return told | {"goal": GOAL_CHANGE, "reached": moved >= GOAL_CHANGE and found.lasts == 1.0}, found

    def _nearness(self, style: str, reference: ReferenceTrajectory, neutral: StyleRollout, found: StyleRollout) -> Row:
        manner = self._manner(style, reference)
        before, after = (one.distance(manner) for one in (neutral, found))
        reached = after <= GOAL_DISTANCE * before and found.lasts == 1.0
        told: Row = {"distance_neutral": before, "distance": after, "left": after / before}
        return told | {"goal": GOAL_DISTANCE, "reached": bool(reached)}

    def _learned(self, style: str) -> tuple[Controller, Row]:
        """The controller of a style: kept from before, or learned for as long as a row may take."""
        path = self.path(style)
        bounds = self.bench.settings.bounds if style == "neutral" else _BOUNDS
        reference, widths = prepare_stock_clip(self.name, _with_bounds(self.bench, bounds))
        if not self.bench.anew and path.is_file():
            try:
                kept = load_controller(path)
                require_same_reference(kept, reference)
                if kept.about["finished"]:
                    return kept, dict(kept.about)
            except (SinewError, KeyError):  # of another Sinew: a cache is no reason to stop
                pass
        engine, config = engines.get_engine(self.bench.engine), make_bounds_training_config(self.bench.settings)
        if style == "neutral":
            training = Training(reference, widths, engine, config, self.seed)
        else:
            policy = self._learned("neutral")[0].policy
            training = StyledTraining(
                reference, widths, engine, config, self.seed, self._terms(style, reference), policy
            )
        with training:
            told = self._practise(style, training)
            controller = Controller(reference, widths, training.policy, told)
        make_folder(path.parent)
        save_controller(path, controller)
        return controller, told

    def _practise(self, style: str, training: Training) -> Row:
        bench = self.bench
        most = bench.settings.millions if style == "neutral" else min(bench.settings.millions, _MOST_MILLIONS)
        kept = TrainingCache(self.path(style, ".npz"), training)
        if not bench.anew:
            kept.load()
        if bench.settings.warm and not training.pretrained and not training.samples:
            training.warm_start()
        began = told = saved = time.perf_counter()
        while training.samples < most * 1e6 and not training.is_done:
            record = training.advance()
            now = time.perf_counter()
            if now - told > _LINE_EVERY_S:
                told = now
                lasts = "".join(f", lasts {test.share:.0%}" for test in training.tests[-1:])
                worth, lives = record.terms.get(NAME, 1.0), mean_survival_s(record, training.config)
                head = f"{self.name} {style}: {training.samples / 1e6:.2f} M"
                bench.say(f"{head}, style {worth:.3f}, lives {lives:.1f} s{lasts}")
            if now - saved > _SAVED_EVERY_S:
                saved = now
                kept.save()
            if bench.minutes is not None and now - began > 60.0 * bench.minutes:
                break
        if not training.tests:
            training.test()
        kept.save()
        finished = training.samples >= most * 1e6 or training.is_done
        return {"samples_m": training.samples / 1e6, "minutes": kept.seconds / 60.0, "finished": finished}

    def _terms(self, style: str, reference: ReferenceTrajectory) -> Callable[[], tuple[RewardTerm, ...]]:
        strength = self.bench.settings.strength
        if style in MANNERS:
            manner = self._manner(style, reference)
            return lambda: (GramStyleReward(reference, manner, strength),)
        kind = EnergyReward if style.endswith("energy") else VolumeReward
        return lambda: (kind(reference, style.startswith("more"), strength),)

    def _manner(self, style: str, reference: ReferenceTrajectory) -> GramStyle:
        return make_clip_style(reference, self.clips(style))

    def _world(self, reference: ReferenceTrajectory, copies: int) -> World:
        return engines.get_engine(self.bench.engine).compile(Stage((Character(reference.body),)), copies)


def _with_bounds(bench: BoundsBench, bounds: str) -> BoundsTrainSettings:
    return replace(bench.settings, bounds=bounds)


def format_style_row(row: Row) -> str:
    """A row in a line, for whoever watches."""
    head = f"{row['part']} {row['name']} seed {row['seed']} {row['style']}"
    for word in ("refused", "bug"):
        if word in row:
            return f"{head}: {word}: {row[word]}"
    done = f"{head}: {row['energy_j']:.1f} J, {row['volume_m3']:.4f} m³, {row['lasts']:.0%} last 20 s"
    if "left" in row:
        return f"{done}; Gram distance {row['distance_neutral']:.2f} to {row['distance']:.2f}: {row['left']:.0%} left"
    if "energy_change" in row:
        return f"{done}; energy {row['energy_change']:+.0%}, volume {row['volume_change']:+.0%}"
    return done


def film_style(bench: BoundsBench, row: Row, seconds: float) -> tuple[Clip, Clip] | None:
    """What the neutral policy and the row's style do, for a picture; None where there is nothing to be shown yet."""
    paths = [_Work(bench, row["name"], row["seed"], _no_clips).path(style) for style in ("neutral", row["style"])]
    if row["style"] == "neutral" or not all(path.is_file() for path in paths):
        return None
    found, source = [], stock.load_stock(row["name"])
    for path in paths:
        own = load_controller(path)
        with closing(engines.get_engine(bench.engine).compile(Stage((Character(own.body),)), 1)) as world:
            done = play_policy(own.reference, own.widths, own.policy, world, source, seconds)
        found.append(make_take(done.film, 0, done.subject, source.fps)[0].motion)
    return found[0], found[1]


def _no_clips(name: str) -> Clip:
    raise BadFile(f"Nobody asked for '{name}'")
