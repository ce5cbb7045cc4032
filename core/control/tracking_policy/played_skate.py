# SPDX-License-Identifier: GPL-3.0-or-later
"""How feet slide in what was played: in the take that is made of it, and as physics alone had them.

A take's feet are held where forces say that they stand, as those of all takes are; so both are told.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from ...body.foot_skate import foot_skate_by_force
from ...body.poses import link_transforms
from ...geometry.quaternions import Array
from ...motion import Clip
from ...sim.engine import SensorRows, World
from ..matching.features import FPS
from ..tracking.recording import RecordedCharacter, Recording, make_take
from .recovery import PlayedStep
from .reference_streams import CONTROL_FRAMES

_SHORTEST_STEPS = 15


@dataclass(frozen=True)
class PlayedSkate:
    """m/s that soles slide by which carry and are not to glide; None where none does. seconds: that were looked at."""

    take_m_s: float | None
    physics_m_s: float | None
    seconds: float


def measure_played_skate(world: World, runs: Sequence[Sequence[PlayedStep]], rest: Clip) -> PlayedSkate:
    """Of runs of consecutive control steps of one character; runs of less than half a second are left out.

    rest: any clip on its skeleton.
    """
    found = [_measure_run(world, run, rest) for run in runs if len(run) >= _SHORTEST_STEPS]
    return join_skates(found)


def join_skates(parts: Sequence[PlayedSkate]) -> PlayedSkate:
    """The mean of several, each as long as it lasts."""
    return PlayedSkate(
        _mean([(part.take_m_s, part.seconds) for part in parts]),
        _mean([(part.physics_m_s, part.seconds) for part in parts]),
        sum(part.seconds for part in parts),
    )


def split_runs(steps: Sequence[PlayedStep], kept: NDArray[np.bool_]) -> list[list[PlayedStep]]:
    """The runs of steps of which (T,) says that they count."""
    pairs = zip(steps, kept, strict=True)
    return [[step for step, _ in run] for counts, run in groupby(pairs, key=lambda pair: bool(pair[1])) if counts]


def _measure_run(world: World, run: Sequence[PlayedStep], rest: Clip) -> PlayedSkate:
    streams = run[0].moment.state.streams
    body = streams.body
    qpos, qvel = world.pose_of(np.concatenate([step.states for step in run]))
    moments = [vars(step.moment.rows) for step in run]
    rows = SensorRows(**{name: np.concatenate([row[name] for row in moments], axis=1) for name in moments[0]})
    film = Recording(world.stage, qpos, qvel, np.concatenate([step.targets for step in run]), rows)
    pos, quat = link_transforms(body, np.concatenate([_wanted_pose(step) for step in run]))
    still = replace(rest, local_pos=rest.local_pos[:1], local_quat_wxyz=rest.local_quat_wxyz[:1], tags=())
    nowhere = np.zeros((len(film), 3))  # the centre of mass has no part in it
    character = RecordedCharacter(body, still, streams.pose_space, np.ones(len(film)), pos, quat, nowhere)
    trace = make_take(film, 0, character, FPS)[1]

    def skate(places: Array, turns: Array) -> float | None:
        return foot_skate_by_force(body, places, turns, trace.contact_force, 1.0 / FPS, wanted=(pos, quat))

    links = slice(len(body.links))
    physics = skate(rows.link_pos[0, :, links], rows.link_quat_wxyz[0, :, links])
    return PlayedSkate(skate(trace.seen_pos, trace.seen_quat_wxyz), physics, len(film) / FPS)


def _wanted_pose(step: PlayedStep) -> Array:
    """(CONTROL_FRAMES, nq) of the stream in the frames of a step."""
    state = step.moment.state
    frames = int(state.frame[0]) + np.arange(1 - CONTROL_FRAMES, 1)
    return state.streams.qpos[np.maximum(frames, 0)].astype(float)


def _mean(values: Sequence[tuple[float | None, float]]) -> float | None:
    known = [(value, counts) for value, counts in values if value is not None]
    if not known:
        return None
    return float(np.average([value for value, _ in known], weights=[counts for _, counts in known]))
