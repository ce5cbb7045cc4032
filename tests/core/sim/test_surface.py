# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be stood on is where the engines' rays find it."""

import numpy as np
import pytest

from sinew.core.sim.assembly import assemble_stage
from sinew.core.sim.stage import Character, Obstacle, Stage, Terrain
from sinew.core.sim.stage_parts import StageParts
from sinew.core.sim.surface import build_surface, terrain_height

from .bodies import ball, rest_pose

RNG = np.random.default_rng(3)
BLOCK = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 0.5) for z in (0.0, 0.4)])


def seen_from(world, xy, height):
    """(N,) what rays straight down from that height meet."""
    pose = rest_pose(ball(), (50.0, 50.0, 50.0))[None]
    state = world.state_of(pose, np.zeros((1, 6)))
    origins = np.concatenate([xy, np.full((len(xy), 1), height)], axis=1)[None]
    return height - world.cast_rays(state, origins, np.broadcast_to([0.0, 0.0, -1.0], origins.shape), 20.0)[0]


def test_a_plane_is_met_exactly_and_goes_on_level_beyond_the_rim():
    x, y = np.meshgrid(np.arange(8) * 0.5 - 1.0, np.arange(6) * 0.5 + 2.0)
    field = Terrain(0.3 * x - 0.2 * y, 0.5, np.array([-1.0, 2.0]))
    places = RNG.uniform([-1.0, 2.0], [2.5, 4.5], (100, 2))
    assert terrain_height(field, places) == pytest.approx(places @ [0.3, -0.2])
    assert terrain_height(field, np.array([[99.0, 2.0], [2.5, 4.5]])) == pytest.approx([0.3 * 2.5 - 0.4, 0.75 - 0.9])


def test_it_is_where_rays_find_it(compiled):
    side = np.arange(41) * 0.1
    x, y = np.meshgrid(side, side)
    terrain = Terrain(0.2 * np.sin(2.0 * x) + 0.1 * np.cos(3.0 * y), 0.1, np.zeros(2))
    turned = BLOCK @ np.array([[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    ramp = np.concatenate([BLOCK[BLOCK[:, 2] == 0.0], BLOCK[(BLOCK[:, 0] == 1.0) & (BLOCK[:, 2] > 0.0)]])
    obstacles = (Obstacle("block", (turned + [1.0, 1.0, 0.3],)), Obstacle("ramp", (ramp + [2.0, 2.5, 0.2],)))
    stage = Stage((Character(ball()),), terrain=terrain, obstacles=obstacles)
    places = RNG.uniform(0.2, 3.8, (400, 2))
    ground, tops = build_surface(stage).layers(places)
    found = np.maximum(ground, tops.max(axis=1))
    away = np.abs(found - seen_from(compiled(stage), places, 5.0))
    assert np.mean(np.isfinite(tops).any(axis=1)) > 0.03
    assert np.sort(away)[-5] < 0.01  # but for rays that pass an edge on another side of it


def test_layers_above_one_another_are_all_told():
    stage = Stage((), obstacles=tuple(Obstacle(f"{z}", (BLOCK + [0, 0, z],)) for z in (0.0, 1.0, 2.0)))
    ground, tops = build_surface(stage).layers(np.array([[0.5, 0.25], [3.0, 3.0]]))
    assert ground.tolist() == [0.0, 0.0]
    assert sorted(tops[0]) == pytest.approx([0.4, 1.4, 2.4]) and np.all(tops[1] == -np.inf)


def test_a_flat_floor_or_none_needs_no_surface():
    assert build_surface(Stage(())) is None
    assert build_surface(assemble_stage(StageParts(ground=False), ())[0]) is None


def test_without_ground_there_is_nothing_beside_a_platform():
    empty, _ = assemble_stage(StageParts(ground=False), ())
    stage = Stage((), terrain=empty.terrain, obstacles=(Obstacle("platform", (BLOCK,)),))
    ground, tops = build_surface(stage).layers(np.array([[0.5, 0.25], [3.0, 3.0]]))
    assert np.all(ground == -np.inf) and tops[:, 0].tolist() == [pytest.approx(0.4), -np.inf]
