# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrored clips: left for right, on skeletons whose bones are turned all ways, props and fingers included."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.clip_mirroring import ClipMirror, swap_side
from sinew.core.errors import RigError
from sinew.core.motion import Clip, Skeleton
from sinew.core.motion.plain_walk import plain_walk

from .figures import fox, person, turned, wiggling


@pytest.mark.parametrize("skeleton", [person(), turned(person(), 37.0), fox()], ids=["person", "turned", "fox"])
def test_every_bone_is_where_its_partner_would_be_in_a_mirror(skeleton):
    body, _ = build_body(skeleton)
    clip = wiggling(skeleton, 12)
    mirror = ClipMirror(body)
    image = mirror.mirror(clip)
    assert sorted(mirror.partners) == list(range(len(skeleton)))
    (heads, _), (images, _) = clip.world(), image.world()
    across = heads[0, mirror.partners] - heads[0]
    assert np.abs(across).max() > 0.1
    # A mirror keeps distances: between all bones of a frame, and over the ground.
    for frame in (0, 7):
        apart = np.linalg.norm(heads[frame, :, None] - heads[frame, None], axis=-1)
        swapped = images[frame, mirror.partners]
        np.testing.assert_allclose(np.linalg.norm(swapped[:, None] - swapped[None], axis=-1), apart, atol=1e-6)
    np.testing.assert_allclose(images[:, mirror.partners, 2], heads[:, :, 2], atol=1e-6)


def test_left_is_right_and_twice_is_the_same():
    clip = plain_walk()
    body, _ = build_body(clip.skeleton, clip=clip)
    mirror = ClipMirror(body)
    image = mirror.mirror(clip)
    left, right = (clip.skeleton.index(f"foot.{side}") for side in "LR")
    # The walk goes along -Y with its left at +X.
    flipped = clip.world()[0][:, left] * [-1.0, 1.0, 1.0]
    np.testing.assert_allclose(image.world()[0][:, right], flipped, atol=1e-9)
    back = mirror.mirror(image)
    np.testing.assert_allclose(back.local_pos, clip.local_pos, atol=1e-12)
    np.testing.assert_allclose(back.world()[0], clip.world()[0], atol=1e-9)


def with_bones(clip: Clip, names: list[str], parents: list[str], heads: np.ndarray) -> Clip:
    """The clip with more bones, which lie still on their parents."""
    skeleton, rng = clip.skeleton, np.random.default_rng(3)
    more = [skeleton.index(parent) for parent in parents]
    still = np.tile([1.0, 0.0, 0.0, 0.0], (len(names), 1))
    longer = Skeleton(
        (*skeleton.names, *names),
        np.concatenate([skeleton.parents, more]),
        np.concatenate([skeleton.rest_pos, heads]),
        np.concatenate([skeleton.rest_quat_wxyz, still]),
        np.concatenate([skeleton.lengths, np.full(len(names), 0.05)]),
    )
    pos = np.concatenate([clip.local_pos, np.tile(heads, (len(clip), 1, 1))], axis=1)
    quat = rng.normal(size=(len(clip), len(names), 4))
    return Clip(longer, clip.fps, pos, np.concatenate([clip.local_quat_wxyz, quat], axis=1), clip.name)


def test_fingers_change_sides_and_a_prop_without_a_counterpart_keeps_its_own():
    clip = plain_walk().frames(0, 10)
    heads = np.array([[0.0, 0.3, 0.02], [0.0, 0.3, 0.02], [0.0, 0.5, 0.4]])
    clip = with_bones(clip, ["LeftThumb", "RightThumb", "sword"], ["forearm.L", "forearm.R", "forearm.R"], heads)
    body, _ = build_body(clip.skeleton, clip=clip)
    mirror = ClipMirror(body)
    thumbs = [clip.skeleton.index(name) for name in ("LeftThumb", "RightThumb")]
    assert mirror.partners[thumbs].tolist() == thumbs[::-1]
    sword = clip.skeleton.index("sword")
    assert mirror.partners[sword] == -1
    image = mirror.mirror(clip)
    assert np.array_equal(image.local_quat_wxyz[:, sword], clip.local_quat_wxyz[:, sword])
    assert not np.allclose(np.abs(image.local_quat_wxyz[:, thumbs[1]]), np.abs(clip.local_quat_wxyz[:, thumbs[1]]))


def test_a_body_of_two_different_sides_is_refused():
    skeleton = person()
    pos = np.array(skeleton.rest_pos)
    pos[skeleton.index(next(name for name in skeleton.names if "shin" in name.lower() or "leg" in name.lower()))] *= 2.0
    body, _ = build_body(replace(skeleton, rest_pos=pos))
    with pytest.raises(RigError, match="not symmetric"):
        ClipMirror(body)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("LeftHand", "RightHand"),
        ("mixamorig:RightArm", "mixamorig:LeftArm"),
        ("hand.L", "hand.R"),
        ("l_hand", "r_hand"),
        ("LHipJoint", "RHipJoint"),
        ("LowerBack", "LowerBack"),
        ("Root", "Root"),
    ],
)
def test_names_of_the_other_side(name, other):
    assert swap_side(name) == other
