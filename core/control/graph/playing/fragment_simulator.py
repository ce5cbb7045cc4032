# SPDX-License-Identifier: GPL-3.0-or-later
"""Many copies of one character in a graph, each in a fragment of its own: what they see, do, and what becomes of it."""

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
    """N copies between two fragments.

    states: (N, state_size), seen: (N, S) features against the fragments (N,) that they are about to do, before: (N, A)
    their last actions.
    """

    states: Array
    seen: Array
    before: Array
    fragments: Indices

    def taken(self, some: NDArray[np.int64]) -> "CopyBatch":
        """Copies by index."""
        return CopyBatch(self.states[some], self.seen[some], self.before[some], self.fragments[some])

    def put(self, where: NDArray[np.int64], other: "CopyBatch") -> None:
        """Copies in place of others."""
        for name, values in vars(other).items():
            getattr(self, name)[where] = values


class FragmentSimulator:
    """A world in which crowds walk through a track."""

    def __init__(self, track: Track, reference: FragmentReference, world: World, features: Features) -> None:
        self.track, self.reference, self.world, self.features = track, reference, world, features
        self.substeps = round(1.0 / (CONTROL_FPS * world.dt_s))
        self.entries: dict[int, Array] = {}
        """By fragment, states (n, state_size) that it is really begun in, where those are not the track's."""
        self.ends = reference.frames_of_many(np.arange(len(track)))[:, -1]
        self.tallest = character_height(reference.rows.link_pos[0])

    @cached_property
    def starts(self) -> Array:
        """(F, state_size) where fragments begin."""
        return np.asarray(self.reference.states[self.reference.frame_before(np.arange(len(self.track)))])

    @cached_property
    def start_features(self) -> Array:
        """(F, S) what is seen where fragments begin."""
        frames = self.reference.frame_before(np.arange(len(self.track)))
        return self.features.seen(self.track.qpos[:, 0, 3:7], select_frames(self.reference.rows, frames))

    def begun(self, fragments: Indices, rng: np.random.Generator | None = None) -> CopyBatch:
        """A crowd at the starts of fragments (N,), or with ``rng`` in one of their entries."""
        nothing = np.zeros((len(fragments), len(self.features.acts)))
        crowd = CopyBatch(self.starts[fragments], self.start_features[fragments], nothing, np.array(fragments))
        entered = np.flatnonzero(np.isin(fragments, list(self.entries)))
        if rng is None or not len(entered):
            return crowd
        for index in entered:
            entries = self.entries[int(fragments[index])]
            crowd.states[index] = entries[int(rng.integers(len(entries)))]
        crowd.seen[entered] = self._sensed(crowd.states, fragments)[entered]
        return crowd

    def _sensed(self, states: Array, fragments: Indices) -> Array:
        """(N, S) what is seen in states (N, state_size) against the starts of fragments (N,)."""
        rows = self.world.sense(pad_batch(states, self.world.copies))
        some = SensorRows(**{name: values[: len(states)] for name, values in vars(rows).items()})
        return self.features.seen(self.track.qpos[fragments, 0, 3:7], some)

    def done(self, crowd: CopyBatch, actions: Array, pushes: Array | None = None) -> tuple[Array, SensorRows]:
        """States (N, state_size) and rows after the crowd's fragments with actions (N, A).

        pushes: (N, 3) newtons at the trunk all the while.
        """
        offsets = self.features.offsets(crowd.before)[:, None]
        offsets = offsets + EASE * self.features.offsets(actions - crowd.before)[:, None]
        forces = None
        if pushes is not None:
            forces = np.zeros((len(actions), FRAGMENT_STEPS, len(self.track.body.links), 3))
            forces[:, :, self.features.trunk] = pushes[:, None]
        states, rows = self.world.rollout(
            crowd.states, self.track.targets[crowd.fragments] + offsets, substeps=self.substeps, forces=forces
        )
        return states[:, -1], rows

    def next(self, states: Array, rows: SensorRows, before: Array, fragments: Indices) -> CopyBatch:
        """The crowd that stands in states (N, state_size) before fragments (N,)."""
        seen = self.features.seen(self.track.qpos[fragments, 0, 3:7], rows)
        return CopyBatch(states, seen, before, fragments)

    def astray(self, fragments: Indices, rows: SensorRows) -> Array:
        """(N,) how far those are from their heights at the ends of fragments (N,), as a share of the body's."""
        wanted = self.reference.rows.link_pos[0, self.ends[fragments]]
        return height_error(wanted, rows.link_pos[:, -1], self.tallest)

    def ahead(self, states: Array) -> Array:
        """(N, 3) the level directions that states (N, state_size) face."""
        return facing_direction(self.world.pose_of(states)[0][:, 3:7], self._upright)

    @cached_property
    def _upright(self) -> Array:
        return upright_rotation(self.track.body)


def select_frames(rows: SensorRows, frames: Indices) -> SensorRows:
    """Some frames of rows (1, T, ...) as (n, 1, ...)."""
    return SensorRows(**{name: values[0, frames][:, None] for name, values in vars(rows).items()})
