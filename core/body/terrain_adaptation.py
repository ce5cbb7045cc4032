# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips put on ground that is not flat: the body goes up and down with it, and feet come down on it.

A clip that was captured on a flat floor is carried over slopes, steps and bumps: where a foot stands, it stands on what
is under it; while it swings, it goes from one such height to the next, over what is between; the trunk follows the
mean of both feet, smoothed over a stride; knees and hips make up for the difference. A clip that was captured on this
very ground, such as a walk up real stairs that were built in the scene too, is left as it is.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, multiply, rotate
from ..motion import Clip
from .arms import raise_arms
from .clearance import SOFT_M, GroundingReport, keep_long_runs, put_on_floor, upper_envelope
from .four_legs import flag_soles
from .leg_ik import Leg, find_legs, move_foot, reach_shortfall
from .model import BodyModel, Shape

_STRIDE_S = 1.0
_STEP = 0.5  # of a leg's length: what is higher than this above the path is walked against, not stepped on
_TOUCHES_M, _STILL_M_S, _STANDS_S = 0.04, 0.6, 0.05
# A foot that is level on a slope is in the ground by this much at one end; physics turns it at the ankle.
_DEEP_M = 0.03
_DROP = 0.15  # of a leg's length: how far the hips go down at most for both feet to reach
_DROP_S = 0.5
_FITS = 0.5  # how much less feet must vary above the stage than above a floor, for the clip to be made for it

_NEAR_M = 0.1
_UP: Array = np.array([0.0, 0.0, 1.0])

Flags = NDArray[np.bool_]


class GroundSurface(Protocol):
    """What can be stood on; ``core.sim.surface`` makes it of a stage."""

    def layers(self, xy: Array) -> tuple[Array, Array]:
        """At places (N, 2): the ground (N,), -inf where there is none, and the tops (N, K) of what stands on it."""


def adapt_to_ground(body: BodyModel, clip: Clip, ground: GroundSurface | None) -> tuple[Clip, GroundingReport]:
    """The clip standing on the ground, no longer cutting into it, and what was done; None is a flat floor at 0."""
    flat, report = put_on_floor(body, raise_arms(body, clip))
    if ground is None:
        return flat, report
    places = _Places.of(body, flat)
    tracked = _Tracked.along(body, flat, places, ground, -report.shift)
    if tracked is None:
        return flat, report
    if np.ptp(tracked.under[tracked.seen]) == 0.0:  # flat, though not at zero
        height = float(tracked.under[tracked.seen][0])
        return _raised(flat, np.full(len(flat), height)), report if height == 0.0 else replace(report, rise=height)
    moved = _as_captured(body, clip, tracked)
    if moved is None:
        moved = _carried(body, flat, places, tracked)
    moved, lift = _lifted(body, moved, tracked)
    rise = float(np.ptp(moved.local_pos[:, 0, 2] - flat.local_pos[:, 0, 2]))
    return moved, replace(report, lift=max(report.lift, lift), rise=rise)


@dataclass(frozen=True, eq=False)
class _Places:
    """The lowest points of a clip's shapes; P points of all links.

    pos: (T, P, 3) metres, link: (P,) whose they are.
    """

    pos: Array
    link: NDArray[np.int64]

    @classmethod
    def of(cls, body: BodyModel, clip: Clip) -> "_Places":
        pos, quat = clip.world()
        points, link = [], []
        for index, part in enumerate(body.links):
            bone = clip.skeleton.index(part.bone)
            for shape in part.shapes:
                found = _points(shape, pos[:, bone], quat[:, bone])
                points.append(found)
                link += [index] * found.shape[1]
        return cls(np.concatenate(points, axis=1), np.array(link, dtype=np.int64))


def _points(shape: Shape, pos: Array, quat: Array) -> Array:
    """(T, P, 3) a box's corners, the bottoms of a capsule's ends or of a sphere."""
    if shape.kind == "box":
        own = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * shape.size
    else:
        ends = (-1.0, 1.0) if shape.kind == "capsule" else (0.0,)
        own = np.array([[0.0, 0.0, end * shape.size[1]] for end in ends])
    turned = rotate(multiply(quat, shape.quat_wxyz)[:, None], np.broadcast_to(own, (len(pos), *own.shape)))
    points = (pos + rotate(quat, np.broadcast_to(shape.pos, pos.shape)))[:, None] + turned
    if shape.kind != "box":
        points[..., 2] -= shape.size[0]
    return np.asarray(points)


@dataclass(frozen=True, eq=False)
class _Tracked:
    """What is under a clip that goes its way over the ground.

    under: (T, P) metres, the surface under each point, -inf where there is none. seen: (T, P) where it is.
    legs: those that stand, each with the frames in which it does and the height (T,) that its foot goes by.
    """

    under: Array
    seen: Flags
    legs: tuple[tuple[Leg, Flags], ...]

    @classmethod
    def along(
        cls, body: BodyModel, clip: Clip, places: _Places, ground: GroundSurface, floor: float
    ) -> "_Tracked | None":
        """Follow the clip from its first frame; None if there is nothing to stand on anywhere.

        floor: metres, where the floor was in the clip as it came, which tells an upper storey from a lower one.
        """
        count, points = places.pos.shape[:2]
        base, tops = (found.reshape(count, points, -1) for found in ground.layers(places.pos[..., :2].reshape(-1, 2)))
        legs = find_legs(body, clip.skeleton)
        standing = [(leg, _standing(places, leg, clip.fps)) for leg in legs]
        standing = [(leg, stands) for leg, stands in standing if stands.any()]
        under = _under(body, clip, places, base[..., 0], tops, floor) if tops.size else base[..., 0]
        seen = np.isfinite(under)
        if not seen.any():
            return None
        return cls(under, seen, tuple(standing))


def _under(body: BodyModel, clip: Clip, places: _Places, base: Array, tops: Array, floor: float) -> Array:
    """(T, P) the highest surface under each point that can be stepped on from where the clip has come."""
    step, soles = _STEP * _leg_length(body, clip), _soles(body, places)
    under = np.empty_like(base)
    level = max(floor, float(np.median(base[0, soles]))) if np.isfinite(base[0]).any() else floor
    height = np.maximum(places.pos[..., 2], 0.0)
    for frame in range(len(base)):
        reach = level + step + height[frame, soles].min()  # a jump reaches higher
        steps = np.where(tops[frame] <= reach, tops[frame], -np.inf).max(axis=-1)
        under[frame] = np.maximum(base[frame], steps)
        below = under[frame, soles]
        near = np.exp(-height[frame, soles] / _TOUCHES_M) * np.isfinite(below)
        if near.sum() > 1e-3:  # in flight the level stays
            level = float(np.sum(near * np.where(np.isfinite(below), below, 0.0)) / near.sum())
    return under


def _soles(body: BodyModel, places: _Places) -> Flags:
    """(P,) which points are the feet's; all of them for a body without feet."""
    soles = flag_soles(body)[places.link]
    return soles if soles.any() else np.ones_like(soles)


def _leg_length(body: BodyModel, clip: Clip) -> float:
    heads, _ = clip.skeleton.rest_world()
    lengths = [
        float(np.linalg.norm(heads[leg.knee] - heads[leg.hip]) + np.linalg.norm(heads[leg.foot] - heads[leg.knee]))
        for leg in find_legs(body, clip.skeleton)
    ]
    return max(lengths) if lengths else 0.5 * float(np.ptp(heads, axis=0).max())


def _standing(places: _Places, leg: Leg, fps: float) -> Flags:
    """(T,) when the foot is down and its lowest point does not move over the floor."""
    own = places.pos[:, np.isin(places.link, leg.links)]
    lowest = np.argmin(own[..., 2], axis=1)
    frames = np.arange(len(own))
    if len(own) < 3:
        return np.zeros(len(own), dtype=bool)
    speed = np.linalg.norm(np.gradient(own[..., :2], 1.0 / fps, axis=0), axis=-1)[frames, lowest]
    down = (own[frames, lowest, 2] < _TOUCHES_M) & (speed < _STILL_M_S)
    return keep_long_runs(down, max(round(_STANDS_S * fps), 2))


def _as_captured(body: BodyModel, clip: Clip, tracked: _Tracked) -> Clip | None:
    """The clip as it came, but for a shift, if its feet stand on the stage's ground rather than on a flat floor."""
    raw = _Places.of(body, clip)
    lowest = np.argmin(raw.pos[..., 2], axis=1)
    frames = np.arange(len(lowest))
    height, below = raw.pos[frames, lowest, 2], tracked.under[frames, lowest]
    same = np.concatenate([[False], raw.link[lowest[1:]] == raw.link[lowest[:-1]]])
    still = np.concatenate([[np.inf], np.linalg.norm(np.diff(raw.pos[frames, lowest], axis=0), axis=-1) * clip.fps])
    stands = keep_long_runs(same & (still < _STILL_M_S), max(round(_STANDS_S * clip.fps), 2)) & np.isfinite(below)
    if stands.sum() < 3:
        return None
    gap = (height - below)[stands]
    off, off_floor = (float(np.median(np.abs(x - np.median(x)))) for x in (gap, height[stands]))
    if off > _FITS * off_floor or off_floor < _DEEP_M:
        return None
    return _raised(clip, np.full(len(clip), -float(np.median(gap))))


def _carried(body: BodyModel, flat: Clip, places: _Places, tracked: _Tracked) -> Clip:
    """The clip from a flat floor taken over the ground, feet first."""
    heights = [_foot_height(places, tracked, leg, stands, flat.fps) for leg, stands in tracked.legs]
    if heights:
        near = [_nearness(places, leg) for leg, _ in tracked.legs]
        path = np.sum(np.multiply(near, heights), axis=0) / np.sum(near, axis=0)
    else:
        path = _body_height(body, places, tracked)
    path = _smoothed(path, flat.fps)
    pos, _ = flat.world()
    goals = [pos[:, leg.foot] + h[:, None] * _UP for (leg, _), h in zip(tracked.legs, heights, strict=True)]
    shifted = pos + path[:, None, None] * _UP
    short = [
        np.where(stands, reach_shortfall(shifted, pos, leg, goal), 0.0)
        for (leg, stands), goal in zip(tracked.legs, goals, strict=True)
    ]
    if short:
        most = _DROP * _leg_length(body, flat)
        path = path - np.minimum(upper_envelope(np.max(short, axis=0), flat.fps, _DROP_S), most)
    moved = _raised(flat, path)
    for (leg, _), goal in zip(tracked.legs, goals, strict=True):
        moved = move_foot(moved, leg, goal)
    return moved


def _nearness(places: _Places, leg: Leg) -> Array:
    """(T,) 1 for a foot on the floor, next to nothing for one high in the air."""
    low = places.pos[:, np.isin(places.link, leg.links), 2].min(axis=1)
    return np.exp(-np.clip(low, 0.0, 2.0) / _NEAR_M)


def _foot_height(places: _Places, tracked: _Tracked, leg: Leg, stands: Flags, fps: float) -> Array:
    """(T,) metres that the foot is raised by: what it stands on, and from one to the next while it swings."""
    own = np.isin(places.link, leg.links)
    under = np.where(tracked.seen[:, own], tracked.under[:, own], np.nan)
    known = np.flatnonzero(stands & np.isfinite(under).any(axis=1))
    if not len(known):
        known = np.flatnonzero(np.isfinite(under).any(axis=1))
    if not len(known):
        return np.zeros(len(under))
    frames = np.arange(len(under))
    # Between two frames in which it stands: the way of a smooth step.
    before = known[np.maximum(np.searchsorted(known, frames, side="right") - 1, 0)]
    after = known[np.minimum(np.searchsorted(known, frames, side="left"), len(known) - 1)]
    share = np.clip((frames - before) / np.maximum(after - before, 1), 0.0, 1.0)
    middle = np.zeros(len(under))
    middle[known] = np.nanmedian(under[known], axis=1)
    height = middle[before] + (middle[after] - middle[before]) * share**2 * (3.0 - 2.0 * share)
    deep = np.nan_to_num(under - _DEEP_M - (places.pos[:, own, 2] + height[:, None]), nan=-np.inf).max(axis=1)
    return height + upper_envelope(np.maximum(deep, 0.0), fps)


def _body_height(body: BodyModel, places: _Places, tracked: _Tracked) -> Array:
    """(T,) metres: what is under a body that has no legs, where it is lowest."""
    soles = _soles(body, places)
    near = np.exp(-np.maximum(places.pos[:, soles, 2], 0.0) / _NEAR_M) * tracked.seen[:, soles] + 1e-9
    known = np.where(tracked.seen[:, soles], tracked.under[:, soles], 0.0)
    found = tracked.seen[:, soles].any(axis=1)
    height = np.sum(near * known, axis=1) / near.sum(axis=1)
    frames = np.arange(len(height))
    return np.interp(frames, frames[found], height[found])


def _smoothed(height: Array, fps: float) -> Array:
    """(T,) without what is shorter than a stride; a steady slope stays as it is, to the ends."""
    reach = min(max(round(0.5 * _STRIDE_S * fps), 1), max(len(height) - 1, 1))
    if len(height) < 3:
        return height
    padded = np.pad(height, reach, mode="reflect", reflect_type="odd")
    window = np.hanning(2 * reach + 3)[1:-1]
    return np.convolve(padded, window / window.sum(), mode="valid")


def _lifted(body: BodyModel, clip: Clip, tracked: _Tracked) -> tuple[Clip, float]:
    """The clip without what is still deep in the ground, and by how many metres it was lifted at most."""
    pos = _Places.of(body, clip).pos
    allowed = np.where(_stands_on(body, clip), _DEEP_M, SOFT_M)
    deep = np.where(tracked.seen, tracked.under, -np.inf) - pos[..., 2] - allowed
    lift = upper_envelope(np.maximum(deep.max(axis=1), 0.0), clip.fps)
    return _raised(clip, lift), float(lift.max())


def _stands_on(body: BodyModel, clip: Clip) -> Flags:
    """(P,) points of links that turn to lie on a slope by themselves."""
    feet = {link for leg in find_legs(body, clip.skeleton) for link in leg.links}
    counts = [sum({"box": 8, "capsule": 2}.get(shape.kind, 1) for shape in link.shapes) for link in body.links]
    return np.repeat([index in feet for index in range(len(body.links))], counts)


def _raised(clip: Clip, height: Array) -> Clip:
    moved = np.array(clip.local_pos)
    for root in np.flatnonzero(clip.skeleton.parents < 0):
        moved[:, root, 2] += height
    return replace(clip, local_pos=moved)
