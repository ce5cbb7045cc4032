# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from sinew.core.errors import BadMotion
from sinew.core.geometry.quaternions import angle_between
from sinew.core.motion import Clip, Tag
from sinew.core.motion.io import stock
from sinew.core.motion.loops import is_cyclic, loop_clip, seam_angle

CYCLIC = ["walk", "run", "jump", "cartwheel", "dance_a", "dance_b", "backflip", "roll", "spin", "crawl"]


@pytest.mark.parametrize("name", CYCLIC)
def test_a_loop_goes_on_without_a_seam(name):
    clip = stock.load_stock(name)
    loop = loop_clip(clip, 3)
    period = len(clip) - 1
    assert len(loop) == 3 * period + 1
    linear, angular = loop.world_velocities()
    for speeds in (linear, angular):
        jumps = np.linalg.norm(np.diff(speeds, axis=0), axis=-1).max(1)
        inside = np.delete(jumps, [period - 2, period - 1, period, 2 * period - 2, 2 * period - 1, 2 * period])
        assert jumps[period - 2 : period + 1].max() <= 1.2 * inside.max()


@pytest.mark.parametrize("name", CYCLIC)
def test_each_cycle_is_the_one_before_moved_on(name):
    clip = stock.load_stock(name)
    loop = loop_clip(clip, 4)
    period = len(clip) - 1
    for cycle in (1, 2, 3):
        first, again = loop.local_quat_wxyz[: period + 1, 1:], loop.local_quat_wxyz[cycle * period :][: period + 1, 1:]
        assert angle_between(first, again).max() < 1e-6
    # The steps from cycle to cycle are one length, and no step leads up or down.
    starts = loop.local_pos[::period, 0]
    steps = np.linalg.norm(np.diff(starts, axis=0), axis=-1)
    assert np.allclose(steps, steps[0], atol=1e-9)
    assert np.ptp(starts[:, 2]) < 1e-9


def test_a_walk_walks_on():
    clip = stock.load_stock("walk")
    far = np.linalg.norm(loop_clip(clip, 5).local_pos[-1, 0] - clip.local_pos[0, 0])
    assert far > 4 * np.linalg.norm(clip.local_pos[-1, 0] - clip.local_pos[0, 0])


def test_a_root_that_stands_still_stays():
    clip = stock.load_stock("walk")
    skeleton = clip.skeleton
    still = type(skeleton)(
        (*skeleton.names, "control"),
        np.append(skeleton.parents, -1),
        np.vstack([skeleton.rest_pos, [1.0, 2.0, 0.0]]),
        np.vstack([skeleton.rest_quat_wxyz, [1.0, 0, 0, 0]]),
        np.append(skeleton.lengths, 0.1),
    )
    pos = np.concatenate([clip.local_pos, np.broadcast_to([1.0, 2.0, 0.0], (len(clip), 1, 3))], axis=1)
    quat = np.concatenate([clip.local_quat_wxyz, np.broadcast_to([1.0, 0, 0, 0], (len(clip), 1, 4))], axis=1)
    loop = loop_clip(Clip(still, clip.fps, pos, quat), 3)
    assert np.ptp(loop.local_pos[:, -1], axis=0).max() == 0.0
    assert np.ptp(loop.local_pos[:, 0], axis=0).max() > 1.0


def test_tags_are_repeated_with_the_cycles():
    clip = stock.load_stock("walk")
    clip = Clip(clip.skeleton, clip.fps, clip.local_pos, clip.local_quat_wxyz, tags=(Tag("left", 3, 9),))
    period = len(clip) - 1
    assert loop_clip(clip, 2).tags == (Tag("left", 3, 9), Tag("left", 3 + period, 9 + period))


@pytest.mark.parametrize("name", ["getup_facedown", "kick", "punch"])
def test_what_is_no_cycle_is_refused(name):
    clip = stock.load_stock(name)
    assert not is_cyclic(clip) and seam_angle(clip) > 0.5
    assert loop_clip(clip, 1) is clip
    with pytest.raises(BadMotion, match=r"is not a cycle.*frame range"):
        loop_clip(clip, 2)
    with pytest.raises(BadMotion, match="0 times"):
        loop_clip(clip, 0)
