# SPDX-License-Identifier: GPL-3.0-or-later
"""One character that is recorded while a trained policy keeps it on a stream, on any stage."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ....body.poses import link_transforms, targets_of_pose
from ....geometry.quaternions import Array
from ....motion import Clip
from ....sim.engine import SensorRows, World
from ...tracking.recording import RecordedCharacter, Recording
from .controller import TrackingController
from .playing import FALLEN_M, PolicyLoop
from .recovery import RecoveringPlay, RecoverySearch
from .reference_streams import CONTROL_FRAMES, ReferenceStreams

_LIMP = 0.03  # of its strength


@dataclass(frozen=True, eq=False)
class PolicyRecording:
    """A recording of one character. apart_m: (steps,) metres between the heads after each control step.

    searches: how often something else was tried than what the policy would have done.
    """

    film: Recording
    subject: RecordedCharacter
    apart_m: Array
    searches: int = 0


def play_stream(
    controller: TrackingController,
    streams: ReferenceStreams,
    motion: Clip,
    world: World,
    on_progress: Callable[[float], None] = lambda _: None,
    search: RecoverySearch | None = None,
) -> PolicyRecording:
    """Simulate one character on the only stream there is, whose motion is given, with whatever is on the stage.

    search: what to do where the policy alone would fall; it has the same stage. One that has fallen for all that goes
    limp: it would flail on the ground after a motion that is done standing.
    """
    loop = PolicyLoop(controller, streams, world, np.zeros(1, dtype=np.int64))
    play = RecoveringPlay(loop, (len(streams) - 1) // CONTROL_FRAMES, search)
    states, rows = [loop.states], [loop.rows]
    limp: Array | None = None
    while len(play.done) < play.steps:
        if limp is not None:
            play.add_limp_step(limp, _LIMP)
        elif play.advance():
            limp = np.repeat(targets_of_pose(streams.body, loop.state.qpos)[:, None], CONTROL_FRAMES, axis=1)
        on_progress(len(play.done) / play.steps)
    states += [step.states for step in play.done]
    rows += [step.moment.rows for step in play.done]
    targets = [step.targets for step in play.done]
    apart = np.array([step.apart_m for step in play.done])
    qpos, qvel = world.pose_of(np.concatenate(states))
    film = Recording(world.stage, qpos, qvel, np.concatenate([targets[0][:1], *targets]), _join_rows(rows))
    wanted = _describe_wanted(streams, motion, np.concatenate([[0.0], apart]))
    return PolicyRecording(film, wanted, apart, play.searches)


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
