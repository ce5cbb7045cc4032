# SPDX-License-Identifier: GPL-3.0-or-later
"""The method ``respond_test``: how often a library does within a given time what it is asked for at random."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import BadSettings
from ...motion import Clip
from ...settings import Settings, setting
from ..method import Method, Product, Run, Source
from ..searched_body import quality_setting, smooth_setting, when_lost_setting
from .bake_method import agility_setting, answer_setting, choose_student, hurry_setting, load_responder
from .body_trials import BodyTrial, run_body_trials, summarize_body_trials
from .learned_file import RESPONDER, library_of
from .responding import Responding
from .student.student_trials import student_trials
from .trials import TASKS, ResponseTrial, is_about_deeds, run_trials


@dataclass(frozen=True)
class RespondTestSettings(Settings):
    """What an animator may set."""

    tau: float = setting(
        0.5, "Response Time", "Within how many seconds it is to be done", minimum=0.1, maximum=2.5, unit="s"
    )
    trials: int = setting(300, "Trials", "How often it is asked for something", minimum=1, maximum=100_000)
    task: str = setting("auto", "Task", "What it is asked for", choices=TASKS)
    share: float = setting(
        0.0,
        "Share",
        "Of the time that the library takes from deed to deed, instead of a response time; 0 for that",
        minimum=0.0,
        maximum=2.0,
    )
    physics: bool = setting(False, "Physics", "Give each response a body, which takes far longer")
    quality: str = quality_setting()
    when_lost: str = when_lost_setting()
    smooth: float = smooth_setting()
    answer: str = answer_setting()
    agility: float = agility_setting()
    hurry: float = hurry_setting()


class RespondTest(Method):
    """How soon a library does what it is asked for, without a body or with one."""

    name = "respond_test"
    label = "Test Responses"
    help = "Ask for deeds or directions at random, and count how many are done on time"
    uses_engine = True
    takes = Source.LEARNED_FILE
    makes = (Product.REPORT,)
    learned = RESPONDER
    settings_type = RespondTestSettings

    def run(self, clip: Clip, settings: RespondTestSettings, run: Run) -> None:
        """Test, and leave the figures in the report."""
        responder = load_responder(run)
        stored, student = library_of(responder), choose_student(responder, _answer_of(settings), settings.agility)
        run.progress(0, settings.trials, doing="Making tables")
        responding = Responding(stored.body, stored.library, most_m=settings.agility)
        rng = np.random.default_rng(run.seed)
        pairs: list[BodyTrial] = []
        if settings.physics:
            if student is not None:
                raise BadSettings(
                    "A student is only tested without a body", "Test without Physics, or choose Exact at Answer By"
                )
            pairs = run_body_trials(
                responding,
                settings,
                run,
                about_deeds=is_about_deeds(responding, settings.task),
                tau_s=settings.tau,
                count=settings.trials,
                share=settings.share,
                hurry=settings.hurry,
            )
            trials = [one.simulated for one in pairs]
        elif student is not None:
            trials = student_trials(
                responding, student, settings.tau, settings.trials, rng, settings.task, settings.share
            )
        else:
            trials = run_trials(
                responding,
                settings.tau,
                settings.trials,
                rng,
                settings.task,
                lambda done: run.progress(done, settings.trials),
                share=settings.share,
                hurry=settings.hurry,
            )
        told = {"answer": "exact" if student is None else "student", "share": settings.share}
        test = {**summarize_trials(trials, settings.tau), **told, "physics": settings.physics}
        if pairs:
            test |= summarize_body_trials(pairs)
        run.add_detail("test", test)


def _answer_of(settings: RespondTestSettings) -> str:
    """Who answers; with a body it is the exact answer, unless somebody else is asked for."""
    return "exact" if settings.physics and settings.answer == "auto" else settings.answer


def summarize_trials(trials: Sequence[ResponseTrial], tau_s: float) -> dict[str, Any]:
    """on_time: share of trials done within tau. mean_ttc_s: of those that were done at all. by_name: the same of each.

    ttc_s, tau_each_s, turn_rad: of each trial, for a plot.
    """
    names = sorted({trial.name for trial in trials})
    return {
        "tau_s": tau_s,
        **_figures(trials),
        "by_name": {name: _figures([one for one in trials if one.name == name]) for name in names},
        "ttc_s": [trial.ttc_s for trial in trials],
        "tau_each_s": [trial.tau_s for trial in trials],
        "turn_rad": [trial.turn for trial in trials],
    }


def _figures(trials: Sequence[ResponseTrial]) -> dict[str, Any]:
    times = [trial.ttc_s for trial in trials if trial.ttc_s is not None]
    costs = [trial.transition_m for trial in trials if trial.is_on_time]
    poses = [trial.pose_m for trial in trials if trial.pose_m is not None]
    return {
        "trials": len(trials),
        "on_time": sum(trial.is_on_time for trial in trials) / max(len(trials), 1),
        "mean_ttc_s": float(np.mean(times)) if times else None,
        "mean_transition_m": float(np.mean(costs)) if costs else None,
        "mean_pace": float(np.mean([trial.pace for trial in trials])) if trials else None,
        "median_pose_m": float(np.median(poses)) if poses else None,
    }
