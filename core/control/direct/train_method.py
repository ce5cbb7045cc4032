# SPDX-License-Identifier: GPL-3.0-or-later
"""The method ``direct_train``: a policy practises what motion matching plays until it keeps its feet (section 6)."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...body import BodyModel
from ...errors import JobError
from ...learn.hyperparameters import DEVICES
from ...learn.learning_curve import UpdateRecord
from ...learn.policy import Policy
from ...motion import Clip
from ...settings import Settings, setting
from ...sim import engines
from ..learned import Content
from ..matching.directing import Directing
from ..method import Method, Product, Run, Source, Watched
from ..practice import describe_spreading, find_spreader, practise, resume_practice, shards_setting
from ..tracking.library_files import StoredLibrary, store_library
from ..tracking_policy.controller import TrackingController
from ..tracking_policy.environment import TrackingConfig
from ..tracking_policy.learned_file import DIRECTED, TrainedDirector, director_from_content
from ..tracking_policy.matching_streams import make_clip_streams, make_matching_streams
from ..tracking_policy.policy_transfer import transfer_policy
from ..tracking_policy.reference_streams import CONTROL_FPS, ReferenceStreams, join_streams
from ..tracking_policy.rehearsal import PolicyRehearsal
from ..tracking_policy.training import TrackingTraining, TrackingTrainingConfig, make_training_config
from ..work_meter import WorkMeter

BEGIN_FILE = "begin_file"
"""The attachment with another character's trained library, whose policy training begins with."""
_SHOWN_CLIPS = 20  # of another character's library, which tell what its body and this one see in the same motion
_USER_S, _TESTED_USERS = 30.0, 16  # how long an artificial user directs a character, and how many in tests
_CHANCE = 0.004  # of a new wish in a frame: every four seconds, more often than somebody would
_AHEAD = 0.4  # of the wishes: what characters mostly do is hardly ever wished by who wishes all directions alike
_PREPARED, _PRACTISED = 0.03, 0.99  # shares of the whole
_STREAM_SEED, _TEST_SEED = 11, 12
_CURVE_POINTS = 200


@dataclass(frozen=True)
class DirectTrainSettings(Settings):
    """What an animator may set for training."""

    minutes: float = setting(
        60.0, "Minutes", "When to stop, and keep the best so far", minimum=0.01, maximum=100_000.0, unit="min"
    )
    millions: float = setting(
        20.0,
        "Million Steps",
        "When to stop at the latest: control steps of all copies",
        minimum=0.001,
        maximum=10_000.0,
    )
    pushes: bool = setting(True, "Pushes", "Push the character while it practises, so that it stands being pushed")
    practised: float = setting(
        40.0,
        "Minutes of Wishes",
        "How much directed motion it practises, besides the library's own clips",
        minimum=0.1,
        maximum=600.0,
        unit="min",
    )
    left_out: float = setting(
        0.0, "Left Out", "Share of the library's clips that is not practised, to test with", minimum=0.0, maximum=0.9
    )
    worlds: int = setting(
        512,
        "Copies",
        "How many practise side by side; rounded up to a multiple of the shards",
        minimum=2,
        maximum=65536,
    )
    shards: int = shards_setting()
    smoothing: float = setting(
        TrackingConfig.smoothing,
        "Action Smoothing",
        "Share of a new action in what the servos get: the less, the calmer and the slower (section 6.4)",
        minimum=0.01,
        maximum=1.0,
    )
    all_joints: bool = setting(False, "All Joints", "Let it correct hands, head and toes, too")
    device: str = setting("auto", "Device", "Where the networks are trained", choices=DEVICES)
    threads: int = setting(
        0, "Threads", "Threads for physics and networks while it learns; 0 for one each core", minimum=0, maximum=256
    )


class DirectTrain(Method):
    """PPO on what motion matching plays for artificial users: one policy that keeps all of a library on its feet."""

    name = "direct_train"
    label = "Train to Keep Its Feet"
    help = "Practise the library's motion with a body, until it keeps its feet whatever it is told"
    button = "Train"
    tooltip = "Practise the library's motion in the background. What is learned is kept in a file with the library"
    uses_engine = True
    takes = Source.LEARNED_FILE
    makes = (Product.LEARNED_FILE,)
    learned = DIRECTED
    stops_early = True
    watched = (
        Watched("falls_per_minute", "Falls a minute", "{:.1f}"),
        Watched("up_s", "Stays up", "{:.1f} s"),
        Watched("joint_error_m", "Joint error", "{:.3f} m"),
        Watched("kl", "KL divergence", "{:.4f}", advanced=True),
    )
    packages = ("torch",)
    rollouts_in_shards = True
    result_name = "trained"
    settings_type = DirectTrainSettings

    def run(self, clip: Clip, settings: DirectTrainSettings, run: Run) -> None:
        """Make streams, train, and hand over the library with the policy."""
        seed = int(run.rng.integers(2**62))  # before a checkpoint puts the generator elsewhere
        stored, begin = _load(run)
        other = _load_other(run)
        meter = _Meter(run)
        meter.work.begin(_PREPARED, 2.0, "Directing the library here and there")
        practised, tested = make_practice(stored, settings, seed)
        config, engine = make_tracking_config(settings), engines.get_engine(run.engine)
        policy = None if begin is None else begin.policy
        if other is not None:
            policy = _bring_over(other, stored.body, config.tracking)
            run.add_detail("begun_with", {"links": len(other.stored.body.links), "clips": len(other.stored.clips)})
        with TrackingTraining(practised, tested, engine, config, seed, policy, find_spreader(run)) as training:
            spent_s = resume_practice(run, training)
            meter.work.begin(_PRACTISED, doing="Practising")
            with PolicyRehearsal(tested, engine) as rehearsal:
                spent_s = _train(run, training, rehearsal, meter, settings, spent_s)
            if not training.tests or training.tests[-1].samples < training.samples:
                training.test()
            about = describe_training(training, spent_s, practised)
            run.add_detail("train", about)
            describe_spreading(run)
            kept = {"seed": seed, "engine": run.engine, "settings": settings.to_mapping(), **about}
            controller = training.controller(about=kept)
        run.add_product(DIRECTED.name, *store_director(stored, controller))


class _Meter:
    """Progress with the figures of the newest update and test."""

    def __init__(self, run: Run) -> None:
        self.figures: dict[str, Any] = {}
        self.work = WorkMeter(run, lambda: self.figures)


def _load(run: Run) -> tuple[StoredLibrary, TrackingController | None]:
    """The library, and the policy that its file has already."""
    attached = run.attachment(DIRECTED.attachment)
    if attached is None:
        raise JobError("The job has no library", "Choose a library, and train again")
    director = director_from_content(*attached, "The library")
    if isinstance(director, TrainedDirector):
        return director.stored, director.controller
    if not isinstance(director, StoredLibrary):
        raise JobError("The library does not say what body its clips are for", "Build it again with this Sinew")
    return director, None


def _load_other(run: Run) -> TrainedDirector | None:
    """The library of another character whose policy it is to begin with."""
    attached = run.attachment(BEGIN_FILE)
    if attached is None:
        return None
    other = director_from_content(*attached, "The library to begin with")
    if not isinstance(other, TrainedDirector):
        raise JobError("The library to begin with has no policy in it", "Choose one that was trained")
    return other


def _bring_over(other: TrainedDirector, body: BodyModel, tracking: TrackingConfig) -> Policy:
    """Its policy, for this body."""
    controller, library = other.controller, other.library
    if controller.all_joints != tracking.all_joints:
        state = "on" if controller.all_joints else "off"
        raise JobError("The library to begin with was trained to act on other joints", f"Switch All Joints {state}")
    shown = [library.clip(index) for index in range(0, len(library), -(-len(library) // _SHOWN_CLIPS))]
    return transfer_policy(controller.policy, other.stored.body, body, shown, all_joints=tracking.all_joints)


def choose_held_out(stored: StoredLibrary, share: float) -> np.ndarray:
    """(K,) which clips of the library are left out, each with its mirror image; evenly spread over the given ones."""
    library = stored.library
    given = np.flatnonzero(~library.mirrored)
    count = round(share * len(given))
    chosen = given[np.linspace(0, len(given) - 1, count + 2).astype(int)[1:-1]] if count else given[:0]
    own = np.where(library.mirrors >= 0, library.mirrors, np.arange(len(library)))
    return np.isin(own, chosen)


def make_practice(
    stored: StoredLibrary, settings: DirectTrainSettings, seed: int
) -> tuple[ReferenceStreams, ReferenceStreams]:
    """Streams to practise on, and others to test with."""
    held_out = choose_held_out(stored, settings.left_out)
    body = stored.body
    directing = Directing(body, stored.library)
    used = directing
    if held_out.any():
        names = {stored.library.names[index] for index in np.flatnonzero(held_out)}
        used = Directing(body, replace(stored, clips=tuple(c for c in stored.clips if c.name not in names)).library)
    users = max(1, round(settings.practised * 60.0 / _USER_S))
    practised = make_matching_streams(
        used,
        body,
        np.random.default_rng([seed, _STREAM_SEED]),
        characters=users,
        seconds=_USER_S,
        chance=_CHANCE,
        ahead=_AHEAD,
    )
    clips = make_clip_streams(directing, body, np.flatnonzero(~held_out))
    tested = make_matching_streams(
        directing,
        body,
        np.random.default_rng([seed, _TEST_SEED]),
        characters=_TESTED_USERS,
        seconds=_USER_S,
        chance=_CHANCE,
    )
    return join_streams([practised, clips]), tested


def make_tracking_config(settings: DirectTrainSettings) -> TrackingTrainingConfig:
    """The configuration of training that the settings ask for."""
    tracking = TrackingConfig(smoothing=settings.smoothing, all_joints=settings.all_joints)
    return make_training_config(
        round(settings.millions * 1e6),
        settings.worlds,
        tracking,
        pushes=settings.pushes,
        shards=settings.shards,
        device=settings.device,
        threads=settings.threads,
    )


def _train(
    run: Run,
    training: TrackingTraining,
    rehearsal: PolicyRehearsal,
    meter: _Meter,
    settings: DirectTrainSettings,
    spent_s: float,
) -> float:
    """Train until time or samples are used up, or the user stops it; gives all seconds that were spent."""
    budget, budget_s = training.config.samples, 60.0 * settings.minutes

    def is_over(seconds: float) -> bool:
        return training.samples >= budget or seconds >= budget_s

    def after(record: UpdateRecord, seconds: float) -> None:
        if rehearsal.is_due:
            run.show(*rehearsal.record(training.controller(training.trainer.policy), training.samples))
        if record.episodes:
            meter.figures |= {"kl": record.kl, "up_s": record.length / CONTROL_FPS}
        if training.tests:
            last = training.tests[-1]
            meter.figures |= {"falls_per_minute": last.falls_per_minute, "joint_error_m": last.joint_error_m}
        meter.work.reach(max(training.samples / budget, seconds / budget_s))

    return practise(run, training, is_over=is_over, after=after, spent_s=spent_s)


def describe_training(training: TrackingTraining, spent_s: float, practised: ReferenceStreams) -> dict[str, Any]:
    """How training went, for the report, the file and plots."""
    curve = training.trainer.curve
    some = [record for record in curve[:: len(curve) // _CURVE_POINTS + 1] if record.episodes]
    best = max(training.tests, key=lambda test: test.merit)
    return {
        "samples": training.samples,
        "pushed": training.is_pushed,
        "seconds": spent_s,
        "practised_minutes": practised.minutes,
        "falls_per_minute": best.falls_per_minute,
        "joint_error_m": best.joint_error_m,
        "tests": [{**vars(test), "falls_per_minute": test.falls_per_minute} for test in training.tests],
        "lives": [[record.samples, record.length / CONTROL_FPS] for record in some],
    }


def store_director(stored: StoredLibrary, controller: TrackingController) -> Content:
    """What is kept of a library with a policy, as a file of a library."""
    arrays, meta = store_library(stored)
    more, about = controller.to_arrays()
    return {**arrays, **more}, {**meta, "controller": about}
