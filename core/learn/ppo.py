# SPDX-License-Identifier: GPL-3.0-or-later
"""Proximal policy optimisation: what a rollout teaches a policy, without letting it go far from where it was.

Schulman et al. 2017, equation 7, on generalised advantages. The policy's learning rate follows how far updates move it;
the value network has a steady rate of its own, and is not clipped.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from .advantages import Rows, lambda_returns, values_after
from .devices import side_by_side
from .learner import Learner
from .networks import Tensor
from .rollout import Rollout

_SLOWEST, _FASTEST = 1e-6, 3e-3
_PACE = 1.5
"""The largest factor by which the learning rate changes after an update."""

_TOO_FAR = 3.0
"""A policy that has moved this many times as far as it should learns no more from this rollout."""

Order = NDArray[np.int64]


@dataclass(frozen=True)
class Lesson:
    """How an update went; the fields are those of ``Record``."""

    policy_loss: float
    value_loss: float
    explained: float
    kl: float
    clipped: float


@dataclass(frozen=True, eq=False)
class _Samples:
    """What the policy learns from, as tensors of B rows."""

    observations: Tensor
    actions: Tensor
    means: Tensor
    likelihoods: Tensor
    advantages: Tensor
    noise: Tensor

    def at(self, rows: Tensor) -> "_Samples":
        """Some of them."""
        names = ("observations", "actions", "means", "likelihoods", "advantages")
        return replace(self, **{name: getattr(self, name).index_select(0, rows) for name in names})


def update(learner: Learner, rollout: Rollout, rng: np.random.Generator) -> Lesson:
    """Learn from the rollout."""
    settings = learner.settings
    # As many as each network has below: where that is one, torch's own threads never wake, and do not spin on a core
    # that physics needs.
    torch.set_num_threads(max(1, learner.threads // 2))
    values = learner.expected(np.concatenate([rollout.observations, rollout.after[None]]))
    after = values_after(values, rollout.terminated, rollout.truncated, learner.expected(rollout.cut))
    ended = rollout.terminated | rollout.truncated
    returns = lambda_returns(rollout.rewards, after, ended, settings.discount, settings.value_trust)
    advantages = (
        lambda_returns(rollout.rewards, after, ended, settings.discount, settings.advantage_trust) - values[:-1]
    )
    targets = learner.tensor(learner.earned(returns).reshape(-1))
    samples = _samples(learner, rollout, advantages)
    order = np.stack([rng.permutation(rollout.samples) for _ in range(settings.epochs)])
    (policy_loss, kl, clipped), value_loss = side_by_side(
        lambda: _improve_policy(learner, samples, order),
        lambda: _improve_values(learner, samples.observations, targets, order),
        learner.threads,
        learner.device,
    )
    surprise = float(np.var(returns - values[:-1]) / max(float(np.var(returns)), 1e-12))
    return Lesson(policy_loss, value_loss, 1.0 - surprise, kl, clipped)


def _samples(learner: Learner, rollout: Rollout, advantages: Rows) -> _Samples:
    apart = (advantages - advantages.mean()) / (advantages.std() + np.float32(1e-8))
    actions, means = (array.reshape(rollout.samples, -1) for array in (rollout.actions, rollout.means))
    noise = learner.tensor(rollout.noise.copy())
    actions, means = learner.tensor(actions), learner.tensor(means)
    return _Samples(
        learner.tensor(rollout.observations.reshape(rollout.samples, -1)),
        actions,
        means,
        _log_likelihood(actions, means, torch.log(noise)),
        learner.tensor(apart.reshape(-1)),
        noise,
    )


def _log_likelihood(actions: Tensor, means: Tensor, log_noise: Tensor) -> Tensor:
    """(B,) up to a constant."""
    return -0.5 * ((actions - means) * torch.exp(-log_noise)).square().sum(1) - log_noise.sum()


def _improve_policy(learner: Learner, samples: _Samples, order: Order) -> tuple[float, float, float]:
    """Mean loss and clipped share of all steps, and how far the policy moved by the last epoch."""
    settings, log_noise = learner.settings, learner.actor.extra
    if not settings.learned_noise:
        log_noise = log_noise.detach()
    losses, clipped, moves = [], [], []
    for rows in _minibatches(order, settings.minibatch, learner.device):
        chosen = samples.at(rows)
        advantages, means = chosen.advantages, learner.mean_actions(chosen.observations)
        ratio = torch.exp(_log_likelihood(chosen.actions, means, log_noise) - chosen.likelihoods)
        within = torch.clamp(ratio, 1.0 - settings.clip, 1.0 + settings.clip)
        loss = -torch.minimum(ratio * advantages, within * advantages).mean()
        if settings.action_limit:
            beyond = torch.relu(means.abs() - settings.action_limit)
            loss = loss + settings.action_weight * beyond.square().sum(1).mean()
        if settings.learned_noise and settings.entropy:
            loss = loss - settings.entropy * log_noise.sum()
        with torch.no_grad():
            moves.append(float(_divergence(chosen.means, chosen.noise, means, log_noise)))
            clipped.append(float((ratio != within).float().mean()))
        losses.append(float(loss.detach()))
        if settings.target_kl and moves[-1] > _TOO_FAR * settings.target_kl:
            break
        learner.actor.descend(loss, learner.rate, settings.gradient_limit)
    kl = float(np.mean(moves[-max(1, len(moves) // settings.epochs) :]))
    _follow(learner, kl)
    return float(np.mean(losses)), kl, float(np.mean(clipped))


def _divergence(old_means: Tensor, old_noise: Tensor, means: Tensor, log_noise: Tensor) -> Tensor:
    """Mean Kullback-Leibler divergence of the new policy from the old one."""
    noise = torch.exp(log_noise)
    spread = (log_noise - torch.log(old_noise) + 0.5 * (old_noise / noise).square() - 0.5).sum()
    return spread + 0.5 * ((old_means - means) / noise).square().sum(1).mean()


def _follow(learner: Learner, kl: float) -> None:
    """Learn slower after the policy has moved too far, and faster after it hardly moved.

    The divergence grows with the square of the step, so its root is what the rate should change by.
    """
    if learner.settings.target_kl:
        factor = (learner.settings.target_kl / max(kl, 1e-12)) ** 0.5
        learner.rate = float(np.clip(learner.rate * np.clip(factor, 1.0 / _PACE, _PACE), _SLOWEST, _FASTEST))


def _improve_values(learner: Learner, observations: Tensor, targets: Tensor, order: Order) -> float:
    settings, losses = learner.settings, []
    for rows in _minibatches(order, settings.minibatch, learner.device):
        expected = learner.critic(observations.index_select(0, rows)).squeeze(1)
        loss = 0.5 * (expected - targets.index_select(0, rows)).square().mean()
        learner.critic.descend(loss, settings.critic_rate, settings.gradient_limit)
        losses.append(float(loss.detach()))
    return float(np.mean(losses))


def _minibatches(order: Order, size: int, device: str) -> Iterator[Tensor]:
    """Rows of each minibatch, epoch by epoch; all minibatches of an epoch have nearly the same size."""
    for epoch in order:
        for rows in np.array_split(epoch, max(1, round(len(epoch) / size))):
            yield torch.from_numpy(rows).to(device)
