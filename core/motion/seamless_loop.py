# SPDX-License-Identifier: GPL-3.0-or-later
"""One cycle out of several, made a seamless loop: its beginning is blended into what followed its end.

The cycles of a simulation are nearly, not quite, the same. Where one ends the next begins, so a loop that begins as the
next one did goes on from its own end without a jump, in its pose and in its speed.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..geometry.quaternions import (
    Array,
    angle_between,
    conjugate,
    from_rotation_vector,
    multiply,
    rotate,
    slerp,
    to_rotation_vector,
)
from .clip import Clip

LOOP_BLEND_S = 0.3
"""Seconds over which a loop's beginning is blended into what followed its end."""

LOOP_MOST_APART_M = 0.08
"""Metres between a motion's ends, mean over its bones: what is further apart would be seen to be drawn together."""

_MOST_BLENDED = 0.5  # of a cycle
_PULLS = 20
_ROUNDING = 1e-12
_STILL_RAD = 0.02  # who never moves more is posing


@dataclass(frozen=True)
class Seam:
    """How far the last frame is from the first: means over the bones, of their joints' angles and of their places."""

    angle_rad: float
    distance_m: float

    def within(self, other: "Seam") -> bool:
        """Whether it is no wider than another."""
        return self.angle_rad <= other.angle_rad + _ROUNDING and self.distance_m <= other.distance_m + _ROUNDING


_EXACT = Seam(1e-3, 1e-3)  # a source with no more than this was made to be played over and over


def measure_seam(clip: Clip) -> Seam:
    """The seam of a cycle on the spot."""
    angle = float(angle_between(clip.local_quat_wxyz[0], clip.local_quat_wxyz[-1]).mean())
    (first,), _ = clip.frames(0, 1).world()
    (last,), _ = clip.frames(len(clip) - 1, len(clip)).world()
    return Seam(angle, float(np.linalg.norm(last - first, axis=-1).mean()))


def make_loop(cycle: Clip, following: Clip, period_frames: float, root: int) -> Clip:
    """The cycle as a loop of as many frames, both on the spot.

    following: the next cycle's first frames, as many as there are. period_frames: from the cycle's first frame to the
    next one's; the cycle itself may end a little sooner. root: the bone that carries the body, whose drift over the
    ground is taken back evenly; bones above it stay.
    """
    drift_yaw, drift = _drift(cycle, following, root)
    first = np.arange(len(cycle)) / period_frames
    cycle = _move_body(cycle, root, first, drift_yaw, drift)
    following = _move_body(following, root, 1.0 + np.arange(len(following)) / period_frames, drift_yaw, drift)
    width = min(round(LOOP_BLEND_S * cycle.fps), int(_MOST_BLENDED * (len(cycle) - 1)), len(following) - 1)
    fade = np.linspace(1.0, 0.0, max(width, 1) + 1)[:-1]
    fade = fade**2 * (3.0 - 2.0 * fade)
    count = len(fade)
    pos, quat = np.array(cycle.local_pos), np.array(cycle.local_quat_wxyz)
    pos[:count] += fade[:, None, None] * (following.local_pos[:count] - pos[:count])
    quat[:count] = slerp(quat[:count], following.local_quat_wxyz[:count], fade[:, None])
    if period_frames == len(cycle) - 1:  # then the last frame is the first, and rounding must not tell them apart
        pos[-1], quat[-1] = pos[0], quat[0]
    return replace(cycle, local_pos=pos, local_quat_wxyz=quat)


def narrow_seam(loop: Clip, widest: Seam) -> Clip:
    """The loop with its end drawn towards its beginning, by no more than it takes for its seam to be within another."""
    if measure_seam(loop).within(widest):
        return loop
    width = max(min(round(LOOP_BLEND_S * loop.fps), int(_MOST_BLENDED * (len(loop) - 1))), 1)
    fade = np.zeros(len(loop))
    fade[-width - 1 :] = np.linspace(0.0, 1.0, width + 1)
    fade = fade**2 * (3.0 - 2.0 * fade)
    missing_pos = loop.local_pos[0] - loop.local_pos[-1]
    missing_rot = to_rotation_vector(multiply(conjugate(loop.local_quat_wxyz[-1]), loop.local_quat_wxyz[0]))
    drawn = loop
    for pull in np.linspace(0.0, 1.0, _PULLS + 1)[1:]:
        weight = (pull * fade)[:, None, None]
        pos = loop.local_pos + weight * missing_pos
        quat = multiply(loop.local_quat_wxyz, from_rotation_vector(weight * missing_rot))
        if pull == 1.0:
            pos[-1], quat[-1] = pos[0], quat[0]
        drawn = replace(loop, local_pos=pos, local_quat_wxyz=quat)
        if measure_seam(drawn).within(widest):
            break
    return drawn


def keep_loop(motion: Clip, source: Clip, root: int) -> Clip:
    """A motion that ends as exactly as its source where it began, if that is a loop on the spot; else as it is.

    Drift over the ground is taken back evenly, and the rest at the end. root: as for ``make_loop``.
    """
    seam = measure_seam(source)
    swing = float(angle_between(source.local_quat_wxyz, source.local_quat_wxyz[:1]).max())
    if len(motion) < 3 or swing < _STILL_RAD or not seam.within(_EXACT) or measure_seam(motion).within(seam):
        return motion
    yaw, drift = _drift(motion, motion.frames(len(motion) - 1, len(motion)), root)
    share = np.arange(len(motion)) / (len(motion) - 1)
    return narrow_seam(_move_body(motion, root, share, yaw, drift), seam)


def _drift(cycle: Clip, following: Clip, root: int) -> tuple[float, Array]:
    """Yaw in radians and (3,) metres over the ground by which the next cycle begins elsewhere."""
    (pos, quat), (next_pos, next_quat) = (clip.frames(0, 1).world() for clip in (cycle, following))
    whole = multiply(next_quat[0, root], conjugate(quat[0, root]))
    yaw = 2.0 * float(np.arctan2(whole[3], whole[0]))
    yaw = (yaw + np.pi) % (2.0 * np.pi) - np.pi
    return yaw, (next_pos[0, root] - pos[0, root]) * np.array([1.0, 1.0, 0.0])


def _move_body(clip: Clip, root: int, share: Array, yaw: float, shift: Array) -> Clip:
    """The root and all that is not above it, moved back by a share (T,) of a yaw about itself and a shift (3,)."""
    pos, quat = clip.world()
    above, bone = [], int(clip.skeleton.parents[root])
    while bone >= 0:
        above.append(bone)
        bone = int(clip.skeleton.parents[bone])
    moved = np.setdiff1d(np.arange(len(clip.skeleton)), above)
    turn = from_rotation_vector(-share[:, None] * np.array([0.0, 0.0, yaw]))[:, None]
    centre = pos[:, root : root + 1]
    new_pos, new_quat = pos.copy(), quat.copy()
    new_pos[:, moved] = centre + rotate(turn, pos[:, moved] - centre) - share[:, None, None] * shift
    new_quat[:, moved] = multiply(turn, quat[:, moved])
    return Clip.from_world(clip.skeleton, clip.fps, new_pos, new_quat, clip.name, clip.tags)
