# SPDX-License-Identifier: GPL-3.0-or-later
"""Playing a trained policy: N characters follow streams, one control step after the other."""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from ...sim.engine import SensorRows, World
from ..matching.features import find_head
from .controller import TrackingController, require_fitting
from .drawing import draw_along
from .environment import find_acting, servo_targets
from .observations import StreamFeatures, TrackingState, read_state
from .reference_streams import CONTROL_FRAMES, Indices, ReferenceStreams
from .rewards import head_distance

FALLEN_M = 1.0
"""Metres between the heads of stream and body at which it counts as fallen (section 6.6)."""


@dataclass(frozen=True, eq=False)
class LoopMoment:
    """What the copies of a loop are at after a control step: all that is needed to go on from there.

    drawn: (N, 2) metres that their streams have been drawn along by; ``state`` is told of as if they had not.
    """

    states: Array
    offsets: Array
    frame: Indices
    drawn: Array
    rows: SensorRows
    state: TrackingState


class PolicyLoop:
    """The copies of a world on frames (N,) of streams. state: after the last step. offsets: (N, A) of the servos.

    drawn: (N, 2) metres that each stream has been drawn along by its body.
    """

    def __init__(self, controller: TrackingController, streams: ReferenceStreams, world: World, frame: Indices) -> None:
        self.controller, self.streams, self.world = controller, streams, world
        self.acting, self.head = find_acting(streams.body, controller.all_joints), find_head(streams.body)
        self.features = StreamFeatures(streams, self.acting)
        self.offsets = controller.first_offsets(streams.body, len(frame))
        self._substeps = round(1.0 / (60.0 * world.dt_s))
        self.frame = np.array(frame, dtype=np.int64)
        self.drawn = np.zeros((len(self.frame), 2))
        qpos, qvel = (values[frame].astype(float) for values in (streams.qpos, streams.qvel))
        self.states = world.state_of(qpos, qvel)
        self.rows = world.sense(self.states)
        self.state = self._read()
        require_fitting(controller, streams.body, self.state.observations(self.offsets).shape[1], "the file")

    def _read(self) -> TrackingState:
        frame = self.frame.copy()
        return read_state(self.streams, self.features, self.world, self.states, self.rows, frame, self.drawn)

    def step(self, *, end_only: bool = True) -> tuple[Array, Array]:
        """A control step; gives states (N, K, state_size) and servo targets (N, CONTROL_FRAMES, nu)."""
        targets = self.choose_targets()
        return self.advance(targets, end_only=end_only), targets

    def choose_targets(self) -> Array:
        """(N, CONTROL_FRAMES, nu) what the policy would have the servos do next."""
        self.offsets = self.controller.act(self.state, self.offsets)
        return servo_targets(self.streams, self.frame, self.offsets, self.acting)

    def advance(self, targets: Array, *, end_only: bool = True, muscle: float = 1.0) -> Array:
        """The same with servo targets (N, CONTROL_FRAMES, nu) that somebody else has chosen."""
        strength = None if muscle == 1.0 else np.full(targets.shape[:2], muscle)
        states, self.rows = self.world.rollout(
            self.states, targets, substeps=self._substeps, end_only=end_only, muscle=strength
        )
        self.states = np.array(states[:, -1])
        self.frame = self.streams.later(self.frame, CONTROL_FRAMES)
        self.state = self._read()
        drawn = draw_along(self.state, self.drawn)
        self.drawn = self.drawn + drawn
        self.state.move(-drawn)
        return states

    def begin_from(self, states: Array) -> None:
        """Go on from states (N, state_size) that others have left, wherever they are."""
        self.states = np.array(states)
        self.rows = self.world.sense(self.states)
        self.state = self._read()

    def moment(self) -> LoopMoment:
        """What it is at now; nothing changes its arrays in place."""
        return LoopMoment(self.states, self.offsets, self.frame, self.drawn, self.rows, self.state)

    def go_to(self, moment: LoopMoment) -> None:
        """All copies at a moment of a loop on the same streams with as many copies, or with one."""
        copies = self.world.copies
        if len(moment.frame) == copies:
            self.rows, self.state = moment.rows, moment.state
        self.states = _spread(moment.states, copies)
        self.offsets = _spread(moment.offsets, copies)
        self.frame = _spread(moment.frame, copies)
        self.drawn = _spread(moment.drawn, copies)
        if len(moment.frame) != copies:
            self.rows = self.world.sense(self.states)
            self.state = self._read()

    def find_poses(self) -> Array:
        """(N, nq) where the bodies are, wherever their streams have been drawn to."""
        found: Array = self.world.pose_of(self.states)[0][:, : self.streams.body.nq]
        return found

    def apart_m(self) -> Array:
        """(N,) metres between the heads."""
        return head_distance(self.state, self.head)

    def put_back(self, which: np.ndarray) -> None:
        """Put copies (N,) that have fallen onto their streams again."""
        streams, frame = self.streams, self.frame[which]
        self.states, self.offsets, self.drawn = self.states.copy(), self.offsets.copy(), self.drawn.copy()
        self.states[which] = self.world.state_of(streams.qpos[frame].astype(float), streams.qvel[frame].astype(float))
        self.offsets[which], self.drawn[which] = 0.0, 0.0
        kept = tuple(array.copy() for array in self.state.arrays())
        fresh = (frame, streams.qpos[frame], streams.qvel[frame], streams.link_pos[frame], streams.com[frame])
        for array, values in zip(kept, (*fresh, streams.com_velocity[frame]), strict=True):
            array[which] = values
        self.state = TrackingState(streams, self.features, *kept)


def _spread(rows: np.ndarray, copies: int) -> np.ndarray:
    """(copies, ...) of as many rows, or of one for all; a copy that may be written to."""
    return np.array(np.broadcast_to(rows, (copies, *rows.shape[1:])))
