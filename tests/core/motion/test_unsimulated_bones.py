# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that are not simulated ride along; those that are stay where the simulation put them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.core.errors import BadMotion
from sinew.core.geometry.quaternions import angle_between
from sinew.core.motion import Clip
from sinew.core.motion.unsimulated_bones import copy_unsimulated_bones

seeds = st.integers(0, 2**32 - 2)


def moved_version(random_clip, source, seed):
    other = random_clip(seed, len(source), len(source.skeleton), source.fps)
    return Clip(source.skeleton, source.fps, other.local_pos, other.local_quat_wxyz, "moved")


@given(seeds, st.integers(1, 9), st.data())
def test_every_bone_is_where_it_belongs(random_clip, seed, bones, data):
    source = random_clip(seed, 3, bones)
    moved = moved_version(random_clip, source, seed + 7)
    simulated = data.draw(st.sets(st.sampled_from(source.skeleton.names)))
    result = copy_unsimulated_bones(source, moved, simulated)
    world_pos, world_quat = result.world()
    wanted_pos, wanted_quat = moved.world()
    for bone, name in enumerate(source.skeleton.names):
        if name in simulated:
            np.testing.assert_allclose(world_pos[:, bone], wanted_pos[:, bone], atol=1e-9)
            assert angle_between(world_quat[:, bone], wanted_quat[:, bone]).max() < 1e-9
        else:
            np.testing.assert_allclose(result.local_pos[:, bone], source.local_pos[:, bone], atol=1e-9)
            assert angle_between(result.local_quat_wxyz[:, bone], source.local_quat_wxyz[:, bone]).max() < 1e-9


def test_fingers_keep_their_own_motion_on_an_arm_that_was_moved(random_clip):
    base = random_clip(11, 5, 4)
    skeleton = type(base.skeleton)(
        ("arm", "hand", "finger", "prop"),
        np.array([-1, 0, 1, -1]),
        base.skeleton.rest_pos,
        base.skeleton.rest_quat_wxyz,
        base.skeleton.lengths,
    )
    source = Clip(skeleton, 30.0, base.local_pos, base.local_quat_wxyz)
    moved = moved_version(random_clip, source, 12)
    result = copy_unsimulated_bones(source, moved, {"arm", "hand"})
    np.testing.assert_allclose(result.local_quat_wxyz[:, 2], source.local_quat_wxyz[:, 2], atol=1e-12)
    # The finger went with the hand, so in the world it is somewhere else than before.
    assert np.abs(result.world()[0][:, 2] - source.world()[0][:, 2]).max() > 0.1
    # A root that is not simulated has no parent to ride on: it stays where it was.
    np.testing.assert_allclose(result.world()[0][:, 3], source.world()[0][:, 3], atol=1e-12)


def test_all_simulated_is_the_moved_clip_and_none_the_source(random_clip):
    source = random_clip(3, 4, 5)
    moved = moved_version(random_clip, source, 4)
    everything = copy_unsimulated_bones(source, moved, source.skeleton.names)
    np.testing.assert_allclose(everything.local_pos, moved.local_pos, atol=1e-12)
    nothing = copy_unsimulated_bones(source, moved, ())
    np.testing.assert_allclose(nothing.local_pos, source.local_pos, atol=1e-12)
    assert nothing.name == "moved"


def test_clips_that_do_not_fit_are_refused(random_clip):
    source = random_clip(3, 4, 5)
    for other in (random_clip(3, 3, 5), random_clip(3, 4, 5, 60.0), random_clip(3, 4, 4)):
        with pytest.raises(BadMotion, match="differ"):
            copy_unsimulated_bones(source, other, ())


def test_an_unknown_bone_is_refused_by_name(random_clip):
    source = random_clip(3, 4, 2)
    with pytest.raises(BadMotion, match="no bone 'tail'"):
        copy_unsimulated_bones(source, source, ("bone 0", "tail"))
