# SPDX-License-Identifier: GPL-3.0-or-later
"""One character that is recorded while a trained policy keeps it on a stream, on any stage."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...body.poses import link_transforms
from ...geometry.quaternions import Array
from ...motion import Clip
from ...sim.engine import SensorRows, World
from ..tracking.recording import RecordedCharacter, Recording
from .controller import TrackingController
from .recovery import RecoverySearch
from .reference_streams import CONTROL_FRAMES, ReferenceStreams
from .whole_play import LIMP, DownAndUp, GettingUp, WholePlay, WholePlayPlan


@dataclass(frozen=True, eq=False)
class PolicyRecording:
    """A recording of one character. apart_m: (steps,) metres between the heads after each control step.

    searches: how often something else was tried than what the policy would have done. falls: for all that.
    """

    film: Recording
    subject: RecordedCharacter
    apart_m: Array
    searches: int = 0
    falls: tuple[DownAndUp, ...] = ()


def play_stream(
    controller: TrackingController,
    streams: ReferenceStreams,
    motion: Clip,
    world: World,
    on_progress: Callable[[float], None] = lambda _: None,
    search: RecoverySearch | None = None,
    getting_up: GettingUp | None = None,
) -> PolicyRecording:
    """Simulate one character on the only stream there is, whose motion is given, with whatever is on the stage.

    search: what to do where the policy alone would fall; it has the same stage. One that has fallen for all that goes
    limp: it would flail on the ground after a motion that is done standing. getting_up: how it gets up again.
    """
    play = WholePlay(
        controller,
        streams,
        world,
        np.zeros(1, dtype=np.int64),
        (len(streams) - 1) // CONTROL_FRAMES,
        search,
        getting_up,
        motion,
    )
    begin = play.moment
    play.run(on_progress)
    done = play.done
    qpos, qvel = world.pose_of(np.concatenate([begin.states, *(step.states for step in done)]))
    targets = [step.targets for step in done]
    rows = _join_rows([begin.rows, *(step.moment.rows for step in done)])
    film = Recording(world.stage, qpos, qvel, np.concatenate([targets[0][:1], *targets]), rows)
    apart = np.array([step.apart_m for step in done])
    return PolicyRecording(film, _describe_wanted(play), apart, play.searches, tuple(play.falls))


def _describe_wanted(play: WholePlay) -> RecordedCharacter:
    """What a recording is compared with, and when it was limp or not yet back."""
    body = play.plans[0].streams.body
    parts: list[tuple[WholePlayPlan, slice]] = []
    edges = [*(plan.first for plan in play.plans), play.steps]
    for plan, (first, stop) in zip(play.plans, pairwise(edges), strict=True):
        parts.append((plan, slice(1 if parts else 0, CONTROL_FRAMES * (stop - first) + 1)))
    wanted = np.concatenate([plan.streams.qpos[frames].astype(float) for plan, frames in parts])
    com = np.concatenate([plan.streams.com[frames].astype(float) for plan, frames in parts])
    pos, quat = link_transforms(body, wanted)
    limp = tuple(_moments(first, stop, play.steps) for first, stop in play.limp if stop > first)
    away = tuple(_moments(fall.fell, play.steps if fall.back is None else fall.back, play.steps) for fall in play.falls)
    muscle = np.ones(len(wanted))
    for first, stop in limp:
        muscle[first:stop] = LIMP
    got_up = tuple(span for span, fall in zip(away, play.falls, strict=True) if fall.back is not None)
    space = play.plans[0].streams.pose_space
    return RecordedCharacter(body, _join_motions(parts), space, muscle, pos, quat, com, limp, got_up)


def _moments(first: int, stop: int, steps: int) -> tuple[int, int]:
    """A range of control steps as moments of the recording."""
    return CONTROL_FRAMES * first + 1, CONTROL_FRAMES * min(stop, steps) + 1


def _join_motions(parts: list[tuple[WholePlayPlan, slice]]) -> Clip:
    motions = [(plan.motion, frames) for plan, frames in parts]
    first = motions[0][0]
    assert first is not None
    pos = [motion.local_pos[frames] for motion, frames in motions if motion is not None]
    quat = [motion.local_quat_wxyz[frames] for motion, frames in motions if motion is not None]
    return replace(first, local_pos=np.concatenate(pos), local_quat_wxyz=np.concatenate(quat), tags=())


def _join_rows(rows: list[SensorRows]) -> SensorRows:
    """Sensor rows (1, K, ...) joined in time."""
    return SensorRows(**{name: np.concatenate([getattr(one, name) for one in rows], axis=1) for name in vars(rows[0])})
