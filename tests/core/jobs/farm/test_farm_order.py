# SPDX-License-Identifier: GPL-3.0-or-later
"""What a farm may be asked for."""

import pytest

from sinew.core.errors import BadSettings
from sinew.core.jobs.farm import FORMATS, FarmOrder, parse_frame_list, require_format
from sinew.core.jobs.farm.order import write_frame_list


@pytest.mark.parametrize(
    ("text", "frames", "short"),
    [
        ("7", (7,), "7"),
        ("1-3,7", (1, 2, 3, 7), "1-3,7"),
        (" 5 - 6 , 1, 5", (1, 5, 6), "1,5-6"),
        ("0", (0,), "0"),
        ("1048574", (1048574,), "1048574"),
    ],
)
def test_frames(text, frames, short):
    assert parse_frame_list(text) == frames
    assert write_frame_list(frames) == short
    assert parse_frame_list(short) == frames


@pytest.mark.parametrize(
    "text", ["", "x", "3-1", "-4", "1-", "1,,2", "1048575", "1:5", "٣", "1-20000", "1-9999,10001-10002"]
)
def test_what_is_no_list_of_frames(text):
    if text == "٣":
        assert parse_frame_list(text) == (3,)  # a digit all the same
        return
    with pytest.raises(BadSettings, match="frames"):
        parse_frame_list(text)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"takes": 0}, "0 takes"),
        ({"takes": -1}, "-1 takes"),
        ({"takes": 1001}, "1001 takes"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 2**64}, "seed is"),
        ({"options": (("armature", "a\tb"),)}, "--armature"),
        ({"options": (("action", "a\x1bb"),)}, "--action"),
        ({"options": (("set", "x" * 1025),)}, "1025 characters"),
        ({"options": (("set", "a=1"),) * 40}, "40 options"),
        ({"blender": "blen\0der"}, "--blender"),
    ],
)
def test_what_no_farm_could_do_is_refused_with_a_fix(wrong, said):
    with pytest.raises(BadSettings) as refused:
        FarmOrder(**{"title": "shot", "takes": 3} | wrong)
    assert said in str(refused.value) and refused.value.hint


def test_options_that_are_repeated_have_keys_of_their_own():
    order = FarmOrder("shot", 1, options=(("set", "a=1"), ("armature", "A"), ("set", "b=2")))
    assert [(one.key, one.name, one.value) for one in order.numbered_options] == [
        ("set_1", "set", "a=1"),
        ("armature", "armature", "A"),
        ("set_2", "set", "b=2"),
    ]


def test_an_unknown_format_lists_those_there_are():
    with pytest.raises(BadSettings, match=r"'deadline'.*openjd, flamenco"):
        require_format("deadline")
    assert set(FORMATS) == {"openjd", "flamenco"}
