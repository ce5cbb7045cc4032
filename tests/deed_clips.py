# SPDX-License-Identifier: GPL-3.0-or-later
"""A small library with deeds: walks along arcs, standing, and two clips in which who stands lifts a leg."""

from dataclasses import replace
from functools import cache

import numpy as np

from directed_walks import make_walks, stand, tagged, walks_clips
from sinew.core.body.foot_contacts import find_foot_contacts
from sinew.core.control.tracking.library_building import PreparedClip, find_deeds
from sinew.core.control.tracking.library_files import StoredLibrary
from sinew.core.geometry.quaternions import conjugate, from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip
from sinew.core.motion.library import ClipOrigin

KEYS = (70, 170)
"""Frames at which the leg of a kick is highest."""


def kick(bone, name, degrees=80.0):
    """Standing for four seconds, in which a leg is lifted forwards twice, for half a second each."""
    still = stand(walks_clips()[0])
    pos, quat = (np.repeat(array[:1], 240, axis=0) for array in (still.local_pos, still.local_quat_wxyz))
    frame = np.arange(240)
    lifted = sum(np.exp(-(((frame - key) / 9.0) ** 2)) for key in KEYS)
    index = still.skeleton.index(bone)
    parent = int(still.skeleton.parents[index])
    level = still.world()[1][0, parent]
    sideways = rotate(conjugate(level), np.array([0.0, 1.0, 0.0]))
    turn = from_rotation_vector(-np.radians(degrees) * lifted[:, None] * sideways)
    quat[:, index] = multiply(turn, quat[:, index])
    return Clip(still.skeleton, 60.0, pos, quat, name)


@cache
def make_deeds(extra=()):
    """A library of walks, standing and kicks as a file has it, without mirror images. extra: more tags of kicks."""
    body = make_walks()[1]
    thigh = next(link.bone for link in body.links if link.role == "thigh" and link.side == "R")
    chosen = ("straight", "arc -1", "arc +1", "arc -2", "arc +2", "set off", "stand")
    clips = [clip for clip in walks_clips() if clip.name in chosen]
    clips += [tagged(kick(thigh, "kick_1"), "kick", *extra), tagged(kick(thigh, "kick_2", 65.0), "kick")]
    made = []
    for clip in clips:
        parts = clip.local_pos, clip.local_quat_wxyz, find_foot_contacts(body, clip), np.arange(len(clip)) / 60.0
        one = PreparedClip(clip.name, *parts, clip.tags, ClipOrigin(clip.name, clip.name))
        made.append(replace(one, deeds=find_deeds(body, one)))
    return StoredLibrary(body, tuple(made), mirror=False)
