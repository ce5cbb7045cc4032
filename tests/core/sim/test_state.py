# SPDX-License-Identifier: GPL-3.0-or-later
"""States are whole, and the same input gives the same bits."""

import numpy as np
import pytest

from sinew.core.errors import EngineMissing
from sinew.core.sim import engines
from sinew.core.sim.stage import Prop, Push, Stage

from . import bodies
from .playing import begin, free_pose, play, stage_of


def _busy(body) -> Stage:
    """A character on the ground with a push and a projectile on the way."""
    ball = Prop(
        "ball", 1.0, np.array([0.0, -2.0, 1.2]), bodies.sphere(0.1), velocity=np.array([0.0, 8.0, 1.0]), appears_s=0.21
    )
    box = Prop("box", 2.0, np.array([0.6, 0.0, 0.2]), bodies.box((0.2, 0.2, 0.2)))
    push = Push(0, "chest", np.array([80.0, 0.0, 0.0]), 0.13, 0.2)
    return stage_of(body, props=(ball, box), pushes=(push,))


@pytest.fixture
def busy(compiled):
    """A world in the thick of it, its states and targets for a second."""
    body = bodies.humanoid()
    world = compiled(_busy(body), 4)
    rng = np.random.default_rng(7)
    targets = rng.normal(size=(4, 30, body.nu)) * 0.15
    return world, begin(world, bodies.rest_pose(body)), targets


def assert_same(first, second):
    for name, values in vars(first).items():
        np.testing.assert_array_equal(values, getattr(second, name), err_msg=name)


def test_a_copy_put_back_goes_on_as_if_it_had_never_left(busy):
    """One run of a second equals two halves, bit for bit, in states and in rows; even with other work in between."""
    world, states, targets = busy
    whole, rows = world.rollout(states, targets, substeps=4)
    first, _ = world.rollout(states, targets[:, :11], substeps=4)
    np.testing.assert_array_equal(whole[:, :11], first)
    world.rollout(states[::-1], -targets, substeps=4)
    second, rest = world.rollout(first[:, -1], targets[:, 11:], substeps=4)
    np.testing.assert_array_equal(whole[:, 11:], second)
    np.testing.assert_array_equal(rows.contact_force[:, 11:], rest.contact_force)
    np.testing.assert_array_equal(rows.link_pos[:, 11:], rest.link_pos)


def test_the_end_alone_is_the_end_of_the_whole(busy):
    """With a prop that appears on the way, a push, and a copy that blows up."""
    world, states, targets = busy
    targets[2, 5:] = np.inf
    for count in (1, 30):
        whole, rows = world.rollout(states, targets[:, :count], substeps=4)
        end, last = world.rollout(states, targets[:, :count], substeps=4, end_only=True)
        np.testing.assert_array_equal(end, whole[:, -1:])
        alive = np.isfinite(end[:, 0]).all(axis=-1)
        assert alive.sum() == (4 if count == 1 else 3)
        assert not last.contact_force[alive].any()
        for name, values in vars(last).items():
            if name != "contact_force":
                np.testing.assert_array_equal(values[alive], getattr(rows, name)[alive, -1:], err_msg=name)
    _, felt = world.rollout(states, targets[:, :1], substeps=4)
    np.testing.assert_array_equal(felt.contact_force, rows.contact_force[:, :1])


def test_copies_do_not_depend_on_their_place(busy):
    world, states, targets = busy
    whole, _ = world.rollout(states, targets, substeps=4)
    turned, _ = world.rollout(states[::-1], targets[::-1], substeps=4)
    np.testing.assert_array_equal(whole, turned[::-1])


def test_same_bits_with_other_copies_and_threads(engine, busy):
    world, states, targets = busy
    whole, rows = world.rollout(states, targets, substeps=4)
    alone = engine.compile(world.stage, 1, threads=1)
    single, single_rows = alone.rollout(states[2:3], targets[2:3], substeps=4)
    alone.close()
    np.testing.assert_array_equal(single[0], whole[2])
    np.testing.assert_array_equal(single_rows.contact_force[0], rows.contact_force[2])


def test_same_bits_in_a_new_world(engine, busy):
    world, states, targets = busy
    whole, rows = world.rollout(states, targets, substeps=4)
    again = engine.compile(world.stage, world.copies)
    other, other_rows = again.rollout(again.state_of(*world.pose_of(states)), targets, substeps=4)
    again.close()
    np.testing.assert_array_equal(whole, other)
    assert_same(rows, other_rows)


def test_sense_shows_what_the_rollout_showed(busy):
    """Positions, velocities and momentum of a state are those of the rows that came with it."""
    world, states, targets = busy
    out, rows = world.rollout(states, targets, substeps=4)
    for step in (3, 29):
        sensed = world.sense(out[:, step])
        for name in ("time_s", "link_pos", "link_quat_wxyz", "com", "com_velocity", "angular_momentum", "prop_pos"):
            np.testing.assert_allclose(
                getattr(sensed, name)[:, 0], getattr(rows, name)[:, step], atol=1e-9, err_msg=name
            )


def test_nothing_given_is_changed(busy):
    world, states, targets = busy
    kept = states.copy(), targets.copy()
    out, _ = world.rollout(states, targets, substeps=4)
    before = out.copy()
    world.rollout(out[:, -1], targets, substeps=4)
    np.testing.assert_array_equal(states, kept[0])
    np.testing.assert_array_equal(targets, kept[1])
    np.testing.assert_array_equal(out, before)


def test_a_copy_that_blew_up_is_nan_and_alone(compiled):
    world = compiled(stage_of(bodies.brick()), 3)
    states = begin(world, free_pose((0, 0, 1)))
    good, _ = play(world, states, 0.5)
    qpos, qvel = (np.array(values) for values in world.pose_of(states))
    qvel[1] = 1e14
    out, rows = play(world, world.state_of(qpos, qvel), 0.5)
    assert np.isnan(out[1]).all() and np.isnan(rows.com[1]).all() and np.isnan(rows.contact_force[1]).all()
    np.testing.assert_array_equal(out[[0, 2]], good[[0, 2]])
    onward, _ = play(world, out[:, -1], 0.2)
    assert np.isnan(onward[1]).all() and np.isfinite(onward[[0, 2]]).all()


def test_a_stage_where_nobody_lives_any_more(busy):
    world, states, targets = busy
    out, rows = world.rollout(np.full_like(states, np.nan), targets, substeps=4)
    assert np.isnan(out).all() and np.isnan(rows.link_pos).all()
    assert np.isnan(world.sense(out[:, -1]).com).all()
    links = sum(len(character.body.links) for character in world.stage.characters)
    forces = np.ones((*targets.shape[:2], links, 3))
    out, _ = world.rollout(np.full_like(states, np.nan), targets, substeps=4, forces=forces)
    assert np.isnan(out).all()


def test_targets_that_are_no_numbers_do_not_pass_for_a_motion(compiled):
    body = bodies.humanoid()
    world = compiled(stage_of(body), 2)
    targets = np.zeros((2, 6, body.nu))
    targets[1, 3, 5] = np.nan
    out, _ = world.rollout(begin(world, bodies.rest_pose(body)), targets, substeps=4)
    assert np.isfinite(out[0]).all() and np.isfinite(out[1, :3]).all()
    assert np.isnan(out[1, 3:]).all()


def test_a_closed_world_says_so(compiled):
    world = compiled(stage_of(bodies.ball()))
    states = begin(world, free_pose((0, 0, 1)))
    world.close()
    world.close()
    with pytest.raises(ValueError, match="closed"):
        play(world, states, 0.1)


def test_unknown_engine():
    with pytest.raises(EngineMissing, match="havok"):
        engines.get_engine("havok")
