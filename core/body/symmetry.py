# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaits made symmetric: what the left side does now, the right side does half a cycle later."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..errors import BadMotion
from ..geometry.angles import arctan2_exact
from ..geometry.quaternions import Array, angle_between, conjugate, from_rotation_vector, multiply, rotate
from ..motion import Clip
from ..motion.loops import is_cyclic, seam_angle
from .mirroring import BodyMirror
from .model import BodyModel
from .pose_space import PoseSpace
from .poses import clip_of_pose, link_transforms, pose_of_clip

_UP: Array = np.array([0.0, 0.0, 1.0])
_FEWEST = 8  # frames in which two steps can be found
_TRAVELS_M = 0.1  # a cycle that gets less far than this stays on the spot: it has no way to go, but faces ahead
_UNEVEN = 0.1  # how far from half of a cycle its first step may be over
_CLEARLY = 0.8  # it is then taken to be, if that leaves less than this of the asymmetry
_SEAM_S = 0.2  # how long before and after a seam its jump is made up for


def symmetrize_cycle(body: BodyModel, clip: Clip) -> Clip:
    """The cycle with each moment averaged with the mirror image of the moment half a cycle later.

    It goes straight ahead, through the middle of the source's way, as fast and for as long as the source. Its second
    half is the mirror image of its first, moved on, and its end is its beginning, moved on. For that it has an even
    number of frames and the one that ends it: one more than the source if need be, at a rate that keeps its duration.
    Where its halves meet, it jumps no more than elsewhere. Unsimulated and merged bones stay as the source has them,
    and what the body's hinges cannot show of it is lost. Refuses what is no cycle, and a body without symmetry.
    """
    _require_length(clip)
    if not is_cyclic(clip):
        apart = np.degrees(seam_angle(clip))
        raise BadMotion(
            f"'{clip.name}' is not a cycle: its end is {apart:.0f}° a joint away from its beginning",
            "Choose a frame range that ends as it begins, or learn it without symmetry",
        )
    mirror = BodyMirror(body)
    cycle = _Cycle.of(body, mirror, clip)
    frames = len(clip) - 1
    even = frames + frames % 2
    first, second = cycle.steps(even // 2, cycle.best_half(body, mirror)[0])
    space = PoseSpace(body)
    step = space.integrate(first, 0.5 * space.difference(first, mirror.pose(second)))
    step = _smooth_seam(body, mirror, step, max(round(_SEAM_S * clip.fps), 1))
    qpos = cycle.placed(np.concatenate([step, mirror.pose(step), step[:1]]))
    return clip_of_pose(body, clip, qpos, clip.fps if even == frames else clip.fps * even / frames)


@dataclass(frozen=True, eq=False)
class _Cycle:
    """A cycle on the spot: what is left of it when its steady travelling and turning are taken out.

    qpos: (P, nq) poses of its frames but the last, which is its first again, about the origin and along the plane that
        ``BodyMirror`` mirrors in. travel: (3,) metres that a cycle goes in that plane.
    turn: radians that the source turns by. heading: radians and place: (3,) metres, level, that it must be turned and
        moved by to be where the source is in the middle of its cycle.
    """

    space: PoseSpace
    qpos: Array
    travel: Array
    turn: float
    heading: float
    place: Array

    @classmethod
    def of(cls, body: BodyModel, mirror: BodyMirror, clip: Clip) -> "_Cycle":
        """The clip straightened out."""
        qpos, _ = pose_of_clip(body, clip)
        facing = np.unwrap(_facing(body, qpos))
        turn = _turn_of(facing)
        # Travelling and turning at a steady rate leads along an arc; what a body does besides is left when each frame
        # is brought to the middle of that arc.
        part = np.linspace(-0.5, 0.5, len(qpos))
        drift = np.linalg.solve(_arc(turn), (qpos[-1, :3] - rotate(_about_z(turn), qpos[0, :3]))[:2])
        qpos[:, :2] -= [share * _arc(turn * share) @ drift for share in part]
        qpos = _turned(-turn * part, qpos)[:-1]
        place = qpos[:, :3].mean(0) * [1.0, 1.0, 0.0]
        qpos[:, :3] -= place
        travel = np.array([*drift, 0.0]) + turn * np.cross(_UP, place)
        if np.linalg.norm(travel) > _TRAVELS_M:
            heading = float(np.arctan2(travel @ mirror.normal, travel @ np.cross(mirror.normal, _UP)))
        else:
            heading = float(np.angle(np.mean(np.exp(1j * _facing(body, qpos)))))
        travel = rotate(_about_z(-heading), travel)
        travel -= travel @ mirror.normal * mirror.normal
        return cls(PoseSpace(body), _turned(-heading, qpos), travel, turn, heading, place)

    def best_half(self, body: BodyModel, mirror: BodyMirror) -> tuple[float, float]:
        """When the first step is over, as a part of the cycle, and the radians between both steps then.

        That is at one half, unless something near it is clearly better.
        """
        mass = np.array([link.mass for link in body.links]) / body.mass
        shifts = [0.0, *np.linspace(-_UNEVEN, _UNEVEN, 20)]
        off = []
        for shift in shifts:
            first, second = self.steps(len(self.qpos) // 2, 0.5 + shift)
            gap = angle_between(link_transforms(body, first)[1], link_transforms(body, mirror.pose(second))[1])
            off.append(float(np.sqrt(np.mean(gap**2 @ mass))))
        best = int(np.argmin(off))
        best = best if off[best] < _CLEARLY * off[0] else 0
        return 0.5 + shifts[best], off[best]

    def steps(self, count: int, half: float) -> tuple[Array, Array]:
        """Poses (count, nq) of the first step, which is over after ``half`` of the cycle, and as many of the second."""
        part = np.arange(count) / count
        return self._at(part * half), self._at(half + part * (1.0 - half))

    def placed(self, qpos: Array) -> Array:
        """Poses (T, nq) of a cycle on the spot, the last as the first, as they travel along the source's way."""
        moved = np.array(qpos)
        moved[:, :3] += np.linspace(-0.5, 0.5, len(qpos))[:, None] * self.travel
        moved = _turned(self.heading, moved)
        moved[:, :3] += self.place
        return moved

    def _at(self, part: Array) -> Array:
        """(N, nq) poses at parts (N,) of the cycle, between its frames."""
        at = part * len(self.qpos)
        low = np.floor(at).astype(int)
        here, there = self.qpos[low % len(self.qpos)], self.qpos[(low + 1) % len(self.qpos)]
        return self.space.integrate(here, (at - low)[:, None] * self.space.difference(here, there))


def _smooth_seam(body: BodyModel, mirror: BodyMirror, step: Array, width: int) -> Array:
    """Poses (N, nq) of a step that runs into its mirror image without a jump that is not found elsewhere in it.

    Files are often cut where a cycle does not quite end as it began. Half of the jump is taken from each side, over
    ``width`` frames.
    """
    space, count = PoseSpace(body), len(step)
    width = min(width, count // 2)
    image = mirror.pose(step)
    around = np.concatenate([image[-2:], step, image[:2]])
    rate = space.difference(around[:-1], around[1:])
    # How each rate differs from those before and after it; the seam is between frames 1 and 2, and again at the end.
    jumps = rate[1:-1] - 0.5 * (rate[:-2] + rate[2:])
    before, after = np.zeros(body.nv), np.zeros(body.nv)
    starts = [0, 3, *body.qvel_starts[1:]]
    for own in (slice(*ends) for ends in pairwise(starts)):
        sizes = np.linalg.norm(jumps[:, own], axis=-1)
        usual = float(sizes[2:-2].max())
        for end, seam in ((before, -1), (after, 0)):
            end[own] = jumps[seam, own] * max(0.0, 1.0 - usual / max(float(sizes[seam]), 1e-12))
    fade = 1.0 - np.arange(width) / width
    fade = 0.5 * fade**2 * (3.0 - 2.0 * fade)
    by = np.zeros((count, body.nv))
    by[count - width :] += fade[::-1, None] * before
    by[:width] -= fade[:, None] * after
    return space.integrate(step, by)


def _require_length(clip: Clip) -> None:
    if len(clip) <= _FEWEST:
        raise BadMotion(f"'{clip.name}' has {len(clip)} frames, too few for a cycle", "Choose a longer frame range")


def _facing(body: BodyModel, qpos: Array) -> Array:
    """(T,) radians about Z from how the root stands at rest to poses (T, nq)."""
    _, rest = body.skeleton.rest_world()
    whole = multiply(qpos[:, 3:7], conjugate(rest[body.skeleton.index(body.links[0].bone)]))
    return np.asarray(2.0 * arctan2_exact(whole[:, 3], whole[:, 0]))


def _turn_of(facing: Array) -> float:
    """Radians that a cycle turns by, of where it faces (T,), its last frame being its first again.

    The swinging of a gait is gone from the sum of moments half a cycle apart, and steady turning is left.
    """
    half = (len(facing) - 1) // 2
    both = facing[:half] + facing[half : 2 * half]
    return float(np.polyfit(np.arange(half), both, 1)[0]) * 0.5 * (len(facing) - 1)


def _turned(angles: Array | float, qpos: Array) -> Array:
    """Poses (T, nq) turned about the world's Z axis by angles (T,) or by one."""
    turn = from_rotation_vector(np.broadcast_to(angles, len(qpos))[:, None] * _UP)
    found = np.array(qpos)
    found[:, :3], found[:, 3:7] = rotate(turn, qpos[:, :3]), multiply(turn, qpos[:, 3:7])
    return found


def _about_z(angle: float) -> Array:
    """(4,) a rotation about Z."""
    return from_rotation_vector(angle * _UP)


def _arc(angle: float) -> Array:
    """(2, 2) gives where a way leads that turns steadily by ``angle``, of where it would lead straight on."""
    along, aside = np.sinc(angle / np.pi), np.sin(0.5 * angle) * np.sinc(0.5 * angle / np.pi)
    return np.array([[along, -aside], [aside, along]])
