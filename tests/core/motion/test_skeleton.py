# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons refuse what cannot be one; kinematics forward and back is the identity and agrees with scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sinew.core.errors import BadMotion
from sinew.core.geometry.quaternions import angle_between
from sinew.core.motion import Skeleton
from sinew.core.motion.skeleton import to_local, to_world

seeds = st.integers(0, 2**32 - 2)


def parts(**changes):
    sound = {
        "names": ("hips", "spine", "head"),
        "parents": np.array([-1, 0, 1]),
        "rest_pos": np.zeros((3, 3)),
        "rest_quat_wxyz": np.tile([1.0, 0.0, 0.0, 0.0], (3, 1)),
        "lengths": np.ones(3),
    }
    return sound | changes


@given(seeds, st.integers(1, 8), st.integers(1, 4))
def test_to_local_undoes_to_world(random_clip, seed, bones, frames):
    clip = random_clip(seed, frames, bones)
    pos, quat = to_world(clip.skeleton.parents, clip.local_pos, clip.local_quat_wxyz)
    local_pos, local_quat = to_local(clip.skeleton.parents, pos, quat)
    np.testing.assert_allclose(local_pos, clip.local_pos, atol=1e-12)
    np.testing.assert_allclose(local_quat, clip.local_quat_wxyz, atol=1e-12)


@given(seeds, st.integers(1, 8))
def test_to_world_is_the_product_of_matrices_down_the_chain(random_skeleton, seed, bones):
    skeleton = random_skeleton(seed, bones)
    pos, quat = skeleton.rest_world()
    worlds = []
    for bone, parent in enumerate(skeleton.parents):
        local = np.eye(4)
        local[:3, :3] = Rotation.from_quat(skeleton.rest_quat_wxyz[bone, [1, 2, 3, 0]]).as_matrix()
        local[:3, 3] = skeleton.rest_pos[bone]
        worlds.append(local if parent < 0 else worlds[parent] @ local)
        np.testing.assert_allclose(pos[bone], worlds[bone][:3, 3], atol=1e-12)
        wanted = Rotation.from_matrix(worlds[bone][:3, :3]).as_quat()[[3, 0, 1, 2]]
        assert angle_between(quat[bone], wanted) < 1e-12


def test_a_skeleton_without_bones_is_refused():
    with pytest.raises(BadMotion, match="no bones"):
        Skeleton((), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 4)), np.zeros(0))


def test_two_bones_of_one_name_are_refused_by_name():
    with pytest.raises(BadMotion, match="Two bones are called 'hips'") as caught:
        Skeleton(**parts(names=("hips", "spine", "hips")))
    assert "Rename" in caught.value.hint


@pytest.mark.parametrize(("parents", "bone"), [([-1, 2, 0], "spine"), ([0, -1, 1], "hips"), ([-1, 0, -2], "head")])
def test_a_child_before_its_parent_is_refused_by_name(parents, bone):
    with pytest.raises(BadMotion, match=f"'{bone}' comes before its parent"):
        Skeleton(**parts(parents=np.array(parents)))


@pytest.mark.parametrize(
    ("name", "shape"), [("parents", (2,)), ("rest_pos", (3, 2)), ("rest_quat_wxyz", (3, 3)), ("lengths", (3, 1))]
)
def test_a_wrong_shape_is_refused_by_name(name, shape):
    with pytest.raises(BadMotion, match=f"{name} has shape"):
        Skeleton(**parts(**{name: np.zeros(shape)}))


@pytest.mark.parametrize("name", ["rest_pos", "rest_quat_wxyz", "lengths"])
def test_a_value_that_is_no_number_is_refused_with_its_bone(name):
    broken = np.array(parts()[name])
    broken[1] = np.nan
    with pytest.raises(BadMotion, match=f"{name} of bone 'spine'"):
        Skeleton(**parts(**{name: broken}))


def test_arrays_are_copies_and_read_only():
    rest = np.zeros((3, 3))
    skeleton = Skeleton(**parts(rest_pos=rest))
    rest[0] = 7.0
    assert not skeleton.rest_pos.any()
    for array in (skeleton.parents, skeleton.rest_pos, skeleton.rest_quat_wxyz, skeleton.lengths):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_rest_rotations_become_units():
    skeleton = Skeleton(**parts(rest_quat_wxyz=np.tile([2.0, 0.0, 0.0, 0.0], (3, 1))))
    np.testing.assert_array_equal(skeleton.rest_quat_wxyz[2], [1.0, 0.0, 0.0, 0.0])


def test_bones_are_found_by_name_and_by_parent():
    skeleton = Skeleton(**parts(parents=np.array([-1, 0, 0])))
    assert skeleton.index("head") == 2
    assert skeleton.children(0) == [1, 2]
    assert skeleton.children(1) == []
    with pytest.raises(BadMotion, match="no bone 'tail'") as caught:
        skeleton.index("tail")
    assert "spine" in caught.value.hint


def test_same_bones_means_names_and_hierarchy():
    skeleton = Skeleton(**parts())
    assert skeleton.same_bones(Skeleton(**parts(lengths=np.full(3, 2.0))))
    assert not skeleton.same_bones(Skeleton(**parts(parents=np.array([-1, 0, 0]))))
    assert not skeleton.same_bones(Skeleton(**parts(names=("hips", "spine", "skull"))))
