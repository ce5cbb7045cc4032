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
