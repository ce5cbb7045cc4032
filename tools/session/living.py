# SPDX-License-Identifier: GPL-3.0-or-later
"""Inside Blender with a window: how a live session stands, and where its bones are on the screen."""

from __future__ import annotations

import hashlib
import os
import pathlib
import tempfile
import time

import bpy
import inside
import numpy as np
import timing
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

_COURSE = ((3.0, 0.4), (6.0, -0.4))
_drawn: list[float] = []
_seen: list[float] = []
_drawing: list[object] = []


def enable(root: str) -> None:
    """Enable Sinew from its sources, as an extension of the user's own repository."""
    repo = next(one for one in bpy.context.preferences.extensions.repos if one.module == "user_default")
    place = os.path.join(repo.directory, "sinew")
    if not os.path.lexists(place):
        os.makedirs(repo.directory, exist_ok=True)
        os.symlink(root, place)
    bpy.ops.extensions.repo_refresh_all()
    bpy.ops.preferences.addon_enable(module="bl_ext.user_default.sinew")


def add_walk(bones: int = 0) -> None:
    """An empty scene with the mannequin and its walk, seen from aside; bones: how many it has at least."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    inside.part("bridge.importing.importers").open_input("walk", 1.0)
    if bones:
        with inside.in_view():
            inside.part("bench.live").add_riders(inside.part("bridge.jobs.requests").find_armature(), bones)
    _choose_armature()


def add_long_walk(seconds: float) -> None:
    """The same with a walk of so many seconds, and an eye on when what is simulated is first drawn."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    walk = inside.part("core.motion.plain_walk").plain_walk(seconds, 60.0)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "walk.npz"
        inside.part("core.motion.io.npz").save_clip(path, walk)
        inside.part("bridge.importing.importers").open_input(str(path), 1.0)
    _choose_armature()
    name, previews = bpy.context.scene.sinew.armature.name, inside.part("bridge.overlay.live_previews")
    _seen.clear()

    def note() -> None:
        obj = bpy.data.objects.get(name)
        if not _seen and obj is not None and previews.streamed_sticks(obj, 1.0) is not None:
            _seen.append(time.monotonic())

    _drawing.append(bpy.types.SpaceView3D.draw_handler_add(note, (), "WINDOW", "POST_PIXEL"))


def first_seen_s() -> float:
    """When it was first drawn, by the machine's clock; 0 for not yet. Nobody looks any more from then on."""
    if _seen and _drawing:
        bpy.types.SpaceView3D.draw_handler_remove(_drawing.pop(), "WINDOW")
    return _seen[0] if _seen else 0.0


def add_course(path: str) -> None:
    """A character that is live by a learned file, and two obstacles before it."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    registry, files = inside.part("core.control.registry"), inside.part("bridge.learned.learned_file")
    names = registry.live_names()[1:]
    plays = next(name for name in names if path.endswith(registry.get_family(name).learned.ending))
    learned = files.learned_file(plays)

    model = learned.read_file(pathlib.Path(path)).model
    skeleton = learned.kind.skeleton_of(model)
    obj = inside.part("bridge.mannequin").build(bpy.context.scene, skeleton)
    for x, y in _COURSE:
        with inside.in_view():
            bpy.ops.mesh.primitive_cylinder_add(radius=0.3, depth=1.2, location=(x, y, 0.6))
        bpy.context.view_layer.objects.active.sinew.role = "OBSTACLE"
    getattr(obj, "sinew_%s" % plays).file = path
    bpy.context.scene.sinew.methods.live.plays = plays
    _choose_armature()
    view = inside.view_area().spaces.active.region_3d
    view.view_rotation = Vector((1.0, 0.0, -0.45)).to_track_quat("-Z", "Y")


def course() -> list[list[float]]:
    """Where the obstacles are."""
    return [list(place) for place in _COURSE]


def _choose_armature() -> None:
    scene = bpy.context.scene
    obj = next(one for one in scene.objects if one.type == "ARMATURE")
    scene.sinew.armature = bpy.context.view_layer.objects.active = obj
    view = inside.view_area().spaces.active.region_3d
    place = obj.matrix_world.translation
    view.view_location, view.view_distance = (place.x, place.y, 0.9), 6.0
    view.view_rotation = Vector((-0.6, 1.0, -0.25)).to_track_quat("-Z", "Y")
    with inside.in_view():
        bpy.ops.ed.undo_push(message="Begin")


def live_facts() -> dict:
    """All that can be seen of the session."""
    running = inside.part("bridge.live.running")
    session = running.running()
    if session is None:
        return {"running": False, "frame": 0, "recorded": False, "expected": running.is_expected()}
    view = session.view
    pull = 0.0 if session.pull is None else float(np.linalg.norm(session.pull))
    names = ("ready", "frame", "paused", "limp", "recording", "recorded", "said", "speed")
    first = inside.part("bridge.live.hands").link_places(session)
    root = [float(part) for part in next(iter(first.values()))] if first else [0.0, 0.0, 0.0]
    things = [obj.name for obj in bpy.data.objects if obj.name.startswith("Live ")]
    found = {"running": True, "pull_n": pull, "things": things, "root": root, "worker": session.link.process.pid}
    return {**found, **{name: getattr(view, name) for name in names}}


def begin_figures() -> None:
    """Measure from now on: when the 3D view was drawn, and what Sinew did for each pose that it showed."""
    session = inside.part("bridge.live.running").require_running()
    _drawn.clear()
    timing.narrow()
    timing.take_calls()
    session.shown_s.clear()
    session.spent_s.clear()
    session.late_s.clear()
    session.drawn_s.clear()
    note = lambda: _drawn.append(time.perf_counter())  # noqa: E731 - Blender calls what it is given
    _drawing.append(bpy.types.SpaceView3D.draw_handler_add(note, (), "WINDOW", "POST_PIXEL"))


def end_figures() -> dict:
    """What was measured since, in milliseconds: Sinew's own time for each pose that it showed, and what it waited.

    All that Blender called of Sinew from when a pose was put on the armature until the next one was is that pose's.
    """
    bpy.types.SpaceView3D.draw_handler_remove(_drawing.pop(), "WINDOW")
    session, spread = inside.part("bridge.live.running").require_running(), inside.part("bench.live").spread_of
    drawn, shown, calls = np.array(_drawn), np.array(session.shown_s), timing.take_calls()
    ended, took = (np.array([call[part] for call in calls]) for part in (0, 1))
    of = np.searchsorted(shown, ended)
    spent = np.bincount(of, weights=took, minlength=len(shown) + 1)[1 : len(shown)]
    parts: dict[str, float] = {}
    for _, seconds, name in calls:
        parts[name] = parts.get(name, 0.0) + 1e3 * seconds / len(shown)
    return {
        "bones": len(session.posers[0].bones),
        "main_thread_ms": spread(1e3 * spent),
        "pose_ms": spread(1e3 * np.array(session.spent_s)),
        "parts_ms": {name: parts[name] for name in sorted(parts, key=parts.__getitem__, reverse=True)[:8]},
        "screen_frame_ms": spread(1e3 * np.diff(drawn)),
        "command_to_pose_ms": spread(1e3 * np.array(session.late_s)),
        "command_to_drawn_ms": spread(1e3 * np.array(session.drawn_s)),
    }


def bone_place(bone: str) -> list[int]:
    """Pixels of the screen where a bone's head is; of the trunk's where there is none of that name."""
    obj, area = bpy.context.scene.sinew.armature, inside.view_area()
    session = inside.part("bridge.live.running").running()
    if bone not in obj.pose.bones and session is not None:
        bone = session.links[0][1]
    region = next(one for one in area.regions if one.type == "WINDOW")
    posed = obj.pose.bones[bone]
    place = location_3d_to_region_2d(region, area.spaces.active.region_3d, obj.matrix_world @ posed.head)
    height = bpy.context.window_manager.windows[0].height
    return [round(region.x + place.x), round(height - region.y - place.y)]


def take_digest(number: int) -> str:
    """A digest of all keys of a take."""
    rows = bpy.context.scene.sinew.armature.sinew_takes
    actions = inside.part("bridge.rig.actions")
    found = hashlib.sha256()
    action, obj = rows[number].action, bpy.context.scene.sinew.armature
    for curve in sorted(actions.curves_of(action, actions.slot_for(action, obj)), key=_curve_name):
        keys = np.empty(2 * len(curve.keyframe_points))
        curve.keyframe_points.foreach_get("co", keys)
        found.update(keys.tobytes())
    return found.hexdigest()


def _curve_name(curve: bpy.types.FCurve) -> tuple[str, int]:
    return curve.data_path, curve.array_index
