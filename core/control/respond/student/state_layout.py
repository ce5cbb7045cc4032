# SPDX-License-Identifier: GPL-3.0-or-later
"""The student's state (section 6.2): the root's step, places and rotations of joints, contacts, and which deed is on.

At 30 frames a second, as the paper has it; all of it as seen from the root, so that places do not matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....body import BodyModel
from ....errors import BadFile
from ....geometry.quaternions import Array, from_matrix, multiply, to_matrix
from ....learn.recurrent import Floats32
from ....motion import Clip, Skeleton
from ...matching.matching import Complex
from ...tracking.facing import rotate_about_z, rotation_about_z

STUDENT_FPS = 30.0
_TURNS_RAD = 1e-3  # a bone that turns by no more in the whole library has no columns
_LEAST_SCALE = {"step": 0.002, "places": 0.02, "turns": 0.05, "flags": 0.3}
_ARRAYS = ("bones", "joints", "roots", "mean", "scale", "rest_pos", "rest_quat")


@dataclass(frozen=True, eq=False)
class StudentLayout:
    """Which numbers are where in a state, and how they become a pose.

    bones: (B,) that turn. joints: (J,) bones whose places are told, the roots first. roots: (R,) of the skeleton.
    feet: how many flags of contact there are. deeds: names of those that may be on. mean, scale: (S,) for normalising.
    rest_pos (N, 3), rest_quat (N, 4): local, of what is not in a state.
    """

    bones: NDArray[np.int64]
    joints: NDArray[np.int64]
    roots: NDArray[np.int64]
    feet: int
    deeds: tuple[str, ...]
    mean: Floats32
    scale: Floats32
    rest_pos: Array
    rest_quat: Array

    @property
    def places(self) -> slice:
        """Columns of places, 3 for each joint."""
        return slice(3, 3 + 3 * len(self.joints))

    @property
    def turns(self) -> slice:
        """Columns of rotations, 6 for each bone: the first two columns of its matrix."""
        return slice(self.places.stop, self.places.stop + 6 * len(self.bones))

    @property
    def contacts(self) -> slice:
        """Columns of contacts, one a foot."""
        return slice(self.turns.stop, self.turns.stop + self.feet)

    @property
    def active(self) -> slice:
        """Columns that say which deed is on."""
        return slice(self.contacts.stop, self.contacts.stop + len(self.deeds))

    @property
    def size(self) -> int:
        """S."""
        return self.active.stop

    def encode(self, motion: Clip, track: tuple[Complex, Array], steps: Array, flags: Array, active: Array) -> Floats32:
        """(T, S) normalised states of a motion's frames.

        track: the root's place (T,) and heading (T,). steps: (T, 3) since the frame before. flags: (T, F) contacts.
        """
        return self.normalise(encode_raw(self, motion, track, steps, flags, active))

    def normalise(self, raw: Array) -> Floats32:
        """(..., S) float32."""
        return np.asarray((raw - self.mean) / self.scale, dtype=np.float32)

    def raw(self, states: Floats32) -> Floats32:
        """(..., S) in metres and radians."""
        return np.asarray(states * self.scale + self.mean, dtype=np.float32)

    def decode(self, raw: Floats32, pos: Complex, yaw: Array) -> tuple[Array, Array]:
        """Local places (T, N, 3) and rotations (T, N, 4) of raw states (T, S), their roots at ``pos`` and ``yaw``."""
        count, roots = len(raw), self.roots
        local_pos, quat = (
            np.array(np.broadcast_to(rest, (count, *rest.shape))) for rest in (self.rest_pos, self.rest_quat)
        )
        columns = raw[:, self.turns].reshape(count, len(self.bones), 2, 3).astype(float)
        quat[:, self.bones] = _to_rotations(columns)
        places = raw[:, self.places].reshape(count, -1, 3)[:, : len(roots)].astype(float)
        ground = np.stack([pos.real, pos.imag, np.zeros(count)], axis=-1)
        local_pos[:, roots] = rotate_about_z(yaw, places) + ground[:, None]
        quat[:, roots] = multiply(rotation_about_z(yaw)[:, None], quat[:, roots])
        return local_pos, quat

    def clip(self, skeleton: Skeleton, raw: Floats32, pos: Complex, yaw: Array, name: str) -> Clip:
        """The motion of states."""
        return Clip(skeleton, STUDENT_FPS, *self.decode(raw, pos, yaw), name)

    def to_arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """(arrays, meta) for a file."""
        return {name: np.asarray(getattr(self, name)) for name in _ARRAYS}, {
            "feet": self.feet,
            "deeds": list(self.deeds),
        }


def encode_raw(
    layout: StudentLayout, motion: Clip, track: tuple[Complex, Array], steps: Array, flags: Array, active: Array
) -> Array:
    """(T, S) states in metres and radians; see ``StudentLayout.encode``."""
    pos, yaw = track
    ground = np.stack([pos.real, pos.imag, np.zeros(len(pos))], axis=-1)
    places = rotate_about_z(-yaw, motion.world()[0][:, layout.joints] - ground[:, None])
    quat = np.array(motion.local_quat_wxyz)
    quat[:, layout.roots] = multiply(rotation_about_z(-yaw)[:, None], quat[:, layout.roots])
    matrix = to_matrix(quat[:, layout.bones])
    turns = np.swapaxes(matrix[..., :2], -1, -2)
    count = len(pos)
    parts = [steps, places.reshape(count, -1), turns.reshape(count, -1), flags.astype(float), active.astype(float)]
    return np.concatenate(parts, axis=1)


def make_layout(body: BodyModel, motion: Clip, feet: int, deeds: tuple[str, ...]) -> StudentLayout:
    """The layout for a library's motion, not normalising yet."""
    skeleton = motion.skeleton
    roots = np.flatnonzero(skeleton.parents < 0)
    links = [skeleton.index(link.bone) for link in body.links]
    joints = np.array(list(dict.fromkeys([*roots.tolist(), *links])), dtype=np.int64)
    away = 1.0 - np.abs(np.einsum("tbi,bi->tb", motion.local_quat_wxyz, motion.local_quat_wxyz[0]))
    turns = 2.0 * np.arccos(np.clip(1.0 - away.max(axis=0), -1.0, 1.0)) > _TURNS_RAD
    turns[roots] = True
    bones = np.flatnonzero(turns)
    size = 3 + 3 * len(joints) + 6 * len(bones) + feet + len(deeds)
    return StudentLayout(
        bones,
        joints,
        roots,
        feet,
        deeds,
        np.zeros(size, np.float32),
        np.ones(size, np.float32),
        np.array(motion.local_pos[0]),
        np.array(motion.local_quat_wxyz[0]),
    )


def fit_scale(layout: StudentLayout, raw: Array) -> tuple[Floats32, Floats32]:
    """(mean, scale) of shown states; what hardly changes is not blown up, and rotations share theirs by kind."""
    mean, spread = raw.mean(axis=0), raw.std(axis=0)
    least = np.empty(layout.size)
    least[:3] = _LEAST_SCALE["step"]
    least[layout.places], least[layout.turns] = _LEAST_SCALE["places"], _LEAST_SCALE["turns"]
    least[layout.contacts], least[layout.active] = _LEAST_SCALE["flags"], _LEAST_SCALE["flags"]
    return mean.astype(np.float32), np.maximum(spread, least).astype(np.float32)


def layout_from_arrays(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], bones: int) -> StudentLayout:
    """What ``to_arrays`` gave, for a skeleton of so many bones; anything else is a ``BadFile``."""
    try:
        found = {name: np.asarray(arrays[name]) for name in _ARRAYS}
        feet, deeds = int(meta["feet"]), tuple(str(name) for name in meta["deeds"])
        for name in ("bones", "joints", "roots"):
            own = found[name]
            if own.ndim != 1 or own.dtype != np.int64 or not len(own) or (own < 0).any() or (own >= bones).any():
                raise ValueError(f"its '{name}' are not bones of the library")
        for name in ("mean", "scale", "rest_pos", "rest_quat"):
            if found[name].dtype not in (np.float32, np.float64) or not np.isfinite(found[name]).all():
                raise ValueError(f"its '{name}' are no numbers")
        layout = StudentLayout(feet=feet, deeds=deeds, **found)
        whole = layout.mean.shape == layout.scale.shape == (layout.size,) and bool((layout.scale > 0.0).all())
        whole = whole and layout.rest_pos.shape == (bones, 3) and layout.rest_quat.shape == (bones, 4)
        if not whole or not np.array_equal(layout.joints[: len(layout.roots)], layout.roots) or feet < 0:
            raise ValueError("its parts do not fit together")
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"The student is not whole: {error}", "Train it again, or choose another file") from error
    return layout


def _to_rotations(columns: Array) -> Array:
    """(..., 4) rotations of the first two columns (..., 2, 3) of matrices that are nearly ones."""
    first = columns[..., 0, :]
    first = first / np.maximum(np.linalg.norm(first, axis=-1, keepdims=True), 1e-9)
    second = columns[..., 1, :]
    second = second - (first * second).sum(axis=-1, keepdims=True) * first
    second = second / np.maximum(np.linalg.norm(second, axis=-1, keepdims=True), 1e-9)
    return from_matrix(np.stack([first, second, np.cross(first, second)], axis=-1))
