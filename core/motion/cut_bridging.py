# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts bridged: what follows goes on from where the body was, and the poses on both sides are blended."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import (
    Array,
    conjugate,
    from_rotation_vector,
    multiply,
    rotate,
    to_rotation_vector,
)
from .clip import Clip
from .skeleton import to_world

Parents = NDArray[np.int64]

_BLEND_S = 0.3


def bridge_cuts(clip: Clip, cuts: Sequence[int]) -> Clip:
    """The clip without jumps at the frames ``cuts``, each the first of what follows one."""
    if not cuts:
        return clip
    pos, quat = np.array(clip.local_pos), np.array(clip.local_quat_wxyz)
    parents = clip.skeleton.parents
    roots = np.flatnonzero(parents < 0)
    carrier = int(np.argmax(np.ptp(clip.local_pos, axis=0).sum(-1)))
    edges, width = [0, *cuts, len(clip)], max(round(_BLEND_S * clip.fps), 1)
    for before, cut, after in zip(edges, cuts, edges[2:], strict=False):
        around = slice(cut - min(width, cut - before), cut + min(width, after - cut))
        turn, shift = _join(parents, pos[around], quat[around], carrier, cut - around.start)
        pos[cut:, roots] = rotate(turn, pos[cut:, roots]) + shift
        quat[cut:, roots] = multiply(turn, quat[cut:, roots])
        pos[around], quat[around] = _blend(parents, pos[around], quat[around], carrier, cut - around.start)
    return Clip(clip.skeleton, clip.fps, pos, quat, clip.name, clip.tags)


def _join(parents: Parents, pos: Array, quat: Array, carrier: int, cut: int) -> tuple[Array, Array]:
    """The turn about Z (4,) and the shift in the plane (3,) that let the carrying bone go on over the cut."""
    places, turns = (values[:, carrier] for values in to_world(parents, pos, quat))
    whole = multiply(turns[cut], conjugate(turns[cut - 1]))
    turn = from_rotation_vector(np.array([0.0, 0.0, -2.0 * np.arctan2(whole[3], whole[0])]))
    steps = [places[cut - 1] - places[cut - 2]] if cut > 1 else []
    steps += [rotate(turn, places[cut + 1] - places[cut])] if cut + 1 < len(places) else []
    step = np.mean(steps, axis=0) if steps else np.zeros(3)
    shift = places[cut - 1] + step - rotate(turn, places[cut])
    return turn, shift * np.array([1.0, 1.0, 0.0])


def _blend(parents: Parents, pos: Array, quat: Array, carrier: int, cut: int) -> tuple[Array, Array]:
    """Local arrays (T, ...) with half of what is missing over the cut taken from each side; it fades out to their ends.

    What carries the body has been joined in the plane, so that only its height and its rotation in the world count.
    Bones above it stay.
    """
    frames = np.arange(len(pos)) + 0.5 - cut
    fade = np.clip(1.0 - np.abs(frames) / np.where(frames < 0, cut, max(len(pos) - cut, 1)), 0.0, 1.0)
    weight = (-np.sign(frames) * 0.5 * fade**2 * (3.0 - 2.0 * fade))[:, None, None]
    above = _line_above(parents, carrier)
    world_pos, world_quat = to_world(parents, pos, quat)
    carried_pos = _eased(world_pos[:, [carrier]], weight, cut, np.array([0.0, 0.0, 1.0]))[:, 0]
    carried_quat = _turned(world_quat[:, [carrier]], weight, cut)[:, 0]
    others = [bone for bone in range(len(parents)) if bone not in above]
    new_pos, new_quat = np.array(pos), np.array(quat)
    new_pos[:, others] = _eased(pos[:, others], weight, cut, np.ones(3))
    new_quat[:, others] = _turned(quat[:, others], weight, cut)
    parent = int(parents[carrier])
    if parent >= 0:
        back = conjugate(world_quat[:, parent])
        carried_pos, carried_quat = rotate(back, carried_pos - world_pos[:, parent]), multiply(back, carried_quat)
    new_pos[:, carrier], new_quat[:, carrier] = carried_pos, carried_quat
    return new_pos, new_quat


def _line_above(parents: Parents, bone: int) -> set[int]:
    """A bone, its parent, that one's parent and so on; and every other root, which the joining has moved."""
    found = {int(root) for root in np.flatnonzero(parents < 0)}
    while bone >= 0:
        found.add(bone)
        bone = int(parents[bone])
    return found


def _eased(values: Array, weight: Array, cut: int, axes: Array) -> Array:
    """Places (T, B, 3) without their jump at ``cut`` along ``axes`` (3,)."""
    return np.asarray(values + weight * (values[cut] - values[cut - 1]) * axes)


def _turned(quat: Array, weight: Array, cut: int) -> Array:
    """Rotations (T, B, 4) without their jump at ``cut``."""
    return multiply(
        quat, from_rotation_vector(weight * to_rotation_vector(multiply(conjugate(quat[cut - 1]), quat[cut])))
    )
