# SPDX-License-Identifier: GPL-3.0-or-later
"""What may be done to live characters, each with its frame; and recordings of that, as lines of JSON.

Commands come over a socket and out of files, and are checked alike: nothing in them names a file, or is code.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ... import limits
from ...errors import BadFile
from ...files import parse_json, read_bytes

FPS = 60
"""Frames a second of commands: control steps."""
KIND, VERSION = "sinew live", 1
MOST_FRAMES = 3600 * FPS
MOST_COMMANDS = 500_000
_FILE_BYTES = 64 * limits.MIB
_MOST_FORCE_N, _MOST_M, _MOST_M_S, _MOST_FRAMES_LONG = 20_000.0, 10_000.0, 200.0, 10 * FPS

Vector = tuple[float, float, float]


class BadCommand(BadFile):
    """A command that is none."""


@dataclass(frozen=True)
class Command:
    """Something that is done at ``frame``, before that control step. character: whose number it is for."""

    frame: int
    character: int = 0

    @property
    def does(self) -> str:
        """Its name in a recording."""
        return next(name for name, kind in _KINDS.items() if type(self) is kind)

    def to_mapping(self) -> dict[str, Any]:
        """Plain values, as a line of a recording has them; what is as usual is left out."""
        values = {"frame": self.frame, "do": self.does}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "frame" and value != field.default:
                values[field.name] = list(value) if isinstance(value, tuple) else value
        return values


@dataclass(frozen=True)
class PushBone(Command):
    """A steady force in newtons, in the world, on a bone for so many frames."""

    bone: str = ""
    force: Vector = (0.0, 0.0, 0.0)
    frames: int = 6


@dataclass(frozen=True)
class DragBone(Command):
    """A spring from a bone to a point in metres, in the world, until it is moved or let go."""

    bone: str = ""
    to: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class ReleaseBone(Command):
    """Let go of what is dragged."""


@dataclass(frozen=True)
class ThrowBall(Command):
    """A ball from a point in metres with m/s."""

    at: Vector = (0.0, 0.0, 0.0)
    velocity: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class DropBox(Command):
    """A box that falls from a point in metres."""

    at: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class MoveThing(Command):
    """Put a prop or an obstacle elsewhere: from where it began it is turned about the world's origin, and moved."""

    thing: str = ""
    by: Vector = (0.0, 0.0, 0.0)
    turn: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class SetMuscle(Command):
    """How much of its strength a character has from now on, from 0 (limp) to 1; it comes and goes over a moment."""

    value: float = 1.0


@dataclass(frozen=True)
class Steer(Command):
    """Where a directed character is to go: m/s along X and Y, and the style to go in; '' for any."""

    velocity: tuple[float, float] = (0.0, 0.0)
    style: str = ""


@dataclass(frozen=True)
class BeginAnew(Command):
    """Put everybody and everything back to where it began."""


_KINDS: dict[str, type[Command]] = {
    "push": PushBone,
    "drag": DragBone,
    "release": ReleaseBone,
    "throw": ThrowBall,
    "drop": DropBox,
    "move": MoveThing,
    "muscle": SetMuscle,
    "steer": Steer,
    "reset": BeginAnew,
}
# What a field holds: how many numbers, of how much at most.
_VECTORS = {
    "force": (3, _MOST_FORCE_N),
    "to": (3, _MOST_M),
    "at": (3, _MOST_M),
    "by": (3, _MOST_M),
    "turn": (4, 1.0 + 1e-6),
    "velocity": (None, _MOST_M_S),
}


def parse_command(values: Any) -> Command:
    """The command that a mapping says; whatever is wrong with it is a ``BadCommand`` that names it."""
    if not isinstance(values, dict):
        raise BadCommand(f"{_quote(values)} is no command", 'Write one such as {"frame": 60, "do": "reset"}')
    name = values.get("do")
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise BadCommand(f"There is no command {_quote(name)}", f"Use one of: {', '.join(_KINDS)}")
    known = {field.name: field for field in fields(kind)}
    if stray := [key for key in values if key != "do" and key not in known]:
        raise BadCommand(f"'{name}' has no {_quote(stray[0])}", f"It has: {', '.join(known)}")
    if "frame" not in values:
        raise BadCommand(f"'{name}' has no frame", 'Say when it is done, such as "frame": 60')
    checked = {key: _check(str(name), key, value) for key, value in values.items() if key != "do"}
    if "velocity" in checked and len(checked["velocity"]) != len(known["velocity"].default):  # type: ignore[arg-type]
        raise BadCommand(f"The velocity of '{name}' has {len(checked['velocity'])} numbers", "Give one for each axis")
    if not 0.9 < sum(part**2 for part in checked.get("turn", (1.0,))) < 1.1:
        raise BadCommand(f"The turn of '{name}' has not the length one", "Give a quaternion: w, x, y, z")
    if kind in (PushBone, DragBone) and not checked.get("bone"):
        raise BadCommand(f"'{name}' has no bone", "Name the bone that it acts on")
    return kind(**checked)


def _check(name: str, key: str, value: Any) -> Any:
    """A field's value, fit for its command."""
    if key in _VECTORS:
        count, most = _VECTORS[key]
        fine = isinstance(value, list | tuple) and len(value) in ((count,) if count else (2, 3))
        if not fine or not all(_is_number(one) and abs(one) <= most for one in value):
            raise BadCommand(f"'{key}' of '{name}' is {_quote(value)}", f"Give numbers of at most {most:g}")
        return tuple(float(one) for one in value)
    if key == "value":
        if not _is_number(value) or not 0.0 <= value <= 1.0:
            raise BadCommand(f"Muscle is {_quote(value)}", "Give 0 (limp) to 1 (all of it)")
        return float(value)
    if key in ("bone", "style", "thing"):
        if not isinstance(value, str) or len(value) > limits.NAME_LETTERS:
            raise BadCommand(f"'{key}' of '{name}' is {_quote(value)}", "Give a name")
        return value
    most_of = {"frame": MOST_FRAMES, "frames": _MOST_FRAMES_LONG, "character": limits.MOST_BONES}[key]
    least = 1 if key == "frames" else 0
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most_of:
        raise BadCommand(f"'{key}' of '{name}' is {_quote(value)}", f"Give a whole number from {least} to {most_of}")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _quote(value: Any) -> str:
    return f"'{str(value)[:60]}'"


@dataclass(frozen=True)
class LiveRecording:
    """What was done. commands: in the order of their frames.

    begin, end: the frames that a take of it is of. source: a clip's name or file, '' where that is said elsewhere.
    """

    commands: tuple[Command, ...]
    begin: int
    end: int
    source: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.begin < self.end <= MOST_FRAMES:
            raise BadCommand(
                f"The recording goes from frame {self.begin} to {self.end}",
                f"Give frames that go up, and at most {MOST_FRAMES}",
            )
        if len(self.commands) > MOST_COMMANDS:
            raise BadCommand(f"The recording has {len(self.commands)} commands", f"At most {MOST_COMMANDS} are read")
        ordered = tuple(sorted(self.commands, key=lambda command: command.frame))
        object.__setattr__(self, "commands", ordered)

    def to_text(self) -> str:
        """As a file: a line about all of it, then one for each command."""
        about = {"kind": KIND, "version": VERSION, "fps": FPS, "begin": self.begin, "end": self.end, "seed": self.seed}
        if self.source:
            about["source"] = self.source
        return "".join(json.dumps(line) + "\n" for line in (about, *(one.to_mapping() for one in self.commands)))


def parse_recording(text: str, label: str) -> LiveRecording:
    """What ``to_text`` gave; wrong lines are named by their number."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if not lines or len(lines) > MOST_COMMANDS + 1:
        raise BadCommand(f"{label} has {len(lines)} lines", f"Give one about the recording and up to {MOST_COMMANDS}")
    about = _parse_line(*lines[0], label)
    if not isinstance(about, dict) or about.get("kind") != KIND:
        raise BadCommand(
            f"{label} is no recording of live commands", f'Its first line says {{"kind": "{KIND}", "end": FRAMES}}'
        )
    if about.get("version", VERSION) != VERSION or about.get("fps", FPS) != FPS:
        raise BadCommand(f"{label} is of another version or rate", f"Version {VERSION}, {FPS} frames a second are read")
    numbers = {name: about.get(name, 0) for name in ("begin", "end", "seed")}
    for name, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= limits.LARGEST_SEED:
            raise BadCommand(f"'{name}' of {label} is {_quote(value)}", "Give a whole number")
    source = about.get("source", "")
    if not isinstance(source, str) or len(source) > limits.TEXT_LETTERS:
        raise BadCommand(f"The source of {label} is {_quote(source)}", "Give a clip's name")
    commands = []
    for number, line in lines[1:]:
        try:
            commands.append(parse_command(_parse_line(number, line, label)))
        except BadCommand as error:
            raise BadCommand(f"Line {number} of {label}: {error.message}", error.hint) from error
    return LiveRecording(tuple(commands), source=source, **numbers)


def _parse_line(number: int, line: str, label: str) -> Any:
    try:
        return parse_json(line)
    except (ValueError, RecursionError) as error:
        raise BadCommand(f"Line {number} of {label} is no JSON: {error}", "Write a mapping a line") from error


def read_recording(path: Path) -> LiveRecording:
    """The recording in a file."""
    try:
        text = read_bytes(path, _FILE_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadCommand(f"'{path}' is no text", "Give a recording of live commands") from error
    return parse_recording(text, f"'{path.name}'")


def list_commands(lines: Sequence[Mapping[str, Any]] | Iterable[Any]) -> tuple[Command, ...]:
    """The commands of mappings."""
    return tuple(parse_command(line) for line in lines)
