# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from sinew.core.body.poses import link_transforms, pose_of_clip, targets_of_pose
from sinew.core.control.bounds.observations import measure_kinematics, place_at_origin
from sinew.core.control.bounds.reference_trajectory import CONTROL_FPS, FILM_STEPS, make_reference_trajectory
from sinew.core.control.tracking.facing import rotate_about_z
from sinew.core.errors import BadMotion
from sinew.core.geometry.quaternions import angle_between
from sinew.core.motion.io import stock


def test_a_walk_lasts_as_long_as_its_clip_and_begins_where_that_stands(body, walk):
    clip = stock.load_stock("walk")
    first = pose_of_clip(body, clip)[0][0]
    assert walk.cyclic
    assert walk.steps == round(clip.duration_s * CONTROL_FPS)
    np.testing.assert_allclose(walk.qpos[0, :2], first[:2], atol=1e-9)
    assert angle_between(walk.qpos[0, 3:7], first[3:7]) < 0.05


@pytest.mark.parametrize("name", ["walk", "cartwheel", "roll"])
def test_a_cycle_ends_as_it_begins_one_cycle_further(reference_of, name):
    reference = reference_of(name)
    further = rotate_about_z(np.array(reference.cycle_turn), reference.qpos[:1, :3])[0, :2] + reference.cycle_shift
    np.testing.assert_allclose(reference.qpos[-1, :2], further, atol=1e-9)
    assert abs(reference.cycle_turn) <= np.pi
    joints = reference.pose_space.difference(reference.qpos[0], reference.qpos[-1])[6:]
    assert np.abs(joints).max() < 0.15
    np.testing.assert_allclose(reference.com[-1, 2], reference.com[0, 2], atol=0.03)


def test_who_walks_straight_on_is_not_made_to_veer_at_every_seam(reference_of):
    walk = reference_of("walk")
    assert abs(walk.cycle_turn) < 0.02  # the clip's own ends differ by 7 degrees
    first, last = (
        np.arctan2(*velocity[:2]) for velocity in (walk.com_velocity[:6].sum(0), walk.com_velocity[-6:].sum(0))
    )
    assert abs((first - last + np.pi) % (2.0 * np.pi) - np.pi) < 0.1
    dance = reference_of("dance_a")
    assert abs(dance.cycle_turn) > 0.2  # this one is meant to


def test_what_does_not_end_as_it_begins_is_no_cycle(reference_of):
    kick = reference_of("kick")
    assert not kick.cyclic
    assert kick.cycle_turn == 0.0
    assert not kick.cycle_shift.any()
    assert kick.times_s[0] == 0.0
    with pytest.raises(BadMotion, match="is not a cycle"):
        make_reference_trajectory(kick.body, stock.load_stock("kick"), cyclic=True)


def test_a_clip_of_few_frames_has_no_corners(reference_of):
    flip = reference_of("backflip")  # 16 frames a second
    arm = next(i for i, link in enumerate(flip.body.links) if link.bone == "upper_arm.L")
    rates = flip.qvel[:, flip.body.qvel_starts[arm] : flip.body.qvel_starts[arm + 1]]
    assert np.linalg.norm(rates, axis=1).max() < 26.0  # with straight lines between the frames 31
    plain = stock.load_stock("backflip").world()[0]
    moved = [link_transforms(flip.body, flip.qpos)[0][:, 0, 2].max(), plain[:, 0, 2].max()]
    assert moved[0] == pytest.approx(moved[1], abs=0.1)


def test_a_blink_is_too_short(body):
    with pytest.raises(BadMotion, match="too short"):
        make_reference_trajectory(body, stock.load_stock("kick").frames(0, 4), cyclic=False)


def test_velocities_of_the_centre_of_mass_are_how_it_moves(reference_of):
    reference = reference_of("run")
    moved = np.gradient(reference.com, 1.0 / CONTROL_FPS, axis=0)
    np.testing.assert_allclose(reference.com_velocity[2:-2], moved[2:-2], atol=0.35)
    assert np.linalg.norm(reference.com_velocity[:, :2], axis=1).mean() > 2.5


def test_targets_that_are_aimed_ahead_are_followed_more_closely(reference_of, world_of):
    reference = reference_of("spinkick")
    world, at = world_of(8), np.arange(4, 12)
    held = targets_of_pose(reference.body, reference.film_qpos)[1:].reshape(reference.targets.shape)
    errors = []
    for targets in (reference.targets, held):
        states, frames = world.state_of(reference.qpos[at], reference.qvel[at]), place_at_origin(at)
        for _ in range(6):
            states, rows = world.rollout(states, targets[frames.at], substeps=120 // CONTROL_FPS // FILM_STEPS)
            states, frames = np.array(states[:, -1]), frames.advance(reference)
        seen = measure_kinematics(reference, world, states, rows, frames)
        errors.append(np.abs(seen.pose_error[:, 6:]).mean())
    assert errors[0] < 0.7 * errors[1]


def test_courses_of_different_clips_have_different_fingerprints(walk, reference_of):
    assert walk.fingerprint() == make_reference_trajectory(walk.body, stock.load_stock("walk")).fingerprint()
    assert walk.fingerprint() != reference_of("run").fingerprint()
