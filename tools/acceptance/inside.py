# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the acceptance that are taken inside Blender: ``blender -b --python inside.py -- STEP FOLDER [FILE]``."""

import importlib
import json
import os
import sys
import time
from pathlib import Path

import bpy

STEP, FOLDER, *FILES = sys.argv[sys.argv.index("--") + 1 :]
PACKAGE = next(name for name in bpy.context.preferences.addons.keys() if name.endswith(".sinew"))  # noqa: SIM118 - a collection of Blender
HEAVY = {"torch", "mujoco", "pybullet", "scipy", "cma", "coacd"}


def part(name):
    """A module of the installed extension."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def wait_for(poll):
    """Do what Blender's timer does until there is nothing more to do."""
    while poll() is not None:
        time.sleep(0.05)


def look():
    """What is ready, as the top of the tab shows it."""
    readiness = part("bridge.setup.readiness")
    readiness.check_readiness()
    wait_for(readiness.poll_readiness)
    known = readiness.current_readiness()
    return {"python": known.python, "engine": known.engine, "learner": known.learner, "missing": list(known.missing),
            "problem": known.problem}  # fmt: skip


def first():
    """Look, and try it on the mannequin."""
    said = look()
    bpy.ops.sinew.try_mannequin()
    monitor = part("bridge.jobs.monitor")
    wait_for(monitor.tick_monitor)
    view = monitor.watched_jobs()[0]
    armature = bpy.context.scene.sinew.armature
    said.update(state=view.state, message=view.message, fell=[take.fell for take in armature.sinew_takes])
    said["heavy"] = sorted(HEAVY & set(sys.modules))
    bpy.ops.sinew.take_show_source()
    bpy.ops.wm.save_as_mainfile(filepath=FOLDER + "/shot/first.blend")
    return said


def stage():
    """An arch over the walker's way, which ends inside it."""
    bpy.ops.wm.open_mainfile(filepath=FOLDER + "/shot/first.blend")
    scene, armature = bpy.context.scene, bpy.context.scene.sinew.armature
    path = positions(armature)
    middle = 0.5 * (path[0] + path[-1])
    along = (path[-1] - path[0]).normalized()
    across = along.cross((0.0, 0.0, 1.0))
    outline = [(-1.2, 0.0), (-0.8, 0.0), (-0.8, 2.2), (0.8, 2.2), (0.8, 0.0), (1.2, 0.0), (1.2, 2.5), (-1.2, 2.5)]
    corners = [
        (middle.x + a * across.x + d * along.x, middle.y + a * across.y + d * along.y, z)
        for d in (-0.2, 0.2)
        for a, z in outline
    ]
    count = len(outline)
    faces = [tuple(range(count))[::-1], tuple(range(count, 2 * count))]
    faces += [(i, (i + 1) % count, count + (i + 1) % count, count + i) for i in range(count)]
    mesh = bpy.data.meshes.new("Arch")
    mesh.from_pydata(corners, [], faces)
    arch = bpy.data.objects.new("Arch", mesh)
    scene.collection.objects.link(arch)
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    arch.select_set(True)
    bpy.ops.sinew.stage_mark(role="OBSTACLE")
    masses = {}
    for name, use_mesh in (("plain_kg", False), ("fitted_kg", True)):
        armature.sinew_body.use_mesh = use_mesh
        fitted = part("bridge.body.fitted_bodies").fit_now(scene, armature, again=True)
        masses[name] = sum(link.mass for link in fitted.body.links)
    bpy.ops.wm.save_as_mainfile(filepath=FOLDER + "/shot/stage.blend")
    return {
        **masses,
        "action": armature.animation_data.action.name,
        "meshes": [obj.name for obj in armature.children_recursive if obj.type == "MESH"],
    }


def positions(armature):
    """Where the root bone is at the first and at the last frame, in the world."""
    scene = bpy.context.scene
    start, end = armature.animation_data.action.frame_range
    found = []
    for frame in (start, end):
        scene.frame_set(int(frame))
        bone = armature.pose.bones[0]
        found.append((armature.matrix_world @ bone.matrix).translation.copy())
    return found


def walked():
    """How far the take in a file goes, and how far its source did."""
    bpy.ops.wm.open_mainfile(filepath=FOLDER + "/shot/stage.blend")
    source = positions(bpy.context.scene.sinew.armature)
    bpy.ops.wm.open_mainfile(filepath=FILES[0])
    take = positions(bpy.context.scene.sinew.armature)
    return {"source_m": (source[1] - source[0]).length, "travelled_m": (take[1] - take[0]).length}


def counted():
    """How many takes a file has."""
    bpy.ops.wm.open_mainfile(filepath=FILES[0])
    return {"takes": sum(len(obj.sinew_takes) for obj in bpy.data.objects)}


def clips():
    """Files of a walk and of a part of it, to make a library of."""
    walk, save_clip = part("core.motion.plain_walk").plain_walk, part("core.motion.io.npz").save_clip
    made = {"walk_one": walk(4.0, 60.0), "walk_two": walk(5.0, 60.0).frames(20, 280)}
    for name, clip in made.items():
        save_clip(Path(FILES[0]) / f"{name}.npz", clip)
    return {"clips": len(made)}


def torch():
    """Press the button that installs what is missing, and look again."""
    look()
    bpy.ops.sinew.install_missing()
    installing = part("bridge.setup.installing")
    wait_for(installing.poll_installation)
    view = installing.current_installation()
    return {**look(), "state": view.state, "doing": view.doing, "fix": view.fix}


def main():
    """Take the step and write down what came of it."""
    said = globals()[STEP]()
    with open(f"{FOLDER}/{STEP}.json", "w", encoding="utf-8") as stream:
        json.dump(said, stream, indent=2)
    sys.stdout.flush()
    os._exit(0)


main()
