# SPDX-License-Identifier: GPL-3.0-or-later
"""Looped clips: root motion goes on from cycle to cycle, and the seam is blended."""

import numpy as np

from ..errors import BadMotion
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
from .clip import Clip, Tag
from .motion_size import require_motion_size
from .time_warp import warp_clip

# How far the ends may be apart, as a mean over the bones that move, for a clip to count as a cycle.
_LARGEST_GAP_RAD = 0.35
_BLEND_S = 0.2
_STILL_M = 1e-6
# An end this many steps before its beginning, and on the way to it, belongs to a cycle longer than the clip.
_LEAST_MISSING, _MOST_MISSING = 0.15, 1.6
_ASIDE = 0.7  # of the gap: how much of it may not be on the way
_REPEATS, _REPEATED_RAD = 12, 1e-3


def seam_angle(clip: Clip) -> float:
    """Radians between the last pose and the first, heading apart: the mean over bones, weighted by their motion."""
    step_quat, _ = _step(clip)
    ends = np.array(clip.local_quat_wxyz[[0, -1]])
    roots = _moving_roots(clip)
    ends[1, roots] = multiply(conjugate(step_quat), ends[1, roots])
    gap = angle_between(ends[0], ends[1])
    swing = angle_between(clip.local_quat_wxyz, clip.local_quat_wxyz[:1]).max(0)
    return float(np.sum(gap * swing) / max(float(np.sum(swing)), 1e-9))


def is_cyclic(clip: Clip) -> bool:
    """Whether the clip ends about as it begins, apart from where it stands and faces."""
    return len(clip) > 3 and seam_angle(clip) < _LARGEST_GAP_RAD


def loop_clip(clip: Clip, cycles: int) -> Clip:
    """The clip ``cycles`` times over, its root motion going on and its seams blended away.

    The last frame of a cycle is the first of the next, so the result has cycles * (T - 1) + 1 frames.
    """
    if cycles < 1:
        raise BadMotion(f"'{clip.name}' cannot be played {cycles} times", "Ask for one cycle or more")
    if cycles == 1:
        return clip
    if not is_cyclic(clip):
        apart = np.degrees(seam_angle(clip))
        raise BadMotion(
            f"'{clip.name}' is not a cycle: its end is {apart:.0f}° a joint away from its beginning",
            "Choose a frame range that ends as it begins, or ask for one cycle",
        )
    require_motion_size(f"'{clip.name}' played {cycles} times", cycles * (len(clip) - 1) + 1, len(clip.skeleton))
    pos, quat = _closed(clip)
    step_quat, step_pos = _step(clip)
    roots = _moving_roots(clip)
    all_pos, all_quat = [pos], [quat]
    turn, shift = step_quat, step_pos
    for _ in range(cycles - 1):
        next_pos, next_quat = np.array(pos), np.array(quat)
        next_pos[:, roots] = rotate(turn, pos[:, roots]) + shift
        next_quat[:, roots] = multiply(turn, quat[:, roots])
        all_pos.append(next_pos[1:])
        all_quat.append(next_quat[1:])
        shift = rotate(turn, step_pos) + shift
        turn = multiply(turn, step_quat)
    period = len(clip) - 1
    tags = tuple(Tag(t.name, t.start + k * period, t.stop + k * period) for k in range(cycles) for t in clip.tags)
    return Clip(clip.skeleton, clip.fps, np.concatenate(all_pos), np.concatenate(all_quat), clip.name, tags)


def count_missing_steps(clip: Clip) -> float:
    """How many steps, such as 0.5 or 1, the clip ends before its first pose comes again; 0 for one that ends in it.

    Exporters leave out the last frame of a cycle, because it is the first, or cut it between two frames.
    """
    quat = clip.local_quat_wxyz
    if len(clip) < 4:
        return 0.0
    gap, last, first = (_turn_between(quat[a], quat[b]) for a, b in ((-1, 0), (-2, -1), (0, 1)))
    carried = clip.skeleton.parents >= 0
    gap, step = gap[carried], 0.5 * (last + first)[carried]
    square, length = float(np.sum(step**2)), float(np.sqrt(np.sum(gap**2)))
    if square < 1e-12 or length < 1e-6:
        return 0.0
    missing = float(np.sum(gap * step)) / square
    aside = float(np.sqrt(np.sum((gap - missing * step) ** 2)))
    is_on_the_way = _LEAST_MISSING < missing < _MOST_MISSING and aside < _ASIDE * length
    return missing if is_on_the_way else 0.0


def close_cycle(clip: Clip) -> Clip:
    """The cycle with its last pose equal to its first, where the clip ends before that: at another frame rate.

    Frame 0 is the clip's, and the cycle lasts as long as it really does: ``count_missing_steps`` more. A cycle that
    travels by itself comes back as it is: how far on it would begin again, nobody knows.
    """
    missing = count_missing_steps(clip)
    if missing == 0.0 or _travels(clip):
        return clip
    period = len(clip) - 1 + missing
    count = int(np.ceil(period - 1e-6))
    places = np.arange(count) * period / count
    inside = warp_clip(clip, np.minimum(places, len(clip) - 1) / clip.fps)
    part = np.clip((places - (len(clip) - 1)) / missing, 0.0, 1.0)[:, None]
    pos = inside.local_pos + part[..., None] * (clip.local_pos[0] - clip.local_pos[-1])
    quat = slerp(inside.local_quat_wxyz, np.broadcast_to(clip.local_quat_wxyz[0], inside.local_quat_wxyz.shape), part)
    pos, quat = (np.concatenate([values, begin[:1]]) for values, begin in ((pos, clip.local_pos), (quat, quat)))
    return Clip(clip.skeleton, clip.fps * count / period, pos, quat, clip.name)


def _travels(clip: Clip) -> bool:
    """Whether the first moving root goes somewhere rather than to and fro."""
    way = clip.local_pos[:, _moving_roots(clip)[0], :2]
    path = float(np.linalg.norm(np.diff(way, axis=0), axis=-1).sum())
    return float(np.linalg.norm(way[-1] - way[0])) > 0.5 * path > _STILL_M


def count_repeats(clip: Clip) -> int:
    """How many times the clip plays one and the same cycle, such as 3 for what ``loop_clip`` made of one; else 1."""
    quat, carried = clip.local_quat_wxyz, clip.skeleton.parents >= 0
    for repeats in range(min(_REPEATS, (len(clip) - 1) // 3), 1, -1):
        period, rest = divmod(len(clip) - 1, repeats)
        if rest == 0 and carried.any():
            apart = angle_between(quat[:-period, carried], quat[period:, carried])
            swing = angle_between(quat[:period, carried], quat[:1, carried])
            if swing.max() > _REPEATED_RAD and apart.max() < _REPEATED_RAD:
                return repeats
    return 1


def _turn_between(before: Array, after: Array) -> Array:
    """(..., 3) rotation vectors from rotations (..., 4) to others."""
    return to_rotation_vector(multiply(conjugate(before), after))


def _moving_roots(clip: Clip) -> list[int]:
    """Roots that carry the motion; a root that never moves (a control at the origin) stays where it is."""
    roots = np.flatnonzero(clip.skeleton.parents < 0)
    moves = [bool(np.ptp(clip.local_pos[:, root], axis=0).max() > _STILL_M) for root in roots]
    moving = [int(root) for root, moved in zip(roots, moves, strict=True) if moved]
    return moving or [int(root) for root in roots]


def _step(clip: Clip) -> tuple[Array, Array]:
    """The turn about Z (4,) and the shift in the plane (3,) that one cycle adds: p -> turn * p + shift."""
    root = _moving_roots(clip)[0]
    first, last = clip.local_quat_wxyz[0, root], clip.local_quat_wxyz[-1, root]
    whole = multiply(last, conjugate(first))
    yaw = 2.0 * np.arctan2(whole[3], whole[0])
    turn = from_rotation_vector(np.array([0.0, 0.0, yaw]))
    shift = clip.local_pos[-1, root] - rotate(turn, clip.local_pos[0, root])
    return turn, shift * np.array([1.0, 1.0, 0.0])


def _closed(clip: Clip) -> tuple[Array, Array]:
    """Local arrays whose last frame is exactly the first frame moved one cycle on.

    Half of what is missing is taken from each side of the seam and fades out within ``_BLEND_S``.
    """
    turn, shift = _step(clip)
    roots = _moving_roots(clip)
    goal_pos, goal_quat = np.array(clip.local_pos[0]), np.array(clip.local_quat_wxyz[0])
    goal_pos[roots] = rotate(turn, goal_pos[roots]) + shift
    goal_quat[roots] = multiply(turn, goal_quat[roots])
    missing_pos = goal_pos - clip.local_pos[-1]
    missing_rot = to_rotation_vector(multiply(conjugate(clip.local_quat_wxyz[-1]), goal_quat))

    width = min(max(round(_BLEND_S * clip.fps), 1), (len(clip) - 1) // 2)
    fade = np.linspace(1.0, 0.0, width + 1)
    fade = 0.5 * fade**2 * (3.0 - 2.0 * fade)
    weight = np.zeros(len(clip))
    weight[: width + 1] -= fade
    weight[-width - 1 :] += fade[::-1]
    # Before the seam the offset is wanted in the frame that the cycle began in, after it in the one it ends in;
    # for the root they differ by the turn about Z.
    back_pos = np.array(missing_pos)
    back_pos[roots] = rotate(conjugate(turn), missing_pos[roots])
    offset_pos = np.where((weight < 0)[:, None, None], back_pos, missing_pos)
    pos = clip.local_pos + weight[:, None, None] * offset_pos
    quat = multiply(clip.local_quat_wxyz, from_rotation_vector(weight[:, None, None] * missing_rot))
    return pos, quat
