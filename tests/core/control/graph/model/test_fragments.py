# SPDX-License-Identifier: GPL-3.0-or-later
"""Fragments stand in frames of their own, and laid out one after the other they are one motion."""

import numpy as np
import pytest

from sinew.core.body.poses import link_transforms
from sinew.core.body.servos import servo_torques
from sinew.core.control.graph.model.chains import skill_motion
from sinew.core.control.graph.model.fragments import (
    concatenate_fragments,
    fragment_reference,
    hold_pose_targets,
    to_fragment_frame,
    walk_reference,
)
from sinew.core.control.tracking.facing import facing_direction, rotate_about_z, rotate_pose_about_z, upright_rotation
from sinew.core.control.tracking.reference import CONTROL_FPS, FRAGMENT_STEPS

CYCLE = list(range(12))


@pytest.fixture(scope="module")
def track(town):
    return town[2]


def accelerations(body, qpos):
    """(T - 2,) m/s² of the link that is jerked most."""
    pos = link_transforms(body, qpos)[0]
    return np.linalg.norm(np.diff(pos, 2, axis=0), axis=-1).max(1) * CONTROL_FPS**2


def test_every_fragment_begins_above_the_origin_facing_ahead(track):
    assert track.qpos[:, 0, :2] == pytest.approx(0.0, abs=1e-12)
    lying = track.qpos[:, 0, 2] < 0.5  # which way is ahead for who lies
    faces = facing_direction(track.qpos[:, 0, 3:7], upright_rotation(track.body))
    assert faces[~lying] == pytest.approx(np.tile([1.0, 0.0, 0.0], (np.sum(~lying), 1)), abs=1e-9)


def test_faced_takes_out_place_and_heading_and_nothing_else(track):
    qpos, rates = track.qpos[3:5], track.rates[3:5]
    moved, moved_rates = rotate_pose_about_z(np.full(qpos.shape[:2], 1.9), qpos, rates)
    moved[..., :2] += [5.0, -3.0]
    back, back_rates = to_fragment_frame(moved, moved_rates, upright_rotation(track.body))
    assert back == pytest.approx(qpos, abs=1e-9) and back_rates == pytest.approx(rates, abs=1e-9)


def test_a_walk_laid_out_goes_on_without_a_seam(body, track):
    laid = concatenate_fragments(track, CYCLE * 3)
    assert len(laid.qpos) == len(laid.rates) == len(laid.targets) == 36 * FRAGMENT_STEPS + 1
    jerks = accelerations(body, laid.qpos)
    joins = np.arange(1, 36) * FRAGMENT_STEPS - 1  # the second difference across each join
    assert jerks[joins].max() < 1.2 * np.delete(jerks, joins).max()
    # Rates are those of the poses, across the joins, too.
    speed = np.diff(laid.qpos[:, :3], axis=0) * CONTROL_FPS
    assert np.abs(speed - 0.5 * (laid.rates[1:, :3] + laid.rates[:-1, :3])).max() < 0.05


@pytest.mark.parametrize("name", ["spinkick", "getup_faceup", "kick"])
def test_a_motion_that_is_cut_and_laid_out_again_is_the_motion_that_it_was(body, stock_skill, name):
    """Also one that turns right round, and one that begins lying."""
    moments = skill_motion(body, stock_skill(name))
    track = moments.segment(body)
    laid = concatenate_fragments(track, np.arange(len(track)))
    qpos, rates = to_fragment_frame(moments.qpos, moments.rates, upright_rotation(body))
    assert link_transforms(body, laid.qpos)[0] == pytest.approx(link_transforms(body, qpos)[0], abs=1e-6)
    assert laid.rates == pytest.approx(rates, abs=1e-6)
    assert np.array_equal(laid.targets[1:], moments.targets[1:])


def test_a_walk_laid_out_gets_as_far_as_the_clip_does(body, track, stock_skill):
    clip = stock_skill("walk").clip
    went = np.linalg.norm(clip.local_pos[-1, 0, :2] - clip.local_pos[0, 0, :2])
    laid = concatenate_fragments(track, CYCLE * 3)
    steps = np.linalg.norm(laid.qpos[-1, :2] - laid.qpos[0, :2])
    assert steps == pytest.approx(3.0 * went, rel=0.05)


def test_frames_of_fragments_bring_them_to_where_they_are(track):
    walk = [0, 1, 2, 7, 8, 9]
    laid = concatenate_fragments(track, walk)
    for index, (fragment, heading, place) in enumerate(zip(walk, laid.headings, laid.places, strict=True)):
        own = laid.qpos[FRAGMENT_STEPS * index + 1 : FRAGMENT_STEPS * (index + 1) + 1]
        assert own[:, :2] == pytest.approx(
            rotate_about_z(np.array(heading), track.qpos[fragment, 1:, :3])[:, :2] + place, abs=1e-9
        )
        assert own[:, 2] == pytest.approx(track.qpos[fragment, 1:, 2], abs=1e-12)


def test_references_show_every_fragment_at_its_frames(body, track, world_of):
    world = world_of(body, 16)
    reference = fragment_reference(track, world)
    some = np.array([0, 5, 40])
    assert np.array_equal(reference.qpos[reference.frame_before(some)], track.qpos[some, 0])
    assert np.array_equal(reference.qpos[reference.frames_of_many(some)], track.qpos[some, 1:])
    assert np.array_equal(reference.targets[reference.frames_of_many(some)], track.targets[some])
    seen = reference.rows.link_pos[0, reference.frames_of_many(some)]
    assert seen[:, :, 0] == pytest.approx(track.qpos[some, 1:, :3], abs=1e-9)
    long, laid = walk_reference(track, [4, 5, 6], world)
    assert np.array_equal(long.qpos, laid.qpos) and long.fragments == 3


def test_targets_that_hold_poses_pull_nowhere(body, track):
    qpos = track.qpos[:2]
    held = hold_pose_targets(body, qpos)
    still = np.zeros((FRAGMENT_STEPS + 1, body.nv))
    for posed, targets in zip(qpos, held, strict=True):
        assert servo_torques(body, posed, still, targets, np.ones(len(posed))) == pytest.approx(0.0, abs=1e-6)
