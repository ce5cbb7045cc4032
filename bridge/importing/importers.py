# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command line may be given to simulate: a scene, a motion file or a stock clip, opened in Blender."""

import re
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np

from ...core.errors import BadFile, SinewError
from ...core.jobs import find_worker_python
from ...core.motion import Clip, Take
from ...core.motion.frame_rates import snap_frame_rate
from ...core.motion.io import npz, stock
from ...core.motion.io.bvh_check import check_bvh
from ...core.motion.io.fbx_check import check_fbx
from ...core.motion.io.gltf_check import check_gltf
from ...core.paths import real_path, usable_path, why_no_file
from ...core.sim.models.reading import ENDINGS, read_model_file
from .. import mannequin
from ..rig.armatures import armature_from_skeleton
from ..rig.rig_reader import RigMotion, require_scale
from ..rig.rig_writer import write_take
from ..scene.muted_output import mute_output
from .models import add_given_character, model_name, standing_clip


def open_input(text: str, scale: float = 1.0, python: str | None = None) -> float:
    """Open a file or a stock clip in Blender, in place of what is open now.

    scale: metres a unit of the file. What is imported comes in at that size; a .blend keeps its own.
    Returns the scale that is left for the reader to apply: 1 for what was imported.
    """
    require_scale(scale)
    path = usable_path(text)
    suffix = path.suffix.lower()
    if suffix in ENDINGS:
        open_model(text, scale, python)
        return 1.0
    if suffix not in _READERS:
        _open_stock(text, python)
        return 1.0
    if reason := why_no_file(path):
        raise BadFile(f"'{text}' {reason}", "Check the path")
    try:
        if suffix in _CHECKS:
            _CHECKS[suffix](path)
        with mute_output(errors=True):
            return _READERS[suffix](real_path(path), scale)
    except SinewError:
        raise
    except OSError as error:
        raise BadFile(f"'{text}' cannot be read: {error.strerror or error}", "Check the file") from error
    except MemoryError as error:
        raise BadFile(f"'{text}' takes more memory than there is", "Cut it into shorter pieces") from error
    except Exception as error:
        raise BadFile(f"'{text}' cannot be opened: {_reason(error)}", "Export or download it again") from error


def open_model(text: str, scale: float = 1.0, python: str | None = None) -> tuple[str, ...]:
    """Open a robot's model as a character that stands, in place of what is open; gives what it has and bodies have not.

    python: that of workers, which reads it; None for core's own choice.
    """
    path = usable_path(text)
    if reason := why_no_file(path):
        raise BadFile(f"'{text}' {reason}", "Check the path")
    character = read_model_file(path, find_worker_python(python), scale)
    with mute_output():
        _empty_scene()
        obj = add_given_character(bpy.context.scene, character, model_name(path))
        show_clip(standing_clip(character), obj)
        mannequin.build_set(bpy.context.scene)
    return character.notes


def _reason(error: Exception) -> str:
    """What an importer fell over, of what Blender makes of it: a whole traceback, and where Blender's own code is."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Location:")]
    if not lines:
        return type(error).__name__
    if any("Traceback (most recent call last)" in line for line in lines):
        return f"Blender's importer stopped with {lines[-1]}"
    return " ".join(line.removeprefix("Error: ") for line in lines)


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
    rate = snap_frame_rate(fps)
    if rate.is_integer():
        scene.render.fps, scene.render.fps_base = int(rate), 1.0
    else:
        scene.render.fps = max(round(fps), 1)
        scene.render.fps_base = scene.render.fps / fps


def _open_stock(name: str, python: str | None) -> None:
    if name not in stock.stock_names(python):
        endings, known = ", ".join((*_READERS, *ENDINGS)), ", ".join(stock.stock_names(python))
        raise BadFile(
            f"'{name}' is neither a file that Sinew opens ({endings}) nor a stock clip", f"The stock clips are: {known}"
        )
    open_clip(stock.load_stock(name, python))


def open_clip(clip: Clip) -> float:
    """Show a clip on a character made of its skeleton, in place of what is open; gives its scale."""
    with mute_output():
        _empty_scene()
        show_clip(clip, mannequin.build(bpy.context.scene, clip.skeleton))
        mannequin.build_set(bpy.context.scene)
    return 1.0


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

_CHECKS: dict[str, Callable[[Path], None]] = {
    ".bvh": check_bvh,
    ".fbx": check_fbx,
    ".glb": check_gltf,
    ".gltf": check_gltf,
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
