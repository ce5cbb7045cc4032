# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes, forces, props, projectiles, rays, and worlds with other gravity, friction and mass."""

import numpy as np
import pytest

from sinew.core.errors import BadMotion
from sinew.core.geometry.quaternions import from_rotation_vector, rotate
from sinew.core.sim.stage import Character, Obstacle, Prop, Push, Stage, Terrain

from . import bodies
from .playing import GRAVITY, WEIGHTLESS, begin, free_pose, free_velocity, play, stage_of

_CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
_UP = (0.0, 0.0, 2.0)


@pytest.mark.parametrize(("start", "duration"), [(0.1, 0.1), (0.1371, 0.0613), (0.2, 0.002), (0.0, 0.5)])
def test_a_push_gives_the_impulse_asked_for(compiled, start, duration):
    """Force times duration, whatever steps it begins and ends in, at the centre of mass; nothing before or after."""
    force = np.array([30.0, -12.0, 100.0])
    push = Push(0, "brick", force, start, duration)
    world = compiled(stage_of(bodies.brick(mass=3.0), gravity=WEIGHTLESS, pushes=(push,)))
    _, rows = play(world, begin(world, free_pose(_UP)), 0.6, substeps=3)
    t = rows.time_s[0]
    given = np.clip(t - start, 0.0, duration)[:, None] * force / 3.0
    np.testing.assert_allclose(rows.com_velocity[0, :, 0], given, atol=1e-6)
    assert np.abs(rows.angular_momentum).max() < 1e-6


def test_pushes_go_by_each_copys_own_time(compiled):
    push = Push(0, "brick", np.array([30.0, 0.0, 0.0]), 1.0, 0.1)
    world = compiled(stage_of(bodies.brick(mass=3.0), gravity=WEIGHTLESS, pushes=(push,)), 3)
    states = world.state_of(np.tile(free_pose(_UP), (3, 1)), np.zeros((3, 6)), np.array([0.0, 0.95, 2.0]))
    _, rows = play(world, states, 0.2)
    np.testing.assert_allclose(rows.com_velocity[:, -1, 0, 0], [0.0, 1.0, 0.0], atol=1e-6)


def test_a_push_on_a_limb_moves_the_limb_first(compiled):
    """A merged bone is pushed through the link that carries it."""
    body = bodies.chain(3)
    world = compiled(stage_of(body, gravity=WEIGHTLESS, pushes=(Push(0, "link2", np.array([0, 0, 20.0]), 0.0, 0.1),)))
    _, rows = play(world, begin(world, bodies.rest_pose(body, _UP)), 0.1, substeps=1)
    moved = rows.link_pos[0, -1, :, 2] - 2.0
    assert moved[2] > 2.0 * abs(moved[0]) and moved[2] > 0.01
    np.testing.assert_allclose(rows.com_velocity[0, -1, 0], [0, 0, 20.0 * 0.1 / body.mass], atol=0.02)


def test_forces_are_held_for_a_control_step(compiled):
    world = compiled(stage_of(bodies.brick(mass=3.0), gravity=WEIGHTLESS), 2)
    forces = np.zeros((2, 9, 1, 3))
    forces[1, 3:6, 0] = [6.0, 0.0, -3.0]
    _, rows = play(world, begin(world, free_pose(_UP)), 0.3, forces=forces)
    np.testing.assert_allclose(rows.com_velocity[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(rows.com_velocity[1, [2, 5, 8], 0], np.outer([0, 1, 1], [0.2, 0.0, -0.1]), atol=1e-6)


def test_a_push_on_what_is_not_there_is_refused(engine):
    for push in (Push(0, "tail", np.ones(3), 0, 1), Push(3, "brick", np.ones(3), 0, 1)):
        with pytest.raises(BadMotion, match=r"tail|brick"):
            engine.compile(stage_of(bodies.brick(), pushes=(push,)), 1)


def test_changed_gravity(compiled):
    world = compiled(stage_of(bodies.ball()))
    moon = world.recompile(gravity=np.array([0.5, 0.0, -1.62]))
    _, rows = play(moon, begin(moon, free_pose((0, 0, 50))), 1.0)
    np.testing.assert_allclose(rows.com_velocity[0, -1, 0], [0.5, 0.0, -1.62], atol=1e-6)
    _, rows = play(world, begin(world, free_pose((0, 0, 50))), 1.0)
    np.testing.assert_allclose(rows.com_velocity[0, -1, 0, 2], -GRAVITY, atol=1e-6)
    moon.close()


def test_changed_friction(compiled):
    world = compiled(stage_of(bodies.brick(), friction=1.0))
    ice = world.recompile(friction=0.1)
    slid = []
    for each in (world, ice):
        _, rows = play(each, begin(each, free_pose((0, 0, 0.05)), qvel=free_velocity((2.0, 0, 0))), 2.5)
        slid.append(rows.com[0, -1, 0, 0])
    np.testing.assert_allclose(slid, 2.0**2 / (2.0 * GRAVITY * np.array([1.0, 0.1])), rtol=0.1)
    ice.close()


def test_changed_mass(compiled):
    """Ten times the mass: ten times the weight on the ground, and a tenth of the speed from the same push."""
    push = Push(0, "brick", np.array([60.0, 0.0, 0.0]), 1.0, 0.05)
    world = compiled(stage_of(bodies.brick(mass=3.0), friction=0.0, pushes=(push,)))
    heavy = world.recompile(link_mass=np.array([30.0]))
    _, rows = play(heavy, begin(heavy, free_pose((0, 0, 0.05))), 2.0)
    np.testing.assert_allclose(rows.contact_force[0, 25, 0, 2], 30.0 * GRAVITY, rtol=0.01)
    np.testing.assert_allclose(rows.com_velocity[0, 31, 0, 0], 60.0 * 0.05 / 30.0, rtol=0.02)
    heavy.close()
    with pytest.raises(BadMotion, match="1 links"):
        world.recompile(link_mass=np.ones(3))


def test_props_rest_and_are_moved(compiled):
    """A box of 2 kg on the floor stays; a ball that runs into it moves it."""
    prop = Prop("box", 2.0, np.array([1.0, 0.0, 0.2]), bodies.box((0.2, 0.2, 0.2)), friction=0.3)
    world = compiled(stage_of(bodies.ball(0.1, 5.0), props=(prop,), friction=1.0), 2)
    qvel = np.stack([free_velocity(), free_velocity((5, 0, 0))])
    _, rows = play(world, world.state_of(np.tile(free_pose((0, 0, 0.1)), (2, 1)), qvel), 1.5)
    assert rows.prop_pos.shape == (2, 45, 1, 3) and rows.prop_quat_wxyz.shape == (2, 45, 1, 4)
    np.testing.assert_allclose(rows.prop_pos[0, -1, 0], [1.0, 0.0, 0.2], atol=0.005)
    assert rows.prop_pos[1, -1, 0, 0] > 1.3
    np.testing.assert_allclose(np.linalg.norm(rows.prop_quat_wxyz, axis=-1), 1.0, atol=1e-6)


@pytest.mark.parametrize(("of_prop", "of_ground"), [(0.5, 0.6), (1.0, 0.3), (0.3, 1.0)])
def test_friction_of_a_prop_is_a_product(compiled, of_prop, of_ground):
    shape, velocity = bodies.box((0.2, 0.2, 0.1)), np.array([2.0, 0, 0])
    prop = Prop("box", 2.0, np.array([0.0, 0.0, 0.1]), shape, velocity=velocity, friction=of_prop)
    world = compiled(stage_of(bodies.ball(), props=(prop,), friction=of_ground))
    _, rows = play(world, begin(world, free_pose((0, 5, 0.1))), 2.5)
    np.testing.assert_allclose(rows.prop_pos[0, -1, 0, 0], 2.0 / (GRAVITY * of_prop * of_ground), rtol=0.1)


def test_a_projectile_takes_no_part_before_it_appears(compiled):
    """It appears in flight at its moment, hits, and hands over its momentum; until then it is nowhere."""
    appears, speed = 0.25, 10.0
    bullet = Prop(
        "bullet", 0.5, np.array([-1.0, 0.0, 2.0]), bodies.sphere(0.05), velocity=np.array([speed, 0, 0]),
        angular_velocity=np.array([0.0, 0.0, 3.0]), appears_s=appears,
    )  # fmt: skip
    # A blocker stands where the bullet will come out: it must not be touched by what is not there yet.
    stage = stage_of(bodies.brick(mass=3.0), bodies.ball(0.04, 1.0), gravity=WEIGHTLESS, props=(bullet,))
    world = compiled(stage)
    qvel = np.concatenate([free_velocity(), free_velocity((0, 4.0, 0))])
    states = begin(world, free_pose(_UP), free_pose((-1.0, -0.5, 2.0)), qvel=qvel)
    _, rows = play(world, states, 0.6, substeps=1)
    t = rows.time_s[0]
    before = t < appears - 1e-9
    np.testing.assert_allclose(rows.prop_pos[0, before, 0], np.broadcast_to([-1.0, 0, 2], (before.sum(), 3)))
    np.testing.assert_allclose(rows.com_velocity[0, before, 0], 0.0, atol=1e-9)
    np.testing.assert_allclose(rows.com_velocity[0, before, 1, 1], 4.0, rtol=1e-6, err_msg="the ball met a ghost")
    flight = ~before & (t < appears + 0.07)
    np.testing.assert_allclose(rows.prop_pos[0, flight, 0, 0], -1.0 + speed * (t[flight] - appears), atol=1e-6)
    after = 3.0 * rows.com_velocity[0, -1, 0, 0] + rows.com_velocity[0, -1, 1, 0]
    last = (rows.prop_pos[0, -1, 0, 0] - rows.prop_pos[0, -2, 0, 0]) / world.dt_s
    np.testing.assert_allclose(after + 0.5 * last, 0.5 * speed, rtol=0.02)
    assert rows.com_velocity[0, -1, 0, 0] > 1.0


@pytest.mark.parametrize("late", [0.0, 0.3, 0.7])
def test_a_fast_projectile_does_not_miss(compiled, late):
    """A ball of 0.1 m at 12 m/s, wherever its steps fall, hits a wall of 0.1 m and stops or bounces."""
    speed = 12.0
    place, velocity = np.array([-1.0 - late * speed / 120.0, 0, 2.0]), np.array([speed, 0, 0])
    ball = Prop("ball", 0.5, place, bodies.sphere(0.1), velocity=velocity)
    world = compiled(stage_of(bodies.brick((0.05, 0.4, 0.4), 3.0), gravity=WEIGHTLESS, props=(ball,)))
    _, rows = play(world, begin(world, free_pose(_UP)), 0.3, substeps=1)
    brick, flying = rows.com_velocity[0, -1, 0, 0], np.diff(rows.prop_pos[0, -2:, 0, 0])[0] / world.dt_s
    np.testing.assert_allclose(3.0 * brick + 0.5 * flying, 0.5 * speed, rtol=0.02)
    assert brick > flying - 1e-6 and brick > 1.0


def test_state_of_a_later_time_has_the_projectile(compiled):
    velocity = np.array([1.0, 0, 0])
    bullet = Prop("bullet", 0.5, np.array([3.0, 0, 2]), bodies.sphere(0.05), velocity=velocity, appears_s=0.5)
    world = compiled(stage_of(bodies.brick(), gravity=WEIGHTLESS, props=(bullet,)), 2)
    states = world.state_of(np.tile(free_pose(_UP), (2, 1)), np.zeros((2, 6)), np.array([0.0, 1.0]))
    _, rows = play(world, states, 0.3)
    np.testing.assert_allclose(rows.prop_pos[:, -1, 0, 0], [3.0, 3.3], atol=1e-6)


def test_a_prop_of_convex_pieces_has_their_mass_and_centre(compiled):
    """An L of two blocks spun about its centre of mass turns about it, and does not wobble off."""
    pieces = (_CUBE * [0.3, 0.1, 0.1], _CUBE * [0.1, 0.1, 0.1] + [0.2, 0.0, 0.2])
    volumes = np.array([0.6 * 0.2 * 0.2, 0.2**3])
    centre = (volumes[1] * np.array([0.2, 0.0, 0.2])) / volumes.sum()
    spin = np.array([0.0, 0.0, 2.0])
    prop = Prop(
        "L", 4.0, np.array([0.0, 0.0, 2.0]), pieces=pieces, velocity=-np.cross(spin, centre), angular_velocity=spin
    )
    world = compiled(stage_of(bodies.ball(), gravity=WEIGHTLESS, props=(prop,)))
    states = begin(world, free_pose((9, 9, 9)))
    _, rows = play(world, states, 0.2)
    middle = rows.prop_pos[0, :, 0] + rotate(rows.prop_quat_wxyz[0, :, 0], centre)
    np.testing.assert_allclose(middle, np.broadcast_to(centre + [0, 0, 2], middle.shape), atol=2e-3)


def test_bad_solids_are_named(engine):
    flat = _CUBE * [1.0, 1.0, 0.0]
    with pytest.raises(BadMotion, match="'sheet'"):
        engine.compile(stage_of(bodies.ball(), obstacles=(Obstacle("sheet", (flat,)),)), 1)
    with pytest.raises(BadMotion, match="'card'"):
        engine.compile(stage_of(bodies.ball(), props=(Prop("card", 1.0, np.zeros(3), pieces=(flat,)),)), 1)
    with pytest.raises(BadMotion, match="'speck'"):
        engine.compile(stage_of(bodies.ball(), props=(Prop("speck", 1.0, np.zeros(3), bodies.sphere(0.0)),)), 1)
    with pytest.raises(BadMotion, match="'feather'"):
        Prop("feather", 0.0, np.zeros(3), bodies.sphere(0.1))


def test_five_characters_in_one_place_come_apart(compiled):
    """They begin inside each other; nobody blows up, and they end beside or on top of one another."""
    world = compiled(Stage(tuple(Character(bodies.brick()) for _ in range(5))))
    # A hair apart: five bodies in exactly one place have no direction to go.
    poses = [free_pose((0.01 * index, 0.013 * index, 0.3 + 0.02 * index)) for index in range(5)]
    _, rows = play(world, begin(world, *poses), 3.0)
    assert np.isfinite(rows.com).all()
    assert np.abs(rows.com[0, -1]).max() < 6.0
    gaps = np.linalg.norm(rows.com[0, -1, :, None] - rows.com[0, -1, None], axis=-1)[np.triu_indices(5, 1)]
    assert gaps.min() > 0.08


class TestRays:
    """A fan of rays for sight."""

    def look(self, world, states, origins, directions, length=50.0, **options):
        origins, directions = (np.broadcast_to(each, (world.copies, *each.shape)) for each in (origins, directions))
        return world.cast_rays(states, origins, directions, length, **options)

    def test_ground_things_and_nothing(self, compiled):
        wall = Obstacle("wall", (_CUBE * [0.1, 2.0, 1.0] + [3.0, 0.0, 1.0],))
        prop = Prop("box", 1.0, np.array([0.0, 4.0, 0.5]), bodies.box((0.5, 0.5, 0.5)))
        hidden = Prop("late", 1.0, np.array([-2.0, 0.0, 2.0]), bodies.sphere(0.5), appears_s=5.0)
        world = compiled(stage_of(bodies.ball(), obstacles=(wall,), props=(prop, hidden)))
        states = begin(world, free_pose((0, 0, 0.5)))
        origins = np.tile([0.0, 0.0, 0.5], (6, 1))
        # Unit length or not, the answer is in metres.
        directions = np.array([[0, 0, -3.0], [2.0, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0.75], [3, 0, -0.5]])
        hits = self.look(world, states, origins, directions)
        expected = [0.5, 2.9, 3.5, 50.0, 50.0, np.hypot(2.9, 2.9 / 6.0)]
        np.testing.assert_allclose(hits[0], expected, atol=0.01)

    def test_length_and_own_body(self, compiled):
        world = compiled(stage_of(bodies.ball(0.3), bodies.ball(0.3)))
        states = begin(world, free_pose((0, 0, 1)), free_pose((2, 0, 1)))
        origins = np.array([[0.5, 0, 1], [1.5, 0, 1], [-1.0, 0, 1]])
        directions = np.array([[1.0, 0, 0], [-1, 0, 0], [1, 0, 0]])
        first, second = (self.look(world, states, origins, directions, character=number)[0] for number in (0, 1))
        np.testing.assert_allclose(first, [1.2, 50.0, 2.7], atol=0.01)
        np.testing.assert_allclose(second, [50.0, 1.2, 0.7], atol=0.01)
        np.testing.assert_array_equal(self.look(world, states, origins, directions)[0], first)
        np.testing.assert_allclose(self.look(world, states, origins, directions, 1.0)[0], 1.0)

    def test_copies_see_their_own_world(self, compiled):
        world = compiled(stage_of(bodies.ball(0.3), bodies.ball(0.3)), 2)
        qpos = np.stack([np.concatenate([free_pose((0, 0, 1)), free_pose((x, 0, 1))]) for x in (2.0, 5.0)])
        states = world.state_of(qpos, np.zeros((2, 12)))
        hits = self.look(world, states, np.array([[0.0, 0, 1]]), np.array([[1.0, 0, 0]]))
        np.testing.assert_allclose(hits[:, 0], [1.7, 4.7], atol=0.01)

    def test_terrain(self, compiled):
        terrain = Terrain(np.full((11, 11), 0.8), 1.0, np.array([-5.0, -5.0]))
        world = compiled(stage_of(bodies.ball(), terrain=terrain))
        states = begin(world, free_pose((0, 0, 3)))
        hits = self.look(world, states, np.array([[2.0, 1.0, 3.0]]), np.array([[0.0, 0.0, -1.0]]))
        np.testing.assert_allclose(hits[0, 0], 2.2, atol=0.01)


def test_a_prop_placed_turned_stays_turned(compiled):
    turn = from_rotation_vector(np.array([0.3, -0.5, 1.2]))
    prop = Prop("box", 1.0, np.array([0.0, 0.0, 2.0]), bodies.box((0.3, 0.2, 0.1)), quat_wxyz=turn)
    world = compiled(stage_of(bodies.ball(), gravity=WEIGHTLESS, props=(prop,)))
    _, rows = play(world, begin(world, free_pose((5, 5, 5))), 0.5)
    np.testing.assert_allclose(np.abs(rows.prop_quat_wxyz[0, -1, 0] @ turn), 1.0, atol=1e-9)
