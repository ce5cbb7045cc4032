# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command line may be given to simulate: a scene, a motion file or a stock clip, opened in Blender."""

import re
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np

from ...core.errors import BadFile, RigError
from ...core.motion import Clip, Take
from ...core.motion.io import npz, stock
from .. import mannequin
from ..rig.armatures import armature_from_skeleton
from ..rig.rig_reader import RigMotion
from ..rig.rig_writer import write_take
from ..scene.muted_output import mute_output

_COMMON_RATES = (24, 25, 30, 48, 50, 60, 90, 100, 120, 125, 144, 150, 200, 240)


def open_input(text: str, scale: float = 1.0, python: str | None = None) -> float:
    """Open a file or a stock clip in Blender, in place of what is open now.

    scale: metres a unit of the file. What is imported comes in at that size; a .blend keeps its own.
    Returns the scale that is left for the reader to apply: 1 for what was imported.
    """
    if not (np.isfinite(scale) and scale > 0):
        raise RigError(f"The scale is {scale}", "Give metres a unit above zero, such as --scale 0.01")
    path = Path(text).expanduser()
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        _open_stock(text, python)
        return 1.0
    if not path.is_file():
        raise BadFile(f"'{text}' does not exist", "Check the path")
    try:
        with mute_output():
            return _READERS[suffix](path.resolve(), scale)
    except (RuntimeError, ValueError, KeyError, IndexError, UnicodeDecodeError) as error:
        # Blender's importers report a broken file in whatever way they fell over it.
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
        raise BadFile(f"'{text}' cannot be opened: {reason}", "Check that it opens in Blender by hand") from error


def show_clip(clip: Clip, obj: bpy.types.Object) -> bpy.types.Action:
    """Let an armature made from the clip's skeleton play the clip as an Action, from frame 1 on."""
    scene = bpy.context.scene
    set_frame_rate(scene, clip.fps)
    still = np.broadcast_to(np.eye(3, dtype=np.float32), (1, len(clip.skeleton), 3, 3))
    scene_fps = scene.render.fps / scene.render.fps_base
    rig = RigMotion(clip, still, 1, scene_fps, scene.unit_settings.scale_length)
    action = write_take(obj, Take(clip), rig, name=clip.name or "Motion", where="ACTION").action
    scene.frame_start, scene.frame_end = 1, int(action.frame_range[1])
    scene.frame_set(1)
    return action


def set_frame_rate(scene: bpy.types.Scene, fps: float) -> None:
    """The scene's frames a second; a rate that only rounding keeps from a common one becomes that one."""
    near = min(_COMMON_RATES, key=lambda rate: abs(rate - fps))
    if abs(near - fps) < 1e-3 * near:
        scene.render.fps, scene.render.fps_base = near, 1.0
    else:
        scene.render.fps = max(round(fps), 1)
        scene.render.fps_base = scene.render.fps / fps


def _open_stock(name: str, python: str | None) -> None:
    if name not in stock.stock_names(python):
        endings, known = ", ".join(_READERS), ", ".join(stock.stock_names(python))
        raise BadFile(
            f"'{name}' is neither a file that Sinew opens ({endings}) nor a stock clip", f"The stock clips are: {known}"
        )
    clip = stock.load_stock(name, python)
    with mute_output():
        _empty_scene()
        show_clip(clip, mannequin.build(bpy.context.scene, clip.skeleton))
        mannequin.build_set(bpy.context.scene)


def _empty_scene() -> None:
    bpy.ops.wm.read_homefile(use_empty=True)


def _open_blend(path: Path, scale: float) -> float:
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    return scale


def _import_bvh(path: Path, scale: float) -> float:
    _empty_scene()
    # A Z-up file read as Y-up would lie on its back.
    axes = {"axis_up": "Z", "axis_forward": "Y"} if _stands_along_z(path) else {}
    bpy.ops.import_anim.bvh(
        filepath=str(path), global_scale=scale, update_scene_fps=True, update_scene_duration=True, **axes
    )
    scene = bpy.context.scene
    set_frame_rate(scene, scene.render.fps / scene.render.fps_base)
    return 1.0


def _import_fbx(path: Path, scale: float) -> float:
    _empty_scene()
    bpy.ops.import_scene.fbx(filepath=str(path), global_scale=scale)
    return 1.0


def _import_gltf(path: Path, scale: float) -> float:
    _empty_scene()
    bpy.ops.import_scene.gltf(filepath=str(path))
    for obj in bpy.context.scene.objects:
        if obj.parent is None:
            obj.scale *= scale
            obj.location *= scale
    return 1.0


def _import_npz(path: Path, scale: float) -> float:
    clip = npz.load_clip(path)
    _empty_scene()
    obj = armature_from_skeleton(clip.skeleton, clip.name or path.stem, bpy.context.scene.collection)
    show_clip(clip, obj)
    return scale


_READERS: dict[str, Callable[[Path, float], float]] = {
    ".blend": _open_blend,
    ".bvh": _import_bvh,
    ".fbx": _import_fbx,
    ".glb": _import_gltf,
    ".gltf": _import_gltf,
    ".npz": _import_npz,
}

_BVH_TOKEN = re.compile(r"OFFSET\s+(\S+)\s+(\S+)\s+(\S+)|(\})|(\bMOTION\b)")


def _stands_along_z(path: Path) -> bool:
    """Whether a BVH's skeleton at rest is much longer along Z than along Y: then Z is up."""
    heads: list[np.ndarray] = []
    chain: list[np.ndarray] = []
    for match in _BVH_TOKEN.finditer(path.read_text(encoding="utf-8", errors="replace")):
        if match[5]:
            break
        if match[4]:
            if chain:
                chain.pop()
            continue
        offset = np.array([float(match[i]) for i in (1, 2, 3)])
        # Where the root begins says nothing of how the body stands.
        chain.append(chain[-1] + offset if chain else np.zeros(3))
        heads.append(chain[-1])
    if not heads:
        return False
    extent = np.ptp(np.array(heads), axis=0)
    return bool(extent[2] > 3.0 * extent[1])
