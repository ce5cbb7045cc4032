# SPDX-License-Identifier: GPL-3.0-or-later
"""The maze (section 5.2): explore all regions between walls, seeing by rays, with a reward for each new one."""

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...errors import BadStage
from ...geometry.quaternions import Array
from ...sim.stage import Character, Obstacle, Stage
from .crowd import box_obstacle
from .task import Flags, Moment, Task
from .walls import Walls

_CELLS, _CELL_M = 8, 3.0
_RAYS, _SPAN, _RAY_M = 32, np.radians(270.0), 5.0
_AROUND, _AROUND_M = 3, 5.0  # marks of visited regions that are seen, and the side of the square that they are for
_NEW, _ALL = 1.0, 30.0
_WALL_M, _HALF_HEIGHT_M = 0.1, 1.0
_OPENED = 0.25  # of the walls that a maze without ways around would have
_SEED = 8
_MOST_REGIONS = 4096


class Maze(Task):
    """visited: (N, regions). rays: (N, 32) metres that were seen the step before."""

    name = "maze"
    label = "Explore a Maze"
    help = "explore all regions between walls"
    goal_size = 2 * _RAYS + _AROUND**2
    seconds = 120.0
    goes_to_points = False

    def __init__(self, count: int, points: Array | None = None, stage: Stage | None = None) -> None:
        super().__init__(count, points, stage)
        self.walls = Walls(stage or Stage(()))
        self._low = np.zeros(2)
        self.shape = np.ones(2, dtype=np.int64)
        if len(self.walls.edges):
            low, high = self.walls.extent
            self._low, self.shape = low, np.maximum(1, np.round((high - low) / _CELL_M).astype(np.int64))
            self._cell = (high - low) / self.shape
        else:
            self._cell = np.full(2, _CELL_M)
        angle = np.linspace(-0.5 * _SPAN, 0.5 * _SPAN, _RAYS)
        self._rays = np.stack([np.cos(angle), np.sin(angle)], axis=1)[None]
        side = _AROUND_M / _AROUND * (np.arange(_AROUND) - 0.5 * (_AROUND - 1))
        self._around = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(1, -1, 2)
        self.kept |= {
            "visited": np.zeros((count, int(self.shape.prod()))),
            "rays": np.full((count, _RAYS), _RAY_M),
            "fresh": np.zeros(count),
        }

    @classmethod
    def make_stage(cls, body: BodyModel) -> Stage:
        """Eight regions by eight, all of which can be come to."""
        return Stage((Character(body),), obstacles=make_walls(np.random.default_rng(_SEED)))

    @classmethod
    def require_stage(cls, stage: Stage) -> None:
        """There must be walls, and not too many regions."""
        walls = Walls(stage)
        if not len(walls.edges):
            raise BadStage("There are no walls to explore", "Give walls the role Obstacle: half a metre high or more")
        low, high = walls.extent
        if np.prod(np.maximum(1.0, (high - low) / _CELL_M)) > _MOST_REGIONS:
            raise BadStage(
                f"The walls are around {high[0] - low[0]:.0f} by {high[1] - low[1]:.0f} m: too much to explore",
                "Give the role Obstacle to a smaller part",
            )

    def place(self, which: Flags, rng: np.random.Generator) -> Array:
        """(n, 3) in the middle of any region."""
        number = int(which.sum())
        cell = np.stack([rng.integers(count, size=number) for count in self.shape], axis=1)
        place = self._low + (cell + 0.5) * self._cell
        return np.concatenate([place, rng.uniform(-np.pi, np.pi, (number, 1))], axis=1)

    def region(self, places: Array) -> tuple[NDArray[np.int64], Flags]:
        """(...,) number of the region that places (..., 2) are in, and (...,) whether they are in any."""
        cell = np.floor((places - self._low) / self._cell).astype(np.int64)
        inside = ((cell >= 0) & (cell < self.shape)).all(axis=-1)
        cell = np.clip(cell, 0, self.shape - 1)
        return cell[..., 0] * self.shape[1] + cell[..., 1], inside

    def prepare(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """Only where it begins has been visited."""
        number, inside = self.region(moment.root[:, :2])
        self.kept["visited"][which] = 0.0
        rows = np.flatnonzero(which & inside)
        self.kept["visited"][rows, number[rows]] = 1.0
        self.kept["rays"][which] = self.cast(moment)[which]

    def cast(self, moment: Moment) -> Array:
        """(N, 32) metres to the walls, from right to left."""
        directions = moment.to_world(np.repeat(self._rays, len(moment), axis=0))
        return self.walls.cast(moment.root[:, :2], directions, _RAY_M)

    def see(self, moment: Moment) -> Array:
        """(N, 73) rays of the step before and of now, as shares of their length, and which regions around are known."""
        around = moment.root[:, None, :2] + moment.to_world(np.repeat(self._around, len(moment), axis=0))
        number, inside = self.region(around)
        known = np.where(inside, np.take_along_axis(self.kept["visited"], number, axis=1), 1.0)
        return np.concatenate([self.kept["rays"] / _RAY_M, self.cast(moment) / _RAY_M, known], axis=1)

    def _is_new(self, moment: Moment) -> Flags:
        number, inside = self.region(moment.root[:, :2])
        return np.asarray(inside & (self.kept["visited"][np.arange(self.count), number] == 0.0))

    def earn(self, before: Moment, moment: Moment) -> dict[str, Array]:
        """Something for each new region, and much for all of them."""
        fresh = self._is_new(moment)
        last = fresh & (self.kept["visited"].sum(axis=1) == self.kept["visited"].shape[1] - 1)
        return {"new": _NEW * fresh, "all": _ALL * last}

    def is_done(self, moment: Moment) -> Flags:
        """(N,) whether all has been visited."""
        left = self.kept["visited"].shape[1] - self.kept["visited"].sum(axis=1)
        return np.asarray(left - self._is_new(moment) <= 0) & (self.points is None)

    def go_on(self, moment: Moment, rng: np.random.Generator) -> None:
        """Mark where it is."""
        super().go_on(moment, rng)
        number, inside = self.region(moment.root[:, :2])
        rows = np.flatnonzero(inside)
        self.kept["visited"][rows, number[rows]] = 1.0
        self.kept["rays"] = self.cast(moment)

    def figures(self, moment: Moment) -> dict[str, Array]:
        """How many regions it has visited, and how many a minute are new."""
        return {
            "regions": self.kept["visited"].sum(axis=1) + self._is_new(moment),
            "new_per_minute": 60.0 * 30.0 * self._is_new(moment),
        }


def make_walls(rng: np.random.Generator) -> tuple[Obstacle, ...]:
    """The walls of a maze: a tree of ways through all regions, and some ways more. Walls in line are one."""
    open_right, open_up = _open_ways(rng)
    half, name = 0.5 * _CELLS * _CELL_M, "wall"
    found: list[Obstacle] = []
    for line in range(_CELLS + 1):
        at = line * _CELL_M - half
        closed = (
            np.ones((2, _CELLS), dtype=bool)
            if line in (0, _CELLS)
            else ~np.stack([open_right[line - 1], open_up[:, line - 1]])
        )
        for axis in range(2):
            for first, last in _runs(closed[axis]):
                middle, long = 0.5 * (first + last) * _CELL_M - half, 0.5 * (last - first) * _CELL_M + _WALL_M
                place = (at, middle, _HALF_HEIGHT_M) if axis == 0 else (middle, at, _HALF_HEIGHT_M)
                size = (_WALL_M, long, _HALF_HEIGHT_M) if axis == 0 else (long, _WALL_M, _HALF_HEIGHT_M)
                found.append(box_obstacle(f"{name} {len(found) + 1}", place, size))
    return tuple(found)


def _open_ways(rng: np.random.Generator) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(8, 8) which regions (column, row) are open to the right, and which upwards."""
    right, up = (rng.random((_CELLS, _CELLS)) < _OPENED for _ in range(2))
    seen, stack = {(0, 0)}, [(0, 0)]
    while stack:
        x, y = stack[-1]
        ways = [(x + dx, y + dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        ways = [way for way in ways if way not in seen and 0 <= min(way) and max(way) < _CELLS]
        if not ways:
            stack.pop()
            continue
        to = ways[int(rng.integers(len(ways)))]
        (right if to[0] != x else up)[min(x, to[0]), min(y, to[1])] = True
        seen.add(to)
        stack.append(to)
    return right, up


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last + 1 of runs that are true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]
