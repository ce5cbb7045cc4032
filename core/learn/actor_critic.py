# SPDX-License-Identifier: GPL-3.0-or-later
"""Policy and value network with their normalisers: what is learned, apart from how (``ppo``, ``behaviour_cloning``)."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import LearningFailed
from .advantages import Rows
from .devices import choose_device
from .hyperparameters import PPOHyperparameters
from .networks import MLP, Tensor
from .normaliser import Normaliser, RunningStatistics
from .policy import Policy
from .shards import PolicyWeights
from .threads import count_threads

_LAST_GAIN = 0.01
"""The policy's last layer begins near zero: a policy that corrects a reference begins with the reference."""

_RETURN_WINDOW = 5.0
"""Rollouts after which older ones fade from the statistics of returns, which grow while the policy learns."""


class ActorCritic:
    """A Gaussian policy whose standard deviation does not depend on the state, and a value network of its own.

    observation_statistics: by which observations are normalised. return_statistics: (1,) by which the value network's
    output is scaled. learning_rate: of the policy, which follows how far updates move it.
    """

    def __init__(
        self, observation_size: int, action_size: int, settings: PPOHyperparameters, rng: np.random.Generator
    ) -> None:
        self.settings = settings
        self.device = choose_device(settings.device)
        self.threads = count_threads(settings.threads)
        sizes = [observation_size, *_hidden_sizes(settings.width, settings.layers), action_size]
        self._sizes = tuple(sizes)
        self.actor = MLP(sizes, settings.activation, rng, last_gain=_LAST_GAIN, extra=action_size, device=self.device)
        sizes = [observation_size, *_hidden_sizes(settings.critic_width, settings.layers), 1]
        self.critic = MLP(sizes, settings.activation, rng, last_gain=1.0, device=self.device)
        self.actor.extra.data.fill_(math.log(settings.noise))
        self.learning_rate = settings.actor_learning_rate
        self.return_statistics = RunningStatistics.empty(1)
        self.set_observation_statistics(RunningStatistics.empty(observation_size))

    def set_observation_statistics(self, statistics: RunningStatistics) -> None:
        """Normalise observations by these statistics from now on."""
        self.observation_statistics = statistics
        self.normaliser = Normaliser(statistics)

    def mean_actions(self, rows: Tensor) -> Tensor:
        """(B, A) the policy's actions without noise for normalised observations (B, O)."""
        return self.actor(rows) * self.settings.output_scale

    def act(self, rows: Rows) -> Rows:
        """The same for arrays, without a graph for gradients."""
        with torch.inference_mode():
            actions: Rows = self.mean_actions(self.tensor(rows)).cpu().numpy()
        return actions

    def predict_values(self, rows: Rows) -> Rows:
        """(...) values of normalised observations (..., O), in the scale of the returns."""
        returns = self.return_statistics
        with torch.inference_mode():
            flat = self.critic(self.tensor(rows.reshape(-1, rows.shape[-1]))).cpu().numpy()
        values: Rows = (flat * returns.std + returns.mean).astype(np.float32).reshape(rows.shape[:-1])
        return values

    def normalise_returns(self, returns: Rows) -> Rows:
        """The value network's targets for returns of any shape, whose scale it follows (PopArt).

        Its last layer is rescaled so that its values stay the same while the scale changes (van Hasselt et al. 2016).
        """
        before = self.return_statistics
        batch = RunningStatistics.from_rows(returns.reshape(-1, 1))
        after = self.return_statistics = (before + batch).with_limited_count(_RETURN_WINDOW * batch.count)
        if before.count:
            factor = float(before.std[0] / after.std[0])
            shift = float((before.mean[0] - after.mean[0]) / after.std[0])
            weights, biases = self.critic.layers[-1]
            weights.data.mul_(factor)
            biases.data.mul_(factor).add_(shift)
        normalised: Rows = ((returns - after.mean[0]) / after.std[0]).astype(np.float32)
        return normalised

    def tensor(self, array: NDArray[Any]) -> Tensor:
        """The array on the networks' device; on the processor it is the same memory."""
        return torch.from_numpy(array).to(self.device)

    @property
    def noise(self) -> NDArray[np.float32]:
        """(A,) standard deviations of the actions."""
        noise: NDArray[np.float32] = np.exp(self.actor.extra.detach().cpu().numpy())
        return noise

    def anneal_noise(self, samples: int) -> None:
        """Set the noise to that after so many samples, unless it is learned."""
        settings = self.settings
        if not settings.learn_noise:
            share = min(1.0, samples / settings.noise_anneal_samples) if settings.noise_anneal_samples else 0.0
            noise = settings.noise * (settings.final_noise / settings.noise) ** share
            self.actor.extra.data.fill_(math.log(noise))

    def policy(self) -> Policy:
        """A copy of the policy as it is now, which acts without torch."""
        settings = self.settings
        layers = tuple(self.actor.numpy_layers())
        return Policy(self.normaliser, layers, settings.activation, settings.output_scale, self.noise)

    def policy_weights(self) -> PolicyWeights:
        """The policy as shards elsewhere need it to act as ``act`` does."""
        weights = self.actor.weights.detach().cpu().numpy()
        settings, statistics = self.settings, self.observation_statistics
        return PolicyWeights(self._sizes, settings.activation, settings.output_scale, weights, self.noise, statistics)

    def load_policy(self, policy: Policy) -> None:
        """Begin with the weights and normaliser of a policy of the same shape; the value network stays untrained."""
        own, its = ([weights.shape for weights, _ in layers] for layers in (self.actor.layers, policy.layers))
        kind = (self.settings.activation, self.settings.output_scale)
        if list(map(tuple, own)) != list(its) or kind != (policy.activation, policy.output_scale):
            raise LearningFailed(
                "The policy to begin with is built in another way than the one that is to learn",
                "Begin with one that was learned with the same settings of its network, or without any",
            )
        for (weights, biases), (its_weights, its_biases) in zip(self.actor.layers, policy.layers, strict=True):
            weights.data.copy_(torch.from_numpy(its_weights.copy()))
            biases.data.copy_(torch.from_numpy(its_biases.copy()))
        self.actor.reset_optimiser()
        self.set_observation_statistics(policy.normaliser.statistics)

    def state(self) -> dict[str, NDArray[Any]]:
        """All of it as plain arrays."""
        arrays: dict[str, NDArray[Any]] = {"rate": np.array([self.learning_rate])}
        for name, network in (("actor", self.actor), ("critic", self.critic)):
            arrays |= {f"{name}.{part}": array for part, array in network.state().items()}
        for name, statistics in (("moments", self.observation_statistics), ("earnings", self.return_statistics)):
            arrays |= {
                f"{name}.count": np.array([statistics.count]),
                f"{name}.mean": statistics.mean,
                f"{name}.deviations": statistics.deviations,
            }
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave; what does not fit is a ``ValueError`` or ``KeyError``."""
        for name, network in (("actor", self.actor), ("critic", self.critic)):
            network.restore({part: arrays[f"{name}.{part}"] for part in ("weights", "fading", "squares", "steps")})
        self.return_statistics = _read_statistics("earnings", arrays, 1)
        self.set_observation_statistics(_read_statistics("moments", arrays, len(self.observation_statistics.mean)))
        self.learning_rate = float(arrays["rate"].item())


def _read_statistics(name: str, arrays: Mapping[str, NDArray[Any]], size: int) -> RunningStatistics:
    mean, deviations = (np.array(arrays[f"{name}.{part}"], dtype=np.float64) for part in ("mean", "deviations"))
    if mean.shape != (size,) or deviations.shape != (size,):
        raise ValueError(f"{mean.shape} {name} instead of {(size,)}")
    return RunningStatistics(float(arrays[f"{name}.count"].item()), mean, deviations)


def _hidden_sizes(width: int, layers: int) -> list[int]:
    return [width, *[max(4, width // 2)] * (layers - 1)]
