# SPDX-License-Identifier: GPL-3.0-or-later
"""Inside Blender: what the session can ask and what it does where no click is the point. Plain values in and out."""

from __future__ import annotations

import contextlib
import importlib
import math
import sys
from collections.abc import Iterator

import bpy

_leaving: list[bool] = []


def package() -> str:
    """What Sinew is called among the enabled add-ons; '' where it is not."""
    names = [addon.module for addon in bpy.context.preferences.addons]
    return next((name for name in names if name.split(".")[-1] == "sinew"), "")


def part(name: str) -> object:
    """A module of the enabled Sinew."""
    return importlib.import_module("%s.%s" % (package(), name))


def tick() -> None:
    """What Blender's timers would do, where it runs none."""
    if package():
        part("bridge.jobs.monitor").tick_monitor()
        part("bridge.setup.readiness").poll_readiness()


def leaving() -> bool:
    """Whether Blender was told to quit, where it has no window."""
    return bool(_leaving)


def leave() -> None:
    """Quit, where there is no window to be closed; the preferences are kept, as Blender's window keeps them."""
    bpy.ops.wm.save_userpref()
    _leaving.append(True)


def install(path: str) -> None:
    """Install the zip from disk and enable it."""
    bpy.ops.extensions.package_install_files(filepath=path, repo="user_default", enable_on_install=True)


def disable() -> None:
    """Disable Sinew as its tick box in the preferences does."""
    bpy.ops.preferences.addon_disable(module=package())


def facts() -> dict:
    """All that can be seen of the file, of Sinew and of its jobs."""
    scene, name = bpy.context.scene, package()
    found = {
        "blender": bpy.app.version_string,
        "python": sys.version.split()[0],
        "package": name,
        "file": bpy.data.filepath,
        "unsaved": bpy.data.is_dirty,
        "frame": scene.frame_current,
        "actions": sorted(action.name for action in bpy.data.actions),
        "objects": sorted(obj.name for obj in scene.objects),
        "hidden": sorted(obj.name for obj in scene.objects if obj.hide_viewport),
        "heavy": sorted({"torch", "mujoco", "pybullet", "scipy", "cma", "coacd"} & set(sys.modules)),
    }
    return {**found, **_sinew_facts(scene)} if name else {**found, "jobs": [], "takes": []}


def _sinew_facts(scene: bpy.types.Scene) -> dict:
    obj, known = scene.sinew.armature, part("bridge.setup.readiness").current_readiness()
    data = obj.animation_data if obj is not None else None
    rows = obj.sinew_takes if obj is not None else ()
    return {
        "armature": obj.name if obj is not None else "",
        "source": scene.sinew.action.name if scene.sinew.action is not None else "",
        "moved_by": data.action.name if data is not None and data.action is not None else "",
        "tracks": [[strip.action.name for strip in track.strips] for track in data.nla_tracks] if data else [],
        "takes": [{"name": row.action.name if row.action else "", "fell": row.fell} for row in rows],
        "jobs": [
            {"id": view.id, "title": view.title, "state": view.state, "text": view.text, "fraction": view.fraction}
            for view in part("bridge.jobs.monitor").watched_jobs()
        ],
        "doubts": [notice.message for notice in _notices(scene)],
        "fixes": [notice.fix for notice in _notices(scene) if notice.fix],
        "simulates": known is not None and known.simulates,
        "known": known is not None,
        "pushes": sorted(obj.name for obj in scene.objects if obj.sinew.role == "PUSH"),
        "intents": [obj.sinew.intent for obj in scene.objects if obj.sinew.role == "PUSH"],
    }


def _notices(scene: bpy.types.Scene) -> tuple:
    return part("bridge.jobs.notices").of(part("bridge.jobs.scene_request").request_of(scene))


def pose(bone: str) -> list[float]:
    """Where the bone's head is in the world, in Blender units."""
    obj = bpy.context.scene.sinew.armature
    return list(obj.matrix_world @ obj.pose.bones[bone].head)


def is_fitted() -> bool:
    """Whether the overlay has a body to draw."""
    known = part("bridge.body.fitted_bodies").known_fit(bpy.context.scene.sinew.armature)
    return known is not None and known.body is not None


@contextlib.contextmanager
def in_view() -> Iterator[None]:
    """The 3D view's sidebar as context, where there is a window."""
    if bpy.app.background:
        yield
        return
    area = view_area()
    region = next(region for region in area.regions if region.type == "UI")
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0], area=area, region=region):
        yield


def view_area() -> bpy.types.Area:
    """The 3D view."""
    areas = bpy.context.window_manager.windows[0].screen.areas
    return next(area for area in areas if area.type == "VIEW_3D")


def call(operator: str, **named: object) -> list[str]:
    """Call an operator as a button does, with its step of undo."""
    group, name = operator.split(".")
    with in_view():
        return sorted(getattr(getattr(bpy.ops, group), name)("EXEC_DEFAULT", True, **named))


def put(owner: str, name: str, value: object) -> None:
    """Set a property; owner: 'scene.sinew', say, looked up in the context."""
    found = bpy.context
    for step in owner.split("."):
        found = getattr(found, step)
    setattr(found, name, value)
    for window in bpy.context.window_manager.windows:  # as after a click: rows come and go with what is chosen
        for area in window.screen.areas:
            area.tag_redraw()


def get(owner: str, name: str) -> object:
    """A property's value, looked up in the same way."""
    found = bpy.context
    for step in owner.split("."):
        found = getattr(found, step)
    return getattr(found, name)


def begin_at_rest() -> str:
    """Choose a copy of the chosen motion that stands at rest for a frame first, as captures do; gives the source."""
    chosen, actions = bpy.context.scene.sinew, part("bridge.rig.actions")
    source, made = chosen.action, chosen.action.copy()
    for curve in actions.curves_of(made, actions.slot_for(made, chosen.armature)):
        turns = curve.data_path.endswith("rotation_quaternion") and curve.array_index == 0
        value = 1.0 if turns or curve.data_path.endswith("scale") else 0.0
        curve.keyframe_points.insert(source.frame_range[0] - 1.0, value)
    chosen.action = made
    return source.name


def choose_source(name: str) -> None:
    """Choose the motion again, and delete the one that was chosen instead."""
    chosen = bpy.context.scene.sinew
    made, chosen.action = chosen.action, bpy.data.actions[name]
    bpy.data.actions.remove(made)


def show_scene(name: str) -> str:
    """Let the window show a scene, which is made where there is none; gives the name of the one it showed."""
    window, scenes = bpy.context.window_manager.windows[0], bpy.data.scenes
    before, window.scene = window.scene, scenes.get(name) or scenes.new(name)
    return before.name


def walk_in_rig() -> str:
    """Choose a rig whose legs hang on IK targets, that sways and steps; gives the name of the armature before it."""
    scene, before = bpy.context.scene, bpy.context.scene.sinew.armature.name
    data = bpy.data.armatures.new("Puppet")
    obj = bpy.data.objects.new("Puppet", data)
    scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    with in_view():
        bpy.ops.object.mode_set(mode="EDIT")
        _puppet_bones(data.edit_bones)
        bpy.ops.object.mode_set(mode="OBJECT")
    for side in "LR":
        chain = obj.pose.bones["shin." + side].constraints.new("IK")
        chain.target, chain.subtarget, chain.chain_count = obj, "step." + side, 2
    for frame in range(1, 41):
        phase = 2.0 * math.pi * frame / 20.0
        moves = {"hips": (0.03 * math.sin(phase), -0.05, 0.0)}
        for turn, side in enumerate("LR"):
            moves["step." + side] = (0.0, 0.0, max(0.0, 0.1 * math.sin(phase + math.pi * turn)))
        for bone, place in moves.items():
            obj.pose.bones[bone].location = place
            obj.pose.bones[bone].keyframe_insert("location", frame=frame)
    scene.sinew.armature, scene.sinew.action = obj, obj.animation_data.action
    bpy.ops.ed.undo_push(message="Puppet")
    return before


def _puppet_bones(bones: bpy.types.ArmatureEditBones) -> None:
    """A trunk with arms, and legs whose shins reach for targets."""
    parts = [("hips", "", (0, 0, 1.0), (0, 0, 1.15)), ("spine", "hips", (0, 0, 1.15), (0, 0, 1.5))]
    parts.append(("head", "spine", (0, 0, 1.5), (0, 0, 1.75)))
    for side, x in (("L", 0.1), ("R", -0.1)):
        parts += [
            ("thigh." + side, "hips", (x, 0, 1.0), (x, -0.03, 0.53)),
            ("shin." + side, "thigh." + side, (x, -0.03, 0.53), (x, 0.02, 0.08)),
            ("foot." + side, "shin." + side, (x, 0.02, 0.08), (x, -0.15, 0.02)),
            ("upper_arm." + side, "spine", (2 * x, 0, 1.45), (4.5 * x, 0.02, 1.45)),
            ("forearm." + side, "upper_arm." + side, (4.5 * x, 0.02, 1.45), (7 * x, 0, 1.45)),
            ("step." + side, "", (x, 0.02, 0.08), (x, -0.2, 0.08)),
        ]
    for name, parent, head, tail in parts:
        bone = bones.new(name)
        bone.head, bone.tail, bone.use_deform = head, tail, not name.startswith("step")
        if parent:
            bone.parent = bones[parent]


def choose_armature(name: str, action: str) -> None:
    """Choose a character and its motion, and delete nothing."""
    chosen = bpy.context.scene.sinew
    chosen.armature, chosen.action = bpy.data.objects[name], bpy.data.actions[action]
    pick_armature()


def set_intent(intent: str) -> None:
    """Choose what the scene's pushes are to do."""
    for obj in bpy.context.scene.objects:
        if obj.sinew.role == "PUSH":
            obj.sinew.intent = intent
    bpy.ops.ed.undo_push(message="Intent")


def set_frame(frame: int) -> None:
    """Go to the frame."""
    bpy.context.scene.frame_set(frame)


def pick_bone(bone: str) -> None:
    """Go into Pose Mode with the bone active, as two clicks in the viewport would."""
    obj = bpy.context.scene.sinew.armature
    with in_view():
        for other in list(bpy.context.selected_objects):
            other.select_set(False)
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj
        bpy.ops.object.mode_set(mode="POSE")
        obj.data.bones.active = obj.data.bones[bone]


def pick_armature() -> None:
    """Back to Object Mode, with the character active."""
    obj = bpy.context.scene.sinew.armature
    with in_view():
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for other in list(bpy.context.selected_objects):
            other.select_set(False)
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj


def save(path: str) -> None:
    """Save the file under that name."""
    bpy.ops.wm.save_as_mainfile(filepath=path)


def open_file(path: str) -> None:
    """Open a .blend."""
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.ops.ed.undo_push(message="Original")
