# SPDX-License-Identifier: GPL-3.0-or-later
"""Uneven terrain (section 5.3.1): go to points over a rough ground, or from peak to peak, seeing heights around."""

import numpy as np

from ...body import BodyModel
from ...errors import BadStage
from ...geometry.quaternions import Array
from ...sim.stage import Character, Stage, Terrain
from ...sim.surface import terrain_height
from .point_goal import PointGoal
from .task import Flags, Moment

_HALF_M, _SPACING_M = 30.0, 0.25
_PATCH_M, _CELLS, _BEHIND_M = 3.0, 8, 0.5  # what is seen: the character stands half a metre behind the middle
_MOST_SEEN_M = 2.0
_STARTS_M, _GOALS_M = 12.0, 20.0  # from the middle of the terrain
_ROUGH_M, _ROUGH_EVERY_M = 1.0, 2.5
_PEAK_M, _PEAK_RADIUS_M, _PEAKS_APART_M = 4.0, 8.0, 12.0  # the flanks rise by 38 degrees at most
STEEPEST_DEG = 45.0
"""Of a way that somebody is asked to climb."""
_STEEP_OVER_M = 0.5
_SEED = 22
# Of goals on a scene's terrain, where nobody says which.
_SCENE_GOALS, _DRAWS, _NEAREST_M, _EDGE_M = 20, 40, 3.0, 1.0
_MOST_TOPS, _TOPS_APART_M, _LEAST_TOP_M = 12, 4.0, 0.5


class TerrainGoals(PointGoal):
    """Points on a terrain, of which a patch of heights is seen."""

    goal_size = 3 + _CELLS**2
    sigma_rad = 1.0
    seconds = 40.0

    def __init__(self, count: int, points: Array | None = None, stage: Stage | None = None) -> None:
        super().__init__(count, points, stage)
        side = _PATCH_M * (np.arange(_CELLS) / (_CELLS - 1) - 0.5)
        x, y = np.meshgrid(side + _BEHIND_M, side, indexing="ij")
        self._patch = np.stack([x, y], axis=-1).reshape(1, -1, 2)

    @classmethod
    def require_stage(cls, stage: Stage) -> None:
        """There must be a terrain."""
        if stage.terrain is None:
            raise BadStage(
                f"'{cls.label}' was learned on a terrain, and the stage is flat",
                "Give an object the role Terrain, or use a task for flat ground",
            )

    def place(self, which: Flags, rng: np.random.Generator) -> Array:
        """(n, 3) anywhere around the middle."""
        number = int(which.sum())
        place = rng.uniform(-_STARTS_M, _STARTS_M, (number, 2))
        return np.concatenate([place, rng.uniform(-np.pi, np.pi, (number, 1))], axis=1)

    def prepare(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """A goal on the terrain."""
        super().prepare(which, moment, rng)
        if self.points is None:
            self.kept["goal"][which] = np.clip(self.kept["goal"][which], -_GOALS_M, _GOALS_M)

    @classmethod
    def choose_points(cls, stage: Stage, begin: Array, rng: np.random.Generator) -> Array | None:
        """Some of its goals, one after the other, each on a straight way from the one before that can be climbed."""
        place, found = begin, list[Array]()
        for _ in range(_SCENE_GOALS):
            goals = [one for one in cls.goals_of(stage, rng) if np.linalg.norm(one - place) > _NEAREST_M]
            goals = [one for one in goals if steepest_deg(stage, place, one) <= STEEPEST_DEG]
            if not goals:
                break
            place = goals[0]
            found.append(place)
        if not found:
            raise BadStage(
                f"The terrain is too steep: no way from {begin[0]:.2f}, {begin[1]:.2f} rises by less than "
                f"{STEEPEST_DEG:.0f} degrees",
                "Move the character, or make the terrain gentler",
            )
        return np.stack(found)

    @classmethod
    def goals_of(cls, stage: Stage, rng: np.random.Generator) -> Array:
        """(K, 2) metres: places on a scene's terrain, in any order."""
        low, high = _extent(stage)
        return rng.uniform(low, high, (_DRAWS, 2))

    def heights(self, moment: Moment) -> Array:
        """(N, 64) metres above the ground below the root, row by row from behind to ahead."""
        root = moment.root[:, :2]
        around = root[:, None] + moment.to_world(np.repeat(self._patch, len(root), axis=0))
        return np.asarray(self.ground(around) - self.ground(root)[:, None])

    def see(self, moment: Moment) -> Array:
        """(N, 67) the goal, and heights."""
        heights = np.clip(self.heights(moment), -_MOST_SEEN_M, _MOST_SEEN_M)
        return np.concatenate([super().see(moment), heights], axis=1)


class RoughTerrain(TerrainGoals):
    """Offsets of up to a metre at random."""

    name = "terrain"
    label = "Cross a Terrain"
    help = "go to points over a rough terrain"

    @classmethod
    def make_stage(cls, body: BodyModel) -> Stage:
        """Hills and hollows every few metres."""
        count = round(2.0 * _HALF_M / _ROUGH_EVERY_M) + 2
        rng = np.random.default_rng(_SEED)
        coarse = _ROUGH_M * rng.random((count, count))
        axis = np.arange(round(2.0 * _HALF_M / _SPACING_M) + 1) * _SPACING_M / _ROUGH_EVERY_M
        low, share = np.floor(axis).astype(int), axis - np.floor(axis)
        share = share * share * (3.0 - 2.0 * share)  # no edges
        rows = coarse[low] * (1.0 - share[:, None]) + coarse[low + 1] * share[:, None]
        heights = rows[:, low] * (1.0 - share) + rows[:, low + 1] * share
        return _stage_on(body, heights)


class FivePeaks(TerrainGoals):
    """Five hills of four metres; the goals are their tops."""

    name = "peaks"
    label = "Climb Five Peaks"
    help = "go from peak to peak"

    @classmethod
    def goals_of(cls, stage: Stage, rng: np.random.Generator) -> Array:
        """The tops of a scene's terrain, in any order."""
        tops = find_tops(stage)
        if not len(tops):
            raise BadStage(
                "The terrain has no peaks",
                f"Let it have hills of {_LEAST_TOP_M:g} m or more, or give --points or goals",
            )
        return rng.permutation(tops)

    @classmethod
    def make_stage(cls, body: BodyModel) -> Stage:
        """One in the middle and four around it."""
        axis = np.arange(round(2.0 * _HALF_M / _SPACING_M) + 1) * _SPACING_M - _HALF_M
        x, y = np.meshgrid(axis, axis)
        heights = np.zeros(x.shape)
        for peak in peaks():
            far = np.minimum(np.hypot(x - peak[0], y - peak[1]), _PEAK_RADIUS_M)
            heights = np.maximum(heights, 0.5 * _PEAK_M * (1.0 + np.cos(np.pi * far / _PEAK_RADIUS_M)))
        return _stage_on(body, heights)

    def prepare(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """Another peak than the one that it is at."""
        if self.points is not None:
            super().prepare(which, moment, rng)
            return
        tops, root = peaks(), moment.root[which, :2]
        far = np.linalg.norm(root[:, None] - tops[None], axis=2)
        draw = rng.random(far.shape) + 10.0 * (far < _PEAK_RADIUS_M / 2.0)
        self.kept["goal"][which] = tops[draw.argmin(axis=1)]


def peaks() -> Array:
    """(5, 2) metres: where the tops are."""
    corners = 0.5 * np.pi * np.arange(4) + 0.25 * np.pi
    around = _PEAKS_APART_M * np.stack([np.cos(corners), np.sin(corners)], axis=1)
    return np.concatenate([np.zeros((1, 2)), around])


def _stage_on(body: BodyModel, heights: Array) -> Stage:
    terrain = Terrain(heights, _SPACING_M, np.array([-_HALF_M, -_HALF_M]))
    return Stage((Character(body),), terrain=terrain)


def _extent(stage: Stage) -> tuple[Array, Array]:
    """(2,) least and most metres of a stage's terrain, a step within its edges."""
    terrain = stage.terrain
    assert terrain is not None  # or ``require_stage`` would have said so
    size = terrain.spacing * (np.array(terrain.heights.shape[::-1]) - 1)
    return terrain.origin + _EDGE_M, terrain.origin + np.maximum(size - _EDGE_M, _EDGE_M)


def find_tops(stage: Stage) -> Array:
    """(K, 2) metres: tops of hills, the highest first, each higher than all within some metres around."""
    low, high = _extent(stage)
    x, y = np.meshgrid(*(np.arange(one, other, _STEEP_OVER_M) for one, other in zip(low, high, strict=True)))
    places = np.stack([x.ravel(), y.ravel()], axis=1)
    assert stage.terrain is not None  # as above
    heights = terrain_height(stage.terrain, places)
    found, left, least = list[Array](), heights.copy(), heights.min() + _LEAST_TOP_M
    while len(found) < _MOST_TOPS and left.max(initial=-np.inf) > least:
        highest = int(left.argmax())
        near = np.linalg.norm(places - places[highest], axis=1) < _TOPS_APART_M
        if heights[highest] >= heights[near].max():  # and no flank of one that is in already
            found.append(places[highest])
        left[near] = -np.inf
    return np.array(found).reshape(-1, 2)


def steepest_deg(stage: Stage, begin: Array, end: Array) -> float:
    """How steep the ground of a stage is where it is steepest on the straight way between two places (2,)."""
    if stage.terrain is None:
        return 0.0
    far = float(np.linalg.norm(end - begin))
    count = max(2, round(far / _STEEP_OVER_M) + 1)
    way = begin + np.linspace(0.0, 1.0, count)[:, None] * (end - begin)
    rise = np.abs(np.diff(terrain_height(stage.terrain, way)))
    return float(np.degrees(np.arctan2(rise.max(), max(far / (count - 1), 1e-6))))


def require_climbable(stage: Stage, begin: Array, points: Array) -> None:
    """Refuse a straight way from (2,) over points (K, 2) that is steeper somewhere than anybody climbs."""
    place = begin
    for point in points:
        angle = steepest_deg(stage, place, point)
        if angle > STEEPEST_DEG:
            raise BadStage(
                f"The way to {point[0]:.2f}, {point[1]:.2f} rises by {angle:.0f} degrees: nobody climbs that",
                f"Choose goals with ways of {STEEPEST_DEG:.0f} degrees at most between them, or a gentler terrain",
            )
        place = point
