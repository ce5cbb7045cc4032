# SPDX-License-Identifier: GPL-3.0-or-later
"""Voxels weigh as geometry does: within 2 % in mass, 2 mm in place and 4 % in inertia."""

import numpy as np
import pytest

from sinew.core.body.model import Shape
from sinew.core.body.voxels import DENSITY_KG_M3, VoxelMass, weigh_links
from sinew.core.geometry.quaternions import from_rotation_vector, rotate, to_matrix

HERE = (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
THERE = (np.array([0.4, -1.2, 0.9]), from_rotation_vector(np.array([0.5, 1.0, -0.3])))

FEW = 200_000  # voxels: a single shape needs no more


def sphere(radius: float, pos=(0.0, 0.0, 0.0)) -> Shape:
    return Shape("sphere", np.array([radius, 0.0, 0.0]), np.array(pos, dtype=float))


def exact(shape: Shape) -> VoxelMass:
    """Mass, centre and inertia of one shape in its link's frame, by formula."""
    a, b, c = shape.size
    if shape.kind == "sphere":
        mass = 4.0 / 3.0 * np.pi * a**3
        own = np.full(3, 0.4 * mass * a**2)
    elif shape.kind == "box":
        mass = 8.0 * a * b * c
        own = mass / 3.0 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    else:
        tube, ends = 2.0 * np.pi * a**2 * b, 4.0 / 3.0 * np.pi * a**3
        mass = tube + ends
        long = tube * a**2 / 2.0 + ends * 0.4 * a**2
        across = tube * (a**2 / 4.0 + b**2 / 3.0) + ends * (0.4 * a**2 + b**2 + 0.75 * a * b)
        own = np.array([across, across, long])
    turn = to_matrix(shape.quat_wxyz)
    return VoxelMass(DENSITY_KG_M3 * mass, shape.pos, DENSITY_KG_M3 * turn @ np.diag(own) @ turn.T)


def assert_same(found: VoxelMass, wanted: VoxelMass) -> None:
    assert found.mass == pytest.approx(wanted.mass, rel=0.02)
    assert found.com == pytest.approx(wanted.com, abs=0.002)
    assert found.inertia == pytest.approx(wanted.inertia, abs=0.04 * np.linalg.eigvalsh(wanted.inertia).max())


SHAPES = {
    "sphere": sphere(0.12, (0.05, 0.0, 0.02)),
    "box": Shape("box", np.array([0.12, 0.05, 0.03]), np.array([0.0, 0.1, 0.0]), THERE[1]),
    "capsule": Shape("capsule", np.array([0.06, 0.17, 0.0]), np.array([0.0, 0.2, 0.0]), THERE[1]),
}


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("frame", [HERE, THERE])
def test_one_shape_weighs_what_the_formula_says_in_its_links_own_frame(kind, frame):
    shape = SHAPES[kind]
    (found,), volume = weigh_links([([shape], *frame)], FEW)
    assert_same(found, exact(shape))
    assert volume * DENSITY_KG_M3 == pytest.approx(found.mass)


def test_a_thin_hand_is_weighed_well_beside_a_whole_body():
    """The voxels are cut for the whole body, of which a hand is a few of them thick."""
    hand = Shape("box", np.array([0.085, 0.075, 0.014]), np.array([0.08, 0.0, 0.0]), THERE[1])
    far = (np.array([1.6, 0.35, 1.7]), THERE[1])
    trunk, found = weigh_links([([sphere(0.1)], *HERE), ([hand], *far)])[0]
    assert_same(found, exact(hand))
    assert_same(trunk, exact(sphere(0.1)))


def test_several_shapes_of_one_link_are_one_solid():
    pair = [sphere(0.1, (-0.2, 0.0, 0.0)), sphere(0.1, (0.2, 0.0, 0.0))]
    (found,), _ = weigh_links([(pair, *THERE)], FEW)
    one = exact(pair[0])
    apart = one.mass * 0.2**2
    wanted = VoxelMass(2.0 * one.mass, np.zeros(3), 2.0 * (one.inertia + np.diag([0.0, apart, apart])))
    assert_same(found, wanted)


def test_what_two_links_share_is_counted_once_and_cut_in_the_middle():
    radius, apart = 0.1, 0.12
    links = [([sphere(radius)], *HERE), ([sphere(radius)], np.array([apart, 0.0, 0.0]), THERE[1])]
    (left, right), volume = weigh_links(links, FEW)
    lens = np.pi * (4 * radius + apart) * (2 * radius - apart) ** 2 / 12.0
    whole = 4.0 / 3.0 * np.pi * radius**3
    assert volume == pytest.approx(2.0 * whole - lens, rel=0.005)
    assert left.mass + right.mass == pytest.approx(DENSITY_KG_M3 * volume)
    assert left.mass == pytest.approx(right.mass, rel=0.02)
    # Each lost half of the lens, on the side of the other.
    cut = rotate(THERE[1], right.com)
    assert left.com == pytest.approx(-cut, abs=0.002)
    assert left.com[0] < -0.002


def test_a_voxel_belongs_to_the_link_whose_surface_it_is_deepest_under():
    inner, outer = sphere(0.05), sphere(0.1)
    (small, large), volume = weigh_links([([inner], *HERE), ([outer], *HERE)], FEW)
    assert small.mass == 0.0
    assert_same(large, exact(outer))
    assert volume == pytest.approx(large.mass / DENSITY_KG_M3)


def test_mirror_images_weigh_the_same():
    side = Shape("capsule", np.array([0.05, 0.15, 0.0]), np.zeros(3))
    tilt = from_rotation_vector(np.array([0.0, 0.4, 0.0]))
    back = from_rotation_vector(np.array([0.0, -0.4, 0.0]))
    arms = [([side], np.array([0.3, 0.0, 1.0]), tilt), ([side], np.array([-0.3, 0.0, 1.0]), back)]
    (left, right, _), _ = weigh_links([*arms, ([sphere(0.2, (0.0, 0.0, 1.0))], *HERE)], FEW)
    assert left.mass == pytest.approx(right.mass, rel=1e-9)
    assert left.com * np.array([-1.0, 1.0, 1.0]) == pytest.approx(right.com, abs=1e-9)


def test_a_sole_does_not_gain_a_layer_of_voxels_by_a_hairs_breadth():
    """A level box lies along the grid; a foot's mass would jump by a tenth from one side to the other."""
    sole = Shape("box", np.array([0.05, 0.045, 0.018]), np.zeros(3))
    heights = np.linspace(0.0, 0.012, 7)
    masses = [
        weigh_links([([sphere(0.1)], np.array([0.5, 0.0, 1.5]), HERE[1]), ([sole], np.array([0.0, 0.0, z]), HERE[1])])[
            0
        ][1].mass
        for z in heights
    ]
    assert max(masses) < 1.02 * min(masses)
