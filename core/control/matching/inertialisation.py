# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of what was played: at a transition the difference to the new clip, and its rate, fade away (inertialisation).

Every bone's rotation and the place of root bones are as the clip has them, with an offset in front that began where the
transition was and decays as a critically damped spring; so the pose goes on from where and how fast it was.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, to_rotation_vector
from ...motion import Clip
from ..tracking.facing import rotate_about_z, rotation_about_z
from .database import MatchingDatabase
from .features import FPS
from .matching import Frames
from .springs import damping_of, decay_offset, decay_rate

HALF_LIFE_S = 0.1
_MOST_RATE = 6.0  # rad/s and m/s: a faster difference of two clips is noise of one of them


@dataclass(frozen=True, eq=False)
class _Offsets:
    """Offsets at the beginning of each stretch between transitions: turns (S, B, 3), places (S, R, 3), and rates."""

    turn: Array
    turn_rate: Array
    place: Array
    place_rate: Array


def make_clip(database: MatchingDatabase, frame: Frames, pos: Array, yaw: Array, name: str = "") -> Clip:
    """The motion of one character that played frames (T,) with its root at pos (T, 2), facing yaw (T,)."""
    return Clip(database.skeleton, FPS, *blend_poses(database, frame, pos, yaw), name)


def blend_poses(database: MatchingDatabase, frame: Frames, pos: Array, yaw: Array) -> tuple[Array, Array]:
    """Local positions (T, B, 3) and rotations (T, B, 4) of the same."""
    stretch, age_s, begins = _find_stretches(frame)
    offsets = _chain_offsets(database, frame, begins)
    damping = damping_of(HALF_LIFE_S)
    left_s = age_s[:, None, None]
    turn = decay_offset(offsets.turn[stretch], offsets.turn_rate[stretch], damping, left_s)
    quat = multiply(from_rotation_vector(turn), database.local_quat[frame])
    place = database.root_pos[frame]
    place = place + decay_offset(offsets.place[stretch], offsets.place_rate[stretch], damping, left_s)
    local_pos = np.array(np.broadcast_to(database.library.motion.local_pos[:1], (len(frame), *quat.shape[1:2], 3)))
    if len(database.moving):
        local_pos[:, database.moving] = database.library.motion.local_pos[np.ix_(frame, database.moving)]
    ground = np.concatenate([pos, np.zeros((len(pos), 1))], axis=-1)
    local_pos[:, database.roots] = rotate_about_z(yaw, place) + ground[:, None]
    quat[:, database.roots] = multiply(rotation_about_z(yaw)[:, None], quat[:, database.roots])
    return local_pos, quat


def _find_stretches(frame: Frames) -> tuple[Frames, Array, Frames]:
    """(T,) which stretch a frame is of, (T,) seconds since its transition, and (S,) first frames of stretches."""
    step = np.diff(frame)
    # A frame may be held: that begins with a transition, for it brings its clip to a stop.
    jumps = np.flatnonzero((step != 1) & ~((step == 0) & (np.concatenate([[1], step[:-1]]) == 0))) + 1
    begins = np.concatenate([[0], jumps])
    stretch = np.searchsorted(begins, np.arange(len(frame)), side="right") - 1
    # At a transition the frame before its first one was to be the same: one frame has passed since.
    return stretch, (np.arange(len(frame)) - begins[stretch] + 1) / FPS, begins


def _chain_offsets(database: MatchingDatabase, frame: Frames, begins: Frames) -> _Offsets:
    """The offsets of every stretch, each from what is left of the one before and how the two clips differ."""
    count, bones, roots = len(begins), len(database.skeleton), len(database.roots)
    found = _Offsets(*(np.zeros((count, size, 3)) for size in (bones, bones, roots, roots)))
    if count == 1:
        return found
    stops = frame[begins[1:]] == frame[begins[1:] - 1]
    stood = np.concatenate([[False], stops[:-1]])
    before, after = frame[begins[1:] - 1], frame[begins[1:]] - ~stops
    after = np.maximum(after, database.library.starts[database.clip_of[frame[begins[1:]]]])
    goes = (~stood)[:, None, None], (~stops)[:, None, None]
    rates = _turn_rates(database, before) * goes[0] - _turn_rates(database, after) * goes[1]
    shifts = database.root_pos[before] - database.root_pos[after]
    shift_rates = _place_rates(database, before) * goes[0] - _place_rates(database, after) * goes[1]
    damping = damping_of(HALF_LIFE_S)
    quat = database.local_quat
    between = multiply(quat[before], conjugate(quat[after]))
    lasted_s = np.diff(begins) / FPS
    for k in range(1, count):
        t_s = np.asarray(lasted_s[k - 1])
        turn = decay_offset(found.turn[k - 1], found.turn_rate[k - 1], damping, t_s)
        found.turn[k] = to_rotation_vector(multiply(from_rotation_vector(turn), between[k - 1]))
        rate = decay_rate(found.turn[k - 1], found.turn_rate[k - 1], damping, t_s) + rates[k - 1]
        found.turn_rate[k] = np.clip(rate, -_MOST_RATE, _MOST_RATE)
        place = decay_offset(found.place[k - 1], found.place_rate[k - 1], damping, t_s)
        found.place[k] = place + shifts[k - 1]
        rate = decay_rate(found.place[k - 1], found.place_rate[k - 1], damping, t_s) + shift_rates[k - 1]
        found.place_rate[k] = np.clip(rate, -_MOST_RATE, _MOST_RATE)
    return found


def _next(database: MatchingDatabase, frame: Frames) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.minimum(frame + 1, database.ends[frame])
    return found


def _turn_rates(database: MatchingDatabase, frame: Frames) -> Array:
    """(S, B, 3) rad/s of every bone's rotation in its parent's frame."""
    quat = database.local_quat
    found: Array = FPS * to_rotation_vector(multiply(quat[_next(database, frame)], conjugate(quat[frame])))
    return found


def _place_rates(database: MatchingDatabase, frame: Frames) -> Array:
    found: Array = FPS * (database.root_pos[_next(database, frame)] - database.root_pos[frame])
    return found
