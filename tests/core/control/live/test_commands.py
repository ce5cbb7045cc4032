# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands and recordings: what goes out comes in again, and whatever is wrong is named."""

import json

import pytest

from sinew.core.control.live.commands import (
    BadCommand,
    BeginAnew,
    DragBone,
    DropBox,
    LiveRecording,
    MoveThing,
    PushBone,
    SetMuscle,
    Steer,
    ThrowBall,
    parse_command,
    parse_recording,
)

COMMANDS = (
    PushBone(3, bone="chest", force=(1.0, -2.0, 0.5), frames=4),
    DragBone(4, 1, bone="hand", to=(0.0, 1.0, 2.0)),
    ThrowBall(5, at=(1.0, 0.0, 1.0), velocity=(-3.0, 0.0, 1.0)),
    DropBox(6, at=(0.0, 0.0, 2.0)),
    SetMuscle(7, value=0.0),
    Steer(8, velocity=(1.0, 0.5), style="run"),
    MoveThing(9, thing="Crate", by=(1.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0, 1.0)),
    BeginAnew(10),
)


def test_a_recording_goes_out_and_comes_in_again_in_the_order_of_its_frames():
    recording = LiveRecording(COMMANDS[::-1], 2, 60, "walk", 7)
    assert recording.commands == COMMANDS
    assert parse_recording(recording.to_text(), "it") == recording


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (7, "is no command"),
        ({"do": "explode", "frame": 1}, "no command 'explode'"),
        ({"do": ["push"], "frame": 1}, "There is no command"),
        ({"do": "push", "bone": "chest"}, "has no frame"),
        ({"do": "push", "frame": 1}, "has no bone"),
        ({"do": "push", "frame": 1, "bone": "chest", "file": "/etc/passwd"}, "has no 'file'"),
        ({"do": "push", "frame": -1, "bone": "chest"}, "'frame' of 'push'"),
        ({"do": "push", "frame": True, "bone": "chest"}, "'frame' of 'push'"),
        ({"do": "push", "frame": 1, "bone": "x" * 300}, "'bone' of 'push'"),
        ({"do": "push", "frame": 1, "bone": "chest", "force": [1, 2]}, "'force' of 'push'"),
        ({"do": "push", "frame": 1, "bone": "chest", "force": [1, 2, float("nan")]}, "'force' of 'push'"),
        ({"do": "push", "frame": 1, "bone": "chest", "force": [1e9, 0, 0]}, "at most 20000"),
        ({"do": "push", "frame": 1, "bone": "chest", "frames": 10**6}, "'frames' of 'push'"),
        ({"do": "throw", "frame": 1, "velocity": [1, 2]}, "The velocity of 'throw' has 2 numbers"),
        ({"do": "move", "frame": 1, "thing": "a", "turn": [0, 0, 0, 0]}, "has not the length one"),
        ({"do": "move", "frame": 1, "thing": 7}, "'thing' of 'move'"),
        ({"do": "muscle", "frame": 1, "value": 2}, "Muscle is '2'"),
    ],
)
def test_what_is_no_command_is_named(values, words):
    with pytest.raises(BadCommand, match=words.replace("(", "\\(")) as caught:
        parse_command(values)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has 0 lines"),
        ("hello", "Line 1 of it is no JSON"),
        ('{"frame": 1, "do": "reset"}', "is no recording"),
        ('{"kind": "sinew live", "version": 2, "end": 9}', "another version"),
        ('{"kind": "sinew live", "end": 0}', "from frame 0 to 0"),
        ('{"kind": "sinew live", "end": 1e3}', "'end' of it"),
        ('{"kind": "sinew live", "end": 9}\n{"frame": 1, "do": "dance"}', "Line 2 of it: There is no command 'dance'"),
        ('{"kind": "sinew live", "end": 9}\n{"frame": 1, "do": "reset"', "Line 2 of it is no JSON"),
    ],
)
def test_what_is_no_recording_is_named_with_its_line(text, words):
    with pytest.raises(BadCommand, match=words):
        parse_recording(text, "it")


def test_a_line_may_be_written_by_hand():
    lines = [{"kind": "sinew live", "end": 30}, {"frame": 12, "do": "push", "bone": "chest", "force": [0, 100, 0]}]
    recording = parse_recording("\n".join(map(json.dumps, lines)), "it")
    assert recording.commands == (PushBone(12, bone="chest", force=(0.0, 100.0, 0.0)),)
