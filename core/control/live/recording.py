# SPDX-License-Identifier: GPL-3.0-or-later
"""From recorded commands to takes: the session is played again, and what it does is kept."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...body.pose_space import PoseSpace
from ...motion import Clip, Take
from ...sim.engine import SensorRows
from ...sim.trace import Trace
from ..tracking.recording import RecordedCharacter, Recording, collect_prop_motions, make_take
from .commands import FPS, LiveRecording
from .session import LiveSession, LiveStep
from .things import show_only_used


def play_recording(
    session: LiveSession, recording: LiveRecording, on_frame: Callable[[int], None] = lambda _: None
) -> list[LiveStep]:
    """The steps from ``begin`` to ``end`` of a session at its beginning, to which recorded commands are given."""
    for command in recording.commands:
        session.check(command)
    waiting = list(recording.commands)[::-1]
    kept = [session.look()] if recording.begin == 0 else []
    while session.frame < recording.end:
        due = []
        while waiting and waiting[-1].frame <= session.frame:
            due.append(waiting.pop())
        step = session.step(due)
        if step.frame >= recording.begin:
            kept.append(step)
        on_frame(step.frame)
    return kept


def make_live_takes(
    session: LiveSession, steps: Sequence[LiveStep], sources: Sequence[Clip], fps: float, smooth: float
) -> tuple[Take, list[Trace]]:
    """The main character's take of steps, with the others and the things in it, at ``fps``; and everybody's trace.

    sources: everybody's, for name and skeleton.
    """
    rows = SensorRows(
        **{name: np.concatenate([getattr(step.rows, name) for step in steps], axis=1) for name in vars(steps[0].rows)}
    )
    qpos, qvel, targets = (np.array([getattr(step, name) for step in steps]) for name in ("qpos", "qvel", "targets"))
    film = Recording(session.stage, qpos, qvel, targets, rows)
    muscle = np.array([step.muscle for step in steps])
    takes, traces = [], []
    for index, (character, source) in enumerate(zip(session.characters, sources, strict=True)):
        wanted = [step.wanted[index] for step in steps]
        followed = Clip(
            source.skeleton,
            float(FPS),
            np.array([pose.local_pos for pose in wanted]),
            np.array([pose.local_quat_wxyz for pose in wanted]),
            source.name,
        )
        places, turns, middles = (
            np.array([getattr(pose, name) for pose in wanted]) for name in ("link_pos", "link_quat_wxyz", "com")
        )
        recorded = RecordedCharacter(
            character.body, followed, PoseSpace(character.body), muscle[:, index], places, turns, middles
        )
        take, trace, _ = make_take(film, index, recorded, fps, smooth)
        takes.append(replace(take, own_clock=True))
        traces.append(trace)
    motion = takes[0].motion
    places_of = np.minimum(np.round(np.arange(len(motion)) * FPS / motion.fps).astype(int), len(steps) - 1)
    shown = np.array([step.shown for step in steps])[places_of]
    props = show_only_used(collect_prop_motions(film, motion), shown, session.own_props)
    return replace(takes[0], others=tuple(takes[1:]), props=props), traces
