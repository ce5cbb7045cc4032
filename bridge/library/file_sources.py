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
from ...core.limits import SOURCE_BYTES
from ...core.motion import Clip
from ...core.motion.io.bvh import load_bvh
from ...core.motion.io.npz import load_clip
from ...core.motion.motion_size import require_frame_rate
from ...core.motion.style_names import find_name_styles
from ...core.paths import is_folder, is_plain_file, list_folder, real_path, why_no_file
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
        if is_folder(path):
            inside = [one for one in list_folder(path) if one.suffix.lower() in ENDINGS and is_plain_file(one)]
            if not inside:
                raise BadFile(f"There are no motion files in '{path}'", f"Give a folder of {', '.join(ENDINGS)}")
            found += inside
        elif reason := why_no_file(path):
            raise BadFile(f"'{path}' {reason}", "Check the path")
        elif path.suffix.lower() not in ENDINGS:
            raise BadFile(f"'{path}' is no motion file", f"Give files that end in {', '.join(ENDINGS)}")
        else:
            found.append(path)
    if not found:
        raise BadFile("There are no motion files", "Give a folder or files")
    return list(dict.fromkeys(real_path(path) for path in found))


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


def digest_files(stored: StoredLibrary, folders: Iterable[Path]) -> tuple[dict[str, str], list[str]]:
    """By source of a library's clips the digest that it has now, of those that are files in one of the folders; and,
    in words, which were not looked at though they are there.

    A library says itself what it was made of, and somebody else may have made it: only motion files are read, and only
    where the user wants them looked for.
    """
    homes = [real_path(folder) for folder in folders]
    digests: dict[str, str] = {}
    unread: list[str] = []
    for file, sources in _group_by_file(stored).items():
        if not is_plain_file(file):
            continue  # it is gone, or was never a file
        try:
            _require_wanted(file, homes)
            digest = _digest_file(file, stored.scale)
        except BadFile as error:
            unread.append(error.message)
            continue
        digests |= {source: compute_digest(digest, action) if action else digest for source, action in sources}
    return digests, unread


def _require_wanted(file: Path, homes: Iterable[Path]) -> None:
    if file.suffix.lower() not in ENDINGS:
        raise BadFile(f"'{file}' is no motion file", "Build the library again")
    if not any(real_path(file).is_relative_to(home) for home in homes):
        raise BadFile(f"'{file}' is elsewhere", "Give its folder as --sources")


def _group_by_file(stored: StoredLibrary) -> dict[Path, list[tuple[str, str]]]:
    """By file the sources in it, each with its Action ('' for none)."""
    found: dict[Path, list[tuple[str, str]]] = {}
    for clip in stored.clips:
        file, _, action = clip.origin.source.partition(_OF)
        found.setdefault(Path(file), []).append((clip.origin.source, action))
    return found


def _digest_file(path: Path, scale: float) -> str:
    return compute_digest(sha256_of(path, SOURCE_BYTES), scale)


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
