# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast the engines are with everything read, against themselves alone, and how far they agree."""

import os
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ..core.body import BodyModel
from ..core.body.build import build_body
from ..core.body.poses import pose_of_clip, targets_of_pose
from ..core.errors import EngineMissing
from ..core.geometry.quaternions import Array, angle_between
from ..core.motion import Clip
from ..core.motion.io import stock
from ..core.sim import engines
from ..core.sim.engine import Engine, SensorRows
from ..core.sim.stage import Character, Push, Stage

CONTROL_HZ = 30
PHYSICS_HZ = 120
_DROP_M, _PUSH_N, _PUSH_FROM_S, _PUSH_FOR_S = 0.1, 100.0, 0.4, 0.1


def measure(
    names: Sequence[str] = ("mujoco", "bullet"), *, copies: int = 64, seconds: float = 0.1, repeats: int = 20
) -> dict[str, Any]:
    """Speed of each engine and agreement of all; engines that are not installed are said to be missing."""
    body = mannequin()
    found: dict[str, Engine] = {}
    missing: dict[str, str] = {}
    for name in names:
        try:
            found[name] = engines.get_engine(name)
        except EngineMissing as error:
            missing[name] = str(error)
    return {
        "machine": {"cores": os.cpu_count(), "load": _load(), **_versions()},
        "body": {"links": len(body.links), "degrees_of_freedom": body.nv, "mass_kg": body.mass},
        "speed": {name: speed(engine, body, copies, seconds, repeats) for name, engine in found.items()},
        "agreement": agreement(found, body),
        "missing": missing,
    }


def mannequin() -> BodyModel:
    """The body that is measured: the stock clips' humanoid, from tables."""
    return build_body(stock.stock_skeleton())[0]


def speed(engine: Engine, body: BodyModel, copies: int, seconds: float, repeats: int) -> dict[str, Any]:
    """Physics and control steps a second of N standing humanoids with all sensors read, and of the engine alone.

    Both run the same states with the same targets, in many short turns; the best of each counts, for whatever else
    the machine does can only slow them down. On a machine that is busy all the time only shares of CPU time tell.
    """
    substeps = PHYSICS_HZ // CONTROL_HZ
    count = max(1, round(seconds * CONTROL_HZ))
    world = engine.compile(Stage((Character(body),)), copies, dt_s=1.0 / PHYSICS_HZ)
    try:
        qpos, held = _standing(body)
        noise = np.random.default_rng(0).normal(size=(copies, 1, body.nu)) * 0.05
        targets = np.repeat(held + noise, count, axis=1)
        states = world.state_of(np.tile(qpos, (copies, 1)), np.zeros((copies, body.nv)))
        out, rows = world.rollout(states, targets, substeps=substeps)
        states = out[:, -1]
        bare, ours, bare_cpu, ours_cpu = [], [], [], []
        for _ in range(repeats):
            begin_cpu = time.process_time()
            bare.append(world.bare_seconds(states, count * substeps))
            begin, middle_cpu = time.perf_counter(), time.process_time()
            world.rollout(states, targets, substeps=substeps)
            ours.append(time.perf_counter() - begin)
            bare_cpu.append(middle_cpu - begin_cpu)
            ours_cpu.append(time.process_time() - middle_cpu)
    finally:
        world.close()
    steps = copies * count * substeps
    # Work of this process's own threads, which others on the machine do not disturb; helpers' work is not in it.
    in_process = min(bare_cpu) > 0.1 * min(bare)
    return {
        "copies": copies,
        "physics_hz": PHYSICS_HZ,
        "physics_steps_per_s": steps / min(ours),
        "bare_physics_steps_per_s": steps / min(bare),
        "share_of_bare": min(bare) / min(ours),
        "share_of_bare_by_cpu_time": min(bare_cpu) / min(ours_cpu) if in_process else None,
        "control_steps_per_s_at_30_hz": copies * count / min(ours),
        "control_steps_per_cpu_s_at_30_hz": copies * count / min(ours_cpu) if in_process else None,
        "copies_in_contact": int(np.sum(np.abs(rows.contact_force[:, -1]).max(axis=(-1, -2)) > 0.0)),
    }


def agreement(found: dict[str, Engine], body: BodyModel) -> dict[str, Any]:
    """A mannequin held in its rest pose is dropped from 10 cm and pushed with 100 N for 0.1 s, in each engine.

    Each engine is also compared with itself at eight times the rate: what an engine changes by then, two engines may
    differ by.
    """
    moves = {
        name: {hz: _dropped_and_pushed(engine, body, hz) for hz in (PHYSICS_HZ, 8 * PHYSICS_HZ)}
        for name, engine in found.items()
    }
    result: dict[str, Any] = {
        f"{name}_with_itself_at_{8 * PHYSICS_HZ}_hz": _difference(runs[PHYSICS_HZ], runs[8 * PHYSICS_HZ])
        for name, runs in moves.items()
    }
    for index, first in enumerate(moves):
        for second in list(moves)[index + 1 :]:
            for hz in (PHYSICS_HZ, 8 * PHYSICS_HZ):
                result[f"{first}_with_{second}_at_{hz}_hz"] = _difference(moves[first][hz], moves[second][hz])
    for name, runs in moves.items():
        rows = runs[PHYSICS_HZ]
        result[f"{name}_com_height_m"] = [float(rows.com[0, step, 0, 2]) for step in (0, 14, 29)]
    return result


def _dropped_and_pushed(engine: Engine, body: BodyModel, hz: int) -> SensorRows:
    chest = next((link.bone for link in body.links if link.role == "chest"), body.links[1].bone)
    push = Push(0, chest, np.array([0.0, _PUSH_N, 0.0]), _PUSH_FROM_S, _PUSH_FOR_S)
    world = engine.compile(Stage((Character(body),), pushes=(push,)), 1, dt_s=1.0 / hz)
    try:
        qpos, held = _standing(body)
        qpos[2] += _DROP_M
        states = world.state_of(qpos[None], np.zeros((1, body.nv)))
        return world.rollout(states, np.tile(held, (1, CONTROL_HZ, 1)), substeps=hz // CONTROL_HZ)[1]
    finally:
        world.close()


def _difference(first: SensorRows, second: SensorRows) -> dict[str, float]:
    """Over 1 s, all links: metres and radians apart, on average and at worst; and of the root at the end."""
    apart = np.linalg.norm(first.link_pos - second.link_pos, axis=-1)[0]
    turned = angle_between(first.link_quat_wxyz, second.link_quat_wxyz)[0]
    return {
        "mean_m": float(apart.mean()),
        "worst_m": float(apart.max()),
        "mean_rad": float(turned.mean()),
        "worst_rad": float(turned.max()),
        "root_at_end_m": float(apart[-1, 0]),
    }


def _standing(body: BodyModel) -> tuple[Array, Array]:
    """Rest pose (nq,) with the soles on the ground, and the servo targets (nu,) that hold it."""
    skeleton = body.skeleton
    pos, quat = (np.tile(value, (2, 1, 1)) for value in (skeleton.rest_pos, skeleton.rest_quat_wxyz))
    qpos = pose_of_clip(body, Clip(skeleton, CONTROL_HZ, pos, quat))[0]
    return qpos[0], targets_of_pose(body, qpos)[0]


def _load() -> float | None:
    """How busy the machine was before; None where the system does not say."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _versions() -> dict[str, str]:
    found = {}
    for package in ("mujoco-core", "mujoco", "pybullet", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
