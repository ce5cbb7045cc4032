# SPDX-License-Identifier: GPL-3.0-or-later
"""What touches what, and how hard."""

import numpy as np
import pytest

from sinew.core.body import Joint
from sinew.core.geometry.quaternions import from_rotation_vector, rotate
from sinew.core.sim.stage import Character, Obstacle, Stage, Terrain

from ...body_links import replace_link
from . import bodies
from .playing import GRAVITY, WEIGHTLESS, begin, free_pose, free_velocity, play, stage_of

_BOX = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


@pytest.mark.parametrize("body", [bodies.ball(), bodies.brick()], ids=["ball", "brick"])
def test_resting_contact_force_equals_weight(compiled, body):
    """Within 1 % once it has come to rest, straight up, in the rows of a rollout and of ``sense``."""
    world = compiled(stage_of(body))
    states, rows = play(world, begin(world, free_pose((0.3, -0.2, 0.15))), 2.0)
    weight = body.mass * GRAVITY
    np.testing.assert_allclose(rows.contact_force[0, -5:, 0, 2], weight, rtol=0.01)
    assert np.abs(rows.contact_force[0, -5:, 0, :2]).max() < 0.01 * weight
    np.testing.assert_allclose(world.sense(states[:, -1]).contact_force[0, 0, 0, 2], weight, rtol=0.01)
    assert np.abs(rows.com_velocity[0, -1]).max() < 0.01
    rest = body.links[0].shapes[0].size[2 if body.links[0].shapes[0].kind == "box" else 0]
    assert -0.005 < rows.com[0, -1, 0, 2] - rest < 0.002, "it sinks in or floats"


def test_a_standing_character_is_carried_by_its_feet(compiled):
    body = bodies.humanoid()
    world = compiled(stage_of(body))
    _, rows = play(world, begin(world, bodies.rest_pose(body)), 0.6)
    feet = [index for index, link in enumerate(body.links) if link.role == "foot"]
    force = rows.contact_force[0, 9:].mean(axis=0)
    np.testing.assert_allclose(force[feet, 2].sum(), body.mass * GRAVITY, rtol=0.03)
    others = np.delete(force, feet, axis=0)
    assert np.abs(others).max() == 0.0
    assert rows.com[0, -1, 0, 2] > 0.8


@pytest.mark.parametrize("friction", [0.3, 0.8])
def test_sliding_friction_angle(compiled, friction):
    """A brick holds 2 degrees below the friction angle, and above it slides with what friction leaves of gravity."""
    body = bodies.brick()
    angle = np.arctan(friction)
    for slope, slides in ((angle - np.radians(2), False), (angle + np.radians(6), True)):
        gravity = GRAVITY * np.array([np.sin(slope), 0.0, -np.cos(slope)])
        world = compiled(stage_of(body, gravity=gravity, friction=friction))
        _, rows = play(world, begin(world, free_pose((0, 0, 0.05))), 1.0)
        moved = rows.com[0, -1, 0, 0]
        if slides:
            pull = GRAVITY * (np.sin(slope) - friction * np.cos(slope))
            np.testing.assert_allclose(moved, 0.5 * pull, rtol=0.05)
        else:
            assert abs(moved) < 0.02


def test_ragdoll_dropped_from_two_metres_stays_whole(compiled):
    """Without muscles, from six attitudes: joints hold, numbers are finite, all of it ends on the floor at rest."""
    body = bodies.humanoid()
    world = compiled(stage_of(body), 6)
    rng = np.random.default_rng(0)
    qpos = np.tile(bodies.rest_pose(body, (0, 0, 2.0)), (6, 1))
    qpos[:, 3:7] = from_rotation_vector(rng.normal(size=(6, 3)) * 1.5)
    states, rows = play(world, world.state_of(qpos, np.zeros((6, body.nv))), 4.0, muscle=np.zeros((6, 120)))
    assert np.isfinite(states).all()
    for index, link in enumerate(body.links):
        if link.parent >= 0:
            hinge = rows.link_pos[:, :, link.parent] + rotate(rows.link_quat_wxyz[:, :, link.parent], link.joint.pos)
            assert np.linalg.norm(rows.link_pos[:, :, index] - hinge, axis=-1).max() < 1e-3, link.bone
    coms = np.array([link.com for link in body.links])
    height = (rows.link_pos[:, -1] + rotate(rows.link_quat_wxyz[:, -1], coms))[..., 2]
    assert height.min() > 0.0 and height.max() < 0.6
    assert np.linalg.norm(rows.com_velocity[:, -1], axis=-1).max() < 0.3
    carried = rows.contact_force[:, -30:, :, 2].sum(axis=-1).mean(axis=1)
    np.testing.assert_allclose(carried, body.mass * GRAVITY, rtol=0.1)


def test_height_field(compiled):
    """Balls rest on the terrain's own heights: rows run along y, columns along x, from the origin."""
    x, y = np.meshgrid(np.arange(21) * 0.5 - 3.0, np.arange(13) * 0.5 - 1.0)
    terrain = Terrain(np.where(x > 1.0, 1.5, 0.5) + np.where(y > 2.0, 0.25, 0.0), 0.5, np.array([-3.0, -1.0]))
    world = compiled(stage_of(bodies.ball(), terrain=terrain), 4)
    spots = np.array([(-1.0, 0.0), (4.0, 0.0), (-1.0, 4.0), (4.0, 4.0)])
    qpos = np.stack([free_pose((*spot, 2.2)) for spot in spots])
    _, rows = play(world, world.state_of(qpos, np.zeros((4, 6))), 1.5)
    np.testing.assert_allclose(rows.com[:, -1, 0, 2], np.array([0.5, 1.5, 0.75, 1.75]) + 0.1, atol=0.005)
    np.testing.assert_allclose(rows.com[:, -1, 0, :2], spots, atol=0.02)
    np.testing.assert_allclose(rows.contact_force[:, -1, 0, 2], 2.0 * GRAVITY, rtol=0.02)


def test_a_slope_of_a_height_field_pushes_downhill(compiled):
    x = np.arange(41) * 0.25 - 5.0
    terrain = Terrain(np.tile(-0.5 * x, (41, 1)), 0.25, np.array([-5.0, -5.0]))
    world = compiled(stage_of(bodies.ball(), terrain=terrain, friction=0.0))
    _, rows = play(world, begin(world, free_pose((0, 0, 0.1 * np.sqrt(1.25) + 0.001))), 1.0)
    slope = np.arctan(0.5)
    np.testing.assert_allclose(rows.com[0, -1, 0, 0], 0.5 * GRAVITY * np.sin(slope) * np.cos(slope), rtol=0.05)
    assert abs(rows.com[0, -1, 0, 1]) < 0.03


def test_obstacle_carries_and_stops(compiled):
    table = Obstacle("table", (_BOX * [0.5, 0.5, 0.05] + [0, 0, 0.95],))
    wall = Obstacle("wall", (_BOX * [0.1, 2.0, 1.0] + [3.0, 0, 1.0],), friction=0.5)
    world = compiled(stage_of(bodies.ball(), obstacles=(table, wall)), 2)
    qpos = np.stack([free_pose((0.2, 0.1, 1.2)), free_pose((1.5, 0, 0.1))])
    qvel = np.stack([free_velocity(), free_velocity((4.0, 0, 0))])
    _, rows = play(world, world.state_of(qpos, qvel), 1.5)
    np.testing.assert_allclose(rows.com[0, -1, 0], [0.2, 0.1, 1.1], atol=0.01)
    np.testing.assert_allclose(rows.contact_force[0, -1, 0, 2], 2.0 * GRAVITY, rtol=0.02)
    assert rows.com[1, :, 0, 0].max() < 2.9 - 0.1 + 0.03
    assert rows.com[1, :, 0, 0].max() > 2.75


def test_a_hollow_made_of_convex_pieces_stays_hollow(compiled):
    """Two blocks with a gap between them: the ball falls through the gap of the one obstacle."""
    blocks = tuple(_BOX * [0.4, 1.0, 0.2] + [side * 0.6, 0, 1.0] for side in (-1, 1))
    world = compiled(stage_of(bodies.ball(), obstacles=(Obstacle("gate", blocks),)))
    _, rows = play(world, begin(world, free_pose((0, 0, 1.5))), 1.5)
    np.testing.assert_allclose(rows.com[0, -1, 0, 2], 0.1, atol=0.01)


def test_characters_touch_each_other(compiled):
    """A ball of 2 kg runs into one of 1 kg: the momentum of both together stays, and the force is felt by both."""
    world = compiled(stage_of(bodies.ball(0.1, 2.0), bodies.ball(0.1, 1.0), gravity=WEIGHTLESS))
    qvel = np.concatenate([free_velocity((3, 0, 0)), free_velocity()])
    states = begin(world, free_pose((-0.5, 0, 2)), free_pose((0, 0, 2)), qvel=qvel)
    _, rows = play(world, states, 0.6, substeps=1)
    after = rows.com_velocity[0, -1, :, 0]
    np.testing.assert_allclose(2.0 * after[0] + after[1], 6.0, rtol=0.01)
    assert after[1] > after[0] > 0.0 and after[1] >= 1.9
    impulse = rows.contact_force[0, :, :, 0].sum(axis=0) * world.dt_s
    np.testing.assert_allclose(impulse, [2.0 * (after[0] - 3.0), after[1]], rtol=0.02)


def _two_arms():
    """A heavy hub with two arms on hinges about Z, each with a ball at 0.5 m."""
    hinge = Joint("hinge", np.array([0.0, 0.0, 0.0]), axis=np.array([0.0, 0.0, 1.0]))
    return bodies.body([
        bodies.link("hub", -1, bodies.FREE, bodies.sphere(0.1), 10_000.0),
        bodies.link("first", 0, hinge, bodies.sphere(0.1, (0.5, 0, 0)), 1.0),
        bodies.link("second", 0, hinge, bodies.sphere(0.1, (0.5, 0, 0)), 1.0),
    ])  # fmt: skip


@pytest.mark.parametrize("wanted", [False, True])
def test_self_collision_is_by_request(compiled, wanted):
    body = _two_arms()
    # Both arms read zero in the same place, where they would overlap: move the second's zero a quarter turn on.
    quarter = from_rotation_vector(np.array([0, 0, np.pi / 2]))
    joint = Joint("hinge", np.zeros(3), quarter, np.array([0.0, 0.0, 1.0]))
    body = replace_link(body, 2, bodies.link("second", 0, joint, bodies.sphere(0.1, (0.5, 0, 0)), 1.0))
    world = compiled(Stage((Character(body, self_collision=wanted),), gravity=WEIGHTLESS))
    qvel = np.zeros(8)
    qvel[6] = 4.0
    states, rows = play(world, begin(world, bodies.rest_pose(body, (0, 0, 3)), qvel=qvel), 0.6, substeps=1)
    second = world.pose_of(states)[0][0, -1, 8]
    felt = np.abs(rows.contact_force[0, :, 1:]).max()
    if wanted:
        assert second > 0.2 and felt > 1.0
    else:
        assert abs(second) < 0.05 and felt == 0.0


def test_links_that_overlap_at_rest_do_not_blow_the_body_apart(compiled):
    world = compiled(Stage((Character(_two_arms(), self_collision=True),), gravity=WEIGHTLESS))
    _, rows = play(world, begin(world, bodies.rest_pose(_two_arms(), (0, 0, 3))), 0.5)
    assert np.abs(rows.contact_force).max() == 0.0
    assert np.abs(rows.com_velocity).max() < 1e-6
