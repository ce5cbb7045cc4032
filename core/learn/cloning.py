# SPDX-License-Identifier: GPL-3.0-or-later
"""A policy that begins with what is known already: supervised regression on what somebody did where.

Also for the value network, so that the first updates of reinforcement learning do not undo what was cloned.
"""

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import LearningFailed
from .devices import side_by_side
from .environment import Floats
from .learner import Learner
from .networks import Network, Tensor
from .normalising import Moments

_HELD_OUT = 0.1


def clone(
    learner: Learner,
    observations: Floats,
    actions: Floats,
    rng: np.random.Generator,
    *,
    returns: Floats | None = None,
    epochs: int = 50,
    minibatch: int = 256,
    rate: float = 1e-3,
) -> tuple[float, float]:
    """Teach the policy to do as was done, and the value network to expect what was earned.

    observations: (B, O) as environments give them. actions: (B, A). returns: (B,) what was earned from there on,
    discounted, or None to leave the value network alone.
    Gives the mean square of what the policy does wrong, over the actions' variance, on a tenth of the examples that it
    was not shown: (before, after).
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
    learner.watched(learner.moments + Moments.of(observations))
    seen, done = learner.normaliser(observations), np.asarray(actions, dtype=np.float32)
    order = rng.permutation(len(seen))
    hidden, shown = np.split(order, [max(1, int(_HELD_OUT * len(order)))])
    spread = float(done.var(axis=0).mean()) + 1e-12
    before = float(np.square(learner.act(seen[hidden]) - done[hidden]).mean()) / spread
    epochs_order = np.stack([rng.permutation(shown) for _ in range(epochs)])
    goals = learner.tensor(done / np.float32(learner.settings.output_scale))
    rows = learner.tensor(seen)
    earned = learner.tensor(learner.earned(np.asarray(returns, np.float32))[:, None]) if returns is not None else None
    side_by_side(
        lambda: _regress(learner.actor, rows, goals, epochs_order, minibatch, rate),
        lambda: None if earned is None else _regress(learner.critic, rows, earned, epochs_order, minibatch, rate),
        learner.threads,
        learner.device,
    )
    return before, float(np.square(learner.act(seen[hidden]) - done[hidden]).mean()) / spread


def _regress(
    network: Network, rows: Tensor, goals: Tensor, order: NDArray[np.int64], minibatch: int, rate: float
) -> None:
    """Least squares, with a rate that falls to nothing."""
    parts = [part for epoch in order for part in np.array_split(epoch, max(1, round(len(epoch) / minibatch)))]
    spread = goals.var(dim=0, unbiased=False).mean() + 1e-12
    for number, part in enumerate(parts):
        chosen = torch.from_numpy(part).to(rows.device)
        loss = (network(rows[chosen]) - goals[chosen]).square().mean() / spread
        network.descend(loss, rate * 0.5 * (1.0 + np.cos(np.pi * number / len(parts))), 1.0)
    network.forget()
