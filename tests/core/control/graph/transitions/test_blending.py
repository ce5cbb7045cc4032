# SPDX-License-Identifier: GPL-3.0-or-later
"""Blends begin as the source left off, end as the target goes on, and neither jump nor slide nor sink on the way."""

from functools import cache

import numpy as np
import pytest

from sinew.core.body.clearance import SOFT_M, floor_height
from sinew.core.body.pose_space import PoseSpace
from sinew.core.body.poses import link_transforms, pose_of_clip, velocity_of_pose
from sinew.core.control.graph.transitions.blending import align_pose, blend_transition, count_blend_fragments
from sinew.core.control.graph.transitions.distances import find_candidates
from sinew.core.control.graph.transitions.footskate_cleanup import clear_floor, link_heights
from sinew.core.control.tracking.facing import rotate_pose_about_z
from sinew.core.errors import GraphError
from sinew.core.motion.loops import loop_clip

FPS = 60.0
PAIRS = [
    ("walk", "run"),
    ("run", "walk"),
    ("walk", "dance_a"),
    ("dance_a", "walk"),
    ("walk", "kick"),
    ("kick", "walk"),
    ("getup_faceup", "walk"),
    ("getup_facedown", "walk"),
]


@pytest.fixture(scope="module")
def motion(body, stock_skill):
    """By name the poses, rates and first frame of a skill, on the ground; a cycle's second round of four."""

    @cache
    def of(name):
        skill = stock_skill(name)
        cycles = skill.kind == "cycle"
        steady = (loop_clip(skill.clip, 4) if cycles else skill.clip).resample(FPS)
        qpos, _ = pose_of_clip(body, steady)
        qpos[:, 2] -= floor_height(body, skill.clip)
        return qpos, velocity_of_pose(body, qpos, 1.0 / FPS), round(skill.duration_s * FPS) if cycles else 0

    return of


class Blend:
    """The best transition between two skills, blended: what came before, the blend, the target and what follows."""

    def __init__(self, body, motion, source, target):
        best = next(
            one
            for one in find_candidates(body, [source, target])
            if (one.transition.source, one.transition.target) == (source.name, target.name)
        )
        qpos, rates, first = motion(source.name)
        leave = min(first + round(best.transition.leave_s * FPS), len(qpos) - 1)
        self.left, self.left_rates = qpos[leave], rates[leave]
        self.before = qpos[leave - 1]
        self.from_rates = rates[leave]
        qpos, rates, first = motion(target.name)
        enter = first + round(best.transition.enter_s * FPS)
        count = min(6 * count_blend_fragments(best.distance), len(qpos) - 2 - enter)
        self.target, self.target_rates = qpos[enter : enter + count + 1], rates[enter : enter + count + 1]
        self.next = qpos[enter + count + 1]
        self.space = PoseSpace(body)
        self.qpos = blend_transition(self.space, body, self.target, self.target_rates, self.left, self.left_rates)


@pytest.fixture(params=PAIRS, ids=["-".join(pair) for pair in PAIRS])
def blend(request, body, motion, stock_skill):
    source, target = (stock_skill(name) for name in request.param)
    return Blend(body, motion, source, target)


def joints(qpos):
    """What does not depend on place and heading: the root's height and the joints, with the signs of rotations out."""
    return qpos[..., 2], np.abs(qpos[..., 7:])


def test_it_begins_as_the_source_left_off_and_ends_as_the_target_goes_on(blend):
    for one, other in zip(joints(blend.qpos[0]), joints(blend.left), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    np.testing.assert_allclose(blend.space.difference(blend.target[-1], blend.qpos[-1]), 0.0, atol=1e-9)


def test_velocities_do_not_jump(blend, body):
    """From frame to frame velocities change as they do in source and target, and not much more at the ends."""
    rates = blend.space.difference(blend.qpos[:-1], blend.qpos[1:]) * FPS
    came = blend.space.difference(blend.before, blend.left) * FPS
    goes = blend.space.difference(blend.qpos[-1], blend.next) * FPS
    own = blend.space.difference(blend.target, np.concatenate([blend.target[1:], blend.next[None]])) * FPS
    usual = np.abs(np.diff(own, axis=0)).max() + np.abs(came - blend.from_rates).max()
    limit = 2.0 * usual
    assert np.abs(rates[0] - came)[6:].max() < limit
    # The root's are in the world, and the blend may face another way.
    assert np.linalg.norm(rates[0, :2]) == pytest.approx(np.linalg.norm(blend.from_rates[:2]), abs=0.35)
    assert np.abs(goes - rates[-1]).max() < limit
    assert np.abs(np.diff(rates, axis=0)).max() < 2.0 * limit


def test_feet_stay_out_of_the_floor(blend, body):
    depth = link_heights(body, blend.qpos).min(1)
    allowed = np.minimum(link_heights(body, blend.target).min(1), link_heights(body, blend.qpos[:1]).min())
    assert np.all(depth > np.minimum(allowed, 0.0) - SOFT_M - 0.003)


def test_hinges_do_not_bend_backwards(blend, body):
    for index, link in enumerate(body.links):
        if link.joint.kind == "hinge":
            angle, meant = (qpos[:, body.qpos_starts[index]] for qpos in (blend.qpos, blend.target))
            assert angle.min() > min(link.joint.lower, meant.min(), angle[0]) - 0.05
            assert angle.max() < max(link.joint.upper, meant.max(), angle[0]) + 0.6  # legs bend to clear the floor


def test_feet_that_stand_hardly_slide(blend, body):
    """Compared with a root that goes its own way, however the legs move."""
    feet = [i for i, link in enumerate(body.links) if link.role == "foot"]

    def speeds(qpos):
        return np.linalg.norm(np.diff(link_transforms(body, qpos)[0][:, feet, :2], axis=0), axis=-1) * FPS

    low = link_heights(body, blend.target)[1:, feet] < 0.02
    low &= link_heights(body, blend.qpos)[1:, feet] < 0.02
    stands = low & (speeds(blend.target) < 0.3)
    stands[:5], stands[-5:] = False, False  # at its ends the velocity of the root is given
    assert stands.sum() > 3
    assert np.mean(speeds(blend.qpos)[stands]) < 0.6


def test_the_same_moment_elsewhere_changes_nothing(body, motion):
    qpos, rates, first = motion("walk")
    target, target_rates = qpos[first : first + 31], rates[first : first + 31]
    left, left_rates = rotate_pose_about_z(np.array(1.1), target[0], target_rates[0])
    left[:2] += [4.0, -2.0]
    space = PoseSpace(body)
    eased = blend_transition(space, body, target, target_rates, left, left_rates)
    np.testing.assert_allclose(space.difference(target, eased), 0.0, atol=1e-9)


def test_place_and_heading_of_the_source_do_not_matter(body, motion):
    qpos, rates, first = motion("run")
    target, target_rates = qpos[first : first + 31], rates[first : first + 31]
    left, left_rates = (array[motion("walk")[2]] for array in motion("walk")[:2])
    turned, turned_rates = rotate_pose_about_z(np.array(-2.0), left, left_rates)
    space = PoseSpace(body)
    one = blend_transition(space, body, target, target_rates, left, left_rates)
    other = blend_transition(space, body, target, target_rates, turned, turned_rates)
    np.testing.assert_allclose(space.difference(one, other), 0.0, atol=1e-9)


def test_a_moment_is_brought_to_where_it_fits_best(body, motion):
    qpos, rates, first = motion("walk")
    moved, moved_rates = rotate_pose_about_z(np.array(0.7), qpos[first], rates[first])
    back, back_rates = align_pose(body, moved, moved_rates, qpos[first], rates[first])
    np.testing.assert_allclose(PoseSpace(body).difference(qpos[first], back), 0.0, atol=1e-6)
    np.testing.assert_allclose(back_rates, rates[first], atol=1e-6)


def test_who_is_slower_comes_from_behind_without_catching_up(body, motion):
    """From a stand into a run, the body is never faster than the run."""
    qpos, rates, first = motion("run")
    target, target_rates = qpos[first : first + 49], rates[first : first + 49]
    stand, _, _ = motion("getup_faceup")
    eased = blend_transition(PoseSpace(body), body, target, target_rates, stand[-1], np.zeros(body.nv))
    speed, own = (np.linalg.norm(np.diff(one[:, :2], axis=0), axis=-1) * FPS for one in (eased, target))
    assert speed[0] < 0.5
    assert speed.max() < own.max() + 0.5


def test_sunken_feet_are_raised_by_the_legs_alone(body, motion):
    qpos, _, first = motion("walk")
    target = qpos[first : first + 31]
    sunk = np.array(target)
    sunk[8:23, 2] -= 0.05 * np.sin(np.linspace(0.0, np.pi, 15))
    found = clear_floor(body, sunk, target)
    depth, was = (link_heights(body, one).min(1) for one in (found, sunk))
    assert was.min() < -0.04
    assert depth.min() > np.minimum(link_heights(body, target).min(1), 0.0).min() - SOFT_M - 0.002
    np.testing.assert_array_equal(found[:, :7], sunk[:, :7])
    np.testing.assert_array_equal(found[[0, -1]], sunk[[0, -1]])
    arms = [i for i, link in enumerate(body.links) if link.role in ("upper_arm", "forearm", "head")]
    for index in arms:
        own = slice(body.qpos_starts[index], body.qpos_starts[index + 1])
        np.testing.assert_array_equal(found[:, own], sunk[:, own])


@pytest.mark.parametrize(("distance", "fragments"), [(0.0, 3), (0.1, 3), (0.2, 5), (0.3, 7), (0.35, 8), (2.0, 8)])
def test_what_is_further_takes_longer(distance, fragments):
    assert count_blend_fragments(distance) == fragments


def test_a_blend_is_no_longer_than_there_is_room(body):
    assert count_blend_fragments(0.3, room=2) == 2
    with pytest.raises(GraphError, match=r"no room for a transition.*Enter the target earlier"):
        count_blend_fragments(0.3, room=0)


@pytest.mark.parametrize("distance", [-0.1, np.nan, np.inf])
def test_a_distance_is_a_distance(distance):
    with pytest.raises(GraphError, match=r"distance is .* m"):
        count_blend_fragments(distance)


def test_moments_of_another_body_are_refused(body, motion):
    qpos, rates, first = motion("walk")
    some = slice(first, first + 19)
    with pytest.raises(GraphError, match=r"shapes .*Give poses of this body"):
        blend_transition(PoseSpace(body), body, qpos[some, :-1], rates[some], qpos[0], rates[0])
    with pytest.raises(GraphError, match="2 moments has nothing between"):
        blend_transition(PoseSpace(body), body, qpos[:2], rates[:2], qpos[0], rates[0])
