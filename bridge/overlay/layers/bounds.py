# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds as they are at this frame, around the motion that they are drawn for: what a policy may do within them."""

from functools import lru_cache

import numpy as np

from ....core.body import BodyModel
from ....core.control.bounds.bounds import AXES
from ....core.control.bounds.reference_trajectory import EndEffectors
from ....core.geometry.quaternions import Array
from ...bounds.reading import columns_of, parts_of, widths_of
from ...rig import sources
from .. import ghosts
from ..draw_list import BOX, Color, DrawList, Solids
from ..frame_state import FrameState, ShownCharacter

_COM: Color = (1.0, 0.86, 0.25, 0.10)
_COM_EDGE: Color = (1.0, 0.86, 0.25, 0.8)
_TIPS: Color = (0.35, 0.85, 0.95, 0.04)
_TIPS_EDGE: Color = (0.35, 0.85, 0.95, 0.45)
_TURNS: Color = (0.80, 0.62, 1.0, 0.45)
_FILL: Color = (0.80, 0.62, 1.0, 0.18)
_OPEN_M = 0.6  # how much of a side that has no end is shown
_STEPS = 37
_CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_EDGES = np.array([(a, b) for a in range(8) for b in range(a) if np.abs(_CORNERS[a] - _CORNERS[b]).sum() == 2.0])
_AROUND = np.linspace(0.0, 2.0 * np.pi, _STEPS)
_CIRCLE = np.stack([np.cos(_AROUND), np.sin(_AROUND)], axis=-1)
_LEVEL = np.pad(_CIRCLE, ((0, 0), (0, 1)))


def draw_bounds(state: FrameState, draw_list: DrawList) -> None:
    """A box for the centre of mass, balls for the end effectors, cones for root and joints; of the chosen character."""
    shown = next((one for one in state.characters if one.obj == state.scene.sinew.armature), None)
    if shown is None:
        return
    found = _reference(state, shown)
    if found is None:
        return
    pos, axes = found
    body = shown.parts.body
    widths = np.array(widths_of(shown.obj))[columns_of(body, parts_of(shown.obj))]
    joints = len(AXES) + len(body.links)
    _draw_com(draw_list, shown, pos, axes, widths[: len(AXES)])
    _draw_tips(draw_list, shown, pos, axes, widths[joints:])
    _draw_turns(draw_list, shown, pos, axes, widths[len(AXES) : joints])


def _reference(state: FrameState, shown: ShownCharacter) -> tuple[Array, Array] | None:
    """Where the motion that the bounds are for has the links now; None where a take does not know, or not yet."""
    data = shown.obj.animation_data
    if data is None or data.action is None or not sources.is_take(data.action):
        return shown.pos, shown.axes
    pose = ghosts.ghost_pose(state, shown)
    return None if pose is None else pose[:2]


def _draw_com(draw_list: DrawList, shown: ShownCharacter, pos: Array, axes: Array, widths: Array) -> None:
    if not np.isfinite(widths).any():
        return
    com = shown.parts.com(pos, axes, shown.metres)
    half = np.where(np.isfinite(widths), widths, _OPEN_M) / shown.metres
    place = np.eye(4, dtype=np.float32)[None]
    place[0, :3, 3] = com
    size = np.array([[*half, BOX]], dtype=np.float32)
    draw_list.solids.append(Solids(place, size, np.array([_COM], dtype=np.float32)))
    edges = _edges(tuple(np.isfinite(widths).tolist()))
    if len(edges):
        draw_list.add_lines(com + edges * half, _COM_EDGE)


@lru_cache(maxsize=8)
def _edges(closed: tuple[bool, ...]) -> Array:
    """(2E, 3) the edges of a box within -1 and 1. closed: by axis; a side that has no end has no edges there either."""
    edges = _CORNERS[_EDGES]
    along = np.abs(edges[:, 0] - edges[:, 1]).argmax(axis=-1)
    kept = [all(closed[axis] for axis in range(3) if axis != way) for way in along]
    return edges[kept].reshape(-1, 3)


def _draw_tips(draw_list: DrawList, shown: ShownCharacter, pos: Array, axes: Array, widths: Array) -> None:
    tips, closed = _tips(shown.parts.body), np.isfinite(widths)
    if not closed.any():
        return
    ends = pos[tips.links] + axes[tips.links][:, :, 1] * tips.lengths[:, None] / shown.metres
    radii = widths[closed] / shown.metres
    draw_list.add_balls(ends[closed], radii, _TIPS)
    # More than one ring a ball would hide the character.
    draw_list.add_path(ends[closed][:, None] + radii[:, None, None] * _LEVEL, _TIPS_EDGE)


def _draw_turns(draw_list: DrawList, shown: ShownCharacter, pos: Array, axes: Array, widths: Array) -> None:
    """Cones that limbs stay in, as the rim at their ends; that of the active bone is filled."""
    links = np.flatnonzero(np.isfinite(widths))
    if not len(links):
        return
    angles, lengths = np.minimum(widths[links], np.pi), _lengths(shown.parts.body)[links] / shown.metres
    # Each rim in the frame of its link, whose Y is the limb.
    rims = np.empty((len(links), _STEPS, 3))
    rims[:, :, (0, 2)] = (lengths * np.sin(angles))[:, None, None] * _CIRCLE
    rims[:, :, 1] = (lengths * np.cos(angles))[:, None]
    rims = pos[links][:, None] + rims @ axes[links].swapaxes(1, 2)
    draw_list.add_path(rims, _TURNS)
    for rim in rims[links == shown.active]:
        draw_list.add_fan(pos[shown.active], rim, _FILL)


@lru_cache(maxsize=8)
def _tips(body: BodyModel) -> EndEffectors:
    return EndEffectors(body)


@lru_cache(maxsize=8)
def _lengths(body: BodyModel) -> Array:
    """(L,) metres, of the links' bones."""
    return np.array([body.skeleton.lengths[body.skeleton.index(link.bone)] for link in body.links])
