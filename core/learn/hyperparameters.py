# SPDX-License-Identifier: GPL-3.0-or-later
"""Hyper-parameters of proximal policy optimisation: what a method that learns decides once, and no animator sets."""

from dataclasses import dataclass

DEVICES = (
    ("auto", "Automatic", "The graphics card if PyTorch can use one, or else the processor"),
    ("cpu", "Processor", "The same seed gives the same policy, with as many threads"),
    ("cuda", "CUDA", "A graphics card of NVIDIA, or of AMD by ROCm"),
    ("mps", "Metal", "The graphics of an Apple processor"),
)
"""Choices of ``device`` for whoever may choose: (value, label, help)."""


@dataclass(frozen=True)
class PPOHyperparameters:
    """Proximal policy optimisation (Schulman et al. 2017) with the usual practice around it.

    The defaults are for a character of about 40 actions at 30 Hz with rewards near 1, in hundreds of worlds.

    Rollout and update:
        horizon: control steps in every world between two updates. epochs: passes over a rollout. minibatch: samples a
        gradient is averaged over. discount: γ. gae_lambda: λ of the advantages; value_lambda: λ of the value network's
        TD(λ) targets. clip: ε of the clipped surrogate objective. actor_learning_rate: at the beginning, for it follows
        the divergence; critic_learning_rate: throughout. target_kl: divergence an update should have, in nats; 0 keeps
        the learning rate. max_gradient_norm: longer gradients are scaled down to this.
    Networks:
        width, critic_width: units in the first hidden layer of policy and value network; later ones have half.
        layers: hidden layers of both. activation: 'relu', 'elu' or 'tanh'. output_scale: factor from the policy's last
        layer to an action.
    Exploration noise (the standard deviation of the Gaussian policy):
        noise: at first. final_noise: after noise_anneal_samples samples, if it is not learned; 0 samples for no change.
        learn_noise: learn it for each action, with entropy_coefficient as the bonus for a wide one.
    Other terms and statistics:
        action_limit: beyond it mean actions are penalised, 0 for no limit; action_penalty: the weight of the square of
        what is beyond. statistics_window: samples after which older ones fade from the observations' mean and spread.
    Where it is worked out:
        device: 'auto' (the graphics card if PyTorch can use one, or else the processor), 'cpu', 'cuda' or 'mps'.
        threads: of the networks; 0 for one each core. Both change the order of sums, so the last bits of a policy.
    """

    horizon: int = 16
    epochs: int = 4
    minibatch: int = 2048
    discount: float = 0.97
    gae_lambda: float = 0.95
    value_lambda: float = 0.95
    clip: float = 0.2
    actor_learning_rate: float = 3e-4
    critic_learning_rate: float = 1e-3
    target_kl: float = 0.012
    max_gradient_norm: float = 1.0
    width: int = 256
    critic_width: int = 256
    layers: int = 2
    activation: str = "elu"
    output_scale: float = 1.0
    noise: float = 0.1
    final_noise: float = 0.1
    noise_anneal_samples: int = 0
    learn_noise: bool = False
    entropy_coefficient: float = 0.0
    action_limit: float = 0.0
    action_penalty: float = 0.5
    statistics_window: int = 1_000_000
    device: str = "auto"
    threads: int = 0
