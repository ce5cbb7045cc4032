# SPDX-License-Identifier: GPL-3.0-or-later
"""Of a library only what has to do with the wished styles is made ready."""

import numpy as np

from directed_walks import make_walks, walks_clips
from sinew.core.control.tracking.library_building import PreparedClip
from sinew.core.control.tracking.library_files import StoredLibrary
from sinew.core.control.tracking_policy.learned_file import Director, choose_clips
from sinew.core.motion.clip import Tag
from sinew.core.motion.library import ClipOrigin


def stored():
    """A straight walk, a turn, and standing, which Sinew proposed to be walking, too."""
    _, body = make_walks()
    rows = {
        "straight": (Tag("walk", 0, 200),),
        "arc -2": (Tag("turn", 0, 200), Tag("walk", 0, 100, True)),
        "stand": (Tag("idle", 0, 100, True),),
        "fast 1.5": (Tag("fast", 0, 100), Tag("idle", 0, 10, True)),
    }
    clips = {clip.name: clip for clip in walks_clips()}
    made = []
    for name, tags in rows.items():
        clip = clips[name]
        parts = (
            clip.local_pos,
            clip.local_quat_wxyz,
            np.zeros((len(clip), 2), dtype=bool),
            np.arange(len(clip)) / 60.0,
        )
        made.append(PreparedClip(name, *parts, tags, ClipOrigin()))
    return StoredLibrary(body, tuple(made))


def names(director):
    return [clip.name for clip in director.clips]


def test_clips_of_the_styles_and_of_standing_are_chosen():
    whole = stored()
    # A tag that was given counts alone; and somebody must be able to stand.
    assert names(choose_clips(whole, (("walk",),), "idle")) == ["straight", "stand", "fast 1.5"]
    assert names(choose_clips(whole, (("fast",), ("turn",)), "idle")) == ["arc -2", "fast 1.5"]
    assert choose_clips(whole, (("walk",),), "idle").mirror == whole.mirror


def test_all_of_it_is_kept_where_any_style_will_do_or_one_is_missing():
    whole = stored()
    for styles in (((),), (("walk",), ()), (("dance",),)):
        assert choose_clips(whole, styles, "idle") is whole
    plain = Director(make_walks()[0])
    assert choose_clips(plain, (("walk",),), "idle") is plain
