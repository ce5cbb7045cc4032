# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures in docs/images, made again: ``.venv/bin/python tools/pictures.py bodies [NAME …]``.

Needs bpy, and for all but the mannequin the characters in ../shared/mocap, which are not part of the project.
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
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from translucent import make_translucent

ROOT = Path(__file__).resolve().parent.parent
SKINNED = ROOT.parent / "shared" / "mocap" / "skinned"
IMAGES = ROOT / "docs" / "images"

# name -> what is opened, and metres a unit of it
CHARACTERS = {
    "arnaud": (str(SKINNED / "arnaud_walk_mocap.glb"), 1.0),
    "mannequiny": (str(SKINNED / "mannequiny.glb"), 1.0),
    "fox": (str(SKINNED / "Fox.glb"), 0.01),
    "cesium_man": (str(SKINNED / "CesiumMan.glb"), 1.0),
    "robot": (str(SKINNED / "RobotExpressive.glb"), 1.0),
    "mannequin": ("walk", 1.0),
}
# Radians from the front to the character's left, and up: front, side, three-quarter.
VIEWS = ((0.0, 0.05), (np.pi / 2, 0.05), (np.radians(40.0), np.radians(17.0)))
COLOURS = {"L": (0.10, 0.30, 0.80), "R": (0.80, 0.20, 0.08), "": (0.16, 0.45, 0.14)}  # linear RGB
GROUND = (0.16, 0.17, 0.19)
SKIN, SKIN_SHARE = (0.85, 0.82, 0.78), 0.22
TILE = (300, 400)  # pixels
SAMPLES = 16


def main(argv: Sequence[str]) -> int:
    """Make the pictures that are asked for."""
    parser = argparse.ArgumentParser(prog="tools/pictures.py", description="Make the pictures in docs/images again.")
    parser.add_argument("what", choices=["bodies"], help="bodies: the fitted bodies over the meshes")
    parser.add_argument("names", nargs="*", metavar="NAME", help="one of: %s; all if left out" % ", ".join(CHARACTERS))
    parser.add_argument("--folder", type=Path, default=IMAGES, help="where they go (docs/images)")
    arguments = parser.parse_args(argv)
    unknown = [name for name in arguments.names if name not in CHARACTERS]
    if unknown:
        parser.error("there is no '%s'; choose from %s" % (unknown[0], ", ".join(CHARACTERS)))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    sinew = _package()
    for name in arguments.names or CHARACTERS:
        source, scale = CHARACTERS[name]
        if source.endswith(".glb") and not Path(source).is_file():
            print("%s: left out, there is no %s" % (name, source))
            continue
        path = arguments.folder / ("body_%s.png" % name)
        body = _picture(sinew, source, scale, path)
        print("%s: %d links, %.1f kg, %d kB" % (path.name, len(body.links), body.mass, path.stat().st_size / 1000))
    return 0


def _package() -> SimpleNamespace:
    """What is needed of Sinew, loaded as the package ``sinew``."""
    runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()
    names = {
        "build": "core.body.build",
        "quaternions": "core.geometry.quaternions",
        "files": "core.files",
        "importers": "bridge.importing.importers",
        "rig_reader": "bridge.rig.rig_reader",
        "mesh_reader": "bridge.body.mesh_reader",
        "framing": "bridge.mannequin.framing",
        "studio_set": "bridge.mannequin.studio_set",
        "materials": "bridge.mannequin.materials",
        "muted_output": "bridge.scene.muted_output",
    }
    return SimpleNamespace(**{name: importlib.import_module("sinew." + module) for name, module in names.items()})


def _picture(sinew: SimpleNamespace, source: str, scale: float, path: Path) -> Any:
    """Open a character, fit its body, and write all views of both side by side; returns the body."""
    sinew.importers.open_input(source, scale)
    scene = bpy.context.scene
    armature = next(obj for obj in scene.objects if obj.type == "ARMATURE")
    rig = sinew.rig_reader.read_rig(armature)
    mesh = sinew.mesh_reader.read_mesh(armature, rig.clip.skeleton, rig.metres_per_unit)
    body, _ = sinew.build.build_body(rig.clip.skeleton, clip=rig.clip, mesh=mesh)
    armature.data.pose_position = "REST"
    bpy.context.view_layer.update()
    worn = [obj for obj in scene.objects if obj.type == "MESH" and _follows(obj, armature)]
    _only(scene, worn)
    skin = make_translucent(sinew.materials.plain_material("skin", SKIN, 0.6), SKIN_SHARE)
    for obj in worn:
        _dress(obj, skin)
    where = np.array(armature.matrix_world.translation)
    _show(sinew, scene, body, where)
    points = mesh.vertices + where
    level = float(points[:, 2].min())
    ground = sinew.studio_set.make_ground("ground", points.min(0), points.max(0), level)
    _dress(
        ground, sinew.materials.plain_material("ground", GROUND, 1.0)
    )  # plain: a pattern only makes the files larger
    scene.collection.objects.link(ground)
    scene.collection.objects.link(sinew.studio_set.make_sun("sun"))
    scene.world = sinew.studio_set.make_sky("sky")
    _settings(scene)
    facing = _facing(body)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        tiles = [_shot(sinew, scene, points, (facing + side, up), Path(folder)) for side, up in VIEWS]
        sinew.files.write_whole(path, _encoded(np.concatenate(tiles, axis=1), Path(folder) / "sheet.png"))
    return body


def _follows(obj: bpy.types.Object, armature: bpy.types.Object) -> bool:
    above = obj.parent
    while above is not None and above != armature:
        above = above.parent
    by_modifier = any(each.type == "ARMATURE" and each.object == armature for each in obj.modifiers)
    return above == armature or by_modifier


def _only(scene: bpy.types.Scene, kept: Sequence[bpy.types.Object]) -> None:
    """Leave nothing else to be rendered."""
    for obj in scene.objects:
        obj.hide_render = obj not in kept


def _dress(obj: bpy.types.Object, material: bpy.types.Material) -> None:
    obj.data.materials.clear()
    obj.data.materials.append(material)


def _show(sinew: SimpleNamespace, scene: bpy.types.Scene, body: Any, where: np.ndarray) -> None:
    """A mesh for every shape of the body at rest: left blue, right red, the middle green, by turns light and dark."""
    heads, quats = body.skeleton.rest_world()
    for index, link in enumerate(body.links):
        bone = body.skeleton.index(link.bone)
        shade = 1.0 if index % 2 else 0.55
        material = sinew.materials.plain_material(link.bone, tuple(shade * part for part in COLOURS[link.side]), 0.5)
        for shape in link.shapes:
            pos = where + heads[bone] + sinew.quaternions.rotate(quats[bone], shape.pos)
            turn = sinew.quaternions.to_matrix(sinew.quaternions.multiply(quats[bone], shape.quat_wxyz))
            obj = _solid(shape, link.bone)
            _dress(obj, material)
            matrix = np.eye(4)
            matrix[:3, :3], matrix[:3, 3] = turn, pos
            obj.matrix_world = Matrix(matrix.tolist())
            scene.collection.objects.link(obj)


def _solid(shape: Any, name: str) -> bpy.types.Object:
    if shape.kind == "box":
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
        faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return _object(name, signs * shape.size, faces, smooth=False)
    half = shape.size[1] if shape.kind == "capsule" else 0.0
    rings, sides = 16, 32
    up = np.pi * (np.arange(rings) / (rings - 1) - 0.5)  # from the south pole to the north one
    around = 2.0 * np.pi * np.arange(sides) / sides
    height = shape.size[0] * np.sin(up) + half * np.where(np.arange(rings) < rings // 2, -1.0, 1.0)
    out = shape.size[0] * np.cos(up)
    circle = np.stack([np.cos(around), np.sin(around)], axis=-1)
    points = np.concatenate(
        [out[:, None, None] * circle, np.broadcast_to(height[:, None, None], (rings, sides, 1))], axis=-1
    )
    faces = [
        (r * sides + s, r * sides + (s + 1) % sides, (r + 1) * sides + (s + 1) % sides, (r + 1) * sides + s)
        for r in range(rings - 1)
        for s in range(sides)
    ]
    return _object(name, points.reshape(-1, 3), faces, smooth=True)


def _object(name: str, points: np.ndarray, faces: list[Any], *, smooth: bool) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces)
    if smooth:
        mesh.shade_smooth()
    return bpy.data.objects.new(name, mesh)


def _facing(body: Any) -> float:
    """Radians from -Y towards +X: where the front is, a quarter turn from the way from right to left."""
    heads, _ = body.skeleton.rest_world()
    place = {(link.role, link.side): heads[body.skeleton.index(link.bone)] for link in body.links}
    across = sum(place[role, "L"] - place[role, "R"] for role, side in place if side == "L" and (role, "R") in place)
    return float(np.arctan2(across[1], across[0]))


def _settings(scene: bpy.types.Scene) -> None:
    render, cycles = scene.render, scene.cycles
    render.engine = "CYCLES"
    render.resolution_x, render.resolution_y = TILE
    render.resolution_percentage, render.dither_intensity = 100, 0.0  # dither is noise that no file gets smaller by
    render.image_settings.file_format = "PNG"
    cycles.device, cycles.samples, cycles.seed = "CPU", SAMPLES, 0
    cycles.max_bounces, cycles.transparent_max_bounces = 2, 32
    cycles.use_denoising = True
    cycles.denoising_use_gpu = False


def _shot(
    sinew: SimpleNamespace, scene: bpy.types.Scene, points: np.ndarray, angles: tuple[float, float], folder: Path
) -> np.ndarray:
    """(H, W, 4) what a camera sees from there, bottom row first."""
    matrix = sinew.framing.view_matrix(points, angles, TILE[0] / TILE[1], margin=0.9)
    camera = sinew.framing.new_camera("camera", matrix, float(np.ptp(points, axis=0).max()))
    scene.collection.objects.link(camera)
    scene.camera = camera
    # The light comes with the camera, from its left and above.
    light = next(obj for obj in scene.objects if obj.type == "LIGHT")
    light.rotation_euler = (np.radians(48.0), 0.0, angles[0] - np.radians(40.0))
    scene.render.filepath = str(folder / "view.png")
    with sinew.muted_output.mute_output():
        bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath, check_existing=False)
    pixels = np.empty(TILE[0] * TILE[1] * 4, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(TILE[1], TILE[0], 4)


def _encoded(sheet: np.ndarray, file: Path) -> bytes:
    """A picture (H, W, 4), bottom row first, as the bytes of a PNG file."""
    image = bpy.data.images.new("sheet", sheet.shape[1], sheet.shape[0], alpha=False)
    image.pixels.foreach_set(np.ascontiguousarray(sheet).ravel())
    image.filepath_raw, image.file_format = str(file), "PNG"
    image.save()
    return file.read_bytes()


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)  # bpy may take its time, or hang, over an orderly end
