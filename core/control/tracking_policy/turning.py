# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast a directed body answers: the rise time of its heading after a wish to turn by a quarter turn (figure 9)."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np

from ...body import BodyModel
from ...geometry.quaternions import Array
from ...sim.engine import World
from ..matching.directing import Directing
from ..matching.features import FPS
from ..matching.guides import StickGuide
from ..matching.inertialisation import make_clip
from ..matching.matching import MotionMatching, Played
from ..tracking.facing import twist_angle, upright_rotation
from .controller import TrackingController
from .playing import PolicyLoop
from .reference_streams import CONTROL_FPS, CONTROL_FRAMES, make_streams

_SPEED_M_S, _BEGINNINGS, _BEFORE, _AFTER = 1.3, 16, 60, 240


def measure_turn(
    controller: TrackingController,
    directing: Directing,
    body: BodyModel,
    world_of: Callable[[int], AbstractContextManager[World]],
) -> dict[str, float]:
    """Seconds from a tenth to nine tenths of a turn by 90 degrees at a walk: of the body, and of its motion beside it.

    The medians over several beginnings, to either side; who falls counts as never having turned.
    """
    played, turn = turn_at_a_walk(directing)
    clips = [
        make_clip(directing.database, *(getattr(played, name)[index] for name in ("frame", "pos", "yaw")))
        for index in range(len(turn))
    ]
    streams = make_streams(body, clips, [directing.contacts[frame] for frame in played.frame])
    with world_of(len(turn)) as world:
        loop = PolicyLoop(controller, streams, world, streams.starts[:-1])
        headings = []
        for _ in range((_BEFORE + _AFTER) // CONTROL_FRAMES - 1):
            loop.step()
            headings.append(twist_angle(loop.state.qpos[:, 3:7], upright_rotation(body)))
    seen = np.unwrap(np.array(headings).T, axis=1)
    begins = _BEFORE // CONTROL_FRAMES
    share = (seen[:, begins:] - seen[:, begins : begins + 1]) / turn[:, None]
    rises = [rise_s(np.nan_to_num(row), CONTROL_FPS) for row in share]
    kinematic = [rise_s((row[_BEFORE:] - row[_BEFORE]) / by, FPS) for row, by in zip(played.yaw, turn, strict=True)]
    return {"turn_90_s": float(np.median(rises)), "kinematic_turn_90_s": float(np.median(kinematic))}


def turn_at_a_walk(directing: Directing) -> tuple[Played, Array]:
    """Characters that go straight on for a second and are then wished to turn by (N,) radians."""
    database = directing.database
    candidates = database.candidates(())
    straight = np.abs(database.track.vel[candidates.frames] - [_SPEED_M_S, 0.0]).sum(axis=-1)
    straight += np.abs(database.track.turn[candidates.frames])
    start = candidates.frames[np.argsort(straight, kind="stable")[: 25 * _BEGINNINGS : 25]]
    turn = 0.5 * np.pi * np.where(np.arange(len(start)) % 2, 1.0, -1.0)
    none: list[tuple[str, ...]] = [()] * len(start)
    guide = StickGuide(np.tile([_SPEED_M_S, 0.0], (len(start), 1)), 0.0 * turn, 0.0 * turn, none)
    matching = MotionMatching(database, guide, start, np.zeros((len(start), 2)), 0.0 * turn)
    parts = [matching.advance(_BEFORE)]
    guide.velocity, guide.heading = _SPEED_M_S * np.stack([np.cos(turn), np.sin(turn)], axis=-1), turn
    guide.changed = np.ones(len(start), dtype=bool)
    parts.append(matching.advance(1))
    guide.changed = np.zeros(len(start), dtype=bool)
    parts.append(matching.advance(_AFTER - 1))
    names = ("frame", "pos", "yaw")
    joined = {name: np.concatenate([getattr(part, name) for part in parts], axis=1) for name in names}
    return Played(**joined), turn


def rise_s(share: Array, fps: float) -> float:
    """Seconds from a tenth to nine tenths; as long as was looked at where it never came there."""
    low, high = (np.flatnonzero(share >= edge) for edge in (0.1, 0.9))
    return float((high[0] - low[0]) / fps) if len(high) else len(share) / fps
