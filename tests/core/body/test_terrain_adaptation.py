# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips on slopes, steps, bumps and obstacles: feet on what is under them, no jerks, and flat floors untouched."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.clearance import put_on_floor
from sinew.core.body.leg_ik import find_legs, solve_leg_ik
from sinew.core.body.terrain_adaptation import adapt_to_ground
from sinew.core.geometry.quaternions import angle_between, from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip
from sinew.core.motion.io import stock
from sinew.core.motion.loops import loop_clip
from sinew.core.sim.assembly import assemble_stage
from sinew.core.sim.stage import Terrain
from sinew.core.sim.stage_parts import Mesh, ObstaclePart, StageParts
from sinew.core.sim.surface import Surface, build_surface

from ...stock_clips import needs_stock
from .one_bone_bodies import SHAPES, clip_of, one_bone

GRID = np.arange(-12.0, 12.01, 0.05)
X, Y = np.meshgrid(GRID, GRID)


def field(heights):
    """Ground of that shape: heights as a function of x and y in metres."""
    return Surface(Terrain(heights(X, Y) + 0.0 * X, 0.05, GRID[[0, 0]]), ())


def box(name, low, high):
    """An obstacle from corner to corner."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * np.subtract(high, low) + low
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return ObstaclePart(name, Mesh(corners, np.array([t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))])))


def stage_surface(*obstacles, **parts):
    stage, _ = assemble_stage(StageParts(obstacles=obstacles, **parts), ())
    return build_surface(stage)


@pytest.fixture(scope="module")
def walk():
    """The stock walk for five strides along +X at 60 frames a second, and its body."""
    clip = loop_clip(stock.load_stock("walk"), 5).resample(60.0)
    pos, quat = clip.world()
    ahead = pos[-1, 0] - pos[0, 0]
    turn = from_rotation_vector(np.array([0.0, 0.0, -np.arctan2(ahead[1], ahead[0])]))
    pos = rotate(np.broadcast_to(turn, quat.shape), pos - pos[0, 0] * [1, 1, 0])
    clip = Clip.from_world(clip.skeleton, clip.fps, pos, multiply(np.broadcast_to(turn, quat.shape), quat), "walk")
    return build_body(clip.skeleton, clip=clip)[0], clip


def soles(body, clip, ground):
    """(T, 2) metres: how high the middle of each foot's underside is above the ground, by feet left and right."""
    pos, quat = clip.world()
    found = []
    for side in "LR":
        link = next(link for link in body.links if link.role == "foot" and link.side == side)
        bone = clip.skeleton.index(link.bone)
        shape = link.shapes[0]
        middle = pos[:, bone] + rotate(quat[:, bone], np.broadcast_to(shape.pos, pos[:, bone].shape))
        found.append(middle[:, 2] - ground.layers(middle[:, :2])[0])
    return np.stack(found, -1)


def deepest(body, clip, ground):
    """Metres that a foot's box goes into the ground, at most."""
    pos, quat = clip.world()
    worst = 0.0
    for link in body.links:
        bone = clip.skeleton.index(link.bone)
        for shape in link.shapes:
            if shape.kind != "box":
                continue
            signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
            own = rotate(shape.quat_wxyz, signs * shape.size) + shape.pos
            corners = pos[:, None, bone] + rotate(quat[:, None, bone], np.broadcast_to(own, (len(pos), 8, 3)))
            base, tops = ground.layers(corners[..., :2].reshape(-1, 2))
            floor = np.max(np.concatenate([base[:, None], tops], axis=1), axis=1)
            worst = max(worst, float((floor - corners[..., 2].ravel()).max()))
    return worst


def roughness(clip):
    """Mean size of the bones' third differences, in m/s³."""
    return float(np.abs(np.diff(clip.world()[0], 3, axis=0)).mean() * clip.fps**3)


@needs_stock
@pytest.mark.parametrize("ground", [None, field(lambda x, y: 0.0), stage_surface(), stage_surface(ground=False)])
def test_on_a_flat_floor_nothing_changes(walk, ground):
    flat, before = put_on_floor(*walk)
    clip, report = adapt_to_ground(*walk, ground)
    assert np.array_equal(clip.local_pos, flat.local_pos)
    assert np.array_equal(clip.local_quat_wxyz, flat.local_quat_wxyz)
    assert report == before


@needs_stock
def test_nothing_changes_by_what_stands_beside_the_way(walk):
    flat, _ = put_on_floor(*walk)
    # A wall across the way, a table over it, a crate that only a hand passes over, a pit far off.
    ground = stage_surface(
        box("wall", (2.0, -3, 0), (2.2, 3, 2.5)),
        box("table", (3.0, -1, 0.9), (4.0, 1, 1.0)),
        box("crate", (1.0, 0.22, 0), (1.5, 0.8, 0.3)),
    )
    clip, _ = adapt_to_ground(*walk, ground)
    assert np.array_equal(clip.local_pos, flat.local_pos)
    assert np.array_equal(clip.local_quat_wxyz, flat.local_quat_wxyz)


@needs_stock
def test_a_level_floor_elsewhere_is_a_shift(walk):
    flat, _ = put_on_floor(*walk)
    clip, report = adapt_to_ground(*walk, field(lambda x, y: 1.5))
    assert np.array_equal(clip.local_quat_wxyz, flat.local_quat_wxyz)
    assert clip.local_pos[:, 0] - flat.local_pos[:, 0] == pytest.approx(np.tile([0, 0, 1.5], (len(clip), 1)))
    assert report.rise == pytest.approx(1.5)


SLOPES = {"up": 0.18, "down": -0.18, "steep": 0.36}
STAIRS = {"up": 1.0, "down": -1.0}


@needs_stock
@pytest.mark.parametrize("slope", SLOPES.values(), ids=SLOPES)
def test_a_slope_is_walked_up_and_down(walk, slope):
    body, source = walk
    ground = field(lambda x, y: slope * x)
    flat, _ = put_on_floor(body, source)
    clip, report = adapt_to_ground(body, source, ground)
    pos, before = clip.world()[0][:, 0], flat.world()[0][:, 0]
    height = pos[:, 2] - slope * pos[:, 0]
    # The hips go parallel to the slope, as they did to the floor, a little lower so that both feet reach.
    assert np.abs((height - height.mean()) - (before[:, 2] - before[:, 2].mean())).max() < 0.05
    assert -0.12 < (height - before[:, 2]).mean() < 0.02
    assert np.array_equal(pos[:, :2], before[:, :2])
    down = soles(body, flat, field(lambda x, y: 0.0)) < 0.045
    assert np.abs(soles(body, clip, ground) - soles(body, flat, field(lambda x, y: 0.0)))[down].max() < 0.04
    assert deepest(body, clip, ground) < 0.05
    assert roughness(clip) < 1.2 * roughness(flat)
    assert report.rise == pytest.approx(abs(slope) * (pos[-1, 0] - pos[0, 0]), abs=0.1) and "follows" in report.message


@needs_stock
@pytest.mark.parametrize("way", STAIRS.values(), ids=STAIRS)
@pytest.mark.parametrize("made_of", ["terrain", "obstacles"])
def test_stairs_are_climbed_step_by_step(walk, way, made_of):
    body, source = walk
    edges = np.arange(1.0, 5.0, 0.4)
    top = 0.17 * len(edges)
    if made_of == "terrain":
        ground = field(lambda x, y: way * 0.17 * np.searchsorted(edges, x))
    else:
        heights = [(0.17 * (i + 1) if way > 0 else top - 0.17 * (i + 1)) for i in range(len(edges))]
        ends = [*edges[1:], 12.0]
        sides = zip(edges, ends, heights, strict=True)
        steps = [box(f"step{i}", (a, -1, -1), (b, 1, h)) for i, (a, b, h) in enumerate(sides)]
        first = [] if way > 0 else [box("landing", (-2, -1, -1), (edges[0], 1, top))]
        ground = stage_surface(*first, *steps)
        if way < 0:
            source = replace(source, local_pos=source.local_pos + _on_root(source, top))
    flat, _ = put_on_floor(body, source)
    clip, _ = adapt_to_ground(body, source, ground)
    assert deepest(body, clip, ground) < 0.05
    pos, before = clip.world()[0], flat.world()[0]
    climbed = (pos[:, 0, 2] - before[:, 0, 2])[-1] - (pos[:, 0, 2] - before[:, 0, 2])[0]
    assert climbed == pytest.approx(way * top, abs=0.1)
    # The trunk glides: it does not know of single steps.
    path = pos[:, 0, 2] - before[:, 0, 2]
    assert np.abs(np.diff(path, 2)).max() * clip.fps**2 < 6.0
    assert roughness(clip) < 1.4 * roughness(flat)


def _on_root(clip, height):
    up = np.zeros_like(clip.local_pos)
    up[:, clip.skeleton.parents < 0, 2] = height
    return up


@needs_stock
def test_bumps_are_felt_by_feet_and_hardly_by_the_trunk(walk):
    body, source = walk
    ground = field(lambda x, y: 0.05 * np.sin(9.0 * x) + 0.04 * np.sin(11.0 * y))
    flat, _ = put_on_floor(body, source)
    clip, _ = adapt_to_ground(body, source, ground)
    path = clip.world()[0][:, 0, 2] - flat.world()[0][:, 0, 2]
    assert np.ptp(path) < 0.12
    assert deepest(body, clip, ground) < 0.05
    assert roughness(clip) < 1.15 * roughness(flat)


@needs_stock
def test_who_was_captured_on_these_stairs_stays_on_them(walk):
    """A clip that has the stairs in it, captured 7 cm too high, on a stage that has the same stairs."""
    body, source = walk
    ground = field(lambda x, y: 0.17 * np.searchsorted(np.arange(1.0, 5.0, 0.4), x))
    climbing, _ = adapt_to_ground(body, source, ground)
    captured = replace(climbing, local_pos=climbing.local_pos + _on_root(climbing, 0.07))
    again, _ = adapt_to_ground(body, captured, ground)
    assert np.array_equal(again.local_quat_wxyz, climbing.local_quat_wxyz)
    assert again.local_pos[:, 0, 2] == pytest.approx(climbing.local_pos[:, 0, 2], abs=0.03)


@needs_stock
def test_who_is_put_on_a_roof_walks_on_the_roof(walk):
    body, source = walk
    ground = stage_surface(box("roof", (-2, -2, 3.0), (12, 2, 3.2)))
    below, _ = adapt_to_ground(body, source, ground)
    above, _ = adapt_to_ground(body, replace(source, local_pos=source.local_pos + _on_root(source, 3.25)), ground)
    flat, _ = put_on_floor(body, source)
    assert np.array_equal(below.local_pos, flat.local_pos)
    assert above.local_pos[:, 0, 2] == pytest.approx(flat.local_pos[:, 0, 2] + 3.2)


@needs_stock
def test_a_platform_without_ground_is_stood_on(walk):
    body, source = walk
    ground = stage_surface(box("platform", (-2, -2, -1), (12, 2, -0.5)), ground=False)
    clip, _ = adapt_to_ground(body, source, ground)
    assert clip.local_pos[:, 0, 2] == pytest.approx(put_on_floor(body, source)[0].local_pos[:, 0, 2] - 0.5)


def test_a_body_without_legs_goes_over_the_ground_too():
    body = one_bone(SHAPES["sphere"])
    clip = clip_of(body, np.full(240, 0.1))
    pos = np.array(clip.local_pos)
    pos[:, 0, 0] = np.linspace(0.0, 4.0, 240)
    clip = replace(clip, local_pos=pos)
    moved, _ = adapt_to_ground(body, clip, field(lambda x, y: 0.2 * x))
    height = moved.local_pos[:, 0, 2] - 0.2 * (moved.local_pos[:, 0, 0] + SHAPES["sphere"].pos[0])
    assert np.abs(height - 0.1).max() < 1e-6


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_short_clips_are_stood_on_the_ground_too(frames):
    body = one_bone(SHAPES["sphere"])
    clip, _ = adapt_to_ground(body, clip_of(body, np.full(frames, 0.1)), field(lambda x, y: 1.0 + 0.0 * x))
    assert clip.local_pos[:, 0, 2] == pytest.approx(1.1, abs=0.01)


@needs_stock
def test_a_leg_reaches_where_it_is_told_and_its_foot_keeps_its_turn(walk):
    body, clip = walk
    pos, quat = clip.world()
    for leg in find_legs(body, clip.skeleton)[:2]:
        goal = pos[:, leg.foot] + [0.02, -0.03, 0.15]
        reached, turned = replace(clip, local_quat_wxyz=solve_leg_ik(clip, leg, goal)).world()
        assert np.linalg.norm(reached[:, leg.foot] - goal, axis=-1).max() < 2e-3
        assert angle_between(turned[:, leg.foot], quat[:, leg.foot]).max() < 1e-6
        # Knees go forward, as knees do.
        assert np.all((reached[:, leg.knee] - pos[:, leg.knee])[:, 0] > 0.0)
        others = [bone for bone in range(len(clip.skeleton)) if bone not in _below(clip.skeleton, leg.hip)]
        assert np.array_equal(reached[:, others], pos[:, others])


@needs_stock
def test_a_leg_that_is_too_short_is_stretched_out_and_no_more(walk):
    body, clip = walk
    leg = find_legs(body, clip.skeleton)[0]
    pos, _ = clip.world()
    goal = pos[:, leg.foot] - [0.0, 0.0, 0.5]
    reached = replace(clip, local_quat_wxyz=solve_leg_ik(clip, leg, goal)).world()[0]
    aimed, got = goal - pos[:, leg.hip], reached[:, leg.foot] - pos[:, leg.hip]
    cosine = np.sum(aimed * got, -1) / (np.linalg.norm(aimed, axis=-1) * np.linalg.norm(got, axis=-1))
    assert cosine.min() > 0.9999
    lengths = np.linalg.norm(pos[:, leg.knee] - pos[:, leg.hip], axis=-1)
    assert np.linalg.norm(reached[:, leg.knee] - pos[:, leg.hip], axis=-1) == pytest.approx(lengths)


def _below(skeleton, bone):
    found = {bone}
    for index, parent in enumerate(skeleton.parents):
        if parent in found:
            found.add(index)
    return found
