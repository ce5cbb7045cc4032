# SPDX-License-Identifier: GPL-3.0-or-later
"""The joint of the active bone: its axis, how far it goes, and where it is now."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ....core.body import BodyModel
from ....core.body.model import Joint
from ....core.geometry.quaternions import Array, to_matrix
from ..draw_list import Color, Colored, DrawList, colored, fan, path
from ..frame_state import FrameState, ShownCharacter

_AXIS: Color = (1.0, 0.45, 0.75, 1.0)
_RANGE: Color = (0.45, 0.80, 1.0, 0.9)
_FILL: Color = (0.45, 0.80, 1.0, 0.22)
_NOW: Color = (1.0, 1.0, 1.0, 1.0)
_BEYOND: Color = (1.0, 0.25, 0.2, 1.0)
_STEPS, _SPOKES = 33, 8
_LEAST_M = 0.06
_SLACK = np.radians(0.5)  # what of an angle beyond its limit is not worth a colour
_CENTRE = np.zeros((1, 3))


@dataclass(frozen=True, eq=False)
class _Drawn:
    """What of a joint's drawing turns with the link that it hangs on: metres from its centre, where it reads zero.

    zero: (3, 3) the link's axes there, seen from the link above. first: (3,) where a hinge at angle 0, or the limb of a
    ball, points to. second: (3,) where a hinge at a right angle does. radius: metres.
    """

    joint: Joint
    parent: int
    zero: Array
    lines: Colored
    filled: Colored
    first: Array
    second: Array
    radius: float


def draw_joint(state: FrameState, draw_list: DrawList) -> None:
    """A hinge as a fan about its axis, a ball as the cone that its limb stays in; red where it is beyond."""
    for shown in state.characters:
        if shown.active > 0:
            _draw(shown, _drawn(shown.parts.body, shown.active), draw_list)


def _draw(shown: ShownCharacter, drawn: _Drawn, draw_list: DrawList) -> None:
    centre, own = shown.pos[shown.active], shown.axes[shown.active]
    zero = shown.axes[drawn.parent] @ drawn.zero
    placed = zero.T / shown.metres
    for kind, (points, colors) in ((draw_list.triangles, drawn.filled), (draw_list.lines, drawn.lines)):
        kind.append(((centre + points @ placed).astype(np.float32), colors))
    way, beyond = (_hinge_now if drawn.joint.kind == "hinge" else _ball_now)(drawn, zero.T @ own)
    tip = centre + 1.1 * drawn.radius / shown.metres * (zero @ way)
    draw_list.add_lines(np.array([centre, tip]), _BEYOND if beyond else _NOW)


def _hinge_now(drawn: _Drawn, turn: Array) -> tuple[Array, bool]:
    """(3,) where it points to, and whether that is beyond its limits; turn: (3, 3) from where it reads zero."""
    joint, pointed = drawn.joint, turn @ drawn.first
    now = float(np.arctan2(pointed @ drawn.second, pointed @ drawn.first))
    middle = 0.5 * (joint.lower + joint.upper)
    now = middle + float(np.angle(np.exp(1j * (now - middle))))  # within half a turn of the range
    beyond = not joint.lower - _SLACK <= now <= joint.upper + _SLACK
    return np.cos(now) * drawn.first + np.sin(now) * drawn.second, beyond


def _ball_now(drawn: _Drawn, turn: Array) -> tuple[Array, bool]:
    angle = float(np.arccos(np.clip(0.5 * (np.trace(turn) - 1.0), -1.0, 1.0)))
    return turn @ drawn.first, angle > drawn.joint.max_angle + _SLACK


@lru_cache(maxsize=16)
def _drawn(body: BodyModel, active: int) -> _Drawn:
    link = body.links[active]
    return (_hinge if link.joint.kind == "hinge" else _ball)(link.joint, link.parent, _limb_of(body, active))


def _limb_of(body: BodyModel, active: int) -> Array:
    """(3,) metres, from a link's joint to the far end of what it carries, in the link's frame."""
    below = [link.joint.pos for link in body.links if link.parent == active]
    limb = max(below, key=lambda pos: float(np.linalg.norm(pos)), default=2.0 * body.links[active].com)
    length = float(np.linalg.norm(limb))
    if length < 1e-6:
        return np.array([0.0, _LEAST_M, 0.0])
    return limb * max(1.0, _LEAST_M / length)


def _hinge(joint: Joint, parent: int, limb: Array) -> _Drawn:
    axis = joint.axis
    across = limb - limb @ axis * axis
    radius = 0.7 * max(float(np.linalg.norm(across)), 0.3 * float(np.linalg.norm(limb)))
    if np.linalg.norm(across) < 1e-9:
        across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first = across / np.linalg.norm(across)
    second = np.cross(axis, first)
    angles = np.linspace(joint.lower, joint.upper, _STEPS)[:, None]
    rim = radius * (np.cos(angles) * first + np.sin(angles) * second)
    half = 0.5 * radius * axis
    lines = (
        colored(path(np.concatenate([_CENTRE, rim, _CENTRE])), _RANGE),
        colored(np.array([-half, half]), _AXIS),
    )
    return _kept(joint, parent, lines, rim, first, second, radius)


def _ball(joint: Joint, parent: int, limb: Array) -> _Drawn:
    radius = 0.7 * float(np.linalg.norm(limb))
    along = limb / np.linalg.norm(limb)
    first = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    first /= np.linalg.norm(first)
    around = np.linspace(0.0, 2.0 * np.pi, _STEPS)[:, None]
    side = np.cos(around) * first + np.sin(around) * np.cross(along, first)
    rim = radius * (np.cos(joint.max_angle) * along + np.sin(joint.max_angle) * side)
    spokes = rim[:: (_STEPS - 1) // _SPOKES][:-1]
    lines = (
        colored(path(rim), _RANGE),
        colored(np.stack([np.zeros_like(spokes), spokes], axis=1).reshape(-1, 3), _FILL),
        colored(np.array([_CENTRE[0], radius * along]), _AXIS),
    )
    return _kept(joint, parent, lines, rim, along, along, radius)


def _kept(
    joint: Joint, parent: int, lines: tuple[Colored, ...], rim: Array, first: Array, second: Array, radius: float
) -> _Drawn:
    points, colors = (np.concatenate([piece[part] for piece in lines]) for part in (0, 1))
    filled = colored(fan(_CENTRE[0], rim), _FILL)
    return _Drawn(joint, parent, to_matrix(joint.zero_quat_wxyz), (points, colors), filled, first, second, radius)
