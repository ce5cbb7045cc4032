# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the stage from the scene's objects. What shows in the viewport is on it; what is hidden is not.

An object that is only hidden from renders counts: that is how stand-ins for what is seen are made.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import bpy
import numpy as np

from ...core.errors import BadStage
from ...core.geometry.quaternions import Array
from ...core.sim.parts import EARTH, Finding, StageParts
from .. import sources
from ..kept import scene_kept
from ..rig_reader import RigMotion
from .checks import problem_of
from .pushes import left_out, read_pushes
from .solids import read_obstacle, read_projectile, read_prop, read_terrain
from .timing import Clock


def on_stage(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Every object of the scene that has a role, by name, hidden ones too."""
    return sorted((obj for obj in scene.objects if obj.sinew.role != "NONE"), key=lambda obj: obj.name)


def read_stage(scene: bpy.types.Scene, cast: Mapping[str, RigMotion]) -> StageParts:
    """Everything on the stage but the characters, in metres, and seconds from the clip's first frame.

    cast: the characters' motions by the names of their armatures, all read over the same frames. An object that names
    no armature is about the first one.
    """
    with declared(), scene_kept(scene), sources.without_takes(_loose(scene)):
        return _read(scene, cast)


def _loose(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Things that an earlier take may have moved."""
    return [obj for obj in on_stage(scene) if obj.sinew.role in {"PROP", "PROJECTILE"} and obj.is_editable]


def gravity_of(scene: bpy.types.Scene) -> Array:
    """(3,) m/s². Gravity that nobody has set is the Earth's, whatever the scene's unit scale makes of its number."""
    if not scene.use_gravity:
        return np.zeros(3)
    gravity = np.array(scene.gravity)
    return EARTH if np.allclose(gravity, EARTH) else gravity * scene.unit_settings.scale_length


def _read(scene: bpy.types.Scene, cast: Mapping[str, RigMotion]) -> StageParts:
    first = next(iter(cast.values()))
    metres, gravity = first.metres_per_unit, gravity_of(scene)
    roles: dict[str, list[bpy.types.Object]] = {}
    for obj in on_stage(scene):
        if obj.visible_get():
            _require_sound(scene, obj, cast)
            roles.setdefault(obj.sinew.role, []).append(obj)
    findings = [
        left_out(
            obj, "this method simulates one character at a time", "Choose another method, or simulate it by itself"
        )
        for obj in roles.get("CHARACTER", ())
        if obj.name not in cast
    ]
    findings += _moving(scene, [*roles.get("TERRAIN", ()), *roles.get("OBSTACLE", ())], Clock.of(first))
    scene.frame_set(first.frame_start)
    grounds = roles.get("TERRAIN", [])
    terrain, found = read_terrain(grounds, metres)
    findings += found
    obstacles = [read_obstacle(obj, metres) for obj in roles.get("OBSTACLE", ())]
    props = [read_prop(obj, metres) for obj in roles.get("PROP", ())]
    for obj in roles.get("PROJECTILE", ()):
        prop, found = read_projectile(scene, obj, cast, gravity)
        props += [prop] if prop is not None else []
        findings += found
    pushes, found = read_pushes(scene, roles.get("PUSH", ()), cast)
    findings += found
    own = scene.sinew.stage
    return StageParts(
        characters=tuple(cast),
        terrain=terrain,
        obstacles=tuple(obstacles),
        props=tuple(props),
        pushes=tuple(pushes),
        gravity=gravity,
        friction=min(obj.sinew.friction for obj in grounds) if grounds else own.friction,
        ground=own.ground,
        self_collision=own.self_collision,
        findings=tuple(findings),
    )


def _require_sound(scene: bpy.types.Scene, obj: bpy.types.Object, cast: Mapping[str, RigMotion]) -> None:
    problem = problem_of(obj, scene.objects.get(next(iter(cast))))
    if problem is not None:
        raise problem
    wearer = obj.find_armature()
    if wearer is not None and wearer.name in cast and obj.sinew.role != "PUSH":
        raise BadStage(
            f"'{obj.name}' is moved by '{wearer.name}', who would stand in it",
            "Take its mark away: characters get a body of their own",
        )


def _moving(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], clock: Clock) -> list[Finding]:
    """What is animated though it cannot move on the stage."""
    if not objects:
        return []
    last = int(clock.frame(clock.duration_s))
    places = []
    for frame in (clock.frame_start, (clock.frame_start + last) // 2, last):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        places.append(np.array([obj.evaluated_get(depsgraph).matrix_world for obj in objects]))
    moved = np.abs(np.array(places) - places[0]).max(axis=(0, 2, 3)) > 1e-3
    return [
        Finding(
            "moving_obstacle",
            f"'{obj.name}' moves in the scene, but obstacles and terrain stand still: it stays as at the first frame",
            "Mark it as a prop if it should be moved by what touches it",
        )
        for obj, moves in zip(objects, moved, strict=True)
        if moves
    ]


@contextmanager
def declared() -> Iterator[None]:
    """Blender knows our properties only while the add-on is on, and on a command line it is not."""
    from .. import properties

    if hasattr(bpy.types.Scene, "sinew"):
        yield
        return
    properties.register()
    try:
        yield
    finally:
        properties.unregister()
