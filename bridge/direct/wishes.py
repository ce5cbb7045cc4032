# SPDX-License-Identifier: GPL-3.0-or-later
"""From a scene to a wish: curve or target, keyed speed and heading, objects to look at, frame by frame."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.body import BodyModel
from ...core.control.matching.features import FPS
from ...core.control.matching.styles import parse_styles
from ...core.control.matching.wish import Wish
from ...core.control.tracking.facing import facing_direction, upright_rotation
from ...core.errors import BadSettings
from ...core.geometry.quaternions import Array
from ...core.sim.trunk_push import TrunkPush
from ..graph.paths import read_path
from ..methods.job_inputs import BakeRequest
from ..rig.keyed_properties import is_animated, sample_property_in_slices
from ..rig.rig_reader import RigMotion
from ..scene.settings_groups import shortest_decimal
from ..scene.time_slicing import SLICE_S, Slices

_GROUP = "sinew_direct"


@dataclass(frozen=True)
class DirectRequest(BakeRequest):
    """How a character is to be directed, with everything named rather than held.

    points: metres on the ground to go along, closed if they end where they begin; else curve: the name of one; else
    target: the name of an object to go after. speed_m_s: None for the armature's own, which may be keyed.
    style: as ``parse_styles`` reads it. facing: of ``properties.FACINGS``. look_at: the name of an object.
    pushes: besides those on the stage.
    """

    points: tuple[tuple[float, float], ...] = ()
    curve: str = ""
    target: str = ""
    speed_m_s: float | None = None
    style: str = ""
    facing: str = "ALONG"
    look_at: str = ""
    pushes: tuple[TrunkPush, ...] = ()


def read_wish(
    scene: bpy.types.Scene,
    request: DirectRequest,
    rig: RigMotion,
    body_root: tuple[int, Array],
    slice_s: float = SLICE_S,
) -> Slices[Wish]:
    """What the scene and the request wish for. body_root: the root's bone, and its rotation when it faces along +X."""
    count = round(request.seconds * FPS) + 1
    metres = rig.metres_per_unit
    told = yield from _sample_scene(scene, request, rig, count, metres, slice_s)
    path, closed = _path(scene, request, metres)
    styles, style = parse_styles(request.style, count)
    start, heading = _begins(rig, *body_root)
    return Wish(
        told["speed"],
        path,
        closed,
        told.get("target") if path is None else None,
        told.get("heading") if request.facing == "KEYED" else None,
        told.get("look_at") if request.facing == "OBJECT" else None,
        styles,
        style,
        start,
        heading,
    )


def _path(scene: bpy.types.Scene, request: DirectRequest, metres: float) -> tuple[Array | None, bool]:
    if request.points:
        points = np.array(request.points, dtype=float)
        return points, len(points) > 3 and request.points[0] == request.points[-1]
    if request.target and not request.curve:
        return None, False
    arrays, meta = read_path(scene, request.curve, metres)
    return arrays["points"][:, :2], bool(meta["closed"])


def _begins(rig: RigMotion, bone: int, upright: Array) -> tuple[tuple[float, float], float]:
    """Where the character stands, and which way it faces."""
    pos, quat = rig.clip.world()
    ahead = facing_direction(quat[0, bone], upright)
    return (float(pos[0, bone, 0]), float(pos[0, bone, 1])), float(np.arctan2(ahead[1], ahead[0]))


def _sample_scene(
    scene: bpy.types.Scene, request: DirectRequest, rig: RigMotion, count: int, metres: float, slice_s: float
) -> Slices[dict[str, Array]]:
    """At every frame of the wish: 'speed' (T,), 'heading' (T,), and places (T, 2) of objects in metres."""
    obj, times = scene.objects[request.armature], np.arange(count) / FPS
    objects = {kind: getattr(request, kind) for kind in ("target", "look_at") if getattr(request, kind)}
    for name in objects.values():
        if name not in scene.objects:
            raise BadSettings(f"There is no object '{name}' in this scene", "Choose one that is there")
    if not objects and not is_animated(obj, f"{_GROUP}."):
        own = obj.sinew_direct
        speed = shortest_decimal(own.speed) if request.speed_m_s is None else request.speed_m_s
        return {"speed": np.full(count, speed), "heading": np.full(count, own.heading)}

    def read(evaluated: bpy.types.Object) -> list[float]:
        own, depsgraph = evaluated.sinew_direct, bpy.context.evaluated_depsgraph_get()
        row = [own.speed, own.heading]
        for name in objects.values():
            row += bpy.context.scene.objects[name].evaluated_get(depsgraph).matrix_world.translation[:2]
        return row

    last = int(np.ceil(times[-1] * rig.scene_fps))
    frames = request.frame_start + np.arange(last + 1.0)
    rows = yield from sample_property_in_slices(obj, None, frames, read, slice_s=slice_s)
    place = times * rig.scene_fps
    columns = [np.interp(place, np.arange(last + 1.0), column) for column in rows.T]
    found = {"speed": columns[0], "heading": columns[1]}
    if request.speed_m_s is not None:
        found["speed"] = np.full(count, request.speed_m_s)
    for index, kind in enumerate(objects):
        found[kind] = metres * np.stack(columns[2 + 2 * index : 4 + 2 * index], axis=-1)
    return found


def read_body_root(body: BodyModel) -> tuple[int, Array]:
    """The bone of a body's root, and its rotation when it faces along +X."""
    return body.skeleton.index(body.links[0].bone), upright_rotation(body)
