# SPDX-License-Identifier: GPL-3.0-or-later
"""The method ``respond_train``: a student learns what the exact answer plays, in less time than the library takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import BadSettings
from ...learn.learning_curve import UpdateRecord
from ...learn.recurrent_data import RecurrentSettings
from ...motion import Clip
from ...settings import Settings, setting
from ..method import Method, Product, Run, Source, Watched
from ..practice import practise, resume_practice
from ..work_meter import WorkMeter
from .bake_method import agility_setting, load_responder
from .goals import deed_names
from .hurrying import HURRY
from .learned_file import RESPONDER, library_of, store_responder
from .responding import Responding
from .student.distillation import Distillation, begin_distillation
from .student.episodes import EpisodeMaker, list_words, make_episodes
from .student.state_layout import make_layout
from .student.student import Student
from .student.student_trials import student_trials
from .trials import ResponseTrial, is_about_deeds, run_trials

_TABLES, _TAUGHT, _SHOWN, _PRACTISED = 0.05, 0.1, 0.2, 0.97  # shares of the whole
_EPISODE_SEED, _TEST_SEED = 21, 22
_EPISODE_S = 8.0
_LEAST_FRAMES = 600  # of all episodes together: less is nothing to learn from
_SHARES, _TAUS_S = (0.4, 0.7, 1.0), (0.5, 0.75, 1.0)
_CURVE_POINTS = 200
_SURE = 0.98  # who is on time so often is as good as who always is: what it looks like counts then


@dataclass(frozen=True)
class RespondTrainSettings(Settings):
    """What an animator may set for training."""

    minutes: float = setting(
        30.0, "Minutes", "When to stop learning, and keep what there is", minimum=0.01, maximum=100_000.0, unit="min"
    )
    updates: int = setting(
        4000,
        "Updates",
        "When to stop at the latest: the pace of learning slows down towards it",
        minimum=1,
        maximum=10**7,
    )
    shown: float = setting(
        30.0,
        "Minutes Shown",
        "How much motion it is shown, made from the library by asking for this and that",
        minimum=0.2,
        maximum=600.0,
        unit="min",
    )
    units: int = setting(
        192, "Units", "Width of the network: more is better, and slower to play", minimum=8, maximum=4096
    )
    layers: int = setting(2, "Layers", "Recurrent layers of the network", minimum=1, maximum=8)
    teacher: float = setting(
        0.3,
        "Million Decisions",
        "How long a teacher practises by trial and error beforehand, to be compared with the exact answer; 0 for none",
        minimum=0.0,
        maximum=1000.0,
    )
    trials: int = setting(
        100,
        "Trials",
        "How often both answers are tested in the end, for each of three times",
        minimum=1,
        maximum=100_000,
    )
    agility: float = agility_setting()


class RespondTrain(Method):
    """A recurrent network is shown what the exact answer does in a given time, until it does so by itself."""

    name = "respond_train"
    label = "Train to Respond"
    help = "Teach a network to do the library's deeds in a given time, without the library"
    button = "Train"
    tooltip = "Learn the library's deeds in the background. What is learned is kept in a file with the library"
    uses_engine = False
    takes = Source.LEARNED_FILE
    makes = (Product.LEARNED_FILE,)
    learned = RESPONDER
    stops_early = True
    watched = (
        Watched("motion_loss", "Error", "{:.3f}"),
        Watched("contact_loss", "Sliding", "{:.4f}", advanced=True),
        Watched("rigid_loss", "Stretching", "{:.4f}", advanced=True),
    )
    packages = ("torch",)
    result_name = "trained"
    settings_type = RespondTrainSettings

    def run(self, clip: Clip, settings: RespondTrainSettings, run: Run) -> None:
        """Make tables and episodes, learn from them, and hand over the library with the student."""
        stored = library_of(load_responder(run))
        figures: dict[str, Any] = {}
        meter = WorkMeter(run, lambda: figures)
        meter.begin(_TABLES, 1.0, "Making tables")
        responding = Responding(stored.body, stored.library, most_m=settings.agility)
        if settings.teacher:
            run.add_detail("teacher", _teach(responding, settings, run.seed, meter))
        training = _begin(responding, settings, run.seed, meter)
        spent_s = resume_practice(run, training)
        meter.begin(_PRACTISED, doing="Learning")

        def after(record: UpdateRecord, seconds: float) -> None:
            figures.update({f"{name}_loss": loss for name, loss in record.terms.items()})
            meter.reach(max(record.update / settings.updates, seconds / (60.0 * settings.minutes)))

        def is_over(seconds: float) -> bool:
            return training.training.updates >= settings.updates or seconds >= 60.0 * settings.minutes

        spent_s = practise(run, training, is_over=is_over, after=after, spent_s=spent_s)
        meter.begin(1.0, doing="Testing")
        student = training.student({})
        tests = compare_answers(responding, student, run.seed, settings.trials)
        about = {"seconds": spent_s, "frames": training.samples, "tests": tests, "default": choose_default(tests)}
        run.add_detail("train", {**about, "losses": _thin(training.losses)})
        kept = {"seed": run.seed, "settings": settings.to_mapping(), **about}
        run.add_product(RESPONDER.name, *store_responder(stored, training.student(kept)))


def _teach(responding: Responding, settings: RespondTrainSettings, seed: int, meter: WorkMeter) -> dict[str, Any]:
    """A teacher by PPO, and how it compares; it is not checkpointed, for it takes a minute."""
    from .teacher.teaching import compare_teacher, describe_teacher, train_teacher

    names = list_words(responding)
    meter.begin(_TAUGHT, doing="Practising by trial and error")
    trainer = train_teacher(responding, names, round(settings.teacher * 1e6), seed, progress=meter.reach)
    return describe_teacher(trainer, compare_teacher(responding, names, trainer.policy, settings.trials, seed))


def _begin(responding: Responding, settings: RespondTrainSettings, seed: int, meter: WorkMeter) -> Distillation:
    """Episodes, and the training that learns from them; the same from the same seed, also when it goes on."""
    words = list_words(responding)
    if not words:
        raise BadSettings(
            "The library has neither deeds nor a style to go in", "Mark key moments, or tag clips as walk"
        )
    library = responding.library
    layout = make_layout(responding.body, library.motion, responding.contacts.shape[1], deed_names(library))
    maker = EpisodeMaker(responding, words, layout)
    count = max(1, round(settings.shown * 60.0 / _EPISODE_S))
    meter.begin(_SHOWN, count, "Playing what is to be learned")
    rng = np.random.default_rng([seed, _EPISODE_SEED])
    episodes = make_episodes(maker, count, _EPISODE_S, rng, lambda _: meter.step())
    if sum(len(one.states) for one in episodes) < _LEAST_FRAMES:
        raise BadSettings(
            "The library leads nowhere: there is nothing to learn from", "Add clips, or allow more agility"
        )
    own = RecurrentSettings(units=settings.units, layers=settings.layers, updates=settings.updates)
    return begin_distillation(maker, episodes, own, seed)


def compare_answers(responding: Responding, student: Student, seed: int, count: int) -> dict[str, dict[str, Any]]:
    """The same trials for the exact answer and for the student: {answer: figures}, and by response time."""
    about_deeds = is_about_deeds(responding, "auto")
    found: dict[str, dict[str, Any]] = {}
    for name in ("exact", "student"):
        rows, trials = [], []
        for amount in _SHARES if about_deeds else _TAUS_S:
            rng = np.random.default_rng([seed, _TEST_SEED])
            tau_s, share = (0.5, amount) if about_deeds else (amount, 0.0)
            if name == "exact":
                own = run_trials(responding, tau_s, count, rng, share=share, hurry=HURRY)
            else:
                own = student_trials(responding, student, tau_s, count, rng, share=share)
            rows.append({"tau": amount, **measure_trials(own)})
            trials += own
        found[name] = {**measure_trials(trials), "by_tau": rows}
    return found


def measure_trials(trials: Sequence[ResponseTrial]) -> dict[str, Any]:
    """The share that is on time, and how near to key poses it comes."""
    poses = [trial.pose_m for trial in trials if trial.pose_m is not None]
    return {
        "on_time": float(np.mean([trial.is_on_time for trial in trials])),
        "pose_m": float(np.median(poses)) if poses else None,
    }


def choose_default(tests: dict[str, dict[str, Any]]) -> str:
    """The answer that is on time more often; of those that nearly always are, the one that is nearer to key poses."""
    return max(tests, key=lambda name: (min(round(tests[name]["on_time"], 3), _SURE), -(tests[name]["pose_m"] or 0.0)))


def _thin(losses: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    return list(losses[:: len(losses) // _CURVE_POINTS + 1])
