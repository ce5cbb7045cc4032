# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb whose keys were lost is found, and nobody who merely keeps a limb still."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body.build import build_body
from sinew.core.body.frozen_limbs import find_frozen_limbs
from sinew.core.control.tracking.source_preparation import prepare_source
from sinew.core.motion.io import stock


def frozen(clip, *bones):
    quats = np.array(clip.local_quat_wxyz)
    for bone in bones:
        quats[:, clip.skeleton.index(bone)] = quats[0, clip.skeleton.index(bone)]
    return replace(clip, local_quat_wxyz=quats)


@pytest.fixture(scope="module")
def walk():
    return stock.load_stock("walk")


def test_a_thigh_that_never_turns_is_found(walk):
    (found,) = find_frozen_limbs(frozen(walk, "thigh.R"))
    assert (found.bone, found.other, found.below) == ("thigh.R", "thigh.L", "shin.R")
    assert "'thigh.R' never turns" in found.message
    body, _ = build_body(walk.skeleton, clip=walk)
    findings = prepare_source(body, frozen(walk, "thigh.R"))[1].findings
    assert [one.kind for one in findings if one.kind.startswith("needs_")] == ["needs_motion"]


def test_sound_motion_and_limbs_kept_still_are_left_alone(walk):
    assert find_frozen_limbs(walk) == ()
    assert find_frozen_limbs(frozen(walk, "upper_arm.R", "forearm.R")) == ()  # an arm in a sling
    for name in ("kick", "punch", "getup_faceup"):
        assert find_frozen_limbs(stock.load_stock(name)) == ()
