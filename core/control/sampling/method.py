# SPDX-License-Identifier: GPL-3.0-or-later
"""Sampling control as a method: from a clip to a take that a body could really have moved."""

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

import numpy as np

from ...array_cache import compute_digest, describe_code
from ...body import BodyModel
from ...geometry.quaternions import Array
from ...motion import Clip, Take
from ...motion.seamless_loop import LOOP_MOST_APART_M, keep_loop, measure_seam
from ...motion.trim import MotionTrim
from ...settings import Settings, setting
from ...sim import engines
from ...sim.assembly import require_apart
from ...sim.stage import Stage
from ...sim.surface import build_surface
from ..cast import attachment_name, load_cast
from ..character import build_job_body
from ..frame_range import FRAME_RANGE
from ..method import Method, Run, Watched
from ..muscle import MUSCLE, load_muscle
from ..staging import build_job_stage
from ..tracking.cycle_playing import (
    PlayedCycle,
    SimulatedCycles,
    describe_outcome,
    find_lost_time,
    hand_back,
    plan_cycle,
)
from ..tracking.recording import collect_prop_motions, make_take
from ..tracking.reference import CONTROL_FPS, FRAGMENT_STEPS, make_reference
from ..tracking.source_preparation import add_findings, clean_source, prepare_source
from ..tracking.trimming import bridge_source, shift_stage, trim_findings, trim_setting
from .cost_report import compute_take_cost, sum_cost_by_second
from .getting_up import GetUpPlanner
from .job_rollout import roll_out_job
from .partial import simulate_part
from .plan import SearchEffort
from .stage_character import StageCharacter
from .stage_recording import describe_character, record_rollout
from .stage_rollout import StageRollout

EFFORTS = {
    "draft": SearchEffort(80, (0.1,)),
    "normal": SearchEffort(
        100, (0.1, *(0.05,) * 6), refits_above=3.0, usual=2, last=2, shares_first=True, improves=True
    ),
    "high": SearchEffort(200, (0.1, 0.07, 0.05, 0.04), repeats=True, improves=True),
}
_RECORDING_COPIES = 64
COST = "cost"
"""Name of the report's detail: the tracking cost by term, second by second; 'cast1_cost' for another character."""
TRAVEL = "travel"
"""Name of the report's detail about a cycle on the spot: how fast it travels, and the seam of its loop."""
_TILTED = 0.1  # sideways gravity, as a share of what goes down


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
    smooth: float = setting(
        0.0,
        "Smooth",
        "How much of small and fast movements is taken out of the take; feet stay where they stand",
        minimum=0.0,
        maximum=1.0,
    )
    when_lost: str = setting(
        "limp",
        "When Lost",
        "What a body does that has lost its source for good, such as after a fall",
        choices=(
            ("limp", "Go Limp", "It lets go, lies down and rests"),
            ("get_up", "Get Up", "It lets go and lies; where its source stands, it gets up and goes on with it"),
            ("go_on", "Go On Trying", "It goes on reaching for its source from wherever it is"),
        ),
    )
    hold_place: float = setting(
        0.0,
        "Hold Place",
        "How fast a body that has come off its source's way is drawn back to it; at 0 the motion goes on from where it "
        "is, which is gentler",
        minimum=0.0,
        maximum=2.0,
        unit="m/s",
    )
    key_tolerance_mm: float = setting(
        0.0,
        "Fewer Keys (mm)",
        "Leave out keys as long as no bone moves anything by more than so many millimetres; 0 keys every frame",
        minimum=0.0,
        maximum=100.0,
    )
    bones: str = setting(
        "",
        "Bones",
        "Simulate only these and keep all others as animated: names of bones or parts (upper_body, left_arm, tail), "
        "with commas between. Empty for the whole body",
    )
    softness: float = setting(
        0.7,
        "Softness",
        "How loosely the chosen bones follow their animation: 0 firmly, 1 not at all",
        minimum=0.0,
        maximum=1.0,
    )
    trim: str = trim_setting()
    travel: str = setting(
        "auto",
        "Travel",
        "What becomes of a walk or run on the spot, whose feet slide back under it as on a treadmill",
        choices=(
            ("auto", "Automatic", "A cycle that is clearly on the spot is simulated as it would travel"),
            ("on", "On", "Give any cycle the travel that its feet ask for"),
            ("off", "Off", "Leave it as it is, feet and all"),
        ),
    )
    cycles: int = setting(5, "Cycles", "How many times over a cycle on the spot is simulated", minimum=1, maximum=100)
    loop: str = setting(
        "on_spot",
        "Loop",
        "What you get back of a cycle on the spot",
        choices=(
            ("on_spot", "On the Spot", "One cycle without a seam, on the spot again"),
            ("travelling", "Travelling", "One cycle without a seam, as it travels"),
            ("all", "All Cycles", "Everything that was simulated, as it travels"),
        ),
    )


class SamplingMethod(Method):
    """SAMCON on the batch engine: the same motion with weight, on the first click."""

    name = "sampling"
    label = "Simulate"
    help = "Give the Action a body: the same motion with weight, found by sampling"
    uses_engine = True
    simulates_cast = True
    watched = (Watched("planned_s", "Simulated", "{:.1f} s"), Watched("cost", "Cost", "{:.2f}", advanced=True))
    settings_type = SamplingSettings

    def run(self, clip: Clip, settings: SamplingSettings, run: Run) -> Take:
        """Prepare the sources, roll the stage out, and make takes of the recording."""
        if settings.bones.strip():
            return simulate_part(clip, settings.bones, settings.softness, settings.smooth, run)
        seed = int(run.rng.integers(2**62))  # before a checkpoint puts the generator elsewhere
        stage, sources, times_s, trim, played, skates = prepare_stage(clip, settings, run)
        muscle = load_muscle(run, clip if played is None else sources[0])
        if muscle is not None and played is None:
            muscle = muscle[trim.start : trim.stop]
        with ExitStack() as opened:
            effort = replace(EFFORTS[settings.quality], homing_m=settings.hold_place * FRAGMENT_STEPS / CONTROL_FPS)

            def begin(its_stage: Stage, number: int) -> StageRollout:
                # As a job with that seed would draw it.
                own = int(np.random.default_rng(run.seed + number).integers(2**62)) if number else seed
                begun = begin_rollout(its_stage, sources, muscle, effort, own, run, opened)
                for character in begun.characters:
                    character.lets_go = settings.when_lost != "go_on"
                    if settings.when_lost == "get_up":
                        character.rises = GetUpPlanner(character.reference, build_surface(its_stage))
                return begun

            rollout = roll_out_job(stage, begin, run, opened)
            if not rollout.foreseeable:
                world = engines.get_engine(run.engine).compile(rollout.stage, _RECORDING_COPIES)
                rollout.world = opened.enter_context(closing(world))
            recording = record_rollout(rollout)
        takes, traces = [], []
        for index, character in enumerate(rollout.characters):
            rate = (clip.fps, len(sources[0])) if played is None else (CONTROL_FPS, None)
            take, trace, foot_lock = make_take(
                recording, index, describe_character(character), rate[0], settings.smooth, rate[1]
            )
            run.add_trace(replace(trace, begin_s=trim.start / clip.fps, source_skate_m_s=skates[index]))
            traces.append(trace)
            run.add_detail(
                attachment_name(COST, index), sum_cost_by_second(compute_take_cost(rollout, recording, index))
            )
            held = foot_lock.message if foot_lock.touched else ""
            _say(run, stage, index, held=held, get_up=character.describe_rising(trim.start / clip.fps))
            takes.append(take)
        if played is not None:
            cycles = SimulatedCycles(played, takes[0], times_s, sources[0].fps, find_lost_time(traces[0]))
            takes[0] = _hand_back(cycles, stage, settings, run)
            times_s = takes[0].source_times_s
        elif len(takes) == 1 and settings.loop != "all" and not _meets(stage, run) and not find_lost_time(traces[0]):
            takes[0] = _keep_loop(takes[0], trim.cut_clip(clip), stage, run)
        props = collect_prop_motions(recording, takes[0].motion)
        take = replace(takes[0], others=tuple(takes[1:]), props=props, source_times_s=times_s)
        return trim.pad_take(take, clip.fps)


def _say(run: Run, stage: Stage, index: int, **messages: str) -> None:
    """Findings about a character by kind, those that are not empty; of others than the main one with their names."""
    name = f"{stage.characters[index].name}: " if index else ""
    for kind, message in messages.items():
        if message:
            run.add_finding(kind, f"{name}{message}", "")


def _hand_back(cycles: SimulatedCycles, stage: Stage, settings: SamplingSettings, run: Run) -> Take:
    """The take of a cycle on the spot, as it was asked for; a loop only where every cycle met with the same."""
    root = cycles.played.source.skeleton.index(stage.characters[0].body.links[0].bone)
    take, finding, numbers = hand_back(cycles, root, settings.loop, _meets(stage, run))
    add_findings(run, (finding,))
    run.add_detail(TRAVEL, numbers)
    return take


def _keep_loop(take: Take, source: Clip, stage: Stage, run: Run) -> Take:
    """A take that can be played over and over, where its source can and its ends are near enough."""
    root = source.skeleton.index(stage.characters[0].body.links[0].bone)
    looped = keep_loop(take.motion, source, root)
    if looped is take.motion:
        return take
    apart_m = measure_seam(take.motion).distance_m
    if apart_m > LOOP_MOST_APART_M:
        message = f"It is no loop, as its source is: it ends {100 * apart_m:.0f} cm from where it began"
        run.add_finding("loop", message, "Simulate it several times over (--cycles 3) if it is to be a loop")
        return take
    message = f"It ends as it begins, as its source does: ends {100 * apart_m:.1f} cm apart were drawn together"
    run.add_finding("loop", message, "Loop: All Cycles leaves them as they are (--set loop=all)")
    return replace(take, motion=looped)


def _meets(stage: Stage, run: Run) -> str:
    """What a cycle meets with that the next one does not; '' for nothing."""
    return _own_time(stage, run) or ("the obstacles" if stage.obstacles or stage.terrain is not None else "")


def prepare_stage(
    clip: Clip, settings: SamplingSettings, run: Run
) -> tuple[Stage, list[Clip], Array | None, MotionTrim, PlayedCycle | None, list[float | None]]:
    """The stage, everybody's clip made fit for simulation on it, and of the main one its ``source_times_s``, its trim
    and how its cycle on the spot is played; last everybody's foot skate as it came.

    A body is built of the cleaned clip, and the ground is known when all bodies are on the stage, so sources are
    prepared in two steps; flights keep their times where something else on the stage has a time of its own. What of
    the main character's clip is no motion is left out for everybody.
    """
    members = (None, *load_cast(run))
    names = [member.name if member else "" for member in members]
    sources, cleaned, bodies, trims = [], [], [], []
    for member, name in zip(members, names, strict=True):
        source, trim = bridge_source(member.clip if member else clip, settings.trim)
        trims.append(trim)
        source, report = clean_source(trims[0].cut_clip(source), name=name)
        add_findings(run, (*trim_findings(trim.findings, name), *report.findings))
        sources.append(source)
        cleaned.append(report)
        bodies.append(build_job_body(source, run, member)[0])
    stage = shift_stage(build_job_stage(run, *bodies), trims[0].start / clip.fps)
    played = _play_cycles(sources, bodies, names, settings, run)
    gravity, ground, fixed_time = _flight_gravity(stage) if settings.retime else None, build_surface(stage), ""
    if gravity is not None:
        fixed_time = _own_time(stage, run)
    reports = []
    for index, character in enumerate(stage.characters):
        sources[index], report = prepare_source(
            character.body,
            sources[index],
            ground=ground,
            gravity_m_s2=gravity,
            fixed_time=fixed_time,
            can_keep_times=True,
            cleaned=cleaned[index],
            name=names[index],
            alone=len(stage.characters) == 1 and not stage.props,
        )
        reports.append(report)
    findings = [finding for report in reports for finding in report.findings]
    add_findings(run, sorted(findings, key=lambda finding: finding.kind == "flight"))
    return stage, sources, reports[0].times_s, trims[0], played, [report.source_skate_m_s for report in reports]


def _play_cycles(
    sources: list[Clip], bodies: list[BodyModel], names: list[str], settings: SamplingSettings, run: Run
) -> PlayedCycle | None:
    """Let whoever is on the spot travel, in place; gives how the main character's cycle is played over and over.

    With others on the stage everybody's clip is played once, for they belong together.
    """
    travel = "off" if run.attachment(FRAME_RANGE) is not None else settings.travel  # the rest of the clip stays
    plans = [plan_cycle(source, body, travel, settings.cycles) for source, body in zip(sources, bodies, strict=True)]
    if len(plans) == 1:
        if plans[0] is not None:
            sources[0] = plans[0].play()
        return plans[0]
    for index, plan in enumerate(plans):
        if plan is not None:
            sources[index] = plan.play_once()
            once = describe_outcome(replace(plan, cycles=plan.repeats), "all", "the other characters")
            add_findings(run, (replace(once, message=f"{names[index]}: {once.message}" if index else once.message),))
    return None


def _flight_gravity(stage: Stage) -> float | None:
    """m/s² that flights fall at; None where gravity is tilted, for they are no upright parabolas then."""
    down_m_s2 = -float(stage.gravity[2])
    return None if np.hypot(*stage.gravity[:2]) > _TILTED * abs(down_m_s2) else down_m_s2


def _own_time(stage: Stage, run: Run) -> str:
    """What would no longer happen at its moment if a clip were played slower or faster; nothing if it may be."""
    reasons = {
        "the other characters": len(stage.characters) > 1,
        "the keyed muscle": run.attachment(MUSCLE) is not None,
        "the pushes": bool(stage.pushes),
        "the props": bool(stage.props),
        "the frames after it": run.attachment(FRAME_RANGE) is not None,
    }
    return " and ".join(name for name, there in reasons.items() if there)


def begin_rollout(
    stage: Stage,
    sources: list[Clip],
    muscle: Array | None,
    effort: SearchEffort,
    seed: int,
    run: Run,
    opened: ExitStack,
) -> StageRollout:
    """Every character in a world of its own and the whole one, ready to begin."""
    engine = engines.get_engine(run.engine)
    characters = []
    for index, (character, source) in enumerate(zip(stage.characters, sources, strict=True)):
        # By whatever name: what is kept of a source is found again after a rename, and once there is a stage.
        alone = replace(stage, characters=(replace(character, name=""),), props=(), pushes=())
        world = opened.enter_context(closing(engine.compile(alone, effort.copies)))
        reference = make_reference(character.body, source, world, muscle)
        moves = reference.qpos, reference.rates, reference.targets, reference.muscle
        about = compute_digest(describe_code(), run.engine, alone, moves)
        characters.append(StageCharacter(source, reference, world, effort, (seed, index), about))
    first = characters[0]
    if len(characters) == 1 and not stage.props and not stage.pushes:
        return StageRollout(stage, tuple(characters), first.world, first.reference.states[0])
    qpos = np.concatenate([one.reference.qpos[0] for one in characters])
    require_apart(stage, qpos)
    world = opened.enter_context(closing(engine.compile(stage, 1)))
    qvel = np.concatenate([one.reference.rates[0] for one in characters])
    return StageRollout(stage, tuple(characters), world, world.state_of(qpos[None], qvel[None])[0])
