# SPDX-License-Identifier: GPL-3.0-or-later
"""A conditional variational autoencoder of actions, trained beside a world model (Won et al. 2022, section 3).

The encoder sees the state and what the expert sees, the motor decoder the state and a latent vector. The prior depends
on the state (after Yao et al. 2022), or is the standard normal of equation 1. Steps are averaged, as actors' weights
that follow every minibatch are worse than their mean.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .networks import MLP, Tensor
from .normaliser import Normaliser, RunningStatistics
from .policy import Policy
from .world_model import WorldModel

_LIMIT = 8.0  # standard deviations, as in ``Normaliser``
_LEAST_LOG, _MOST_LOG = -5.0, 1.0  # of a latent number's standard deviation
_MAX_GRADIENT = 1.0
_AVERAGED = 0.998  # of the mean weights that is kept in each minibatch
_WHOLE_AFTER = 200  # minibatches before which the mean reaches less far back


@dataclass(frozen=True)
class VAESettings:
    """latent: numbers of the latent vector. action_rad: σ of the decoder's likelihood, which weighs all other terms.

    alpha: weight of what the world model makes of the action (equation 1). beta: of the divergence from the prior.
    lookahead: steps through the world model over which states are compared; 1 for the paper's.
    state_prior: whether the prior depends on the state. is_variational: else a deterministic latent, without prior.
    """

    latent: int = 32
    action_rad: float = 0.1
    alpha: float = 0.1
    beta: float = 1.0
    lookahead: int = 1
    state_prior: bool = True
    is_variational: bool = True
    encoder_widths: tuple[int, ...] = (512, 256)
    prior_widths: tuple[int, ...] = (256, 128)
    decoder_widths: tuple[int, ...] = (512, 512)
    rate: float = 1e-3
    rate_halved_samples: float = 500_000.0
    threads: int = 1


@dataclass(frozen=True)
class VAELosses:
    """Means over an update: squared error of actions in rad², divergence in nats, error of states (normalised)."""

    action: float
    divergence: float
    state: float


@dataclass(frozen=True, eq=False)
class TransitionBatch:
    """B rows as they were collected. state: (B, S). seen: (B, E) what the expert saw. label: (B, A) its action, rad.

    sequence: (H + 1, C, S) states one after the other, and sequence_seen: (H, C, E), of C copies that the expert moved.
    """

    state: NDArray[np.float32]
    seen: NDArray[np.float32]
    label: NDArray[np.float32]
    sequence: NDArray[np.float32] | None = None
    sequence_seen: NDArray[np.float32] | None = None


class _Scale:
    """Mean and standard deviation as tensors, clipped as ``Normaliser`` clips."""

    def __init__(self, statistics: RunningStatistics) -> None:
        self.mean = torch.from_numpy(statistics.mean.astype(np.float32))
        self.factor = torch.from_numpy((1.0 / statistics.std).astype(np.float32))

    def __call__(self, rows: Tensor) -> Tensor:
        return torch.clamp((rows - self.mean) * self.factor, -_LIMIT, _LIMIT)


class ConditionalVAE:
    """Encoder, prior and motor decoder with their optimisers; all of it on the processor.

    statistics: of states, of what the expert sees, and of actions; they are fixed once there is data.
    """

    def __init__(self, sizes: tuple[int, int, int], settings: VAESettings, rng: np.random.Generator) -> None:
        self.settings, self.sizes = settings, sizes
        state, seen, action = sizes
        latent = settings.latent
        self.encoder = MLP([state + seen, *settings.encoder_widths, 2 * latent], "elu", rng, last_gain=0.1)
        self.prior = MLP([state, *settings.prior_widths, 2 * latent], "elu", rng, last_gain=0.1)
        self.decoder = MLP([state + latent, *settings.decoder_widths, action], "elu", rng, last_gain=0.1)
        self.averages = {name: network.weights.clone() for name, network in self._networks.items()}
        self.samples, self._updates = 0, 0
        self.set_statistics(*(RunningStatistics.empty(size) for size in sizes))

    @property
    def _networks(self) -> dict[str, MLP]:
        return {"encoder": self.encoder, "prior": self.prior, "decoder": self.decoder}

    def set_statistics(self, state: RunningStatistics, seen: RunningStatistics, action: RunningStatistics) -> None:
        """Normalise by these from now on."""
        self.statistics = (state, seen, action)
        self._state, self._seen, self._action = (_Scale(one) for one in self.statistics)
        self._std = torch.from_numpy(action.std.astype(np.float32))

    @property
    def rate(self) -> float:
        """The learning rate, which falls with the root of the samples that were learned from."""
        return float(self.settings.rate / np.sqrt(1.0 + self.samples / self.settings.rate_halved_samples))

    def encode(self, state: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        """(B, Z) means and log deviations of the posterior, from normalised rows."""
        return self._split(self.encoder(torch.cat([state, seen], dim=1)))

    def _split(self, both: Tensor) -> tuple[Tensor, Tensor]:
        mean, log = both[:, : self.settings.latent], both[:, self.settings.latent :]
        return mean, torch.clamp(log, _LEAST_LOG, _MOST_LOG)

    def _prior_of(self, state: Tensor) -> tuple[Tensor, Tensor]:
        if self.settings.state_prior:
            return self._split(self.prior(state))
        blank = torch.zeros((len(state), self.settings.latent))
        return blank, blank

    def _decode(self, state: Tensor, latent: Tensor) -> Tensor:
        """(B, A) actions, normalised."""
        return self.decoder(torch.cat([state, latent], dim=1))

    def learn(
        self, batch: TransitionBatch, world: WorldModel | None, rng: np.random.Generator, *, epochs: int, minibatch: int
    ) -> VAELosses:
        """Go through the rows so many times; world: a trained and frozen one, None to learn without."""
        torch.set_num_threads(self.settings.threads)
        state, seen = self._state(torch.from_numpy(batch.state)), self._seen(torch.from_numpy(batch.seen))
        label, raw = self._action(torch.from_numpy(batch.label)), torch.from_numpy(batch.state)
        noise = torch.from_numpy(rng.standard_normal((len(state), self.settings.latent), dtype=np.float32))
        found = []
        parts = max(1, round(len(state) / minibatch))
        for _ in range(epochs):
            for rows in np.array_split(rng.permutation(len(state)), parts):
                chosen = torch.from_numpy(rows)
                given = [one.index_select(0, chosen) for one in (state, seen, label, raw, noise)]
                loss, terms = self._loss(world, *given)
                if batch.sequence is not None and batch.sequence_seen is not None and world is not None:
                    loss = loss + self._lookahead_loss(batch.sequence, batch.sequence_seen, world, rng, len(rows))
                self._step(loss)
                found.append(terms)
        self.samples += len(state)
        return VAELosses(*np.mean(found, axis=0).tolist())

    def _loss(
        self, world: WorldModel | None, state: Tensor, seen: Tensor, label: Tensor, raw: Tensor, noise: Tensor
    ) -> tuple[Tensor, list[float]]:
        settings = self.settings
        mean, log = self.encode(state, seen)
        latent = mean + torch.exp(log) * noise if settings.is_variational else mean
        action = self._decode(state, latent)
        error = ((action - label) * self._std).square().sum(1).mean()
        loss = 0.5 * error / settings.action_rad**2
        divergence = torch.zeros(())
        if settings.is_variational:
            its_mean, its_log = self._prior_of(state)
            ratio = torch.exp(2.0 * (log - its_log)) + ((mean - its_mean) * torch.exp(-its_log)).square()
            divergence = (its_log - log + 0.5 * ratio - 0.5).sum(1).mean()
            loss = loss + settings.beta * divergence
        off = torch.zeros(())
        if world is not None and settings.alpha:
            with torch.no_grad():
                wanted = world.change(raw, self._raw_action(label))
            off = (world.change(raw, self._raw_action(action)) - wanted).square().sum(1).mean()
            loss = loss + settings.alpha * off
        return loss, [float(error.detach()), float(divergence.detach()), float(off.detach())]

    def _lookahead_loss(
        self,
        states: NDArray[np.float32],
        seen: NDArray[np.float32],
        world: WorldModel,
        rng: np.random.Generator,
        rows: int,
    ) -> Tensor:
        """Several steps of the world model against what physics did, from states that the expert was in."""
        horizon = len(seen)
        chosen = rng.integers(states.shape[1], size=max(1, min(rows // horizon, states.shape[1])))
        now = torch.from_numpy(states[0, chosen])
        noise = rng.standard_normal((horizon, len(chosen), self.settings.latent), dtype=np.float32)
        loss = torch.zeros(())
        for step in range(horizon):
            state = self._state(now)
            mean, log = self.encode(state, self._seen(torch.from_numpy(seen[step, chosen])))
            latent = mean + torch.exp(log) * torch.from_numpy(noise[step]) if self.settings.is_variational else mean
            now = world(now, self._raw_action(self._decode(state, latent)))
            loss = loss + world.distance(now, torch.from_numpy(states[step + 1, chosen])).mean()
        return self.settings.alpha * loss / horizon

    def _raw_action(self, normalised: Tensor) -> Tensor:
        return normalised * self._std + self._action.mean

    def _step(self, loss: Tensor) -> None:
        networks, self._updates = self._networks, self._updates + 1
        for network in networks.values():
            network.gradient.zero_()
        loss.backward()
        share = min(_AVERAGED, self._updates / (self._updates + 0.1 * _WHOLE_AFTER))
        for name, network in networks.items():
            network.apply_gradient(self.rate, _MAX_GRADIENT)
            self.averages[name].lerp_(network.weights, 1.0 - share)

    def policies(self, *, averaged: bool = True) -> tuple[Policy, Policy, Policy]:
        """Encoder (S + E to 2 Z), prior (S to 2 Z) and decoder (S + Z to A radians), which act without torch."""
        state, seen, action = self.statistics
        latent = RunningStatistics(1.0, np.zeros(self.settings.latent), np.ones(self.settings.latent))
        layers = {name: self._layers(name, averaged) for name in self._networks}
        if not self.settings.state_prior:
            layers["prior"] = [(np.zeros_like(weights), np.zeros_like(biases)) for weights, biases in layers["prior"]]
        last, biases = layers["decoder"][-1]
        std, mean = action.std.astype(np.float32), action.mean.astype(np.float32)
        layers["decoder"][-1] = (last * std[:, None], biases * std + mean)
        return (
            _make_policy(_joined(state, seen), layers["encoder"]),
            _make_policy(state, layers["prior"]),
            _make_policy(_joined(state, latent), layers["decoder"]),
        )

    def _layers(self, name: str, averaged: bool) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        network = self._networks[name]
        if not averaged:
            return network.numpy_layers()
        now = network.weights.clone()
        network.weights.copy_(self.averages[name])
        found = network.numpy_layers()
        network.weights.copy_(now)
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how learning goes on."""
        arrays: dict[str, NDArray[Any]] = {"counts": np.array([self.samples, self._updates])}
        for name, network in self._networks.items():
            arrays |= {f"{name}.{part}": array for part, array in network.state().items()}
            arrays[f"{name}.average"] = self.averages[name].numpy().copy()
        for name, one in zip(("state", "seen", "action"), self.statistics, strict=True):
            arrays |= {f"{name}.count": np.array([one.count]), f"{name}.mean": one.mean, f"{name}.sum": one.deviations}
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave; what does not fit is a ``ValueError`` or ``KeyError``."""
        for name, network in self._networks.items():
            network.restore({part: arrays[f"{name}.{part}"] for part in ("weights", "fading", "squares", "steps")})
            self.averages[name].copy_(torch.from_numpy(np.array(arrays[f"{name}.average"], dtype=np.float32)))
        read = (
            RunningStatistics(
                float(arrays[f"{name}.count"][0]), np.array(arrays[f"{name}.mean"]), np.array(arrays[f"{name}.sum"])
            )
            for name in ("state", "seen", "action")
        )
        self.set_statistics(*read)
        self.samples, self._updates = (int(count) for count in arrays["counts"])


def _joined(first: RunningStatistics, second: RunningStatistics) -> RunningStatistics:
    """Statistics of rows one beside the other, of as many rows."""
    parts = [one.std**2 for one in (first, second)]
    return RunningStatistics(1.0, np.concatenate([first.mean, second.mean]), np.concatenate(parts))


def _make_policy(
    statistics: RunningStatistics, layers: list[tuple[NDArray[np.float32], NDArray[np.float32]]]
) -> Policy:
    return Policy(Normaliser(statistics), tuple(layers), "elu", 1.0, np.ones(len(layers[-1][1]), dtype=np.float32))
