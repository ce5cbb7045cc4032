# SPDX-License-Identifier: GPL-3.0-or-later
"""How well a policy follows streams: how often it falls, how near its joints keep, how its feet slide."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...geometry.quaternions import Array
from ...motion import Clip
from ...sim.engine import World
from ..matching.features import FPS
from ..matching.rejoining import Rejoining
from .controller import TrackingController
from .observations import TrackingState
from .played_skate import PlayedSkate, join_skates, measure_played_skate, split_runs
from .playing import FALLEN_M, PolicyLoop
from .recovery import RecoverySearch
from .reference_streams import CONTROL_FPS, CONTROL_FRAMES, Indices, ReferenceStreams
from .whole_play import GettingUp, WholePlay

_ERROR_COUNTS_M = 0.1  # a fall a minute more is as bad as so much more of joint error


@dataclass(frozen=True)
class StreamTest:
    """What came of following streams. joint_error_m: mean distance of links, relative to the root, while up.

    samples: how much had been practised.
    """

    falls: int
    minutes: float
    joint_error_m: float
    samples: int = 0

    @property
    def falls_per_minute(self) -> float:
        """How often it fell."""
        return self.falls / self.minutes

    @property
    def merit(self) -> float:
        """By which policies are compared: the higher, the better."""
        return -self.falls_per_minute - self.joint_error_m / _ERROR_COUNTS_M


@dataclass(frozen=True)
class WholeStreamsTest:
    """What came of whole streams. skate: of feet that stand. got_up: after how many falls.

    down_s: seconds from falling to being back, all together; they are not among the test's minutes.
    """

    test: StreamTest
    skate: PlayedSkate
    got_up: int
    down_s: float


def follow_streams(
    controller: TrackingController, streams: ReferenceStreams, world: World, minutes: float, seed: int = 0
) -> StreamTest:
    """Follow streams for so many minutes in all, shared by the copies of a world; who falls is put back.

    Copies begin evenly spread over all streams, and go over to another one when theirs ends.
    """
    rng, count = np.random.default_rng(seed), world.copies
    usable = _find_beginnings(streams)
    loop = PolicyLoop(controller, streams, world, rng.permutation(_spread(usable, count)))
    steps = max(1, round(minutes * 60.0 * CONTROL_FPS / count))
    falls, error = 0, 0.0
    for _ in range(steps):
        loop.step()
        fell = ~(loop.apart_m() <= FALLEN_M)  # NaN has fallen, too
        error += float(root_relative_error(loop.state)[~fell].mean()) if not fell.all() else 0.0
        over = loop.frame + CONTROL_FRAMES > streams.ends[loop.frame]
        falls += int(fell.sum())
        if over.any():
            loop.frame[over] = rng.choice(usable, size=int(over.sum()))
        if (fell | over).any():
            loop.put_back(fell | over)
    return StreamTest(falls, steps * count / CONTROL_FPS / 60.0, error / steps)


def _find_beginnings(streams: ReferenceStreams) -> Indices:
    """Frames after which a stream goes on for a while."""
    rest = streams.ends - np.arange(len(streams))
    return np.flatnonzero(rest >= min(2 * FPS, np.diff(streams.starts).max() - 1))


def _spread(frames: Indices, count: int) -> Indices:
    """(count,) of frames (K,), evenly."""
    found: Indices = frames[np.linspace(0, len(frames) - 1, count).astype(np.int64)]
    return found


def root_relative_error(state: TrackingState) -> Array:
    """(N,) metres, the mean over all links of how far they are from the stream's, both relative to their roots."""
    errors = state.link_errors
    found: Array = np.linalg.norm(errors - errors[:, :1], axis=-1).mean(axis=-1)
    return found


def play_whole_streams(
    controller: TrackingController,
    streams: ReferenceStreams,
    world: World,
    search_world: World,
    rest: Clip,
    seed: int = 0,
    on_progress: Callable[[float], None] = lambda _: None,
    rejoining_of: Callable[[int], Rejoining | None] = lambda _: None,
) -> WholeStreamsTest:
    """Every stream from its beginning to its end, as takes are made: where the policy alone would fall, other ways are
    searched for.

    world: of one copy. rest: any clip on its skeleton. rejoining_of: how one that has fallen on a stream gets up and
    goes on; without, and where it stays down, it is put back.
    """
    falls, got_up, steps, error, skates, down = 0, 0, 0, 0.0, [], 0
    count = len(streams.starts) - 1
    searching = PolicyLoop(controller, streams, search_world, np.zeros(search_world.copies, dtype=np.int64))
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        first, length = streams.starts[number : number + 1], int(np.diff(streams.starts)[number])
        play = WholePlay(
            controller,
            streams,
            world,
            first,
            (length - 1) // CONTROL_FRAMES,
            RecoverySearch(searching, rng),
            getting_up=GettingUp(rejoining_of(number), search_world, rng),
            puts_back=True,
        )
        play.run(partial(_report_part, on_progress, number, count))
        away = np.zeros(play.steps, dtype=bool)
        for fall in play.falls:
            away[fall.fell - 1 : fall.back] = True
        up = [step for step, is_away in zip(play.done, away, strict=True) if not is_away]
        falls, got_up = falls + len(play.falls), got_up + sum(bool(fall.clip) for fall in play.falls)
        error += sum(float(root_relative_error(step.moment.state)[0]) for step in up)
        steps, down = steps + len(up), down + int(away.sum())
        skates.append(measure_played_skate(world, split_runs(play.done, ~away), rest))
    found = StreamTest(falls, float(steps) / CONTROL_FPS / 60.0, error / max(steps, 1))
    return WholeStreamsTest(found, join_skates(skates), got_up, down / CONTROL_FPS)


def _report_part(on_progress: Callable[[float], None], number: int, count: int, share: float) -> None:
    on_progress((number + share) / count)
