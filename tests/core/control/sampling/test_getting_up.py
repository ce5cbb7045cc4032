# SPDX-License-Identifier: GPL-3.0-or-later
"""Who fell and is to get up does, by poses that a body can hold, and rejoins its source; who cannot says why."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body.build import build_body
from sinew.core.body.poses import link_transforms, pose_of_clip, pose_of_links, targets_of_pose
from sinew.core.control.sampling.checkpoint import pack_rollout, restore_rollout
from sinew.core.control.sampling.get_up_poses import PitchedPoses, explain_cannot_rise, find_lowest, plan_key_poses
from sinew.core.control.sampling.getting_up import GetUpPlanner, find_standing
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.control.sampling.relaxing import Relaxation
from sinew.core.control.sampling.stage_character import StageCharacter
from sinew.core.control.sampling.stage_recording import describe_character
from sinew.core.control.sampling.stage_rollout import StageRollout
from sinew.core.control.tracking.reference import CONTROL_FPS, FRAGMENT_STEPS, make_reference
from sinew.core.errors import BadFile
from sinew.core.geometry.quaternions import from_rotation_vector, multiply
from sinew.core.motion.io import stock
from sinew.core.motion.loops import loop_clip
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage

from .toys import waver


@pytest.fixture(scope="module")
def walk():
    clip = loop_clip(stock.load_stock("walk"), 7)
    return clip, build_body(clip.skeleton, clip=clip)[0]


@pytest.fixture(scope="module")
def reference(walk):
    clip, body = walk
    world = engines.get_engine("mujoco").compile(Stage((Character(body),)), 20)
    made = make_reference(body, clip, world)
    yield made, world
    world.close()


def lie(body, standing, roll_deg, heading=0.7):
    """(nq,) a stiff body on the ground, rolled over from its front."""
    poses = PitchedPoses(body, standing)
    turns = poses.turn_links({"trunk": 90.0}, roll_deg)
    turns = multiply(from_rotation_vector(np.array([0.0, 0.0, heading])), turns)
    pose = pose_of_links(body, np.array([[1.0, -2.0, 0.0]]), turns[None])
    pose[:, 2] -= find_lowest(body, pose)
    return pose[0]


@pytest.mark.parametrize("roll_deg", [0.0, 100.0, 170.0, -120.0])
def test_it_knows_how_it_lies(walk, roll_deg):
    clip, body = walk
    standing = pose_of_clip(body, clip)[0][20]
    heading, roll = PitchedPoses(body, standing).describe_lying(lie(body, standing, roll_deg))
    assert heading == pytest.approx(0.7, abs=0.05) and roll == pytest.approx(roll_deg, abs=5.0)


@pytest.mark.parametrize("roll_deg", [10.0, 175.0, -90.0])
def test_the_way_up_begins_where_it_lies_stays_on_the_ground_and_ends_in_the_source(reference, roll_deg):
    made, world = reference
    body = made.body
    lying = lie(body, made.qpos[20], roll_deg, PitchedPoses(body, made.qpos[20]).heading + 0.3)
    planner = GetUpPlanner(made, None)
    get_up = planner.plan(2, (lying, np.zeros(body.nv)))
    risen = planner.make_reference(made, get_up, world)
    begin = 2 * FRAGMENT_STEPS
    np.testing.assert_array_equal(risen.qpos[:begin], made.qpos[:begin])
    np.testing.assert_array_equal(risen.qpos[begin], lying)
    assert len(risen.qpos) == len(made.qpos)
    rising = risen.qpos[begin : get_up.rejoins + 1]
    assert np.abs(find_lowest(body, rising)).max() < 0.03  # a walk's feet are as deep in the ground
    # No joint and no root jumps, and the joints end as the source has them.
    assert np.abs(made.space.difference(rising[:-1], rising[1:])).max() < 0.3
    np.testing.assert_allclose(risen.qpos[get_up.rejoins, 7:], made.qpos[get_up.rejoins, 7:], atol=1e-6)
    np.testing.assert_allclose(risen.qpos[get_up.rejoins, 2], made.qpos[get_up.rejoins, 2], atol=0.01)
    # Having turned back to the source's heading it goes where the source goes.
    np.testing.assert_allclose(risen.rates[-6:-1, :2], made.rates[-6:-1, :2], atol=0.02)
    pelvis = link_transforms(body, rising)[0][:, 0, 2]
    assert pelvis[0] < 0.25 and pelvis[-1] > 0.7


def test_nobody_rolls_over_who_lies_on_the_front():
    assert len(plan_key_poses(170.0)) == len(plan_key_poses(-170.0)) == len(plan_key_poses(10.0)) + 3
    over = plan_key_poses(-170.0)
    assert [key.roll for key in over[:2]] == [-170.0, -90.0] and "thigh.L" in over[1].pitch


def test_it_waits_until_it_lies_still_and_until_its_source_stands(reference):
    made, _ = reference
    lying, planner = lie(made.body, made.qpos[20], 0.0), GetUpPlanner(made, None)
    still = np.zeros(made.body.nv)
    assert find_standing(made).all() and planner.plan(20, (lying, still)) is not None
    assert planner.plan(20, (lying, still + 1.0)) is None
    assert planner.plan(made.fragments - 20, (lying, still)) is None  # too late
    crawling = replace(made, rows=replace(made.rows, link_pos=made.rows.link_pos[..., [2, 1, 0]]))
    assert GetUpPlanner(crawling, None).why_not == "its source never stands"


def test_a_body_without_limbs_says_why_it_stays_down():
    assert explain_cannot_rise(waver()) == "it has no upper arm on both sides"


def lying_rollout(made, world, copies_effort, seed=0):
    """A rollout of somebody who has lain on the front since fragment 5, at fragment 18."""
    body = made.body
    character = StageCharacter(None, made, world, copies_effort, (seed, 0), rises=GetUpPlanner(made, None))
    lying = lie(body, made.qpos[20], 0.0)
    targets = targets_of_pose(body, lying[None])[0]
    character.relaxation = Relaxation(5, targets)
    qpos, qvel = np.tile(lying, (world.copies, 1)), np.zeros((world.copies, body.nv))
    state = world.state_of(qpos, qvel, 18 * FRAGMENT_STEPS / CONTROL_FPS)[0]
    rollout = StageRollout(world.stage, (character,), world, state)
    rollout.start_states, rollout.offsets = [state] * 18, [np.zeros(body.nu)] * 18
    return rollout


def saved_arrays(rollout):
    """What a checkpoint's file would have."""
    return {name: np.array(values) for name, values in pack_rollout(rollout, "mujoco").items()}


def test_who_lies_comes_up_and_goes_on_after_a_kill_bit_for_bit(reference):
    made, world = reference
    effort = SearchEffort(world.copies, (0.1,))
    rollout, saved = lying_rollout(made, world, effort), []
    rollout.run(lambda now: saved.append(saved_arrays(now)) if len(saved) < 20 else None)
    (character,) = rollout.characters
    assert len(character.get_ups) == 1
    # It comes up on hands and knees at least; whether all of it succeeds with so few samples is chance.
    heights = np.array([world.pose_of(state)[0][2] for state in rollout.start_states])
    assert heights[18] < 0.2 < 0.3 < heights[18:].max()
    assert character.describe_rising(0.0) != ""
    record = describe_character(character)
    ((first, rejoins),) = record.away
    assert first == 5 * FRAGMENT_STEPS and record.limp[0][1] < rejoins == character.get_ups[0].rejoins
    again = lying_rollout(made, world, effort)
    middle = saved[-1]
    assert "rise0_limp" in middle and "plan" in middle
    restore_rollout(again, "mujoco", middle)
    again.run(lambda _: None)
    np.testing.assert_array_equal(again.state, rollout.state)
    np.testing.assert_array_equal(np.array(again.start_states), np.array(rollout.start_states))


def test_a_checkpoint_that_gets_up_wrongly_is_refused_and_changes_nothing(reference):
    made, world = reference
    effort, saved = SearchEffort(world.copies, (0.1,)), []

    class Enough(Exception):
        pass

    def stop(now):
        saved[:] = [saved_arrays(now)]
        if "rise0_limp" in saved[0] and "plan" in saved[0]:
            raise Enough

    with pytest.raises(Enough):
        lying_rollout(made, world, effort).run(stop)
    arrays = saved[0]
    for wrong in (
        {"rise0_limp": arrays["rise0_limp"][:, ::-1].copy()},
        {"rise0_rejoins": arrays["rise0_rejoins"] * 0},
        {"plan": arrays["plan"] + 1},
    ):
        again = lying_rollout(made, world, effort)
        with pytest.raises(BadFile):
            restore_rollout(again, "mujoco", {**arrays, **wrong})
        (character,) = again.characters
        assert character.get_ups == [] and character.reference is made
