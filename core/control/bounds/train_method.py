# SPDX-License-Identifier: GPL-3.0-or-later
"""The method ``bounds_train``: from a clip to a learned controller, and a take that shows it."""

import time
from contextlib import closing

from ...geometry.quaternions import Array
from ...learn.learning_curve import UpdateRecord
from ...motion import Clip, Take
from ...sim import engines
from ...sim.stage import Character, Stage
from ..character import build_job_body
from ..method import Method, Product, Run, Watched
from ..practice import describe_spreading, find_spreader, practise, resume_practice
from ..tracking.source_preparation import add_findings
from .bounds import read_job_bounds, require_start_within, sample_widths
from .controller import Controller, controller_to_arrays
from .learned_file import CONTROLLER
from .live_preview import PolicyPreview
from .playback import play_policy
from .reference_trajectory import CONTROL_FPS, ReferenceTrajectory
from .style.style_choice import make_style_terms, read_neutral_controller
from .style.training import StyledTraining
from .take_making import make_playback_take
from .train_settings import BoundsTrainSettings, make_bounds_training_config, make_reward_terms, make_training_reference
from .training import Training, mean_survival_s
from .training_progress import TrainingProgress

_SHOWN_S = 10.0
_REPORTED_ADAPTATIONS = 100  # of the initial states' curve


class BoundsTrain(Method):
    """PPO within spacetime bounds: a skill that keeps itself up, close to its source or in a style of its own."""

    name = "bounds_train"
    label = "Learn Within Bounds"
    help = "Practise the Action within its bounds until it stays within them by itself"
    button = "Train"
    tooltip = (
        "Practise the Action within its bounds in the background. What is learned is kept in a file; a take shows it"
    )
    uses_engine = True
    makes = (Product.LEARNED_FILE, Product.TAKE)
    learned = CONTROLLER
    stops_early = True
    watched = (
        Watched("studied", "Studied", "{:.0%}"),
        Watched("lives_s", "Stays up", "{:.1f} s"),
        Watched("lasts", "Lasts", "{:.0%}"),
        Watched("earned", "Reward", "{:.2f}", advanced=True),
        Watched("kl", "KL divergence", "{:.4f}", advanced=True),
    )
    packages = ("torch",)
    rollouts_in_shards = True
    result_name = "learned"
    settings_type = BoundsTrainSettings

    def run(self, clip: Clip, settings: BoundsTrainSettings, run: Run) -> Take:
        """Train, hand over the controller, and make a take with it."""
        seed = int(run.rng.integers(2**62))  # before a checkpoint puts the generator elsewhere
        body, _ = build_job_body(clip, run)
        bounds = read_job_bounds(run, body, settings.bounds, clip)
        reference = make_training_reference(body, clip, settings)
        add_findings(run, reference.findings)
        widths = sample_widths(bounds, reference, clip)
        require_start_within(widths, reference, clip)
        budget = round(settings.millions * 1e6)
        with _make_training(reference, widths, seed, settings, run) as training:
            spent_s = resume_practice(run, training)
            progress = TrainingProgress(run, training, budget, settings.stop)
            if settings.warm and not training.pretrained and not training.samples:
                began = time.monotonic()
                training.warm_start(progress.breathe, progress.begin_part, progress.clone)
                spent_s = time.monotonic() - began
            with PolicyPreview(reference, widths, clip, engines.get_engine(run.engine)) as preview:
                progress.begin_practice()
                spent_s = _train(run, training, progress, preview, budget, settings.stop, spent_s)
            if not training.tests or training.tests[-1].samples < training.samples:
                training.test()
            run.add_detail("bounds", _describe(training, spent_s))
            describe_spreading(run)
            _add_findings(run, training)
            about = {
                "seed": seed,
                "engine": run.engine,
                "settings": settings.to_mapping(),
                **_describe(training, spent_s),
            }
            controller = Controller(reference, widths, training.policy, about)
        run.add_product(CONTROLLER.name, *controller_to_arrays(controller))
        return _make_take(controller, clip, run)


def _make_training(
    reference: ReferenceTrajectory, widths: Array, seed: int, settings: BoundsTrainSettings, run: Run
) -> Training:
    """The training of a skill by itself, or of a style of it; both may begin with the policy of a controller."""
    config, engine = make_bounds_training_config(settings), engines.get_engine(run.engine)
    make_style = make_style_terms(settings.style, settings.strength, reference, run)
    neutral = read_neutral_controller(run, reference)
    if settings.style == "none" and neutral is None:
        return Training(
            reference, widths, engine, config, seed, lambda: make_reward_terms(settings), find_spreader(run)
        )
    policy = None if neutral is None else neutral.policy
    return StyledTraining(
        reference,
        widths,
        engine,
        config,
        seed,
        lambda: (*make_reward_terms(settings), *make_style()),
        policy,
        find_spreader(run),
    )


def _train(
    run: Run,
    training: Training,
    progress: TrainingProgress,
    preview: PolicyPreview,
    budget: int,
    stop: bool,
    spent_s: float = 0.0,
) -> float:
    """Train until the policy survives, the budget of samples is used up, or the user stops it; gives all seconds."""

    def is_over(_: float) -> bool:
        return training.samples >= budget or (stop and training.is_done)

    def after(record: UpdateRecord, _: float) -> None:
        if preview.is_due:
            run.show(*preview.record(training.trainer.policy, training.samples))
        progress.practise(record)

    return practise(run, training, is_over=is_over, after=after, spent_s=spent_s)


def _describe(training: Training, spent_s: float) -> dict[str, object]:
    """How training went, for the report and for plots of the initial states."""
    config, reference = training.config, training.reference
    curve = training.environments[0].initial_states.curve if training.environments else []
    return {
        "samples": training.samples,
        "done_after": training.done_after,
        "seconds": spent_s,
        "cycle_s": reference.duration_s,
        "cyclic": reference.cyclic,
        "tests": [vars(test) for test in training.tests],
        "lives": [[record.samples, mean_survival_s(record, config)] for record in training.trainer.curve],
        "endings": dict(training.trainer.curve[-1].endings) if training.trainer.curve else {},
        "starts": curve[:: len(curve) // _REPORTED_ADAPTATIONS + 1],
    }


def _add_findings(run: Run, training: Training) -> None:
    if training.done_after is not None:
        return
    share = max(test.share for test in training.tests)
    record = training.trainer.curve[-1] if training.trainer.curve else None
    worst = max(record.endings, key=lambda name: record.endings[name]) if record and record.endings else ""
    run.add_finding(
        "bounds",
        f"It does not last {training.config.required_s:g} s yet: {100.0 * share:.0f} % of that, as a mean"
        + (f"; mostly '{worst}' is violated" if worst else ""),
        "Go on with more steps, or widen the bounds where it fails",
    )


def _make_take(controller: Controller, clip: Clip, run: Run) -> Take:
    """A take with the controller: ten seconds of a cycle, or the whole of a motion that ends."""
    reference = controller.reference
    lasts_s = _SHOWN_S if reference.cyclic else reference.steps / CONTROL_FPS
    with closing(engines.get_engine(run.engine).compile(Stage((Character(reference.body),)), 1)) as world:
        playback = play_policy(reference, controller.widths, controller.policy, world, clip, lasts_s)
    return make_playback_take(playback, clip.fps, run)
