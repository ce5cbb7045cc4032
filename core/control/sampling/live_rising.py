# SPDX-License-Identifier: GPL-3.0-or-later
"""Who lies while it is live gets up: through the key poses of ``getting_up.py``, and into its plan from where it lies.

A take searches for what gets a body up, which takes longer than anybody waits. Live a hand helps it along the way
(``LiveCharacter.helped``), and so the way may be gone quickly.
"""

from dataclasses import dataclass

import numpy as np

from ...body import BodyModel
from ...body.pose_space import PoseSpace
from ...body.poses import link_transforms
from ...geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, rotate, to_rotation_vector
from ...sim.surface import Surface
from ..tracking.reference import CONTROL_FPS, FRAGMENT_STEPS, Reference
from ..tracking.servo_targets import compute_feedforward_targets
from .getting_up import INTO_S, GetUp, GetUpPlanner, find_standing

_FASTER = 1.7  # than a take gets up, but for the last stretch, which is the clip's own
_STRAIGHT_S = 1.5  # for a body that no key poses fit
_STANDS = round(0.3 * CONTROL_FPS)  # frames before and after the one that it goes on with, in which the clip stands


@dataclass(frozen=True, eq=False)
class Rising:
    """A way up of K frames: where the body is to be, and the servos' targets (K, nu).

    pos: (K, L, 3), quat_wxyz: (K, L, 4), com: (K, 3). rejoins: the clip's frame that the last one is; turn, way: how
    the clip lies from then on, radians about Z and metres (2,).
    """

    targets: Array
    pos: Array
    quat_wxyz: Array
    com: Array
    rejoins: int
    turn: float
    way: Array

    def __len__(self) -> int:
        return len(self.targets)


class RisingPlanner:
    """Plans how a body gets up that follows a reference. goes_round: the frames between which that goes on and on."""

    def __init__(self, reference: Reference, surface: Surface | None, goes_round: tuple[int, int] | None) -> None:
        self._reference, self._space = reference, PoseSpace(reference.body)
        self._poses, self._goes_round = GetUpPlanner(reference, surface), goes_round
        self._may = np.zeros(0, dtype=np.int64) if self._poses.why_not else self._find_frames()

    def _find_frames(self) -> Array:
        """Frames in which it may go on: it stands around them, and something leads there."""
        stands = np.append(find_standing(self._reference), np.zeros(_STANDS, dtype=bool))
        frames = np.arange(0, len(self._reference.qpos), FRAGMENT_STEPS)
        frames = frames[frames >= round(INTO_S * CONTROL_FPS)]
        if self._goes_round is not None:
            first, last = self._goes_round
            frames = frames[(frames >= first) & (frames < last)] if (frames >= first).any() else frames
        good = [frame for frame in frames if stands[frame - _STANDS : frame + _STANDS].all()]
        return np.array(good, dtype=np.int64)

    def plan(self, qpos: Array, frame: int) -> Rising:
        """The way up from a pose (nq,), for a clip that was at a frame."""
        if len(self._may):
            rejoins = int(next((one for one in self._may if one >= frame), self._may[-1]))
            path = self._hasten(self._poses.rise(GetUp(0, qpos, rejoins))[0])
        else:
            rejoins = min(frame - frame % FRAGMENT_STEPS, len(self._reference.qpos) - 1)
            path = self._go_straight(qpos, rejoins)
        body, source = self._reference.body, self._reference.qpos[rejoins]
        turn = _turn_about_z(source, path[-1])
        pos, quat = link_transforms(body, path)
        return Rising(
            compute_feedforward_targets(body, path, CONTROL_FPS),
            pos,
            quat,
            centre_of(body, pos, quat),
            rejoins,
            turn,
            path[-1, :2] - rotate(_about_z(turn), source[:3])[:2],
        )

    def _hasten(self, path: Array) -> Array:
        """Poses (K, nq) of a way up in less time, but for the stretch that leads into the clip."""
        count = len(path) - 1
        into = round(INTO_S * CONTROL_FPS)
        before = max(count - into, 0)
        fast = np.arange(0.0, before, _FASTER)
        at = np.concatenate([fast, np.arange(before, count + 1, dtype=float)])
        index = np.minimum(at.astype(int), count - 1)
        step = self._space.difference(path[index], path[index + 1])
        return self._space.integrate(path[index], step * (at - index)[:, None])

    def _go_straight(self, qpos: Array, rejoins: int) -> Array:
        """Poses (K, nq) from one to the clip's at a frame, where the body is and as it faces."""
        there = self._reference.qpos[rejoins].copy()
        turn = _about_z(_turn_about_z(there, qpos))
        there[:2], there[3:7] = qpos[:2], multiply(turn, there[3:7])
        steps = round(_STRAIGHT_S * CONTROL_FPS)
        share = 0.5 - 0.5 * np.cos(np.pi * np.arange(steps + 1) / steps)
        return self._space.integrate(qpos, self._space.difference(qpos, there) * share[:, None])


def centre_of(body: BodyModel, pos: Array, quat: Array) -> Array:
    """(..., 3) the centre of mass of links at (..., L, 3), turned (..., L, 4)."""
    mass = np.array([link.mass for link in body.links])
    centres = pos + rotate(quat, np.broadcast_to([link.com for link in body.links], pos.shape))
    return np.asarray(np.einsum("l,...lx->...x", mass / mass.sum(), centres))


def _about_z(angle: float) -> Array:
    return from_rotation_vector(np.array([0.0, 0.0, angle]))


def _turn_about_z(before: Array, after: Array) -> float:
    """Radians about Z from the root of a pose (nq,) to that of another."""
    between = multiply(after[3:7], conjugate(before[3:7]))
    twist = np.array([between[0], 0.0, 0.0, between[3]])
    length = float(np.linalg.norm(twist))
    return 0.0 if length < 1e-6 else float(to_rotation_vector(twist / length)[2])
