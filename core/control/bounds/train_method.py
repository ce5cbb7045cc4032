# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning within bounds as a method: from a clip to a controller, and a take of what it does to see."""

import time
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from ...body import BodyModel
from ...errors import BadFile, RigError
from ...geometry.quaternions import Array
from ...learn.learning_curve import UpdateRecord
from ...motion import Clip, Take
from ...settings import Settings, setting
from ...sim import engines
from ...sim.stage import Character, Stage
from ..character import build_job_body
from ..method import Run
from ..tracking.motion_kind import guess_gait
from .bounds import bounds_of, require_start_within, widths_on
from .controller import Controller, controller_to_arrays
from .course import CONTROL_FPS, Course, make_course
from .environment import EpisodeRules
from .live_preview import Rehearsal
from .playing import played
from .presets import bounds_preset, bounds_presets
from .rewards import Imitation, Term
from .starts import StartRules
from .style.making import STYLES, neutral_of, style_terms
from .style.training import StyledTraining
from .take_making import home_of
from .training import Study, Training, lives_s

CONTROLLER = "controller"
"""Name of the job's product."""

_SHOWN_S = 10.0
_CHECKPOINT_S = 20.0
_SPENT = "spent_s"  # name of an array of its own in checkpoints
_EPOCH = 32  # control steps after which starts learn
_STARTS_TOLD = 100  # moments of learning of which the report has where episodes began
_PRESETS = tuple((name, bounds_preset(name).label, bounds_preset(name).help) for name in bounds_presets())


@dataclass(frozen=True)
class BoundsTrainSettings(Settings):
    """What an animator may set."""

    bounds: str = setting(
        "loose", "Bounds", "How far from its source the motion may be; keyed bounds go first", choices=_PRESETS
    )
    reward: str = setting(
        "survival",
        "Reward",
        "What is worth something within the bounds",
        choices=(
            ("survival", "Staying Within", "All that is within the bounds is equally good"),
            ("imitation", "Likeness", "The closer to the source, the better"),
        ),
    )
    style: str = setting(
        "none", "Style", "How it is to be done, besides staying within; needs bounds that leave room", choices=STYLES
    )
    strength: float = setting(
        1.0, "Strength", "How much the style counts: 0 not at all, 1 is all that counts", minimum=0.0, maximum=1.0
    )
    motion: str = setting(
        "auto",
        "Motion",
        "Whether the motion goes on and on",
        choices=(
            ("auto", "As It Looks", "A cycle if it ends as it begins"),
            ("cycle", "Cycle", "It is done over and over, each time from where it ended"),
            ("once", "Once", "It is over at its end"),
        ),
    )
    millions: float = setting(
        10.0, "Million Steps", "When to give up: control steps of all copies", minimum=0.001, maximum=1000.0
    )
    seconds: float = setting(
        20.0,
        "Lasts",
        "It is learned when it lasts so long, or to its end, whenever it is begun",
        minimum=1.0,
        maximum=600.0,
        unit="s",
    )
    stop: bool = setting(True, "Stop When Learned", "Or go on until the steps are used up, which makes it sturdier")
    symmetric: bool = setting(
        True, "Symmetric Gaits", "Let walks and runs do left as they do right; learned twice as fast"
    )
    warm: bool = setting(
        True,
        "Begin With a Simulation",
        "Let it be simulated first, and begin with what that took: learned in a fraction of the steps",
    )
    importance: bool = setting(True, "Practise Hard Moments", "Begin more often where it fails (equation 11)")
    evolution: bool = setting(
        False,
        "Leave the Source",
        "Begin in states that did well, not in the source's: for sources that nobody could follow (equation 12)",
    )
    worlds: int = setting(512, "Copies", "How many learn side by side; an even number", minimum=2, maximum=65536)


class BoundsTrain:
    """PPO within spacetime bounds: a skill that keeps itself up, close to its source or in a style of its own."""

    name = "bounds_train"
    label = "Learn Within Bounds"
    help = "Practise the Action within its bounds until it stays within them by itself"
    uses_engine = True
    settings_type = BoundsTrainSettings

    def run(self, clip: Clip, settings: BoundsTrainSettings, run: Run) -> Take:
        """Learn, hand over the controller, and show it."""
        seed = int(run.rng.integers(2**62))  # before a checkpoint puts the generator elsewhere
        body, _ = build_job_body(clip, run)
        bounds = bounds_of(run, body, settings.bounds, clip)
        course = course_of(body, clip, settings)
        widths = widths_on(bounds, course, clip)
        require_start_within(widths, course, clip)
        budget = round(settings.millions * 1e6)
        with _training(course, widths, seed, settings, run) as training:
            spent_s = _resume(run, training)
            if settings.warm and not training.begun and not training.samples:
                began = time.monotonic()
                training.warm_up(lambda: run.progress(0, budget))
                spent_s = time.monotonic() - began
            with Rehearsal(course, widths, clip, engines.get_engine(run.engine)) as rehearsal:
                spent_s = _practise(run, training, rehearsal, budget, settings.stop, spent_s)
            if not training.tests or training.tests[-1].samples < training.samples:
                training.test()
            run.add_detail("bounds", _told(training, spent_s))
            _find(run, training)
            about = {"seed": seed, "engine": run.engine, "settings": settings.to_mapping(), **_told(training, spent_s)}
            controller = Controller(course, widths, training.policy, about)
        run.add_product(CONTROLLER, *controller_to_arrays(controller))
        return _shown(controller, clip, run)


def _training(course: Course, widths: Array, seed: int, settings: BoundsTrainSettings, run: Run) -> Training:
    """The skill by itself, or a style of it; both may begin with a policy that has it already."""
    study, engine = study_of(settings), engines.get_engine(run.engine)
    styled, neutral = style_terms(settings.style, settings.strength, course, run), neutral_of(run, course)
    if settings.style == "none" and neutral is None:
        return Training(course, widths, engine, study, seed, lambda: terms_of(settings))
    policy = None if neutral is None else neutral.policy
    return StyledTraining(course, widths, engine, study, seed, lambda: (*terms_of(settings), *styled()), policy)


def course_of(body: BodyModel, clip: Clip, settings: BoundsTrainSettings) -> Course:
    """The course that is wanted of a clip. A gait on a body that has two sides alike is even."""
    cyclic = {"auto": None, "cycle": True, "once": False}[settings.motion]
    if not settings.symmetric or cyclic is False or not guess_gait(clip):
        return make_course(body, clip, cyclic=cyclic)
    try:
        return make_course(body, clip, cyclic=cyclic, even=True)
    except RigError:  # sides that are no mirror images of each other
        return make_course(body, clip, cyclic=cyclic)


def study_of(settings: BoundsTrainSettings) -> Study:
    """How to learn what is wanted."""
    plain = Study()
    starts = StartRules(settings.importance, settings.evolution, plain.learn.discount)
    rules = EpisodeRules(longest_s=settings.seconds, epoch=_EPOCH, starts=starts)
    return replace(plain, worlds=settings.worlds + settings.worlds % 2, seconds=settings.seconds, rules=rules)


def terms_of(settings: BoundsTrainSettings) -> tuple[Term, ...]:
    """What survival is multiplied by."""
    return (Imitation(),) if settings.reward == "imitation" else ()


def _resume(run: Run, training: Training) -> float:
    """Go on from the newest checkpoint, if there is one; gives the seconds that were spent before it."""
    found = run.load_checkpoint()
    if found is None:
        return 0.0
    try:
        training.restore(found[1])
        return float(found[1].get(_SPENT, 0.0))
    except BadFile as error:
        run.add_finding("checkpoint", f"Training begins anew: {error.message}", "")
        return 0.0


def _practise(
    run: Run, training: Training, rehearsal: Rehearsal, budget: int, stop: bool, spent_s: float = 0.0
) -> float:
    """Learn until it lasts, the budget is used up, or somebody has seen enough; gives the seconds of all runs.

    A rest in between, which is taken where progress is told, is not counted.
    """
    saved = time.monotonic()
    while training.samples < budget and not (stop and training.enough):
        if run.is_enough() and training.samples:
            break
        began = time.monotonic()
        record = training.advance()
        spent_s += time.monotonic() - began
        if time.monotonic() - saved > _CHECKPOINT_S:
            run.save_checkpoint(training.samples, **training.state(), **{_SPENT: np.array(spent_s)})
            saved = time.monotonic()
        if rehearsal.is_time:
            run.show(*rehearsal.looked_at(training.trainer.policy, training.samples))
        run.progress(min(training.samples, budget), budget, **_figures(training, record))
    return spent_s


def _figures(training: Training, record: UpdateRecord) -> dict[str, float]:
    """Numbers for the live curves."""
    found = {"lives_s": lives_s(record, training.study), "earned": record.earned, "kl": record.kl}
    if training.tests:
        found["lasts"] = training.tests[-1].share
    return {name: float(value) for name, value in found.items() if np.isfinite(value)}


def _told(training: Training, spent_s: float) -> dict[str, object]:
    """How learning went, for the report and for plots of what was begun where."""
    study, course, curve = training.study, training.course, training.environments[0].starts.curve
    return {
        "samples": training.samples,
        "done_after": training.done_after,
        "seconds": spent_s,
        "cycle_s": course.duration_s,
        "cyclic": course.cyclic,
        "tests": [vars(test) for test in training.tests],
        "lives": [[record.samples, lives_s(record, study)] for record in training.trainer.curve],
        "endings": dict(training.trainer.curve[-1].endings) if training.trainer.curve else {},
        "starts": curve[:: len(curve) // _STARTS_TOLD + 1],
    }


def _find(run: Run, training: Training) -> None:
    if training.done_after is not None:
        return
    share = max(test.share for test in training.tests)
    record = training.trainer.curve[-1] if training.trainer.curve else None
    worst = max(record.endings, key=lambda name: record.endings[name]) if record and record.endings else ""
    run.add_finding(
        "bounds",
        f"It does not last {training.study.seconds:g} s yet: {100.0 * share:.0f} % of that, as a mean"
        + (f"; mostly '{worst}' is violated" if worst else ""),
        "Go on with more steps, or widen the bounds where it fails",
    )


def _shown(controller: Controller, clip: Clip, run: Run) -> Take:
    """What was learned, so that one sees it at once: ten seconds of a cycle, or all of what ends."""
    course = controller.course
    lasts_s = _SHOWN_S if course.cyclic else course.steps / CONTROL_FPS
    with closing(engines.get_engine(run.engine).compile(Stage((Character(course.body),)), 1)) as world:
        done = played(course, controller.widths, controller.policy, world, clip, lasts_s)
    return home_of(done, clip.fps, run)
