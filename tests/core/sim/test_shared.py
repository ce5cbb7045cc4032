# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engines share: layout, push shares, mass of solids, who never touches whom, when props appear."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sinew.core.body import Shape
from sinew.core.geometry.quaternions import from_rotation_vector, to_matrix
from sinew.core.sim.collision_filter import excluded_pairs
from sinew.core.sim.joint_damping import passive_damping
from sinew.core.sim.mass_properties import hull_corners, prop_mass_properties, shape_mass_properties
from sinew.core.sim.prop_schedule import PropSchedule
from sinew.core.sim.push_schedule import PushSchedule
from sinew.core.sim.stage import Prop, Push
from sinew.core.sim.stage_layout import StageLayout

from ...body_links import replace_link
from . import bodies
from .playing import stage_of

_CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


def test_layout_finds_every_joint_of_every_character():
    first, second = bodies.humanoid(), bodies.chain(4)
    layout = StageLayout(stage_of(first, second))
    assert (layout.nq, layout.nv, layout.nu, layout.links) == (first.nq + second.nq, 34 + 13, 28 + 7, 17)
    assert layout.ball_q.shape == (8 + 2, 4) and layout.hinge_q.shape == (4 + 1,)
    covered = np.concatenate([layout.ball_q.ravel(), layout.hinge_q, np.arange(7), first.nq + np.arange(7)])
    assert sorted(covered) == list(range(layout.nq))
    assert sorted(np.concatenate([layout.ball_u.ravel(), layout.hinge_u])) == list(range(layout.nu))
    np.testing.assert_array_equal(layout.characters, [0] * 13 + [1] * 4)
    np.testing.assert_array_equal(layout.kp[: first.nu], first.per_dof("kp"))


def test_layout_of_a_body_without_joints():
    layout = StageLayout(stage_of(bodies.ball()))
    assert (layout.nq, layout.nu) == (7, 0) and layout.targets_of(np.zeros((2, 7))).shape == (2, 0)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.0, 1.0), st.floats(0.001, 0.7), st.sampled_from([1 / 60, 1 / 120, 1 / 37]), st.floats(0.0, 0.01))
def test_the_impulse_of_a_push_is_force_times_duration(start, duration, dt_s, offset):
    push = Push(0, "link1", np.array([3.0, 0, -1]), start, duration)
    schedule = PushSchedule(stage_of(bodies.chain(3), pushes=(push,)))
    steps = int(2.0 / dt_s)
    forces = schedule.forces_at(np.array([-offset]), steps, dt_s)
    np.testing.assert_allclose(forces.sum(axis=1)[0, 1] * dt_s, np.array([3.0, 0, -1]) * duration, atol=1e-7)
    assert np.abs(forces[0, :, [0, 2]]).max() == 0.0
    assert schedule.forces_at(np.array([2.0]), 10, dt_s) is None


def test_overlapping_pushes_add_up():
    pushes = tuple(Push(0, "brick", np.array([force, 0, 0]), 0.0, 1.0) for force in (2.0, 5.0))
    forces = PushSchedule(stage_of(bodies.brick(), pushes=pushes)).forces_at(np.array([0.5]), 1, 0.01)
    np.testing.assert_allclose(forces[0, 0, 0], [7.0, 0, 0])


@pytest.mark.parametrize(
    "shape",
    [bodies.sphere(0.3, (0.1, 0, 0)), bodies.box((0.1, 0.3, 0.2)), bodies.capsule_y(0.1, 0.2, 0.9)],
    ids=["sphere", "box", "capsule"],
)
def test_mass_of_shapes_against_random_points(shape):
    """Moments of 400,000 points in the solid, within 2 %."""
    rng = np.random.default_rng(0)
    reach = shape.size[0] + shape.size[1] if shape.kind == "capsule" else shape.size.max()
    points = rng.uniform(-reach, reach, size=(400_000, 3))
    if shape.kind == "box":
        inside = np.all(np.abs(points) < shape.size, axis=-1)
    else:
        half = shape.size[1] if shape.kind == "capsule" else 0.0
        along = np.clip(points[:, 2], -half, half)
        inside = np.linalg.norm(points - along[:, None] * [0, 0, 1], axis=-1) < shape.size[0]
    points = shape.pos + points[inside] @ to_matrix(shape.quat_wxyz).T
    second = np.cov(points.T)
    solid = shape_mass_properties(shape, 2.0)
    np.testing.assert_allclose(solid.com, points.mean(axis=0), atol=0.003)
    expected = 2.0 * (np.trace(second) * np.eye(3) - second)
    np.testing.assert_allclose(solid.inertia, expected, atol=0.02 * expected.max())


def test_mass_of_pieces_is_that_of_the_whole():
    """A turned box cut in three pieces of unlike size weighs and turns as the box does."""
    turn = from_rotation_vector(np.array([0.4, -1.0, 0.3]))
    half, place = np.array([0.6, 0.2, 0.1]), np.array([3.0, -1.0, 0.5])
    edges = [-0.6, -0.3, 0.1, 0.6]
    pieces = []
    for low, high in itertools.pairwise(edges):
        corners = _CUBE * half
        corners[:, 0] = np.where(_CUBE[:, 0] < 0, low, high)
        pieces.append(place + corners @ to_matrix(turn).T)
    solid = prop_mass_properties(Prop("plank", 7.0, np.zeros(3), pieces=tuple(pieces)))
    whole = shape_mass_properties(Shape("box", half, place, turn), 7.0)
    np.testing.assert_allclose(solid.com, whole.com, atol=1e-9)
    np.testing.assert_allclose(solid.inertia, whole.inertia, atol=1e-9)


def test_a_hull_keeps_corners_only():
    inner = np.random.default_rng(0).uniform(-0.9, 0.9, size=(100, 3))
    assert len(hull_corners("box", np.concatenate([_CUBE, inner]))) == 8


def test_neighbours_and_overlapping_links_never_touch():
    body = bodies.chain(4)
    assert excluded_pairs(body) == [(0, 1), (1, 2), (2, 3)]
    fat = body
    for index in (0, 2):
        joint = body.links[index].joint
        fat = replace_link(fat, index, bodies.link(f"link{index}", index - 1, joint, bodies.sphere(0.4), 1.0))
    assert (0, 2) in excluded_pairs(fat)
    human = bodies.humanoid()
    assert set(excluded_pairs(human)) >= {(link.parent, index) for index, link in enumerate(human.links) if index}
    legs = tuple(human.link_of(bone) for bone in ("thigh.R", "thigh.L"))
    assert legs not in excluded_pairs(human), "legs may touch"


def test_props_appear_at_the_first_step_at_or_after_their_time():
    props = tuple(Prop(f"p{at}", 1.0, np.zeros(3), bodies.sphere(0.1), appears_s=at) for at in (0.0, 0.1, 0.105))
    schedule = PropSchedule(stage_of(bodies.ball(), props=props))
    dt_s = 1 / 120
    np.testing.assert_array_equal(
        schedule.present(np.array([0.0, 12 * dt_s, 13 * dt_s]), dt_s),
        [[True, False, False], [True, True, False], [True, True, True]],
    )
    assert schedule.cuts(np.array([0.0]), 24, dt_s) == {12, 13}
    assert schedule.cuts(np.array([1.0]), 24, dt_s) == set()
    assert schedule.cuts(np.array([11 * dt_s, 9 * dt_s]), 4, dt_s) == {1, 2, 3, 4}
    spread = schedule.waiting[:, 2]
    assert spread.min() > 1000.0 and np.diff(spread).min() > 10.0


def test_passive_damping_is_small_beside_a_servo():
    for link in bodies.humanoid().links[1:]:
        assert 0.0 < passive_damping(link) < 0.05 * link.joint.kd
