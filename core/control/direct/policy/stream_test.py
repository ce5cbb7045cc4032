# SPDX-License-Identifier: GPL-3.0-or-later
"""How well a policy follows streams: how often it falls, how near its joints keep, how its feet slide."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ....body import BodyModel
from ....body.foot_skate import foot_skate_by_force
from ....geometry.quaternions import Array
from ....sim.engine import World
from ..features import FPS
from .controller import TrackingController
from .observations import TrackingState
from .playing import FALLEN_M, PolicyLoop
from .recovery import PlayedStep, RecoveringPlay, RecoverySearch
from .reference_streams import CONTROL_FPS, CONTROL_FRAMES, Indices, ReferenceStreams

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
    seed: int = 0,
    on_progress: Callable[[float], None] = lambda _: None,
) -> tuple[StreamTest, float | None]:
    """Every stream from its beginning to its end, as takes are made: where the policy alone would fall, others ways
    are searched for. Also gives m/s that feet slide by which stand, None where none does.

    world: of one copy.
    """
    falls, steps, error, skates = 0, 0, 0.0, []
    count = len(streams.starts) - 1
    searching = PolicyLoop(controller, streams, search_world, np.zeros(search_world.copies, dtype=np.int64))
    for number in range(count):
        search = RecoverySearch(searching, np.random.default_rng([seed, number]))
        loop = PolicyLoop(controller, streams, world, streams.starts[number : number + 1])
        length = int(np.diff(streams.starts)[number])
        play = RecoveringPlay(loop, (length - 1) // CONTROL_FRAMES, search)
        while len(play.done) < play.steps:
            if play.advance():
                falls += 1
                play.begin_anew()
            on_progress((number + len(play.done) / play.steps) / count)
        up = [step for step in play.done if step.apart_m <= FALLEN_M]
        error += sum(float(root_relative_error(step.moment.state)[0]) for step in up)
        steps += len(up)
        skates.append(measure_played_skate(streams.body, up))
    known = [skate for skate in skates if skate is not None]
    found = StreamTest(falls, float(steps) / CONTROL_FPS / 60.0, error / max(steps, 1))
    return found, float(np.mean(known)) if known else None


def measure_played_skate(body: BodyModel, steps: list[PlayedStep]) -> float | None:
    """m/s that feet slide by which carry the body; None where none does."""
    rows = [step.moment.rows for step in steps]
    pos, quat, force = (
        np.concatenate([getattr(row, name)[0] for row in rows])
        for name in ("link_pos", "link_quat_wxyz", "contact_force")
    )
    return foot_skate_by_force(body, pos, quat, force, 1.0 / FPS)
