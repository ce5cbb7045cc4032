# SPDX-License-Identifier: GPL-3.0-or-later
"""Behaviour cloning: supervised regression of a policy on demonstrated actions, before reinforcement learning.

The value network is fitted to the demonstrations' returns, so that the first PPO updates do not undo what was cloned.
"""

import threading
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import LearningFailed
from .actor_critic import ActorCritic
from .devices import run_side_by_side
from .environment import Floats
from .networks import MLP, Tensor
from .normaliser import RunningStatistics

_HELD_OUT = 0.1


def clone_policy(
    model: ActorCritic,
    observations: Floats,
    actions: Floats,
    rng: np.random.Generator,
    *,
    returns: Floats | None = None,
    epochs: int = 50,
    minibatch: int = 256,
    learning_rate: float = 1e-3,
    on_share: Callable[[float], None] = lambda _: None,
) -> tuple[float, float]:
    """Fit the policy to demonstrated actions, and the value network to demonstrated returns.

    observations: (B, O) as environments give them. actions: (B, A). returns: (B,) discounted, or None to leave the
    value network alone. on_share: called in this thread now and then with the share of it that is done, 0 to 1.
    Gives the policy's mean squared error over the actions' variance, on a held-out tenth: (before, after).
    """
    if (
        len(observations) < 20
        or len(observations) != len(actions)
        or (returns is not None and len(returns) != len(actions))
    ):
        raise LearningFailed(
            f"{len(observations)} observations and {len(actions)} actions are nothing to learn from",
            "Give at least 20 of both, as many of one as of the other",
        )
    model.set_observation_statistics(model.observation_statistics + RunningStatistics.from_rows(observations))
    rows, wanted = model.normaliser(observations), np.asarray(actions, dtype=np.float32)
    order = rng.permutation(len(rows))
    held_out, training = np.split(order, [max(1, int(_HELD_OUT * len(order)))])
    variance = float(wanted.var(axis=0).mean()) + 1e-12
    before = float(np.square(model.act(rows[held_out]) - wanted[held_out]).mean()) / variance
    epochs_order = np.stack([rng.permutation(training) for _ in range(epochs)])
    targets = model.tensor(wanted / np.float32(model.settings.output_scale))
    inputs = model.tensor(rows)
    values = None
    if returns is not None:
        values = model.tensor(model.normalise_returns(np.asarray(returns, np.float32))[:, None])
    shares, here = [0.0], threading.current_thread()

    def watch(share: float) -> None:
        shares[0] = share
        if threading.current_thread() is here:
            on_share(share)

    run_side_by_side(
        lambda: _regress(model.actor, inputs, targets, epochs_order, minibatch, learning_rate, watch),
        lambda: (
            None if values is None else _regress(model.critic, inputs, values, epochs_order, minibatch, learning_rate)
        ),
        model.threads,
        model.device,
        while_waiting=lambda: on_share(shares[0]),
    )
    return before, float(np.square(model.act(rows[held_out]) - wanted[held_out]).mean()) / variance


def _regress(
    network: MLP,
    rows: Tensor,
    targets: Tensor,
    order: NDArray[np.int64],
    minibatch: int,
    learning_rate: float,
    on_share: Callable[[float], None] = lambda _: None,
) -> None:
    """Least squares by Adam, with a learning rate annealed to zero along a cosine."""
    parts = [part for epoch in order for part in np.array_split(epoch, max(1, round(len(epoch) / minibatch)))]
    variance = targets.var(dim=0, unbiased=False).mean() + 1e-12
    for number, part in enumerate(parts):
        on_share(number / len(parts))
        chosen = torch.from_numpy(part).to(rows.device)
        loss = (network(rows[chosen]) - targets[chosen]).square().mean() / variance
        network.adam_step(loss, learning_rate * 0.5 * (1.0 + np.cos(np.pi * number / len(parts))), 1.0)
    network.reset_optimiser()
