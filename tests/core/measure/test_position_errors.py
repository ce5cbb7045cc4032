# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of motions that are off by a known distance."""

import numpy as np
import pytest

from sinew.core.geometry.quaternions import from_rotation_vector, rotate
from sinew.core.measure import position_errors

from .figures_seen import figure, standing


def test_a_shifted_motion_is_off_in_the_world_and_not_from_its_root():
    wanted, _ = standing(figure("foot.L", "head"), 5)
    seen = wanted + [0.3, 0.0, 0.4]
    assert position_errors.point_distances(wanted, seen) == pytest.approx(np.full((5, 3), 0.5))
    assert position_errors.root_relative_distances(wanted, seen) == pytest.approx(np.zeros((5, 2)), abs=1e-12)


def test_one_joint_off_for_one_moment():
    wanted, _ = standing(figure("foot.L", "foot.R", "hand.L", "head"), 10)
    seen = wanted.copy()
    seen[3, 2] += [0.0, 0.2, 0.0]
    mean, most = position_errors.mean_and_max(position_errors.root_relative_distances(wanted, seen))
    assert (mean, most) == pytest.approx((0.2 / 40, 0.2))


def test_the_root_itself_does_not_flatter_the_mean():
    assert position_errors.root_relative_distances(np.zeros((4, 3, 3)), np.zeros((4, 3, 3))).shape == (4, 2)
    assert position_errors.mean_and_max(
        position_errors.root_relative_distances(np.zeros((4, 1, 3)), np.zeros((4, 1, 3)))
    ) == (
        None,
        None,
    )


def test_facing_elsewhere_is_an_error():
    wanted, _ = standing(figure("hand.L", "hand.R"), 1)
    seen = rotate(from_rotation_vector(np.array([0.0, 0.0, np.pi / 2])), wanted)
    assert position_errors.root_relative_distances(wanted, seen) == pytest.approx(np.full((1, 2), 0.2 * np.sqrt(2.0)))


@pytest.mark.parametrize(
    ("parts", "ends"),
    [
        (("foot.L", "toe.L", "forearm.L", "hand.L", "head"), {"foot.L", "toe.L", "hand.L", "head"}),
        (("forearm.L", "forearm.R", "hand.R"), {"forearm.L", "hand.R"}),
        (("shin.L", "foot.L", "shin.R"), {"foot.L", "shin.R"}),
        ((), set()),
    ],
)
def test_what_ends_a_limb(parts, ends):
    body = figure(*parts)
    assert {body.links[index].bone for index in position_errors.limb_ends(body)} == ends


def test_a_hand_that_points_the_other_way_is_off_by_twice_its_length():
    body = figure("hand.L")
    pos, quat = standing(body, 3)
    turned = quat.copy()
    turned[:, 1] = from_rotation_vector(np.array([np.pi, 0.0, 0.0]))
    apart = position_errors.point_distances(
        position_errors.limb_end_positions(body, pos, quat), position_errors.limb_end_positions(body, pos, turned)
    )
    assert apart == pytest.approx(np.full((3, 1), 0.4))


def test_a_figure_without_limbs_has_no_error_of_tips():
    body = figure()
    assert position_errors.mean_and_max(position_errors.limb_end_positions(body, *standing(body, 3))) == (None, None)
