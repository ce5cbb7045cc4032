# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rollout keeps: of every physics step that MuJoCo records, the ends of control steps.

MuJoCo works out positions and velocities when a step begins, forces while it steps. So a control step's places are
found with the first physics step after it, its forces with its last; only the places at the very end must be computed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from .mujoco_columns import PLACED, STATE

Indices = NDArray[np.int64] | slice
Flags = NDArray[np.bool_]


class ControlStepRecorder:
    """States and sensors (N, K, ...) at the ends of K control steps of ``substeps`` physics steps each.

    shapes: of the fields in ``PLACED``, by name.
    states: NaN where a copy no longer lives. felt: the sensors during the last physics step. placed: fields by name.
    """

    records = True

    def __init__(
        self, copies: int, state_size: int, shapes: dict[str, tuple[int, ...]], count: int, substeps: int
    ) -> None:
        self.states: Array = np.full((copies, count, state_size), np.nan)
        self.felt: Array = np.zeros((copies, count, *shapes["sensordata"]))
        self.placed: dict[str, Array] = {name: np.zeros((copies, count, *shape)) for name, shape in shapes.items()}
        self._substeps = substeps

    def keep(self, ids: Indices, first: int, recorded: dict[Any, Array], warned: Flags, _: Any) -> None:
        """Take what copies ``ids`` (n,) recorded of the physics steps from ``first`` on, (n, steps, ...) by item.

        warned: (n,) copies that blew up on the way.
        """
        # MuJoCo stops a copy after a step that it has to warn of, and repeats its record: its time stands still.
        time_s, count = recorded[STATE][:, :, 0], recorded[STATE].shape[1]
        lasted = np.where(warned, np.sum(time_s < time_s[:, -1:], axis=-1), count)
        each, last = self._substeps, first + count
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


class LastStepRecorder:
    """(N, 1, ...) of the last control step alone, which the batch holds anyway: nothing is recorded on the way."""

    records = False

    def __init__(self, copies: int, state_size: int, shapes: dict[str, tuple[int, ...]]) -> None:
        self.states: Array = np.full((copies, 1, state_size), np.nan)
        self.felt: Array = np.zeros((copies, 1, *shapes["sensordata"]))
        self.placed: dict[str, Array] = {}

    def keep(self, ids: Indices, _first: int, _recorded: dict[Any, Array], warned: Flags, batch: Any) -> None:
        """Take where copies ``ids`` (n,) are now; what comes later overwrites it."""
        states = batch.state[ids, : self.states.shape[-1]]
        self.states[ids, 0] = np.where(warned[:, None], np.nan, states) if warned.any() else states

    def drop(self, ids: Indices, _: int) -> None:
        """Forget copies ``ids``."""
        self.states[ids] = np.nan

    def end(self, batch: Any) -> None:
        """Take the places of the very end, which the batch has just computed."""
        self.placed = {name: batch.bind(name)[:, None].copy() for name in PLACED}
