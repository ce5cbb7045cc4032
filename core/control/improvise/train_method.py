# SPDX-License-Identifier: GPL-3.0-or-later
"""The method ``improvise_train``: an expert moves a library's body, and a latent model learns to do so by itself."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadFile, BadMotion, JobError
from ...learn.learning_curve import UpdateRecord
from ...learn.policy import Policy
from ...learn.rollout import arrays_under
from ...learn.threads import count_threads
from ...motion import Clip
from ...settings import Settings, setting
from ...sim import engines
from ..matching.directing import Directing
from ..method import Method, Product, Run, Source, Watched
from ..practice import Practice, describe_spreading, find_spreader, practise, shards_setting
from ..tracking.library_files import LIBRARY_FILE, StoredLibrary
from ..tracking_policy.controller import TrackingController, tracking_controller_from_arrays
from ..tracking_policy.environment import TrackingConfig
from ..tracking_policy.learned_file import TrainedDirector, director_from_content
from ..tracking_policy.matching_streams import make_clip_streams, streamed_clips
from ..tracking_policy.pushes import PushConfig
from ..tracking_policy.reference_streams import ReferenceStreams
from ..tracking_policy.training import TrackingTraining, make_training_config
from ..work_meter import WorkMeter
from .body_states import StateReader
from .falling import find_fall_heights
from .latent_model import LatentModel
from .learned_file import IMPROVISER, Improviser
from .rollouts import RolloutConfig
from .steadying import SteadyingConfig, SteadyingTraining
from .training import TEST_S, LatentTraining, LatentTrainingConfig
from .variety import KnownMotion, distance_to_others, sample_known_motion

if TYPE_CHECKING:
    from ...learn.conditional_vae import VAESettings

_EXPERT_SHARE = 0.5  # of the time, where the library has no policy yet
_EXPERT_SAMPLES = 20_000_000  # that its training is laid out for; it ends with its share of the time
_STARTS = 256
_APART_M = 0.3  # between a clip and the nearest moment of any other: too far to go over
_CURVE_POINTS = 200
_STAGE, _SPENT, _LATENT, _MADE = "stage", "spent_s", "latent.", "made."


@dataclass(frozen=True)
class ImproviseTrainSettings(Settings):
    """What an animator may set for training."""

    minutes: float = setting(
        30.0, "Minutes", "When to stop, and keep the best so far", minimum=0.01, maximum=100_000.0, unit="min"
    )
    millions: float = setting(
        20.0,
        "Million Steps",
        "When to stop at the latest: control steps of all copies",
        minimum=0.001,
        maximum=10_000.0,
    )
    latent: int = setting(32, "Latent Numbers", "Size of the latent space", minimum=2, maximum=256)
    alpha: float = setting(
        0.1,
        "Consequences",
        "Weight of what an action leads to, by the world model, beside the action itself (α of equation 1)",
        minimum=0.0,
        maximum=100.0,
    )
    beta: float = setting(
        1.0,
        "Divergence",
        "Weight of keeping to the prior: more is steadier and less varied (β of equation 1)",
        minimum=0.0,
        maximum=1000.0,
    )
    lookahead: int = setting(
        1, "Steps Ahead", "Control steps over which consequences are compared", minimum=1, maximum=16
    )
    state_prior: bool = setting(True, "Prior of States", "Let the prior depend on the state; off for the paper's")
    variational: bool = setting(True, "Variational", "Off: a deterministic latent space, to compare with")
    steady: float = setting(
        0.5,
        "Steadying",
        "Share of the time in which it learns by trial, on noise, what keeps it up; 0 for the paper's",
        minimum=0.0,
        maximum=0.9,
    )
    style: float = setting(
        0.01,
        "Style",
        "What moving away from the library's motion costs while steadying: more is more varied and falls more",
        minimum=0.0,
        maximum=100.0,
    )
    variety: float = setting(
        2.0,
        "Variety",
        "What moving like the library earns while steadying, best in ways that it shows too seldom; staying up earns 1",
        minimum=0.0,
        maximum=100.0,
    )
    on_policy: bool = setting(True, "On-policy", "Let the learner move the body, and the expert say what it would do")
    noise: float = setting(0.05, "Action Noise", "Of the expert's actions, in radians", minimum=0.0, maximum=0.5)
    pushes: bool = setting(True, "Pushes", "Push the body a little while it is learned from")
    world: float = setting(
        0.18,
        "Million Pairs",
        "States and actions of the expert that the world model learns from",
        minimum=0.001,
        maximum=100.0,
    )
    worlds: int = setting(
        256,
        "Copies",
        "How many are simulated side by side; rounded up to a multiple of the shards",
        minimum=8,
        maximum=65536,
    )
    shards: int = shards_setting()
    threads: int = setting(
        0,
        "Threads",
        "Threads for physics and networks while it learns; 0 for one each core",
        minimum=0,
        maximum=256,
    )


class ImproviseTrain(Method):
    """A conditional VAE of a library's motion on a body: what it does with noise is motion like the library's."""

    name = "improvise_train"
    label = "Train to Improvise"
    help = "Learn from a library to move by itself, without being told anything"
    button = "Train"
    tooltip = "Learn from the library in the background to move by itself. What is learned is kept in a file"
    uses_engine = True
    takes = Source.LEARNED_FILE
    makes = (Product.LEARNED_FILE,)
    learned = IMPROVISER
    stops_early = True
    watched = (
        Watched("mean_up_s", "Stays up", "{:.1f} s"),
        Watched("action_rad", "Action error", "{:.3f} rad"),
        Watched("kl", "KL divergence", "{:.2f}"),
    )
    packages = ("torch",)
    rollouts_in_shards = True
    result_name = "improvising"
    settings_type = ImproviseTrainSettings

    def run(self, clip: Clip, settings: ImproviseTrainSettings, run: Run) -> None:
        """Have an expert, learn from it, and hand over what improvises."""
        seed = int(run.rng.integers(2**62))  # before a checkpoint puts the generator elsewhere
        stored, controller = _load(run)
        directing = Directing(stored.body, stored.library)
        clips = np.arange(len(stored.library))
        streams, streamed = make_clip_streams(directing, stored.body, clips), streamed_clips(directing, clips)
        known = sample_known_motion(streams, streamed, stored.library, StateReader(stored.body))
        require_transitions(known, streams, run)
        work = _Work(run, settings, seed)
        kept = work.begin()
        if kept.model is None:
            controller = kept.controller or controller or work.train_expert(streams)
            kept = _Kept(controller, *work.train_latent(streams, controller))
        assert kept.model is not None
        frames = choose_starts(streams)
        qpos, qvel = (values[frames].astype(float) for values in (streams.qpos, streams.qvel))
        made = Improviser(stored.body, kept.model, qpos, qvel, known, find_fall_heights(streams))
        about = dict(kept.about)
        if settings.steady and settings.variational:
            made, about = work.steady(made, about)
        run.add_detail("train", about)
        describe_spreading(run)
        kept_about = {"seed": seed, "engine": run.engine, "settings": settings.to_mapping(), **about}
        run.add_product(IMPROVISER.name, *replace(made, about=kept_about).to_content())


@dataclass(frozen=True, eq=False)
class _Kept:
    """What the stages so far have made: an expert, a latent model, and how its training went."""

    controller: TrackingController | None = None
    model: LatentModel | None = None
    about: Mapping[str, Any] = field(default_factory=dict)


class _Work:
    """The stages: an expert where there is none, the latent model, and steadying. Each may be gone on with."""

    def __init__(self, run: Run, settings: ImproviseTrainSettings, seed: int) -> None:
        self.run, self.settings, self.seed = run, settings, seed
        self.figures: dict[str, Any] = {}
        self.meter = WorkMeter(run, lambda: self.figures)
        self._engine = engines.get_engine(run.engine)
        self._kept: Mapping[str, NDArray[Any]] = {}
        self._stage, self._spent_s, self._expert_s, self._watched_s = 0, 0.0, 0.0, 0.0

    def begin(self) -> _Kept:
        """Take up the newest checkpoint; gives what had been made by then."""
        found = self.run.load_checkpoint()
        if found is None:
            return _Kept()
        self._kept = found[1]
        try:
            self._stage, self._spent_s = int(self._kept[_STAGE]), float(self._kept[_SPENT])
            if self._stage == 0:
                return _Kept()
            more = arrays_under(_MADE, self._kept)
            if self._stage == 1:
                return _Kept(_read_controller(more))
            return _Kept(None, *_read_model(more))
        except (BadFile, KeyError, TypeError, ValueError) as error:
            self.run.add_finding("checkpoint", f"Training begins anew: {error}", "")
            self._kept = {}
            return _Kept()

    def train_expert(self, streams: ReferenceStreams) -> TrackingController:
        """Train a tracking policy on the library's own clips."""
        config = make_training_config(
            _EXPERT_SAMPLES,
            self.settings.worlds,
            TrackingConfig(),
            pushes=True,
            shards=self.settings.shards,
            threads=self.settings.threads,
        )
        self.meter.begin(_EXPERT_SHARE, doing="Learning to follow the library")
        budget_s = 60.0 * _EXPERT_SHARE * self.settings.minutes
        with TrackingTraining(
            streams, streams, self._engine, config, self.seed, spreader=find_spreader(self.run)
        ) as training:

            def after(record: UpdateRecord, seconds: float) -> None:
                self.meter.reach(seconds / budget_s)

            most = 0.5e6 * self.settings.millions
            self._expert_s = self._practise(
                training, 0, {}, lambda seconds: seconds >= budget_s or training.samples >= most, after
            )
            if not training.tests:
                training.test()
            best = max(training.tests, key=lambda test: test.merit)
            about = {"samples": training.samples, "seconds": self._expert_s}
            about |= {"falls_per_minute": best.falls_per_minute, "joint_error_m": best.joint_error_m}
            self.run.add_detail("expert", about)
            return training.controller(about=about)

    @property
    def _steadying_share(self) -> float:
        return self.settings.steady if self.settings.variational else 0.0

    def train_latent(
        self, streams: ReferenceStreams, controller: TrackingController
    ) -> tuple[LatentModel, dict[str, Any]]:
        """Train world model and autoencoder; gives the model, and how it went."""
        config, settings = make_latent_config(self.settings), make_vae_settings(self.settings)
        share = 1.0 - self._steadying_share
        self.meter.begin(0.99 * max(share, 0.1), doing="Watching the expert")
        budget, budget_s = config.samples, share * (60.0 * self.settings.minutes - self._expert_s)
        spreader = find_spreader(self.run)
        with LatentTraining(controller, streams, self._engine, config, settings, self.seed, spreader) as training:

            def after(record: UpdateRecord, seconds: float) -> None:
                self.figures |= {name: value for name, value in record.terms.items() if name in ("action_rad", "kl")}
                if training.tests:
                    self.figures["mean_up_s"] = training.tests[-1].mean_up_s
                self.meter.doing = training.phase
                if training.samples <= config.world_samples:
                    self._watched_s = seconds
                self.meter.reach(max(training.samples / budget, seconds / budget_s))

            def is_over(seconds: float) -> bool:
                return bool(training.curve) and (training.samples >= budget or seconds >= budget_s)

            spent_s = self._practise(training, 1, _controller_arrays(controller), is_over, after)
            if not training.tests or training.tests[-1].samples < training.samples:
                training.test()
            about = _describe_training(training, spent_s, self._expert_s, streams)
            return training.model, about | {"watched_seconds": self._watched_s}

    def steady(self, improviser: Improviser, about: dict[str, Any]) -> tuple[Improviser, dict[str, Any]]:
        """Let it learn by trial what keeps it up; gives it with that, and how all of its training went."""
        settings, share = self.settings, self._steadying_share
        shards = settings.shards
        config = SteadyingConfig(
            style=settings.style,
            variety=settings.variety,
            worlds=shards * -(-settings.worlds // shards),
            samples=max(1, round(1e6 * settings.millions * share)),
            test_interval=max(1, min(SteadyingConfig.test_interval, round(0.25e6 * settings.millions * share))),
            shards=shards,
            threads=settings.threads,
        )
        self.meter.begin(0.99, doing="Learning to stay up")
        budget_s = share * (60.0 * settings.minutes - float(about["expert_seconds"]))
        spreader = find_spreader(self.run)
        with SteadyingTraining(improviser, self._engine, config, self.seed, spreader) as training:

            def after(record: UpdateRecord, seconds: float) -> None:
                if training.tests:
                    self.figures["mean_up_s"] = training.tests[-1].up_s
                self.meter.reach(max(training.samples / config.samples, seconds / budget_s))

            def is_over(seconds: float) -> bool:
                return training.samples > 0 and (training.samples >= config.samples or seconds >= budget_s)

            if not training.tests:
                training.test()  # what changes nothing, to compare with
            spent_s = self._practise(training, 2, _model_arrays(improviser.model, about), is_over, after)
            if training.tests[-1].samples < training.samples:
                training.test()
            best = max(training.tests, key=lambda test: test.merit)
            about = {**about, "seconds": about["seconds"] + spent_s, "samples": about["samples"] + training.samples}
            about |= {"steadying": training.describe(), "mean_up_s": best.up_s, "cut_s": best.seconds}
            return replace(improviser, model=training.steadied(training.policy)), about

    def _practise(
        self, training: Practice, stage: int, more: dict[str, NDArray[Any]], is_over: Any, after: Any
    ) -> float:
        staged, spent_s = _Staged(training, stage, more), 0.0
        if self._kept and self._stage == stage:
            try:
                training.restore(arrays_under(_LATENT, self._kept))
                spent_s = self._spent_s
            except BadFile as error:
                self.run.add_finding("checkpoint", f"Training begins anew: {error.message}", "")
        return practise(self.run, staged, is_over=is_over, after=after, spent_s=spent_s)


class _Staged:
    """A training whose checkpoints say which stage it is, with what the stages before it made."""

    def __init__(self, training: Practice, stage: int, more: Mapping[str, NDArray[Any]]) -> None:
        self._training, self._stage, self._more = training, stage, more

    @property
    def samples(self) -> int:
        """Control steps so far."""
        return self._training.samples

    def advance(self) -> UpdateRecord:
        """One update."""
        return self._training.advance()

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how it goes on."""
        own = {f"{_LATENT}{name}": array for name, array in self._training.state().items()}
        return {
            **own,
            **{f"{_MADE}{name}": array for name, array in self._more.items()},
            _STAGE: np.array(self._stage),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave."""
        self._training.restore(arrays_under(_LATENT, arrays))


def _load(run: Run) -> tuple[StoredLibrary, TrackingController | None]:
    """The library, and the policy that its file may have already."""
    attached = run.attachment(LIBRARY_FILE.attachment)
    if attached is None:
        raise JobError("The job has no library", "Choose a library, and train again")
    director = director_from_content(*attached, "The library")
    if isinstance(director, TrainedDirector):
        return director.stored, director.controller
    if not isinstance(director, StoredLibrary):
        raise JobError("The library does not say what body its clips are for", "Build it again with this Sinew")
    return director, None


def require_transitions(known: KnownMotion, streams: ReferenceStreams, run: Run) -> None:
    """Refuse clips of which none comes near another: whatever the noise, one would never lead to the next."""
    count = len(streams.starts) - 1
    if count < 2:
        return
    frames = np.linspace(0, len(streams) - 1, len(known.features)).astype(np.int64)
    stream = np.searchsorted(streams.starts, frames, side="right") - 1
    apart = distance_to_others(known.features, stream)
    nearest = np.array([apart[stream == one].min(initial=np.inf) for one in range(count)])
    far = int((nearest > _APART_M).sum())
    hint = "Join them first, by a motion graph with a loose threshold: 'sinew library join'"
    if far == count:
        raise BadMotion(f"The library has no transitions: none of its {count} clips comes near another", hint)
    if far:
        run.add_finding("transitions", f"{far} of {count} clips come near no other: they may never be left again", hint)


def choose_starts(streams: ReferenceStreams) -> NDArray[np.int64]:
    """(K,) frames to begin in, evenly, the first one where somebody stands most still on both feet."""
    speed = np.linalg.norm(streams.qvel, axis=1)
    still = int(np.where(streams.contacts.all(axis=1), speed, np.inf).argmin())
    some = np.linspace(0, len(streams) - 1, _STARTS).astype(np.int64)
    return np.concatenate([[still], some[1:]])


def make_latent_config(settings: ImproviseTrainSettings) -> LatentTrainingConfig:
    """The configuration of training that the settings ask for."""
    samples, pairs = round(1e6 * settings.millions), round(1e6 * settings.world)
    pushes = RolloutConfig().pushes if settings.pushes else PushConfig(every_s=0.0)
    rollouts = replace(RolloutConfig(), noise_rad=settings.noise, pushes=pushes)
    interval = max(1, min(LatentTrainingConfig.test_interval, samples // 4))
    return LatentTrainingConfig(
        worlds=settings.shards * -(-settings.worlds // settings.shards),
        samples=samples,
        world_samples=min(pairs, samples // 4),
        cloning_samples=min(pairs, samples // 4),
        test_interval=interval,
        on_policy=settings.on_policy,
        threads=settings.threads,
        rollouts=rollouts,
        shards=settings.shards,
    )


def make_vae_settings(settings: ImproviseTrainSettings) -> "VAESettings":
    """The autoencoder that the settings ask for."""
    from ...learn.conditional_vae import VAESettings

    return VAESettings(
        latent=settings.latent,
        alpha=settings.alpha,
        beta=settings.beta,
        lookahead=settings.lookahead,
        state_prior=settings.state_prior,
        is_variational=settings.variational,
        # Half of them: torch and physics take turns, and where cores are shared its threads wait for each other.
        threads=max(1, count_threads(settings.threads) // 2),
    )


def _controller_arrays(controller: TrackingController) -> dict[str, NDArray[Any]]:
    arrays, meta = controller.to_arrays()
    return {**arrays, "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)}


def _read_controller(arrays: Mapping[str, NDArray[Any]]) -> TrackingController:
    meta = json.loads(np.asarray(arrays["meta"], dtype=np.uint8).tobytes().decode())
    return tracking_controller_from_arrays(arrays, meta, "the checkpoint")


def _model_arrays(model: LatentModel, about: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    found, meta = dict[str, NDArray[Any]](), dict[str, Any](about=dict(about))
    for name in ("prior", "decoder"):
        own, meta[name] = getattr(model, name).to_arrays()
        found |= {f"{name}.{part}": array for part, array in own.items()}
    return {**found, "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)}


def _read_model(arrays: Mapping[str, NDArray[Any]]) -> tuple[LatentModel, dict[str, Any]]:
    meta = json.loads(np.asarray(arrays["meta"], dtype=np.uint8).tobytes().decode())
    read = (Policy.from_arrays(arrays_under(f"{name}.", arrays), meta[name]) for name in ("prior", "decoder"))
    return LatentModel(*read), dict(meta["about"])


def _describe_training(
    training: LatentTraining, spent_s: float, expert_s: float, streams: ReferenceStreams
) -> dict[str, Any]:
    """How training went, for the report, the file and plots."""
    best = max(training.tests, key=lambda test: test.merit)
    return {
        "samples": training.samples,
        "seconds": spent_s + expert_s,
        "expert_seconds": expert_s,
        "library_minutes": streams.minutes,
        "mean_up_s": best.mean_up_s,
        "cut_s": TEST_S,
        "world_model": training.world_errors,
        "tests": [vars(test) for test in training.tests],
        "curve": training.curve[:: len(training.curve) // _CURVE_POINTS + 1],
    }
