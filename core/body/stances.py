# SPDX-License-Identifier: GPL-3.0-or-later
"""Stance detection: which points of a sole are in contact from frame to frame, how they slide, and for how long."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..geometry.flags import find_runs
from ..geometry.quaternions import Array, conjugate, rotate
from ..motion import Clip
from .leg_ik import Leg
from .model import BodyModel, Link, Shape
from .terrain_adaptation import GroundSurface

# A foot begins to stand where it is as low and as slow as the first, and stands while it is as low and slow as the
# second. What is faster swings, or slides and is meant to.
_ENTER_M, _ENTER_M_S = 0.035, 0.35
_STAY_M, _STAY_M_S = 0.05, 0.9
# A longer slide in stance is meant. In a long stance more is allowed, for captures drift.
_SLIDE_M, _DRIFT_M_S, _MOST_SLIDE_M = 0.08, 0.06, 0.15
# A stance with a long slide in it is one before it and one after it, as far as the foot is slower there than this.
_SPLIT = 0.4  # of the speeds above
_STEADY_S = 0.025  # half of the window over which a speed is smoothed
_LIFT_M = 0.02  # above where it stands, a foot is lifting off
_BRIDGE_S = 0.08
_LEAST_S = 0.08
# Directions that the least motion of a sole's points is looked for in: it is right to a thousandth.
_AROUND = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
_DIRECTIONS: Array = np.stack([np.cos(_AROUND), np.sin(_AROUND)])
_AT_ONCE = 1024  # steps
LEVEL_M = 0.001
"""Points no higher than this above the ground or the lowest of them are on it too: all corners of a flat sole."""
# Points share a contact by how much higher than the lowest they are; a sole is soft by as much.
_CONTACT_M = 0.003
# Of what can be under a point, the highest that is no more than this above it.
_INSIDE_M = 0.1

# A link touches where it is pushed with more than this share of the character's weight (on Earth).
_TOUCH = 0.02
_EARTH_M_S2 = 9.81
# What carries pushes up rather than sideways: no more than 60 degrees from upright. A kicked ball does not.
_UPRIGHT = 0.5

_CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])

Flags = NDArray[np.bool_]


def track_lowest_points(body: BodyModel, clip: Clip, links: Sequence[int]) -> tuple[Array, Array]:
    """(T - 1, P, 3) metres: where the lowest points of links are in each frame, and where those are in the next."""
    pos, quat = clip.world()
    before, after = [], []
    for link in (body.links[index] for index in links):
        bone = clip.skeleton.index(link.bone)
        at = lowest_points(link, quat[:, bone])
        at = 0.5 * (at[:-1] + at[1:])
        before.append(pos[:-1, None, bone] + rotate(quat[:-1, None, bone], at))
        after.append(pos[1:, None, bone] + rotate(quat[1:, None, bone], at))
    return np.concatenate(before, axis=1), np.concatenate(after, axis=1)


@dataclass(frozen=True, eq=False)
class Sole:
    """The low points of a foot in a clip of T frames, step by step: T - 1 steps from a frame to the next, P points.

    before, after: (T - 1, P, 3) metres, where a point that is fixed in the foot is at both ends of a step.
    under: (T - 1, P) metres, the ground below it; -inf where there is none.
    share: (T - 1, P) how much of the contact each point is; the sum is 1.
    """

    before: Array
    after: Array
    under: Array
    share: Array

    @classmethod
    def of(cls, body: BodyModel, clip: Clip, leg: Leg, ground: GroundSurface | None) -> "Sole":
        """The sole of a leg's foot and toes."""
        first, second = track_lowest_points(body, clip, leg.links)
        under = ground_height_under(0.5 * (first + second), ground)
        return cls(first, second, under, _shares(np.maximum(first[..., 2], second[..., 2]) - under))

    @cached_property
    def height(self) -> Array:
        """(T - 1,) metres that the lowest point is above the ground."""
        return np.asarray((np.maximum(self.before[..., 2], self.after[..., 2]) - self.under).min(axis=1))

    def depths(self) -> Array:
        """(T,) metres that the deepest point of each frame is above the ground; negative inside."""
        first, last = self.before[..., 2] - self.under, self.after[-1:, :, 2] - self.under[-1:]
        return np.concatenate([first, last]).min(axis=1)

    @cached_property
    def low(self) -> Array:
        """(T - 1,) metres that the contact is above the ground at the beginning of each step."""
        height = np.where(np.isfinite(self.under), self.before[..., 2] - self.under, 0.0)
        return np.asarray(np.sum(self.share * height, axis=1))

    @cached_property
    def slide(self) -> Array:
        """(T - 1, 3) metres that the points in contact move in a step; for a foot that rolls it is nothing."""
        return np.asarray(np.sum(self.share[..., None] * (self.after - self.before), axis=1))

    @cached_property
    def least_slide(self) -> Array:
        """(T - 1, 2) metres that the slowest point on the ground slides in a step: nothing where a foot pivots."""
        with np.errstate(invalid="ignore"):
            higher = np.maximum(self.before[..., 2], self.after[..., 2]) - self.under
            lowest = np.maximum(higher.min(axis=1, keepdims=True), 0.0)
            on_ground = ~(higher - lowest > LEVEL_M)
        return find_least_motion((self.after - self.before)[..., :2], on_ground)

    @cached_property
    def level(self) -> Flags:
        """(T - 1,) where the ground is flat under the whole sole."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.ptp(self.under, axis=1) < 1e-3)

    def yaw_steps(self) -> Array:
        """(T - 1,) radians that the points in contact turn about the vertical in a step; a single point does not."""
        moved = (self.after - self.before - self.slide[:, None])[..., :2]
        middle = 0.5 * (self.before + self.after)[..., :2]
        away = middle - np.sum(self.share[..., None] * middle, axis=1, keepdims=True)
        cross = away[..., 0] * moved[..., 1] - away[..., 1] * moved[..., 0]
        spread = np.sum(self.share * np.sum(away**2, axis=-1), axis=1)
        return np.asarray(np.sum(self.share * cross, axis=1) / (spread + 1e-4))

    def contact(self) -> Array:
        """(T, 3) metres: the middle of the points in contact at each frame."""
        return np.concatenate(
            [
                np.sum(self.share[..., None] * self.before, axis=1),
                np.sum(self.share[-1:, :, None] * self.after[-1:], axis=1),
            ]
        )

    def speed(self, fps: float) -> Array:
        """(T - 1,) m/s over the ground of the points in contact, each for itself."""
        moved = np.linalg.norm((self.after - self.before)[..., :2], axis=-1)
        return np.asarray(np.sum(self.share * moved, axis=1) * fps)


def find_least_motion(moved: Array, counts: Flags) -> Array:
    """(K, 2) the shortest mean of vectors (K, P, 2), of those that count (K, P).

    Its length is how far their convex hull is from zero: the furthest that all of them go in any one direction.
    """
    found = np.zeros((len(moved), 2))
    for first in range(0, len(moved), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        along = np.where(counts[some, :, None], moved[some] @ _DIRECTIONS, np.inf).min(axis=1)
        best = along.argmax(axis=-1)
        length = np.maximum(np.take_along_axis(along, best[:, None], axis=-1), 0.0)
        found[some] = length * _DIRECTIONS.T[best]
    return found


def find_stances(sole: Sole, fps: float, slack: float = 1.0) -> tuple[list[tuple[int, int]], int]:
    """Ranges of frames, first and last, in which the foot stands, and how many slides were found that are too long.

    slack: how many times as fast and as far as usual it may slide.
    """
    if len(sole.before) < 3:
        return [], 0
    found: list[tuple[int, int]] = []
    slides = 0
    for span in _slow(sole, fps, slack):
        if _is_short(sole, span, fps, slack):
            found.append(span)
            continue
        slides += 1
        first, last = span
        slower = [(max(a, first), min(b, last)) for a, b in _slow(sole, fps, _SPLIT * slack) if a < last and b > first]
        found += [part for part in slower if part[1] - part[0] >= _LEAST_S * fps and _is_short(sole, part, fps, slack)]
    return found, slides


def _slow(sole: Sole, fps: float, share: float) -> list[tuple[int, int]]:
    """Ranges of frames in which the foot is low, and slower than a share of the limits."""
    speed, height = np.linalg.norm(smooth_hann(sole.slide, fps)[:, :2], axis=-1) * fps, sole.height
    enters = (height < _ENTER_M) & (speed < share * _ENTER_M_S)
    stays = (height < _STAY_M) & (speed < share * _STAY_M_S)
    found: list[tuple[int, int]] = []
    for start, stop in find_runs(stays):
        if not enters[start:stop].any():
            continue
        if found and start - found[-1][1] <= _BRIDGE_S * fps and np.all(height[found[-1][1] : start] < _STAY_M):
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    found = [_on_ground(height, span) for span in found]
    return [(start, stop) for start, stop in found if stop - start >= max(_LEAST_S * fps, 2)]


def _on_ground(height: Array, span: tuple[int, int]) -> tuple[int, int]:
    """A range of frames without those at its ends in which the foot is still coming down or already lifting off."""
    usual = float(np.median(height[span[0] : span[1]]))
    down = np.flatnonzero(height[span[0] : span[1]] < usual + _LIFT_M)
    return span[0] + int(down[0]), span[0] + int(down[-1]) + 1


def _is_short(sole: Sole, span: tuple[int, int], fps: float, slack: float) -> bool:
    """Whether the foot slides so little over a range of frames that it is not meant to."""
    way = np.cumsum(sole.slide[span[0] : span[1], :2], axis=0)
    most = slack * min(_SLIDE_M + _DRIFT_M_S * (span[1] - span[0]) / fps, _MOST_SLIDE_M)
    return bool(np.linalg.norm(np.ptp(way, axis=0)) < most)


def smooth_hann(values: Array, fps: float, reach_s: float = _STEADY_S) -> Array:
    """(N, ...) values smoothed by a Hann window of twice the reach; ends are held."""
    reach = min(round(reach_s * fps), len(values) - 1)
    if reach < 1:
        return values
    window = np.hanning(2 * reach + 3)[1:-1]
    padded = np.pad(values, [(reach, reach), *[(0, 0)] * (values.ndim - 1)], mode="edge")
    pieces = [weight * padded[k : k + len(values)] for k, weight in enumerate(window / window.sum())]
    return np.asarray(np.sum(pieces, axis=0))


def detect_contacts(body: BodyModel, contact_force: Array) -> Flags:
    """(K, L) whether links are in contact, from contact forces (K, L, 3) in newtons."""
    return np.asarray(np.linalg.norm(contact_force, axis=-1) > _TOUCH * body.mass * _EARTH_M_S2)


def detect_support(body: BodyModel, contact_force: Array) -> Flags:
    """(K, L) whether links are supported from below, from contact forces (K, L, 3) in newtons."""
    upright = contact_force[..., 2] > _UPRIGHT * np.linalg.norm(contact_force, axis=-1)
    return detect_contacts(body, contact_force) & upright


def _shares(height: Array) -> Array:
    deep = np.maximum(height, 0.0)  # all points in the ground are in contact
    lowest = deep.min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        weight = np.where(np.isfinite(deep), np.exp(-(deep - lowest) / _CONTACT_M), 0.0)
    total = weight.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, weight / np.maximum(total, 1e-12), 1.0 / height.shape[1])


def ground_height_under(points: Array, ground: GroundSurface | None) -> Array:
    """(N, P) metres: what is under points (N, P, 3); None is a flat floor at 0."""
    if ground is None:
        return np.zeros(points.shape[:2])
    base, tops = (found.reshape(*points.shape[:2], -1) for found in ground.layers(points[..., :2].reshape(-1, 2)))
    if not tops.size:
        return np.asarray(base[..., 0])
    reached = np.where(tops <= points[..., 2:] + _INSIDE_M, tops, -np.inf).max(axis=-1)
    return np.asarray(np.maximum(base[..., 0], reached))


def lowest_points(link: Link, quat_wxyz: Array) -> Array:
    """(T, P, 3) metres in the link's frame, turned as (T, 4): all corners of boxes, and what is lowest of round ends.

    A link without a shape is its own origin.
    """
    down = rotate(conjugate(quat_wxyz), np.broadcast_to([0.0, 0.0, -1.0], (len(quat_wxyz), 3)))
    if not link.shapes:
        return np.zeros((len(quat_wxyz), 1, 3))
    return np.concatenate([_points_of(shape, down) for shape in link.shapes], axis=1)


def _points_of(shape: Shape, down: Array) -> Array:
    """(T, P, 3) as above of one shape; down: (T, 3) the way down in the link's frame."""
    if shape.kind == "box":
        corners = shape.pos + rotate(shape.quat_wxyz, _CORNERS * shape.size)
        return np.broadcast_to(corners, (len(down), 8, 3))
    half = shape.size[1] if shape.kind == "capsule" else 0.0
    ends = shape.pos + rotate(shape.quat_wxyz, np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]))
    return np.asarray(ends + shape.size[0] * down[:, None])
