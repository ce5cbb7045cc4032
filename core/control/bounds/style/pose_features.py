# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose features that mean the same on every skeleton: directions of parts, in the body's own heading frame.

Directions of limbs and of the lines through hips and shoulders, how pelvis, chest and head are tilted from how they
rest, and how high the hips are over the feet by the legs' length; in a frame that faces as hips and shoulders do.
Positions, speeds and sizes are left out: bounds hold the first two, and the last is no style. So are feet, which rest
in another way on every skeleton.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....body import BodyModel
from ....errors import BoundsError
from ....geometry.quaternions import Array, conjugate, multiply, rotate
from ....motion import Clip

_UP: Array = np.array([0.0, 0.0, 1.0])
_LIMBS = (("thigh", "shin"), ("shin", "foot"), ("upper_arm", "forearm"), ("forearm", "hand"))
_TILTED = ("pelvis", "chest", "head")
_SIDES = ("L", "R")
_ALIKE = np.cos(np.radians(45.0))  # between two trunks at rest


class PoseFeatures:
    """The pose features of one body. names: its parts, each with three numbers but the last, the height of the hips."""

    def __init__(self, body: BodyModel) -> None:
        self._at: dict[tuple[str, str], int] = {}
        for index, link in enumerate(body.links):
            self._at.setdefault((link.role, link.side), index)
        self._body = body
        self._at["pelvis", ""] = 0
        if (chest := self._chest()) is not None:
            self._at["chest", ""] = chest
        if not all(("thigh", side) in self._at and ("shin", side) in self._at for side in _SIDES):
            raise BoundsError(
                "The body has no two legs, by which it is told how somebody looks",
                "Give its legs their roles in Body > Bones, such as thigh.L and shin.L",
            )
        self.names = tuple(self._names())

    def _chest(self) -> int | None:
        """The link that the arms hang on, whatever it is called."""
        above = self._at.get(("upper_arm", "L"))
        while above is not None and self._body.links[above].side:
            above = self._body.links[above].parent
        return above

    def _names(self) -> list[str]:
        found = [f"{role}.{side}" for role, side in self._limbs]
        found += [f"tilt {role}" for role in self._tilted]
        return [*found, "hips", *(["shoulders"] if self._armed else []), "height"]

    @property
    def _limbs(self) -> list[tuple[str, str]]:
        return [(role, side) for side in _SIDES for role, _ in _LIMBS if (role, side) in self._at]

    @property
    def _tilted(self) -> list[str]:
        return [role for role in _TILTED if (role, "") in self._at]

    @property
    def size(self) -> int:
        """F, how many numbers there are."""
        return 3 * len(self.names) - 2

    @cached_property
    def _armed(self) -> bool:
        return all(("upper_arm", side) in self._at for side in _SIDES)

    @cached_property
    def _rest(self) -> Array:
        """(L, 4) what turns a link's rotation into how far it is turned from rest."""
        skeleton = self._body.skeleton
        return conjugate(skeleton.rest_world()[1][[skeleton.index(link.bone) for link in self._body.links]])

    @cached_property
    def _leg_m(self) -> float:
        skeleton, at = self._body.skeleton, self._at
        bones = [self._body.links[at[role, side]].bone for role in ("thigh", "shin") for side in _SIDES]
        return 0.5 * float(sum(skeleton.lengths[skeleton.index(bone)] for bone in bones))

    def __call__(self, link_pos: Array, link_quat_wxyz: Array) -> Array:
        """(..., F) of links' positions (..., L, 3) and rotations (..., L, 4) in any place and heading."""
        at = self._at
        heads = {part: link_pos[..., index, :] for part, index in at.items()}
        parts = [self._limb(role, side, link_pos, link_quat_wxyz) for role, side in self._limbs]
        turned = multiply(link_quat_wxyz, self._rest)
        parts += [rotate(turned[..., at[role, ""], :], _UP) for role in self._tilted]
        hips = heads["thigh", "L"] - heads["thigh", "R"]
        middle = 0.5 * (heads["thigh", "L"] + heads["thigh", "R"])
        parts.append(hips)
        across = _unit(hips)
        if self._armed:
            shoulders = heads["upper_arm", "L"] - heads["upper_arm", "R"]
            parts.append(shoulders)
            across = across + _unit(shoulders)
        left = _unit(across * [1.0, 1.0, 0.0])
        forward = np.cross(left, _UP)
        axes = np.stack([forward, left, np.broadcast_to(_UP, left.shape)], axis=-2)
        seen = np.einsum("...xy,...py->...px", axes, np.stack([_unit(part) for part in parts], axis=-2))
        soles = np.stack([self._ankle(side, link_pos, link_quat_wxyz)[..., 2] for side in _SIDES], axis=-1)
        height = (middle[..., 2] - soles.min(axis=-1)) / self._leg_m
        return np.concatenate([seen.reshape(*seen.shape[:-2], -1), height[..., None]], axis=-1)

    def _limb(self, role: str, side: str, link_pos: Array, link_quat_wxyz: Array) -> Array:
        """(..., 3) along a limb: to where the next one begins, or along its own bone if none does."""
        own, below = self._at[role, side], self._at.get((dict(_LIMBS)[role], side))
        if below is None:
            return rotate(link_quat_wxyz[..., own, :], np.array([0.0, 1.0, 0.0]))
        return np.asarray(link_pos[..., below, :] - link_pos[..., own, :])

    def _ankle(self, side: str, link_pos: Array, link_quat_wxyz: Array) -> Array:
        if ("foot", side) in self._at:
            return np.asarray(link_pos[..., self._at["foot", side], :])
        own = self._at["shin", side]
        skeleton = self._body.skeleton
        length = skeleton.lengths[skeleton.index(self._body.links[own].bone)]
        return np.asarray(link_pos[..., own, :] + rotate(link_quat_wxyz[..., own, :], np.array([0.0, length, 0.0])))

    def mirror(self, features: Array) -> Array:
        """(..., F) the mirror image: left and right are swapped, and lines from right to left stay that."""
        parts = features[..., :-1].reshape(*features.shape[:-1], -1, 3)[..., self._partners, :] * self._signs
        return np.concatenate([parts.reshape(*features.shape[:-1], -1), features[..., -1:]], axis=-1)

    @cached_property
    def _partners(self) -> NDArray[np.int64]:
        other = {"L": "R", "R": "L"}
        swapped = [name[:-1] + other[name[-1]] if name[-2:-1] == "." else name for name in self.names[:-1]]
        return np.array([self.names.index(name) for name in swapped])

    @cached_property
    def _signs(self) -> Array:
        lines = [[-1.0, 1.0, -1.0] if name in ("hips", "shoulders") else [1.0, -1.0, 1.0] for name in self.names[:-1]]
        return np.array(lines)

    def require_same(self, other: "PoseFeatures", what: str) -> None:
        """Refuse another body whose features cannot be compared with these."""
        for missing in (name for name in self.names if name not in other.names):
            raise BoundsError(
                f"{what} is on another skeleton that has nothing like '{missing}'",
                "Choose an Action of a body like this one, or give its bones their roles in Body > Bones",
            )
        for odd in (name for name in other.names if name not in self.names):
            raise BoundsError(
                f"{what} is on another skeleton: this body has nothing like its '{odd}'",
                "Choose an Action of a body like this one, or give its bones their roles in Body > Bones",
            )
        if float(self._upward @ other._upward) < _ALIKE:
            raise BoundsError(
                f"{what} is on another skeleton, which carries its trunk in another way",
                "Choose an Action of a body like this one: who walks on two legs is no style of who walks on four",
            )

    @cached_property
    def _upward(self) -> Array:
        """(2,) which way the trunk leads from the hips at rest: along the floor, and up."""
        skeleton, chest = self._body.skeleton, self._at.get(("upper_arm", "L"), self._at.get(("head", ""), 0))
        heads = skeleton.rest_world()[0]
        hips, top = (heads[skeleton.index(self._body.links[at].bone)] for at in (self._at["thigh", "L"], chest))
        along = _unit(top - hips)
        return np.array([np.hypot(along[0], along[1]), along[2]])


def clip_pose_features(body: BodyModel, clip: Clip, fps: float) -> Array:
    """(T, F) pose features of a clip at ``fps``, on the body of its own skeleton, as captured."""
    times_s = np.arange(int(np.floor(clip.duration_s * fps + 1e-6)) + 1) / fps
    local_pos, local_quat = clip.sample(times_s)
    pos, quat = Clip(clip.skeleton, fps, local_pos, local_quat, clip.name).world()
    bones = [clip.skeleton.index(link.bone) for link in body.links]
    return PoseFeatures(body)(pos[:, bones], quat[:, bones])


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9))
