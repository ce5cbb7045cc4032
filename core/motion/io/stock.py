# SPDX-License-Identifier: GPL-3.0-or-later
"""The stock clips: the humanoid motions that ship with pybullet, on a skeleton of their own.

Their files have X forward, Y up and Z to the character's right. Here the character faces -Y with its left
at +X and Z up, as Blender's front view wants it. pybullet itself is never imported: only its data is read.
"""

import importlib.util
import os
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ...child_python import find_program, run_python
from ...errors import BadFile, BadMotion
from ...files import read_json
from ...geometry.quaternions import Array, conjugate, from_matrix, multiply, normalize, rotate, slerp
from ...limits import FASTEST_FPS, LARGEST_M, MOST_FRAMES, STOCK_BYTES
from ...paths import is_folder, list_folder
from ..clip import Clip
from ..motion_size import require_frame_rate, require_keys, require_motion_size
from ..skeleton import Skeleton, to_local

_PREFIX = "humanoid3d_"
_INSTALL = "Install pybullet for the worker's Python (pip install pybullet), or point SINEW_STOCK at its data/motions"
_SHORTEST_S = 1e-9  # of a frame: the inverse of what is shorter may be no number
_REINSTALL = "Reinstall pybullet for the worker's Python"

# The file's axes in the world: X forward is -Y, Y up is +Z, Z to the right is -X.
_FILE_TO_WORLD: Array = from_matrix(np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))

# Rest rotations, as the world directions of the bone's own X, Y and Z in columns. A bone runs along its Y, and X is
# chosen so that a positive turn about it bends the joint the way people do: knees back, elbows and spine forward,
# toes up. The choice is the same on both sides, so Blender's X mirror works.
_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
_LEG = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
_ARM = np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, -1.0, 0.0]])
_FOOT = np.array([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]])

_SOLE_M = 0.05  # from the ankle down to the sole
_HIP_HEIGHT_M = 0.421546 + 0.40987 + _SOLE_M


@dataclass(frozen=True)
class _Joint:
    """A bone of the humanoid.

    offset: metres from the parent's head (of the root: from the ground at rest), in the file's axes.
    columns: where a frame holds its rotation: four numbers ``wxyz``, or one for a hinge.
    rest: (3, 3) the bone's rest rotation in the world.
    length: metres along the bone's own +Y.
    """

    bone: str
    parent: str
    offset: tuple[float, float, float]
    columns: slice
    rest: Array
    length: float


def _leg(side: str, z: float, start: int) -> tuple[_Joint, ...]:
    return (
        _Joint(f"thigh.{side}", "pelvis", (0.0, 0.0, 0.084887 * z), slice(start, start + 4), _LEG, 0.421546),
        _Joint(f"shin.{side}", f"thigh.{side}", (0.0, -0.421546, 0.0), slice(start + 4, start + 5), _LEG, 0.40987),
        _Joint(f"foot.{side}", f"shin.{side}", (0.0, -0.40987, 0.0), slice(start + 5, start + 9), _FOOT, 0.1335),
    )


def _arm(side: str, z: float, start: int) -> tuple[_Joint, ...]:
    # The files have no wrist: the forearm runs to the end of the hand.
    upper, hand_end = 0.274788, 0.258947 + 0.04
    return (
        _Joint(f"upper_arm.{side}", "chest", (-0.02405, 0.2435, 0.18311 * z), slice(start, start + 4), _ARM, upper),
        _Joint(f"forearm.{side}", f"upper_arm.{side}", (0.0, -upper, 0.0), slice(start + 4, start + 5), _ARM, hand_end),
    )


_JOINTS = (
    _Joint("pelvis", "", (0.0, _HIP_HEIGHT_M, 0.0), slice(4, 8), _UP, 0.236151),
    _Joint("chest", "pelvis", (0.0, 0.236151, 0.0), slice(8, 12), _UP, 0.223894),
    _Joint("head", "chest", (0.0, 0.223894, 0.0), slice(12, 16), _UP, 0.2775),
    *_leg("R", 1.0, 16),
    *_arm("R", 1.0, 25),
    *_leg("L", -1.0, 30),
    *_arm("L", -1.0, 39),
)
_WIDTH = 44


@dataclass(frozen=True)
class StockInfo:
    """What ``clips`` lists of a stock clip; ``loop`` is whether its end is meant to run into its beginning."""

    name: str
    frames: int
    fps: float
    duration_s: float
    loop: bool


def stock_folder(python: str | None = None) -> Path:
    """Where the clips are: SINEW_STOCK, this Python's pybullet_data, or that of ``python`` (or SINEW_PYTHON)."""
    if chosen := os.environ.get("SINEW_STOCK"):
        if not is_folder(chosen):
            raise BadFile(f"SINEW_STOCK is '{chosen}', which is not a folder", _INSTALL)
        return Path(chosen)
    spec = importlib.util.find_spec("pybullet_data")
    origin = spec.origin if spec else None
    if not origin and (asked := python or os.environ.get("SINEW_PYTHON")):
        origin = _ask(asked)
    motions = Path(origin).parent / "data" / "motions" if origin else None
    if motions is None or not is_folder(motions):
        raise BadFile("The stock clips are not installed", _INSTALL)
    return motions


def stock_names(python: str | None = None) -> tuple[str, ...]:
    """The stock clips there are, by name."""
    folder = stock_folder(python)
    names = [path.stem for path in list_folder(folder, ".txt") if path.stem.startswith(_PREFIX)]
    if not names:
        raise BadFile(f"There are no stock clips in '{folder}'", _INSTALL)
    return tuple(name.removeprefix(_PREFIX) for name in names)


def stock_info(name: str, python: str | None = None) -> StockInfo:
    """Length, rate and looping of a stock clip."""
    rows, loop = _read(name, python)
    times, fps = _times(rows)
    count = len(_steady(times, fps))
    return StockInfo(name, count, fps, (count - 1) / fps, loop)


def load_stock(name: str, python: str | None = None) -> Clip:
    """The stock clip on ``stock_skeleton()``, at a steady rate."""
    rows, _ = _read(name, python)
    times, fps = _times(rows)
    root, quats = _to_world_axes(rows)
    root, quats = _resample(times, _steady(times, fps), root, quats)
    skeleton = stock_skeleton()
    _, rest = skeleton.rest_world()
    # A joint's turn is given in axes that are aligned with the world's at rest; both its own and its parent's
    # bone frame are turned from them by their rest rotations.
    parent_rest = np.where(skeleton.parents[:, None] >= 0, rest[skeleton.parents], np.array([1.0, 0.0, 0.0, 0.0]))
    local_quat = multiply(multiply(conjugate(parent_rest), quats), rest)
    local_pos = np.tile(skeleton.rest_pos, (len(root), 1, 1))
    local_pos[:, 0] = root
    return Clip(skeleton, fps, local_pos, local_quat, name)


@lru_cache(maxsize=1)
def stock_skeleton() -> Skeleton:
    """The skeleton of the stock clips: 1.6 m tall, standing on the ground with its arms down, facing -Y."""
    parents = [next((i for i, j in enumerate(_JOINTS) if j.bone == joint.parent), -1) for joint in _JOINTS]
    heads = np.zeros((len(_JOINTS), 3))
    for bone, joint in enumerate(_JOINTS):
        heads[bone] = rotate(_FILE_TO_WORLD, np.array(joint.offset))
        if parents[bone] >= 0:
            heads[bone] += heads[parents[bone]]
    rotations = from_matrix(np.stack([joint.rest for joint in _JOINTS]))
    pos, quat = to_local(np.array(parents), heads, rotations)
    lengths = np.array([joint.length for joint in _JOINTS])
    return Skeleton(tuple(joint.bone for joint in _JOINTS), np.array(parents), pos, quat, lengths)


@lru_cache(maxsize=8)
def _ask(python: str) -> str | None:
    """Where another Python keeps pybullet_data, or None; it is started once and the answer kept."""
    code = "import importlib.util as u; s = u.find_spec('pybullet_data'); print(s.origin if s else '')"
    if (path := find_program(python)) is None:
        return None
    try:
        done = run_python(path, ["-c", code], timeout_s=30.0)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip() or None if done.returncode == 0 else None


def _read(name: str, python: str | None) -> tuple[Array, bool]:
    """The file's frames (T, 44), and whether it loops."""
    if name not in (known := stock_names(python)):
        raise BadFile(f"There is no stock clip '{name}'", f"Choose one of: {', '.join(known)}")
    path = stock_folder(python) / f"{_PREFIX}{name}.txt"
    try:
        data: Any = read_json(path, STOCK_BYTES)
    except BadFile as error:
        raise BadFile(error.message, _REINSTALL) from error
    try:
        rows = np.array(data["Frames"], dtype=float)
        loop = data.get("Loop") == "wrap"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadFile(f"'{path}' is not a whole stock clip: {error}", _REINSTALL) from error
    if rows.ndim != 2 or rows.shape[1] != _WIDTH or len(rows) < 2 or not np.isfinite(rows).all():
        raise BadFile(f"'{path}' is not a whole stock clip: its frames have shape {rows.shape}", _REINSTALL)
    if (rows[:-1, 0] < _SHORTEST_S).any():
        raise BadFile(f"'{path}' is not a stock clip: a frame lasts no time", _REINSTALL)
    if np.abs(rows).max() > LARGEST_M or rows[:, 0].sum() > MOST_FRAMES / FASTEST_FPS:
        raise BadFile(f"'{path}' is not a stock clip: {np.abs(rows).max():g} stands among its numbers", _REINSTALL)
    _require_size(path, rows)
    return rows, loop


def _require_size(path: Path, rows: Array) -> None:
    """Refuse a rate or a length at which there would be more frames than anything has, before there are any."""
    times, fps = _times(rows)
    label = f"'{path}'"
    try:
        require_frame_rate(label, fps)
        require_motion_size(label, _count(times, fps), len(_JOINTS))
        require_keys(label, _count(times, fps), len(_JOINTS), rows[:, 1:].size)
    except BadMotion as error:
        raise BadFile(error.message, _REINSTALL) from error


def _times(rows: Array) -> tuple[Array, float]:
    """When each frame is (T,) in seconds, and the rate that most frames keep."""
    fps = float(max(round(1.0 / float(np.median(rows[:-1, 0]))), 1))
    # The files write 1/60 s as 0.016666 and 2/60 s as 0.032666: where it is near, a whole number is what they mean.
    lasts = rows[:-1, 0] * fps
    whole = np.maximum(np.round(lasts), 1.0)
    lasts = np.where(np.abs(lasts - whole) < 0.05, whole, lasts)
    return np.concatenate([[0.0], np.cumsum(lasts) / fps]), fps


def _steady(times: Array, fps: float) -> Array:
    """(N,) seconds of frames at a steady rate over the same time."""
    return np.arange(_count(times, fps)) / fps


def _count(times: Array, fps: float) -> int:
    return int(np.floor(times[-1] * fps + 1e-6)) + 1


def _to_world_axes(rows: Array) -> tuple[Array, Array]:
    """Root heads (T, 3) and every joint's turn (T, B, 4) in the world's axes instead of the file's."""
    quats = np.zeros((len(rows), len(_JOINTS), 4))
    for bone, joint in enumerate(_JOINTS):
        values = rows[:, joint.columns]
        if values.shape[1] == 1:  # a hinge: radians about the file's Z
            quats[:, bone, 0] = np.cos(0.5 * values[:, 0])
            quats[:, bone, 3] = np.sin(0.5 * values[:, 0])
        else:
            quats[:, bone] = normalize(values)
    turned = multiply(multiply(_FILE_TO_WORLD, quats), conjugate(_FILE_TO_WORLD))
    return rotate(_FILE_TO_WORLD, rows[:, 1:4]), turned


def _resample(times: Array, wanted: Array, root: Array, quats: Array) -> tuple[Array, Array]:
    """Values between uneven frames: linear positions, slerped rotations."""
    low = np.clip(np.searchsorted(times, wanted + 1e-9, side="right") - 1, 0, len(times) - 2)
    part = np.clip((wanted - times[low]) / (times[low + 1] - times[low]), 0.0, 1.0)[:, None]
    pos = root[low] * (1.0 - part) + root[low + 1] * part
    return pos, slerp(quats[low], quats[low + 1], np.broadcast_to(part, (len(wanted), len(_JOINTS))))
