# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown of a training: where the links are, in the clip's place, seldom, and of little size."""

import numpy as np
import pytest

from sinew.core.body.poses import link_transforms, pose_of_clip
from sinew.core.control.bounds.bounds import bounds_of_preset, sample_widths
from sinew.core.control.bounds.live_preview import PolicyPreview
from sinew.core.motion.io import stock
from sinew.core.sim import engines


class Clock:
    """Seconds that pass as the test wants; every look at it takes some."""

    def __init__(self, look_s: float) -> None:
        self.now_s, self.look_s = 0.0, look_s

    def __call__(self) -> float:
        self.now_s += self.look_s
        return self.now_s


@pytest.fixture
def rehearsal_of(body, walk):
    def made(clock):
        clip = stock.load_stock("walk")
        widths = sample_widths(bounds_of_preset(body, "locomotion"), walk, clip)
        return PolicyPreview(walk, widths, clip, engines.get_engine("mujoco"), clock)

    return made


def still(body):
    return lambda seen: np.zeros((len(seen), body.nu), dtype=np.float32)


def test_it_shows_some_seconds_from_where_the_clip_begins(rehearsal_of, body, walk):
    with rehearsal_of(Clock(0.0)) as rehearsal:
        arrays, about = rehearsal.record(still(body), 4096)
    pos, quat = arrays["link_pos"], arrays["link_quat_wxyz"]
    assert about["samples"] == 4096 and list(about["bones"]) == [link.bone for link in body.links]
    assert pos.shape[1:] == (len(body.links), 3) and quat.shape == (*pos.shape[:2], 4)
    assert len(pos) / about["fps"] == pytest.approx(2.0 * walk.duration_s, abs=0.1)
    first = link_transforms(body, pose_of_clip(body, stock.load_stock("walk").frames(0, 1))[0])[0][0]
    assert np.abs(pos[0] - first).max() < 0.1  # the course is the clip put on the floor
    assert np.linalg.norm(pos[30, 0] - pos[0, 0]) > 0.3  # and it goes somewhere
    assert sum(array.nbytes for array in arrays.values()) < 200_000


def test_who_looks_long_looks_seldom(rehearsal_of, body):
    clock = Clock(0.0)
    with rehearsal_of(clock) as rehearsal:
        assert not rehearsal.is_due
        clock.now_s = 5.1
        assert rehearsal.is_due
        clock.look_s = 0.6  # what looking takes
        rehearsal.record(still(body), 0)
        clock.look_s, begun = 0.0, clock.now_s
        clock.now_s = begun + 19.0
        assert not rehearsal.is_due
        clock.now_s = begun + 21.0
        assert rehearsal.is_due
