# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a character is in free flight, and how fast it falls there.

Time is counted in frames throughout, because the frame rate is what is in question: a fall in metres per
frame squared, with gravity known, says how many frames there are in a second.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, rotate
from .clip import Clip
from .skeleton import Skeleton

GRAVITY_M_S2 = 9.81

_RISE_M = 0.03  # the lowest point of the body gets at least this far off the ground
_ARC_M = 0.04  # a flight's arc is at least this high: 0.18 s on Earth
_FEWEST_FRAMES = 8
_MISFIT = 0.012  # of the arc's height: how far from a parabola the centre of mass may be
_NOISE_M = 0.0003
_PUSH = 0.12  # of the fall: sideways acceleration, of which there is none in the air
_SWAY = 0.025  # of the arc's height: how far from a straight line the centre of mass may be sideways
_STILL_M = 0.03  # a point that moves less than this is held by something
_TRIMS = np.arange(0.0, 0.45, 0.05)  # of the time off the ground, at either end
_SLACK, _SLACK_M = 0.05, 0.002  # of a bone's place on its parent: how far a joint may be from it
_LONGEST_TIP, _LONGEST_TIP_TO_PARENT = 0.15, 1.25  # of the body's size and of the bone before, whichever is longer


@dataclass(frozen=True, eq=False)
class BodyPoints:
    """A clip's body as mass and points, without knowing what its bones are for.

    centre: (T, 3) metres, the centre of mass.
    points: (T, P, 3) metres, joints and the tips of the last bones.
    size_m: the longest side of the box around the rest pose: the height of someone who stands or lies.
    """

    centre: Array
    points: Array
    size_m: float


@dataclass(frozen=True)
class Flight:
    """Frames ``start`` up to, not with, ``stop`` in the air.

    fall: metres per frame squared, downwards.
    arc_m: height of the arc that was seen.
    stillest_m: how far the point of the body that moved least went: little, where something unseen held it.
    share: 0 to 1, how much of the time off the ground it is; the rest did not fit a parabola.
    """

    start: int
    stop: int
    fall: float
    arc_m: float
    stillest_m: float
    share: float


def estimate_body_points(clip: Clip) -> BodyPoints:
    """The mass and the points of the clip's largest piece of jointed bones."""
    skeleton = clip.skeleton
    members, tips = _largest_piece(clip, _find_jointed(clip))
    pos, quat = clip.world()
    points = _points(pos, quat, _believable_lengths(skeleton, members), members, tips)
    return BodyPoints(_centre_of_mass(skeleton, points, members, tips), points, _measure_size(clip))


def _measure_size(clip: Clip) -> float:
    """Metres: the longest side of the box around the rest pose; whatever the motion tears apart for a while counts."""
    skeleton = clip.skeleton
    members, tips = _largest_piece(clip, _find_jointed(clip) | _find_once_at_rest(clip))
    lengths = _believable_lengths(skeleton, members)
    return float(np.ptp(_points(*skeleton.rest_world(), lengths, members, tips), axis=0).max())


def _believable_lengths(skeleton: Skeleton, members: list[int]) -> Array:
    """(B,) metres: the bones' lengths, where these members are the body."""
    rest_pos, _ = skeleton.rest_world()
    # The last bone of an imported chain may be of any length, so it counts only as far as that is believable.
    extent = float(np.ptp(rest_pos[members], axis=0).max())
    longest = np.maximum(_LONGEST_TIP * extent, _LONGEST_TIP_TO_PARENT * np.linalg.norm(skeleton.rest_pos, axis=-1))
    return np.asarray(np.minimum(skeleton.lengths, np.minimum(longest, extent)))


def find_flights(body: BodyPoints) -> list[Flight]:
    """The flights that leave no doubt: clear of the ground, held by nothing, and a good parabola."""
    flights: list[Flight] = []
    # The long ones first: what is left of a flight inside another one is not a flight of its own.
    runs = set(_off_the_ground(body.points[..., 2].min(1)))
    for start, stop in sorted(runs, key=lambda run: (run[0] - run[1], run[0])):
        flight = _flight_within(body, start, stop)
        if flight and all(flight.stop <= other.start or other.stop <= flight.start for other in flights):
            flights.append(flight)
    return sorted(flights, key=lambda flight: flight.start)


def fastest_fall(centre: Array, frames: int, times: int = 1) -> float:
    """Metres per frame squared: the fastest fall seen over any ``frames`` frames that are fairly smooth.

    times: how often at least it falls as fast, each time in other frames.
    """
    height = centre[:, 2] - centre[:, 2].mean()
    if len(height) < frames:
        return 0.0
    one, line, bow = _parabolas(frames)
    parts = [np.correlate(height, part / np.linalg.norm(part), "valid") for part in (one, line, bow)]
    left = np.correlate(height**2, np.ones(frames), "valid") - sum(part**2 for part in parts)
    fall = -2.0 * parts[2] / np.linalg.norm(bow)
    smooth = np.sqrt(np.maximum(left, 0.0) / frames) < 0.1 * np.abs(fall) * (frames - 1) ** 2 / 8.0
    fall = np.where(smooth, fall, 0.0)
    for _ in range(times - 1):
        here = int(np.argmax(fall))
        fall[max(here - frames + 1, 0) : here + frames] = 0.0
    return float(np.max(fall, initial=0.0))


def _find_jointed(clip: Clip) -> NDArray[np.bool_]:
    """(B,) bones that stay where they are on their parents."""
    place = np.median(clip.local_pos, axis=0)
    drift = np.percentile(np.linalg.norm(clip.local_pos - place, axis=-1), 95, axis=0)
    return np.asarray(drift < _SLACK * np.linalg.norm(place, axis=-1) + _SLACK_M)


def _find_once_at_rest(clip: Clip) -> NDArray[np.bool_]:
    """(B,) bones that are once where they are at rest on their parents."""
    rest = clip.skeleton.rest_pos
    off = np.linalg.norm(clip.local_pos - rest, axis=-1).min(axis=0)
    return np.asarray(off < _SLACK * np.linalg.norm(rest, axis=-1) + _SLACK_M)


def _largest_piece(clip: Clip, jointed: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """The bones of the largest piece that hangs together by joints (B,), and those at its tips.

    That leaves out control bones, targets, props and a root on the floor, whatever they are called.
    """
    skeleton = clip.skeleton
    reach = np.linalg.norm(np.median(clip.local_pos, axis=0), axis=-1)
    jointed = jointed & (skeleton.parents >= 0)
    piece = np.arange(len(skeleton))
    length = np.zeros(len(skeleton))
    for bone, parent in enumerate(skeleton.parents):
        if jointed[bone]:
            piece[bone] = piece[parent]
            length[piece[bone]] += reach[bone]
    members = [int(bone) for bone in np.flatnonzero(piece == np.argmax(length))]
    with_children = {int(skeleton.parents[bone]) for bone in members[1:]}
    return members, [bone for bone in members if bone not in with_children]


def _points(pos: Array, quat: Array, lengths: Array, members: list[int], tips: list[int]) -> Array:
    """(..., P, 3) heads of the members, then tails of those at the tips."""
    along = np.zeros((len(tips), 3))
    along[:, 1] = lengths[tips]
    return np.concatenate([pos[..., members, :], pos[..., tips, :] + rotate(quat[..., tips, :], along)], axis=-2)


def _centre_of_mass(skeleton: Skeleton, points: Array, members: list[int], tips: list[int]) -> Array:
    """(T, 3) of a body whose parts are as thick as what hangs on them is long, like a tree.

    For people this comes out near what anatomists weigh: legs 16 % each, arms 8 %, the rest in the trunk.
    """
    row = {bone: i for i, bone in enumerate(members)}
    ends = [(row[int(skeleton.parents[bone])], row[bone]) for bone in members[1:]]
    ends += [(row[bone], len(members) + i) for i, bone in enumerate(tips)]
    beyond = np.zeros(points.shape[1])  # metres of bone past each point
    mass = np.zeros(len(ends))
    lengths = [float(np.median(np.linalg.norm(points[:, b] - points[:, a], axis=-1))) for a, b in ends]
    for i in sorted(range(len(ends)), key=lambda i: -ends[i][1]):
        near, far = ends[i]
        mass[i] = lengths[i] * (beyond[far] + 0.5 * lengths[i])
        beyond[near] += beyond[far] + lengths[i]
    if not mass.sum() > 0:
        return np.asarray(points.mean(1))
    near_ends, far_ends = np.array(ends).T
    middles = 0.5 * (points[:, near_ends] + points[:, far_ends])
    return np.asarray(np.einsum("tpc,p->tc", middles, mass / mass.sum()))


def _off_the_ground(low: Array) -> Iterator[tuple[int, int]]:
    """Runs of frames in which the lowest point (T,) stands out above where it was before and after.

    The ground is not one height: real captures drift, and there are stairs and boxes that are not in the file.
    """
    rising, falling = np.diff(low, prepend=-np.inf) > 0, np.diff(low, append=-np.inf) <= 0
    for peak in np.flatnonzero(rising & falling):
        higher = low > low[peak]
        first = _last_true(higher[:peak]) + 1
        last = peak + _first_true(higher[peak:])
        ground = max(low[first : peak + 1].min(), low[peak:last].min())
        rise = low[peak] - ground
        if rise < _RISE_M:
            continue
        down = low <= ground + max(0.015, 0.15 * rise)
        start, stop = _last_true(down[:peak]) + 1, peak + _first_true(down[peak:])
        if start > 0 and stop < len(low) and stop - start >= _FEWEST_FRAMES:
            yield start, stop


def _flight_within(body: BodyPoints, start: int, stop: int) -> Flight | None:
    """The longest good flight in a run off the ground, whose ends may still hang on to take-off or landing."""
    trims = sorted({round(part * (stop - start)) for part in _TRIMS})
    pairs = sorted((a + b, a, b) for a in trims for b in trims)
    fewest = max(_FEWEST_FRAMES, 0.55 * (stop - start))
    best: tuple[float, Flight] | None = None
    for cut, a, b in pairs:
        if best and cut > best[1].start - start + stop - best[1].stop:
            break
        found = _fit(body, start + a, stop - b) if stop - start - cut >= fewest else None
        if found and (not best or found[0] < best[0]):
            best = found
    return replace(best[1], share=(best[1].stop - best[1].start) / (stop - start)) if best else None


def _fit(body: BodyPoints, start: int, stop: int) -> tuple[float, Flight] | None:
    """How badly the frames fit free flight, and the flight; None where something else holds the body."""
    frames = stop - start
    one, line, bow = _parabolas(frames)
    path = body.centre[start:stop]
    bows = bow @ path / (bow @ bow)
    misfit = path - np.outer(one, path.mean(0)) - np.outer(line, line @ path / (line @ line)) - np.outer(bow, bows)
    east, north, up = 2.0 * bows
    arc = -up * (frames - 1) ** 2 / 8.0
    rough = np.sqrt(np.mean(misfit**2, axis=0))
    if arc < _ARC_M or rough[2] > _MISFIT * arc + _NOISE_M:
        return None
    if np.hypot(east, north) > -_PUSH * up or np.hypot(rough[0], rough[1]) > _SWAY * arc + _NOISE_M:
        return None
    quarter = frames // 4
    middle = body.points[start + quarter : stop - quarter]
    stillest = float(np.linalg.norm(np.ptp(middle, axis=0), axis=-1).min())
    if stillest < _STILL_M:
        return None
    return float(rough[2] / arc), Flight(start, stop, float(-up), float(arc), stillest, 1.0)


def _parabolas(frames: int) -> tuple[Array, Array, Array]:
    """Three arrays (frames,) at right angles to each other: one, n and n squared less its mean."""
    n = np.arange(frames) - (frames - 1) / 2.0
    return np.ones(frames), n, n**2 - np.mean(n**2)


def _first_true(flags: NDArray[np.bool_]) -> int:
    """Index of the first true flag, or how many there are if none is."""
    return int(np.argmax(flags)) if flags.any() else len(flags)


def _last_true(flags: NDArray[np.bool_]) -> int:
    """Index of the last true flag, or -1."""
    return len(flags) - 1 - _first_true(flags[::-1])
