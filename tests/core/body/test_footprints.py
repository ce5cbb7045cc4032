# SPDX-License-Identifier: GPL-3.0-or-later
"""Footprints of one clip on another: feet stand where they are told, and swing as they did."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body.footprints import copy_footprints
from sinew.core.body.leg_ik import find_legs
from sinew.core.geometry.quaternions import angle_between, from_rotation_vector, multiply

from .stepping import FPS, INSIDE, STANDS, TIME, along, foot_path, glided, moved, on_feet, same, standing_man, stepping


@pytest.fixture(scope="module")
def man():
    return standing_man()


def test_a_foot_stands_where_the_other_clip_has_it_and_swings_as_it_did(man):
    body, still = man
    told = moved(body, still, {0: stepping(0.0)})
    own = glided(told, along(0.01 * np.sin(3.0 * TIME)))
    clip = copy_footprints(body, own, told, on_feet(body, told, STANDS))
    there, was, wanted = (foot_path(body, each, 0) for each in (clip, own, told))
    assert np.abs(was[INSIDE] - wanted[INSIDE]).max() > 5e-3
    assert np.abs(there[INSIDE] - wanted[INSIDE]).max() < 1e-4
    away = (TIME < 0.3) | (TIME > 1.5)
    np.testing.assert_array_equal(clip.local_quat_wxyz[away], own.local_quat_wxyz[away])
    np.testing.assert_array_equal(clip.local_pos, own.local_pos)
    # The other leg does not stand and stays.
    np.testing.assert_allclose(foot_path(body, clip, 1), foot_path(body, own, 1), atol=1e-12)


def test_it_also_lies_as_it_does_there(man):
    body, still = man
    told = moved(body, still, {0: stepping(0.0)})
    own = glided(told, along(0.01 * np.sin(3.0 * TIME)))
    clip = copy_footprints(body, own, told, on_feet(body, told, STANDS))
    for link in (link for link in body.links if link.role == "foot"):
        bone = clip.skeleton.index(link.bone)
        apart = angle_between(clip.world()[1][INSIDE, bone], told.world()[1][INSIDE, bone])
        assert apart.max() < 1e-3


def test_toes_lie_as_they_do_there_while_the_foot_rolls_off():
    """They have soles of their own: bent otherwise, they would slide beside a foot that stands."""
    body, still = standing_man(toes=True)
    told = moved(body, still, {0: stepping(0.0)})
    bone = told.skeleton.index(next(link.bone for link in body.links if link.role == "toe" and link.side == "L"))
    assert told.skeleton.parents[bone] == find_legs(body, told.skeleton)[0].foot
    local = np.array(told.local_quat_wxyz)
    local[:, bone] = multiply(local[:, bone], from_rotation_vector([0.3, 0.0, 0.0]))
    own = replace(told, local_quat_wxyz=local)
    clip = copy_footprints(body, own, told, on_feet(body, told, STANDS))
    inside = angle_between(clip.local_quat_wxyz[INSIDE, bone], told.local_quat_wxyz[INSIDE, bone])
    assert inside.max() < 1e-6
    away = (TIME < 0.3) | (TIME > 1.5)
    np.testing.assert_array_equal(clip.local_quat_wxyz[away], own.local_quat_wxyz[away])


def test_nothing_jumps_where_a_stance_begins_and_ends(man):
    body, still = man
    told = moved(body, still, {0: stepping(0.0)})
    own = glided(told, along(0.01 * np.sin(3.0 * TIME)))
    clip = copy_footprints(body, own, told, on_feet(body, told, STANDS))
    speed = np.abs(np.diff(foot_path(body, clip, 0) - foot_path(body, told, 0), axis=0)).max() * FPS
    assert speed < 0.3  # a centimetre over the twentieth of a second in which one way fades into the other


def test_who_never_stands_keeps_every_bit(man):
    body, still = man
    own = glided(still, along(0.01 * np.sin(3.0 * TIME)))
    assert same(copy_footprints(body, own, still, on_feet(body, still)), own)
