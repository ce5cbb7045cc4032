# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips and takes as ``.npz`` files: plain arrays and a JSON description, versioned, no pickles."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadFile, BadMotion
from ...files import read_arrays, write_arrays
from ...limits import MOST_PACKED_POSES, OTHERS_PACKED_TO, PACKED_TO
from ...paths import size_of
from ..clip import Clip, Tag
from ..motion_size import require_library_size, require_motion_size
from ..skeleton import Skeleton
from ..take import PropMotion, Take

VERSION, TAKE_VERSION = 1, 2
"""Newest formats of clips and of takes. Takes of format 1 are of one character and know of no props."""

_AGAIN = "Export or simulate it again"
_POSE = {"local_pos": 3, "local_quat_wxyz": 4}  # numbers of a bone in a frame
_POSE_BYTES = 8 * sum(_POSE.values())
_SKELETON = ("parents", "rest_pos", "rest_quat_wxyz", "lengths")


def save_clip(path: Path, clip: Clip) -> None:
    """Write the clip whole."""
    write_arrays(path, _clip_arrays(clip), {"kind": "sinew.clip", "version": VERSION, **_clip_meta(clip)})


def load_clip(path: Path) -> Clip:
    """Read a clip; anything else is a ``BadFile`` that says what is wrong."""
    arrays, meta = _open(path, "sinew.clip", VERSION, OTHERS_PACKED_TO)
    _require_not_packed(path, arrays)
    return _clip(f"'{path}'", arrays, meta)


def _require_not_packed(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse a long motion in a small file: what opens it takes far more for each pose than any number has."""
    poses = max(
        (array.size // width for name, width in _POSE.items() if (array := arrays.get(name)) is not None), default=0
    )
    most = max(MOST_PACKED_POSES, OTHERS_PACKED_TO * size_of(path) // _POSE_BYTES)
    if poses > most:
        told = f"'{path}' has {poses} poses of bones, and {most} are the most for a file of its size"
        raise BadFile(told, "Save it without compression, or cut it into shorter pieces")


def clip_to_arrays(clip: Clip) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """(arrays, meta) of a clip that travels as a job's attachment."""
    return _clip_arrays(clip), {"version": VERSION, **_clip_meta(clip)}


def clip_from_arrays(arrays: dict[str, NDArray[Any]], meta: dict[str, Any], *, is_library: bool = False) -> Clip:
    """The inverse of ``clip_to_arrays``; is_library: that it is all clips of a library, one after the other."""
    label = f"Clip '{meta.get('name', '')}'"
    _check_version(label, meta, VERSION)
    return _clip(label, arrays, meta, require_library_size if is_library else require_motion_size)


def save_take(path: Path, take: Take) -> None:
    """Write the take whole, with everybody and everything that is in it."""
    arrays, meta = _take_arrays(take), _take_meta(take)
    for index, other in enumerate(take.others):
        arrays |= {f"{_other(index)}{name}": array for name, array in _take_arrays(other).items()}
    for index, prop in enumerate(take.props):
        arrays |= {f"prop{index}_pos": np.asarray(prop.pos), f"prop{index}_quat_wxyz": np.asarray(prop.quat_wxyz)}
    meta |= {"others": [_take_meta(other) for other in take.others], "props": [prop.name for prop in take.props]}
    write_arrays(path, arrays, {"kind": "sinew.take", "version": TAKE_VERSION, **meta})


def load_take(path: Path) -> Take:
    """Read a take; anything else is a ``BadFile`` that says what is wrong."""
    arrays, meta = _open(path, "sinew.take", TAKE_VERSION)
    company: dict[str, Any] = {}
    try:
        if meta["version"] > 1:
            company["others"] = tuple(_other_take(path, arrays, i, its) for i, its in enumerate(meta["others"]))
            company["props"] = tuple(
                PropMotion(str(name), arrays[f"prop{i}_pos"], arrays[f"prop{i}_quat_wxyz"])
                for i, name in enumerate(meta["props"])
            )
        return _take(path, arrays, meta, **company)
    except (AttributeError, KeyError, TypeError, ValueError, BadMotion) as error:
        raise BadFile(f"'{path}' does not hold a whole take: {error}", _AGAIN) from error


def _other(index: int) -> str:
    """What the names of another character's arrays begin with."""
    return f"other{index}_"


def _other_take(path: Path, arrays: dict[str, NDArray[Any]], index: int, meta: dict[str, Any]) -> Take:
    prefix = _other(index)
    its = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    return _take(path, its, meta)


def _take(path: Path, arrays: dict[str, NDArray[Any]], meta: dict[str, Any], **company: Any) -> Take:
    motion = _clip(f"'{path}'", arrays, meta)
    fell_at_s, lost_at_s = (
        None if at_s is None else float(at_s) for at_s in (meta["fell_at_s"], meta.get("lost_at_s"))
    )
    company |= {"source_times_s": arrays.get("source_times_s"), "own_clock": bool(meta.get("own_clock", False))}
    company["lost_at_s"] = lost_at_s
    if meta.get("period_s") is not None:
        company["period_s"] = float(meta["period_s"])
    return Take(motion, arrays.get("contacts"), fell_at_s, dict(meta["measurements"]), **company)


def _take_arrays(take: Take) -> dict[str, NDArray[Any]]:
    own = {"contacts": take.contacts, "source_times_s": take.source_times_s}
    return _clip_arrays(take.motion) | {name: np.asarray(array) for name, array in own.items() if array is not None}


def _take_meta(take: Take) -> dict[str, Any]:
    own: dict[str, Any] = {"fell_at_s": take.fell_at_s, "lost_at_s": take.lost_at_s}
    own |= {"measurements": dict(take.measurements), "own_clock": take.own_clock}
    if take.period_s is not None:
        own["period_s"] = take.period_s
    return _clip_meta(take.motion) | own


def skeleton_to_arrays(skeleton: Skeleton) -> dict[str, NDArray[Any]]:
    """What every file stores of a skeleton, besides the names of its bones."""
    return {name: np.asarray(getattr(skeleton, name)) for name in _SKELETON}


def skeleton_from_arrays(names: Iterable[Any], arrays: Mapping[str, NDArray[Any]]) -> Skeleton:
    """The inverse of ``skeleton_to_arrays``; a missing array is a ``KeyError``, a wrong one a ``BadMotion``."""
    return Skeleton(tuple(str(name) for name in names), *(arrays[name] for name in _SKELETON))


def _clip_arrays(clip: Clip) -> dict[str, NDArray[Any]]:
    own = {"local_pos": np.asarray(clip.local_pos), "local_quat_wxyz": np.asarray(clip.local_quat_wxyz)}
    return skeleton_to_arrays(clip.skeleton) | own


def _clip_meta(clip: Clip) -> dict[str, Any]:
    tags = [[tag.name, tag.start, tag.stop] for tag in clip.tags]
    return {"names": list(clip.skeleton.names), "fps": clip.fps, "name": clip.name, "tags": tags}


def _open(
    path: Path, kind: str, newest: int, packed_to: int = PACKED_TO
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    arrays, meta = read_arrays(path, packed_to=packed_to)
    if meta.get("kind") != kind:
        raise BadFile(f"'{path}' is not a {kind} file", "Give an .npz that Sinew wrote")
    _check_version(f"'{path}'", meta, newest)
    return arrays, meta


def _check_version(label: str, meta: dict[str, Any], newest: int) -> None:
    version = meta.get("version")
    if not isinstance(version, int) or version < 1:
        raise BadFile(f"{label} has no format version inside", _AGAIN)
    if version > newest:
        raise BadFile(f"{label} was written by a newer Sinew (format {version})", "Update Sinew")


def _clip(
    label: str,
    arrays: dict[str, NDArray[Any]],
    meta: dict[str, Any],
    require_size: Callable[[str, int, int], None] = require_motion_size,
) -> Clip:
    shape = arrays["local_pos"].shape if "local_pos" in arrays else ()
    if len(shape) == 3:  # of any other, it is said below what is wrong
        require_size(label, shape[0], shape[1])
    try:
        skeleton = skeleton_from_arrays(meta["names"], arrays)
        tags = tuple(Tag(str(name), int(start), int(stop)) for name, start, stop in meta["tags"])
        fps, name = float(meta["fps"]), str(meta["name"])
        return Clip(skeleton, fps, arrays["local_pos"], arrays["local_quat_wxyz"], name, tags)
    except (KeyError, TypeError, ValueError, BadMotion) as error:
        raise BadFile(f"{label} does not hold a whole clip: {error}", _AGAIN) from error
