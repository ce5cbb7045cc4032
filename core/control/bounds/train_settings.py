# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of ``bounds_train``, and what follows from them: reference trajectory, configuration and reward terms."""

from dataclasses import dataclass, replace

from ...body import BodyModel
from ...learn.hyperparameters import DEVICES
from ...motion import Clip
from ...settings import Settings, setting
from ..practice import shards_setting
from ..tracking.body_symmetry import find_asymmetry
from ..tracking.motion_kind import guess_gait
from .environment import EpisodeConfig
from .initial_states import InitialStateConfig
from .presets import bounds_preset, bounds_presets
from .reference_trajectory import ReferenceTrajectory, make_reference_trajectory
from .rewards import ImitationReward, RewardTerm
from .style.style_choice import STYLES
from .training import BoundsTrainingConfig

_ADAPTATION_INTERVAL = 32  # control steps
_PRESETS = tuple((name, bounds_preset(name).label, bounds_preset(name).help) for name in bounds_presets())


@dataclass(frozen=True)
class BoundsTrainSettings(Settings):
    """What an animator may set for training."""

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
    worlds: int = setting(
        512, "Copies", "How many learn side by side; rounded up to a multiple of the shards", minimum=2, maximum=65536
    )
    shards: int = shards_setting()
    device: str = setting("auto", "Device", "Where the networks are trained", choices=DEVICES)
    threads: int = setting(
        0, "Threads", "Threads for physics and networks while it learns; 0 for one each core", minimum=0, maximum=256
    )


def make_training_reference(body: BodyModel, clip: Clip, settings: BoundsTrainSettings) -> ReferenceTrajectory:
    """The reference trajectory of a clip. A gait is made symmetric, on a body whose sides are mirror images."""
    cyclic = {"auto": None, "cycle": True, "once": False}[settings.motion]
    if not settings.symmetric or cyclic is False or not guess_gait(clip):
        return make_reference_trajectory(body, clip, cyclic=cyclic)
    uneven = find_asymmetry(body)
    reference = make_reference_trajectory(body, clip, cyclic=cyclic, symmetric=uneven is None)
    return reference if uneven is None else replace(reference, findings=(uneven, *reference.findings))


def make_bounds_training_config(settings: BoundsTrainSettings) -> BoundsTrainingConfig:
    """The configuration of training that the settings ask for."""
    default = BoundsTrainingConfig()
    initial_states = InitialStateConfig(settings.importance, settings.evolution, default.ppo.discount)
    episodes = EpisodeConfig(settings.seconds, _ADAPTATION_INTERVAL, initial_states)
    worlds = settings.shards * -(-settings.worlds // settings.shards)
    ppo = replace(default.ppo, device=settings.device, threads=settings.threads)
    return replace(
        default, worlds=worlds, shards=settings.shards, required_s=settings.seconds, episodes=episodes, ppo=ppo
    )


def make_reward_terms(settings: BoundsTrainSettings) -> tuple[RewardTerm, ...]:
    """The reward terms besides survival and style."""
    return (ImitationReward(),) if settings.reward == "imitation" else ()
