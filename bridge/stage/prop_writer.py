# SPDX-License-Identifier: GPL-3.0-or-later
"""The door back into Blender for loose things: where a prop went becomes a new Action on its object."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ...core.geometry.quaternions import Array, conjugate, from_matrix, multiply, to_matrix
from ...core.motion import PropMotion
from ..rig import actions, sources
from ..rig.baked_copy import copy_prop, remove_prop_copy
from ..rig.channels import rotation_values
from ..rig.rig_reader import RigMotion, rotation_of
from ..rig.rig_writer import WrittenAction, assign_result
from ..scene.preserved_state import preserve_scene
from .timing import Clock

# What is less than this is a thing that settles, not one that moves.
_STILL_M, _STILL_RAD = 1e-3, 1e-2
# As a share of the thing's size: what a scale that leans over would make of it.
_LEANS = 1e-3
_TRANSFORMS = {"location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"}


def write_prop(
    obj: bpy.types.Object, motion: PropMotion, rig: RigMotion, appears_s: float, *, name: str, where: str = "AUTO"
) -> WrittenAction | None:
    """Write the motion as a new Action called ``name``; None if the object shows just that already.

    motion: one frame a scene frame, from the first. rig: the main character's, for time and scale.
    appears_s: when the thing was read; its size is that of this moment, whatever its keys make of it before.
    where: one of ``placing.PLACES``; 'AUTO' makes a loose copy where something would fight the keys.
    """
    world = _world_matrices(obj, motion, rig, appears_s)
    if where != "COPY" and _shows(obj, world, motion, rig):
        return None
    if where in {"AUTO", "CONTROLS"}:  # a thing has no controls
        where = "COPY" if object_overrides_keys(obj) or _leans(obj, world, rig.frame_start) else "ACTION"
    before = sources.prior_animation(obj)
    target = copy_prop(obj, f"{obj.name} {name}") if where == "COPY" else obj
    action, slot, bag = actions.new_action(name, target)
    try:
        if where != "COPY":
            sources.store_prior(action, before)
            _copy_other_curves(obj, before.action, bag, rig)
        with actions.play_temporarily(target, action):
            basis, deltas = _basis(target, world, rig.frame_start)
        _key(bag, _values(target, basis, deltas), rig.frame_start)
        assign_result(target, action, slot, None if where == "COPY" else before.action, where)
    except BaseException:
        bpy.data.actions.remove(action)
        if where == "COPY":
            remove_prop_copy(target)
        raise
    return WrittenAction(action, target, where)


def _copy_other_curves(obj: bpy.types.Object, source: bpy.types.Action | None, bag: Any, rig: RigMotion) -> None:
    """Copy what the source animates besides the object's transform, in the take's time."""
    for curve in actions.curves_of(source, actions.slot_for(source, obj)) if source else ():
        if curve.data_path not in _TRANSFORMS:
            actions.copy_curve(bag, curve, rig.result_frame)


def _key(bag: Any, channels: dict[str, Array], frame_start: int) -> None:
    """Key the channels' values (T, n) frame by frame; a size that stays needs one key."""
    for channel, values in channels.items():
        count = 1 if channel == "scale" and np.allclose(values, values[0], rtol=1e-5) else len(values)
        for component in range(values.shape[1]):
            actions.add_curve(bag, channel, component, "Object Transforms", frame_start, values[:count, component])


def object_overrides_keys(obj: bpy.types.Object) -> bool:
    """Whether keys on the object would not be where it shows, or cannot be made."""
    if not obj.is_editable or any(c.enabled and not c.mute for c in obj.constraints):
        return True
    body = obj.rigid_body
    if body is not None and body.type == "ACTIVE" and body.enabled and not body.kinematic:
        return True
    data = obj.animation_data
    if data is None:
        return False
    if any(driver.data_path in _TRANSFORMS and not driver.mute for driver in data.drivers):
        return True
    return data.action_blend_type != "REPLACE" or data.action_influence < 1.0


def prop_moves(motion: PropMotion) -> bool:
    """Whether the thing went anywhere."""
    turned = np.abs(np.sum(motion.quat_wxyz * motion.quat_wxyz[0], axis=-1)).min()
    far = np.linalg.norm(motion.pos - motion.pos[0], axis=-1).max()
    return bool(far > _STILL_M or 2.0 * np.arccos(min(turned, 1.0)) > _STILL_RAD)


def _world_matrices(obj: bpy.types.Object, motion: PropMotion, rig: RigMotion, appears_s: float) -> Array:
    """(T, 4, 4) where the object is to show, in Blender units, as large as it is when it appears."""
    scene = bpy.context.scene
    with preserve_scene(scene), sources.without_takes([obj]):
        scene.frame_set(round(Clock.of(rig).frame(appears_s)))
        axes = np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)[:3, :3]
    world = np.zeros((len(motion), 4, 4))
    world[:, :3, :3] = to_matrix(motion.quat_wxyz) @ (rotation_of(axes).T @ axes)
    world[:, :3, 3] = motion.pos / rig.metres_per_unit
    world[:, 3, 3] = 1.0
    return world


def _shows(obj: bpy.types.Object, world: Array, motion: PropMotion, rig: RigMotion) -> bool:
    """Whether a thing that did not move stands there in the scene too, whatever its own keys say."""
    if prop_moves(motion):
        return False
    scene, size = bpy.context.scene, float(np.abs(world[0, :3, :3]).max())
    # Keys, parents and constraints could move it at any frame; without them one look is enough.
    still = obj.animation_data is None and obj.parent is None and not obj.constraints and obj.rigid_body is None
    frames = [0] if still else np.unique(np.linspace(0, len(world) - 1, min(len(world), 9)).astype(int))
    with preserve_scene(scene):
        for index in frames:
            scene.frame_set(rig.frame_start + int(index))
            shown = np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
            off = np.abs(shown - world[index])
            if off[:3, :3].max() > _STILL_RAD * size or off[:3, 3].max() * rig.metres_per_unit > _STILL_M:
                return False
    return True


@contextmanager
def _free(obj: bpy.types.Object) -> Iterator[None]:
    """Without what would hide the object's own channels from us: constraints, and a scale of zero."""
    muted = [constraint for constraint in obj.constraints if not constraint.mute]
    scale = tuple(obj.scale)
    try:
        for constraint in muted:
            constraint.mute = True
        if not np.all(np.abs(scale) > 1e-6):
            obj.scale = (1.0, 1.0, 1.0)
        yield
    finally:
        for constraint in muted:
            constraint.mute = False
        obj.scale = scale


def _basis(obj: bpy.types.Object, world: Array, frame_start: int) -> tuple[Array, list[dict[str, Array]]]:
    """(T, 4, 4) what the object's own transform must be to show at ``world``, and its delta transforms by frame."""
    scene = bpy.context.scene
    if obj.parent is None and not _deltas_move(obj):
        return world, [_deltas(obj)] * len(world)
    basis, deltas = np.empty_like(world), []
    with preserve_scene(scene), _free(obj):
        for index, wanted in enumerate(world):
            scene.frame_set(frame_start + index)
            evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
            # Without constraints, what is not the object's own transform is its parent's doing.
            above = np.array(evaluated.matrix_world) @ np.linalg.inv(np.array(evaluated.matrix_basis))
            basis[index] = np.linalg.inv(above) @ wanted
            deltas.append(_deltas(evaluated))
    return basis, deltas


def _leans(obj: bpy.types.Object, world: Array, frame_start: int) -> bool:
    """Whether the object's own transform cannot bring it there: a parent of uneven scale would make it lean over."""
    if obj.parent is None:
        return False
    axes = _basis(obj, world, frame_start)[0][:, :3, :3]
    upright = rotation_of(axes)
    leans = np.swapaxes(upright, -1, -2) @ axes
    size = np.linalg.norm(axes, axis=-2).max()
    return bool(np.abs(leans - leans * np.eye(3)).max() > _LEANS * size)


def _deltas_move(obj: bpy.types.Object) -> bool:
    data = obj.animation_data
    if data is None:
        return False
    curves = [*data.drivers, *(actions.curves_of(data.action, data.action_slot) if data.action else ())]
    return len(data.nla_tracks) > 0 or any(curve.data_path.startswith("delta_") for curve in curves)


def _deltas(obj: bpy.types.Object) -> dict[str, Array]:
    """Blender's delta transforms, which come on top of an object's own: location, rotation (wxyz), scale."""
    if obj.rotation_mode == "QUATERNION":
        quat = obj.delta_rotation_quaternion.normalized()
    elif obj.rotation_mode == "AXIS_ANGLE":
        quat = (1.0, 0.0, 0.0, 0.0)  # Blender keeps one, but shows it to nobody
    else:
        euler = obj.delta_rotation_euler.copy()
        euler.order = obj.rotation_mode
        quat = euler.to_quaternion()
    return {"pos": np.array(obj.delta_location), "quat": np.array(quat), "scale": np.array(obj.delta_scale)}


def _values(obj: bpy.types.Object, basis: Array, deltas: list[dict[str, Array]]) -> dict[str, Array]:
    """Channel name to values (T, n) of the object's own transform, deltas taken off."""
    delta = {name: np.array([one[name] for one in deltas]) for name in deltas[0]}
    axes = basis[:, :3, :3]
    scale = np.linalg.norm(axes, axis=1)
    scale[:, 2] *= np.where(np.linalg.det(axes) < 0, -1.0, 1.0)
    quat = multiply(conjugate(delta["quat"]), from_matrix(rotation_of(axes)))
    return {
        "location": basis[:, :3, 3] - delta["pos"],
        **rotation_values(obj.rotation_mode, quat),
        "scale": scale / np.where(np.abs(delta["scale"]) > 1e-9, delta["scale"], 1.0),
    }
