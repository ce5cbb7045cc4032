# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes that are hard on an interface: a very long Action, many objects, very many bones."""

from typing import Any

import bmesh
import bpy
import numpy as np

from ..bridge import mannequin
from ..bridge.graph import skills, transitions
from ..bridge.mannequin import example_walker
from ..bridge.rig import actions
from ..bridge.rig.rig_reader import RigMotion
from ..bridge.rig.rig_writer import write_take
from ..core.control.graph.model.control_graph import ControlGraph
from ..core.control.graph.model.features import Features, state_names
from ..core.control.graph.model.policies import zero_policies
from ..core.control.graph.model.structure import convert_motion_graph
from ..core.motion import Take
from ..core.motion.plain_walk import plain_walk

FRAMES, OBJECTS, BONES = 60_000, 200, 400
_OBSTACLES = 20


def mannequin_scene() -> bpy.types.Object:
    """The mannequin with its walk, alone in an empty scene; chosen to be simulated, like the others here."""
    return _chosen(example_walker.add_walker(empty_scene()))


def unlearned_graph(armature: bpy.types.Object, about: dict[str, Any] | None = None) -> ControlGraph:
    """What the armature's skills are before anything is learned: a graph whose policies have no feedback."""
    read = skills.read_skills_at_once(armature)
    graph = transitions.graph_of(armature, read)
    body = transitions.plain_body_builder(armature, read)()
    structure, track = convert_motion_graph(body, graph)
    features = Features(body)
    actions_count = len(features.action_dofs)
    policies = zero_policies(np.zeros((structure.count, len(state_names(features)))), actions_count)
    turns = np.zeros((structure.count, actions_count))
    return ControlGraph(structure, track, policies, turns, graph.transitions, about or {})


def long_action(frames: int = FRAMES) -> bpy.types.Object:
    """The mannequin with a walk of so many frames."""
    scene = empty_scene()
    fps = scene.render.fps / scene.render.fps_base
    clip = plain_walk((frames - 1) / fps, fps)
    still = np.broadcast_to(np.eye(3, dtype=np.float32), (1, len(clip.skeleton), 3, 3))
    rig = RigMotion(clip, still, 1, fps, 1.0)
    armature = mannequin.build(scene)
    write_take(armature, Take(clip), rig, name="long walk", where="ACTION")
    return _chosen(armature)


def many_objects(count: int = OBJECTS) -> bpy.types.Object:
    """The mannequin among so many objects of some hundred faces each, some of which it may run into."""
    armature = mannequin_scene()
    scene = bpy.context.scene
    shape = bmesh.new()
    bmesh.ops.create_icosphere(shape, subdivisions=3, radius=0.3)
    for number in range(count):
        mesh = bpy.data.meshes.new(f"Thing {number}")
        shape.to_mesh(mesh)
        thing = bpy.data.objects.new(mesh.name, mesh)
        thing.location = (3.0 + number % 20, number // 20, 0.3)
        scene.collection.objects.link(thing)
        if number < _OBSTACLES:
            thing.sinew.role = "OBSTACLE"
    shape.free()
    bpy.context.view_layer.update()
    return armature


def many_bones(count: int = BONES, frames: int = 250) -> bpy.types.Object:
    """The mannequin with chains of small bones on its head and hands until it has so many, all of them keyed."""
    scene = empty_scene()
    fps = scene.render.fps / scene.render.fps_base
    clip = plain_walk((frames - 1) / fps, fps)
    armature = mannequin.build(scene)
    still = np.broadcast_to(np.eye(3, dtype=np.float32), (1, len(clip.skeleton), 3, 3))
    written = write_take(armature, Take(clip), RigMotion(clip, still, 1, fps, 1.0), name="walk", where="ACTION")
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    holders = [bones["head"], bones["forearm.L"], bones["forearm.R"]]
    for number in range(count - len(bones)):
        chain, place = divmod(number, 4)
        above = bones[f"extra {number - 1:03d}"] if place else holders[chain % 3]
        bone = bones.new(f"extra {number:03d}")
        turn = 2.4 * chain
        bone.head = above.tail
        bone.tail = bone.head + 0.02 * bone.head.__class__((np.cos(turn), np.sin(turn), 0.3))
        bone.parent = above
    bpy.ops.object.mode_set(mode="OBJECT")
    bag = written.action.layers[0].strips[0].channelbag(armature.animation_data.action_slot)
    wave = 0.1 * np.sin(np.arange(frames) * 0.2)
    for pose in armature.pose.bones:
        if pose.name.startswith("extra"):
            pose.rotation_mode = "XYZ"
            actions.add_curve(bag, pose.path_from_id("rotation_euler"), 0, pose.name, 1, wave)
    return _chosen(armature)


SCENES = {"mannequin": mannequin_scene, "long": long_action, "objects": many_objects, "bones": many_bones}


def empty_scene() -> bpy.types.Scene:
    """The scene without anything in it."""
    scene = bpy.context.scene
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    for kind in (bpy.data.actions, bpy.data.armatures, bpy.data.meshes, bpy.data.collections):
        for block in list(kind):
            kind.remove(block)
    return scene


def _chosen(armature: bpy.types.Object) -> bpy.types.Object:
    scene = bpy.context.scene
    action = armature.animation_data.action
    scene.sinew.armature, scene.sinew.action = armature, action
    scene.frame_start, scene.frame_end = map(int, action.frame_range)
    scene.frame_set(scene.frame_start)
    bpy.context.view_layer.objects.active = armature
    armature.data.bones.active = armature.data.bones[0]
    return armature


def add_bare_mannequin(scene: bpy.types.Scene) -> bpy.types.Object:
    """Another mannequin, which has no Action."""
    return mannequin.build(scene)


def legs_model() -> str:
    """A robot that is a box on two legs, as URDF."""
    parts, joints = [_urdf_link("pelvis", "0.3 0.3 0.3")], []
    for side, y in (("left", 0.1), ("right", -0.1)):
        above = "pelvis"
        for part, z in (("hip", -0.15), ("knee", -0.4), ("ankle", -0.4)):
            parts.append(_urdf_link(f"{side}_{part}", "0.2 0.08 0.08" if part == "ankle" else "0.08 0.08 0.3"))
            joints.append(
                f'<joint name="{side}_{part}_joint" type="revolute"><parent link="{above}"/>'
                f'<child link="{side}_{part}"/><origin xyz="0 {y if above == "pelvis" else 0} {z}"/><axis xyz="0 1 0"/>'
                '<limit lower="-2" upper="2" effort="100" velocity="10"/></joint>'
            )
            above = f"{side}_{part}"
    return f'<robot name="legs">{"".join(parts)}{"".join(joints)}</robot>'


def _urdf_link(name: str, size: str) -> str:
    inertia = '<inertia ixx="0.05" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/>'
    shape = f'<collision><geometry><box size="{size}"/></geometry></collision>'
    return f'<link name="{name}"><inertial><mass value="3"/>{inertia}</inertial>{shape}</link>'
