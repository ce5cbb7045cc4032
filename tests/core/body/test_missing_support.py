# SPDX-License-Identifier: GPL-3.0-or-later
"""What a clip was recorded with and lacks: made motions that need it, and sound ones that need nothing."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body.build import build_body
from sinew.core.body.clearance import put_on_floor
from sinew.core.body.missing_support import find_missing_support
from sinew.core.geometry.quaternions import conjugate, from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip
from sinew.core.motion.io import stock
from sinew.core.motion.loops import loop_clip

FPS, SECONDS = 60.0, 2.0
SKELETON = stock.stock_skeleton()


def kinds(clip, **options):
    body, _ = build_body(clip.skeleton, clip=clip)
    return [one.kind for one in find_missing_support(body, put_on_floor(body, clip)[0], **options)]


def posed(turns):
    """A clip of who stands as at rest but for bones turned about the world's X, by (T,) radians for each name.

    A turn carries what hangs on the bone along, and adds to what the bones above it turn.
    """
    count = int(SECONDS * FPS)
    rest_pos, rest_quat = SKELETON.rest_world()
    world = np.tile(rest_quat, (count, 1, 1))
    local = np.empty_like(world)
    total = np.zeros((count, len(SKELETON)))
    for bone, name in enumerate(SKELETON.names):
        parent = SKELETON.parents[bone]
        total[:, bone] = turns.get(name, 0.0) + (total[:, parent] if parent >= 0 else 0.0)
        about = np.zeros((count, 3))
        about[:, 0] = total[:, bone]
        world[:, bone] = multiply(from_rotation_vector(about), world[:, bone])
        local[:, bone] = multiply(conjugate(world[:, parent]), world[:, bone]) if parent >= 0 else world[:, bone]
    still = stock.load_stock("walk")
    pos = np.tile(still.local_pos[:1], (count, 1, 1))
    pos[:, 0] = rest_pos[0]
    return Clip(SKELETON, FPS, pos, local, "posed")


def bent(**turns):
    """The same, of bones on both sides, called upper_arm_L."""
    return posed({f"{name[:-2]}.{name[-1]}": turn for name, turn in turns.items()})


@pytest.mark.parametrize("name", stock.stock_names())
def test_sound_clips_need_nothing(name):
    clip = stock.load_stock(name)
    assert kinds(loop_clip(clip, 2) if name in ("walk", "run") else clip) == []


def test_a_walk_that_ends_up_in_the_air_needs_stairs():
    clip = loop_clip(stock.load_stock("walk"), 3)
    pos = np.array(clip.local_pos)
    pos[:, 0, 2] += 0.5 * np.clip(np.linspace(-0.3, 1.7, len(clip)), 0.0, 1.0)
    found = kinds(replace(clip, local_pos=pos))
    assert found == ["needs_stairs"]


def test_who_sits_on_nothing_needs_a_chair():
    assert kinds(bent(**dict.fromkeys(("thigh_L", "thigh_R"), -1.5), **dict.fromkeys(("shin_L", "shin_R"), 1.5))) == [
        "needs_support"
    ]


@pytest.mark.parametrize("alone", [True, False])
def test_who_leans_far_beyond_the_feet_needs_somebody_to_hold_on_to(alone):
    upright = posed({})
    about = np.broadcast_to([np.radians(20.0), 0.0, 0.0], (len(upright), 3))
    tilt = from_rotation_vector(about)
    pos, quat = np.array(upright.local_pos), np.array(upright.local_quat_wxyz)
    pos[:, 0], quat[:, 0] = rotate(tilt, pos[:, 0]), multiply(tilt, quat[:, 0])
    leaning = replace(upright, local_pos=pos, local_quat_wxyz=quat)
    assert kinds(leaning, alone=alone) == (["needs_partner"] if alone else [])


def test_two_hands_that_rise_as_one_need_a_load():
    time_s = np.arange(int(SECONDS * FPS)) / FPS
    rise = -1.8 * np.clip((time_s - 0.4) / 0.9, 0.0, 1.0)
    assert "needs_load" in kinds(bent(upper_arm_L=rise, upper_arm_R=rise))
    assert "needs_load" not in kinds(bent(upper_arm_L=rise, upper_arm_R=0.3 * rise))


def test_a_moment_is_too_short_to_tell():
    clip = stock.load_stock("walk")
    assert kinds(clip.frames(0, 6)) == []
