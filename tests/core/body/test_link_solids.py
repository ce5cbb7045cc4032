# SPDX-License-Identifier: GPL-3.0-or-later
"""Masses, centres, inertias and shapes of bodies without a mesh."""

import numpy as np
import pytest

from sinew.core.body import Shape, build_body
from sinew.core.body.link_solids import capsule, combine_solids, fill_shape, frame_along, shape_volume
from sinew.core.body.presets import body_preset, body_presets
from sinew.core.body.tables import DENSITY, PAIRED, SEGMENTS, mass_fractions
from sinew.core.geometry.quaternions import from_rotation_vector, multiply, rotate, to_matrix
from sinew.core.motion import Clip
from sinew.core.motion.io import stock

from .figures import fox, person, turned


def sampled(shape: Shape, count: int = 200_000) -> np.ndarray:
    """Points evenly inside a shape, by rejection."""
    rng = np.random.default_rng(1)
    x, y, z = shape.size
    half = {"box": [x, y, z], "sphere": [x, x, x], "capsule": [x, x, x + y]}[shape.kind]
    points = rng.uniform(-1.0, 1.0, (count, 3)) * half
    if shape.kind != "box":
        past = np.maximum(np.abs(points[:, 2]) - (y if shape.kind == "capsule" else 0.0), 0.0)
        points = points[np.hypot(np.hypot(points[:, 0], points[:, 1]), past) < x]
    return rotate(shape.quat_wxyz, points) + shape.pos


@pytest.mark.parametrize(
    "shape",
    [
        Shape("box", [0.1, 0.2, 0.3], [0.1, 0.0, 0.2], from_rotation_vector(np.array([0.3, -0.4, 0.5]))),
        Shape("sphere", [0.2, 0.0, 0.0], [0.0, 0.1, 0.0]),
        Shape("capsule", [0.1, 0.25, 0.0], [0.0, 0.0, 0.3], from_rotation_vector(np.array([0.7, 0.1, -0.2]))),
    ],
)
def test_inertia_and_volume_are_those_of_the_points_inside(shape):
    points = sampled(shape)
    solid = fill_shape(shape, 2.0)
    centred = points - points.mean(0)
    inertia = 2.0 * np.mean(
        np.sum(centred**2, -1)[:, None, None] * np.eye(3) - centred[:, :, None] * centred[:, None], 0
    )
    assert solid.com == pytest.approx(points.mean(0), abs=2e-3)
    assert solid.inertia == pytest.approx(inertia, rel=0.02, abs=2e-4)
    x, y, z = shape.size
    box = {"box": 8 * x * y * z, "sphere": 8 * x**3, "capsule": 8 * x * x * (x + y)}[shape.kind]
    assert shape_volume(shape) == pytest.approx(box * len(points) / 200_000, rel=0.01)


def test_two_halves_together_are_the_whole():
    whole = fill_shape(Shape("box", [0.1, 0.2, 0.3], [0.0, 0.0, 0.0]), 4.0)
    halves = [fill_shape(Shape("box", [0.1, 0.2, 0.15], [0.0, 0.0, z]), 2.0) for z in (-0.15, 0.15)]
    both = combine_solids(halves)
    assert both.mass == whole.mass
    assert both.com == pytest.approx(whole.com)
    assert both.inertia == pytest.approx(whole.inertia)


def test_a_solid_seen_from_another_frame_is_the_same_solid():
    solid = fill_shape(Shape("capsule", [0.1, 0.2, 0.0], [0.3, 0.1, 0.0], frame_along(np.array([1.0, 2.0, 0.5]))), 3.0)
    pos, quat = np.array([0.4, -0.2, 0.1]), from_rotation_vector(np.array([0.2, 0.9, -0.4]))
    seen = solid.seen_from(pos, quat)
    assert rotate(quat, seen.com) + pos == pytest.approx(solid.com)
    turn = to_matrix(quat)
    assert turn @ seen.inertia @ turn.T == pytest.approx(solid.inertia)
    assert np.abs(np.sum(multiply(quat, seen.shapes[0].quat_wxyz) * solid.shapes[0].quat_wxyz)) == pytest.approx(1.0)


def test_a_capsule_has_the_length_and_volume_asked_for():
    start, end = np.array([0.1, 0.0, 0.0]), np.array([0.1, 0.4, 0.0])
    shape = capsule(start, end, 0.005)
    assert shape_volume(shape) == pytest.approx(0.005)
    assert 2 * (shape.size[0] + shape.size[1]) == pytest.approx(0.4)
    assert rotate(shape.quat_wxyz, np.array([0.0, 0.0, 1.0])) == pytest.approx([0.0, 1.0, 0.0])
    assert capsule(start, start + 0.01, 0.005).kind == "sphere"


def test_the_table_is_a_whole_person():
    for head in (None, 0.15):
        parts = mass_fractions(head)
        assert sum(part * (2 if name in PAIRED else 1) for name, part in parts.items()) == pytest.approx(1.0)
    assert mass_fractions(0.15)["head"] == pytest.approx(0.15)
    # Spot checks against the paper, between men and women.
    assert SEGMENTS["thigh"].mass == pytest.approx((0.1416 + 0.1478) / 2)
    assert SEGMENTS["forearm"].com == pytest.approx((0.4574 + 0.4559) / 2)
    assert SEGMENTS["shin"].radii == pytest.approx(((0.251 + 0.267) / 2, (0.246 + 0.263) / 2, (0.102 + 0.092) / 2))


@pytest.mark.parametrize("preset", body_presets())
@pytest.mark.parametrize("make", [person, stock.stock_skeleton])
def test_masses_add_up_to_the_presets(make, preset):
    body, report = build_body(make(), preset=preset)
    assert report.mass == pytest.approx(sum(link.mass for link in body.links))
    assert report.mass == pytest.approx(body_preset(preset).bmi * report.stature**2, rel=1e-9)


def test_a_mass_given_by_hand_is_kept():
    for skeleton in (
        person(),
        fox(),
        person(without=("clavicle", "upper_arm", "forearm", "hand", "thumb", "index", "pinky")),
    ):
        assert build_body(skeleton, mass_kg=45.0)[0].mass == pytest.approx(45.0)


def test_presets_differ_as_they_should():
    masses = {name: build_body(person(), preset=name)[0] for name in body_presets()}
    assert masses["child"].mass < masses["adult"].mass < masses["heavy"].mass
    head = {name: body.links[body.link_of("neck")].mass / body.mass for name, body in masses.items()}
    assert head["child"] > 1.5 * head["adult"]


@pytest.mark.parametrize(
    "skeleton", [person(), stock.stock_skeleton(), turned(person(), 40.0)], ids=["person", "stock", "turned"]
)
def test_shapes_have_the_volume_of_their_mass(skeleton):
    body, _ = build_body(skeleton)
    for link in body.links:
        assert sum(shape_volume(shape) for shape in link.shapes) * DENSITY == pytest.approx(link.mass, rel=1e-6)


def test_stature_is_that_of_the_person():
    assert build_body(person())[1].stature == pytest.approx(1.75, abs=0.08)
    assert build_body(stock.stock_skeleton())[1].stature == pytest.approx(1.62, abs=0.08)


def world_solids(skeleton, **options):
    """By bone: mass, centre and inertia in the world at rest, and volume."""
    body, _ = build_body(skeleton, **options)
    heads, quats = skeleton.rest_world()
    found = {}
    for link in body.links:
        bone = skeleton.index(link.bone)
        turn = to_matrix(quats[bone])
        com = rotate(quats[bone], link.com) + heads[bone]
        centres = [rotate(quats[bone], shape.pos) + heads[bone] for shape in link.shapes]
        found[link.bone] = (
            link.mass,
            com,
            turn @ link.inertia @ turn.T,
            centres,
            [shape.size for shape in link.shapes],
        )
    return found


@pytest.mark.parametrize("skeleton", [person(), stock.stock_skeleton(), fox()], ids=["person", "stock", "fox"])
def test_a_symmetric_skeleton_gets_a_symmetric_body(skeleton):
    mirror = np.diag([-1.0, 1.0, 1.0])
    solids = world_solids(skeleton)
    sided = [bone for bone in solids if bone.endswith(".L")]
    assert len(sided) > 4
    for bone in sided:
        mass, com, inertia, centres, sizes = solids[bone]
        other = solids[bone[:-1] + "R"]
        assert mass == pytest.approx(other[0], rel=1e-6)
        assert com @ mirror == pytest.approx(other[1], abs=1e-6)
        assert mirror @ inertia @ mirror == pytest.approx(other[2], abs=1e-6)
        assert np.array(centres) @ mirror == pytest.approx(np.array(other[3]), abs=1e-6)
        assert np.array(sizes) == pytest.approx(np.array(other[4]), abs=1e-6)


def corners(skeleton, link):
    """(8, 3) the corners of a link's box in the world at rest."""
    heads, quats = skeleton.rest_world()
    bone = skeleton.index(link.bone)
    box = next(shape for shape in link.shapes if shape.kind == "box")
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    return rotate(quats[bone], rotate(box.quat_wxyz, signs * box.size) + box.pos) + heads[bone]


@pytest.mark.parametrize(
    "skeleton",
    [person(), stock.stock_skeleton(), person(without=("toe",))],
    ids=["person", "stock", "no toes"],
)
def test_soles_are_on_the_ground_that_the_rest_pose_stands_on(skeleton):
    body, _ = build_body(skeleton)
    soles = [link for link in body.links if link.role in ("foot", "toe")]
    assert soles
    for link in soles:
        assert corners(skeleton, link)[:, 2].min() == pytest.approx(0.0, abs=1e-9)


def test_a_heel_is_behind_the_ankle_and_the_toes_before_the_ball():
    skeleton = person()
    body, _ = build_body(skeleton)
    heads, _ = skeleton.rest_world()
    foot, toe = (body.links[body.link_of(bone)] for bone in ("foot.L", "toe.L"))
    ankle, ball = heads[skeleton.index("foot.L")], heads[skeleton.index("toe.L")]
    along = corners(skeleton, foot)[:, 1]  # it faces -Y
    assert 0.03 < along.max() - ankle[1] < 0.10
    assert along.min() == pytest.approx(ball[1], abs=0.01)
    assert corners(skeleton, toe)[:, 1].min() == pytest.approx(ball[1] - 0.06, abs=0.02)


def test_soles_follow_a_clip_that_stands_where_the_rest_pose_hangs():
    """A skeleton whose hips are the origin and whose feet are turned at rest, in a clip that puts them flat."""
    skeleton = turned(person(), 0.0, -0.96)
    bend = {"foot.L": 0.3, "foot.R": 0.3}
    quat = np.tile(skeleton.rest_quat_wxyz, (40, 1, 1))
    for bone, angle in bend.items():
        index = skeleton.index(bone)
        turn = from_rotation_vector(np.array([angle, 0.0, 0.0]))
        quat[:, index] = multiply(skeleton.rest_quat_wxyz[index], turn)
    clip = Clip(skeleton, 30.0, np.tile(skeleton.rest_pos, (40, 1, 1)), quat)
    body, _ = build_body(skeleton, clip=clip)
    for link in body.links:
        if link.role == "foot":
            box = link.shapes[0]
            world = clip.world()[1][0, skeleton.index(link.bone)]
            assert rotate(multiply(world, box.quat_wxyz), np.array([0.0, 0.0, 1.0])) == pytest.approx(
                [0.0, 0.0, 1.0], abs=1e-3
            )
