# SPDX-License-Identifier: GPL-3.0-or-later
"""Live as a method: recorded commands, played without a window, become a take; the same ones always the same."""

import hashlib
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import JobError
from ...files import Attachment
from ...motion import Clip, Take
from ...settings import Settings, setting
from ...sim import engines
from ..cast import load_cast
from ..method import Method, Run, Watched
from ..registry import get_family, live_names, open_live
from ..tracking.bone_order import take_back
from .commands import FPS, LiveRecording, parse_recording
from .recording import make_live_takes, play_recording
from .session import LiveSession

COMMANDS = "commands"
"""Name of the job's attachment."""
LIVE = "live"
"""Name of the report's detail: the frames, how many commands there were, and a digest of the last state."""


def _explain_live(name: str) -> tuple[str, str, str]:
    """A choice of what is live, for menus."""
    if name == "action":
        return (name, "Action", "It follows the Action, with nothing trained")
    family = get_family(name)
    return (name, family.label, f"By what was learned under {family.label}: {family.help}")


@dataclass(frozen=True)
class LiveSettings(Settings):
    """What an animator may set."""

    plays: str = setting(
        "action",
        "Plays",
        "What the live character does by itself",
        choices=tuple(_explain_live(name) for name in live_names()),
    )
    quality: str = setting(
        "normal",
        "Quality",
        "How many trials are spent on the plan that the character follows",
        choices=(
            ("draft", "Draft", "Ready soonest"),
            ("normal", "Normal", "As takes are made; known already where there is a take of this Action"),
        ),
    )
    at_end: str = setting(
        "again",
        "At the End",
        "What happens when the Action is over; a cycle is gone through over and over",
        choices=(
            ("again", "Begin Anew", "Everybody and everything is put back to where it began"),
            ("hold", "Hold", "The last pose is held"),
        ),
    )
    cycles: int = setting(5, "Cycles", "How many times over a cycle on the spot is played", minimum=1, maximum=100)
    smooth: float = setting(
        0.0, "Smooth", "How much of small and fast movements is taken out of a take", minimum=0.0, maximum=1.0
    )


class LiveMethod(Method):
    """A recording of a live session, as a take."""

    name = "live"
    label = "Live"
    help = "Do again what was done to a live character, and bake it as a new Action"
    uses_engine = True
    simulates_cast = True
    watched = (Watched("planned_s", "Simulated", "{:.1f} s"),)
    settings_type = LiveSettings

    def run(self, clip: Clip, settings: LiveSettings, run: Run) -> Take:
        """Get ready as live, do what was done, and make takes of it."""
        recording = load_recording(run)
        with ExitStack() as opened:
            session, sources = open_session(clip, settings, run, opened)

            def tell(frame: int) -> None:
                if frame % FPS == 0 or frame == recording.end:
                    run.progress(frame, recording.end, planned_s=frame / FPS, doing="Doing it again")

            steps = play_recording(session, recording, tell)
            run.add_detail(LIVE, describe_end(session, recording))
            take, traces = make_live_takes(session, steps, sources, clip.fps, settings.smooth)
        for trace in traces:
            run.add_trace(trace)
        skeletons = [one.skeleton for one in (clip, *(member.clip for member in load_cast(run)))]
        others = [take_back(*each) for each in zip(take.others, skeletons[1:], strict=True)]
        return replace(take_back(replace(take, others=()), skeletons[0]), others=tuple(others))


def open_session(
    clip: Clip, settings: LiveSettings, run: Run, opened: ExitStack
) -> tuple[LiveSession, tuple[Clip, ...]]:
    """The job's session at its beginning, and everybody's source; closed with ``opened``."""
    cast = open_live(settings.plays)(clip, settings, run, opened)
    session = LiveSession(cast, engines.get_engine(run.engine))
    opened.enter_context(closing(session))
    return session, cast.sources


def digest_state(session: LiveSession) -> str:
    """A digest of the state that a session is in, to the last bit."""
    return hashlib.sha256(np.ascontiguousarray(session.moment.state).tobytes()).hexdigest()


def describe_end(session: LiveSession, recording: LiveRecording) -> Mapping[str, Any]:
    """What is told of a recording in the report."""
    return {
        "begin": recording.begin,
        "end": recording.end,
        "fps": FPS,
        "commands": len(recording.commands),
        "state_sha256": digest_state(session),
    }


def make_commands_attachment(recording: LiveRecording) -> dict[str, Attachment]:
    """The attachment for a recording, by its name."""
    return {COMMANDS: ({"text": np.frombuffer(recording.to_text().encode(), dtype=np.uint8)}, {})}


def recording_from_arrays(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> LiveRecording:
    """What ``make_commands_attachment`` gave."""
    if arrays.get("text") is None:
        raise JobError("The job has no recorded commands", "Record a live session, or give --commands FILE")
    text = np.asarray(arrays["text"], dtype=np.uint8).tobytes().decode("utf-8", errors="replace")
    return parse_recording(text, "The job's recording")


def load_recording(run: Run) -> LiveRecording:
    """The job's recording."""
    return recording_from_arrays(*(run.attachment(COMMANDS) or ({}, {})))
