# SPDX-License-Identifier: GPL-3.0-or-later
"""Travel: a rigid motion in the plane that takes a cycle on the spot along, again and again, and can be taken off."""

from dataclasses import dataclass

import numpy as np

from ..geometry.quaternions import Array, from_rotation_vector, multiply, rotate
from .clip import Clip


@dataclass(frozen=True, eq=False)
class Travel:
    """A rigid motion in the plane that goes on for ever: the same in every cycle, carried on from the last.

    period_s: of a cycle. yaw_rad_s: the turn about Z. shift: (M + 1, 2) metres at equal times over the first cycle.
    pace: (M + 1, 2) m/s at those times, as the character sees it.
    """

    period_s: float
    yaw_rad_s: float
    shift: Array
    pace: Array

    @property
    def step_m(self) -> float:
        """Metres from the beginning of a cycle to its end, as the crow flies."""
        return float(np.linalg.norm(self.shift[-1]))

    @property
    def speed_m_s(self) -> float:
        """Mean speed along the path."""
        return float(np.linalg.norm(np.diff(self.shift, axis=0), axis=-1).sum() / self.period_s)

    @property
    def turn_rad(self) -> float:
        """The turn about Z in a cycle."""
        return self.yaw_rad_s * self.period_s

    def pace_at(self, phase: Array) -> Array:
        """(N, 2) m/s in the character's own frame at phases (N,) of a cycle, from 0 to 1."""
        grid = np.linspace(0.0, 1.0, len(self.pace))
        return np.stack([np.interp(phase, grid, self.pace[:, axis]) for axis in (0, 1)], axis=-1)

    def at(self, times_s: Array) -> tuple[Array, Array]:
        """Yaw (N,) in radians and shift (N, 2) in metres at any times (N,)."""
        times = np.asarray(times_s, dtype=float)
        cycle = np.floor(times / self.period_s + 1e-9)
        phase = np.clip(times / self.period_s - cycle, 0.0, 1.0)
        grid = np.linspace(0.0, 1.0, len(self.shift))
        own = np.stack([np.interp(phase, grid, self.shift[:, axis]) for axis in (0, 1)], axis=-1)
        begun = np.zeros((len(times), 2))
        for index, count in enumerate(cycle.astype(int)):
            turns = self.turn_rad * np.arange(abs(count))
            steps = turn_in_plane(np.broadcast_to(self.shift[-1], (len(turns), 2)), turns).sum(axis=0)
            begun[index] = steps if count >= 0 else -turn_in_plane(steps[None], np.array([count * self.turn_rad]))[0]
        return self.yaw_rad_s * times, begun + turn_in_plane(own, cycle * self.turn_rad)


def apply_travel(clip: Clip, travel: Travel, times_s: Array) -> Clip:
    """The clip moved along; times_s: (T,) seconds on the travel's clock of every frame."""
    yaw, shift = travel.at(times_s)
    return move_roots(clip, yaw, np.concatenate([shift, np.zeros((len(shift), 1))], axis=-1))


def remove_travel(clip: Clip, travel: Travel, times_s: Array) -> Clip:
    """The inverse of ``apply_travel``."""
    yaw, shift = travel.at(times_s)
    back = -turn_in_plane(shift, -yaw)
    return move_roots(clip, -yaw, np.concatenate([back, np.zeros((len(back), 1))], axis=-1))


def move_roots(clip: Clip, yaw_rad: Array, shift: Array) -> Clip:
    """Every frame turned about the world's Z axis by yaw (T,), then moved by shift (T, 3)."""
    roots = np.flatnonzero(clip.skeleton.parents < 0)
    turn = from_rotation_vector(np.stack([np.zeros_like(yaw_rad), np.zeros_like(yaw_rad), yaw_rad], axis=-1))[:, None]
    pos, quat = np.array(clip.local_pos), np.array(clip.local_quat_wxyz)
    pos[:, roots] = rotate(turn, pos[:, roots]) + shift[:, None]
    quat[:, roots] = multiply(turn, quat[:, roots])
    return Clip(clip.skeleton, clip.fps, pos, quat, clip.name, clip.tags)


def turn_in_plane(values: Array, yaw: Array) -> Array:
    """(N, 2) values turned in the plane by yaw (N,)."""
    cosine, sine = np.cos(yaw), np.sin(yaw)
    return np.stack([cosine * values[:, 0] - sine * values[:, 1], sine * values[:, 0] + cosine * values[:, 1]], -1)
