# SPDX-License-Identifier: GPL-3.0-or-later
"""Foot skate: how fast the soles of standing feet slide. The one measure of it, whoever asks and of whatever motion."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, rotate
from ..motion import Clip
from .four_legs import find_front_feet
from .model import BodyModel, Link
from .stances import LEVEL_M, detect_support, find_least_motion, ground_height_under, lowest_points
from .terrain_adaptation import GroundSurface

HeightUnder = Callable[[Array], Array]
"""Metres: the ground (N, P) under points (N, P, 3), -inf where there is none."""

# Without forces to tell, a foot stands where it is as low and as slow as this. What is faster swings.
_LOW_M, _SLOW_M_S = 0.02, 0.5
# With forces, a leg stands where it carries this share of the weight (on Earth): toes that are dragged carry less.
_CARRIES, _EARTH_M_S2 = 0.1, 9.81
# A sole that is to move faster than this is not to stand: it glides, as foot plant and foot lock leave it to.
_GLIDES_M_S = 0.25


def sole_links(body: BodyModel) -> NDArray[np.int64]:
    """The links that stand: feet and toes, shins of legs that have no foot, and front feet."""
    footed = {link.side for link in body.links if link.role == "foot"}
    found = [
        index
        for index, link in enumerate(body.links)
        if link.role in ("foot", "toe") or (link.role == "shin" and link.side not in footed)
    ]
    return np.array(sorted({*found, *find_front_feet(body).tolist()}), dtype=np.int64)


def sole_sliding_speed(
    link: Link, pos: Array, quat_wxyz: Array, dt_s: float, height_under: HeightUnder | None = None
) -> tuple[Array, Array]:
    """Horizontal speed (K - 1,) in m/s of the link's sole from moment to moment, and its height in metres.

    It is the least of any point between the link's lowest: a foot that pivots on a point of its sole does not slide.
    pos, quat_wxyz: the link's frame, (K, 3) and (K, 4). The points are fixed in the link, and those are taken that are
    in the ground at both ends of the step, or else lowest, by the higher of their two heights: the heel while the foot
    comes down on it, the ball while it rolls off, both while it stands. So a foot that rolls does not slide, though its
    ankle moves. height_under: the ground; None is a flat floor at 0.
    """
    at = lowest_points(link, quat_wxyz)
    local = np.concatenate([at[:-1], at[1:]], axis=1)
    before = pos[:-1, None] + rotate(quat_wxyz[:-1, None], local)
    after = pos[1:, None] + rotate(quat_wxyz[1:, None], local)
    higher = np.maximum(height_above(before, height_under), height_above(after, height_under))
    height = higher.min(axis=-1)
    with np.errstate(invalid="ignore"):  # beyond a terrain's edge everything is infinitely high
        level = ~(higher - np.maximum(height, 0.0)[:, None] > LEVEL_M)
    return np.linalg.norm(find_least_motion((after - before)[..., :2], level), axis=-1) / dt_s, height


def foot_skate_by_force(
    body: BodyModel,
    pos: Array,
    quat_wxyz: Array,
    contact_force: Array,
    dt_s: float,
    height_under: HeightUnder | None = None,
    wanted: tuple[Array, Array] | None = None,
) -> float | None:
    """Foot skate in m/s: the mean sliding speed of the soles over all steps in which they stand.

    A sole stands where it is carried from the step's beginning to its end, its leg carries a tenth of the weight, and
    it is not to glide. pos: (K, L, 3), quat_wxyz: (K, L, 4) the links' frames, contact_force: (K, L, 3) newtons.
    wanted: the same frames of the motion that is followed, where it is known; without it no foot is to glide. Each
    foot, and each toe that is a link of its own, counts by itself. None where no foot ever stands.
    """
    carried, speeds = carried_steps(body, contact_force), []
    for column, index in enumerate(sole_links(body)):
        link, on = body.links[index], carried[:, column]
        speed, _ = sole_sliding_speed(link, pos[:, index], quat_wxyz[:, index], dt_s, height_under)
        if wanted is not None:
            meant, _ = sole_sliding_speed(link, wanted[0][:, index], wanted[1][:, index], dt_s, height_under)
            on = on & (meant <= _GLIDES_M_S)
        speeds.append(speed[on])
    return mean_of_parts(speeds)


def carried_steps(body: BodyModel, contact_force: Array) -> NDArray[np.bool_]:
    """(K - 1, S) the steps from whose beginning to whose end soles are carried, and their legs carry a tenth of it all.

    contact_force: (K, L, 3) newtons.
    """
    soles = sole_links(body)
    stands, load = detect_support(body, contact_force), np.maximum(contact_force[..., 2], 0.0)
    sides = [body.links[index].side for index in soles]
    front = set(find_front_feet(body).tolist())
    carried = np.zeros((len(contact_force), len(soles)), dtype=bool)
    for column, index in enumerate(soles):
        leg = [
            other
            for other, side in zip(soles, sides, strict=True)
            if side == sides[column] and (other in front) == (index in front)
        ]
        carries = load[:, leg].sum(axis=-1) >= _CARRIES * body.mass * _EARTH_M_S2
        carried[:, column] = stands[:, index] & carries
    return np.asarray(carried[:-1] & carried[1:])


def foot_skate_by_shape(
    body: BodyModel, pos: Array, quat_wxyz: Array, dt_s: float, height_under: HeightUnder | None = None
) -> float | None:
    """Foot skate in m/s of a motion that knows no forces: the mean speed of soles over all steps in which they stand.

    pos: (K, L, 3), quat_wxyz: (K, L, 4) the links' frames. Each foot, and each toe that is a link of its own, counts by
    itself. A sole stands while it is lower than 2 cm and slower than 0.5 m/s: a foot that swings passes as low, not as
    slow. None where no foot ever stands.
    """
    speeds = []
    for index in sole_links(body):
        speed, height = sole_sliding_speed(body.links[index], pos[:, index], quat_wxyz[:, index], dt_s, height_under)
        speeds.append(speed[(height < _LOW_M) & (speed < _SLOW_M_S)])
    return mean_of_parts(speeds)


def source_foot_skate(body: BodyModel, clip: Clip, ground: GroundSurface | None = None) -> float | None:
    """Foot skate in m/s of a clip on the ground, the links riding on their bones; None is a flat floor at 0."""
    pos, quat = clip.world()
    bones = [clip.skeleton.index(link.bone) for link in body.links]
    under = None if ground is None else lambda points: ground_height_under(points, ground)
    return foot_skate_by_shape(body, pos[:, bones], quat[:, bones], clip.dt_s, under)


def height_above(points: Array, height_under: HeightUnder | None) -> Array:
    """(N, P) metres that points (N, P, 3) are above the ground."""
    return np.asarray(points[..., 2] if height_under is None else points[..., 2] - height_under(points))


def mean_of_parts(parts: list[Array]) -> float | None:
    """The mean over all of them, None where there is nothing."""
    values = np.concatenate([np.zeros(0), *parts])
    return float(values.mean()) if values.size else None
