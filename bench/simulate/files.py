# SPDX-License-Identifier: GPL-3.0-or-later
"""Files as their users have them: opened by Blender's importers at their own scale, and nothing of them cleaned.

Of each file every Action that moves its armature is simulated as a whole, with calibration poses, dropouts and all.
What the check offers to mend about a file's units (Fix All) is accepted, as an animator would; nothing else is known.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import bpy

from ...bridge.body.body_inputs import read_body_attachments
from ...bridge.importing.importers import open_input
from ...bridge.rig.actions import curves_of, slot_for
from ...bridge.rig.rig_reader import RigMotion, read_rig
from ...core.motion.inspection import UNIT_KINDS, inspect_clip
from .. import mocap
from ..run import Case

GROUP = "files"
_FOLDERS = ("cmu", "bvh", "odd", "skinned", "fbx")
_ZEBRA = Path("libraries") / "quadruped" / "quaternius_Zebra.fbx"
_ROUNDS = 3  # what is right in size may still be wrong in time

# All of mannequiny's but its idles, in which no leg moves.
_BROKEN = (
    *(f"air_{name}_root" for name in ("jump_anticipation", "jump", "land")),
    *(f"{name}_root" for name in ("dash", "fight_kick", "fight_punch", "idle_to_fight", "run")),
)
# What an Action was recorded or made with and its file does not have: without it, physics lacks a force or a place to
# stand. It is known from the files themselves, and said of no Action that merely fails.
NEEDS = {
    "83_27_stairs_up": "the stairs it climbs: its feet end 0.4 m up on nothing",
    "115_06_lift_box": "the box it lifts, whose weight is missing",
    **{f"mannequiny/{name}.001": "the motion of its right thigh, which is keyed with one value" for name in _BROKEN},
}


@dataclass(frozen=True)
class _Opened:
    """What is read of a file with the units that the check asks for; accepted: what it said of them."""

    rig: RigMotion
    accepted: tuple[str, ...]


def file_paths() -> list[Path]:
    """The files, as far as they are there."""
    zebra = mocap.FOLDER.parent / _ZEBRA
    return mocap.mocap_files(*_FOLDERS) + ([zebra] if zebra.is_file() else [])


def file_names() -> list[str]:
    """The files by name, without their endings."""
    return [path.stem for path in file_paths()]


def file_cases(wanted: Sequence[str], seeds: Sequence[int], engine: str) -> Iterator[Case]:
    """Every Action of the files by name, whole; those of a file with several are called by both, as 'Fox/Run'."""
    for path in file_paths():
        if path.stem not in {clip.partition("/")[0] for clip in wanted}:
            continue
        names = _open_actions(path)
        for name in names:
            full = f"{path.stem}/{name}" if len(names) > 1 else path.stem
            if path.stem not in wanted and full not in wanted:
                continue
            case = _read_case(path, name, full, engine)
            for seed in seeds:
                yield replace(case, seed=seed)


def _open_actions(path: Path) -> list[str]:
    """The Actions of a file that move its armature's bones."""
    obj = _open(path)
    return [action.name for action in bpy.data.actions if _moves_bones(action, obj)]


def _moves_bones(action: bpy.types.Action, obj: bpy.types.Object) -> bool:
    return any(curve.data_path.startswith("pose.bones") for curve in curves_of(action, slot_for(action, obj)))


def _open(path: Path) -> bpy.types.Object:
    open_input(str(path))
    return next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")


def _read_case(path: Path, action_name: str, name: str, engine: str) -> Case:
    obj = _open(path)
    action = bpy.data.actions[action_name]
    opened = _accept_fixes(obj, action)
    words = {"accepted": list(opened.accepted)} | ({"needs": NEEDS[name]} if name in NEEDS else {})
    worn = read_body_attachments(obj, opened.rig, None, action)
    return Case(GROUP, name, opened.rig.clip, 0, engine, worn, words)


def _accept_fixes(obj: bpy.types.Object, action: bpy.types.Action) -> _Opened:
    """Read an Action, and again with every unit that is said to be wrong."""
    scale, true_fps, accepted = 1.0, None, []
    for _ in range(_ROUNDS):
        rig = read_rig(obj, action=action, scale=scale, true_fps=true_fps)
        offers = [finding for finding in inspect_clip(rig.clip) if finding.kind in UNIT_KINDS]
        if not offers:
            break
        for offer in offers:
            accepted.append(offer.message)
            scale = scale * offer.value if offer.fix == "scale" else scale
            true_fps = offer.value if offer.fix == "frame_rate" else true_fps
    return _Opened(rig, tuple(accepted))
