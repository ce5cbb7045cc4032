# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion files as sources of a library: BVH read at once, everything else through Blender, Action by Action."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import bpy

from ...core.array_cache import compute_digest
from ...core.control.tracking.library_building import LibrarySource
from ...core.control.tracking.library_files import StoredLibrary
from ...core.errors import BadFile, RigError
from ...core.files import sha256_of
from ...core.motion import Clip
from ...core.motion.io.bvh import load_bvh
from ...core.motion.io.npz import load_clip
from ...core.motion.motion_size import require_frame_rate
from ...core.motion.style_names import find_name_styles
from ..importing.importers import open_input
from ..methods.job_inputs import own_actions
from ..rig.rig_reader import read_rig

ENDINGS = (".bvh", ".fbx", ".glb", ".gltf", ".npz", ".blend")
"""Of files that a library may be made of."""

_OF = "::"  # between a file and one of its Actions


def find_motion_files(paths: Iterable[Path]) -> list[Path]:
    """The files, and of folders all motion files in them, by name; what is neither is refused."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.suffix.lower() in ENDINGS and one.is_file())
            if not inside:
                raise BadFile(f"There are no motion files in '{path}'", f"Give a folder of {', '.join(ENDINGS)}")
            found += inside
        elif not path.is_file():
            raise BadFile(f"'{path}' does not exist", "Check the path")
        elif path.suffix.lower() not in ENDINGS:
            raise BadFile(f"'{path}' is no motion file", f"Give files that end in {', '.join(ENDINGS)}")
        else:
            found.append(path)
    if not found:
        raise BadFile("There are no motion files", "Give a folder or files")
    return list(dict.fromkeys(path.resolve() for path in found))


def make_file_sources(
    files: Iterable[Path], scale: float, way: str = "auto", known: Iterable[str] = ()
) -> list[LibrarySource]:
    """Sources in the order of the files; way: how file names become tags, known: tags that a library has already."""
    plain = [one for path in files for one in _sources_of(path, scale)]
    styles = find_name_styles([one.name for one in plain], way, set(known))
    return [
        LibrarySource(one.name, one.source, one.digest, one.read, styles=own)
        for one, own in zip(plain, styles, strict=True)
    ]


def digest_files(stored: StoredLibrary) -> dict[str, str]:
    """By source of a library's clips the digest that it has now, of those that are files and still there."""
    found = {}
    for origin in (clip.origin for clip in stored.clips):
        file, _, action = origin.source.partition(_OF)
        if Path(file).is_file():
            digest = _digest_file(Path(file), stored.scale)
            found[origin.source] = compute_digest(digest, action) if action else digest
    return found


def _digest_file(path: Path, scale: float) -> str:
    return compute_digest(sha256_of(path), scale)


def _load_clip(path: Path) -> Clip:
    clip = load_clip(path)
    require_frame_rate(f"'{path}'", clip.fps)
    return clip


def _sources_of(path: Path, scale: float) -> list[LibrarySource]:
    digest = _digest_file(path, scale)
    suffix = path.suffix.lower()
    if suffix in (".bvh", ".npz"):
        read = partial(load_bvh, path, scale) if suffix == ".bvh" else partial(_load_clip, path)
        return [LibrarySource(path.stem, str(path), digest, read)]
    names = _open_actions(path, scale)[1]
    many = len(names) > 1
    return [
        LibrarySource(
            name if many else path.stem,
            f"{path}{_OF}{name}",
            compute_digest(digest, name),
            partial(_read_action, path, scale, name),
        )
        for name in names
    ]


def _open_actions(path: Path, scale: float) -> tuple[float, list[str]]:
    """Open a file; metres a unit that are left to be taken into account, and the Actions of its armature."""
    left = open_input(str(path), scale)
    return left, [action.name for action in own_actions(_armature(path))]


def _read_action(path: Path, scale: float, name: str) -> Clip:
    left, names = _open_actions(path, scale)
    if name not in names:
        raise RigError(f"'{path}' has no Action '{name}' any more", "Build the library again")
    return read_rig(_armature(path), action=bpy.data.actions[name], scale=left).clip


def _armature(path: Path) -> bpy.types.Object:
    found = [obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE"]
    moved = [obj for obj in found if own_actions(obj)]
    if not moved:
        raise BadFile(f"No armature of '{path}' has an Action", "Give files with animated characters")
    return moved[0]
