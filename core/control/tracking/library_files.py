# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries as files beside the .blend: the clips that were given and their body; mirror images are made when needed.

Motion is kept in single precision, and a clip that did not change is written as it was read, bit for bit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np

from ... import limits
from ...body import BodyModel
from ...body.foot_contacts import name_feet
from ...body.io import body_from_arrays, body_to_arrays
from ...errors import BadFile, BadMotion, SinewError
from ...motion.clip import Tag
from ...motion.deeds import deeds_from_rows, deeds_to_rows
from ...motion.library import ClipOrigin, Library, require_tag_inside
from ...motion.motion_size import require_library_size
from ..learned import Content, LearnedFormat, LearnedKind
from .library_building import (
    LIBRARY_FPS,
    PreparedClip,
    add_mirrored,
    find_deeds,
    find_mirror,
    gather_library,
    is_slowed_down,
)

KIND, VERSION = "sinew library", 1
LIBRARY_FILE = LearnedKind(
    name="library",
    label="library",
    ending=".library.npz",
    folder="libraries",
    module="core.control.tracking.library_files",
    learn_hint="build one",
    missing="There is no library in '{path}'",
    missing_hint="Choose another file, or build it again",
    most_bytes=limits.LIBRARY_BYTES,
)

_BODY, _AGAIN = "body_", "Build the library again"
_ROWS = {"local_pos": np.float32, "local_quat_wxyz": np.float32, "contacts": np.bool_, "times_s": np.float64}


@dataclass(frozen=True, eq=False)
class StoredLibrary:
    """A library as a file has it.

    body: what its clips were prepared for, on the skeleton they are all on. clips: those that were given.
    mirror: whether each is to be there again, left for right. scale: metres a unit of its sources.
    """

    body: BodyModel
    clips: tuple[PreparedClip, ...]
    mirror: bool = True
    scale: float = 1.0

    @cached_property
    def library(self) -> Library:
        """What motion is searched in: the clips, and their mirrored copies where the body has two sides alike."""
        library = gather_library(self.body, self.clips)
        mirror = find_mirror(self.body) if self.mirror else ""
        return library if isinstance(mirror, str) else add_mirrored(library, mirror)

    @cached_property
    def note(self) -> str:
        """Why there are no mirrored copies though they were asked for; '' where there are."""
        mirror = find_mirror(self.body) if self.mirror else ""
        return mirror if isinstance(mirror, str) else ""

    @cached_property
    def with_deeds(self) -> "StoredLibrary":
        """The same library, with deeds found in clips that nobody has looked at yet."""
        if all(clip.deeds is not None for clip in self.clips):
            return self
        looked = (
            clip if clip.deeds is not None else replace(clip, deeds=find_deeds(self.body, clip)) for clip in self.clips
        )
        return replace(self, clips=tuple(looked))

    def find_clip(self, name: str) -> int:
        """The place of a clip; a name that there is not is refused, with some that there are."""
        names = [clip.name for clip in self.clips]
        if name not in names:
            near = get_close_matches(name, names, 3) or names[:3]
            raise BadMotion(f"The library has no clip '{name}'", f"It has {', '.join(map(repr, near))}")
        return names.index(name)


def store_library(stored: StoredLibrary) -> Content:
    """What is kept of a library in a file."""
    clips = stored.clips
    if not clips:
        raise BadMotion("There are no clips for a library", "Choose at least one Action or motion file")
    require_library_size("The library", sum(map(len, clips)), len(stored.body.skeleton))
    arrays = {name: np.concatenate([getattr(clip, name) for clip in clips], dtype=kind) for name, kind in _ROWS.items()}
    arrays["starts"] = np.cumsum([0, *map(len, clips)])
    body_arrays, body_meta = body_to_arrays(stored.body)
    arrays |= {f"{_BODY}{name}": array for name, array in body_arrays.items()}
    rows = [
        {
            "name": clip.name,
            "source": clip.origin.source,
            "digest": clip.origin.digest,
            "notes": list(clip.origin.notes),
            "tags": [[tag.name, tag.start, tag.stop, tag.is_proposal] for tag in clip.tags],
            # Without a row, whoever reads it looks for deeds by itself.
            **({} if clip.deeds is None else {"deeds": deeds_to_rows(clip.deeds)}),
        }
        for clip in clips
    ]
    meta = {"kind": KIND, "version": VERSION, "fps": LIBRARY_FPS, "mirror": stored.mirror, "scale": stored.scale}
    return arrays, {**meta, "body": body_meta, "clips": rows}


def stored_library_from_content(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], label: str) -> StoredLibrary:
    """A library of a file; what is no whole library is a ``BadFile`` that says why."""
    if meta.get("kind") != KIND:
        raise BadFile(f"{label} is no library", "Choose one that 'sinew library build' wrote")
    version = meta.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise BadFile(f"{label} was written by a newer Sinew (format {version})", "Update Sinew")
    try:
        return _read_library(arrays, meta)
    except SinewError as error:
        raise BadFile(f"{label} is not a whole library: {error.message}", error.hint or _AGAIN) from error
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise BadFile(f"{label} is not a whole library: {error}", _AGAIN) from error


def _read_library(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> StoredLibrary:
    body = {name.removeprefix(_BODY): array for name, array in arrays.items() if name.startswith(_BODY)}
    model = body_from_arrays(body, meta["body"])
    rows, starts, count = meta["clips"], np.asarray(arrays["starts"]), len(arrays["local_pos"])
    bones, feet = len(model.skeleton), len(name_feet(model))
    require_library_size("it", count, bones)
    shapes = {"local_pos": (bones, 3), "local_quat_wxyz": (bones, 4), "contacts": (feet,), "times_s": ()}
    for name, shape in shapes.items():
        if arrays[name].dtype.newbyteorder("=") != _ROWS[name]:  # what is narrower would become wider for every frame
            raise BadMotion(f"its '{name}' are {arrays[name].dtype}, not {np.dtype(_ROWS[name])}", _AGAIN)
        if arrays[name].shape != (count, *shape) or not np.isfinite(arrays[name]).all():
            raise BadMotion(f"its '{name}' are not those of {count} frames of its skeleton", _AGAIN)
    whole = starts.ndim == 1 and starts.dtype.kind == "i" and len(starts) == len(rows) + 1 > 1
    if not whole or starts[0] != 0 or starts[-1] != count or (np.diff(starts) < 1).any():
        raise BadMotion("its clips do not fill its frames", _AGAIN)
    clips = []
    for row, start, stop in zip(rows, starts[:-1], starts[1:], strict=True):
        tags = tuple(Tag(str(name), int(a), int(b), bool(proposed)) for name, a, b, proposed in row["tags"])
        for tag in tags:
            require_tag_inside(tag, str(row["name"]), int(stop - start))
        parts: dict[str, Any] = {
            name: arrays[name][start:stop].astype(kind, copy=False) for name, kind in _ROWS.items()
        }
        origin = ClipOrigin(str(row["source"]), str(row["digest"]), tuple(map(str, row["notes"])))
        deeds = None if "deeds" not in row else deeds_from_rows(row["deeds"], str(row["name"]), int(stop - start))
        clips.append(PreparedClip(str(row["name"]), tags=tags, origin=origin, deeds=deeds, **parts))
    return StoredLibrary(model, tuple(clips), bool(meta["mirror"]), float(meta["scale"]))


def summarize_library(stored: StoredLibrary) -> dict[str, Any]:
    """What ``library show --json`` says of the clips that were given; mirrored copies come on top of that.

    tags: by name frames, seconds, and whether it is only proposed, as ``Library.find_frames`` has it.
    deeds: by name how often it is done, its key moments as [clip, frame], and whether it is only proposed.
    """
    tags: dict[str, dict[str, Any]] = {}
    given = {tag.name for clip in stored.clips for tag in clip.tags if not tag.is_proposal}
    for name in sorted({tag.name for clip in stored.clips for tag in clip.tags}):
        frames = sum(_count(clip, name, name not in given) for clip in stored.clips)
        tags[name] = {"frames": frames, "seconds": frames / LIBRARY_FPS, "proposed": name not in given}
    frames = sum(map(len, stored.clips))
    return {
        "clips": len(stored.clips),
        "frames": frames,
        "seconds": frames / LIBRARY_FPS,
        "tags": tags,
        "deeds": _summarize_deeds(stored.with_deeds),
        "mirrored": stored.mirror and not stored.note,
        "fps": LIBRARY_FPS,
        "feet": list(name_feet(stored.body)),
        "names": [clip.name for clip in stored.clips],
        "slowed_down": [clip.name for clip in stored.clips if is_slowed_down(clip)],
    }


def _summarize_deeds(stored: StoredLibrary) -> dict[str, dict[str, Any]]:
    rows = [(deed, clip.name) for clip in stored.clips for deed in clip.deeds or ()]
    found = {}
    for name in sorted({deed.name for deed, _ in rows}):
        own = [(deed, clip) for deed, clip in rows if deed.name == name]
        moments = [[clip, deed.key] for deed, clip in own]
        found[name] = {"count": len(own), "proposed": all(deed.is_proposal for deed, _ in own), "moments": moments}
    return found


def _count(clip: PreparedClip, name: str, proposals: bool) -> int:
    flags = np.zeros(len(clip), dtype=bool)
    for tag in clip.tags:
        if tag.name == name and (proposals or not tag.is_proposal):
            flags[tag.start : tag.stop] = True
    return int(flags.sum())


def describe_stored_library(stored: StoredLibrary) -> tuple[str, ...]:
    """What the panel and ``library show`` say of a file."""
    one = summarize_library(stored)
    minutes, seconds = divmod(round(one["seconds"]), 60)
    copies = ", each also mirrored" if one["mirrored"] else ""
    clips = "1 clip" if one["clips"] == 1 else f"{one['clips']} clips"
    tags = [f"{name}{'?' if tag['proposed'] else ''}" for name, tag in one["tags"].items()]
    lines = [f"{clips}, {minutes}:{seconds:02d} min{copies}"]
    if tags:
        lines.append(f"Styles: {', '.join(tags)}")
    if one["deeds"]:
        deeds = (f"{name}{'?' if deed['proposed'] else ''} ×{deed['count']}" for name, deed in one["deeds"].items())
        lines.append(f"Deeds: {', '.join(deeds)}")
    if one["slowed_down"]:
        lines.append(f"Slowed down, because they fell faster than anything can: {', '.join(one['slowed_down'])}")
    return (*lines, *([stored.note] if stored.note else []))


FORMAT = LearnedFormat(stored_library_from_content, describe_stored_library)
