# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips and takes as ``.npz`` files: plain arrays and a JSON description, versioned, no pickles."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadFile, BadMotion
from ...files import read_arrays, write_arrays
from ..clip import Clip, Tag
from ..skeleton import Skeleton
from ..take import Take

VERSION = 1
_AGAIN = "Export or simulate it again"


def save_clip(path: Path, clip: Clip) -> None:
    """Write the clip whole."""
    write_arrays(path, _clip_arrays(clip), {"kind": "sinew.clip", "version": VERSION, **_clip_meta(clip)})


def load_clip(path: Path) -> Clip:
    """Read a clip; anything else is a ``BadFile`` that says what is wrong."""
    arrays, meta = _open(path, "sinew.clip")
    return _clip(path, arrays, meta)


def save_take(path: Path, take: Take) -> None:
    """Write the take whole."""
    arrays = _clip_arrays(take.motion)
    if take.contacts is not None:
        arrays["contacts"] = np.asarray(take.contacts)
    meta = {"kind": "sinew.take", "version": VERSION, **_clip_meta(take.motion)}
    meta |= {"fell_at_s": take.fell_at_s, "measurements": dict(take.measurements)}
    write_arrays(path, arrays, meta)


def load_take(path: Path) -> Take:
    """Read a take; anything else is a ``BadFile`` that says what is wrong."""
    arrays, meta = _open(path, "sinew.take")
    motion = _clip(path, arrays, meta)
    try:
        fell_at_s = meta["fell_at_s"]
        return Take(
            motion, arrays.get("contacts"), None if fell_at_s is None else float(fell_at_s), dict(meta["measurements"])
        )
    except (KeyError, TypeError, ValueError, BadMotion) as error:
        raise BadFile(f"'{path}' does not hold a whole take: {error}", _AGAIN) from error


def _clip_arrays(clip: Clip) -> dict[str, NDArray[Any]]:
    skeleton = clip.skeleton
    return {
        "parents": np.asarray(skeleton.parents),
        "rest_pos": np.asarray(skeleton.rest_pos),
        "rest_quat_wxyz": np.asarray(skeleton.rest_quat_wxyz),
        "lengths": np.asarray(skeleton.lengths),
        "local_pos": np.asarray(clip.local_pos),
        "local_quat_wxyz": np.asarray(clip.local_quat_wxyz),
    }


def _clip_meta(clip: Clip) -> dict[str, Any]:
    tags = [[tag.name, tag.start, tag.stop] for tag in clip.tags]
    return {"names": list(clip.skeleton.names), "fps": clip.fps, "name": clip.name, "tags": tags}


def _open(path: Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    arrays, meta = read_arrays(path)
    if meta.get("kind") != kind:
        raise BadFile(f"'{path}' is not a {kind} file", "Give an .npz that Sinew wrote")
    version = meta.get("version")
    if not isinstance(version, int) or version < 1:
        raise BadFile(f"'{path}' has no format version inside", _AGAIN)
    if version > VERSION:
        raise BadFile(f"'{path}' was written by a newer Sinew (format {version})", "Update Sinew")
    return arrays, meta


def _clip(path: Path, arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> Clip:
    try:
        names = tuple(str(name) for name in meta["names"])
        skeleton = Skeleton(names, *(arrays[key] for key in ("parents", "rest_pos", "rest_quat_wxyz", "lengths")))
        tags = tuple(Tag(str(name), int(start), int(stop)) for name, start, stop in meta["tags"])
        fps, name = float(meta["fps"]), str(meta["name"])
        return Clip(skeleton, fps, arrays["local_pos"], arrays["local_quat_wxyz"], name, tags)
    except (KeyError, TypeError, ValueError, BadMotion) as error:
        raise BadFile(f"'{path}' does not hold a whole clip: {error}", _AGAIN) from error
