# SPDX-License-Identifier: GPL-3.0-or-later
"""Playing a trained policy: N characters follow streams, recorded or only measured; one of them on any stage."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ....body.poses import link_transforms, targets_of_pose
from ....geometry.quaternions import Array
from ....motion import Clip
from ....sim.engine import SensorRows, World
from ...tracking.recording import RecordedCharacter, Recording
from .controller import TrackingController, require_fitting
from .environment import find_acting, find_head, servo_targets
from .observations import StreamFeatures, TrackingState, read_state
from .reference_streams import CONTROL_FRAMES, Indices, ReferenceStreams
from .rewards import head_distance

FALLEN_M = 1.0
"""Metres between the heads of stream and body at which it counts as fallen (section 6.6)."""
_LIMP = 0.03  # of its strength


class PolicyLoop:
    """The copies of a world on frames (N,) of streams. state: after the last step. offsets: (N, A) of the servos."""

    def __init__(self, controller: TrackingController, streams: ReferenceStreams, world: World, frame: Indices) -> None:
        self.controller, self.streams, self.world = controller, streams, world
        self.acting, self.head = find_acting(streams.body, controller.all_joints), find_head(streams.body)
        self.features = StreamFeatures(streams, self.acting)
        self.offsets = controller.first_offsets(streams.body, len(frame))
        self._substeps = round(1.0 / (60.0 * world.dt_s))
        self.frame = np.array(frame, dtype=np.int64)
        qpos, qvel = (values[frame].astype(float) for values in (streams.qpos, streams.qvel))
        self.states = world.state_of(qpos, qvel)
        self.rows = world.sense(self.states)
        self.state = self._read()
        require_fitting(controller, streams.body, self.state.observations(self.offsets).shape[1], "the file")

    def _read(self) -> TrackingState:
        return read_state(self.streams, self.features, self.world, self.states, self.rows, self.frame.copy())

    def step(self, *, end_only: bool = True) -> tuple[Array, Array]:
        """A control step; gives states (N, K, state_size) and servo targets (N, CONTROL_FRAMES, nu)."""
        self.offsets = self.controller.act(self.state, self.offsets)
        targets = servo_targets(self.streams, self.frame, self.offsets, self.acting)
        return self.advance(targets, end_only=end_only), targets

    def advance(self, targets: Array, *, end_only: bool = True, muscle: float = 1.0) -> Array:
        """The same with servo targets (N, CONTROL_FRAMES, nu) that somebody else has chosen."""
        strength = None if muscle == 1.0 else np.full(targets.shape[:2], muscle)
        states, self.rows = self.world.rollout(
            self.states, targets, substeps=self._substeps, end_only=end_only, muscle=strength
        )
        self.states = np.array(states[:, -1])
        self.frame = self.streams.later(self.frame, CONTROL_FRAMES)
        self.state = self._read()
        return states

    def apart_m(self) -> Array:
        """(N,) metres between the heads."""
        return head_distance(self.state, self.head)

    def put_back(self, which: np.ndarray) -> None:
        """Put copies (N,) that have fallen onto their streams again."""
        streams, frame = self.streams, self.frame[which]
        self.states[which] = self.world.state_of(streams.qpos[frame].astype(float), streams.qvel[frame].astype(float))
        self.offsets[which] = 0.0
        kept = self.state.arrays()
        fresh = (frame, streams.qpos[frame], streams.qvel[frame], streams.link_pos[frame], streams.com[frame])
        for array, values in zip(kept, (*fresh, streams.com_velocity[frame]), strict=True):
            array[which] = values
        self.state = TrackingState(streams, self.features, *kept)


@dataclass(frozen=True, eq=False)
class PolicyRecording:
    """A recording of one character. apart_m: (steps,) metres between the heads after each control step."""

    film: Recording
    subject: RecordedCharacter
    apart_m: Array


def play_stream(
    controller: TrackingController,
    streams: ReferenceStreams,
    motion: Clip,
    world: World,
    on_progress: Callable[[float], None] = lambda _: None,
) -> PolicyRecording:
    """Simulate one character on the only stream there is, whose motion is given, with whatever is on the stage.

    One that has fallen goes limp: it would flail on the ground after a motion that is done standing.
    """
    loop = PolicyLoop(controller, streams, world, np.zeros(1, dtype=np.int64))
    states, rows, targets, apart = [loop.states], [loop.rows], [], [0.0]
    steps = (len(streams) - 1) // CONTROL_FRAMES
    limp: Array | None = None
    for step in range(steps):
        if limp is None and not apart[-1] <= FALLEN_M:
            limp = np.repeat(targets_of_pose(streams.body, loop.state.qpos)[:, None], CONTROL_FRAMES, axis=1)
        if limp is None:
            film_states, aimed = loop.step(end_only=False)
        else:
            film_states, aimed = loop.advance(limp, end_only=False, muscle=_LIMP), limp
        states.append(film_states[0])
        rows.append(loop.rows)
        targets.append(aimed[0])
        apart.append(float(loop.apart_m()[0]))
        on_progress((step + 1) / steps)
    qpos, qvel = world.pose_of(np.concatenate(states))
    film = Recording(world.stage, qpos, qvel, np.concatenate([targets[0][:1], *targets]), _join_rows(rows))
    return PolicyRecording(film, _describe_wanted(streams, motion, np.array(apart)), np.array(apart[1:]))


def _describe_wanted(streams: ReferenceStreams, motion: Clip, apart_m: Array) -> RecordedCharacter:
    """What a recording is compared with, and from when on it was limp. apart_m: (steps + 1,) metres of the heads."""
    count = CONTROL_FRAMES * (len(apart_m) - 1) + 1
    pos, quat = link_transforms(streams.body, streams.qpos[:count].astype(float))
    com, muscle = streams.com[:count].astype(float), np.ones(count)
    fell = np.flatnonzero(~(apart_m <= FALLEN_M))
    limp: tuple[tuple[int, int], ...] = ()
    if len(fell) and fell[0] < len(apart_m) - 1:
        limp = ((int(fell[0]) * CONTROL_FRAMES + 1, count),)
        muscle[limp[0][0] :] = _LIMP
    return RecordedCharacter(streams.body, motion, streams.pose_space, muscle, pos, quat, com, limp)


def _join_rows(rows: list[SensorRows]) -> SensorRows:
    """Sensor rows (1, K, ...) joined in time."""
    return SensorRows(**{name: np.concatenate([getattr(one, name) for one in rows], axis=1) for name in vars(rows[0])})
