# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip of few poses has those of the clip, straight ways between them, and is as long."""

import numpy as np
import pytest

from sinew.bench.bounds.keyframing import keep_few_poses
from sinew.core.errors import BadMotion
from sinew.core.geometry.quaternions import from_rotation_vector, to_rotation_vector
from sinew.core.motion import Clip, Skeleton


@pytest.fixture
def bow() -> Clip:
    """A bone that rises and swings, 9 frames."""
    t = np.linspace(0.0, 1.0, 9)
    skeleton = Skeleton(("root",), np.array([-1]), np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]), np.ones(1))
    pos = np.stack([t, 0.0 * t, t * (1.0 - t)], axis=-1)[:, None]
    return Clip(skeleton, 8.0, pos, from_rotation_vector(np.stack([t**2, 0.0 * t, 0.0 * t], axis=-1))[:, None], "bow")


def test_the_poses_that_are_kept_are_the_clips_and_the_rest_lies_between(bow):
    found = keep_few_poses(bow, 2)
    assert (len(found), found.fps) == (len(bow), bow.fps)
    for frame in (0, 4, 8):
        np.testing.assert_allclose(found.local_pos[frame], bow.local_pos[frame], atol=1e-12)
    turns = to_rotation_vector(found.local_quat_wxyz)[:, 0, 0]
    np.testing.assert_allclose(turns, np.interp(np.arange(9), [0, 4, 8], [0.0, 0.25, 1.0]), atol=1e-9)
    assert found.local_pos[2, 0, 2] < bow.local_pos[2, 0, 2] - 0.05  # no arc is left


def test_no_poses_and_all_poses_are_no_blocking(bow):
    for poses in (1, 9):
        with pytest.raises(BadMotion, match="poses"):
            keep_few_poses(bow, poses)
