# SPDX-License-Identifier: GPL-3.0-or-later
"""Live sessions for tests: a run that keeps what it is given, and sessions that are played without a worker."""

from contextlib import ExitStack, closing

import numpy as np

from sinew.core.control.cast import CastMember, make_member_attachments
from sinew.core.control.live.method import LiveSettings
from sinew.core.control.live.session import LiveSession
from sinew.core.control.registry import get_family, open_live
from sinew.core.motion import Clip
from sinew.core.sim import engines
from sinew.core.sim.trace import Trace


class QuietRun:
    """A run that keeps what it is given."""

    engine, seed = "mujoco", 3

    def __init__(self, **attachments):
        self.rng = np.random.default_rng(self.seed)
        self.attachments, self.traces, self.details = attachments, [], {}

    def progress(self, step, total, /, **measurements):
        pass

    def attachment(self, name):
        return self.attachments.get(name)

    def add_finding(self, kind, message, hint):
        pass

    def add_detail(self, name, value):
        self.details[name] = value

    def add_trace(self, trace: Trace):
        self.traces.append(trace)


def moved_clip(clip, by, seconds=0.2):
    """The beginning of a clip elsewhere; by: metres (3,)."""
    clip = clip.frames(0, max(2, round(seconds * clip.fps)))
    pos = np.array(clip.local_pos)
    pos[:, clip.skeleton.parents < 0] += by
    return Clip(clip.skeleton, clip.fps, pos, clip.local_quat_wxyz, clip.name)


def open_learned(opened: ExitStack, plays: str, content, *clips) -> LiveSession:
    """A session of what a family has learned, with a character where each clip begins; closed with ``opened``."""
    kind = get_family(plays).learned
    attached = {kind.attachment: content}
    for number, clip in enumerate(clips[1:], start=1):
        attached |= make_member_attachments(CastMember(f"Other {number}", clip, number), {})
    cast = open_live(plays)(clips[0], LiveSettings(plays=plays), QuietRun(**attached), opened)
    return opened.enter_context(closing(LiveSession(cast, engines.get_engine("mujoco"))))


def play_live(session: LiveSession, commands=(), frames=60):
    """(frames, state size) the states from the session's beginning on, with commands at their frames."""
    session.go_to(session._begin(0))
    states = []
    for frame in range(frames):
        session.step([command for command in commands if command.frame == frame])
        states.append(session.moment.state[0].copy())
    return np.array(states)


def assert_goes_back(session: LiveSession, commands, first, frames):
    """Asserts that going on from a moment once more is the same to the last bit, and so is all of it."""
    whole = play_live(session, commands, frames)
    play_live(session, commands, first)
    moment, ends = session.moment, []
    for _ in range(2):
        session.go_to(moment)
        for frame in range(first, frames):
            session.step([command for command in commands if command.frame == frame])
        ends.append(session.moment.state[0].copy())
    assert np.array_equal(ends[0], whole[-1]) and np.array_equal(*ends)
