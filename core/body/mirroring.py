# SPDX-License-Identifier: GPL-3.0-or-later
"""The mirror image of a body's motion, left for right, whatever way its bones are turned.

Notation: a link's rotation R in the world, G at rest; S mirrors the world in an upright plane, K the rest pose in the
plane between its sides; m(i) is the link on the other side of i. In the mirror image R'_m(i) = S R_i F_i with
F_i = inverse(G_i) K G_m(i), which leads from one bone's frame to the other's. All else follows from that.
"""

import numpy as np
from numpy.typing import NDArray

from ..errors import RigError
from ..geometry.quaternions import (
    Array,
    conjugate,
    from_matrix,
    from_rotation_vector,
    multiply,
    normalize,
    rotate,
    to_matrix,
    to_rotation_vector,
)
from ..motion.skeleton import freeze_array
from .model import BodyModel
from .sagittal_plane import find_sagittal_plane

_OTHER = {"L": "R", "R": "L", "": ""}
_ASKEW = 0.1  # how far from its image a part may be at rest, by the size of the body
_ALIKE = np.cos(np.radians(45.0))  # of the angle between a hinge's axis and the mirrored one of its partner
_LEVEL = 1e-3  # a normal with less than this of its length in the ground's plane says nothing of left and right
_HINT = "Learn without symmetry, or make its two sides alike in the rest pose and in Body > Bones"


class BodyMirror:
    """Mirrors poses, velocities and servo offsets of one body; layouts are ``BodyModel``'s.

    links: (L,) for each link the one on the other side, for those in the middle themselves.
    offsets: (nu, nu) gives with ``offsets @ d`` the mirror image of an offset d to servo targets. Exact where the
        joints of both sides read zero in mirrored poses; where a clip told their zeros otherwise, half way in between.
    normal: (3,) level and of length one, across the plane through the world's origin that all is mirrored in.

    Mirroring twice gives back the same. Limits are not looked at: where those of the two sides differ, the image of a
    pose may be beyond them. A body whose sides do not correspond is refused with a ``RigError`` that says why.
    """

    def __init__(self, body: BodyModel) -> None:
        plane = find_sagittal_plane(body)
        if plane is None:
            raise RigError("The body has no left and right side to mirror", _HINT)
        across = plane.normal * [1.0, 1.0, 0.0]
        length = float(np.linalg.norm(across))
        if length < _LEVEL:
            raise RigError("The character lies on its side in the rest pose", "Give it a rest pose that stands upright")
        inward = _reflection(plane.normal)
        self.links = freeze_array(_partners(body, inward))
        _require_alike(body, self.links, inward)
        self.normal = freeze_array(across / length)
        self._world = _reflection(self.normal)
        self._rest = _rest_rotations(body)[0]
        self._inward = inward
        self._upright = from_matrix(self._world @ inward)  # no turn at all unless the plane leans at rest
        self._balls: list[tuple[int, int, Array, Array]] = []
        self._hinges: list[tuple[int, int, float, float]] = []
        self._rates, self.offsets = np.zeros((body.nv, body.nv)), np.zeros((body.nu, body.nu))
        self._mirror_joints(body, _frames(body, self.links, inward))
        freeze_array(self.offsets)

    def pose(self, qpos: Array) -> Array:
        """(..., nq) the mirror images of poses (..., nq); the root's place is mirrored in the plane at the origin."""
        found = np.array(qpos, dtype=float)
        found[..., :3] = self.reflect(qpos[..., :3])
        root = _turned_vector(multiply(qpos[..., 3:7], conjugate(self._rest)), -self._inward)
        found[..., 3:7] = multiply(self._upright, multiply(root, self._rest))
        for here, there, turn, apart in self._balls:
            found[..., there : there + 4] = multiply(apart, _turned_vector(qpos[..., here : here + 4], turn))
        for here, there, sign, apart_rad in self._hinges:
            found[..., there] = sign * qpos[..., here] + apart_rad
        return found

    def velocity(self, qvel: Array) -> Array:
        """(..., nv) the velocities of the mirror images of poses that move with ``qvel`` (..., nv)."""
        return np.asarray(qvel @ self._rates.T)

    def reflect(self, vectors: Array) -> Array:
        """(..., 3) places, directions, velocities or forces, in the world or in its axes turned with a heading."""
        return _times(vectors, self._world)

    def _mirror_joints(self, body: BodyModel, frames: Array) -> None:
        """Fill in how coordinates, rates and offsets of every joint become those of its partner."""
        self._rates[:3, :3], self._rates[3:6, 3:6] = self._world, -frames[0].T
        for index, link in enumerate(body.links[1:], start=1):
            other = int(self.links[index])
            joint, image = link.joint, body.links[other].joint
            here, there = int(body.qpos_starts[index]), int(body.qpos_starts[other])
            turn = -frames[index].T  # of what turns, into the partner's frame
            # Where the partner is, seen from its own zero, when this joint reads zero.
            zero = from_matrix(frames[link.parent].T @ to_matrix(joint.zero_quat_wxyz) @ frames[index])
            apart = to_rotation_vector(multiply(conjugate(image.zero_quat_wxyz), zero))
            if joint.kind == "hinge":
                sign = float(np.copysign(1.0, image.axis @ turn @ joint.axis))
                # Halved with what it is from the partner's side, so that twice is back also where axes differ a little.
                apart_rad = 0.5 * float(apart @ image.axis + sign * (apart @ turn @ joint.axis))
                self._hinges.append((here, there, sign, apart_rad))
                rates = offsets = np.array([[sign]])
            else:
                self._balls.append((here, there, turn, from_rotation_vector(apart)))
                rates, offsets = turn, to_matrix(from_rotation_vector(0.5 * apart)) @ turn
            own, its = (slice(body.qvel_starts[i], body.qvel_starts[i + 1]) for i in (index, other))
            self._rates[its, own] = rates
            self.offsets[its.start - 6 : its.stop - 6, own.start - 6 : own.stop - 6] = offsets


def _turned_vector(quat_wxyz: Array, turn: Array) -> Array:
    """(..., 4) rotations (..., 4) about axes that are turned by the matrix ``turn`` (3, 3)."""
    return np.concatenate([quat_wxyz[..., :1], _times(quat_wxyz[..., 1:], turn)], axis=-1)


def _times(vectors: Array, matrix: Array) -> Array:
    """(..., 3) a matrix (3, 3) times each vector, to the same bit however many there are; BLAS promises less."""
    return np.asarray((vectors[..., None, :] * matrix).sum(axis=-1))


def _reflection(normal: Array) -> Array:
    """(3, 3) mirrors in the plane across the unit vector ``normal`` (3,)."""
    return np.asarray(np.eye(3) - 2.0 * np.outer(normal, normal))


def _rest_rotations(body: BodyModel) -> Array:
    """(L, 4) world rotations of the links at rest."""
    quats = body.skeleton.rest_world()[1]
    return normalize(quats[[body.skeleton.index(link.bone) for link in body.links]])


def _rest_places(body: BodyModel) -> tuple[Array, Array]:
    """(L, 3) the links' heads and centres of mass at rest, in metres from the root's head."""
    heads = body.skeleton.rest_world()[0][[body.skeleton.index(link.bone) for link in body.links]]
    coms = heads + rotate(_rest_rotations(body), np.array([link.com for link in body.links]))
    return heads - heads[0], coms - heads[0]


def _frames(body: BodyModel, partners: NDArray[np.int64], inward: Array) -> Array:
    """(L, 3, 3) F of each link: from the frame of its partner to its own."""
    rest = to_matrix(_rest_rotations(body))
    return np.asarray(np.swapaxes(rest, -1, -2) @ inward @ rest[partners])


def _partners(body: BodyModel, inward: Array) -> NDArray[np.int64]:
    """(L,) the link on the other side: of the same role, on its parent's partner, nearest to where it should be."""
    heads, _ = _rest_places(body)
    partners = np.zeros(len(body.links), dtype=np.int64)
    for index, link in enumerate(body.links[1:], start=1):
        wanted = (link.role, _OTHER[link.side], int(partners[link.parent]), link.joint.kind)
        fitting = [
            other
            for other, each in enumerate(body.links)
            if (each.role, each.side, each.parent, each.joint.kind) == wanted and (link.side or other == index)
        ]
        if not fitting:
            raise RigError(f"'{link.bone}' has no counterpart on the other side of the body", _HINT)
        gaps = np.linalg.norm(heads[fitting] - inward @ heads[index], axis=-1)
        partners[index] = fitting[int(np.argmin(gaps))]
    return partners


def _require_alike(body: BodyModel, partners: NDArray[np.int64], inward: Array) -> None:
    """Refuse a body whose rest pose is not about its own mirror image, or whose joints bend differently."""
    rest = to_matrix(_rest_rotations(body))
    heads, coms = _rest_places(body)
    size = float(np.ptp(coms, axis=0).max())
    off = np.maximum(*(np.linalg.norm(places[partners] - places @ inward, axis=-1) for places in (heads, coms)))
    worst = int(np.argmax(off))
    for index, link in enumerate(body.links):
        other = int(partners[index])
        pair = f"'{link.bone}'" if other == index else f"'{link.bone}' and '{body.links[other].bone}'"
        if partners[other] != index:
            raise RigError(f"{pair} are no pair: two bones would have the same counterpart", _HINT)
        if index == worst and off[index] > _ASKEW * size:
            raise RigError(f"The rest pose is not symmetric: {pair} off by {off[index]:.2f} m", _HINT)
        if link.joint.kind == "hinge" and link.role != "toe":  # toes are short, and clips rarely tell their axes
            axis, image = rest[index] @ link.joint.axis, rest[other] @ body.links[other].joint.axis
            if abs(image @ inward @ axis) < _ALIKE:
                raise RigError(f"{pair} bend about different axes", _HINT)
