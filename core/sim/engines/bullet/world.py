# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage compiled by Bullet: this side of the helper processes."""

import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np

from ....errors import BadMotion
from ....geometry.quaternions import Array, conjugate, from_matrix, multiply, rotate
from ...engine import SensorRows, muscle_by_character
from ...mass_properties import check_solids
from ...prop_schedule import PropSchedule
from ...push_schedule import PushSchedule
from ...stage import Stage
from ...stage_changes import modify_stage
from .pool import Pool, usable_cores
from .state_layout import StateLayout
from .wire import pack

# Bullet needs 2 kB for each while it builds, in every helper.
_MOST_HEIGHTS = 250_000


class BulletWorld:
    """A stage compiled for N copies; see ``core.sim.engine.World``."""

    def __init__(self, stage: Stage, copies: int, dt_s: float, helpers: int | Pool) -> None:
        """helpers: how many processes to start, 0 for one a core; or those of another world."""
        check_solids(stage)
        _check_terrain(stage)
        PushSchedule(stage)  # so that a push on nothing is refused here
        self.stage, self.copies, self.dt_s = stage, copies, dt_s
        self._layout, self._props = StateLayout(stage), PropSchedule(stage)
        self.state_size = self._layout.size
        pool = helpers if isinstance(helpers, Pool) else Pool(max(1, min(helpers or usable_cores(), copies)))
        self._pool: Pool | None = pool
        self._number = pool.join()
        try:
            pool.build(self._number, pack(stage), dt_s)
        except BaseException:
            self.close()
            raise

    def state_of(self, qpos: Array, qvel: Array, time_s: Array | float = 0.0) -> Array:
        """(N, state_size) from poses (N, sum nq) and velocities (N, sum nv); props are where the stage puts them."""
        qpos, qvel = np.asarray(qpos, dtype=float), np.asarray(qvel, dtype=float)
        states = np.zeros((len(qpos), self.state_size))
        states[:, 0] = time_s
        self._pose(states, qpos, qvel)
        there = self._props.present(states[:, 0], self.dt_s)
        for index, (columns_of, frame) in enumerate(zip(self._layout.props, self._layout.prop_frames, strict=True)):
            placed, waiting = frame.to_native(self._props.placed[index]), frame.to_native(self._props.waiting[index])
            states[:, columns_of] = np.where(there[:, index, None], placed, waiting)
        return states

    def replace_pose(self, states: Array, qpos: Array, qvel: Array) -> Array:
        """(N, state_size) the states with other poses (N, sum nq) and velocities (N, sum nv); all else stays."""
        found = np.array(states)
        self._pose(found, np.asarray(qpos, dtype=float), np.asarray(qvel, dtype=float))
        return found

    def replace_prop(self, states: Array, index: int, place: Array) -> Array:
        """(N, state_size) the states with one prop at place (13,), as ``World.replace_prop`` says."""
        found = np.array(states)
        found[:, self._layout.props[index]] = self._layout.prop_frames[index].to_native(np.asarray(place, dtype=float))
        return found

    def _pose(self, states: Array, qpos: Array, qvel: Array) -> None:
        """Put poses and velocities into states (N, state_size)."""
        for columns in self._layout.characters:
            native = columns.frames.to_native(qpos[:, columns.q], qvel[:, columns.v])
            states[:, columns.pose], states[:, columns.velocity] = native

    def pose_of(self, states: Array) -> tuple[Array, Array]:
        """Poses (..., sum nq) and velocities (..., sum nv) of states (..., state_size)."""
        parts = [
            columns.frames.from_native(states[..., columns.pose], states[..., columns.velocity])
            for columns in self._layout.characters
        ]
        return np.concatenate([q for q, _ in parts], axis=-1), np.concatenate([v for _, v in parts], axis=-1)

    def rollout(
        self,
        states: Array,
        targets: Array,
        *,
        substeps: int,
        forces: Array | None = None,
        muscle: Array | None = None,
        end_only: bool = False,
    ) -> tuple[Array, SensorRows]:
        """Advance every copy by K control steps of ``substeps`` physics steps each; see ``World.rollout``."""
        factors = muscle_by_character(self.stage, muscle)
        inputs = {"states": states, "targets": targets, "forces": forces, "muscle": factors}
        out = self._ask("rollout", inputs, (*np.shape(targets)[:2], self.state_size), substeps=substeps)
        if not end_only:
            return out, self._rows(out)
        rows = self._rows(out[:, -1:])
        return out[:, -1:], replace(rows, contact_force=np.zeros_like(rows.contact_force))

    def sense(self, states: Array) -> SensorRows:
        """Sensor rows (K = 1) of states as they are; contact forces are those of the step that led to them."""
        return self._rows(np.asarray(states)[:, None])

    def cast_rays(
        self, states: Array, origins: Array, directions: Array, length: float, *, character: int = 0
    ) -> Array:
        """(N, R) metres to the first thing hit that is not ``character``'s own, ``length`` where nothing is.

        origins, directions: (N, R, 3) in the world.
        """
        unit = directions / np.maximum(np.linalg.norm(directions, axis=-1, keepdims=True), 1e-12)
        inputs = {"states": states, "origins": origins, "ends": origins + length * unit}
        return length * self._ask("rays", inputs, np.shape(origins)[:2], character=character)

    def recompile(
        self, *, gravity: Array | None = None, friction: float | None = None, link_mass: Array | None = None
    ) -> "BulletWorld":
        """A world like this one with other gravity (3,), ground friction, or link masses (L,) in kg."""
        stage = modify_stage(self.stage, gravity=gravity, friction=friction, link_mass=link_mass)
        return BulletWorld(stage, self.copies, self.dt_s, self._open())

    def bare_seconds(self, states: Array, steps: int) -> float:
        """Seconds for physics steps of N copies by Bullet alone, on as many cores; what a rollout is measured by."""
        begin = time.perf_counter()
        self._ask("bare", {"states": states}, (1, 1), steps=steps)
        return time.perf_counter() - begin

    def close(self) -> None:
        """Let go of the helpers, unless a changed world still needs them."""
        if self._pool is not None:
            self._pool.leave(self._number)
            self._pool = None

    def __del__(self) -> None:
        if getattr(self, "_pool", None) is not None:
            self.close()

    def _open(self) -> Pool:
        if self._pool is None:
            raise ValueError("this world is closed")
        return self._pool

    def _ask(self, what: str, inputs: dict[str, Array | None], shape: tuple[int, ...], **more: Any) -> Array:
        """Let every helper do its share of the copies, and return what they make of shape ``shape``."""
        pool = self._open()
        given = {name: np.asarray(value) for name, value in inputs.items() if value is not None}
        located, shared = pool.share({name: value.shape for name, value in given.items()} | {"out": shape})
        for name, value in given.items():
            shared[name][...] = value
        edges = np.linspace(0, len(given["states"]), len(pool) + 1).astype(int).tolist()
        pool.ask([
            {"do": what, "world": self._number, "copies": [first, last], **located, **more}
            for first, last in itertools.pairwise(edges)
        ])  # fmt: skip
        return shared["out"].copy()

    def _rows(self, states: Array) -> SensorRows:
        """Sensor rows of states (N, K, S)."""
        layout, shape = self._layout, states.shape[:2]
        pos, quat = np.empty((*shape, layout.links, 3)), np.empty((*shape, layout.links, 4))
        com, velocity, momentum = np.empty((3, *shape, len(layout.characters), 3))
        for index, columns in enumerate(layout.characters):
            frames, kinematics = columns.frames, columns.kinematics
            parts = kinematics.parts(states[..., columns.pose])
            moving = kinematics.velocities(parts, states[..., columns.velocity])
            com[..., index, :], velocity[..., index, :], momentum[..., index, :] = kinematics.momentum(parts, *moving)
            link_quat = multiply(from_matrix(parts.turn), conjugate(frames.turn))
            quat[..., columns.links, :] = link_quat
            pos[..., columns.links, :] = parts.pos - rotate(link_quat, frames.com)
        prop_pos, prop_quat = np.empty((*shape, len(layout.props), 3)), np.empty((*shape, len(layout.props), 4))
        for index, (columns_of, frame) in enumerate(zip(layout.props, layout.prop_frames, strict=True)):
            prop_pos[..., index, :], prop_quat[..., index, :] = frame.pose(states[..., columns_of])
        contacts = layout.contact_forces(states).copy()
        rows = SensorRows(states[..., 0].copy(), pos, quat, com, velocity, momentum, contacts, prop_pos, prop_quat)
        self._props.hide(rows, self.dt_s)
        return rows


def _check_terrain(stage: Stage) -> None:
    terrain = stage.terrain
    if terrain is not None and terrain.heights.size > _MOST_HEIGHTS:
        spacing = terrain.spacing * float(np.sqrt(terrain.heights.size / _MOST_HEIGHTS))
        raise BadMotion(
            f"The terrain has {terrain.heights.size:,} heights, and Bullet has room for {_MOST_HEIGHTS:,}",
            f"Make them {spacing:.2g} m apart or more, or use MuJoCo",
        )
