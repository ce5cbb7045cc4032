# SPDX-License-Identifier: GPL-3.0-or-later
"""The joint of the active bone: its axis, how far it goes, and where it is now."""

import numpy as np

from ....core.body.model import Joint
from ....core.geometry.quaternions import Array, to_matrix
from ..moment import Moment, Shown
from ..scenery import Color, Scenery

_AXIS: Color = (1.0, 0.45, 0.75, 1.0)
_RANGE: Color = (0.45, 0.80, 1.0, 0.9)
_FILL: Color = (0.45, 0.80, 1.0, 0.22)
_NOW: Color = (1.0, 1.0, 1.0, 1.0)
_BEYOND: Color = (1.0, 0.25, 0.2, 1.0)
_STEPS, _SPOKES = 33, 8
_LEAST_M = 0.06
_SLACK = np.radians(0.5)  # what of an angle beyond its limit is not worth a colour


def draw_joint(moment: Moment, scenery: Scenery) -> None:
    """A hinge as a fan about its axis, a ball as the cone that its limb stays in; red where it is beyond."""
    for shown in moment.characters:
        if shown.active > 0:
            joint = shown.parts.body.links[shown.active].joint
            (_draw_hinge if joint.kind == "hinge" else _draw_ball)(shown, joint, scenery)


def limb_of(shown: Shown) -> Array:
    """(3,) metres, from the active link's joint to the far end of what it carries, in the link's frame."""
    body = shown.parts.body
    below = [link.joint.pos for link in body.links if link.parent == shown.active]
    limb = max(below, key=lambda pos: float(np.linalg.norm(pos)), default=2.0 * body.links[shown.active].com)
    length = float(np.linalg.norm(limb))
    if length < 1e-6:
        return np.array([0.0, _LEAST_M, 0.0])
    return limb * max(1.0, _LEAST_M / length)


def _zero(shown: Shown, joint: Joint) -> Array:
    """(3, 3) the link's axes in the world where the joint reads zero."""
    return shown.axes[shown.parts.body.links[shown.active].parent] @ to_matrix(joint.zero_quat_wxyz)


def _draw_hinge(shown: Shown, joint: Joint, scenery: Scenery) -> None:
    centre, zero, own = shown.pos[shown.active], _zero(shown, joint), shown.axes[shown.active]
    limb, axis = limb_of(shown) / shown.metres, joint.axis
    across = limb - limb @ axis * axis
    radius = 0.7 * max(float(np.linalg.norm(across)), 0.3 * float(np.linalg.norm(limb)))
    if np.linalg.norm(across) < 1e-9:
        across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first = across / np.linalg.norm(across)
    second = np.cross(axis, first)
    angles = np.linspace(joint.lower, joint.upper, _STEPS)[:, None]
    rim = centre + radius * (np.cos(angles) * first + np.sin(angles) * second) @ zero.T
    _draw_range(scenery, centre, rim)
    way = zero @ axis * 0.5 * radius
    scenery.add_lines(np.stack([centre - way, centre + way]), _AXIS)
    pointed = zero.T @ own @ first
    now = float(np.arctan2(pointed @ second, pointed @ first))
    middle = 0.5 * (joint.lower + joint.upper)
    now = middle + float(np.angle(np.exp(1j * (now - middle))))  # within half a turn of the range
    beyond = not joint.lower - _SLACK <= now <= joint.upper + _SLACK
    tip = centre + 1.1 * radius * zero @ (np.cos(now) * first + np.sin(now) * second)
    scenery.add_lines(np.stack([centre, tip]), _BEYOND if beyond else _NOW)


def _draw_range(scenery: Scenery, centre: Array, rim: Array) -> None:
    scenery.add_fan(centre, rim, _FILL)
    scenery.add_path(np.concatenate([centre[None], rim, centre[None]]), _RANGE)


def _draw_ball(shown: Shown, joint: Joint, scenery: Scenery) -> None:
    centre, zero, own = shown.pos[shown.active], _zero(shown, joint), shown.axes[shown.active]
    limb = limb_of(shown) / shown.metres
    radius = 0.7 * float(np.linalg.norm(limb))
    along = limb / np.linalg.norm(limb)
    first = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    first /= np.linalg.norm(first)
    around = np.linspace(0.0, 2.0 * np.pi, _STEPS)[:, None]
    side = np.cos(around) * first + np.sin(around) * np.cross(along, first)
    rim = centre + radius * (np.cos(joint.max_angle) * along + np.sin(joint.max_angle) * side) @ zero.T
    scenery.add_fan(centre, rim, _FILL)
    scenery.add_path(rim, _RANGE)
    spokes = rim[:: (_STEPS - 1) // _SPOKES][:-1]
    scenery.add_lines(np.stack([np.broadcast_to(centre, spokes.shape), spokes], axis=1).reshape(-1, 3), _FILL)
    scenery.add_lines(np.stack([centre, centre + radius * zero @ along]), _AXIS)
    turn = zero.T @ own
    angle = float(np.arccos(np.clip(0.5 * (np.trace(turn) - 1.0), -1.0, 1.0)))
    color = _BEYOND if angle > joint.max_angle + _SLACK else _NOW
    scenery.add_lines(np.stack([centre, centre + 1.1 * radius * own @ along]), color)
