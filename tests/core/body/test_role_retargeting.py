# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions on another skeleton: parts turn alike, feet stay where they stand, and sizes are the target's own."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.role_retargeting import retarget_clip
from sinew.core.body.style_proposals import measure_hip_height
from sinew.core.control.tracking.library_building import bring_onto_body
from sinew.core.errors import RigError
from sinew.core.motion import Clip, Skeleton
from sinew.core.motion.plain_walk import plain_walk

from .figures import fox, person, turned


@pytest.fixture(scope="module")
def walk():
    return plain_walk(2.2, 60.0)


@pytest.fixture(scope="module")
def walker(walk):
    return build_body(walk.skeleton, clip=walk)[0]


def heads(body, clip, role):
    """(T, 3) each, left and right."""
    bones = [next(link.bone for link in body.links if (link.role, link.side) == (role, side)) for side in "LR"]
    return [clip.world()[0][:, clip.skeleton.index(bone)] for bone in bones]


@pytest.mark.parametrize("skeleton", [person(), turned(person(), 70.0)], ids=["person", "turned"])
def test_a_walk_stays_a_walk_on_another_skeleton(walker, walk, skeleton):
    target = build_body(skeleton)[0]
    moved = retarget_clip(walker, walk, target)
    assert moved.skeleton is skeleton
    ratio = measure_hip_height(target) / measure_hip_height(walker)
    # It goes the same way, as far as its legs are long.
    for one, other in zip(heads(walker, walk, "foot"), heads(target, moved, "foot"), strict=True):
        np.testing.assert_allclose(other[:, :2], ratio * one[:, :2], atol=0.02)
    # Limbs point where those of the source do.
    for role, end in (("thigh", "shin"), ("upper_arm", "forearm")):
        ways = []
        for body, clip in ((walker, walk), (target, moved)):
            way = heads(body, clip, end)[0] - heads(body, clip, role)[0]
            ways.append(way / np.linalg.norm(way, axis=-1, keepdims=True))
        assert np.degrees(np.arccos(np.clip((ways[0] * ways[1]).sum(-1), -1.0, 1.0))).max() < 15.0
    # Bones keep their lengths.
    rest = np.broadcast_to(skeleton.rest_pos[1:], moved.local_pos[:, 1:].shape)
    np.testing.assert_allclose(moved.local_pos[:, 1:], rest, atol=1e-6)


def test_feet_that_stand_in_the_source_stand_in_the_result(walker, walk):
    target = build_body(person())[0]
    moved = retarget_clip(walker, walk, target)
    ankle, other = heads(walker, walk, "foot")[0], heads(target, moved, "foot")[0]
    stands = np.linalg.norm(np.diff(ankle, axis=0), axis=-1) < 1e-4
    assert stands.sum() > 20
    assert np.linalg.norm(np.diff(other, axis=0), axis=-1)[stands].max() < 1e-3


def test_the_same_bones_are_copied(walker, walk):
    assert np.array_equal(bring_onto_body(walker, walk).local_quat_wxyz, walk.local_quat_wxyz)
    # One of another size with the same bones: all rotations but those of the legs, which must reach the ground.
    skeleton = walk.skeleton
    small = Skeleton(
        skeleton.names, skeleton.parents, 0.7 * skeleton.rest_pos, skeleton.rest_quat_wxyz, skeleton.lengths
    )
    clip = Clip(small, walk.fps, 0.7 * walk.local_pos, walk.local_quat_wxyz, "small")
    moved = bring_onto_body(walker, clip)
    np.testing.assert_allclose(moved.world()[0], walk.world()[0], atol=0.01)


def test_two_and_four_legs_have_nothing_in_common(walker, walk):
    quadruped = build_body(fox())[0]
    with pytest.raises(RigError, match="'Walk' stands on 2 feet, and the other character on 4"):
        retarget_clip(walker, walk, quadruped)


def test_a_skeleton_without_legs_is_refused_by_the_clip_s_name(walker):
    skeleton = Skeleton(
        ("a", "b"), np.array([-1, 0]), np.array([[0.0, 0.0, 1.0], [0.0, 0.2, 0.0]]), np.eye(4)[[0, 0]], np.full(2, 0.2)
    )
    still = Clip(skeleton, 30.0, np.tile(skeleton.rest_pos, (9, 1, 1)), np.tile(skeleton.rest_quat_wxyz, (9, 1, 1)))
    with pytest.raises(RigError, match="'snake' cannot be brought onto the library's character"):
        bring_onto_body(walker, replace(still, name="snake"))


def test_the_trunk_turns_with_the_source(walker, walk):
    target = build_body(person())[0]
    moved = retarget_clip(walker, walk, target)
    across = [np.subtract(*heads(body, clip, "upper_arm")) for body, clip in ((walker, walk), (target, moved))]
    headings = [np.unwrap(np.arctan2(way[:, 1], way[:, 0])) for way in across]
    assert np.abs(headings[0] - headings[1]).max() < np.radians(10.0)
