# SPDX-License-Identifier: GPL-3.0-or-later
"""One gait becomes another stride by stride: as fast as its mixture goes, on feet that do not slide."""

import numpy as np
import pytest

from sinew.core.body.pose_space import PoseSpace
from sinew.core.body.poses import link_transforms
from sinew.core.control.graph.model.fragments import concatenate_fragments
from sinew.core.control.graph.transitions.footskate_cleanup import link_heights
from sinew.core.control.graph.transitions.gait_blending import GaitCycle, blend_gaits
from sinew.core.control.tracking.facing import rotate_pose_about_z
from sinew.core.control.tracking.reference import CONTROL_FPS

MARGIN = 4


@pytest.fixture(scope="module")
def gait(town):
    """By name a gait from one left step to the next."""
    _, structure, track = town

    def of(name: str) -> GaitCycle:
        chain = structure.chain(name)
        return GaitCycle(concatenate_fragments(track, np.roll(chain.fragments, -chain.touch)).qpos)

    return of


@pytest.fixture(scope="module", params=[("walk", "run"), ("run", "walk")], ids=["faster", "slower"])
def blend(request, body, gait):
    """Source, target, poses from the one to the other, and how many fragments these are."""
    source, target = (gait(name) for name in request.param)
    return source, target, *blend_gaits(body, source, target, MARGIN)


def speeds(qpos: np.ndarray) -> np.ndarray:
    """(T - 1,) metres a second over the ground."""
    return np.linalg.norm(np.diff(qpos[:, :2], axis=0), axis=1) * CONTROL_FPS


def sliding(body, qpos: np.ndarray) -> np.ndarray:
    """(T - 1,) metres a second of the foot that is lower, where it is on the ground; 0 in flight."""
    feet = [index for index, link in enumerate(body.links) if link.role == "foot"]
    pos = link_transforms(body, qpos)[0][:, feet]
    heights = link_heights(body, qpos)[:, feet]
    low = np.argmin(heights[1:] + heights[:-1], axis=1)
    moved = np.linalg.norm(np.diff(pos[..., :2], axis=0), axis=-1) * CONTROL_FPS
    down = np.maximum(heights[1:], heights[:-1]).min(axis=1) < 0.02
    return np.where(down, moved[np.arange(len(low)), low], 0.0)


def test_a_gait_knows_how_long_and_how_fast_it_is(gait):
    walk, run = gait("walk"), gait("run")
    assert walk.seconds == pytest.approx(1.2) and run.seconds == pytest.approx(0.8)
    assert walk.speed == pytest.approx(1.2, abs=0.2) and run.speed > 2.0 * walk.speed
    spot = run.in_place()
    assert spot[[0, -1], :2] == pytest.approx(0.0, abs=1e-9) and np.abs(spot[:, :2]).max() < 0.15


def test_it_begins_as_the_one_and_ends_as_the_other(body, blend):
    source, target, poses, count = blend
    assert len(poses) == 6 * count + 1 + 2 * MARGIN
    space = PoseSpace(body)
    for gait, pose in ((source, poses[MARGIN]), (target, poses[-MARGIN - 1])):
        off = space.difference(gait.in_place()[0], pose)
        assert np.abs(off[2:]).max() < 0.02  # radians, and metres of height; wherever it is by then


def test_two_strides_take_as_long_as_those_of_a_mixture(blend):
    source, target, _, count = blend
    shorter, longer = sorted((source.seconds, target.seconds))
    assert 2.0 * shorter < count / 10.0 < 2.0 * longer
    assert count / 10.0 == pytest.approx(shorter + longer, rel=0.15)


def test_it_speeds_up_or_slows_down_all_the_while(blend):
    source, target, poses, _ = blend
    own = np.interp(np.arange(len(poses) - 1), [MARGIN, len(poses) - MARGIN - 2], [source.speed, target.speed])
    smooth = np.convolve(speeds(poses), np.ones(24) / 24.0, "valid")  # a pelvis goes to and fro with each step
    assert np.abs(smooth - np.convolve(own, np.ones(24) / 24.0, "valid")).max() < 0.25 * abs(
        target.speed - source.speed
    )
    ends = smooth[[0, -1]]
    assert np.sign(ends[1] - ends[0]) == np.sign(target.speed - source.speed)


def test_nothing_jumps_and_nothing_sinks(body, blend):
    source, target, poses, _ = blend
    usual = max(
        np.abs(np.diff(PoseSpace(body).difference(gait.qpos[:-1], gait.qpos[1:]), axis=0)).max() for gait in blend[:2]
    )
    jerks = np.abs(np.diff(PoseSpace(body).difference(poses[:-1], poses[1:]), axis=0)).max()
    assert jerks < 1.3 * usual
    lowest = min(link_heights(body, gait.qpos).min() for gait in (source, target))
    assert link_heights(body, poses).min() > lowest - 0.01


def test_feet_slide_hardly_more_than_in_the_gaits_themselves(body, blend):
    source, target, poses, _ = blend
    own = max(np.mean(sliding(body, gait.qpos)) for gait in (source, target))
    assert np.mean(sliding(body, poses)) < own + 0.15


def test_a_gait_and_itself_is_that_gait(body, gait):
    walk = gait("walk")
    poses, count = blend_gaits(body, walk, walk, MARGIN)
    assert count == 24  # two cycles
    joints = PoseSpace(body).difference(np.tile(walk.in_place()[:-1], (2, 1)), poses[MARGIN : -MARGIN - 1])[:, 6:]
    assert np.abs(joints).max() < 0.05


def test_where_a_gait_is_and_which_way_it_faces_does_not_matter(body, gait):
    walk, run = gait("walk"), gait("run")
    away = (
        rotate_pose_about_z(np.full(len(run.qpos), 2.2), run.qpos, np.zeros((len(run.qpos), 3)))[0]
        + np.eye(1, body.nq)[0] * 7.0
    )
    plain, moved = blend_gaits(body, walk, run, MARGIN)[0], blend_gaits(body, walk, GaitCycle(away), MARGIN)[0]
    assert PoseSpace(body).difference(plain, moved) == pytest.approx(np.zeros((len(plain), body.nv)), abs=1e-6)
