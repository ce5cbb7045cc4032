# SPDX-License-Identifier: GPL-3.0-or-later
"""State and action features of feedback policies (control graphs, section 4), by the roles of a body's links.

State, 18 numbers of a body with two feet: root tilt (2), root height (1), centroid from the root (3), its velocity (3),
both feet from the centroid (3 each), angular momentum (3). Action, 11 numbers of a body with a waist and two legs:
turns of waist (3), hips (3 each) and knees (1 each). All in a frame that stands upright and faces as the body does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....body import BodyModel
from ....body.mirroring import BodyMirror
from ....errors import GraphError
from ....geometry.quaternions import Array, multiply, to_rotation_vector
from ....sim.engine import SensorRows
from ...tracking.facing import rotate_about_z, rotation_about_z, twist_angle
from .fragments import Indices

_SIDES = ("L", "R")
_LEG = ("thigh", "shin")
# Typical deviations, which scale features: radians, metres, m/s, and for angular momentum m/s at a lever of one metre.
_TILT, _PLACE, _SPEED, _SPIN = 0.1, 0.05, 0.3, 0.3


@dataclass(frozen=True)
class Features:
    """State and action features of one body.

    feet: links, left and right. action_dofs: servos of the action. missing_parts: of a two-legged body.
    """

    body: BodyModel

    def __post_init__(self) -> None:
        if not len(self.action_dofs):
            raise GraphError(
                "The body has neither waist nor legs that feedback could move",
                "Give its bones roles such as spine, thigh.L and shin.L in the Body panel",
            )

    @cached_property
    def feet(self) -> tuple[int, ...]:
        """The end links of the legs, left before right, whose positions from the centroid are part of the state."""
        found = []
        for side in _SIDES:
            legs = [index for index, link in enumerate(self.body.links) if link.side == side and link.role == "foot"]
            legs = legs or [i for i, link in enumerate(self.body.links) if link.side == side and link.role == "shin"]
            found += legs[:1]
        return tuple(found)

    @cached_property
    def waist(self) -> int | None:
        """The first link of the trunk above the pelvis."""
        return next((i for i, link in enumerate(self.body.links) if link.role in ("spine", "chest")), None)

    @cached_property
    def trunk(self) -> int:
        """The link that is pushed: the chest, or what the body has instead."""
        spine = [i for i, link in enumerate(self.body.links) if link.role == "chest"]
        return spine[-1] if spine else (self.waist or 0)

    @cached_property
    def actuated_links(self) -> tuple[int, ...]:
        """The links whose joints an action offsets: waist, then leg by leg hip and knee."""
        legs = [
            index
            for side in _SIDES
            for role in _LEG
            for index, link in enumerate(self.body.links)
            if link.role == role and link.side == side
        ]
        return tuple(([] if self.waist is None else [self.waist]) + legs)

    @cached_property
    def action_dofs(self) -> Indices:
        """(A,) indices of the action's components among servo targets."""
        starts = self.body.qvel_starts - 6
        parts = [np.arange(starts[link], starts[link + 1]) for link in self.actuated_links]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)

    @property
    def missing_parts(self) -> tuple[str, ...]:
        """Parts of a two-legged body that this one lacks, in words."""
        missing = [] if self.waist is not None else ["waist"]
        for side, word in zip(_SIDES, ("left", "right"), strict=True):
            for role, name in (("thigh", "hip"), ("shin", "knee")):
                if not any(link.role == role and link.side == side for link in self.body.links):
                    missing.append(f"{word} {name}")
            if not any(self.body.links[foot].side == side for foot in self.feet):
                missing.append(f"{word} foot")
        return tuple(missing)

    @cached_property
    def scale(self) -> Array:
        """(S,) typical deviations of the state's components; angular momentum is in kg m²/s."""
        spin = _SPIN * self.body.mass * 0.1
        parts = [np.full(2, _TILT), np.full(4, _PLACE), np.full(3, _SPEED)]
        parts += [np.full(3, _PLACE)] * len(self.feet)
        return np.concatenate([*parts, np.full(3, spin)])

    def observe(
        self, base_wxyz: Array, rows: SensorRows, moment: int = -1, character: int = 0, first_link: int = 0
    ) -> Array:
        """(N, S) state features of N copies in one moment of rows; base_wxyz: (N, 4) the reference root rotations."""
        links = slice(first_link, first_link + len(self.body.links))
        pos, quat = rows.link_pos[:, moment, links], rows.link_quat_wxyz[:, moment, first_link]
        com = rows.com[:, moment, character]
        heading = twist_angle(quat, base_wxyz)
        tilt = to_rotation_vector(multiply(rotation_about_z(-heading), multiply(quat, _inverse(base_wxyz))))
        level = [com - pos[:, 0], rows.com_velocity[:, moment, character]]
        level += [pos[:, foot] - com for foot in self.feet]
        level += [rows.angular_momentum[:, moment, character]]
        ahead = rotate_about_z(-heading, np.stack(level, axis=1))
        return np.concatenate([tilt[:, :2], pos[:, 0, 2:], ahead.reshape(len(pos), -1)], axis=-1)

    def mirrored_state(self, mirror: BodyMirror) -> Array:
        """(S, S) matrix that gives the state of the mirror image, which faces the same way."""
        flip, spin = np.diag([1.0, -1.0, 1.0]), np.diag([-1.0, 1.0, -1.0])
        size = len(self.scale)
        matrix = np.zeros((size, size))
        matrix[:3, :3] = np.diag([-1.0, 1.0, 1.0])
        matrix[3:6, 3:6] = matrix[6:9, 6:9] = flip
        for place, foot in enumerate(self.feet):
            other = self.feet.index(int(mirror.links[foot]))
            matrix[9 + 3 * place : 12 + 3 * place, 9 + 3 * other : 12 + 3 * other] = flip
        matrix[-3:, -3:] = spin
        return matrix

    def mirrored_action(self, mirror: BodyMirror) -> Array:
        """(A, A) matrix that gives the action of the mirror image."""
        return np.asarray(mirror.offsets[np.ix_(self.action_dofs, self.action_dofs)])

    def target_offsets(self, actions: Array) -> Array:
        """(..., nu) radians, the compensation offsets of all servo targets for actions (..., A)."""
        found = np.zeros((*actions.shape[:-1], self.body.nu))
        found[..., self.action_dofs] = actions
        return found


def _inverse(quat_wxyz: Array) -> Array:
    return np.asarray(quat_wxyz * np.array([1.0, -1.0, -1.0, -1.0]))


def state_names(features: Features) -> Sequence[str]:
    """Names of the state's components, which are kept in graph files."""
    feet = [f"{features.body.links[foot].side} foot {axis}" for foot in features.feet for axis in "xyz"]
    return [
        *("tilt x", "tilt y", "root height"),
        *(f"centroid {axis}" for axis in "xyz"),
        *(f"velocity {axis}" for axis in "xyz"),
        *feet,
        *(f"spin {axis}" for axis in "xyz"),
    ]
