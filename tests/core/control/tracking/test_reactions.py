# SPDX-License-Identifier: GPL-3.0-or-later
"""Bracing, staggering, straying and falling are told apart by where the body goes."""

import numpy as np
import pytest

from sinew.core.body import build_body, pose_of_clip
from sinew.core.control.tracking.facing import rotate_pose_about_z
from sinew.core.control.tracking.reactions import (
    BRACES,
    FALLS,
    STAGGERS,
    STRAYS,
    SWAYS,
    Reaction,
    classify_reaction,
    is_down,
)
from sinew.core.motion.io import stock


@pytest.fixture(scope="module")
def walk():
    clip = stock.load_stock("walk")
    body, _ = build_body(clip.skeleton, clip=clip)
    return body, pose_of_clip(body, clip)[0][::6]


def led_off(qpos, metres, back=1.0):
    """The poses led aside by so much, and then back by a share of it."""
    found, rise = (
        np.array(qpos),
        np.concatenate([np.linspace(0.0, 1.0, 4), np.linspace(1.0, 1.0 - back, len(qpos) - 4)]),
    )
    found[:, 1] += metres * rise
    return found


@pytest.mark.parametrize(("metres", "kind"), [(0.1, BRACES), (0.25, SWAYS), (0.5, STAGGERS), (3.0, STRAYS)])
def test_the_way_it_is_led_off_decides(walk, metres, kind):
    body, qpos = walk
    reaction = classify_reaction(body, qpos, led_off(qpos, metres))
    assert reaction.kind == kind and reaction.peak_m == pytest.approx(metres, abs=1e-6) and reaction.noticed


def test_what_was_off_before_counts_for_nothing(walk):
    body, qpos = walk
    aside = np.array(qpos)
    aside[:, :2] += [0.4, -0.3]
    reaction = classify_reaction(body, qpos, aside)
    assert reaction.kind == BRACES and not reaction.noticed and reaction.peak_m == pytest.approx(0.0, abs=1e-9)


def test_a_body_that_goes_down_falls_whatever_it_does_after(walk):
    body, qpos = walk
    down = np.array(qpos)
    down[3:5, 2] -= 0.8
    assert classify_reaction(body, qpos, down).kind == FALLS
    assert not is_down(body, qpos, down)
    down[-3:, 2] -= 0.8
    assert is_down(body, qpos, down) and not is_down(body, qpos[:2], down[:2])


def test_one_that_walks_off_another_way_has_strayed(walk):
    body, qpos = walk
    turned = rotate_pose_about_z(np.linspace(0.0, 1.6, len(qpos)), qpos, np.zeros((len(qpos), body.nv)))[0]
    turned[:, :2] = qpos[:, :2]
    assert classify_reaction(body, qpos, turned).kind == STRAYS


def test_a_reaction_is_a_row_and_back():
    reaction = Reaction(STAGGERS, 0.4, True)
    assert Reaction.from_row(np.array(reaction.to_row())) == reaction
