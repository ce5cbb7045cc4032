# SPDX-License-Identifier: GPL-3.0-or-later
"""The expert: the tracking policy of directed motion, and what it would do with bodies in any state."""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from ...sim.engine import SensorRows, World
from ..matching.features import find_head
from ..tracking_policy.controller import TrackingController, require_fitting
from ..tracking_policy.drawing import PRACTISED_BACK_M_S, draw_along
from ..tracking_policy.environment import find_acting, servo_targets
from ..tracking_policy.observations import StreamFeatures, TrackingState, read_state
from ..tracking_policy.reference_streams import CONTROL_FRAMES, Indices, ReferenceStreams
from ..tracking_policy.rewards import head_distance
from .body_states import Floats

_MOST_OFFSET = 0.8  # radians that the expert believes servos to be off by


@dataclass(frozen=True, eq=False)
class Advice:
    """What the expert sees (N, E), not mirrored, and what it would do: servo targets (N, nu), held for a control step.

    reference: (N, nu) what the targets would be without its corrections. apart_m: (N,) metres between the heads.
    """

    seen: Floats
    targets: Array
    reference: Array
    apart_m: Array


class Expert:
    """A controller on streams. acting: (A,) columns of the targets that it corrects."""

    def __init__(self, controller: TrackingController, streams: ReferenceStreams) -> None:
        self.controller, self.streams = controller, streams
        self.acting = find_acting(streams.body, controller.all_joints)
        self.head = find_head(streams.body)
        self.features = StreamFeatures(streams, self.acting)

    @property
    def seen_size(self) -> int:
        """E."""
        return self.controller.policy.observation_size

    def read(self, world: World, states: Array, rows: SensorRows, frame: Indices, drawn: Array) -> TrackingState:
        """The bodies beside frames (N,) of the streams, which they have drawn along by ``drawn`` (N, 2) metres.

        They draw them on, in place, by what a control step asks for.
        """
        found = read_state(self.streams, self.features, world, states, rows, frame.copy(), drawn)
        further = draw_along(found, drawn, PRACTISED_BACK_M_S)
        drawn += further
        found.move(-further)
        return found

    def advise(self, state: TrackingState, offsets: Array) -> Advice:
        """What to do next; offsets: (N, A) that the servos had in the last step."""
        offsets = np.clip(offsets, -_MOST_OFFSET, _MOST_OFFSET)
        seen = state.observations(offsets)
        require_fitting(self.controller, self.streams.body, seen.shape[1], "the library")
        # Not by the controller itself, which would look twice.
        actions = self.controller.policy(seen)
        wished = np.clip(self.features.turn_actions(actions, state.frame), -1.5, 1.5)
        corrected = offsets + self.controller.smoothing * (wished - offsets)
        blank = np.zeros_like(corrected)
        reference = servo_targets(self.streams, state.frame, blank, self.acting).mean(axis=1)
        targets = reference.copy()
        targets[:, self.acting] += corrected
        return Advice(self._not_mirrored(seen, state.frame), targets, reference, head_distance(state, self.head))

    def _not_mirrored(self, seen: Floats, frame: Indices) -> Floats:
        stance, which = self.features.stance, self.features.mirrored[frame]
        if stance is None or not which.any():
            return seen
        found, split = seen.copy(), self.features.rows.shape[1]
        found[which, :split] = seen[which, :split] @ stance.streams.T
        found[which, split:] = seen[which, split:] @ stance.states.T
        return found

    def later(self, frame: Indices) -> Indices:
        """(N,) frames a control step after frames (N,)."""
        return self.streams.later(frame, CONTROL_FRAMES)

    def is_over(self, frame: Indices) -> np.ndarray:
        """(N,) whether a stream has no whole control step left."""
        found: np.ndarray = frame + CONTROL_FRAMES > self.streams.ends[frame]
        return found
