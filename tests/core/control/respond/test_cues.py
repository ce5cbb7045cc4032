# SPDX-License-Identifier: GPL-3.0-or-later
"""Cues: what is written, what contradicts itself, and what a library cannot do."""

import numpy as np
import pytest

from deed_clips import make_deeds
from sinew.core.control.respond.cues import CueSheet, cues_from_arrays, cues_to_arrays, parse_cue, sort_cues
from sinew.core.control.respond.goals import find_goal, require_known
from sinew.core.control.respond.responding import Responding
from sinew.core.errors import BadSettings, JobError


@pytest.fixture(scope="module")
def responding():
    """A small library, made ready."""
    stored = make_deeds()
    return Responding(stored.body, stored.library)


def sheet_of(*texts, fps=30.0):
    """Cues from frame 1 on."""
    return CueSheet(sort_cues(parse_cue(text, 1, fps) for text in texts), 1, fps)


def test_a_cue_is_a_deed_a_frame_and_perhaps_a_place():
    plain = parse_cue("kick@91", 1, 30.0)
    assert (plain.deed, plain.time_s, plain.at, plain.place, plain.heading) == ("kick", 3.0, 180, None, None)
    placed = parse_cue("walk@91:-3,2.5,90", 1, 30.0)
    assert placed.place == (-3.0, 2.5) and placed.heading == pytest.approx(np.pi / 2)
    hit = parse_cue("kick@91=1.5,-2,.8", 1, 30.0)
    assert hit.place is None and hit.hit == (1.5, -2.0, 0.8) and parse_cue("kick@91:1,2=3,4,5", 1, 30.0).place == (1, 2)
    sheet = sheet_of("kick@91=1,2,3", "walk@40:1,2")
    again = cues_from_arrays(cues_to_arrays(sheet.cues, 1, 30.0)[1])
    assert again == sheet and [cue.deed for cue in again.cues] == ["walk", "kick"] and sheet.frame_of(180) == 91


@pytest.mark.parametrize(
    "text", ["kick", "@9", "kick@", "kick@x", "kick@9:1", "kick@9:1,2,3,4", "kick@9=1,2", "kick@1"]
)
def test_what_is_no_cue_is_told(text):
    with pytest.raises(BadSettings, match=r"cue|Cue"):
        parse_cue(text, 1, 30.0)


def test_two_cues_that_contradict_each_other_are_named():
    with pytest.raises(BadSettings, match="'kick@9' and 'punch@9' contradict each other: two deeds"):
        sheet_of("kick@9", "punch@9")
    with pytest.raises(BadSettings, match="two places"):
        sheet_of("kick@9:1,2", "kick@9:2,2")
    assert len(sheet_of("kick@9", "kick@9").cues) == 1
    with pytest.raises(BadSettings, match="There are no cues"):
        sheet_of()
    with pytest.raises(JobError, match="not whole"):
        cues_from_arrays({"cues": [{}]})


def test_a_deed_that_is_not_there_is_told_with_those_that_are(responding):
    with pytest.raises(BadSettings, match="no deed 'vault'") as error:
        responding.find_goals(sheet_of("vault@90").cues)
    assert "Its deeds are: kick" in error.value.hint and "walk" in error.value.hint
    with pytest.raises(BadSettings) as error:
        find_goal(responding.library, "kik")
    assert "Did you mean 'kick'?" in error.value.hint


def test_a_deed_without_a_key_moment_is_told():
    from dataclasses import replace

    stored = make_deeds()
    without = replace(stored, clips=tuple(replace(clip, deeds=()) for clip in stored.clips))
    with pytest.raises(BadSettings, match="'kick' has no key moment") as error:
        require_known(without, sheet_of("kick@90").cues)
    assert "'kick!'" in error.value.hint
    require_known(stored, sheet_of("kick@90", "walk@120").cues)


def test_a_cue_before_the_character_can_be_there_says_the_earliest_frame(responding):
    rng = np.random.default_rng(0)
    earliest = []
    for hurry in (1.0, 2.5):
        with pytest.raises(BadSettings, match="'kick' cannot be done by frame 4") as error:
            responding.make_motion(sheet_of("kick@4"), rng, hurry=hurry)
        earliest.append(int(error.value.hint.rpartition(" ")[2]))
        responding.make_motion(sheet_of(f"kick@{earliest[-1]}"), np.random.default_rng(0), hurry=hurry)
    # Who hurries is there sooner, in two fifths of the time.
    assert 10 < earliest[0] < 60 and abs((earliest[1] - 1) - (earliest[0] - 1) / 2.5) <= 1.0
    with pytest.raises(BadSettings, match=r"cannot be at 40,0 by frame 60: that is 40\.0 m away") as error:
        responding.make_motion(sheet_of("kick@60:40,0"), rng)
    assert int(error.value.hint.rpartition(" ")[2]) > 600
