# SPDX-License-Identifier: GPL-3.0-or-later
"""The method ``improvise_test``: random rollouts until they fall, and how much of the library is in them."""

import time
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import JobError
from ...motion import Clip
from ...settings import Settings, setting
from ...sim import engines
from ...sim.engine import World
from ...sim.stage import Character, Stage
from ..method import Method, Product, Run, Source
from ..tasks.tasks_table import get_task
from ..tracking_policy.reference_streams import CONTROL_FPS
from .learned_file import IMPROVISER, Improviser, TaskPolicy, improviser_from_content
from .task_training import run_task
from .variety import measure_spread, measure_variety
from .wandering import RandomRollouts, WanderingBodies, wander_by, wander_until_fall

_STEPS, _ALONE = 1000, 850
_TOGETHER, _TOGETHER_S = 10, 30.0


@dataclass(frozen=True)
class ImproviseTestSettings(Settings):
    """What an animator may set."""

    rollouts: int = setting(100, "Rollouts", "How many characters improvise", minimum=1, maximum=10_000)
    seconds: float = setting(60.0, "Seconds", "How long each does, at most", minimum=0.1, maximum=3600.0, unit="s")
    noise: float = setting(
        1.0, "Noise", "Share of the prior's deviation: less is calmer and less varied", minimum=0.0, maximum=3.0
    )


class ImproviseTest(Method):
    """How long characters that improvise stay up, and how varied they are."""

    name = "improvise_test"
    label = "Test Improviser"
    help = "Let characters improvise, and say how long they stay up and how much of the library they show"
    uses_engine = True
    takes = Source.LEARNED_FILE
    makes = (Product.REPORT,)
    learned = IMPROVISER
    settings_type = ImproviseTestSettings

    def run(self, clip: Clip, settings: ImproviseTestSettings, run: Run) -> None:
        """Test, and leave the figures in the report and in a sentence."""
        improviser = load_improviser(run)
        if improviser.task is not None:
            test_task(improviser, improviser.task, settings, run)
            return
        engine, stage = engines.get_engine(run.engine), Stage((Character(improviser.body),))

        def tell(share: float) -> None:
            run.progress(round(_ALONE * share), _STEPS)

        with closing(engine.compile(stage, settings.rollouts)) as world:
            found, spent_s = roll_out_from(improviser, world, settings, run.seed, tell)
        with closing(engine.compile(stage, _TOGETHER)) as world:
            together = _roll_out_together(improviser, world, settings, run.seed)
        figures = describe_rollouts(improviser, found)
        figures |= {"spread_m": measure_spread(together.root), "spread_after_s": min(_TOGETHER_S, settings.seconds)}
        figures |= {"together": measure_variety(improviser.known, together.rows)}
        steps = CONTROL_FPS * float(found.up_s.max()) * settings.rollouts
        figures["processor_ms_per_step"] = 1000.0 * spent_s / steps
        figures["share_of_real_time"] = spent_s * CONTROL_FPS / steps
        run.add_detail("test", figures)
        up, falls = figures["mean_time_until_fall_s"], figures["falls"]
        said = f"{settings.rollouts} characters stay up for {up:.1f} of {settings.seconds:g} s on average; {falls} fall"
        run.add_finding("test", f"{said}; they show {100.0 * figures['coverage']:.0f} % of the library", "")


def test_task(improviser: Improviser, task: TaskPolicy, settings: ImproviseTestSettings, run: Run) -> None:
    """Let characters do the task that was learned, and leave the figures in the report and in a sentence."""
    engine, kind = engines.get_engine(run.engine), get_task(task.name)
    stage, copies = kind.make_stage(improviser.body), -(-settings.rollouts // kind.together)
    run.progress(0, _STEPS)
    with closing(engine.compile(stage, copies)) as world:
        doing = kind(copies * kind.together, None, stage)
        found = run_task(improviser, doing, task.policy, task.sigma_rad, world, run.seed, seconds=settings.seconds)
    figures = {"task": task.name, "sigma_rad": task.sigma_rad, "mean_time_until_fall_s": found.up_s}
    figures |= {"falls": found.falls, "rollouts": copies * kind.together, "earned": found.earned, **found.figures}
    run.add_detail("test", figures)
    words = ", ".join(f"{name} {value:.3g}" for name, value in found.figures.items())
    said = f"{copies * kind.together} characters stay up for {found.up_s:.1f} of {settings.seconds:g} s on average"
    run.add_finding("test", f"{task.name}: {words}; {said}", "")


def load_improviser(run: Run) -> Improviser:
    """The job's improviser."""
    attached = run.attachment(IMPROVISER.attachment)
    if attached is None:
        raise JobError("The job has no improviser", "Choose one, and try again")
    return improviser_from_content(*attached, "The improviser")


def roll_out_from(
    improviser: Improviser, world: World, settings: ImproviseTestSettings, seed: int, on_share: Any = lambda _: None
) -> tuple[RandomRollouts, float]:
    """Rollouts from poses of the library, and the processor's seconds for them."""
    rng = np.random.default_rng([seed, 1])
    starts = rng.integers(len(improviser.start_qpos), size=world.copies)
    qpos, qvel = improviser.start_qpos[starts], improviser.start_qvel[starts]
    bodies = WanderingBodies(improviser.body, world, qpos, qvel, improviser.fall_heights)
    begun = time.process_time()
    found = wander_until_fall(
        bodies, wander_by(improviser.model, settings.noise), settings.seconds, rng, on_share=on_share
    )
    return found, time.process_time() - begun


def _roll_out_together(
    improviser: Improviser, world: World, settings: ImproviseTestSettings, seed: int
) -> RandomRollouts:
    """Rollouts that all begin standing in one place."""
    rng = np.random.default_rng([seed, 2])
    qpos = np.repeat(improviser.start_qpos[:1], world.copies, axis=0)
    qvel = np.zeros((world.copies, improviser.body.nv))
    bodies = WanderingBodies(improviser.body, world, qpos, qvel, improviser.fall_heights)
    return wander_until_fall(
        bodies, wander_by(improviser.model, settings.noise), min(_TOGETHER_S, settings.seconds), rng
    )


def describe_rollouts(improviser: Improviser, found: RandomRollouts) -> dict[str, Any]:
    """Plain figures of rollouts."""
    return {
        "mean_time_until_fall_s": found.mean_up_s,
        "deviation_s": float(found.up_s.std()),
        "falls": int(found.fell.sum()),
        "rollouts": len(found.up_s),
        **measure_variety(improviser.known, found.rows),
    }
