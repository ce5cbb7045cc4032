# SPDX-License-Identifier: GPL-3.0-or-later
"""A policy and a value network, with what they have seen so far: what is learned, apart from how."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import LearningFailed
from .advantages import Rows
from .devices import chosen_device, cores
from .networks import Network, Tensor
from .normalising import Moments, Normaliser
from .policy import Policy
from .settings import LearnSettings

_SMALL = 0.01
"""The policy's last layer begins near zero: a policy that corrects a reference begins with the reference."""


class Learner:
    """A Gaussian policy whose spread does not depend on the state, and a value network that knows nothing of it.

    moments: of the observations. earnings: (1,) of the returns, by which the value network's output is scaled.
    rate: the policy's learning rate, which follows how far updates move it.
    """

    def __init__(
        self, observation_size: int, action_size: int, settings: LearnSettings, rng: np.random.Generator
    ) -> None:
        self.settings = settings
        self.device = chosen_device(settings.device)
        self.threads = cores(settings.threads)
        sizes = [observation_size, *_hidden(settings.width, settings.layers), action_size]
        self.actor = Network(sizes, settings.activation, rng, last_gain=_SMALL, extra=action_size, device=self.device)
        sizes = [observation_size, *_hidden(settings.critic_width, settings.layers), 1]
        self.critic = Network(sizes, settings.activation, rng, last_gain=1.0, device=self.device)
        self.actor.extra.data.fill_(math.log(settings.noise))
        self.rate = settings.actor_rate
        self.earnings = Moments.none(1)
        self.watched(Moments.none(observation_size))

    def watched(self, moments: Moments) -> None:
        """Let observations be normalised by other moments."""
        self.moments = moments
        self.normaliser = Normaliser(moments)

    def mean_actions(self, rows: Tensor) -> Tensor:
        """(B, A) the policy's actions without noise for normalised observations (B, O)."""
        return self.actor(rows) * self.settings.output_scale

    def act(self, rows: Rows) -> Rows:
        """The same for arrays, without remembering how they came about."""
        with torch.inference_mode():
            actions: Rows = self.mean_actions(self.tensor(rows)).cpu().numpy()
        return actions

    def expected(self, rows: Rows) -> Rows:
        """(...) what is still to be earned after normalised observations (..., O)."""
        with torch.inference_mode():
            flat = self.critic(self.tensor(rows.reshape(-1, rows.shape[-1]))).cpu().numpy()
        expected: Rows = (flat * self.earnings.spread + self.earnings.mean).astype(np.float32).reshape(rows.shape[:-1])
        return expected

    def earned(self, returns: Rows) -> Rows:
        """The returns as the value network should give them, which from now on is scaled by them too."""
        before = self.earnings
        seen = Moments.of(returns.reshape(-1, 1))
        self.earnings = (before + seen).forgetting(_REMEMBERED * seen.count)
        if before.count:
            # What the network expects stays the same, though its scale changes (van Hasselt et al. 2016).
            shrink = float(before.spread[0] / self.earnings.spread[0])
            shift = float((before.mean[0] - self.earnings.mean[0]) / self.earnings.spread[0])
            weights, biases = self.critic.layers[-1]
            weights.data.mul_(shrink)
            biases.data.mul_(shrink).add_(shift)
        scaled: Rows = ((returns - self.earnings.mean[0]) / self.earnings.spread[0]).astype(np.float32)
        return scaled

    def tensor(self, array: NDArray[Any]) -> Tensor:
        """The array where the networks live; on the processor it is the same memory."""
        return torch.from_numpy(array).to(self.device)

    @property
    def noise(self) -> NDArray[np.float32]:
        """(A,) standard deviations of the actions."""
        noise: NDArray[np.float32] = np.exp(self.actor.extra.detach().cpu().numpy())
        return noise

    def quieten(self, samples: int) -> None:
        """Set the noise to what the settings want after so many samples, unless it is learned."""
        settings = self.settings
        if not settings.learned_noise:
            share = min(1.0, samples / settings.noise_samples) if settings.noise_samples else 0.0
            noise = settings.noise * (settings.final_noise / settings.noise) ** share
            self.actor.extra.data.fill_(math.log(noise))

    def policy(self) -> Policy:
        """The policy as it is now, to act without torch."""
        settings = self.settings
        layers = tuple(self.actor.numpy_layers())
        return Policy(self.normaliser, layers, settings.activation, settings.output_scale, self.noise)

    def begin_with(self, policy: Policy) -> None:
        """Let the policy begin as another one is; the value network still knows nothing. It must be built alike."""
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
        self.actor.forget()
        self.watched(policy.normaliser.moments)

    def state(self) -> dict[str, NDArray[Any]]:
        """All of it as plain arrays."""
        arrays: dict[str, NDArray[Any]] = {"rate": np.array([self.rate])}
        for name, network in (("actor", self.actor), ("critic", self.critic)):
            arrays |= {f"{name}.{part}": array for part, array in network.state().items()}
        for name, moments in (("moments", self.moments), ("earnings", self.earnings)):
            arrays |= {
                f"{name}.count": np.array([moments.count]),
                f"{name}.mean": moments.mean,
                f"{name}.deviations": moments.deviations,
            }
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave; what does not fit is a ``ValueError`` or ``KeyError``."""
        for name, network in (("actor", self.actor), ("critic", self.critic)):
            network.restore({part: arrays[f"{name}.{part}"] for part in ("weights", "fading", "squares", "steps")})
        self.earnings = _moments("earnings", arrays, 1)
        self.watched(_moments("moments", arrays, len(self.moments.mean)))
        self.rate = float(arrays["rate"].item())


_REMEMBERED = 5.0
"""Rollouts after which the scale of returns fades: they grow while the policy learns."""


def _moments(name: str, arrays: Mapping[str, NDArray[Any]], size: int) -> Moments:
    mean, deviations = (np.array(arrays[f"{name}.{part}"], dtype=np.float64) for part in ("mean", "deviations"))
    if mean.shape != (size,) or deviations.shape != (size,):
        raise ValueError(f"{mean.shape} {name} instead of {(size,)}")
    return Moments(float(arrays[f"{name}.count"].item()), mean, deviations)


def _hidden(width: int, layers: int) -> list[int]:
    return [width, *[max(4, width // 2)] * (layers - 1)]
