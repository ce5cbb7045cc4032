# SPDX-License-Identifier: GPL-3.0-or-later
"""A walk made of nothing but proportions and timing, for trying Sinew without any file.

Feet are set down heel first, roll over flat onto the ball, and swing to their next place; the pelvis goes on above
them, and the legs are what joins the two. A foot stands for 62 % of a stride, as people's do; everything else is as
plain as it can be. The skeleton is that of the stock clips, facing -Y, its left at +X.
"""

import numpy as np

from ..geometry.quaternions import Array, conjugate, from_matrix, from_rotation_vector, multiply, rotate
from .clip import Clip
from .io.stock import stock_skeleton
from .skeleton import Skeleton

STRIDE_S, SPEED_M_S = 1.1, 1.05
_STRIDE_M = STRIDE_S * SPEED_M_S
_STANCE, _UNDER_HIP = 0.62, 0.25  # parts of a stride: until when a foot stands, and when the hip is above it
_HIP_M, _BOB_M, _SWAY_M, _HALF_WIDTH_M = 0.832, 0.014, 0.02, 0.07
_SOLE_M, _HEEL_M, _BALL_M = 0.05, 0.05, 0.10  # from the ankle: down, backwards, forwards
_LIFT_M = 0.05  # of a swinging ankle over the plain way between its places

# The foot's pitch over a stride: (part of it, degrees of the toes upwards).
_PITCH = ((0.0, 16.0), (0.1, 0.0), (0.38, 0.0), (0.52, -17.0), (0.62, -42.0), (0.74, -28.0), (0.9, 10.0), (1.0, 16.0))


def plain_walk(duration_s: float = 4 * STRIDE_S, fps: float = 24.0) -> Clip:
    """A steady walk along -Y at about 1 m/s over level ground, at the origin half way through."""
    skeleton = stock_skeleton()
    time = np.arange(round(duration_s * fps) + 1) / fps
    phase = time / STRIDE_S  # strides since the left heel came down
    around = 2.0 * np.pi * phase
    sway = _SWAY_M * np.cos(around - np.pi * _STANCE)
    height = _HIP_M - _BOB_M * np.cos(2.0 * around - 0.2 * np.pi)
    pelvis = np.stack([sway, SPEED_M_S * (0.5 * duration_s - time), height], axis=-1)
    turns = {
        "pelvis": _turn("Z", -5.0 * np.cos(around)),
        "chest": multiply(_turn("Z", 5.0 * np.cos(around)), _turn("X", np.full_like(time, 3.0))),
        "head": _turn("Z", np.zeros_like(time)),
    }
    _, rest = skeleton.rest_world()
    world = {name: multiply(turn, rest[skeleton.index(name)]) for name, turn in turns.items()}
    for side, out, late in (("L", 1.0, 0.0), ("R", -1.0, 0.5)):
        ankle, pitch = _foot(phase - late)
        # A foot's way is told from where the pelvis was when its stride, or the left one's, began.
        forward = ankle[:, 0] + late * _STRIDE_M - 0.5 * SPEED_M_S * duration_s
        ankle = np.stack([np.full_like(time, out * _HALF_WIDTH_M), -forward, ankle[:, 1]], axis=-1)
        hip = pelvis + rotate(world["pelvis"], skeleton.rest_pos[skeleton.index(f"thigh.{side}")])
        world |= _leg(skeleton, side, hip, ankle)
        world[f"foot.{side}"] = multiply(_turn("X", -pitch), rest[skeleton.index(f"foot.{side}")])
        # An arm swings with the other side's leg.
        swing = -np.cos(around - 2.0 * np.pi * late)
        shoulder = multiply(turns["chest"], _turn("Y", np.full_like(time, -7.0 * out)))
        for bone, angle in (("upper_arm", 18.0 * swing), ("forearm", 18.0 * swing + 24.0 + 8.0 * swing)):
            turn = multiply(shoulder, _turn("X", -angle))
            world[f"{bone}.{side}"] = multiply(turn, rest[skeleton.index(f"{bone}.{side}")])
    return _clip(skeleton, fps, pelvis, world)


def _clip(skeleton: Skeleton, fps: float, pelvis: Array, world: dict[str, Array]) -> Clip:
    """The clip of the root's places (T, 3) and every bone's rotations (T, 4) in the world."""
    quats = np.stack([world[name] for name in skeleton.names], axis=1)
    local = quats.copy()
    children = np.flatnonzero(skeleton.parents >= 0)
    local[:, children] = multiply(conjugate(quats[:, skeleton.parents[children]]), quats[:, children])
    pos = np.tile(skeleton.rest_pos, (len(pelvis), 1, 1))
    pos[:, 0] = pelvis
    return Clip(skeleton, fps, pos, local, "Walk")


def _foot(phase: Array) -> tuple[Array, Array]:
    """An ankle's (T, 2) metres forward and up, and its foot's pitch (T,) in degrees.

    phase: (T,) strides since it came down heel first. Forward is counted from where the pelvis was at phase 0.
    """
    part = phase % 1.0
    began = np.array([_STANCE, 1.0])
    (off, down), step = _standing(began - [0.0, 1.0]), 1e-4
    down = down + [_STRIDE_M, 0.0]
    # It leaves the ground and comes back to it as fast as it rolls there, so nothing jerks.
    leaving, coming = (_standing(began - [0.0, 1.0] + step) - _standing(began - [0.0, 1.0] - step)) / (2.0 * step)
    t = np.clip((part - _STANCE) / (1.0 - _STANCE), 0.0, 1.0)[:, None]
    lasts = 1.0 - _STANCE
    swinging = (2 * t**3 - 3 * t**2 + 1) * off + (3 * t**2 - 2 * t**3) * down
    swinging += lasts * ((t**3 - 2 * t**2 + t) * leaving + (t**3 - t**2) * coming)
    swinging[:, 1] += _LIFT_M * (16.0 * t**2 * (1.0 - t) ** 2)[:, 0]
    ankle = np.where((part < _STANCE)[:, None], _standing(part), swinging)
    ankle[:, 0] += np.floor(phase) * _STRIDE_M
    return ankle, _pitch(part)


def _standing(part: Array) -> Array:
    """(T, 2) metres forward and up of an ankle whose foot rolls over heel, sole and ball."""
    pitch = np.radians(_pitch(part))
    # What stays on the ground is the heel while the toes are up, the ball while they are down.
    lever = np.where(pitch > 0.0, _HEEL_M, -_BALL_M)
    forward = lever * np.cos(pitch) - _SOLE_M * np.sin(pitch) - lever
    up = lever * np.sin(pitch) + _SOLE_M * np.cos(pitch)
    return np.stack([forward + _UNDER_HIP * _STRIDE_M, up], axis=-1)


def _pitch(part: Array) -> Array:
    """(T,) degrees: a smooth periodic curve through the table that never passes its keys."""
    at, value = np.array(_PITCH).T
    slope = np.diff(value) / np.diff(at)
    before, after = np.roll(slope, 1), slope
    same = before * after > 0.0
    tangent = np.where(same, 2.0 * before * after / np.where(same, before + after, 1.0), 0.0)
    tangent = np.append(tangent, tangent[0])
    part = part % 1.0
    key = np.clip(np.searchsorted(at, part, side="right") - 1, 0, len(at) - 2)
    width = np.diff(at)[key]
    t = (part - at[key]) / width
    ends = (2 * t**3 - 3 * t**2 + 1) * value[key] + (3 * t**2 - 2 * t**3) * value[key + 1]
    return np.asarray(ends + width * ((t**3 - 2 * t**2 + t) * tangent[key] + (t**3 - t**2) * tangent[key + 1]))


def _leg(skeleton: Skeleton, side: str, hip: Array, ankle: Array) -> dict[str, Array]:
    """World rotations (T, 4) of thigh and shin that lead from hips to ankles (T, 3), the knee to the front."""
    thigh, shin = (float(skeleton.lengths[skeleton.index(f"{bone}.{side}")]) for bone in ("thigh", "shin"))
    way = ankle - hip
    far = np.linalg.norm(way, axis=-1, keepdims=True)
    down = way / far
    across = np.array([1.0, 0.0, 0.0]) - down[:, :1] * down
    across /= np.linalg.norm(across, axis=-1, keepdims=True)
    front = np.cross(down, across)
    along = (far**2 + thigh**2 - shin**2) / (2.0 * far)
    knee = hip + along * down + np.sqrt(np.maximum(thigh**2 - along**2, 0.0)) * front
    found = {}
    for bone, start, stop in (("thigh", hip, knee), ("shin", knee, ankle)):
        y = (stop - start) / np.linalg.norm(stop - start, axis=-1, keepdims=True)
        found[f"{bone}.{side}"] = from_matrix(np.stack([across, y, np.cross(across, y)], axis=-1))
    return found


def _turn(axis: str, degrees: Array) -> Array:
    """(T, 4) rotations about a world axis."""
    return from_rotation_vector(np.radians(degrees)[:, None] * np.eye(3)["XYZ".index(axis)])
