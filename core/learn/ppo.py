# SPDX-License-Identifier: GPL-3.0-or-later
"""One update of proximal policy optimisation (PPO) from a rollout.

Schulman et al. 2017, equation 7 (the clipped surrogate objective), on generalised advantages. The policy's learning
rate follows the divergence of its updates; the value network has a constant one, and its loss is not clipped.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from .actor_critic import ActorCritic
from .advantages import Rows, lambda_returns, next_values
from .devices import run_side_by_side
from .networks import Tensor
from .rollout import Rollout

_MIN_LEARNING_RATE, _MAX_LEARNING_RATE = 1e-6, 3e-3
_MAX_RATE_CHANGE = 1.5
"""The largest factor by which the learning rate changes after an update."""

_KL_STOP = 3.0
"""An update stops early once the divergence is this many times the target."""

Order = NDArray[np.int64]


@dataclass(frozen=True)
class UpdateStatistics:
    """Losses and divergence of an update; the fields are those of ``UpdateRecord``."""

    policy_loss: float
    value_loss: float
    explained: float
    kl: float
    clipped: float


@dataclass(frozen=True, eq=False)
class _Samples:
    """What the policy learns from, as tensors of B rows; noise: (A,) standard deviations it was sampled with."""

    observations: Tensor
    actions: Tensor
    means: Tensor
    log_likelihoods: Tensor
    advantages: Tensor
    noise: Tensor

    def minibatch(self, rows: Tensor) -> "_Samples":
        """Some rows."""
        names = ("observations", "actions", "means", "log_likelihoods", "advantages")
        return replace(self, **{name: getattr(self, name).index_select(0, rows) for name in names})


def ppo_update(model: ActorCritic, rollout: Rollout, rng: np.random.Generator) -> UpdateStatistics:
    """Update policy and value network from a rollout."""
    settings = model.settings
    # As many as each network has below: where that is one, torch's own threads never wake, and do not spin on a core
    # that physics needs.
    torch.set_num_threads(max(1, model.threads // 2))
    values = model.predict_values(np.concatenate([rollout.observations, rollout.next_observations[None]]))
    after = next_values(
        values, rollout.terminated, rollout.truncated, model.predict_values(rollout.truncated_observations)
    )
    ended = rollout.terminated | rollout.truncated
    returns = lambda_returns(rollout.rewards, after, ended, settings.discount, settings.value_lambda)
    advantages = lambda_returns(rollout.rewards, after, ended, settings.discount, settings.gae_lambda) - values[:-1]
    value_targets = model.tensor(model.normalise_returns(returns).reshape(-1))
    samples = _make_samples(model, rollout, advantages)
    order = np.stack([rng.permutation(rollout.samples) for _ in range(settings.epochs)])
    (policy_loss, kl, clipped), value_loss = run_side_by_side(
        lambda: _improve_policy(model, samples, order),
        lambda: _improve_values(model, samples.observations, value_targets, order),
        model.threads,
        model.device,
    )
    unexplained = float(np.var(returns - values[:-1]) / max(float(np.var(returns)), 1e-12))
    return UpdateStatistics(policy_loss, value_loss, 1.0 - unexplained, kl, clipped)


def _make_samples(model: ActorCritic, rollout: Rollout, advantages: Rows) -> _Samples:
    normalised = (advantages - advantages.mean()) / (advantages.std() + np.float32(1e-8))
    actions, means = (array.reshape(rollout.samples, -1) for array in (rollout.actions, rollout.means))
    noise = model.tensor(rollout.noise.copy())
    actions, means = model.tensor(actions), model.tensor(means)
    return _Samples(
        model.tensor(rollout.observations.reshape(rollout.samples, -1)),
        actions,
        means,
        _log_likelihood(actions, means, torch.log(noise)),
        model.tensor(normalised.reshape(-1)),
        noise,
    )


def _log_likelihood(actions: Tensor, means: Tensor, log_noise: Tensor) -> Tensor:
    """(B,) log-likelihoods of actions under a diagonal Gaussian, up to a constant."""
    return -0.5 * ((actions - means) * torch.exp(-log_noise)).square().sum(1) - log_noise.sum()


def _improve_policy(model: ActorCritic, samples: _Samples, order: Order) -> tuple[float, float, float]:
    """Mean loss, divergence in the last epoch, and mean clipped fraction."""
    settings, log_noise = model.settings, model.actor.extra
    if not settings.learn_noise:
        log_noise = log_noise.detach()
    losses, clipped, divergences = [], [], []
    for rows in _minibatches(order, settings.minibatch, model.device):
        batch = samples.minibatch(rows)
        advantages, means = batch.advantages, model.mean_actions(batch.observations)
        ratio = torch.exp(_log_likelihood(batch.actions, means, log_noise) - batch.log_likelihoods)
        within = torch.clamp(ratio, 1.0 - settings.clip, 1.0 + settings.clip)
        loss = -torch.minimum(ratio * advantages, within * advantages).mean()
        if settings.action_limit:
            excess = torch.relu(means.abs() - settings.action_limit)
            loss = loss + settings.action_penalty * excess.square().sum(1).mean()
        if settings.learn_noise and settings.entropy_coefficient:
            loss = loss - settings.entropy_coefficient * log_noise.sum()
        with torch.no_grad():
            divergences.append(float(_kl_divergence(batch.means, batch.noise, means, log_noise)))
            clipped.append(float((ratio != within).float().mean()))
        losses.append(float(loss.detach()))
        if settings.target_kl and divergences[-1] > _KL_STOP * settings.target_kl:
            break
        model.actor.adam_step(loss, model.learning_rate, settings.max_gradient_norm)
    kl = float(np.mean(divergences[-max(1, len(divergences) // settings.epochs) :]))
    _adapt_learning_rate(model, kl)
    return float(np.mean(losses)), kl, float(np.mean(clipped))


def _kl_divergence(old_means: Tensor, old_noise: Tensor, means: Tensor, log_noise: Tensor) -> Tensor:
    """Mean Kullback-Leibler divergence of the new policy from the old one."""
    noise = torch.exp(log_noise)
    spread = (log_noise - torch.log(old_noise) + 0.5 * (old_noise / noise).square() - 0.5).sum()
    return spread + 0.5 * ((old_means - means) / noise).square().sum(1).mean()


def _adapt_learning_rate(model: ActorCritic, kl: float) -> None:
    """Lower the learning rate after an update that diverged too far, and raise it after one that hardly did.

    The divergence grows with the square of the step, so the rate changes by the root of what it should change by.
    """
    if model.settings.target_kl:
        factor = np.clip((model.settings.target_kl / max(kl, 1e-12)) ** 0.5, 1.0 / _MAX_RATE_CHANGE, _MAX_RATE_CHANGE)
        model.learning_rate = float(np.clip(model.learning_rate * factor, _MIN_LEARNING_RATE, _MAX_LEARNING_RATE))


def _improve_values(model: ActorCritic, observations: Tensor, targets: Tensor, order: Order) -> float:
    """Mean loss of the value network."""
    settings, losses = model.settings, []
    for rows in _minibatches(order, settings.minibatch, model.device):
        values = model.critic(observations.index_select(0, rows)).squeeze(1)
        loss = 0.5 * (values - targets.index_select(0, rows)).square().mean()
        model.critic.adam_step(loss, settings.critic_learning_rate, settings.max_gradient_norm)
        losses.append(float(loss.detach()))
    return float(np.mean(losses))


def _minibatches(order: Order, size: int, device: str) -> Iterator[Tensor]:
    """Rows of each minibatch, epoch by epoch; all minibatches of an epoch have nearly the same size."""
    for epoch in order:
        for rows in np.array_split(epoch, max(1, round(len(epoch) / size))):
            yield torch.from_numpy(rows).to(device)
