# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of a live session: whole ones come through in whatever pieces, and what is none ends the talk."""

import json
import socket
import struct

import numpy as np
import pytest

from sinew.core.jobs.live.wire import BadMessage, MessageReader, PoseLayout, PoseMessage, Wire, pack_mapping, pack_pose


def test_messages_come_through_byte_by_byte():
    numbers = np.arange(20, dtype=np.float32)
    data = pack_mapping({"do": "reset"}) + pack_pose(7, 3, numbers)
    reader, found = MessageReader(1000), []
    for byte in data:
        found += reader.feed(bytes([byte]))
    told, pose = found
    assert told == {"do": "reset"}
    assert isinstance(pose, PoseMessage)
    assert (pose.frame, pose.seen) == (7, 3)
    assert np.array_equal(pose.numbers, numbers)


def test_a_pose_is_split_as_it_was_laid_out():
    layout = PoseLayout((2, 1), 1)
    numbers = np.arange(layout.size, dtype=np.float32)
    characters, props, muscle, pull = layout.split(numbers)
    assert [part.shape for one in characters for part in one] == [(2, 3), (2, 4), (1, 3), (1, 4)]
    assert (props.shape, muscle.shape, pull.shape) == ((1, 8), (2,), (2, 3))
    parts = [part.ravel() for one in characters for part in one] + [props.ravel(), muscle, pull.ravel()]
    assert np.array_equal(np.concatenate(parts), numbers)


def message(kind, body):
    return struct.pack("<IB", len(body), kind) + body


@pytest.mark.parametrize(
    "data",
    [
        message(1, b"not json"),
        message(1, b"[1, 2]"),
        message(1, b'{"a": NaN}'),
        message(1, b"\xff\xfe"),
        message(1, b"[" * 500 + b"]" * 500),
        message(2, b"\0" * 7),
        message(2, b"\0" * 10),
        message(2, struct.pack("<IIf", 0, 0, float("inf"))),
        message(3, b"{}"),
        struct.pack("<IB", 2**31, 1),
    ],
)
def test_what_is_no_message_is_refused(data):
    with pytest.raises(BadMessage):
        MessageReader(10_000).feed(data)


def test_a_message_that_is_too_large_is_refused_before_it_is_there():
    with pytest.raises(BadMessage):
        MessageReader(100).feed(struct.pack("<IB", 101, 1))


def test_nothing_waits_for_who_does_not_listen_and_what_is_left_comes_later():
    ours, theirs = socket.socketpair()
    here, there = Wire(ours, 10**6), Wire(theirs, 10**8)
    text = "x" * 5_000_000
    here.send(pack_mapping({"text": text}))
    assert here.backlog > 0
    found = []
    while not found:
        found = there.read()
        here.flush()
    assert found[0]["text"] == text
    assert json.dumps(found[0])
    there.close()
    here.read()
    assert here.closed
    here.close()
