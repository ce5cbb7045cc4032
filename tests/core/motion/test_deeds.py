# SPDX-License-Identifier: GPL-3.0-or-later
"""Deeds with their key moments: as markers beside style tags, in files, and on another clock."""

import numpy as np
import pytest

from sinew.core.errors import BadMotion
from sinew.core.motion.deed_markers import name_deed_markers, parse_deed_markers
from sinew.core.motion.deeds import Deed, deeds_from_rows, deeds_to_rows, is_periodic, place_deeds
from sinew.core.motion.library import library_from_arrays, make_library
from sinew.core.motion.marker_tags import name_markers, parse_markers
from sinew.core.motion.plain_walk import plain_walk
from sinew.core.motion.style_names import find_name_styles

MARKERS = [
    ("walk", 1),
    ("walk end", 20),
    ("kick! begin", 30),
    ("kick!", 40),
    ("kick! end", 55),
    ("kick!", 80),
    ("punch!?", 100),
]


def test_markers_of_deeds_and_of_styles_live_side_by_side():
    deeds = parse_deed_markers(MARKERS)
    told = [(deed.name, deed.first, deed.key, deed.last, deed.is_proposal) for deed in deeds]
    assert told == [("kick", 30, 40, 55, False), ("kick", None, 80, None, False), ("punch", None, 100, None, True)]
    assert [(tag.name, tag.first, tag.stop) for tag in parse_markers(MARKERS)] == [("walk", 1, 21)]
    # An open style range goes on through the markers of deeds.
    assert parse_markers([("walk", 1), ("kick!", 9), ("run", 30)])[0].stop == 30


@pytest.mark.parametrize(
    "markers",
    [[("kick! begin", 3)], [("kick! end", 3)], [("kick! begin", 3), ("kick! begin", 9), ("kick!", 12)]],
)
def test_a_deed_without_a_key_moment_is_refused_with_the_marker_that_it_needs(markers):
    with pytest.raises(BadMotion, match="Deed 'kick' at frame 3 has no key moment") as error:
        parse_deed_markers(markers)
    assert "'kick!'" in error.value.hint


def test_names_of_markers():
    assert name_deed_markers("kick", False) == ("kick! begin", "kick!", "kick! end")
    assert parse_deed_markers([(name, 1 + i) for i, name in enumerate(name_deed_markers("kick", True))])[0].is_proposal
    for name in ("", "kick!", "x" * 90):
        with pytest.raises(BadMotion):
            name_deed_markers(name, False)
    with pytest.raises(BadMotion):
        name_markers("kick!", False)


def test_deeds_move_with_the_clock_of_their_clip():
    times_s = 1.0 + np.arange(120) / 60.0
    assert place_deeds([Deed("kick", 30, 45, 60)], 30.0, times_s) == (Deed("kick", 0, 30, 59),)
    assert place_deeds([Deed("kick", 0, 15, 60)], 30.0, times_s) == ()


def test_what_goes_on_and_on_has_no_key_moment():
    assert is_periodic("Walk") and is_periodic("runstop") and not is_periodic("sidekick")


def test_a_library_keeps_its_deeds_and_one_without_still_opens():
    library = make_library([plain_walk(2.0, 60.0), plain_walk(2.0, 60.0)])
    arrays, meta = library.to_arrays()
    meta["clip_deeds"] = [deeds_to_rows([Deed("hop", 3, 9, 12)]), []]
    assert library_from_arrays(arrays, meta).deeds == ((Deed("hop", 3, 9, 12),), ())
    del meta["clip_deeds"]
    assert library_from_arrays(arrays, meta).deeds == ((), ())
    with pytest.raises(BadMotion, match="goes to frame 5000"):
        deeds_from_rows([["hop", 3, 9, 5001, False]], "one", 120)


def test_in_a_collection_a_word_that_is_there_once_is_a_style_too():
    names = ["kick_1", "kick_2", "kick_3", "punch_1", "punch_2", "walk_1", "walk_2", "sidekick_1"]
    assert find_name_styles(names)[-1] == ("sidekick",)
    assert find_name_styles(names[5:])[-1] == ()
