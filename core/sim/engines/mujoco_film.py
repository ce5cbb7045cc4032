# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rollout keeps: of every physics step that MuJoCo records, the ends of control steps.

MuJoCo works out positions and velocities when a step begins, forces while it steps. So a control step's places are
found with the first physics step after it, its forces with its last; only the places at the very end must be computed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from .mujoco_places import PLACED, STATE

Indices = NDArray[np.int64]


class Film:
    """(N, K, ...) of K control steps of ``substeps`` physics steps each.

    shapes: of the fields in ``PLACED``, by name.
    states: NaN where a copy no longer lives. felt: the sensors during the last physics step. placed: fields by name.
    """

    def __init__(
        self, copies: int, state_size: int, shapes: dict[str, tuple[int, ...]], count: int, substeps: int
    ) -> None:
        self.states: Array = np.full((copies, count, state_size), np.nan)
        self.felt: Array = np.zeros((copies, count, *shapes["sensordata"]))
        self.placed: dict[str, Array] = {name: np.zeros((copies, count, *shape)) for name, shape in shapes.items()}
        self._substeps = substeps

    def keep(self, ids: Indices, first: int, recorded: dict[Any, Array], lasted: Indices) -> None:
        """Take what copies ``ids`` (n,) recorded of the physics steps from ``first`` on, (n, steps, ...) by item.

        lasted: (n,) how many of those steps each of them lived through.
        """
        each, last = self._substeps, first + recorded[STATE].shape[1]
        whole = slice(first // each, last // each)
        ends = np.arange(whole.start + 1, whole.stop + 1) * each - 1 - first
        states = recorded[STATE][:, ends]
        states[ends >= lasted[:, None]] = np.nan
        self.states[ids, whole] = states
        self.felt[ids, whole] = recorded["sensordata"][:, ends]
        # Control step k is over where physics step (k + 1) * each begins.
        over = slice(max(-(-first // each) - 1, 0), -(-last // each) - 1)
        begin = (over.start + 1) * each - first
        if over.stop > over.start:
            for name in PLACED:
                self.placed[name][ids, over] = recorded[name][:, begin::each]

    def drop(self, ids: Indices, first: int) -> None:
        """Forget copies ``ids`` from physics step ``first`` on."""
        self.states[ids, max(-(-first // self._substeps) - 1, 0) :] = np.nan

    def end(self, batch: Any) -> None:
        """Take the places of the very end, which the batch has just computed."""
        for name in PLACED:
            self.placed[name][:, -1] = batch.bind(name)
