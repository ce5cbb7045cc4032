# SPDX-License-Identifier: GPL-3.0-or-later
"""A small body fitted to a mesh of known shape: shapes, symmetry, soles, masses, and what does not count."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body.fit import fit_body
from sinew.core.body.fit_shapes import capsule_between, shape_distance
from sinew.core.body.mesh import SkinnedMesh
from sinew.core.body.model import BodyModel, Joint, Link, Shape
from sinew.core.errors import BadMotion
from sinew.core.geometry.quaternions import conjugate, from_rotation_vector, multiply, rotate, to_matrix
from sinew.core.motion import Skeleton
from sinew.core.motion.skeleton import to_local

from .clouds import surface

MIRROR = np.array([-1.0, 1.0, 1.0])
# bone: (parent, role, side, head). The sides' frames are turned otherwise, as in real rigs.
BONES = {
    "hips": (-1, "pelvis", "", (0.0, 0.02, 1.0)),
    "leg.L": (0, "thigh", "L", (0.1, 0.0, 0.95)),
    "leg.R": (0, "thigh", "R", (-0.1, 0.0, 0.95)),
    "foot.L": (1, "foot", "L", (0.12, 0.0, 0.1)),
    "foot.R": (2, "foot", "R", (-0.12, 0.0, 0.1)),
}
# What the character looks like at rest: hips that lie across, legs, feet to the front (-Y) on the ground.
HIPS = capsule_between(np.array([-0.08, 0.02, 1.02]), np.array([0.08, 0.02, 1.02]), 0.12)
LEG = capsule_between(np.array([0.1, 0.01, 0.92]), np.array([0.12, 0.0, 0.2]), 0.07)
FOOT = Shape(
    "box", np.array([0.13, 0.045, 0.04]), np.array([0.13, -0.06, 0.04]), from_rotation_vector(np.array([0, 0, 1.4]))
)


def skeleton() -> Skeleton:
    turns = np.random.default_rng(1).normal(size=(len(BONES), 3))
    parents = np.array([parent for parent, *_ in BONES.values()])
    heads = np.array([head for *_, head in BONES.values()])
    return Skeleton(tuple(BONES), parents, *to_local(parents, heads, from_rotation_vector(turns)), np.full(5, 0.2))


def body(bones: Skeleton) -> BodyModel:
    """Links that each have the same small ball until they are fitted."""
    links = []
    for index, (bone, (parent, role, side, _)) in enumerate(BONES.items()):
        joint = Joint("ball" if index else "free", bones.rest_pos[index], bones.rest_quat_wxyz[index])
        ball = (Shape("sphere", np.array([0.03, 0.0, 0.0]), np.zeros(3)),)
        links.append(Link(bone, role, side, parent, joint, ball, 1.0, np.zeros(3), np.eye(3) * 1e-3))
    return BodyModel(bones, tuple(links))


def mesh(thick_right: float = 1.0, counts: int = 200, only: tuple[str, ...] = tuple(BONES)) -> SkinnedMesh:
    """Points on the look of each part, skinned to its bone alone; the right side is the left one's mirror image."""
    legs = [replace(LEG, size=LEG.size * np.array([thick, 1.0, 1.0])) for thick in (1.0, thick_right)]
    parts = [
        ("hips", surface(HIPS, counts)),
        ("leg.L", surface(legs[0], counts)),
        ("leg.R", surface(legs[1], counts)[::-1] * MIRROR),  # and its vertices are numbered otherwise
        ("foot.L", surface(FOOT, counts)),
        ("foot.R", surface(FOOT, counts)[::-1] * MIRROR),
    ]
    weights = [np.tile(np.array(list(BONES)) == bone, (len(points), 1)) for bone, points in parts if bone in only]
    return SkinnedMesh(np.concatenate([points for bone, points in parts if bone in only]), np.concatenate(weights))


def in_world(fitted: BodyModel, bone: str) -> Shape:
    """The shape of a link at rest in the world."""
    heads, quats = fitted.skeleton.rest_world()
    index = fitted.skeleton.index(bone)
    (shape,) = fitted.links[index].shapes
    pos = heads[index] + rotate(quats[index], shape.pos)
    return replace(shape, pos=pos, quat_wxyz=multiply(quats[index], shape.quat_wxyz))


def union_mass(fitted: BodyModel) -> float:
    """Mass of all shapes together at the body's density, by throwing points."""
    heads, quats = fitted.skeleton.rest_world()
    low, high = np.array([-0.4, -0.4, -0.1]), np.array([0.4, 0.4, 1.3])
    points = np.random.default_rng(5).uniform(low, high, size=(400_000, 3))
    inside = np.zeros(len(points), dtype=bool)
    for link in fitted.links:
        index = fitted.skeleton.index(link.bone)
        local = rotate(conjugate(quats[index]), points - heads[index])
        inside |= np.min([shape_distance(shape, local) for shape in link.shapes], axis=0) < 0.0
    return 985.0 * float(np.prod(high - low)) * inside.mean()


@pytest.fixture(scope="module")
def fitted():
    return fit_body(body(skeleton()), mesh())


def test_every_link_gets_the_shape_of_its_vertices(fitted):
    made, report = fitted
    assert report.vertices == dict.fromkeys(BONES, 200)
    assert max(report.rms_m.values()) < 0.004
    assert in_world(made, "hips").size[:2] == pytest.approx(HIPS.size[:2], rel=0.05)
    leg = in_world(made, "leg.L")
    assert leg.kind == "capsule" and leg.size[:2] == pytest.approx(LEG.size[:2], rel=0.05)
    assert leg.pos == pytest.approx(LEG.pos, abs=0.005)
    foot = in_world(made, "foot.L")
    assert foot.kind == "box" and np.sort(foot.size) == pytest.approx(np.sort(FOOT.size), rel=0.05)
    assert foot.pos == pytest.approx(FOOT.pos, abs=0.005)


def test_the_reported_error_is_the_distance_from_the_vertices(fitted):
    made, report = fitted
    points = surface(LEG, 200)
    off = np.sqrt(np.mean(shape_distance(in_world(made, "leg.L"), points) ** 2))
    assert report.rms_m["leg.L"] == pytest.approx(off, rel=1e-6)


def test_joints_and_roles_stay_as_they_were(fitted):
    for old, new in zip(body(skeleton()).links, fitted[0].links, strict=True):
        assert (old.bone, old.role, old.side, old.parent) == (new.bone, new.role, new.side, new.parent)
        np.testing.assert_array_equal(old.joint.pos, new.joint.pos)


def test_a_symmetric_mesh_gets_a_symmetric_body(fitted):
    made, _ = fitted
    probe = np.random.default_rng(2).uniform([-0.3, -0.3, 0.0], [0.3, 0.3, 1.2], size=(200, 3))
    for part in ("leg", "foot"):
        left, right = in_world(made, f"{part}.L"), in_world(made, f"{part}.R")
        assert shape_distance(left, probe) == pytest.approx(shape_distance(right, probe * MIRROR), abs=1e-9)
        masses = [made.links[made.link_of(f"{part}.{side}")].mass for side in "LR"]
        assert masses[0] == pytest.approx(masses[1], rel=0.01)
    hips = in_world(made, "hips")
    assert shape_distance(hips, probe) == pytest.approx(shape_distance(hips, probe * MIRROR), abs=1e-9)


def test_feet_are_level_and_stand_on_the_lowest_vertices(fitted):
    for side in "LR":
        foot = in_world(fitted[0], f"foot.{side}")
        up = np.abs(to_matrix(foot.quat_wxyz)[2])
        assert up.max() == pytest.approx(1.0, abs=1e-9)
        assert foot.pos[2] - up @ foot.size == pytest.approx(0.0, abs=0.001)


def test_masses_are_those_of_the_union(fitted):
    made, report = fitted
    assert made.mass == pytest.approx(union_mass(made), rel=0.02)
    assert 985.0 * report.volume_m3 == pytest.approx(made.mass, rel=0.02)
    alone = sum(985.0 * _volume(in_world(made, bone)) for bone in BONES)
    assert made.mass < 0.99 * alone  # what hips and legs share is not weighed twice


def test_centres_of_mass_are_inside_and_inertias_those_of_solids(fitted):
    for link in fitted[0].links:
        assert shape_distance(link.shapes[0], link.com[None])[0] < 0.0
        a, b, c = np.linalg.eigvalsh(link.inertia)
        assert a + b > c  # no solid is otherwise


def test_the_numbering_of_vertices_does_not_matter(fitted):
    given = mesh()
    order = np.random.default_rng(3).permutation(len(given.vertices))
    shuffled, _ = fit_body(body(skeleton()), SkinnedMesh(given.vertices[order], given.weights[order]))
    for old, new in zip(fitted[0].links, shuffled.links, strict=True):
        assert new.shapes[0].size == pytest.approx(old.shapes[0].size, abs=1e-9)
        assert new.mass == old.mass


def test_what_lies_inside_does_not_count(fitted):
    given = mesh()
    thin = surface(replace(LEG, size=LEG.size * np.array([0.3, 1.0, 1.0])), 500)
    weights = np.tile(np.array(list(BONES)) == "leg.L", (500, 1))
    areas = np.concatenate([np.ones(len(given.vertices)), np.zeros(500)])
    vertices = np.concatenate([given.vertices, thin])
    layered = SkinnedMesh(vertices, np.concatenate([given.weights, weights]), areas)
    made, report = fit_body(body(skeleton()), layered)
    assert report.vertices["leg.L"] == 200
    assert in_world(made, "leg.L").size == pytest.approx(in_world(fitted[0], "leg.L").size, abs=1e-9)


def test_a_side_with_a_likeness_of_its_own_keeps_it():
    made, _ = fit_body(body(skeleton()), mesh(thick_right=1.5))
    assert in_world(made, "leg.L").size[0] == pytest.approx(0.07, rel=0.05)
    assert in_world(made, "leg.R").size[0] == pytest.approx(0.105, rel=0.05)


def test_a_link_with_too_few_vertices_keeps_the_shape_it_had():
    made, report = fit_body(body(skeleton()), mesh(only=("hips", "leg.L", "foot.L")))
    assert report.vertices["leg.R"] == 0 and "leg.R" not in report.rms_m
    assert made.links[2].shapes[0].kind == "sphere"
    assert made.links[2].mass == pytest.approx(985.0 * 4.0 / 3.0 * np.pi * 0.03**3, rel=0.05)
    assert made.links[1].shapes[0].kind == "capsule"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: replace(m, weights=np.zeros_like(m.weights)), "not skinned to any bone"),
        (lambda m: replace(m, vertices=100.0 * m.vertices), "times as large as its skeleton"),
        (lambda m: replace(m, vertices=0.01 * m.vertices), "times as large as its skeleton"),
        (lambda m: replace(m, weights=m.weights[:, :4]), "skinned to 4 bones"),
    ],
)
def test_a_mesh_that_does_not_belong_to_the_skeleton_is_refused(change, words):
    with pytest.raises(BadMotion, match=words):
        fit_body(body(skeleton()), change(mesh()))


def test_a_mesh_that_is_no_mesh_is_refused():
    good = mesh()
    with pytest.raises(BadMotion, match="not numbers"):
        SkinnedMesh(np.where(good.vertices > 1.0, np.nan, good.vertices), good.weights)
    with pytest.raises(BadMotion, match="shape"):
        SkinnedMesh(good.vertices[:-1], good.weights)
    with pytest.raises(BadMotion, match="areas"):
        SkinnedMesh(good.vertices, good.weights, np.ones(3))


def test_weights_are_shares():
    given = SkinnedMesh(np.zeros((3, 3)), np.array([[2.0, 2.0], [0.2, 0.0], [0.0, 0.0]]))
    np.testing.assert_allclose(given.weights, [[0.5, 0.5], [1.0, 0.0], [0.0, 0.0]])


def _volume(shape: Shape) -> float:
    a, b, c = shape.size
    return 8.0 * a * b * c if shape.kind == "box" else np.pi * a**2 * (2.0 * b + 4.0 / 3.0 * a)
