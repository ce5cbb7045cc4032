# SPDX-License-Identifier: GPL-3.0-or-later
"""Random pushes while practising: what thrown cubes do (section 6.6), as forces on the trunk."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...geometry.quaternions import Array
from .reference_streams import CONTROL_FPS, CONTROL_FRAMES

_LASTS = 3  # control steps of a push
_UPWARD = 0.3


@dataclass(frozen=True)
class PushConfig:
    """every_s: seconds between two pushes of a character, on average; 0 for none. most_n_s: the strongest, in newton
    seconds: a cube of 8 kg at 5 m/s gives a body at most 40."""

    every_s: float = 2.0
    most_n_s: float = 20.0


class RandomPushes:
    """Pushes of N characters, each on a link of its trunk, from any side."""

    def __init__(self, body: BodyModel, count: int, config: PushConfig, rng: np.random.Generator) -> None:
        self._trunk = np.array(body.trunk)
        self.config, self._rng = config, rng
        self._shape = (count, CONTROL_FRAMES, len(body.links), 3)
        self.left = np.zeros(count, dtype=np.int64)
        self.link = np.zeros(count, dtype=np.int64)
        self.force = np.zeros((count, 3))

    def step(self) -> Array | None:
        """(N, CONTROL_FRAMES, L, 3) newtons of the next control step; None where nobody is ever pushed."""
        if not self.config.every_s:
            return None
        rng, count = self._rng, len(self.left)
        fresh = (self.left == 0) & (rng.random(count) < 1.0 / (self.config.every_s * CONTROL_FPS))
        direction = rng.standard_normal((count, 3)) * (1.0, 1.0, _UPWARD)
        direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
        # Most are weak: of strengths squared, all are as likely as any.
        strength = self.config.most_n_s * rng.random(count) ** 2 * CONTROL_FPS / _LASTS
        links = self._trunk[rng.integers(len(self._trunk), size=count)]
        self.force = np.where(fresh[:, None], strength[:, None] * direction, self.force)
        self.link = np.where(fresh, links, self.link)
        self.left = np.where(fresh, _LASTS, self.left)
        forces = np.zeros(self._shape)
        on = np.flatnonzero(self.left)
        forces[on, :, self.link[on]] = self.force[on, None]
        self.left = np.maximum(self.left - 1, 0)
        return forces

    def state(self) -> dict[str, NDArray[Any]]:
        """What ``restore`` needs."""
        return {"left": self.left, "link": self.link, "force": self.force}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self.left, self.link, self.force = (np.array(state[name]) for name in ("left", "link", "force"))
