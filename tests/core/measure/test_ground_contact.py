# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that slide, roll, tip and sink by known amounts."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import foot_skate
from sinew.core.geometry.quaternions import from_rotation_vector, rotate
from sinew.core.measure import ground_contact
from sinew.core.measure.ground import ground_height
from sinew.core.sim.stage import Terrain

from ..sim import bodies
from .figures_seen import FPS, SOLE, figure, standing, weighing

DT = 1.0 / FPS
X = np.array([1.0, 0.0, 0.0])
SLOPE = Terrain(0.5 * np.tile(np.arange(5.0), (5, 1)), 1.0, np.array([-2.0, -2.0]))  # rises by half along x


def along(moments, speed, direction=X):
    """(K, 3) a way at a steady speed."""
    return np.arange(moments)[:, None] * DT * speed * np.asarray(direction)


def test_a_foot_that_slides_in_contact_slides_at_its_speed():
    body = figure("foot.L", "foot.R")
    pos, quat = standing(body, 21)
    pos[:, 1] += along(21, 0.3)
    both, one = (weighing(body, 21, *parts) for parts in (("foot.L", "foot.R"), ("foot.L",)))
    assert foot_skate.foot_skate_by_force(body, pos, quat, one, DT) == pytest.approx(0.3)
    assert foot_skate.foot_skate_by_force(body, pos, quat, both, DT) == pytest.approx(0.15)


def test_only_steps_that_begin_and_end_in_contact_count():
    body = figure("foot.L")
    pos, quat = standing(body, 20)
    force = weighing(body, 20, "foot.L")
    pos[10:, 1] += along(10, 2.0)
    force[10:] = 0.0
    assert foot_skate.foot_skate_by_force(body, pos, quat, force, DT) == pytest.approx(0.0, abs=1e-12)
    assert foot_skate.foot_skate_by_force(body, pos, quat, np.zeros_like(force), DT) is None
    assert foot_skate.foot_skate_by_force(body, pos[:1], quat[:1], force[:1], DT) is None


@pytest.mark.parametrize(("push", "counts"), [(0.11 * np.array([0, 0, 1]), True), (0.09 * np.array([0, 0, 1]), False),
                                              (0.5 * X, False), (0.5 * np.array([0.7, 0.0, 0.7]), True)])  # fmt: skip
def test_what_carries_the_foot_counts_and_what_it_kicks_does_not(push, counts):
    body = figure("foot.L")
    pos, quat = standing(body, 5)
    force = np.zeros((5, 2, 3))
    force[:, 1] = push * 9.81 * body.mass
    assert (foot_skate.foot_skate_by_force(body, pos, quat, force, DT) is not None) == counts


def test_a_ball_that_rolls_does_not_slide_though_its_middle_moves():
    radius, speed = 0.05, 0.4
    part = bodies.link("foot", -1, bodies.FREE, bodies.sphere(radius), 1.0, "foot")
    pos = along(40, speed) + [0.0, 0.0, radius]
    quat = from_rotation_vector(np.arange(40)[:, None] * DT * speed / radius * np.array([0.0, 1.0, 0.0]))
    assert foot_skate.sole_sliding_speed(part, pos, quat, DT)[0].max() < 0.01 * speed
    without_turning = np.tile([1.0, 0.0, 0.0, 0.0], (40, 1))
    assert foot_skate.sole_sliding_speed(part, pos, without_turning, DT)[0] == pytest.approx(np.full(39, speed))


def test_a_foot_that_rolls_off_over_its_ball_does_not_slide_though_the_ankle_moves():
    body = figure("foot.L")
    pos, quat = standing(body, 26)
    edge = np.array([-0.2, SOLE[1], 0.0])
    quat[:, 1] = from_rotation_vector(-np.linspace(0.0, 1.0, 26)[:, None] * X)
    pos[:, 1] = edge + rotate(quat[:, 1], np.array([0.0, -SOLE[1], SOLE[2]]))
    assert np.linalg.norm(np.diff(pos[:, 1, :2], axis=0), axis=-1).mean() / DT > 0.05
    force = weighing(body, 26, "foot.L")
    assert foot_skate.foot_skate_by_force(body, pos, quat, force, DT) < 0.002
    # And the same way back: the heel comes up from behind, the edge stays.
    assert foot_skate.foot_skate_by_force(body, pos[::-1], quat[::-1], force, DT) < 0.002


def turning(about, moments=11, rate=0.5):
    """A left foot that turns about a vertical through a point (2,) of its own frame, at so many radians a second."""
    body = figure("foot.L")
    pos, quat = standing(body, moments)
    quat[:, 1] = from_rotation_vector(np.arange(moments)[:, None] * DT * rate * np.array([0.0, 0.0, 1.0]))
    centre = np.append(about, 0.0)
    pos[:, 1] += centre - rotate(quat[:, 1], np.broadcast_to(centre, (moments, 3)))
    return body, pos, quat, weighing(body, moments, "foot.L")


@pytest.mark.parametrize("about", [(0.0, 0.0), (0.9 * SOLE[0], -0.9 * SOLE[1])])
def test_a_foot_that_pivots_on_its_sole_does_not_slide(about):
    assert foot_skate.foot_skate_by_force(*turning(about), DT) == pytest.approx(0.0, abs=1e-9)


def test_a_foot_that_turns_about_a_point_beside_it_slides_at_the_nearest_point_of_its_sole():
    beside = 0.3
    skate = foot_skate.foot_skate_by_force(*turning((SOLE[0] + beside, 0.0)), DT)
    assert skate == pytest.approx(0.5 * beside, rel=1e-2)


def test_what_drags_along_under_a_leg_that_carries_next_to_nothing_does_not_count():
    """A toe that is pressed alone with 6 % of the weight, and together with its foot with 12 %."""
    body = figure("foot.L", "toe.L")
    pos, quat = standing(body, 21)
    pos[:, 2] += along(21, 0.3)
    force = np.zeros((21, 3, 3))
    force[:, 2, 2] = 0.06 * 9.81 * body.mass
    assert foot_skate.foot_skate_by_force(body, pos, quat, force, DT) is None
    force[:, 1, 2] = 0.06 * 9.81 * body.mass
    assert foot_skate.foot_skate_by_force(body, pos, quat, force, DT) == pytest.approx(0.15)


@pytest.mark.parametrize(("meant", "counts"), [(0.0, True), (0.2, True), (0.3, False)])
def test_a_foot_that_is_to_glide_does_not_skate(meant, counts):
    body = figure("foot.L")
    pos, quat = standing(body, 21)
    wanted, seen = (pos.copy() for _ in range(2))
    wanted[:, 1] += along(21, meant)
    seen[:, 1] += along(21, 0.1)
    skate = foot_skate.foot_skate_by_force(body, seen, quat, weighing(body, 21, "foot.L"), DT, wanted=(wanted, quat))
    assert skate == (pytest.approx(0.1) if counts else None)


def test_a_corner_in_the_air_does_not_count():
    """Tipped onto one edge, 3 mm deep in soft ground, and turning about it: the other edge touches nothing."""
    body = figure("foot.L")
    pos, quat = standing(body, 11)
    edge = np.array([-0.2, SOLE[1], -0.003])
    quat[:, 1] = from_rotation_vector(-np.linspace(0.05, 0.3, 11)[:, None] * X)
    pos[:, 1] = edge + rotate(quat[:, 1], np.array([0.0, -SOLE[1], SOLE[2]]))
    assert foot_skate.foot_skate_by_force(body, pos, quat, weighing(body, 11, "foot.L"), DT) == pytest.approx(
        0.0, abs=1e-9
    )


@pytest.mark.parametrize(
    ("speed", "height", "seen"), [(0.2, 0.0, 0.2), (0.2, 0.01, 0.2), (0.2, 0.05, None), (2.0, 0.0, None)]
)
def test_without_forces_low_and_slow_feet_stand(speed, height, seen):
    body = figure("foot.L")
    pos, quat = standing(body, 11)
    pos[:, 1] += along(11, speed) + [0.0, 0.0, height]
    assert foot_skate.foot_skate_by_shape(body, pos, quat, DT) == (None if seen is None else pytest.approx(seen))


def test_how_deep_a_foot_sinks_in():
    body = figure("foot.L", "foot.R")
    pos, quat = standing(body, 10)
    pos[5:, 1, 2] -= 0.02
    pos[7, 2, 2] -= 0.06
    force = weighing(body, 10, "foot.L")
    assert ground_contact.penetration(body, pos, quat, force) == pytest.approx(((4 * 0.02 + 0.06) / 10, 0.06))
    assert ground_contact.penetration(body, pos, quat, np.zeros_like(force)) == (None, pytest.approx(0.06))
    assert ground_contact.penetration(body, pos[:0], quat[:0], force[:0]) == (None, None)


def test_a_terrain_is_the_ground():
    body = figure("foot.L")
    pos, quat = standing(body, 6)
    force = weighing(body, 6, "foot.L")
    lifted = pos + [0.0, 0.0, 0.5 * (2.0 - 0.2 + SOLE[0])]  # as high as the slope is under the upper side of the foot
    assert ground_contact.penetration(body, lifted, quat, force, SLOPE) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert ground_contact.penetration(body, lifted - [0.0, 0.0, 0.01], quat, force, SLOPE)[1] == pytest.approx(0.01)
    assert foot_skate.foot_skate_by_shape(body, lifted, quat, DT, ground_contact.height_under(SLOPE)) == pytest.approx(
        0.0, abs=1e-12
    )
    assert foot_skate.foot_skate_by_shape(body, lifted, quat, DT) is None


@pytest.mark.filterwarnings("error")
def test_beyond_the_edge_of_a_terrain_there_is_nothing_to_sink_into():
    body = figure("foot.L")
    pos, quat = standing(body, 6)
    pos = pos + [100.0, 0.0, -5.0]
    force = weighing(body, 6, "foot.L")
    assert ground_contact.penetration(body, pos, quat, force, SLOPE) == (0.0, 0.0)
    assert foot_skate.foot_skate_by_shape(body, pos, quat, DT, ground_contact.height_under(SLOPE)) is None
    assert foot_skate.foot_skate_by_force(
        body, pos + along(6, 0.1)[:, None], quat, force, DT, ground_contact.height_under(SLOPE)
    ) == pytest.approx(0.1)


def test_the_height_of_the_ground():
    xy = np.array([[-2.0, 1.3], [0.25, -1.7], [2.0, 2.0], [2.01, 0.0], [0.0, -2.01]])
    assert ground_height(SLOPE, xy) == pytest.approx([0.0, 1.125, 2.0, -np.inf, -np.inf])
    assert ground_height(None, xy) == pytest.approx(np.zeros(5))


@pytest.mark.parametrize(
    ("parts", "stand"),
    [
        (("foot.L", "toe.L", "head", "hand.L"), {"foot.L", "toe.L"}),
        (("shin.L", "foot.L", "shin.R"), {"foot.L", "shin.R"}),
        (("head", "hand.L"), set()),
        ((), set()),
    ],
)
def test_what_stands(parts, stand):
    body = figure(*parts)
    assert {body.links[index].bone for index in foot_skate.sole_links(body)} == stand


def test_hands_that_rest_on_the_ground_are_paws():
    body = figure("foot.L", "hand.L", "head")
    paw = replace(body.links[2], joint=replace(body.links[2].joint, pos=np.array([0.0, 0.5, -0.95])))
    low = bodies.body([body.links[0], body.links[1], paw, body.links[3]])
    assert list(foot_skate.sole_links(low)) == [1, 2]


def test_a_body_without_feet_or_shapes_has_no_skate_and_no_depth():
    body = figure("head")
    pos, quat = standing(body, 5)
    force = weighing(body, 5, "head")
    assert foot_skate.foot_skate_by_force(body, pos, quat, force, DT) is None
    assert foot_skate.foot_skate_by_shape(body, pos, quat, DT) is None
    bare = replace(body, links=tuple(replace(link, shapes=()) for link in body.links))
    assert ground_contact.penetration(bare, pos, quat, force) == (None, None)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "box"])
def test_the_lowest_point_is_where_the_shape_ends(kind):
    rng = np.random.default_rng(3)
    quat = rng.normal(size=(20, 4))
    quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
    shape = {
        "sphere": bodies.sphere(0.1, (0.0, 0.2, 0.0)),
        "capsule": bodies.capsule_y(0.1, 0.1, 0.5),
        "box": bodies.box((0.1, 0.2, 0.3), (0.0, 0.2, 0.0)),
    }[kind]
    part = bodies.link("part", -1, bodies.FREE, shape, 1.0)
    pos = rng.normal(size=(20, 3))
    directions = rng.normal(size=(4000, 3))
    inside = shape.pos + rotate(shape.quat_wxyz, _surface(shape, directions))
    lowest = [(p + rotate(q, inside))[:, 2].min() for p, q in zip(pos, quat, strict=True)]
    found = ground_contact.sole_clearance(part, pos, quat)
    assert np.all(found <= np.array(lowest) + 1e-9) and found == pytest.approx(np.array(lowest), abs=0.01)


def _surface(shape, directions):
    """Points of the shape's surface, in its own frame, corners included."""
    unit = directions / np.linalg.norm(directions, axis=-1, keepdims=True)
    if shape.kind == "box":
        corners = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
        return np.concatenate([unit / np.abs(unit).max(axis=-1, keepdims=True), corners]) * shape.size
    half = shape.size[1] if shape.kind == "capsule" else 0.0
    return shape.size[0] * unit + np.array([0.0, 0.0, half]) * np.sign(unit[:, 2:])
