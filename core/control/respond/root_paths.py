# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the root goes when frames of a library are played one after the other, and how that is bent to a place."""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from ..matching.features import FPS
from ..matching.matching import Complex
from ..matching.springs import damping_of, fade, fade_integral
from .response_tables import Roots
from .transition_graph import Frames

_ROOT_HALF_LIFE_S = 0.15  # as motion matching has it
_BEND_RAD_S, _MOST_BEND = 0.6, np.radians(30.0)  # by which a path may be turned
_FREE_M = 0.05  # that a path may be moved by in any case
_CREEP_M = 0.002  # by which standing counts as going, a frame: so that who stands can be moved at all


@dataclass(frozen=True, eq=False)
class RootPath:
    """T frames: ``frame`` (T,) of the library, with the root at ``pos`` (T,) complex metres, facing ``yaw`` (T,)."""

    frame: Frames
    pos: Complex
    yaw: Array

    def __len__(self) -> int:
        return len(self.frame)

    def velocity(self) -> complex:
        """m/s of the root at its end."""
        return complex(self.pos[-1] - self.pos[-2]) * FPS if len(self) > 1 else 0j


def join_paths(parts: list[RootPath]) -> RootPath:
    """Paths one after the other."""
    return RootPath(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("frame", "pos", "yaw")))


def play_frames(roots: Roots, frames: Frames, begin: RootPath) -> RootPath:
    """The path of frames (n,) that are played after what ``begin`` ends with; velocities fade into each other."""
    damping, dt = damping_of(_ROOT_HALF_LIFE_S), 1.0 / FPS
    now, pos, yaw = int(begin.frame[-1]), complex(begin.pos[-1]), float(begin.yaw[-1])
    late = begin.velocity() - np.exp(1j * yaw) * roots.vel[now] if len(begin) > 1 else 0j
    late_turn, age_s = 0.0, 0.0
    found = np.empty(len(frames), dtype=complex)
    faced = np.empty(len(frames))
    for index, frame in enumerate(frames.tolist()):
        before = frame - 1
        if before != now:  # a transition: what it did goes on, and fades
            left = float(fade(damping, np.array(age_s)))
            late = np.exp(1j * yaw) * (roots.vel[now] - roots.vel[before]) + late * left
            late_turn = roots.turn_rate[now] - roots.turn_rate[before] + late_turn * left
            age_s = 0.0
        faded = float(fade_integral(damping, np.array(age_s + dt)) - fade_integral(damping, np.array(age_s)))
        pos += complex(np.exp(1j * yaw) * roots.vel[before] * dt + late * faded)
        yaw += float(roots.heading[frame] - roots.heading[before] + late_turn * faded)
        age_s += dt
        now, found[index], faced[index] = frame, pos, yaw
    return RootPath(np.asarray(frames, dtype=np.int64), found, faced)


def bend_path(
    begin: RootPath,
    path: RootPath,
    place: complex | None,
    heading: float | None,
    share: float,
    bend_rad_s: float = _BEND_RAD_S,
    most_bend: float = _MOST_BEND,
) -> RootPath:
    """The path, moved and turned so that it comes nearer to a place and a heading at its end.

    It is bent where it goes rather than where it stands, by no more than ``share`` of its length, and turned by no more
    than ``bend_rad_s`` and ``most_bend`` radians.
    """
    steps = np.diff(np.concatenate([begin.pos[-1:], path.pos]))
    going = np.abs(steps) + _CREEP_M
    done = np.cumsum(going) / going.sum()
    yaw = path.yaw
    if heading is not None:
        most = min(bend_rad_s * len(path) / FPS, most_bend)
        turn = float(np.clip(np.angle(np.exp(1j * (heading - yaw[-1]))), -most, most))
        yaw, steps = yaw + turn * done, steps * np.exp(1j * turn * done)
    pos = begin.pos[-1] + np.cumsum(steps)
    if place is not None:
        missing = place - pos[-1]
        most = share * float(np.abs(steps).sum()) + _FREE_M
        pos = pos + missing * min(1.0, most / max(abs(missing), 1e-9)) * done
    return RootPath(path.frame, pos, yaw)
