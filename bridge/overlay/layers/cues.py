# SPDX-License-Identifier: GPL-3.0-or-later
"""Ghosts of the key poses that cues ask for: as a take does them, and before there is one as the library has them."""

from functools import lru_cache

import bpy
import numpy as np

from ....core.control.respond.key_poses import find_key_pose
from ....core.control.respond.learned_file import library_of
from ....core.control.tracking.facing import facing_direction, rotate_about_z, rotation_about_z, upright_rotation
from ....core.geometry.quaternions import Array, from_matrix, to_matrix
from ...methods.adapters import get_adapter
from ...respond.cue_places import find_ground
from .. import ghosts
from ..draw_list import DrawList
from ..frame_state import FrameState, ShownCharacter

_COLOR = np.array([0.55, 0.90, 0.60, 0.22], dtype=np.float32)
_CHOSEN = np.array([0.75, 1.00, 0.55, 0.50], dtype=np.float32)
"""Of the cue that is chosen in the list."""

Pose = tuple[Array, Array]


def draw_cues(state: FrameState, draw_list: DrawList) -> None:
    """A body for every cue that has a place, and for the chosen one."""
    for shown in state.characters:
        cues = shown.obj.sinew_cues
        if not len(cues):
            continue
        taken = ghosts.take_poses(shown, [cue.frame for cue in cues])
        here = shown.pos[0, :2]
        for number, cue in enumerate(cues):
            is_chosen = number == shown.obj.sinew_cue_index
            pose, here = (taken[number], here) if taken else _planned(shown, cue, here, is_chosen=is_chosen)
            if pose is not None:
                colors = np.tile(_CHOSEN if is_chosen else _COLOR, (len(shown.parts.holders), 1))
                draw_list.solids.append(shown.parts.solids(*pose, shown.metres, colors))


def _planned(
    shown: ShownCharacter, cue: bpy.types.PropertyGroup, here: Array, *, is_chosen: bool
) -> tuple[Pose | None, Array]:
    """The key pose that the library has of a cue's deed, and where the character is then.

    It faces the way that it has come; who does not go anywhere faces as now. One without a place stands where the
    character does, and would hide it and others, so that it is shown while it is chosen.
    """
    there = find_ground(cue, here, shown.metres)
    if there is None and not is_chosen:
        return None, here
    model = get_adapter("respond").file.view_of(shown.obj).model
    found = None if model is None else _key_pose(library_of(model), cue.deed.strip())
    if found is None or not set(shown.parts.bones) <= set(found.bones):
        return None, here if there is None else there
    own = [found.bones.index(bone) for bone in shown.parts.bones]
    way = np.zeros(2) if there is None else there - here
    if np.linalg.norm(way) < 1e-3:
        way = facing_direction(from_matrix(shown.axes[:1]), upright_rotation(shown.parts.body))[0, :2]
    turn = np.full(len(own), np.arctan2(way[1], way[0]))
    pos = rotate_about_z(turn, found.pos[own]) / shown.metres
    pos[:, :2] += here if there is None else there
    axes = to_matrix(rotation_about_z(turn)) @ to_matrix(found.quat_wxyz[own])
    return (pos, axes), here if there is None else there


_key_pose = lru_cache(maxsize=32)(find_key_pose)
