# SPDX-License-Identifier: GPL-3.0-or-later
"""The live worker: holds a session, steps it in real time, does what it is told and says where everything is.

It ends with whoever started it: when the other end of its socket is gone, or, hung in an engine, when its watchdog has
not heard of it for a while.
"""

import faulthandler
import logging
import select
import shutil
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from ...control.live.commands import FPS, BadCommand, BeginAnew, Command, PushBone, SetMuscle, Steer, parse_command
from ...control.live.method import LiveMethod, LiveSettings, open_session
from ...control.live.session import LiveSession, LiveStep
from ...control.live.showing import BoneShower
from ...control.live.timeline import Timeline
from ...errors import JobError, SinewError
from ...motion import Clip
from ...motion.take import Measurement
from ..engine_choice import resolve_engine
from ..job import Job
from ..log_lines import log_to
from ..running import Cancelled, WorkerRun
from .gamepad import Gamepad, GamepadState, open_gamepad
from .link import SESSION_FOLDER
from .wire import MOST_ASKED_BYTES, BadMessage, PoseLayout, PoseMessage, Wire, pack_mapping, pack_pose

_HUNG_PREPARING_S, _HUNG_S = 120.0, 10.0
_LATE_S = 0.25  # from here on it is not tried to catch up: time goes slower
_TELL_S = 0.1
_SLOWEST, _FASTEST = 0.05, 8.0
# What a gamepad does: m/s, and newtons for each kilogram over so many frames.
_WALK_M_S, _RUN_M_S, _PUSH_N_KG, _PUSH_FRAMES = 1.3, 3.0, 2.0, 9
_OTHER_M_S = 0.05

_log = logging.getLogger(__name__)


class LiveRun(WorkerRun):
    """A run that leaves nothing behind: what it has to say goes over the wire."""

    def __init__(self, job: Job, wire: Wire) -> None:
        super().__init__(job, 1)
        self._wire, self._told_s = wire, 0.0

    def progress(self, step: int, total: int, /, **measurements: Measurement) -> None:
        """Say how far it is with getting ready; stop if nobody listens any more."""
        _hold_off_watchdog(_HUNG_PREPARING_S)
        now_s = time.monotonic()
        if now_s - self._told_s > _TELL_S:
            self._told_s = now_s
            self._wire.send(pack_mapping({"kind": "preparing", "step": int(step), "total": int(total)}))
            for message in self._wire.read():
                if isinstance(message, dict) and message.get("ask") == "stop":
                    raise Cancelled
        if self._wire.closed:
            raise Cancelled

    def save_checkpoint(self, step: int, /, **arrays: np.ndarray) -> None:
        """Nothing is kept."""

    def load_checkpoint(self) -> tuple[int, dict[str, np.ndarray]] | None:
        """Nothing was kept."""
        return None

    def write(self, kind: str, **fields: Any) -> None:
        """No events: findings are told."""
        if kind == "finding":
            self._wire.send(pack_mapping({"kind": "finding", **fields["finding"]}))


def main(arguments: Sequence[str]) -> int:
    """``FD JOB_FOLDER``: the number of the socket, or 'stdin' where it comes over that; gives the exit code."""
    faulthandler.enable()
    log_to(sys.stderr)
    end = _open_socket(arguments[0])
    wire, job = Wire(end, MOST_ASKED_BYTES), Job(Path(arguments[1]))
    try:
        return _work(job, wire)
    finally:
        if job.folder.parent.name.startswith(SESSION_FOLDER):  # nobody else may be left to do that
            shutil.rmtree(job.folder.parent, ignore_errors=True)


def _work(job: Job, wire: Wire) -> int:
    try:
        with ExitStack() as opened:
            _prepare(job, wire, opened).run()
    except Cancelled:
        return 0
    except SinewError as error:
        _log.error("%s", error)
        _tell_last(wire, {"kind": "failed", "message": error.message, "hint": error.hint})
        return 1
    except Exception as error:  # noqa: BLE001 - whatever it is, the other end hears of it
        _log.exception("A bug")
        what = " ".join(f"{type(error).__name__}: {error}".split())
        _tell_last(wire, {"kind": "failed", "message": f"Sinew met a bug: {what}", "hint": "Start it again"})
        return 1
    return 0


def _open_socket(word: str) -> socket.socket:
    if word != "stdin":
        return socket.socket(fileno=int(word))
    if sys.platform == "win32":
        return socket.fromshare(sys.stdin.buffer.read())
    raise JobError("There is no socket", "Start the live session again")


def _tell_last(wire: Wire, values: Mapping[str, Any]) -> None:
    wire.send(pack_mapping(values))
    until_s = time.monotonic() + 1.0
    while not wire.flush() and not wire.closed and time.monotonic() < until_s:
        time.sleep(0.01)


def _hold_off_watchdog(seconds: float) -> None:
    """End this process, whatever it is at, unless this is called again before so long."""
    faulthandler.dump_traceback_later(seconds, exit=True)


def _prepare(job: Job, wire: Wire, opened: ExitStack) -> "LiveWorker":
    """The session of a job, ready to begin."""
    job.check_inputs()
    run, method = LiveRun(job, wire), job.method
    if not isinstance(method, LiveMethod):
        raise JobError(f"'{method.label}' cannot be live", "Start a live session")
    run.engine = resolve_engine(job.spec.engine, method)
    settings = LiveSettings.from_mapping(job.spec.settings)
    session, sources = open_session(job.clip(), settings, run, opened)
    return LiveWorker(session, sources, wire, open_gamepad())


class LiveWorker:
    """Steps a session in real time. speed: session seconds a second; 0 is as fast as it can."""

    def __init__(
        self, session: LiveSession, sources: Sequence[Clip], wire: Wire, gamepad: Gamepad | None = None
    ) -> None:
        self._gamepad, self._looks_rad, self._led, self._going = gamepad, 0.0, 0, (0.0, 0.0)
        self.timeline, self._sources, self._wire = Timeline(session), tuple(sources), wire
        self.session = session
        self.speed, self._paused, self._seen = 1.0, False, 0
        self._stopped, self._armed_s = False, 0.0
        self._showers = [
            BoneShower(character.body, source.skeleton)
            for character, source in zip(session.characters, sources, strict=True)
        ]
        self.layout = PoseLayout(tuple(len(source.skeleton) for source in sources), len(session.stage.props))

    def run(self) -> None:
        """Go on until told to stop, or until nobody listens."""
        self._wire.send(pack_mapping(self._describe()))
        self._show(self.session.look())
        due_s = time.monotonic()
        while not self._stopped and not self._wire.closed:
            now_s = time.monotonic()
            if now_s - self._armed_s > 1.0:
                self._armed_s = now_s
                _hold_off_watchdog(_HUNG_S)
            # A pause is looked into ten times a second.
            wait_s = 0.1 if self._paused else max(0.0, due_s - now_s)
            if select.select([self._wire.socket], [], [], wait_s)[0]:
                self._listen()
            if self._paused:
                due_s = time.monotonic()
            elif time.monotonic() >= due_s:
                if self._gamepad is not None:
                    self.hear_gamepad(self._gamepad.read())
                self._show(self.timeline.step())
                late = time.monotonic() - due_s
                due_s = time.monotonic() if self.speed == 0.0 or late > _LATE_S else due_s + 1.0 / (FPS * self.speed)

    def hear_gamepad(self, state: GamepadState) -> None:
        """Do what a gamepad says, for who is led; directions are as seen in the view."""
        along = np.array([np.cos(self._looks_rad), np.sin(self._looks_rad)])
        right = np.array([along[1], -along[0]])
        speed = _RUN_M_S if state.fast else _WALK_M_S
        x, y = (float(part) for part in speed * (state.right * right + state.away * along))
        frame, led, body = self.session.frame, self._led, self.session.characters[self._led].body
        commands: list[Command] = []
        if np.hypot(x - self._going[0], y - self._going[1]) > _OTHER_M_S or ((x, y) == (0.0, 0.0) != self._going):
            self._going = (x, y)
            commands.append(Steer(frame, led, velocity=(x, y)))
        if "push" in state.pressed:
            force = _PUSH_N_KG * body.mass * along
            trunk = body.links[min(1, len(body.links) - 1)].bone
            commands.append(PushBone(frame, led, trunk, (float(force[0]), float(force[1]), 0.0), _PUSH_FRAMES))
        if "limp" in state.pressed:
            commands.append(SetMuscle(frame, led, 0.0 if self.session.moment.wished[led] > 0.5 else 1.0))
        if "reset" in state.pressed:
            commands.append(BeginAnew(frame))
        for command in commands:
            try:
                self.timeline.add(command)
            except BadCommand:
                continue  # a clip cannot be steered, and a stick that is moved need not hear of that

    def _describe(self) -> dict[str, Any]:
        """What is there, for who is to show it."""
        return {
            "kind": "ready",
            "fps": FPS,
            "gamepad": "" if self._gamepad is None else self._gamepad.name,
            "characters": [
                {
                    "name": self.session.stage.characters[index].name,
                    "bones": list(source.skeleton.names),
                    "links": [link.bone for link in character.body.links],
                    "mass": character.body.mass,
                    "steered": character.steered,
                    "styles": list(character.styles),
                }
                for index, (source, character) in enumerate(zip(self._sources, self.session.characters, strict=True))
            ],
            "props": [prop.name for prop in self.session.stage.props],
            "obstacles": [one.name for one in self.session.stage.obstacles],
        }

    def _listen(self) -> None:
        """Take what was said. One message that is none ends the session: whoever sent it is not our Blender."""
        for message in self._wire.read():
            self._seen += 1
            if isinstance(message, PoseMessage):
                raise BadMessage("Somebody else talks to the live worker", "Start the live session again")
            if "ask" in message:
                self._answer(message)
                continue
            try:
                self.timeline.add(parse_command({"frame": self.session.frame, **message}))
            except BadCommand as error:
                self._wire.send(pack_mapping({"kind": "refused", "message": error.message, "hint": error.hint}))

    def _answer(self, message: Mapping[str, Any]) -> None:
        """Do what is asked of the session itself."""
        asked, value = message["ask"], message.get("value")
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0
        if asked == "stop":
            self._stopped = True
        elif asked == "pause":
            self._paused = True
        elif asked == "go":
            self._paused = False
            self.timeline.go_on()
        elif asked == "view":
            led = message.get("character")
            self._looks_rad = float(number)
            self._led = led if isinstance(led, int) and 0 <= led < len(self.session.characters) else 0
        elif asked == "speed":
            self.speed = 0.0 if number == 0 else float(np.clip(number, _SLOWEST, _FASTEST))
        elif asked == "back":
            self._paused = True
            self._show(self.timeline.look_back(int(number)))
        elif asked == "recording":
            begin, end = (int(message.get(name, 0) or 0) for name in ("begin", "end"))
            told = self.timeline.describe_recording(begin, end)
            self._wire.send(pack_mapping({"kind": "recording", **told}))

    def _show(self, step: LiveStep) -> None:
        """Say where everything is, unless what was said before is still on its way."""
        if not self._wire.flush():
            return
        self._wire.send(pack_pose(step.frame, self._seen, self.pack(step)))

    def pack(self, step: LiveStep) -> np.ndarray:
        """(layout.size,) the numbers of a step."""
        parts: list[np.ndarray] = []
        pull = []
        for index, shower in enumerate(self._showers):
            wanted, own = step.wanted[index], self.session.links_of(index)
            links = step.rows.link_pos[0, -1, own], step.rows.link_quat_wxyz[0, -1, own]
            parts += [part.ravel() for part in shower.place(*links, wanted.local_pos, wanted.local_quat_wxyz)]
            pull.append(step.forces[own].sum(axis=0))
        props = (step.rows.prop_pos[0, -1], step.rows.prop_quat_wxyz[0, -1], step.shown[:, None].astype(float))
        parts += [np.concatenate(props, axis=-1).ravel(), step.muscle, np.ravel(pull)]
        return np.concatenate(parts).astype(np.float32)
