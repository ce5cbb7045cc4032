# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that jump: from one frame to the next a bone stands otherwise, and stays so.

Where markers were lost, a leg holds its last pose until the solver finds it again; where they were mistaken for each
other, it is where the other leg is. Nobody can have gone that way. What was held before a jump was lost, and so was
what lies between a jump and the one back. Else half of what is missing is taken from each side, and fades out.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, angle_between, conjugate, from_rotation_vector, multiply, to_rotation_vector
from .frame_filling import fill_slerp

Flags = NDArray[np.bool_]

# No joint is as fast, and one that nearly is has speed before and after: a throw, a kick.
_JUMP_RAD_S, _BESIDE = 45.0, 0.4
_JUMP_RAD = 0.3
_BESIDE_FRAMES = 3
_BLEND_S = 0.15
_BACK_S, _BACK = 0.3, 0.5  # it jumps back within this time, to less than this share of how far it was
# A bone is held where it turns no faster than this for so long, and for no longer than it can be guessed.
_HELD_RAD_S, _HELD_S, _MOST_HELD_S = 0.05, 0.05, 0.5


def repair_joint_jumps(quat: Array, fps: float) -> tuple[Array, list[tuple[int, int]]]:
    """Rotations (T, B, 4) without jumps, and these as (bone, first frame after it). Spikes must be gone before."""
    step = angle_between(quat[1:], quat[:-1])
    found = {bone: jumps for bone in range(quat.shape[1]) if (jumps := _find_jumps(step[:, bone], fps))}
    if not found:
        return quat, []
    held = _held_before(step, found, fps)
    quat = np.array(quat)
    for bone in np.flatnonzero(held.any(axis=0)):
        quat[:, bone] = fill_slerp(quat[:, bone], held[:, bone])
    for bone, jumps in found.items():
        left = [frame for frame in jumps if not held[frame - 1, bone]]
        lost = _lost_between(quat[:, bone], left, fps)
        left = [frame for frame in left if not lost[frame] and not lost[frame - 1]]
        quat[:, bone] = _blend(fill_slerp(quat[:, bone], lost), left, fps)
    return quat, [(bone, frame) for bone, jumps in found.items() for frame in jumps]


def _find_jumps(step: Array, fps: float) -> list[int]:
    """Frames that a bone, which turns by (T - 1,) radians a frame, cannot have got to from the frame before."""
    found = []
    for index in np.flatnonzero(step > max(_JUMP_RAD, _JUMP_RAD_S / fps)):
        around = np.concatenate([step[max(index - _BESIDE_FRAMES, 0) : index], step[index + 1 :][:_BESIDE_FRAMES]])
        if len(around) and around.max() < _BESIDE * step[index]:
            found.append(int(index) + 1)
    return found


def _held_before(step: Array, found: dict[int, list[int]], fps: float) -> Flags:
    """(T, B) frames in which bones hold a pose from which one of them jumps; all that hold it with that one do so."""
    held = np.zeros((len(step) + 1, step.shape[1]), dtype=bool)
    still = step < _HELD_RAD_S / fps
    for bone, jumps in found.items():
        for frame in jumps:
            first = frame - 1
            while first > 0 and still[first - 1, bone]:
                first -= 1
            if first > 0 and _HELD_S * fps <= frame - 1 - first <= _MOST_HELD_S * fps:
                along = still[first : frame - 1].all(axis=0)
                held[first + 1 : frame, along] = True
    return held


def _lost_between(quat: Array, jumps: list[int], fps: float) -> Flags:
    """(T,) frames between two jumps of which the second takes the bone back to where it was before the first."""
    lost = np.zeros(len(quat), dtype=bool)
    for first, stop in pairwise(jumps):
        away = float(angle_between(quat[first:stop], quat[first - 1]).max())
        back = float(angle_between(quat[stop], quat[first - 1]))
        lost[first:stop] = not lost[first - 1] and stop - first <= _BACK_S * fps and back < _BACK * away
    return lost


def _blend(quat: Array, jumps: list[int], fps: float) -> Array:
    """(T, 4) rotations without those jumps; each is blended as far as there is no other one."""
    quat = np.array(quat)
    edges, width = [0, *jumps, len(quat)], max(round(_BLEND_S * fps), 1)
    for before, jump, after in zip(edges, jumps, edges[2:], strict=False):
        first, stop = jump - min(width, jump - before), jump + min(width, after - jump)
        frames = np.arange(first, stop) + 0.5 - jump
        fade = 1.0 - np.abs(frames) / np.where(frames < 0, jump - first, stop - jump)
        weight = -np.sign(frames) * 0.5 * fade**2 * (3.0 - 2.0 * fade)
        missing = to_rotation_vector(multiply(conjugate(quat[jump - 1]), quat[jump]))
        quat[first:stop] = multiply(quat[first:stop], from_rotation_vector(weight[:, None] * missing))
    return quat
