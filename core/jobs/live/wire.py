# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender and a live worker say to each other: short messages over a pair of sockets that nobody else has.

The pair is made before the worker is started, and one end is handed to it: it has no port, no name and no file, so that
there is nothing to connect to. All that comes over it is checked all the same, like a file: a message is JSON, or a row
of numbers whose length was agreed upon before.
"""

import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadFile
from ...files import parse_json

_HEAD = struct.Struct("<IB")
_POSE = struct.Struct("<II")
_JSON, _NUMBERS = 1, 2
MOST_ASKED_BYTES = 64 * 1024
"""Of a message to the worker."""
MOST_TOLD_BYTES = 64 * 1024 * 1024
"""Of a message from the worker: a recording of an hour."""
_AT_ONCE = 256 * 1024


class BadMessage(BadFile):
    """A message that is none: whoever sent it is not listened to any more."""


@dataclass(frozen=True, eq=False)
class PoseMessage:
    """Where everything is after control step ``frame``; seen: how many messages the worker had read by then.

    numbers: float32, laid out as ``PoseLayout`` says.
    """

    frame: int
    seen: int
    numbers: NDArray[np.float32]


@dataclass(frozen=True)
class PoseLayout:
    """How the numbers of a pose are laid out.

    bones: for each character how many; then follow (B, 3) metres and (B, 4) rotations in the world. props: for each
    (P, 8) place, rotation and whether it is shown. Then (C,) muscle, and (C, 3) newtons that drag each character.
    """

    bones: tuple[int, ...]
    props: int

    @property
    def size(self) -> int:
        """How many numbers a pose has."""
        return 7 * sum(self.bones) + 8 * self.props + 4 * len(self.bones)

    def split(
        self, numbers: NDArray[np.float32]
    ) -> tuple[
        list[tuple[NDArray[np.float32], NDArray[np.float32]]],
        NDArray[np.float32],
        NDArray[np.float32],
        NDArray[np.float32],
    ]:
        """Each character's (B, 3) and (B, 4), the props (P, 8), muscle (C,) and pull (C, 3)."""
        characters, at = [], 0
        for bones in self.bones:
            pos = numbers[at : at + 3 * bones].reshape(-1, 3)
            quat = numbers[at + 3 * bones : at + 7 * bones].reshape(-1, 4)
            characters.append((pos, quat))
            at += 7 * bones
        props = numbers[at : at + 8 * self.props].reshape(-1, 8)
        at += 8 * self.props
        count = len(self.bones)
        return characters, props, numbers[at : at + count], numbers[at + count :].reshape(-1, 3)


def pack_mapping(values: Mapping[str, Any]) -> bytes:
    """A message of JSON."""
    body = json.dumps(values, allow_nan=False).encode()
    return _HEAD.pack(len(body), _JSON) + body


def pack_pose(frame: int, seen: int, numbers: NDArray[np.float32]) -> bytes:
    """A message of numbers."""
    body = _POSE.pack(frame, seen) + np.ascontiguousarray(numbers, dtype="<f4").tobytes()
    return _HEAD.pack(len(body), _NUMBERS) + body


class MessageReader:
    """Puts messages together out of what arrives. most: bytes that one may have."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting = bytearray()

    def feed(self, data: bytes) -> list[dict[str, Any] | PoseMessage]:
        """All that is whole by now; a ``BadMessage`` for what is none."""
        self._waiting += data
        found: list[dict[str, Any] | PoseMessage] = []
        while len(self._waiting) >= _HEAD.size:
            size, kind = _HEAD.unpack_from(self._waiting)
            if size > self._most or kind not in (_JSON, _NUMBERS):
                raise BadMessage("A live message is none of ours", "Start the live session again")
            end = _HEAD.size + size
            if len(self._waiting) < end:
                break
            body = bytes(self._waiting[_HEAD.size : end])
            del self._waiting[:end]
            found.append(_parse_mapping(body) if kind == _JSON else _parse_pose(body))
        return found


def _parse_mapping(body: bytes) -> dict[str, Any]:
    try:
        values = parse_json(body.decode("utf-8"))
    except ValueError as error:
        raise BadMessage(f"A live message is no JSON: {error}", "Start the live session again") from error
    if not isinstance(values, dict):
        raise BadMessage("A live message is no mapping", "Start the live session again")
    return values


def _parse_pose(body: bytes) -> PoseMessage:
    if len(body) < _POSE.size or (len(body) - _POSE.size) % 4:
        raise BadMessage("A live pose is torn", "Start the live session again")
    frame, seen = _POSE.unpack_from(body)
    numbers = np.frombuffer(body, dtype="<f4", offset=_POSE.size).astype(np.float32)
    if not np.isfinite(numbers).all():
        raise BadMessage("A live pose has values that are not numbers", "Start the live session again")
    return PoseMessage(frame, seen, numbers)


class Wire:
    """One end of the pair; nothing on it waits. closed: the other end is gone."""

    def __init__(self, end: socket.socket, most: int) -> None:
        end.setblocking(False)
        self.socket, self.closed = end, False
        self._reader = MessageReader(most)
        self._unsent = bytearray()

    def read(self) -> list[dict[str, Any] | PoseMessage]:
        """What has arrived."""
        found: list[dict[str, Any] | PoseMessage] = []
        while not self.closed:
            try:
                data = self.socket.recv(_AT_ONCE)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                data = b""
            if not data:
                self.closed = True
                break
            found += self._reader.feed(data)
        return found

    def send(self, message: bytes) -> None:
        """Send a message, or as much of it as there is room for; the rest goes with the next ``flush``."""
        self._unsent += message
        self.flush()

    def flush(self) -> bool:
        """Send what waits; whether nothing waits any more."""
        while self._unsent and not self.closed:
            try:
                sent = self.socket.send(self._unsent)
            except (BlockingIOError, InterruptedError):
                return False
            except OSError:
                self.closed = True
                break
            del self._unsent[:sent]
        return not self._unsent

    @property
    def backlog(self) -> int:
        """Bytes that wait to be sent."""
        return len(self._unsent)

    def close(self) -> None:
        """Let go of this end."""
        self.closed = True
        self.socket.close()
