# SPDX-License-Identifier: GPL-3.0-or-later
"""How well bodies fit: time, distance to the mesh, symmetry, mass, and whether they hold together."""

import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..bridge.body.mesh_reader import read_mesh
from ..bridge.importing.importers import open_input
from ..bridge.rig.rig_reader import RigMotion, read_rig
from ..core.body import BodyModel
from ..core.body.build import build_body
from ..core.body.clearance import link_clearances
from ..core.body.fit import fit_body
from ..core.body.poses import pose_of_clip, targets_of_pose
from ..core.body.voxels import DENSITY_KG_M3
from ..core.errors import SinewError
from ..core.geometry.quaternions import Array, rotate
from ..core.motion import Clip
from . import mocap


def measure() -> dict[str, Any]:
    """Every character in ../shared/mocap: its body, fitted to its mesh where it has one, and held for a second."""
    mocap.require_files()
    return {f"{path.parent.name}/{path.name}": _measure(path) for path in mocap.mocap_files()}


def _measure(path: Path) -> dict[str, Any]:
    open_input(str(path), mocap.scale_of(path))
    obj = next(found for found in bpy.context.scene.objects if found.type == "ARMATURE")
    rig = read_rig(obj)
    try:
        begin = time.perf_counter()
        body, _ = build_body(rig.clip.skeleton, clip=rig.clip)
        table_s = time.perf_counter() - begin
        found = {"links": len(body.links), "dofs": body.nv, "mass_kg": body.mass, "table_s": table_s}
        body, fit = _fitted(obj, rig, body)
        return {**found, **fit, **hold_rest_pose(body)}
    except SinewError as error:
        return {"refused": str(error)}


def _fitted(obj: bpy.types.Object, rig: RigMotion, body: BodyModel) -> tuple[BodyModel, dict[str, Any]]:
    mesh = read_mesh(obj, rig.clip.skeleton, rig.metres_per_unit)
    if mesh is None:
        return body, {}
    begin = time.perf_counter()
    fitted, report = fit_body(body, mesh)
    fit_s = time.perf_counter() - begin
    # The body that is held has servos made for what the mesh weighs.
    fitted, _ = build_body(rig.clip.skeleton, clip=rig.clip, mesh=mesh)
    return fitted, {
        "vertices": len(mesh.vertices),
        "outer_vertices": int(np.count_nonzero(mesh.areas)),
        "fit_s": fit_s,
        "worst_rms_m": max(report.rms_m.values()),
        "kept_from_table": [bone for bone, count in report.vertices.items() if not count],
        "fitted_mass_kg": fitted.mass,
        "mass_over_union": fitted.mass / (DENSITY_KG_M3 * report.volume_m3),
        "asymmetry": _asymmetry(fitted),
    }


def _asymmetry(body: BodyModel) -> float:
    """The largest difference of the two sides in mass or a size of a shape, as a share of their mean."""
    sides: dict[tuple[str, str], np.ndarray] = {}
    for link in body.links:
        # A box's own axes may come out in any order.
        sizes = np.sort(np.concatenate([shape.size for shape in link.shapes]))
        sides[link.role, link.side] = np.append(sizes[sizes > 0.0], link.mass)
    worst = 0.0
    for (role, side), left in sides.items():
        right = sides.get((role, "R"))
        if side == "L" and right is not None and left.shape == right.shape:
            worst = max(worst, float(np.max(np.abs(left - right) / (0.5 * (left + right)))))
    return worst


def hold_rest_pose(body: BodyModel, engine: str = "mujoco", seconds: float = 1.0) -> dict[str, Any]:
    """Stand the body in its rest pose on the ground and hold it: how far links part and how fast anything gets."""
    # Engines live in the worker; a benchmark outside Blender is one.
    from ..core.sim import engines
    from ..core.sim.stage import Character, Stage

    rest = body.skeleton
    clip = Clip(rest, 60.0, rest.rest_pos[None], rest.rest_quat_wxyz[None])
    qpos, _ = pose_of_clip(body, clip)
    qpos[:, 2] -= link_clearances(body, clip).min()
    world = engines.get_engine(engine).compile(Stage((Character(body),)), 1)
    try:
        state = world.state_of(qpos, np.zeros((1, body.nv)))
        steps = round(seconds / (4 * world.dt_s))
        targets = np.repeat(targets_of_pose(body, qpos)[None], steps, axis=1)
        states, rows = world.rollout(state, targets, substeps=4)
    finally:
        world.close()
    return {
        "finite": bool(np.isfinite(states).all()),
        "largest_gap_m": _largest_gap(body, rows.link_pos[0], rows.link_quat_wxyz[0]),
        "largest_speed_m_s": float(np.linalg.norm(rows.com_velocity, axis=-1).max()),
    }


def _largest_gap(body: BodyModel, pos: Array, quat: Array) -> float:
    """Metres between where a link is and where its joint in its parent is; pos (K, L, 3), quat (K, L, 4)."""
    gaps = [
        np.linalg.norm(pos[:, i] - pos[:, link.parent] - rotate(quat[:, link.parent], link.joint.pos), axis=-1).max()
        for i, link in enumerate(body.links)
        if link.parent >= 0
    ]
    return float(np.max(gaps))
