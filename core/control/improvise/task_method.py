# SPDX-License-Identifier: GPL-3.0-or-later
"""The method ``improvise_task``: something that improvises learns a task in its latent space (section 4)."""

from dataclasses import dataclass, replace
from typing import Any

from ...learn.hyperparameters import DEVICES
from ...learn.learning_curve import UpdateRecord
from ...motion import Clip
from ...settings import Settings, setting
from ...sim import engines
from ..method import Method, Product, Run, Source, Watched
from ..practice import describe_spreading, find_spreader, practise, resume_practice, shards_setting
from ..tasks.tasks_table import get_task, task_names
from ..tracking_policy.reference_streams import CONTROL_FPS
from ..work_meter import WorkMeter
from .learned_file import IMPROVISER, TaskPolicy
from .task_training import PPO, TaskTraining, TaskTrainingConfig
from .test_method import load_improviser

_CURVE_POINTS = 200


@dataclass(frozen=True)
class ImproviseTaskSettings(Settings):
    """What an animator may set for training a task."""

    task: str = setting(
        "point_goal",
        "Task",
        "What is learned",
        choices=tuple((name, get_task(name).label, get_task(name).help.capitalize()) for name in task_names()),
    )
    minutes: float = setting(
        15.0, "Minutes", "When to stop, and keep the best so far", minimum=0.01, maximum=100_000.0, unit="min"
    )
    millions: float = setting(
        3.0, "Million Steps", "When to stop at the latest: control steps of all copies", minimum=0.001, maximum=10_000.0
    )
    sigma: float = setting(
        0.1,
        "Freedom",
        "How far it may leave its style: the range of what is added to each joint's target, in radians (σ of "
        "equation 2); 0 for none",
        minimum=0.0,
        maximum=3.0,
        unit="rad",
    )
    worlds: int = setting(
        256,
        "Copies",
        "How many practise side by side; rounded up to a multiple of the shards",
        minimum=2,
        maximum=65536,
    )
    shards: int = shards_setting()
    device: str = setting("auto", "Device", "Where the networks are trained", choices=DEVICES)
    threads: int = setting(
        0, "Threads", "Threads for physics and networks while it learns; 0 for one each core", minimum=0, maximum=256
    )


class ImproviseTask(Method):
    """PPO in the latent space with the motor decoder frozen."""

    name = "improvise_task"
    label = "Learn a Task"
    help = "Let what improvises learn a task, moving as it does"
    button = "Learn Task"
    uses_engine = True
    takes = Source.LEARNED_FILE
    makes = (Product.LEARNED_FILE,)
    learned = IMPROVISER
    stops_early = True
    watched = (
        Watched("earned", "Earned a step", "{:.3f}"),
        Watched("up_s", "Stays up", "{:.1f} s"),
        Watched("kl", "KL divergence", "{:.4f}", advanced=True),
    )
    packages = ("torch",)
    rollouts_in_shards = True
    result_name = "task"
    settings_type = ImproviseTaskSettings

    def run(self, clip: Clip, settings: ImproviseTaskSettings, run: Run) -> None:
        """Train, and hand over the improviser with the task's policy in it."""
        seed = int(run.rng.integers(2**62))  # before a checkpoint puts the generator elsewhere
        improviser, figures = load_improviser(run), dict[str, Any]()
        config, meter = make_task_config(settings), WorkMeter(run, lambda: figures)
        meter.begin(0.99, doing="Practising")
        budget_s = 60.0 * settings.minutes
        engine, task_type = engines.get_engine(run.engine), get_task(settings.task)
        with TaskTraining(improviser, task_type, engine, config, seed, find_spreader(run)) as training:

            def is_over(seconds: float) -> bool:
                return training.samples >= config.samples or (training.samples > 0 and seconds >= budget_s)

            def after(record: UpdateRecord, seconds: float) -> None:
                if record.episodes:
                    figures["kl"], figures["up_s"] = record.kl, record.length / CONTROL_FPS
                figures["earned"] = sum(record.terms.values())
                meter.reach(max(training.samples / config.samples, seconds / budget_s))

            spent_s = practise(run, training, is_over=is_over, after=after, spent_s=resume_practice(run, training))
            if not training.tests or training.tests[-1].samples < training.samples:
                training.test()
            about = describe_task_training(training, spent_s)
            describe_spreading(run)
        run.add_detail("train", about)
        kept = {"seed": seed, "engine": run.engine, **about}
        task = TaskPolicy(settings.task, training.policy, settings.sigma, settings.to_mapping(), kept)
        run.add_product(IMPROVISER.name, *replace(improviser, task=task).to_content())


def make_task_config(settings: ImproviseTaskSettings) -> TaskTrainingConfig:
    """The configuration of training that the settings ask for."""
    samples = round(1e6 * settings.millions)
    ppo = replace(PPO, device=settings.device, threads=settings.threads, noise_anneal_samples=samples)
    worlds, interval = settings.shards * -(-settings.worlds // settings.shards), max(1, min(300_000, samples // 4))
    return TaskTrainingConfig(worlds, samples, interval, settings.sigma, ppo, settings.shards)


def describe_task_training(training: TaskTraining, spent_s: float) -> dict[str, Any]:
    """How training went, for the report, the file and plots."""
    curve = training.trainer.curve
    best = max(training.tests, key=lambda test: test.merit)
    return {
        "samples": training.samples,
        "seconds": spent_s,
        "earned": best.earned,
        "up_s": best.up_s,
        "figures": dict(best.figures),
        "tests": [{**vars(test), "figures": dict(test.figures)} for test in training.tests],
        "curve": [[record.samples, sum(record.terms.values())] for record in curve[:: len(curve) // _CURVE_POINTS + 1]],
    }
