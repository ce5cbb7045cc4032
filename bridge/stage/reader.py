# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the stage from the scene's objects. What shows in the viewport is on it; what is hidden is not.

An object that is only hidden from renders counts: that is how stand-ins for what is seen are made.
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
from ..scene.preserved_state import scene_kept
from ..scene.time_slicing import PIECE_S, Steps, at_once
from ..scene.visits import Reads, Remembered, in_visits, still_open
from .checks import problem_of
from .meshes import Look
from .pushes import Span, force_of, left_out, span_of
from .seen import Seen
from .solids import Loose, flight_of
from .timing import Clock


def on_stage(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Every object of the scene that has a role, by name, hidden ones too."""
    return sorted((obj for obj in scene.objects if obj.sinew.role != "NONE"), key=lambda obj: obj.name)


def read_stage(scene: bpy.types.Scene, cast: Mapping[str, RigMotion]) -> StageParts:
    """Everything on the stage but the characters, in metres, and seconds from the clip's first frame.

    cast: the characters' motions by the names of their armatures, all read over the same frames. An object that names
    no armature is about the first one.
    """
    return at_once(stage_in_pieces(scene, cast, piece_s=float("inf")))


def stage_in_pieces(
    scene: bpy.types.Scene, cast: Mapping[str, RigMotion], *, piece_s: float = PIECE_S
) -> Steps[StageParts]:
    """The same, read a little at a time and put together on the other thread."""
    visit = _Visit(scene)
    seen = yield from in_visits(_reads(visit, cast), visit.opened, piece_s)
    parts: StageParts = yield seen.parts
    return parts


class _Visit:
    """The scene while the stage is read in it: as it was before any take, at whatever frame is asked for."""

    def __init__(self, scene: bpy.types.Scene) -> None:
        self._scene_uid = scene.session_uid
        self._frame: int | None = None

    @contextmanager
    def opened(self) -> Iterator[None]:
        """For a while; then all is as it was."""
        scene = still_open(self._scene_uid)
        with scene_kept(scene), sources.without_takes(_loose(scene)):
            self._frame = None
            yield

    def show(self, frame: int) -> None:
        """Go to the frame, unless it shows already."""
        if frame != self._frame:
            bpy.context.scene.frame_set(frame)
            self._frame = frame


def _loose(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Things that an earlier take may have moved."""
    return [obj for obj in on_stage(scene) if obj.sinew.role in {"PROP", "PROJECTILE"} and obj.is_editable]


def gravity_of(scene: bpy.types.Scene) -> Array:
    """(3,) m/s². Gravity that nobody has set is the Earth's, whatever the scene's unit scale makes of its number."""
    if not scene.use_gravity:
        return np.zeros(3)
    gravity = np.array(scene.gravity)
    return EARTH if np.allclose(gravity, EARTH) else gravity * scene.unit_settings.scale_length


def _reads(visit: _Visit, cast: Mapping[str, RigMotion]) -> Reads[Seen]:
    """One object, or one frame of all that have to do with it, after the other."""
    scene, clock = bpy.context.scene, Clock.of(next(iter(cast.values())))
    own, roles = scene.sinew.stage, _roles(scene, cast)
    seen = Seen(cast, gravity_of(scene), own.friction, own.ground, own.self_collision)
    if grounds := roles.get("TERRAIN"):
        seen.friction = min(one.found().sinew.friction for one in grounds)
    seen.findings += [
        left_out(
            one.found(),
            "this method simulates one character at a time",
            "Choose another method, or simulate it by itself",
        )
        for one in roles.get("CHARACTER", ())
        if one.found().name not in cast
    ]
    seen.findings += yield from _moving(visit, [*roles.get("TERRAIN", ()), *roles.get("OBSTACLE", ())], clock)
    for role in ("TERRAIN", "OBSTACLE", "PROP"):
        for one in roles.get(role, ()):
            visit.show(clock.frame_start)
            obj = one.found()
            if role == "TERRAIN":
                seen.terrain.append(Look.at(obj))
            elif role == "OBSTACLE":
                seen.obstacles.append((Look.at(obj), obj.sinew.friction))
            else:
                seen.props.append(Loose.at(obj))
            yield
    for one in roles.get("PROJECTILE", ()):
        flight = flight_of(one.found(), cast)
        if isinstance(flight, dict):
            visit.show(one.found().sinew.start_frame)
            seen.projectiles.append(replace(Loose.at(one.found()), **flight))
            yield
        else:
            seen.projectiles.append(flight)
    seen.pushes += yield from _pushes(visit, roles.get("PUSH", ()), cast)
    return seen


def _roles(scene: bpy.types.Scene, cast: Mapping[str, RigMotion]) -> dict[str, list[Remembered]]:
    """What shows and is sound, by its role."""
    roles: dict[str, list[Remembered]] = {}
    for obj in on_stage(scene):
        if obj.visible_get():
            _require_sound(scene, obj, cast)
            roles.setdefault(obj.sinew.role, []).append(Remembered("objects", obj))
    return roles


def _pushes(
    visit: _Visit, objects: Sequence[Remembered], cast: Mapping[str, RigMotion]
) -> Reads[list[tuple[Span, dict[int, Array]] | Finding]]:
    """Every push with its force at each of its frames, or why it does not act."""
    spans = [(one, span_of(one.found(), cast)) for one in objects]
    acting: list[tuple[Remembered, Span, dict[int, Array]]] = [
        (one, span, {}) for one, span in spans if isinstance(span, Span)
    ]
    for frame in sorted({frame for _, span, _ in acting for frame in span.frames}):
        visit.show(frame)
        for one, span, forces in acting:
            if frame in span.frames:
                forces[frame] = force_of(one.found())
        yield
    left = [span for _, span in spans if isinstance(span, Finding)]
    return [*((span, forces) for _, span, forces in acting), *left]


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


def _moving(visit: _Visit, objects: Sequence[Remembered], clock: Clock) -> Reads[list[Finding]]:
    """What is animated though it cannot move on the stage."""
    if not objects:
        return []
    last = int(clock.frame(clock.duration_s))
    places = []
    for frame in (clock.frame_start, (clock.frame_start + last) // 2, last):
        visit.show(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        places.append(np.array([one.found().evaluated_get(depsgraph).matrix_world for one in objects]))
        yield
    moved = np.abs(np.array(places) - places[0]).max(axis=(0, 2, 3)) > 1e-3
    return [
        Finding(
            "moving_obstacle",
            f"'{name}' moves in the scene, but obstacles and terrain stand still: it stays as at the first frame",
            "Mark it as a prop if it should be moved by what touches it",
        )
        for name, moves in zip([one.found().name for one in objects], moved, strict=True)
        if moves
    ]
