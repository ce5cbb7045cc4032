# SPDX-License-Identifier: GPL-3.0-or-later
"""Which words of file names are style tags."""

from sinew.core.motion.style_names import find_name_styles

FILES = ["walk_16_11", "walk_69_01", "crouch_139_29", "16_11", "16_12", "walk", "final"]


def test_words_that_repeat_are_styles():
    assert find_name_styles(FILES) == [("walk",), ("walk",), (), (), (), (), ()]


def test_a_word_that_is_a_tag_already_is_a_style():
    assert find_name_styles(["crouch_139_29"]) == [()]
    assert find_name_styles(["crouch_139_29"], known={"crouch"}) == [("crouch",)]


def test_the_animator_has_the_last_word():
    assert find_name_styles(FILES, "none") == [()] * len(FILES)
    assert find_name_styles(FILES, "names") == [("walk",), ("walk",), ("crouch",), (), (), (), ()]


def test_actions_of_a_file_are_styles_by_their_own_names():
    pack = [f"Armature|Zebra|{name}" for name in ("Walk", "WalkSlow", "Run", "Idle", "Jump_Start")]
    assert find_name_styles(pack) == [("walk",), ("walk",), ("run",), ("idle",), ("jump",)]
    assert find_name_styles(pack, "none") == [()] * 5
    assert find_name_styles(pack[:2]) == [(), ()]  # too few to say that names are what is done
    assert find_name_styles(pack[:2], "names") == [("walk",), ("walk",)]
