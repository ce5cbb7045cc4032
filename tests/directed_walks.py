# SPDX-License-Identifier: GPL-3.0-or-later
"""A small library to direct: a plain walk that goes straight, turns by several rates, goes fast, and stands."""

import numpy as np

from sinew.core.body.build import build_body
from sinew.core.body.foot_contacts import find_foot_contacts
from sinew.core.control.tracking.library_building import PreparedClip
from sinew.core.control.tracking.library_files import StoredLibrary
from sinew.core.geometry.quaternions import from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip
from sinew.core.motion.clip import Tag
from sinew.core.motion.library import ClipOrigin, make_library
from sinew.core.motion.plain_walk import plain_walk
from sinew.core.motion.time_warp import warp_clip

SECONDS = 4.4


def bend(clip, turn_rad_s, name):
    """The clip along an arc: everything turns about the pelvis' place on the ground, steadily."""
    pos, quat = clip.world()
    root = clip.skeleton.index("pelvis")
    angle = turn_rad_s * np.arange(len(clip)) / clip.fps
    turn = from_rotation_vector(angle[:, None] * [0.0, 0.0, 1.0])
    place = pos[:, root] * [1.0, 1.0, 0.0]
    steps = rotate(turn[:-1], np.diff(place, axis=0))
    way = np.concatenate([place[:1], place[:1] + np.cumsum(steps, axis=0)])
    moved = rotate(turn[:, None], pos - place[:, None]) + way[:, None]
    return Clip.from_world(clip.skeleton, clip.fps, moved, multiply(turn[:, None], quat), name)


def tagged(clip, *names):
    """The clip with tags over all of its frames."""
    tags = tuple(Tag(name, 0, len(clip)) for name in names)
    return Clip(clip.skeleton, clip.fps, clip.local_pos, clip.local_quat_wxyz, clip.name, tags)


def stand(clip):
    """The pose in which the clip begins, for two seconds."""
    still = (np.repeat(array[:1], 120, axis=0) for array in (clip.local_pos, clip.local_quat_wxyz))
    return Clip(clip.skeleton, clip.fps, *still, "stand")


def walks_clips():
    """Straight, six arcs, one that sets off, three that are faster, and standing."""
    walk = plain_walk(SECONDS, 60.0)
    faster = [(rate, warp_clip(walk, np.arange(0.0, SECONDS, rate / 60.0))) for rate in (1.15, 1.3, 1.5)]
    arcs = [tagged(bend(walk, rate, f"arc {rate:+g}"), "walk", "turn") for rate in (-2.0, -1.0, -0.4, 0.4, 1.0, 2.0)]
    straight = Clip(walk.skeleton, 60.0, walk.local_pos, walk.local_quat_wxyz, "straight")
    quick = [Clip(walk.skeleton, 60.0, one.local_pos, one.local_quat_wxyz, f"fast {rate:g}") for rate, one in faster]
    slowly = warp_clip(walk, np.cumsum(np.clip(np.arange(200) / 60.0, 0.0, 1.0)) / 60.0)
    off = Clip(walk.skeleton, 60.0, slowly.local_pos, slowly.local_quat_wxyz, "set off")
    return [
        tagged(straight, "walk"),
        *arcs,
        tagged(off, "start"),
        *(tagged(one, "fast") for one in quick),
        tagged(stand(walk), "idle"),
    ]


def make_walks():
    """(library, body)."""
    clips = walks_clips()
    return make_library(clips), build_body(clips[0].skeleton, clip=clips[0])[0]


def make_stored_walks(names=("straight", "arc -1", "arc +1", "set off", "stand")):
    """Some of the clips as a file has them, with the body that a policy is trained for; without mirror images."""
    clips = {clip.name: clip for clip in walks_clips()}
    body = make_walks()[1]
    made = []
    for clip in (clips[name] for name in names):
        parts = clip.local_pos, clip.local_quat_wxyz, find_foot_contacts(body, clip), np.arange(len(clip)) / 60.0
        made.append(PreparedClip(clip.name, *parts, clip.tags, ClipOrigin(clip.name, clip.name)))
    return StoredLibrary(body, tuple(made), mirror=False)
