# SPDX-License-Identifier: GPL-3.0-or-later
"""MuJoCo: N copies of one model on a thread pool (``mujoco.batch``), no Python call a physics step.

A state row is MuJoCo's time, qpos, qvel, solver warm start and controls. The warm start makes a copy that was put back
go on bit for bit; the controls let ``sense`` know what the servos hold. Results do not depend on the number of threads
or copies.
"""

import itertools
import logging
import math
import time
from copy import copy
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...cores import allowed_cores
from ...errors import EngineMissing
from ...geometry.quaternions import Array
from ..engine import SensorRows, muscle_by_character
from ..mass_properties import check_solids
from ..prop_schedule import PropSchedule
from ..push_schedule import PushSchedule
from ..stage import Stage
from ..stage_changes import modify_stage
from ..stage_layout import StageLayout
from .mujoco_columns import PLACED, STATE, State, StateColumns
from .mujoco_model import build_model
from .mujoco_muscle import Muscles
from .mujoco_recorder import ControlStepRecorder, LastStepRecorder

_OLDEST = (4, 0, 1)  # 3.17 brought the batch, 4.0.0 broke the solver for many contacts, 4.0.1 repaired it

_log = logging.getLogger(__name__)
_RECORD_BYTES = 64 * 1024**2
_RECORD_STEPS = 1200  # a prop that waits falls meanwhile, and must not come near
_NO_SENSORS: int = mujoco.mjtDisableBit.mjDSBL_SENSOR.value
_NO_FORCES: int = sum(
    getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}").value
    for what in ("CONSTRAINT", "CONTACT", "ACTUATION", "GRAVITY", "SPRING", "DAMPER")
)

Flags = NDArray[np.bool_]


class MujocoEngine:
    """MuJoCo through its own Python bindings."""

    name = "mujoco"

    def __init__(self) -> None:
        version = tuple(int(part) for part in mujoco.__version__.split(".")[:3] if part.isdigit())
        if version < _OLDEST:
            raise EngineMissing(
                f"MuJoCo {mujoco.__version__} is too old",
                f"Install {'.'.join(map(str, _OLDEST))} or newer for the worker's Python",
            )
        # MuJoCo would print a line for every copy that blows up, and write a log file into the current folder.
        mujoco.set_mju_user_warning(_log.debug)

    def compile(self, stage: Stage, copies: int, *, dt_s: float = 1.0 / 120.0, threads: int = 0) -> "MujocoWorld":
        """Build N copies of the stage; ``threads`` 0 takes every core."""
        return MujocoWorld(stage, copies, dt_s, threads)


class MujocoWorld:
    """A stage compiled for N copies; see ``core.sim.engine.World``."""

    def __init__(self, stage: Stage, copies: int, dt_s: float, threads: int) -> None:
        from mujoco.batch import Batch

        check_solids(stage)
        self.stage, self.copies, self.dt_s = stage, copies, dt_s
        self._threads = threads = threads or allowed_cores()
        self._layout = StageLayout(stage)
        self._pushes, self._props = PushSchedule(stage), PropSchedule(stage)
        self._model = build_model(stage, dt_s)
        self._places = StateColumns(self._model, stage, self._layout)
        self.state_size = self._places.state_size
        self._open_batch: Any = Batch(self._model, copies, threads)
        # A field is filled by the calls after it was bound.
        self._shapes = {name: self._batch.bind(name).shape[1:] for name in PLACED}
        self._bare_batch: Any = None
        self._muscles = Muscles(self._model, stage, self._places, copies)

    def state_of(self, qpos: Array, qvel: Array, time_s: Array | float = 0.0) -> Array:
        """(N, state_size) from poses (N, sum nq) and velocities (N, sum nv); servos hold the pose.

        Props are where the stage puts them at that time.
        """
        places, qpos = self._places, np.asarray(qpos, dtype=float)
        states = np.zeros((len(qpos), self.state_size))
        states[:, 0] = time_s
        states[:, places.qpos] = qpos
        states[:, places.qvel] = qvel
        states[:, places.ctrl] = self._layout.targets_of(qpos)
        there = self._props.present(states[:, 0], self.dt_s)[..., None]
        states[:, places.props] = np.where(there, self._props.placed, self._props.waiting)
        return states

    def pose_of(self, states: Array) -> tuple[Array, Array]:
        """Poses (..., sum nq) and velocities (..., sum nv) of states (..., state_size)."""
        return states[..., self._places.qpos], states[..., self._places.qvel]

    def replace_pose(self, states: Array, qpos: Array, qvel: Array) -> Array:
        """(N, state_size) the states with other poses (N, sum nq) and velocities (N, sum nv); all else stays."""
        found = np.array(states)
        found[:, self._places.qpos], found[:, self._places.qvel] = qpos, qvel
        return found

    def replace_prop(self, states: Array, index: int, place: Array) -> Array:
        """(N, state_size) the states with one prop at place (13,), as ``World.replace_prop`` says."""
        found = np.array(states)
        found[:, self._places.props[index]] = place
        return found

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
        count, muscle = targets.shape[1], muscle_by_character(self.stage, muscle)
        sizes = self.copies, self.state_size, self._shapes
        film = LastStepRecorder(*sizes) if end_only else ControlStepRecorder(*sizes, count, substeps)
        self._batch.expand("opt.disableflags")[:] = self._model.opt.disableflags | (0 if film.records else _NO_SENSORS)
        alive = self._put(states)
        cuts = self._cuts(states[alive, 0], count, substeps, muscle)
        for first, last in itertools.pairwise([0, *cuts]):
            steps = np.arange(first, last) // substeps
            self._muscles.set(self._batch, None if muscle is None else muscle[:, steps[0]])
            pulling = None if forces is None else forces[:, steps]
            self._run(alive, film, first, np.take(targets, steps, axis=1), pulling)
            self._put_props(self._batch.state)
        self._look(alive)
        film.end(self._batch)
        self._put_props(film.states)
        return film.states, self._rows(film.states, film.placed, film.felt)

    def sense(self, states: Array) -> SensorRows:
        """Sensor rows (K = 1) of states as they are; contact forces are those with the servos' targets of the state."""
        alive = self._put(states)
        self._muscles.set(self._batch, None)
        self._batch.forward(_ids(alive))
        placed = {name: self._batch.bind(name)[:, None].copy() for name in PLACED}
        return self._rows(np.array(states, dtype=float)[:, None], placed, placed["sensordata"])

    def cast_rays(
        self, states: Array, origins: Array, directions: Array, length: float, *, character: int = 0
    ) -> Array:
        """(N, R) metres to the first thing hit that is not ``character``'s own, ``length`` where nothing is.

        origins, directions: (N, R, 3) in the world.
        """
        batch = self._batch
        alive = self._put(states)
        batch.expand("geom_group")[:] = self._places.geom_character == character
        unit = directions / np.maximum(np.linalg.norm(directions, axis=-1, keepdims=True), 1e-12)
        others = np.array([1, 0, 0, 0, 0, 0], dtype=np.uint8)
        found, _ = batch.ray(origins, unit, geomgroup=others)
        distances = np.where((found < 0.0) | (found > length), length, found)
        distances[~alive] = np.nan
        return distances

    def recompile(
        self, *, gravity: Array | None = None, friction: float | None = None, link_mass: Array | None = None
    ) -> "MujocoWorld":
        """A world like this one with other gravity (3,), ground friction, or link masses (L,) in kg."""
        stage = modify_stage(self.stage, gravity=gravity, friction=friction, link_mass=link_mass)
        return MujocoWorld(stage, self.copies, self.dt_s, self._threads)

    def bare_seconds(self, states: Array, steps: int) -> float:
        """Seconds for physics steps of N copies by MuJoCo alone, on as many cores; what a rollout is measured by.

        No sensors, no arrays, no control steps: one call for all.
        """
        from mujoco.batch import Batch

        if self._bare_batch is None:
            model = copy(self._model)
            model.opt.disableflags |= _NO_SENSORS
            self._bare_batch = Batch(model, self.copies, self._threads)
        batch = self._bare_batch
        batch.state[:, : self.state_size] = states
        batch.state[:, self.state_size :] = 0.0
        begin = time.perf_counter()
        batch.step(nstep=steps)
        return time.perf_counter() - begin

    def close(self) -> None:
        """Let go of the threads."""
        self._open_batch = self._bare_batch = None

    @property
    def _batch(self) -> Any:
        if self._open_batch is None:
            raise ValueError("this world is closed")
        return self._open_batch

    def _put(self, states: Array) -> Flags:
        """Load states into the batch; (N,) which of them are numbers. The others are left out of every call."""
        batch = self._batch
        alive: Flags = np.isfinite(states).all(axis=-1)
        living = _living(alive)
        batch.state[living, : self.state_size] = states[living]
        batch.state[:, self.state_size :] = 0.0
        batch.warning[:] = 0
        return alive

    def _cuts(self, time_s: Array, count: int, substeps: int, muscle: Array | None) -> list[int]:
        """After which physics steps MuJoCo must stop: a prop appears, muscles change, or the record grows too long.

        muscle: (N, K, C).
        """
        total = count * substeps
        cuts = {total} | self._props.cuts(time_s, total, self.dt_s)
        if muscle is not None:
            differs = np.any(muscle[:, 1:] != muscle[:, :-1], axis=(0, 2))
            cuts |= {(int(step) + 1) * substeps for step in np.flatnonzero(differs)}
        numbers = self.state_size + sum(math.prod(shape) for shape in self._shapes.values())
        room = _RECORD_BYTES // (self.copies * numbers * 8)
        longest = max(1, min(room, _RECORD_STEPS) // substeps) * substeps
        return sorted(cuts | set(range(longest, total, longest)))

    def _record(self, copies: int, steps: int) -> dict[Any, Array]:
        """Room for what MuJoCo is to record of copies and physics steps: (n, steps, ...) of each item."""
        shapes: dict[Any, tuple[int, ...]] = {STATE: (self.state_size,), **self._shapes}
        return {item: np.empty((copies, steps, *shape)) for item, shape in shapes.items()}

    def _run(
        self,
        alive: Flags,
        film: ControlStepRecorder | LastStepRecorder,
        first: int,
        targets: Array,
        forces: Array | None,
    ) -> None:
        """Let the living copies do as many physics steps as there are targets (N, steps, nu), from step ``first`` on.

        forces: (N, steps, L, 3). Copies that blow up are no longer alive.
        """
        from mujoco.batch import SimulationError

        batch, ids, count = self._batch, _living(alive), targets.shape[1]
        control, spec = targets[ids], State.mjSTATE_CTRL.value
        acting = self._pushes.forces_at(batch.state[ids, 0], count, self.dt_s)
        if forces is not None:
            acting = forces[ids] + (0.0 if acting is None else acting)
        if acting is not None:
            wrenches = np.zeros((len(control), count, self._model.nbody, 6))
            wrenches[:, :, self._places.bodies, :3] = acting
            control = np.concatenate([control, wrenches.reshape(len(control), count, 6 * self._model.nbody)], axis=-1)
            spec |= State.mjSTATE_XFRC_APPLIED.value
        recorded = self._record(len(control), count) if film.records else {}
        failed = np.zeros(0, dtype=np.int64)
        try:
            batch.rollout(count, control, spec, record=tuple(recorded), ids=_ids(alive), out=recorded)
        except SimulationError as error:  # the other copies have run all the same
            _log.debug("copies %s: %s", error.ids, error)
            failed = error.ids
        if acting is not None:
            batch.bind("xfrc_applied")[:] = 0.0
        warned = batch.warning[ids, :, 1].any(axis=-1)
        film.keep(ids, first, recorded, warned, batch)
        alive[np.flatnonzero(alive)[warned]] = False
        if len(failed):
            film.drop(failed, first)
            alive[failed] = False

    def _look(self, alive: Flags) -> None:
        """Compute positions and velocities where the copies are now, without what only forces need."""
        flags = self._batch.expand("opt.disableflags")
        flags[:] = _NO_FORCES
        self._batch.forward(_ids(alive), stage=mujoco.mjtStage.mjSTAGE_VEL.value)
        flags[:] = self._model.opt.disableflags

    def _put_props(self, states: Array) -> None:
        """In states (..., state_size), let absent props wait, and place those whose moment this is."""
        props = self._props
        if not props.some_appear:
            return
        there = props.present(states[..., 0], self.dt_s)
        comes = there & ~props.present(states[..., 0] - self.dt_s, self.dt_s)
        absent = ~there & np.isfinite(states[..., :1])
        for index, columns in enumerate(self._places.props):
            values = states[..., columns]
            values[absent[..., index]] = props.waiting[index]
            values[comes[..., index]] = props.placed[index]
            states[..., columns] = values

    def _rows(self, states: Array, placed: dict[str, Array], felt: Array) -> SensorRows:
        """Sensor rows of states (N, K, state_size): NaN where they are, absent props where they will appear."""
        rows = self._places.rows(states, placed, felt)
        self._props.hide(rows, self.dt_s)
        dead = ~np.isfinite(states).all(axis=-1)
        if dead.any():
            for values in vars(rows).values():
                values[dead] = np.nan
        return rows


def _living(alive: Flags) -> NDArray[np.int64] | slice:
    """Which rows are of living copies; as a slice where all of them are, which is much quicker to go through."""
    return slice(None) if alive.all() else np.flatnonzero(alive)


def _ids(alive: Flags) -> Flags | None:
    """Which copies a call of the batch is for; None is all of them."""
    return None if alive.all() else alive
