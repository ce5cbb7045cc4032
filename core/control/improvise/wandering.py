# SPDX-License-Identifier: GPL-3.0-or-later
"""Random rollouts: bodies that wander on noise, without torch, and how long they stay up (section 5.1.3)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...body import BodyModel
from ...geometry.quaternions import Array
from ...sim.engine import World
from ..matching.features import find_head
from ..tracking_policy.reference_streams import CONTROL_FPS
from .body_states import BodyState, Floats, StateReader
from .falling import FallHeights, has_fallen
from .latent_model import LatentModel

Act = Callable[[BodyState, np.random.Generator], Array]
"""States of N bodies to servo targets (N, nu)."""


@dataclass(frozen=True, eq=False)
class RandomRollouts:
    """N rollouts of K control steps at most. up_s: (N,) seconds until each fell, all of them where it did not.

    rows: (K', N, 15 L) every so many steps, as ``BodyState`` has them, NaN after a fall; root: (K', N, 3) likewise.
    """

    up_s: Array
    fell: np.ndarray
    rows: Floats
    root: Array

    @property
    def mean_up_s(self) -> float:
        """Mean time until fall."""
        return float(self.up_s.mean())


class WanderingBodies:
    """The N copies of a world with one body each."""

    def __init__(self, body: BodyModel, world: World, qpos: Array, qvel: Array, fall_heights: FallHeights) -> None:
        self.reader, self.world = StateReader(body), world
        self._head, self._fall_heights = find_head(body), fall_heights
        self._substeps = round(1.0 / (CONTROL_FPS * world.dt_s))
        self.states = world.state_of(qpos, qvel)
        self._sense(world.sense(self.states))

    def _sense(self, rows: object) -> None:
        qpos, qvel = self.world.pose_of(self.states)
        placed = (rows.link_pos[:, -1], rows.link_quat_wxyz[:, -1])  # type: ignore[attr-defined]
        self.now = self.reader(qpos, qvel, placed)

    def step(self, targets: Array) -> None:
        """A control step with servo targets (N, nu)."""
        states, rows = self.world.rollout(
            self.states, np.nan_to_num(targets)[:, None], substeps=self._substeps, end_only=True
        )
        self.states = np.array(states[:, -1])
        self._sense(rows)

    @property
    def fallen(self) -> np.ndarray:
        """(N,) who has fallen."""
        return has_fallen(self.now.pos, self._head, self._fall_heights)


def wander_until_fall(
    bodies: WanderingBodies,
    act: Act,
    seconds: float,
    rng: np.random.Generator,
    *,
    every: int = 10,
    on_share: Callable[[float], None] = lambda _: None,
) -> RandomRollouts:
    """Let them wander until all have fallen, or time is over. every: control steps between two states that are kept."""
    steps, count = max(1, round(seconds * CONTROL_FPS)), bodies.world.copies
    up, alive = np.full(count, steps), np.ones(count, dtype=bool)
    rows, root = [], []
    for step in range(steps):
        if step % every == 0:
            rows.append(np.where(alive[:, None], bodies.now.rows, np.float32(np.nan)))
            root.append(np.where(alive[:, None], bodies.now.root, np.nan))
        bodies.step(act(bodies.now, rng))
        down = alive & bodies.fallen
        up[down], alive = step + 1, alive & ~down
        on_share((step + 1) / steps)
        if not alive.any():
            break
    return RandomRollouts(up / CONTROL_FPS, ~alive, np.stack(rows), np.stack(root))


def wander_by(model: LatentModel, noise: float = 1.0) -> Act:
    """Latent vectors from the prior in every step."""

    def act(state: BodyState, rng: np.random.Generator) -> Array:
        return model.decode(state.rows, model.sample(state.rows, rng, noise))

    return act
