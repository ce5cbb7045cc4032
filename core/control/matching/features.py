# SPDX-License-Identifier: GPL-3.0-or-later
"""What motion matching compares (DReCon, section 5.2): 27 numbers a frame, about the feet, the hip and what comes next.

Everything is told in the frame of the root: the hip's place on the ground and the way it faces, both smoothed over a
step, so that a path is that of the walk and not of the hip's sway.
"""

from dataclasses import dataclass

import numpy as np

from ...body import BodyModel
from ...errors import RigError
from ...geometry.quaternions import Array
from ...motion.library import Library
from ...motion.skeleton import freeze_array
from ..tracking.facing import rotate_about_z, twist_angle, upright_rotation

FPS = 60.0
"""Frames a second that features, searches and directed motion are at."""
AHEAD = (20, 40, 60)
"""Frames ahead at which the trajectory is compared."""
LOOK_AHEAD = AHEAD[-1]
FEATURES = 27
FEET_POS, FEET_VEL, HIP_VEL = slice(0, 6), slice(6, 12), slice(12, 15)
PATH, FACING = slice(15, 21), slice(21, 27)
POSE = slice(0, 15)
"""Columns that are of the pose; those behind them are of the trajectory."""

_POS_SIGMA, _HEADING_SIGMA = 9.0, 15.0  # frames of the root's smoothing; hips turn more than they sway
_TREND_FRAMES = 30  # the last frames of a clip, which say how it would have gone on


@dataclass(frozen=True, eq=False)
class RootTrack:
    """The root of every frame of a library.

    pos: (M, 2) metres on the ground, heading: (M,) radians from +X, unwrapped in each clip; both as in their clip.
    vel: (M, 2) m/s in the root's own frame (forward, left), turn: (M,) rad/s.
    """

    pos: Array
    heading: Array
    vel: Array
    turn: Array


def find_foot_bones(body: BodyModel) -> tuple[int, int]:
    """The bones of the left and the right foot; a body without two is refused."""
    found = {
        link.side: body.skeleton.index(link.bone) for link in body.links if link.role == "foot" and link.side in "LR"
    }
    if {"L", "R"} - set(found):
        missing = "left" if "L" not in found else "right"
        raise RigError(
            f"The body has no {missing} foot to match motion by", "Give a bone the role of that foot in Body > Bones"
        )
    return found["L"], found["R"]


def find_head(body: BodyModel) -> int:
    """The link whose place tells a fall: the head, or the last of the trunk of a body without."""
    heads = [index for index, link in enumerate(body.links) if link.role == "head"]
    return heads[0] if heads else body.trunk[-1]


def track_root(body: BodyModel, library: Library, world: tuple[Array, Array]) -> RootTrack:
    """The smoothed root of every frame. world: the library's motion in the world, as ``Clip.world`` gives it."""
    hip = body.skeleton.index(body.links[0].bone)
    raw_pos, raw_heading = world[0][:, hip, :2], twist_angle(world[1][:, hip], upright_rotation(body))
    pos, heading = np.empty_like(raw_pos), np.empty_like(raw_heading)
    step, turn = np.empty_like(raw_pos), np.empty_like(raw_heading)
    for first, stop in zip(library.starts[:-1], library.starts[1:], strict=True):
        frames = slice(int(first), int(stop))
        pos[frames] = smooth_ends_free(raw_pos[frames], _POS_SIGMA)
        heading[frames] = smooth_ends_free(np.unwrap(raw_heading[frames])[:, None], _HEADING_SIGMA)[:, 0]
        step[frames] = _rate(pos[frames])
        turn[frames] = _rate(heading[frames])
    vel = rotate_about_z(-heading, np.concatenate([step, np.zeros((len(step), 1))], axis=-1))[:, :2]
    return RootTrack(*(freeze_array(array) for array in (pos, heading, vel, turn)))


def smooth_ends_free(values: Array, sigma: float) -> Array:
    """(T, D) smoothed by a Gaussian of so many frames; both ends go on as they come, turned about themselves."""
    reach = min(int(3 * sigma), len(values) - 1)
    if reach < 1:
        return np.array(values)
    before, after = 2 * values[0] - values[reach:0:-1], 2 * values[-1] - values[-2 : -reach - 2 : -1]
    padded = np.concatenate([before, values, after])
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    kernel /= kernel.sum()
    columns = [np.convolve(column, kernel, mode="valid") for column in padded.T]
    return np.stack(columns, axis=-1)


def _rate(values: Array) -> Array:
    """(T, ...) change a second, by the difference to the next frame; the last one's is that of the one before."""
    found = np.zeros_like(values)
    if len(values) > 1:
        found[:-1] = FPS * np.diff(values, axis=0)
        found[-1] = found[-2]
    return found


def compute_features(body: BodyModel, library: Library, root: RootTrack, world: tuple[Array, Array]) -> Array:
    """(M, 27) metres, m/s and directions, not normalised."""
    feet, hip = list(find_foot_bones(body)), body.skeleton.index(body.links[0].bone)
    joints = world[0][:, [*feet, hip]]
    speed = np.empty_like(joints)
    found = np.empty((len(joints), FEATURES))
    for first, stop in zip(library.starts[:-1], library.starts[1:], strict=True):
        frames = slice(int(first), int(stop))
        speed[frames] = _rate(joints[frames])
        found[frames, PATH], found[frames, FACING] = _compute_trajectory(root, frames)
    ground = np.concatenate([root.pos, np.zeros((len(joints), 1))], axis=-1)
    found[:, FEET_POS] = rotate_about_z(-root.heading, joints[:, :2] - ground[:, None]).reshape(-1, 6)
    local = rotate_about_z(-root.heading, speed)
    found[:, FEET_VEL], found[:, HIP_VEL] = local[:, :2].reshape(-1, 6), local[:, 2]
    return found


def _compute_trajectory(root: RootTrack, frames: slice) -> tuple[Array, Array]:
    """(T, 6) places and (T, 6) facing directions 20, 40 and 60 frames ahead, in the root's frame of each frame.

    Beyond its end a clip is taken to go on as in its last half second: turning and walking at the same rates.
    """
    pos, heading = _extend_root(root.pos[frames], root.heading[frames])
    count = frames.stop - frames.start
    index = np.arange(count)[:, None] + np.array(AHEAD)
    offset, turned = pos[index] - pos[:count, None], heading[index] - heading[:count, None]
    cos, sin = np.cos(-heading[:count])[:, None], np.sin(-heading[:count])[:, None]
    places = np.stack([cos * offset[..., 0] - sin * offset[..., 1], sin * offset[..., 0] + cos * offset[..., 1]], -1)
    facing = np.stack([np.cos(turned), np.sin(turned)], -1)
    return places.reshape(count, 6), facing.reshape(count, 6)


def _extend_root(pos: Array, heading: Array) -> tuple[Array, Array]:
    """A clip's root with as many frames more as features look ahead."""
    last = min(_TREND_FRAMES, len(pos) - 1)
    if last < 1:
        return np.repeat(pos[-1:], LOOK_AHEAD + 1, axis=0), np.repeat(heading[-1:], LOOK_AHEAD + 1)
    turn = (heading[-1] - heading[-1 - last]) / last
    angles = heading[-1] + turn * np.arange(1, LOOK_AHEAD + 1)
    steps = np.diff(pos[-1 - last :], axis=0)
    away = heading[-1 - last : -1]
    cos, sin = np.cos(-away), np.sin(-away)
    forward = np.mean(cos * steps[:, 0] - sin * steps[:, 1])
    left = np.mean(sin * steps[:, 0] + cos * steps[:, 1])
    cos, sin = np.cos(angles - turn), np.sin(angles - turn)
    way = np.cumsum(np.stack([cos * forward - sin * left, sin * forward + cos * left], axis=-1), axis=0)
    return np.concatenate([pos, pos[-1] + way]), np.concatenate([heading, angles])
