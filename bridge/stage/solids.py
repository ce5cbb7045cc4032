# SPDX-License-Identifier: GPL-3.0-or-later
"""Obstacles, terrain, props and projectiles as the scene has them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...core.errors import BadStage
from ...core.geometry.quaternions import Array, conjugate, from_matrix, rotate
from ...core.sim.aiming import aim
from ...core.sim.parts import Finding, Mesh, ObstaclePart, PropPart
from ...core.sim.stage import Terrain
from ...core.sim.terrain import height_field
from ..rig_reader import RigMotion, rotation_of
from .meshes import require_solid, world_mesh
from .pushes import left_out
from .shapes import shape_of
from .timing import Clock


def read_terrain(objects: Sequence[bpy.types.Object], metres: float) -> tuple[Terrain | None, list[Finding]]:
    """All terrain as one height field, the topmost surface of each place."""
    if not objects:
        return None, []
    terrain, findings = height_field({obj.name: world_mesh(obj, metres) for obj in objects})
    return terrain, list(findings)


def read_obstacle(obj: bpy.types.Object, metres: float) -> ObstaclePart:
    """An obstacle where it is now."""
    mesh = world_mesh(obj, metres)
    require_solid(obj, mesh)
    return ObstaclePart(obj.name, mesh, obj.sinew.friction)


def read_prop(obj: bpy.types.Object, metres: float) -> PropPart:
    """A prop where it is now, at rest."""
    pos, quat, mesh = _own_frame(obj, metres)
    shape = shape_of(obj.sinew.shape, mesh)
    return PropPart(
        obj.name,
        obj.sinew.mass,
        pos,
        shape=shape,
        mesh=mesh if shape is None else None,
        quat_wxyz=quat,
        friction=obj.sinew.friction,
    )


def read_projectile(
    scene: bpy.types.Scene, obj: bpy.types.Object, cast: Mapping[str, RigMotion], gravity: Array
) -> tuple[PropPart | None, list[Finding]]:
    """A prop that appears in flight, as it is at its frame; what to know of it. Moves the scene's frame."""
    first = next(iter(cast.values()))
    clock = Clock.of(first)
    part = obj.sinew
    appears_s = clock.seconds(part.start_frame)
    if not 0.0 <= appears_s <= clock.duration_s:
        last = clock.frame(clock.duration_s)
        why = f"it appears at frame {part.start_frame}, outside of frames {clock.frame_start} to {last:.0f}"
        return None, [left_out(obj, why, "Move its start frame")]
    target = part.armature.name if part.armature else next(iter(cast))
    if part.bone and target not in cast:
        why = f"it flies at '{target}', who is not simulated"
        return None, [left_out(obj, why, "Simulate them together, or choose another target")]
    scene.frame_set(part.start_frame)
    prop = read_prop(obj, first.metres_per_unit)
    velocity, findings = rotate(prop.quat_wxyz, np.array([0.0, 0.0, part.speed])), []
    if part.bone:
        rig = cast[target]
        times = np.arange(appears_s, rig.clip.duration_s + 0.5 / rig.clip.fps, 1.0 / rig.clip.fps)
        places = _bone_middles(rig, part.bone, times)
        velocity, meets_s = aim(prop.pos, part.speed, gravity, places, 1.0 / rig.clip.fps)
        if meets_s is None:
            message = f"'{obj.name}' cannot reach '{part.bone}' at {part.speed:g} m/s and flies straight"
            findings.append(Finding("out_of_reach", message, "Make it faster, or bring it nearer"))
    return replace(prop, velocity=velocity, appears_s=appears_s), findings


def _own_frame(obj: bpy.types.Object, metres: float) -> tuple[Array, Array, Mesh]:
    """Where the object is (3,), how it is turned (4,), and its mesh seen from there, whatever its scale."""
    mesh = world_mesh(obj, metres)
    require_solid(obj, mesh)
    matrix = np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    if abs(np.linalg.det(matrix[:3, :3])) < 1e-18:
        raise BadStage(f"'{obj.name}' has a scale of zero", "Set its scale to 1")
    pos, quat = matrix[:3, 3] * metres, from_matrix(rotation_of(matrix[:3, :3]))
    return pos, quat, Mesh(rotate(conjugate(quat), mesh.vertices - pos), mesh.triangles)


def _bone_middles(rig: RigMotion, bone: str, times_s: Array) -> Array:
    """(T, 3) metres: halfway along the bone at these times."""
    pos, quat = rig.clip.world()
    index = rig.clip.skeleton.index(bone)
    half = np.array([0.0, 0.5 * rig.clip.skeleton.lengths[index], 0.0])
    middle = pos[:, index] + rotate(quat[:, index], half)
    frames = np.arange(len(middle)) / rig.clip.fps
    return np.stack([np.interp(times_s, frames, middle[:, axis]) for axis in range(3)], axis=-1)
