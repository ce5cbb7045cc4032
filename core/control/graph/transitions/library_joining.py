# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips of a library that lead nowhere, joined by a motion graph with a loose threshold (Won et al. 2022, section 5.4):
between moments that are near enough a clip more, from the end of one into another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....body import BodyModel
from ....body.foot_contacts import find_foot_contacts
from ....body.pose_space import PoseSpace
from ....body.poses import clip_of_pose, pose_of_clip
from ....errors import BadMotion, BadSettings
from ....geometry.differences import velocity
from ....geometry.quaternions import Array
from ....motion import Clip
from ....motion.library import ClipOrigin
from ...tracking.facing import rotate_pose_about_z, twist_angle
from ...tracking.library_building import LIBRARY_FPS, PreparedClip
from ...tracking.library_files import StoredLibrary
from .blending import MOST_FRAGMENTS, align_pose, blend_transition, count_blend_fragments
from .distances import PointClouds, link_centres, point_cloud_distances, point_weights

JOIN_WITHIN_M = 0.5
"""A loose threshold: control graphs call 0.1 m near, and blends take longest from 0.35 m on."""
_BEFORE, _AFTER = (
    60,
    90,
)  # frames of the clip that is left, and of the other one after the blend, where there are so many
_LEAST = 24  # of either
_EVERY = 6  # frames from one moment that may be left or entered to the next
_FRAGMENT = 6  # frames
_WAYS = 2  # out of each clip, at most, besides those that connect all


@dataclass(frozen=True)
class Join:
    """From a frame of one clip to a frame of another, by number, that are so many metres apart."""

    source: int
    leave: int
    target: int
    enter: int
    distance_m: float


@dataclass(frozen=True, eq=False)
class JoinedLibrary:
    """A library with a clip more for each join. widest_m: the furthest of them."""

    stored: StoredLibrary
    joins: tuple[Join, ...]

    @property
    def widest_m(self) -> float:
        """Metres."""
        return max((join.distance_m for join in self.joins), default=0.0)


def join_library(stored: StoredLibrary, within_m: float = JOIN_WITHIN_M) -> JoinedLibrary:
    """Join clips whose moments are near enough; where that leaves some apart, say how near they would have to be."""
    if not (np.isfinite(within_m) and within_m > 0.0):
        raise BadSettings(f"Moments that are {within_m} m apart cannot be joined", "Give more than 0 m")
    if len(stored.clips) < 2:
        raise BadMotion("One clip alone cannot be joined with anything", "Add clips to the library")
    body, clips = stored.body, [_to_clip(stored.body, clip) for clip in stored.clips]
    poses = [pose_of_clip(body, clip) for clip in clips]
    found = find_joins(body, poses)
    names = [clip.name for clip in stored.clips]
    chosen = choose_joins(found, len(clips), within_m, names)
    made = tuple(_make_join(body, clips, poses, join, names) for join in chosen)
    return JoinedLibrary(replace(stored, clips=(*stored.clips, *made)), tuple(chosen))


def _to_clip(body: BodyModel, clip: PreparedClip) -> Clip:
    return Clip(body.skeleton, LIBRARY_FPS, clip.local_pos.astype(float), clip.local_quat_wxyz.astype(float), clip.name)


def find_joins(body: BodyModel, poses: Sequence[tuple[Array, Array]]) -> list[Join]:
    """The nearest moments from every clip to every other that are long enough, the nearest first.

    poses: (T, nq) and (T, nv) of each.
    """
    weight, leave, enter, clouds = point_weights(body), [], [], []
    for qpos, _ in poses:
        leave.append(np.arange(_LEAST, len(qpos), _EVERY))
        enter.append(np.arange(0, len(qpos) - _LEAST - _FRAGMENT * MOST_FRAGMENTS, _EVERY))
        centres = link_centres(body, qpos)
        clouds.append((centres, velocity(centres, 1.0 / LIBRARY_FPS)))
    found = []
    for source, own in enumerate(clouds):
        for target, other in enumerate(clouds):
            if source == target or not len(leave[source]) or not len(enter[target]):
                continue
            first, second = _cloud(own, leave[source], weight), _cloud(other, enter[target], weight)
            between = point_cloud_distances(first, second)
            row, column = np.unravel_index(int(between.argmin()), between.shape)
            frames = int(leave[source][row]), target, int(enter[target][column])
            found.append(Join(source, *frames, float(between[row, column])))
    return sorted(found, key=lambda one: (one.distance_m, one.source, one.target))


def _cloud(clouds: tuple[Array, Array], frames: NDArray[np.int64], weight: Array) -> PointClouds:
    pos = clouds[0][frames].copy()
    pos[..., :2] -= np.sum(weight[:, None] * pos[..., :2], axis=1, keepdims=True)
    return PointClouds(pos, clouds[1][frames], weight)


def choose_joins(found: Sequence[Join], count: int, within_m: float, names: Sequence[str]) -> list[Join]:
    """Of joins by distance those that connect all of so many clips, and the nearest ways out of each besides."""
    kept: list[Join] = []
    for join in found:
        if join.distance_m > within_m:
            break
        leaving = sum(one.source == join.source for one in kept)
        if leaving < _WAYS or not _leads(kept, count, join.source)[join.target]:
            kept.append(join)
    for number in range(count):
        reached = _leads(kept, count, number)
        if not reached.all():
            lost = int(np.argmin(reached))
            inside = {one for one in range(count) if reached[one]}
            needed = min(
                (one.distance_m for one in found if one.source in inside and one.target not in inside), default=np.inf
            )
            hint = (
                f"Join within {needed:.2f} m"
                if np.isfinite(needed)
                else "Leave out clips of less than a second and a half"
            )
            raise BadMotion(f"No way leads from '{names[number]}' to '{names[lost]}' within {within_m:g} m", hint)
    return kept


def _leads(joins: Sequence[Join], count: int, start: int) -> np.ndarray:
    """(count,) which clips can be come to."""
    reached, left = np.zeros(count, dtype=bool), [start]
    while left:
        clip = left.pop()
        if not reached[clip]:
            reached[clip] = True
            left += [join.target for join in joins if join.source == clip]
    return reached


def _make_join(
    body: BodyModel, clips: Sequence[Clip], poses: Sequence[tuple[Array, Array]], join: Join, names: Sequence[str]
) -> PreparedClip:
    """A second of the one clip, the blend, and a second and a half of the other, where that is; less of short ones."""
    (qpos, rates), (onto_qpos, onto_rates) = poses[join.source], poses[join.target]
    count = _FRAGMENT * count_blend_fragments(join.distance_m) + 1
    blended = slice(join.enter, join.enter + count)
    blend = blend_transition(
        PoseSpace(body), body, onto_qpos[blended], onto_rates[blended], qpos[join.leave], rates[join.leave]
    )
    aligned, _ = align_pose(
        body,
        qpos[join.leave],
        rates[join.leave],
        onto_qpos[join.enter],
        onto_rates[join.enter],
        (count - 1) / LIBRARY_FPS,
    )
    before = slice(max(0, join.leave - _BEFORE), join.leave)
    level = qpos[join.leave, :3] * (1.0, 1.0, 0.0)
    moved = qpos[before].copy()
    moved[:, :3] -= level
    turn = twist_angle(aligned[3:7], qpos[join.leave, 3:7])
    moved, _ = rotate_pose_about_z(np.full(len(moved), float(turn)), moved, rates[before])
    moved[:, :3] += aligned[:3] * (1.0, 1.0, 0.0)
    after = slice(blended.stop, min(blended.stop + _AFTER, len(onto_qpos)))
    joined = np.concatenate([moved, blend, onto_qpos[after]])
    parts = [(clips[join.source], before), (clips[join.target], slice(join.enter, after.stop))]
    local_pos, local_quat = (
        np.concatenate([getattr(clip, name)[frames] for clip, frames in parts])
        for name in ("local_pos", "local_quat_wxyz")
    )
    name = f"{names[join.source]}_to_{names[join.target]}"
    clip = clip_of_pose(body, Clip(body.skeleton, LIBRARY_FPS, local_pos, local_quat, name), joined, LIBRARY_FPS)
    origin = ClipOrigin(note := f"joined over {join.distance_m:.2f} m", "", (note,))
    return PreparedClip(
        name,
        clip.local_pos.astype(np.float32),
        clip.local_quat_wxyz.astype(np.float32),
        find_foot_contacts(body, clip),
        np.arange(len(clip)) / LIBRARY_FPS,
        (),
        origin,
        (),
    )
