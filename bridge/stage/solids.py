# SPDX-License-Identifier: GPL-3.0-or-later
"""Obstacles, terrain, props and projectiles, from what was seen of them; what they are made into is for any thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.body import build_body
from ...core.errors import BadStage, SinewError
from ...core.geometry.quaternions import Array, conjugate, from_matrix, rotate
from ...core.motion import Clip
from ...core.sim.aiming import aim_throw
from ...core.sim.height_field import build_height_field
from ...core.sim.stage import Terrain
from ...core.sim.stage_parts import Finding, Mesh, ObstaclePart, PropPart
from ...core.sim.variations import trunk_bone
from ..rig.rig_reader import RigMotion, rotation_of
from .meshes import MeshSnapshot
from .properties import intent_of
from .pushes import left_out_finding
from .shapes import fit_shape
from .timing import Clock


@dataclass(frozen=True, eq=False)
class PropSnapshot:
    """A prop as it was read.

    shape: one of ``properties.SHAPES``. mass: kg. appears_s, speed (m/s) and what it flies at, a bone of ``target`` or
    '' for straight on, and the reaction that its mass is to be found for, or '': only of a projectile.
    """

    look: MeshSnapshot
    shape: str
    mass: float
    friction: float
    appears_s: float = 0.0
    speed: float = 0.0
    bone: str = ""
    target: str = ""
    intent: str = ""

    @classmethod
    def at(cls, obj: bpy.types.Object) -> "PropSnapshot":
        """The object at the current frame, for Blender's own thread."""
        own = obj.sinew
        return cls(MeshSnapshot.at(obj), own.shape, own.mass, own.friction)


def read_flight(obj: bpy.types.Object, cast: Mapping[str, RigMotion]) -> dict[str, object] | Finding:
    """What a projectile has besides what any prop has, as ``PropSnapshot`` names it; or why it takes no part."""
    clock, part = Clock.of(next(iter(cast.values()))), obj.sinew
    appears_s = clock.seconds(part.start_frame)
    if not 0.0 <= appears_s <= clock.duration_s:
        last = clock.frame(clock.duration_s)
        why = f"it appears at frame {part.start_frame}, outside of frames {clock.frame_start} to {last:.0f}"
        return left_out_finding(obj, why, "Move its start frame")
    target = part.armature.name if part.armature else next(iter(cast))
    aims = part.aim == "TARGET"
    if aims and target not in cast:
        why = f"it flies at '{target}', who is not simulated"
        return left_out_finding(obj, why, "Simulate them together, or choose another target")
    flight = {"appears_s": appears_s, "speed": part.speed, "bone": part.bone, "target": target if aims else ""}
    return flight | {"intent": intent_of(obj)}


def make_terrain(looks: Sequence[MeshSnapshot], metres: float) -> tuple[Terrain | None, list[Finding]]:
    """All terrain as one height field, the topmost surface of each place."""
    if not looks:
        return None, []
    terrain, findings = build_height_field({look.name: look.mesh(metres) for look in looks})
    return terrain, list(findings)


def make_obstacle(look: MeshSnapshot, friction: float, metres: float) -> ObstaclePart:
    """An obstacle where it was seen."""
    return ObstaclePart(look.name, look.solid(metres), friction)


def make_prop(loose: PropSnapshot, metres: float) -> PropPart:
    """A prop where it was seen, at rest."""
    pos, quat, mesh = _own_frame(loose.look, metres)
    shape = fit_shape(loose.shape, mesh)
    return PropPart(
        loose.look.name,
        loose.mass,
        pos,
        shape=shape,
        mesh=mesh if shape is None else None,
        quat_wxyz=quat,
        friction=loose.friction,
    )


def make_projectile(
    loose: PropSnapshot, cast: Mapping[str, RigMotion], gravity: Array
) -> tuple[PropPart, list[Finding]]:
    """A prop that appears in flight where it was seen; what to know of it."""
    prop = make_prop(loose, next(iter(cast.values())).metres_per_unit)
    velocity, findings = rotate(prop.quat_wxyz, np.array([0.0, 0.0, loose.speed])), []
    if loose.target and loose.speed > 0.0:
        rig = cast[loose.target]
        bone = loose.bone or find_trunk(rig.clip)
        times = np.arange(loose.appears_s, rig.clip.duration_s + 0.5 / rig.clip.fps, 1.0 / rig.clip.fps)
        places = _bone_middles(rig, bone, times)
        velocity, meets_s = aim_throw(prop.pos, loose.speed, gravity, places, 1.0 / rig.clip.fps)
        if meets_s is None:
            message = f"'{prop.name}' cannot reach '{bone}' at {loose.speed:g} m/s and flies straight"
            findings.append(Finding("out_of_reach", message, "Make it faster, or bring it nearer"))
    return replace(prop, velocity=velocity, appears_s=loose.appears_s, intent=loose.intent), findings


def find_trunk(clip: Clip) -> str:
    """The bone to throw at where none is chosen: of the upper trunk, or of a rig without one the middlemost."""
    try:
        return trunk_bone(build_body(clip.skeleton, clip=clip)[0])
    except SinewError:  # what it lacks is told by whoever needs the body
        heads = clip.world()[0][0]
        return clip.skeleton.names[int(np.argmin(np.linalg.norm(heads - heads.mean(axis=0), axis=1)))]


def _own_frame(look: MeshSnapshot, metres: float) -> tuple[Array, Array, Mesh]:
    """Where the object is (3,), how it is turned (4,), and its mesh seen from there, whatever its scale."""
    mesh = look.solid(metres)
    if abs(np.linalg.det(look.matrix[:3, :3])) < 1e-18:
        raise BadStage(f"'{look.name}' has a scale of zero", "Set its scale to 1")
    pos, quat = look.matrix[:3, 3] * metres, from_matrix(rotation_of(look.matrix[:3, :3]))
    return pos, quat, Mesh(rotate(conjugate(quat), mesh.vertices - pos), mesh.triangles)


def _bone_middles(rig: RigMotion, bone: str, times_s: Array) -> Array:
    """(T, 3) metres: halfway along the bone at these times."""
    pos, quat = rig.clip.world()
    index = rig.clip.skeleton.index(bone)
    half = np.array([0.0, 0.5 * rig.clip.skeleton.lengths[index], 0.0])
    middle = pos[:, index] + rotate(quat[:, index], half)
    frames = np.arange(len(middle)) / rig.clip.fps
    return np.stack([np.interp(times_s, frames, middle[:, axis]) for axis in range(3)], axis=-1)
