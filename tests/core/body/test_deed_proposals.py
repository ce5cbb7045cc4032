# SPDX-License-Identifier: GPL-3.0-or-later
"""Key moments that are proposed: where a leg is highest, and none where somebody only walks."""

import numpy as np
import pytest

from deed_clips import KEYS, make_deeds
from directed_walks import make_walks, tagged, walks_clips
from sinew.core.body.deed_proposals import propose_deeds
from sinew.core.control.character import BodyChoices, build_plain_body
from sinew.core.control.tracking.library_building import find_deeds, prepare_clip
from sinew.core.motion.io.bvh import load_bvh


def test_a_kick_is_done_where_the_leg_is_highest():
    stored = make_deeds()
    deeds = next(clip.deeds for clip in stored.clips if clip.name == "kick_1")
    assert [deed.name for deed in deeds] == ["kick"] * 2 and all(deed.is_proposal for deed in deeds)
    for deed, key in zip(deeds, KEYS, strict=True):
        assert abs(deed.key - key) <= 4
        assert key - 30 < deed.start < deed.key < deed.stop < key + 40


def test_styles_that_go_on_have_none_and_neither_have_proposals_of_styles():
    body, walk = make_walks()[1], walks_clips()[0]
    assert propose_deeds(body, walk, tagged(walk, "walk").tags) == ()
    assert all(clip.deeds == () for clip in make_deeds().clips if not clip.name.startswith("kick"))


def test_recorded_kicks_are_found_one_by_one(root):
    path = root.parent / "shared" / "libraries" / "martial" / "frontkick_144_05.bvh"
    if not path.is_file():
        pytest.skip(f"there is no '{path}'")
    clip = load_bvh(path, 0.0564444)
    body = build_plain_body(clip, BodyChoices())
    one = prepare_clip(body, tagged(clip, "frontkick"))
    keys = np.array([deed.key for deed in find_deeds(body, one)]) / 60.0
    # The actor kicks twelve times, about every 1.8 s.
    assert len(keys) == 12 and 1.5 < np.diff(keys).min() and np.diff(keys).max() < 2.1
