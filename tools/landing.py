# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture at the head of README.md, made again: ``.venv/bin/python tools/landing.py``.

The mannequin's plain walk is pushed, simulated as a job, and shown at several moments in one picture: what was asked
for as a blue shade, what came of it as a body. Needs bpy, and MuJoCo in the same Python.
"""

from __future__ import annotations

import argparse
import importlib
import os
import runpy
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
from mathutils import Euler, Vector
from translucent import make_translucent

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "docs" / "images" / "landing.png"
SIZE, SAMPLES, MOST_BYTES = (1400, 520), 48, 420_000
PUSH_FRAME, PUSH_N, PUSH_S = 38, 280.0, 0.1
FRAMES = (4, 17, 30, 43, 56, 69, 82, 95, 104)
GHOST, GHOST_SHARE, RED = (0.10, 0.26, 0.75), 0.30, (0.85, 0.05, 0.03)  # linear RGB
SIDE, UP = np.radians(80.0), np.radians(12.0)


def main(argv: Sequence[str]) -> int:
    """Simulate the walk, and render it."""
    parser = argparse.ArgumentParser(prog="tools/landing.py", description="Make the picture of README.md again.")
    parser.add_argument("--path", type=Path, default=PATH, help="where it goes (docs/images/landing.png)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--job-dir", type=Path, help="keep the job in this folder; run again to go on after a kill")
    arguments = parser.parse_args(argv)
    sinew = _package()
    with tempfile.TemporaryDirectory(prefix="sinew-landing-", ignore_cleanup_errors=True) as folder:
        _walk(sinew, arguments.seed, arguments.job_dir or Path(folder) / "job")
        _shoot(sinew, arguments.path)
    print("%s: %d kB" % (arguments.path, arguments.path.stat().st_size / 1000))
    return 0


def _package() -> SimpleNamespace:
    """What is needed of Sinew, loaded as the package ``sinew`` and registered."""
    runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()
    sys.modules["sinew"].register()
    names = {
        "example_walker": "bridge.mannequin.example_walker",
        "stage_editing": "bridge.stage.stage_editing",
        "requests": "bridge.jobs.requests",
        "jobs": "core.jobs",
        "framing": "bridge.mannequin.framing",
        "studio_set": "bridge.mannequin.studio_set",
        "materials": "bridge.mannequin.materials",
        "palette": "bridge.preview.palette",
        "muted_output": "bridge.scene.muted_output",
    }
    return SimpleNamespace(**{name: importlib.import_module("sinew." + module) for name, module in names.items()})


def _walk(sinew: SimpleNamespace, seed: int, folder: Path) -> None:
    """A scene with the walker, pushed and simulated; says how it went."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    armature = sinew.example_walker.add_walker(scene)
    scene.frame_set(PUSH_FRAME)
    push = sinew.stage_editing.add_push(scene, armature, "chest", 1.0)
    push.rotation_euler = Euler((0.0, np.pi / 2, 0.0))  # from its right to its left
    push.sinew.force, push.sinew.duration = PUSH_N, PUSH_S
    request = sinew.requests.Request(armature.name, method="sampling", seed=seed)
    job = sinew.requests.create_job(request, sinew.requests.read(request), folder)
    status = job.status() if job.has_result() else sinew.jobs.wait(job, sinew.jobs.launch(job))
    if status.state != "done":
        raise SystemExit("the job is %s; see %s" % (status.state, job.folder / "worker.log"))
    sinew.requests.collect(job)
    print("; ".join(job.result().report["summary"]))


def _shoot(sinew: SimpleNamespace, path: Path) -> None:
    """All moments in one picture."""
    scene = bpy.context.scene
    armature = next(obj for obj in scene.objects if obj.type == "ARMATURE")
    body = next(obj for obj in scene.objects if obj.type == "MESH" and obj.parent == armature)
    take, source = armature.sinew_takes[-1].action, armature.sinew_takes[-1].source
    shade = make_translucent(sinew.materials.plain_material("shade", GHOST, 0.8), GHOST_SHARE)
    found = [_still(scene, armature, body, take, frame) for frame in FRAMES]
    for frame in FRAMES:
        if frame > PUSH_FRAME:
            ghost = _still(scene, armature, body, source, frame)
            ghost.data.materials.clear()
            ghost.data.materials.append(shade)
            found.append(ghost)
    points = np.concatenate([_corners(obj) for obj in found])
    body.hide_render = True
    for obj in [*found, _arrow(sinew, scene, armature, take)]:
        scene.collection.objects.link(obj)
    scene.collection.objects.link(sinew.studio_set.make_ground("ground", points.min(0), points.max(0)))
    scene.collection.objects.link(sinew.studio_set.make_sun("sun"))
    scene.world = sinew.studio_set.make_sky("sky")
    matrix = sinew.framing.view_matrix(points, (SIDE, UP), SIZE[0] / SIZE[1], margin=0.94)
    camera = sinew.framing.new_camera("camera", matrix, float(np.ptp(points, axis=0).max()))
    scene.collection.objects.link(camera)
    scene.camera = camera
    _settings(scene)
    scene.render.filepath = str(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with sinew.muted_output.mute_output():
        bpy.ops.render.render(write_still=True)
    sinew.palette.shrink(path, MOST_BYTES)


def _still(scene, armature, body, action, frame: int) -> bpy.types.Object:
    """The body as it is at a frame of an Action, as a mesh that nothing moves; in no scene yet."""
    armature.animation_data.action = action
    armature.animation_data.action_slot = action.slots[0]
    scene.frame_set(frame)
    evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    still = bpy.data.objects.new("still", bpy.data.meshes.new_from_object(evaluated))
    still.matrix_world = evaluated.matrix_world.copy()
    return still


def _corners(obj: bpy.types.Object) -> np.ndarray:
    """(8, 3) of the box around it."""
    return np.array([obj.matrix_world @ Vector(corner) for corner in obj.bound_box])


def _arrow(sinew: SimpleNamespace, scene, armature, take) -> bpy.types.Object:
    """A red arrow on the chest where it is pushed."""
    armature.animation_data.action = take
    scene.frame_set(PUSH_FRAME)
    chest = armature.matrix_world @ (0.5 * (armature.pose.bones["chest"].head + armature.pose.bones["chest"].tail))
    long, thin, head = 0.55, 0.018, 0.055
    profile = [(0.0, 0.0), (thin, 0.0), (thin, long - 0.14), (head, long - 0.14), (0.0, long)]
    sides = 24
    around = 2.0 * np.pi * np.arange(sides) / sides
    points = [(along, out * np.cos(turn), out * np.sin(turn)) for out, along in profile for turn in around]
    faces = [
        (row * sides + s, row * sides + (s + 1) % sides, (row + 1) * sides + (s + 1) % sides, (row + 1) * sides + s)
        for row in range(len(profile) - 1)
        for s in range(sides)
    ]
    mesh = bpy.data.meshes.new("push")
    mesh.from_pydata(points, [], faces)
    mesh.materials.append(sinew.materials.plain_material("push", RED, 0.4))
    arrow = bpy.data.objects.new("push", mesh)
    arrow.location = chest - Vector((long + 0.16, 0.0, 0.0))
    return arrow


def _settings(scene: bpy.types.Scene) -> None:
    render, cycles = scene.render, scene.cycles
    render.engine = "CYCLES"
    render.resolution_x, render.resolution_y = SIZE
    render.resolution_percentage, render.dither_intensity = 100, 0.0
    render.image_settings.file_format = "PNG"
    cycles.device, cycles.samples, cycles.seed = "CPU", SAMPLES, 0
    cycles.max_bounces, cycles.transparent_max_bounces = 2, 16
    cycles.use_denoising = True
    cycles.denoising_use_gpu = False


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)  # bpy may take its time, or hang, over an orderly end
