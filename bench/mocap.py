# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorded motions that benchmarks read: ../shared/mocap, which is no part of the project."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import bpy

from ..bridge.body.body_inputs import read_body_attachments
from ..bridge.importing.importers import open_input
from ..bridge.rig.rig_reader import read_rig
from ..core.control.character import MESH
from ..core.errors import BadFile
from ..core.files import Attachment
from ..core.motion import Clip
from ..core.motion.io import stock
from ..core.motion.unit_checks import check_frame_rate
from .run import Case
from .simulate.cases import short_enough

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "mocap"
_ENDINGS = (".bvh", ".fbx", ".glb")

# Metres a unit of the files in each folder, and of files that are not like the others.
_SCALES = {"cmu": 0.0564444, "bvh": 0.01, "odd": 0.01, "deepmimic": 1.0, "fbx": 1.0, "skinned": 1.0}
_OWN_SCALES = {"derived_09_01_zup_mm.bvh": 0.001, "Fox.glb": 0.01}


def mocap_files(*folders: str) -> list[Path]:
    """The motion files in these folders, or in all; none where there is no ../shared/mocap."""
    places = [FOLDER / folder for folder in folders] if folders else sorted(FOLDER.glob("*"))
    return [path for place in places for path in sorted(place.glob("*")) if path.suffix in _ENDINGS]


def require_files() -> None:
    """Refuse to go on where there are none."""
    if not FOLDER.is_dir():
        raise BadFile(f"The recorded motions are not in '{FOLDER}'", "Put them there or measure something else")


def scale_of(path: Path) -> float:
    """Metres a unit of the file."""
    folder = "cmu" if path.name.startswith("cmu") else path.parent.name
    return _OWN_SCALES.get(path.name, _SCALES[folder])


def mocap_names(*folders: str) -> list[str]:
    """The motions in these folders by their files' names without endings."""
    return [path.stem for path in mocap_files(*folders)]


def read_mocap_clip(name: str) -> Clip:
    """The recorded motion of that name."""
    require_files()
    path = next((path for path in mocap_files() if path.stem == name), None)
    if path is None:
        raise BadFile(f"There is no recorded motion '{name}' in '{FOLDER}'", "Put it there or measure something else")
    return _read(path, "mocap", "none").clip


def odd_cases(wanted: Sequence[str], seeds: Sequence[int], engine: str) -> Iterator[Case]:
    """The low-quality files by name, as they are; and again with the frame rate that Sinew itself says is the true one.

    At most ten seconds of each, on its own skeleton.
    """
    for path in mocap_files("odd"):
        if path.stem not in wanted:
            continue
        read = replace(_read(path, "odd", engine), compare=True)
        for seed in seeds:
            case = replace(read, seed=seed)
            yield case
            finding = check_frame_rate(case.clip) if len(case.clip) > 1 else None
            if finding is not None:
                clip = case.clip.with_fps(finding.suggested_fps)
                yield replace(case, clip=clip, words={**case.words, "hint_taken": finding.hint})


def _read(path: Path, group: str, engine: str) -> Case:
    """Open a file in Blender, and read its first armature's motion and what its body is made from."""
    open_input(str(path), scale_of(path))
    obj = next((found for found in bpy.context.scene.objects if found.type == "ARMATURE"), None)
    rig = read_rig(obj)
    return Case(group, path.stem, short_enough(rig.clip), 0, engine, read_body_attachments(obj, rig))


@lru_cache(maxsize=1)
def mannequin_attachments() -> dict[str, Attachment]:
    """What a job of a stock clip on the mannequin has for its body: its mesh."""
    open_input(stock.stock_names()[0])
    obj = next(found for found in bpy.context.scene.objects if found.type == "ARMATURE")
    rig = read_rig(obj)
    found = read_body_attachments(obj, rig)
    arrays, meta = found[MESH]
    # Blender has the bones in another order than the clip.
    order = [rig.clip.skeleton.index(bone) for bone in stock.stock_skeleton().names]
    return {**found, MESH: ({**arrays, "weights": arrays["weights"][:, order]}, meta)}
