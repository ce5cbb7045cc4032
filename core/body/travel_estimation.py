# SPDX-License-Identifier: GPL-3.0-or-later
"""Travel of a cycle on the spot: the motion over the ground that its stance feet ask for.

Game cycles walk as on a treadmill: the root stays, and every foot slides back while it carries. The travel is the rigid
motion in the plane that holds those feet still. It is one Fourier series over the cycle, fitted to the slides of all
feet that are down, so it is smooth, it goes on from cycle to cycle, and in flight it keeps the pace of the stances.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..geometry.quaternions import Array
from ..motion import Clip
from ..motion.time_warp import warp_clip
from ..motion.travel import Travel, turn_in_plane
from .model import BodyModel
from .stances import track_lowest_points

_SAMPLES = 120  # of a cycle, at least: at 24 frames a second a stance of a run has two or three
_CONTACT = 0.003  # of the height: points of a sole share a contact by how much higher than the lowest they are
# A foot carries where it is no higher above its own lowest place than this share of what it rises, or of the height.
_CARRIES, _CARRIES_OF_HEIGHT = 0.12, 0.008
_LIFTS = 0.25  # of the fastest that it rises or falls: a foot that does so as fast is on its way up or down
_LOW_PERCENT = 15.0  # of the time a foot is as low as where it stands, or lower: made by hand, toes dip into the ground
_STILL = 0.02  # of the height: a foot that rises and moves less stands all the time
_HARMONICS = 3
_STIFF = 0.3  # how much the pace is kept from changing within a cycle, by the square of a harmonic's number
_ODD = 1.5  # of the pace: a slide that differs by as much from that of the others counts half
_ROUNDS = 12
_LEAST_TURN = np.radians(8.0)  # in a cycle; less is how feet roll
_TURN_GAIN = 0.75  # of what the feet slide without a turn: with it they must slide less than this
_GRID = 512


@dataclass(frozen=True, eq=False)
class Slides:
    """How feet slide in N steps of equal times over a cycle, F feet.

    place: (N, F, 2) metres, the middle of what is lowest of each foot. velocity: (N, F, 2) m/s of it, as points that
    are fixed in the foot move. carries: (N, F) 0 to 1, how sure it is that the foot carries.
    """

    place: Array
    velocity: Array
    carries: Array

    @property
    def phase(self) -> Array:
        """(N,) from 0 to 1: when in the cycle the steps are."""
        return (np.arange(len(self.place)) + 0.5) / len(self.place)


def measure_slides(body: BodyModel, cycle: Clip) -> Slides | None:
    """The slides of all feet of a cycle, whose last frame is its first again; None where there are no feet."""
    feet = find_sliding_feet(body, cycle)
    if not feet:
        return None
    count = max(_SAMPLES, len(cycle) - 1)
    fine = warp_clip(cycle, np.linspace(0.0, cycle.duration_s, count + 1))
    height = standing_height(body, cycle)
    found = [_slide(body, fine, links, count / cycle.duration_s, height) for links in feet]
    place, velocity, carries = (np.stack(parts, axis=1) for parts in zip(*found, strict=True))
    return Slides(place, velocity, carries)


def find_sliding_feet(body: BodyModel, clip: Clip) -> list[list[int]]:
    """The links of each foot: of both legs, and of the forelegs of whoever's trunk lies over them."""
    roles = [("foot", "toe"), ("hand",)] if _stands_on_four(body, clip) else [("foot", "toe")]
    groups = []
    for wanted in roles:
        for side in ("L", "R"):
            links = [i for i, link in enumerate(body.links) if link.role in wanted and link.side == side]
            if not links:
                above = {"foot": "shin", "hand": "forearm"}[wanted[0]]
                links = [i for i, link in enumerate(body.links) if link.role == above and link.side == side]
            if links:
                groups.append(links)
    return groups


def standing_height(body: BodyModel, clip: Clip) -> float:
    """Metres from the lowest to the highest of the links' bones, as they usually are."""
    pos, _ = clip.world()
    usual = np.median(pos[:, [clip.skeleton.index(link.bone) for link in body.links], 2], axis=0)
    return max(float(np.ptp(usual)), 1e-6)


def estimate_travel(slides: Slides, period_s: float) -> Travel:
    """The travel that holds the feet of a cycle still where they carry."""
    straight, left = _fit(slides, turns=False)
    coefficients, yaw_rate = straight, 0.0
    turning, left_turning = _fit(slides, turns=True)
    if abs(turning[-1, 0]) * period_s > _LEAST_TURN and left_turning < _TURN_GAIN * left:
        coefficients, yaw_rate = turning[:-1], float(turning[-1, 0])
    return _integrate(coefficients, yaw_rate, period_s)


def _integrate(coefficients: Array, yaw_rate: float, period_s: float) -> Travel:
    phase = np.linspace(0.0, 1.0, _GRID + 1)
    pace = _basis(phase) @ coefficients
    velocity = turn_in_plane(pace, yaw_rate * period_s * phase)
    steps = 0.5 * (velocity[1:] + velocity[:-1]) * period_s / _GRID
    return Travel(period_s, yaw_rate, np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)]), pace)


def _fit(slides: Slides, turns: bool) -> tuple[Array, float]:
    """Coefficients (2 H + 1, 2) of the velocity in the cycle's own frame, and what feet still slide, in m/s.

    With turns there is one row more, whose first number is the turn in rad/s.
    """
    feet = slides.place.shape[1]
    basis = np.repeat(_basis(slides.phase), feet, axis=0)
    numbers = np.concatenate([[0.0], np.repeat(np.arange(1.0, _HARMONICS + 1), 2)])
    wanted, place = -slides.velocity.reshape(-1, 2), slides.place.reshape(-1, 2)
    size = basis.shape[1]
    design = np.zeros((2, len(basis), 2 * size + turns))
    design[0, :, :size], design[1, :, size : 2 * size] = basis, basis
    if turns:
        design[0, :, -1], design[1, :, -1] = -place[:, 1], place[:, 0]
    stiff = np.concatenate([numbers, numbers, np.zeros(int(turns))]) ** 2 * _STIFF
    carries, trust = slides.carries.reshape(-1), np.ones(len(basis))
    solution, apart = np.zeros(design.shape[2]), np.zeros(len(basis))
    for _ in range(_ROUNDS):
        weight = carries * trust
        weight = weight / max(float(weight.sum()), 1e-12)
        normal = sum(part.T @ (weight[:, None] * part) for part in design) + np.diag(stiff + 1e-9)
        right = sum(part.T @ (weight * wanted[:, axis]) for axis, part in enumerate(design))
        solution = np.linalg.solve(normal, right)
        apart = np.hypot(*(wanted[:, axis] - part @ solution for axis, part in enumerate(design)))
        pace = max(float(np.hypot(solution[0], solution[size])), 1e-6)
        trust = 1.0 / (1.0 + (apart / (_ODD * pace)) ** 2)
    rows = solution[: 2 * size].reshape(2, size).T
    left = float(np.sum(carries * np.minimum(apart, pace)) / max(float(carries.sum()), 1e-12))
    return (np.concatenate([rows, [[solution[-1], 0.0]]]) if turns else rows), left


def _basis(phase: Array) -> Array:
    """(N, 2 H + 1) one, and cosines and sines of the first harmonics, at phases (N,) from 0 to 1."""
    waves = [np.ones_like(phase)]
    for number in range(1, _HARMONICS + 1):
        waves += [np.cos(2.0 * np.pi * number * phase), np.sin(2.0 * np.pi * number * phase)]
    return np.stack(waves, axis=-1)


def _slide(body: BodyModel, clip: Clip, links: Sequence[int], fps: float, height: float) -> tuple[Array, Array, Array]:
    """Place (N, 2), velocity (N, 2) and how sure it is that it carries (N,) of one foot in the steps between frames."""
    first, second = track_lowest_points(body, clip, links)
    low = 0.5 * (first + second)[..., 2]
    share = np.exp(-(low - low.min(axis=1, keepdims=True)) / (_CONTACT * height))
    share /= share.sum(axis=1, keepdims=True)
    place = np.sum(share[..., None] * 0.5 * (first + second)[..., :2], axis=1)
    velocity = np.sum(share[..., None] * (second - first)[..., :2], axis=1) * fps
    lowest = low.min(axis=1)
    rise = float(np.ptp(lowest))
    if rise < _STILL * height and np.ptp(place, axis=0).max() < _STILL * height:
        return place, velocity, np.ones(len(place))
    reach = max(_CARRIES * rise, _CARRIES_OF_HEIGHT * height)
    above = np.maximum(lowest - np.percentile(lowest, _LOW_PERCENT), 0.0)
    rising = np.gradient(lowest) * fps
    lifts = rising / (_LIFTS * max(float(np.abs(rising).max()), 1e-9))
    return place, velocity, np.exp(-((above / reach) ** 2) - lifts**2)


def _stands_on_four(body: BodyModel, clip: Clip) -> bool:
    """Whether the trunk lies rather than stands, from the pelvis to where the arms begin."""
    arms = [clip.skeleton.index(link.bone) for link in body.links if link.role == "upper_arm"]
    if not arms:
        return False
    pos, _ = clip.world()
    trunk = np.median(pos[:, arms].mean(axis=1) - pos[:, clip.skeleton.index(body.links[0].bone)], axis=0)
    return bool(np.hypot(trunk[0], trunk[1]) > abs(trunk[2]))
