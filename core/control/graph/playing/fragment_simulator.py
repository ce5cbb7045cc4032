# SPDX-License-Identifier: GPL-3.0-or-later
"""Executes control fragments for N copies of a character side by side, each in its own fragment (Algorithm 1, line 5).

Guided SAMCON, evolution strategies and push tests all stand on this.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....geometry.quaternions import Array
from ....motion.falling import character_height, height_error
from ....sim.engine import SensorRows, World
from ...tracking.facing import facing_direction, upright_rotation
from ...tracking.reference import CONTROL_FPS, EASE, FRAGMENT_STEPS, pad_batch
from ..model.features import Features
from ..model.fragments import FragmentReference, Indices, Track


@dataclass(eq=False)
class CopyBatch:
    """N copies, each at the start of a fragment.

    states: (N, state_size) of the simulation. observations: (N, S) state features, measured against the fragments (N,)
    that come next. previous_actions: (N, A) radians.
    """

    states: Array
    observations: Array
    previous_actions: Array
    fragments: Indices

    def select(self, some: NDArray[np.int64]) -> "CopyBatch":
        """Copies by index."""
        return CopyBatch(self.states[some], self.observations[some], self.previous_actions[some], self.fragments[some])

    def assign(self, where: NDArray[np.int64], other: "CopyBatch") -> None:
        """Copies in place of others."""
        for name, values in vars(other).items():
            getattr(self, name)[where] = values


class FragmentSimulator:
    """A batch world, and the track whose fragments its copies execute."""

    def __init__(self, track: Track, reference: FragmentReference, world: World, features: Features) -> None:
        self.track, self.reference, self.world, self.features = track, reference, world, features
        self.substeps = round(1.0 / (CONTROL_FPS * world.dt_s))
        self.entry_states: dict[int, Array] = {}
        """By fragment, states (n, state_size) in which it begins instead of the track's: get-ups begin after falls."""
        self.end_frames = reference.frames_of_many(np.arange(len(track)))[:, -1]
        self.body_height = character_height(reference.rows.link_pos[0])

    @cached_property
    def start_states(self) -> Array:
        """(F, state_size) the reference start states s_0 of fragments."""
        return np.asarray(self.reference.states[self.reference.frame_before(np.arange(len(self.track)))])

    @cached_property
    def start_observations(self) -> Array:
        """(F, S) state features of the reference start states."""
        frames = self.reference.frame_before(np.arange(len(self.track)))
        return self.features.observe(self.track.qpos[:, 0, 3:7], select_frames(self.reference.rows, frames))

    def start(self, fragments: Indices, rng: np.random.Generator | None = None) -> CopyBatch:
        """Copies at the starts of fragments (N,), or with ``rng`` in one of their entry states."""
        nothing = np.zeros((len(fragments), len(self.features.action_dofs)))
        batch = CopyBatch(
            self.start_states[fragments], self.start_observations[fragments], nothing, np.array(fragments)
        )
        entered = np.flatnonzero(np.isin(fragments, list(self.entry_states)))
        if rng is None or not len(entered):
            return batch
        for index in entered:
            entries = self.entry_states[int(fragments[index])]
            batch.states[index] = entries[int(rng.integers(len(entries)))]
        batch.observations[entered] = self._observe(batch.states, fragments)[entered]
        return batch

    def _observe(self, states: Array, fragments: Indices) -> Array:
        """(N, S) state features of states (N, state_size), measured against the starts of fragments (N,)."""
        rows = self.world.sense(pad_batch(states, self.world.copies))
        some = SensorRows(**{name: values[: len(states)] for name, values in vars(rows).items()})
        return self.features.observe(self.track.qpos[fragments, 0, 3:7], some)

    def execute(self, batch: CopyBatch, actions: Array, pushes: Array | None = None) -> tuple[Array, SensorRows]:
        """End states (N, state_size) and sensor rows of the batch's fragments, executed with actions (N, A).

        pushes: (N, 3) newtons at the trunk throughout the fragment.
        """
        offsets = self.features.target_offsets(batch.previous_actions)[:, None]
        offsets = offsets + EASE * self.features.target_offsets(actions - batch.previous_actions)[:, None]
        forces = None
        if pushes is not None:
            forces = np.zeros((len(actions), FRAGMENT_STEPS, len(self.track.body.links), 3))
            forces[:, :, self.features.trunk] = pushes[:, None]
        states, rows = self.world.rollout(
            batch.states, self.track.targets[batch.fragments] + offsets, substeps=self.substeps, forces=forces
        )
        return states[:, -1], rows

    def next_batch(self, states: Array, rows: SensorRows, previous_actions: Array, fragments: Indices) -> CopyBatch:
        """The copies in states (N, state_size) at the starts of fragments (N,)."""
        observations = self.features.observe(self.track.qpos[fragments, 0, 3:7], rows)
        return CopyBatch(states, observations, previous_actions, fragments)

    def height_error(self, fragments: Indices, rows: SensorRows) -> Array:
        """(N,) error of the links' heights at the ends of fragments (N,), as a share of the body's height."""
        wanted = self.reference.rows.link_pos[0, self.end_frames[fragments]]
        return height_error(wanted, rows.link_pos[:, -1], self.body_height)

    def facing_directions(self, states: Array) -> Array:
        """(N, 3) horizontal facing directions of states (N, state_size)."""
        return facing_direction(self.world.pose_of(states)[0][:, 3:7], self._upright)

    @cached_property
    def _upright(self) -> Array:
        return upright_rotation(self.track.body)


def select_frames(rows: SensorRows, frames: Indices) -> SensorRows:
    """Frames (n,) of rows (1, T, ...) as (n, 1, ...)."""
    return SensorRows(**{name: values[0, frames][:, None] for name, values in vars(rows).items()})
