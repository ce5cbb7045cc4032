# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of the policy that acts in a shard, with the same arithmetic as where it learns."""

import numpy as np
import torch

from .advantages import Rows
from .networks import MLP
from .normaliser import Normaliser
from .shards import PolicyWeights


class PolicyCopy:
    """The policy's network on the processor of this machine, with weights that come anew for each rollout."""

    def __init__(self, policy: PolicyWeights) -> None:
        # As where it learns: a thread for each environment, or small matrix products would be summed up in other ways.
        torch.set_num_threads(1)
        rng = np.random.default_rng(0)  # of weights that are replaced at once
        self._network = MLP(policy.sizes, policy.activation, rng, last_gain=1.0, extra=len(policy.noise))
        self.load(policy)

    def load(self, policy: PolicyWeights) -> None:
        """Take other weights of the same network."""
        self._network.weights.copy_(torch.from_numpy(np.array(policy.weights)))
        self._scale = policy.output_scale
        self.noise, self.normaliser = policy.noise, Normaliser(policy.statistics)

    def act(self, rows: Rows) -> Rows:
        """(n, A) actions without noise for normalised observations (n, O)."""
        with torch.inference_mode():
            actions: Rows = (self._network(torch.from_numpy(rows)) * self._scale).cpu().numpy()
        return actions
