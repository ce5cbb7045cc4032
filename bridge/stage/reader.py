# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the stage from the scene's objects. What shows in the viewport is on it; what is hidden is not.

An object that is only hidden from renders counts: that is how stand-ins for what is snapshot are made.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import bpy
import numpy as np

from ...core.errors import BadStage
from ...core.geometry.quaternions import Array
from ...core.sim.stage_parts import EARTH, Finding, StageParts
from ..rig import sources
from ..rig.rig_reader import RigMotion
from ..rig.setting_aside import shows_by_itself
from ..scene.preserved_state import preserve_scene
from ..scene.sliced_reading import DatablockRef, ReadSteps, read_in_slices, require_same_scene
from ..scene.time_slicing import SLICE_S, Slices, run_all_slices
from .checks import find_stage_problem
from .meshes import MeshSnapshot
from .pushes import PushSpan, find_push_span, left_out_finding, read_force
from .solids import PropSnapshot, read_flight
from .stage_snapshot import StageSnapshot
from .timing import Clock


def objects_on_stage(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Every object of the scene that has a role, by name, also hidden; what a newer file calls otherwise has none."""
    return sorted((obj for obj in scene.objects if obj.sinew.role not in ("NONE", "")), key=lambda obj: obj.name)


def read_stage(scene: bpy.types.Scene, cast: Mapping[str, RigMotion]) -> StageParts:
    """Everything on the stage but the characters, in metres, and seconds from the clip's first frame.

    cast: the characters' motions by the names of their armatures, all read over the same frames. An object that names
    no armature is about the first one.
    """
    return run_all_slices(read_stage_in_slices(scene, cast, slice_s=float("inf")))


def read_stage_in_slices(
    scene: bpy.types.Scene, cast: Mapping[str, RigMotion], *, slice_s: float = SLICE_S
) -> Slices[StageParts]:
    """The same, read in slices and assembled on the other thread."""
    state = _SourceState(scene)
    snapshot = yield from read_in_slices(_read_snapshot(state, cast), state.enter, slice_s)
    parts: StageParts = yield snapshot.parts
    return parts


class _SourceState:
    """The scene while the stage is read in it: as it was before any take, at whatever frame is asked for."""

    def __init__(self, scene: bpy.types.Scene) -> None:
        self._scene_uid = scene.session_uid
        self._frame: int | None = None

    @contextmanager
    def enter(self) -> Iterator[None]:
        """For a while; then all is as it was."""
        scene = require_same_scene(self._scene_uid)
        with preserve_scene(scene), sources.without_takes(_loose(scene)):
            self._frame = None
            yield

    def show(self, frame: int) -> None:
        """Go to the frame, unless it shows already."""
        if frame != self._frame:
            bpy.context.scene.frame_set(frame)
            self._frame = frame


def _loose(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Things that an earlier take may have moved."""
    return [obj for obj in objects_on_stage(scene) if obj.sinew.role in {"PROP", "PROJECTILE"} and obj.is_editable]


def scene_gravity(scene: bpy.types.Scene) -> Array:
    """(3,) m/s². Gravity that nobody has set is the Earth's, whatever the scene's unit scale makes of its number."""
    if not scene.use_gravity:
        return np.zeros(3)
    gravity = np.array(scene.gravity)
    return EARTH if np.allclose(gravity, EARTH) else gravity * scene.unit_settings.scale_length


def _read_snapshot(state: _SourceState, cast: Mapping[str, RigMotion]) -> ReadSteps[StageSnapshot]:
    """One object, or one frame of all that have to do with it, after the other."""
    scene, clock = bpy.context.scene, Clock.of(next(iter(cast.values())))
    own, roles = scene.sinew.stage, _roles(scene, cast)
    snapshot = StageSnapshot(cast, scene_gravity(scene), own.friction, own.ground, own.self_collision)
    if grounds := roles.get("TERRAIN"):
        snapshot.friction = min(one.resolve().sinew.friction for one in grounds)
    snapshot.findings += [
        left_out_finding(
            one.resolve(),
            "this method simulates one character at a time",
            "Choose another method, or simulate it by itself",
        )
        for one in roles.get("CHARACTER", ())
        if one.resolve().name not in cast
    ]
    snapshot.findings += yield from _moving(state, [*roles.get("TERRAIN", ()), *roles.get("OBSTACLE", ())], clock)
    for role in ("TERRAIN", "OBSTACLE", "PROP"):
        for one in roles.get(role, ()):
            state.show(clock.frame_start)
            obj = one.resolve()
            if role == "TERRAIN":
                snapshot.terrain.append(MeshSnapshot.at(obj))
            elif role == "OBSTACLE":
                snapshot.obstacles.append((MeshSnapshot.at(obj), obj.sinew.friction))
            else:
                snapshot.props.append(PropSnapshot.at(obj))
            yield
    for one in roles.get("PROJECTILE", ()):
        flight = read_flight(one.resolve(), cast)
        if isinstance(flight, dict):
            state.show(one.resolve().sinew.start_frame)
            snapshot.projectiles.append(replace(PropSnapshot.at(one.resolve()), **flight))
            yield
        else:
            snapshot.projectiles.append(flight)
    snapshot.pushes += yield from _pushes(state, roles.get("PUSH", ()), cast)
    return snapshot


def _roles(scene: bpy.types.Scene, cast: Mapping[str, RigMotion]) -> dict[str, list[DatablockRef]]:
    """What shows and is sound, by its role."""
    roles: dict[str, list[DatablockRef]] = {}
    for obj in objects_on_stage(scene):
        if shows_by_itself(obj):
            _require_sound(scene, obj, cast)
            roles.setdefault(obj.sinew.role, []).append(DatablockRef("objects", obj))
    return roles


def _pushes(
    state: _SourceState, objects: Sequence[DatablockRef], cast: Mapping[str, RigMotion]
) -> ReadSteps[list[tuple[PushSpan, dict[int, Array]] | Finding]]:
    """Every push with its force at each of its frames, or why it does not act."""
    spans = [(one, find_push_span(one.resolve(), cast)) for one in objects]
    acting: list[tuple[DatablockRef, PushSpan, dict[int, Array]]] = [
        (one, span, {}) for one, span in spans if isinstance(span, PushSpan)
    ]
    for frame in sorted({frame for _, span, _ in acting for frame in span.frames}):
        state.show(frame)
        for one, span, forces in acting:
            if frame in span.frames:
                forces[frame] = read_force(one.resolve())
        yield
    left = [span for _, span in spans if isinstance(span, Finding)]
    return [*((span, forces) for _, span, forces in acting), *left]


def _require_sound(scene: bpy.types.Scene, obj: bpy.types.Object, cast: Mapping[str, RigMotion]) -> None:
    problem = find_stage_problem(obj, scene.objects.get(next(iter(cast))))
    if problem is not None:
        raise problem
    wearer = obj.find_armature()
    if wearer is not None and wearer.name in cast and obj.sinew.role != "PUSH":
        raise BadStage(
            f"'{obj.name}' is moved by '{wearer.name}', who would stand in it",
            "Take its mark away: characters get a body of their own",
        )


def _moving(state: _SourceState, objects: Sequence[DatablockRef], clock: Clock) -> ReadSteps[list[Finding]]:
    """What is animated though it cannot move on the stage."""
    if not objects:
        return []
    last = int(clock.frame(clock.duration_s))
    places = []
    for frame in (clock.frame_start, (clock.frame_start + last) // 2, last):
        state.show(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        places.append(np.array([one.resolve().evaluated_get(depsgraph).matrix_world for one in objects]))
        yield
    moved = np.abs(np.array(places) - places[0]).max(axis=(0, 2, 3)) > 1e-3
    return [
        Finding(
            "moving_obstacle",
            f"'{name}' moves in the scene, but obstacles and terrain stand still: it stays as at the first frame",
            "Mark it as a prop if it should be moved by what touches it",
        )
        for name, moves in zip([one.resolve().name for one in objects], moved, strict=True)
        if moves
    ]
