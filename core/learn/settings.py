# SPDX-License-Identifier: GPL-3.0-or-later
"""How a policy learns, as settings that describe themselves."""

from dataclasses import dataclass

from ..settings import Settings, setting


@dataclass(frozen=True)
class LearnSettings(Settings):
    """Proximal policy optimisation (Schulman et al. 2017) with the customs that have proved themselves.

    The defaults are for a character of about 40 actions at 30 Hz with rewards near 1, in hundreds of worlds.
    """

    horizon: int = setting(16, "Horizon", "Control steps in every world between two updates", minimum=2, maximum=4096)
    epochs: int = setting(4, "Epochs", "How often an update goes through what was collected", minimum=1, maximum=64)
    minibatch: int = setting(2048, "Minibatch", "Samples a gradient is averaged over", minimum=16, maximum=1 << 20)
    discount: float = setting(
        0.97, "Discount", "What a reward one control step later is worth now", minimum=0.0, maximum=0.9999
    )
    advantage_trust: float = setting(
        0.95,
        "Advantage λ",
        "How far ahead advantages look before they trust the value network",
        minimum=0.0,
        maximum=1.0,
    )
    value_trust: float = setting(
        0.95, "Value λ", "How far ahead the value network's targets look", minimum=0.0, maximum=1.0
    )
    clip: float = setting(
        0.2, "Clip", "How far an action's likelihood may move in an update", minimum=0.01, maximum=1.0
    )
    actor_rate: float = setting(
        3e-4, "Policy Rate", "Learning rate of the policy at the beginning", minimum=0.0, maximum=0.1
    )
    critic_rate: float = setting(1e-3, "Value Rate", "Learning rate of the value network", minimum=0.0, maximum=0.1)
    target_kl: float = setting(
        0.012,
        "Target KL",
        "How far the policy should move in an update, in nats: its learning rate follows; 0 keeps the rate",
        minimum=0.0,
        maximum=1.0,
    )
    gradient_limit: float = setting(
        1.0, "Gradient Limit", "Longer gradients are shortened to this length", minimum=0.001, maximum=1000.0
    )
    width: int = setting(
        256, "Width", "Units in the policy's first layer; later ones have half", minimum=4, maximum=4096
    )
    critic_width: int = setting(
        256, "Value Width", "Units in the value network's first layer; later ones have half", minimum=4, maximum=4096
    )
    layers: int = setting(2, "Layers", "Hidden layers of both networks", minimum=1, maximum=6)
    activation: str = setting(
        "elu",
        "Activation",
        "What a unit makes of its sum",
        choices=(
            ("relu", "ReLU", "Nothing below zero; the fastest"),
            ("elu", "ELU", "Smooth below zero"),
            ("tanh", "Tanh", "Between -1 and 1"),
        ),
    )
    output_scale: float = setting(
        1.0,
        "Output Scale",
        "What the policy's last layer is multiplied by to be an action",
        minimum=0.001,
        maximum=100.0,
    )
    noise: float = setting(
        0.1, "Noise", "Standard deviation around the policy's action while it learns", minimum=0.001, maximum=10.0
    )
    final_noise: float = setting(
        0.1, "Final Noise", "What the noise becomes, if it is not learned", minimum=0.001, maximum=10.0
    )
    noise_samples: int = setting(
        0, "Noise Shrinks Over", "Samples until the final noise is reached; 0 for no change", minimum=0
    )
    learned_noise: bool = setting(False, "Learned Noise", "The noise of each action is learned like the rest")
    entropy: float = setting(
        0.0, "Entropy", "What learned noise is rewarded with for being wide", minimum=0.0, maximum=1.0
    )
    action_limit: float = setting(
        0.0, "Action Limit", "Beyond this the policy's actions are penalised; 0 for no limit", minimum=0.0
    )
    action_weight: float = setting(
        0.5, "Action Penalty", "How much the square of what is beyond the action limit weighs", minimum=0.0
    )
    remembered: int = setting(
        1_000_000, "Remembered", "Samples after which mean and spread of observations fade", minimum=1000
    )
    device: str = setting(
        "auto",
        "Device",
        "Where the networks live",
        choices=(
            ("auto", "Automatic", "The graphics card if PyTorch can use one, or else the processor"),
            ("cpu", "Processor", "The reference: the same seed gives the same policy"),
            ("cuda", "CUDA", "A graphics card of NVIDIA, or of AMD by ROCm"),
            ("mps", "Metal", "The graphics of an Apple processor"),
        ),
    )
    threads: int = setting(0, "Threads", "Threads for the networks; 0 for one each core", minimum=0, maximum=256)
