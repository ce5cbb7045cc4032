# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracking error: how far simulated states are from the reference, as vectors that linear models can predict."""

import numpy as np
from numpy.typing import NDArray

from ...body.four_legs import find_front_feet
from ...geometry.quaternions import Array
from ...motion.falling import character_height
from .reference import Reference

# What a radian, a metre and their rates count in the feedback's quadratic cost; joints, their rates and links share.
_ROOT_PLACE, _ROOT_TURN, _JOINTS = 10.0, 10.0, 4.0
_ROOT_SPEED, _ROOT_SPIN, _JOINT_RATES = 0.5, 0.1, 0.02
_LINKS, _TIPS = 10.0, 90.0
# Distances at which linear models are fitted around the reference, in the same units.
_SCALES = {"place": 0.03, "turn": 0.05, "joint": 0.05, "speed": 0.2, "spin": 0.4, "joint rate": 0.5}
# Parts too light to matter for balance: they follow their servos, and have no feedback.
_FOLLOW = ("head", "neck", "hand", "toe", "clavicle", "tail")
OFFSET_SCALE = 0.15
"""Radians: the same for offsets of servo targets."""


class TrackingError:
    """State and output errors against a reference.

    The state error is (nx,): pose from the reference's pose (``PoseSpace``), then velocity, of the root and of the
    joints that have feedback. The output error is (ny,): that, then every link's place in metres. weights: (ny,) of
    their squares. scales: (nx,) typical errors. dofs: which of nv those are; servos: which of nu.
    tallest: the reference's height in metres.

    Errors are from the reference moved by ``anchor`` (N, 2) metres in the plane: a body that was pushed aside goes
    on from where it is.
    """

    def __init__(self, reference: Reference) -> None:
        self.reference = reference
        body = reference.body
        front_feet = find_front_feet(body)
        joint_dofs = [
            np.full(link.joint.dofs, body.joint_roles[index] not in _FOLLOW or index in front_feet)
            for index, link in enumerate(body.links[1:], start=1)
        ]
        self.servos: NDArray[np.int64] = np.flatnonzero(np.concatenate([*joint_dofs, np.zeros(0, dtype=bool)]))
        self.dofs: NDArray[np.int64] = np.concatenate([np.arange(6), 6 + self.servos])
        count, joints = len(self.dofs), max(len(self.servos), 1)
        self.nx, self.nu = 2 * count, body.nu
        self.tallest = character_height(reference.rows.link_pos[0])
        tips = np.isin(np.arange(len(body.links)), reference.tips)
        self.weights: Array = np.concatenate(
            [
                _row(count, _ROOT_PLACE, _ROOT_TURN, _JOINTS / joints),
                _row(count, _ROOT_SPEED, _ROOT_SPIN, _JOINT_RATES / joints),
                np.repeat(np.where(tips, _TIPS, _LINKS) / len(body.links), 3),
            ]
        )
        self.scales: Array = np.concatenate(
            [
                _row(count, _SCALES["place"], _SCALES["turn"], _SCALES["joint"]),
                _row(count, _SCALES["speed"], _SCALES["spin"], _SCALES["joint rate"]),
            ]
        )

    def state_error(self, qpos: Array, qvel: Array, frames: NDArray[np.int64] | int, anchor: Array) -> Array:
        """(N, nx) errors of poses (N, nq) and velocities (N, nv) from the reference's frames (N,) or one frame."""
        reference = self.reference
        pose = reference.space.difference(reference.qpos[frames], qpos)
        pose[..., :2] -= anchor
        rates = qvel - reference.rates[frames]
        return np.concatenate([pose[..., self.dofs], rates[..., self.dofs]], axis=-1)

    def output_error(self, error: Array, link_pos: Array, frames: NDArray[np.int64] | int, anchor: Array) -> Array:
        """(N, ny) of state errors (N, nx) and links' places (N, L, 3)."""
        places = link_pos - self.reference.rows.link_pos[0, frames]
        places[..., :2] -= anchor[..., None, :]
        return np.concatenate([error, places.reshape(*places.shape[:-2], -1)], axis=-1)


def _row(count: int, place: float, turn: float, joint: float) -> Array:
    """(count,) of values for the root's three places and turns, then joints."""
    return np.concatenate([np.full(3, place), np.full(3, turn), np.full(count - 6, joint)])
