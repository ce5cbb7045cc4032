# SPDX-License-Identifier: GPL-3.0-or-later
"""Sampling control as a method: from a clip to a take that a body could really have moved."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...body.flight_retiming import RetimeReport, retime_flights
from ...body.foot_plant import plant_feet
from ...body.terrain_adaptation import adapt_to_ground
from ...geometry.quaternions import Array
from ...motion import Clip, Take
from ...motion.jitter_filter import filter_jitter
from ...motion.repair import repair_clip
from ...settings import Settings, setting
from ...sim import engines
from ...sim.assembly import require_apart
from ...sim.stage import Stage
from ...sim.surface import build_surface
from ..cast import load_cast
from ..character import build_job_body
from ..method import Run
from ..muscle import MUSCLE, load_muscle
from ..staging import build_job_stage
from ..tracking.recording import collect_prop_motions, describe_character, make_take, record_rollout
from ..tracking.reference import make_reference
from .checkpoint import RolloutCheckpoints
from .plan import SearchEffort
from .stage_character import StageCharacter
from .stage_rollout import StageRollout

_EFFORTS = {
    "draft": SearchEffort(80, (0.1,)),
    "normal": SearchEffort(100, (0.1, 0.05)),
    "high": SearchEffort(200, (0.1, 0.07, 0.05, 0.04)),
}
_FILM_COPIES = 64
_TILTED = 0.1  # sideways gravity, as a share: flights are no upright parabolas then
_SEEN_M = 0.02  # a smaller change of height is not worth a word


@dataclass(frozen=True)
class SamplingSettings(Settings):
    """What an animator may set."""

    quality: str = setting(
        "normal",
        "Quality",
        "How many trials are spent on the motion",
        choices=(
            ("draft", "Draft", "Fast, to see whether it works"),
            ("normal", "Normal", "About as long as the clip lasts on a fast machine"),
            ("high", "High", "For difficult motions and final takes"),
        ),
    )
    retime: bool = setting(
        True,
        "Fix Flight Times",
        "Play jumps slower or faster where nobody could fly them in the source's time; the take gets longer or shorter",
    )


class SamplingMethod:
    """SAMCON on the batch engine: the same motion with weight, on the first click."""

    name = "sampling"
    label = "Simulate"
    help = "Give the Action a body: the same motion with weight, found by sampling"
    uses_engine = True
    simulates_cast = True
    settings_type = SamplingSettings

    def run(self, clip: Clip, settings: SamplingSettings, run: Run) -> Take:
        """Prepare everybody, let them perform, and bring home what they did."""
        seed = int(run.rng.integers(2**62))  # before a checkpoint puts the generator elsewhere
        stage, sources = _prepared(clip, run)
        timing = _retime(stage, sources, run) if settings.retime else RetimeReport()
        with ExitStack() as opened:
            performance = _performance(
                stage, sources, load_muscle(run, clip), _EFFORTS[settings.quality], seed, run, opened
            )
            checkpoints = RolloutCheckpoints(run)
            for performer in performance.performers:
                performer.planner.breathe = partial(_report, run, performance, checkpoints)
            checkpoints.load(performance)
            performance.run(_looking(run, checkpoints))
            if not performance.foreseeable:
                world = engines.get_engine(run.engine).compile(stage, _FILM_COPIES)
                performance.world = opened.enter_context(closing(world))
            film = record_rollout(performance)
        takes = []
        for who, performer in enumerate(performance.performers):
            take, trace, holding = make_take(film, who, describe_character(performer), clip.fps)
            run.add_trace(trace)
            if holding.touched:
                run.add_finding("held", _named(stage.characters[who].name if who else "", holding.message), "")
            takes.append(take)
        times_s = None if timing.times_s is None else timing.times_s[: len(takes[0].motion)]
        props = collect_prop_motions(film, takes[0].motion)
        return replace(takes[0], others=tuple(takes[1:]), props=props, source_times_s=times_s)


def _prepared(clip: Clip, run: Run) -> tuple[Stage, list[Clip]]:
    """The stage, and everybody's clip made fit for simulation on it; what was done is told."""
    members = (None, *load_cast(run))
    sources, bodies, shaky = [], [], []
    for member in members:
        source, repair = repair_clip(clip if member is None else member.clip)
        if repair.touched:
            run.add_finding(
                "repair",
                _named(member.name if member else "", repair.message),
                "Look at those frames in the source if the take looks odd there",
            )
        source, steadying = filter_jitter(source)
        if steadying.touched:
            run.add_finding(
                "tremble",
                _named(member.name if member else "", steadying.message),
                "A recording with more frames a second or a better view keeps more of the motion",
            )
        sources.append(source)
        shaky.append(steadying.touched)
        bodies.append(build_job_body(source, run, member)[0])
    stage = build_job_stage(run, *bodies)
    ground = build_surface(stage)
    for index, body in enumerate(bodies):
        sources[index], grounding = adapt_to_ground(body, sources[index], ground)
        sources[index], planting = plant_feet(body, sources[index], ground, shaky[index])
        member = members[index]
        name = member.name if member else ""
        if max(abs(grounding.shift), grounding.lift, grounding.drop, grounding.rise) > _SEEN_M:
            run.add_finding("ground", _named(name, grounding.message), "")
        if planting.touched:
            run.add_finding("feet", _named(name, planting.message), "")
    return stage, sources


def _retime(stage: Stage, sources: list[Clip], run: Run) -> RetimeReport:
    """Play flights as gravity has them, in ``sources``; what else has a time of its own must stay in step, and is told.

    Gives what was done to the main character's clip.
    """
    down_m_s2 = -float(stage.gravity[2])
    if np.hypot(*stage.gravity[:2]) > _TILTED * abs(down_m_s2):
        return RetimeReport()
    reason = _own_time(stage, run)
    done = RetimeReport()
    for index, character in enumerate(stage.characters):
        clip, report = retime_flights(character.body, sources[index], down_m_s2, build_surface(stage))
        if not report.touched:
            continue
        name = character.name if index else ""
        if reason:
            message = f"{report.seen}, which nobody can do here; its time was left because of {reason}"
            run.add_finding("flight", _named(name, message), "Simulate it without them to have it fixed")
            continue
        run.add_finding("flight", _named(name, report.message), report.hint)
        sources[index], done = clip, report
    return done


def _own_time(stage: Stage, run: Run) -> str:
    """What would no longer happen at its moment if a clip were played slower or faster; nothing if it may be."""
    reasons = {
        "the other characters": len(stage.characters) > 1,
        "the keyed muscle": run.attachment(MUSCLE) is not None,
        "the pushes": bool(stage.pushes),
        "the props": bool(stage.props),
    }
    return " and ".join(name for name, there in reasons.items() if there)


def _named(name: str, message: str) -> str:
    return f"{name}: {message}" if name else message


def _performance(
    stage: Stage,
    sources: list[Clip],
    muscle: Array | None,
    effort: SearchEffort,
    seed: int,
    run: Run,
    opened: ExitStack,
) -> StageRollout:
    """Everybody in their own worlds and the whole one, ready to begin."""
    engine = engines.get_engine(run.engine)
    performers = []
    for who, (character, source) in enumerate(zip(stage.characters, sources, strict=True)):
        alone = replace(stage, characters=(character,), props=(), pushes=())
        world = opened.enter_context(closing(engine.compile(alone, effort.copies)))
        reference = make_reference(character.body, source, world, muscle)
        performers.append(StageCharacter(source, reference, world, effort, (seed, who)))
    first = performers[0]
    if len(performers) == 1 and not stage.props and not stage.pushes:
        return StageRollout(stage, tuple(performers), first.world, first.reference.states[0])
    qpos = np.concatenate([one.reference.qpos[0] for one in performers])
    require_apart(stage, qpos)
    world = opened.enter_context(closing(engine.compile(stage, 1)))
    qvel = np.concatenate([one.reference.rates[0] for one in performers])
    return StageRollout(stage, tuple(performers), world, world.state_of(qpos[None], qvel[None])[0])


def _report(run: Run, performance: StageRollout, checkpoints: RolloutCheckpoints) -> None:
    """Tell how far it is, which is also when a cancel is noticed."""
    layers = performance.planning[2].layers if performance.planning is not None else []
    done, total = performance.work
    run.progress(max(done, checkpoints.loading), total, cost=layers[-1].cost if layers else 0.0)


def _looking(run: Run, checkpoints: RolloutCheckpoints) -> Callable[[StageRollout], None]:
    """A checkpoint now and then, and progress."""

    def look(performance: StageRollout) -> None:
        checkpoints.save(performance, performance.work[0])
        _report(run, performance, checkpoints)

    return look
