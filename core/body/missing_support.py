# SPDX-License-Identifier: GPL-3.0-or-later
"""What a clip was recorded with and does not have: stairs, a seat, a partner, a load.

By inverse dynamics: the force that moves a centre of mass as the clip has it is known, and so is the place on the
ground that it must go through (the zero-moment point). Where feet stand on nothing and the body does not fall, or that
place is far beyond the feet for long, something else has carried the body. Hands that rise like one hold something.
A false alarm does more harm than a missed one, so what is not clear is not said.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..geometry.flags import find_runs
from ..geometry.quaternions import Array, rotate, to_matrix
from ..motion import Clip
from .four_legs import find_front_feet
from .kinetics import Kinetics
from .model import BodyModel
from .poses import link_transforms, pose_of_clip
from .stances import Flags, ground_height_under, lowest_points, smooth_hann
from .terrain_adaptation import GroundSurface

_EARTH_M_S2 = 9.81
_RATE_FPS = 60.0  # more frames a second tell no more, and cost
_STEADY_S = 0.1  # forces are smoothed over so much to both sides
_LEAST_S, _LEANS_S = 0.4, 0.6  # what is over sooner is an error of capture; who leans further may step in time
# Points that are no higher than this above the lowest one bear weight; of the feet of who sits or squats, those that
# are no higher than the second.
_BEARING_M, _TOE_M = 0.04, 0.1
_RUNS_M_S = 2.0  # who is faster is caught by the next step
# The ground must give this share of the weight, or the body flies.
_CARRIED = 0.6
# Shares of the character's height. Higher than the first above the ground nothing stands. A zero-moment point that is
# beyond the feet by more than the second for so long needs another hold: sound dances and kicks have up to 0.04. Who
# sits is stiller, and the third is enough. Hands and knees as low as the fourth may bear weight, too.
_STEP, _BEYOND, _SEATED, _LOW = 0.1, 0.08, 0.06, 0.15
# Who is held by somebody is beyond its feet by the first share for so many seconds: so many times and for this share
# of the clip, or for the last share of it.
_OFF, _OFF_S, _TIMES, _SHARE, _MOSTLY = 0.05, 0.3, 4, 0.15, 0.6
# Who sits has its hips this little above its knees, as a share of its height.
_SITS = 0.07
# Hands that lift one thing: what their distance and their difference in height vary by at most, and how far they rise,
# as shares of the height; and within how many seconds.
_APART, _TILT, _RISE, _LIFT_S = 0.065, 0.03, 0.3, 0.8
_NARROW, _WIDE = 0.07, 0.33  # between the hands
_HANDS = 0.7  # as high as that a body is held, as a share of its height


@dataclass(frozen=True)
class MissingSupport:
    """Something that a clip needs and does not have, from start_s to stop_s; message and hint in plain words.

    kind: 'needs_stairs', 'needs_support', 'needs_partner' or 'needs_load'.
    """

    kind: str
    start_s: float
    stop_s: float
    message: str
    hint: str


def find_missing_support(
    body: BodyModel, clip: Clip, ground: GroundSurface | None = None, alone: bool = True
) -> tuple[MissingSupport, ...]:
    """What seems to be missing, each kind once. The clip must be on the ground already; None is a flat floor at 0.

    alone: nobody else and nothing loose is on the stage, which would explain hands that carry.
    """
    if clip.duration_s < _LEAST_S:
        return ()
    motion = _Motion.of(body, clip.resample(min(clip.fps, _RATE_FPS)), ground)
    found = [motion.find_steps(), motion.find_seat()]
    if alone:
        found += [motion.find_hold(), motion.find_load()]
    return tuple(one for one in found if one is not None)


@dataclass(frozen=True, eq=False)
class _Motion:
    """A clip of T frames as mechanics sees it.

    pos: (T, L, 3), quat_wxyz: (T, L, 4) the links. force: (T, 3) newtons that the ground must give, moment_point:
    (T, 2) metres where. points: (T, P, 3) low points of all links, of_link: (P,) whose, above: (T, P) metres that
    they are above the ground.
    """

    body: BodyModel
    fps: float
    pos: Array
    quat_wxyz: Array
    force: Array
    moment_point: Array
    points: Array
    of_link: np.ndarray
    above: Array

    @classmethod
    def of(cls, body: BodyModel, clip: Clip, ground: GroundSurface | None) -> "_Motion":
        """Of a clip on the ground."""
        qpos, qvel = pose_of_clip(body, clip)
        pos, quat = link_transforms(body, qpos)
        parts = [
            pos[:, index, None] + rotate(quat[:, index, None], lowest_points(link, quat[:, index]))
            for index, link in enumerate(body.links)
        ]
        points = np.concatenate(parts, axis=1)
        under = ground_height_under(points, ground)
        above = points[..., 2] - np.where(np.isfinite(under), under, 0.0)
        base = (points[..., 2] - above).mean(axis=1)
        force, at = _ground_force(body, qvel, pos, quat, clip.fps, base)
        of_link = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        return cls(body, clip.fps, pos, quat, force, at, points, of_link, above)

    @property
    def tall_m(self) -> float:
        """The character's height."""
        return max(float(np.ptp(self.points[..., 2], axis=1).max()), 1e-6)

    @property
    def carried(self) -> Flags:
        """(T,) where the ground must bear most of the weight."""
        return np.asarray(self.force[:, 2] > _CARRIED * self.body.mass * _EARTH_M_S2)

    def find_steps(self) -> MissingSupport | None:
        """Feet that stand on nothing, and a body that does not fall."""
        height = self.above.min(axis=1)
        runs = list(self._long(self.carried & (height > _STEP * self.tall_m)))
        if not runs:
            return None
        most = max(float(np.median(height[a:b])) for a, b in runs)
        start_s, stop_s = self._span(runs)
        message = (
            f"From {start_s:.1f} s on it stands up to {most:.2f} m above the ground on nothing: "
            f"stairs or a step seem to be missing, which would have to bear {self._newtons():.0f} N"
        )
        return MissingSupport("needs_stairs", start_s, stop_s, message, "Put them on the stage as an obstacle")

    def find_seat(self) -> MissingSupport | None:
        """Hips as low as the knees, and the weight behind the feet."""
        runs = list(self._long(self._sits() & (self._beyond(_TOE_M) > _SEATED * self.tall_m)))
        if not runs:
            return None
        start_s, stop_s = self._span(runs)
        message = (
            f"It sits on nothing from {start_s:.1f} to {stop_s:.1f} s, its weight {100 * self._most(runs):.0f} cm "
            "behind its feet: a chair seems to be missing"
        )
        return MissingSupport("needs_support", start_s, stop_s, message, "Put it on the stage as an obstacle")

    def find_hold(self) -> MissingSupport | None:
        """Weight far beyond the feet of who stands."""
        beyond = np.where(self._sits(), -1.0, self._beyond())
        runs = list(self._long(beyond > _BEYOND * self.tall_m, _LEANS_S))
        often = list(self._long(beyond > _OFF * self.tall_m, _OFF_S))
        # Anybody may lose their balance once; who is held is out of it again and again, or most of the time.
        share = sum(b - a for a, b in often) / len(beyond)
        if not runs or share < (_SHARE if len(often) >= _TIMES else _MOSTLY):
            return None
        start_s, stop_s = self._span(runs)
        most = self._most(runs)
        newtons = self._newtons() * most / (_HANDS * self.tall_m)
        message = (
            f"It leans {100 * most:.0f} cm beyond its feet from {start_s:.1f} to {stop_s:.1f} s, which about "
            f"{newtons:.0f} N at its hands could hold: a partner, a rail or a rope seems to be missing"
        )
        hint = "Put whoever or whatever it is on the stage, or expect it to step or fall there"
        return MissingSupport("needs_partner", start_s, stop_s, message, hint)

    def find_load(self) -> MissingSupport | None:
        """Two hands that rise like one."""
        hands = self._hands()
        if hands is None:
            return None
        left, right = hands
        apart, tilt = np.linalg.norm(left - right, axis=-1), left[:, 2] - right[:, 2]
        middle, tall, frames = 0.5 * (left + right)[:, 2], self.tall_m, round(_LIFT_S * self.fps)
        lifts = []
        for first in range(len(apart) - frames):
            some = slice(first, first + frames + 1)
            wide = _NARROW * tall < apart[some].min() and apart[some].max() < _WIDE * tall
            rigid = np.ptp(apart[some]) < _APART * tall and np.ptp(tilt[some]) < _TILT * tall
            if wide and rigid and middle[some][-1] - middle[some][0] > _RISE * tall:
                lifts.append(first)
        if not lifts:
            return None
        start_s, stop_s = lifts[0] / self.fps, (lifts[-1] + frames) / self.fps
        rise = float(np.ptp(middle[lifts[0] : lifts[-1] + frames + 1]))
        message = (
            f"Both hands rise {rise:.2f} m as one from {start_s:.1f} to {stop_s:.1f} s, as if they lifted something: "
            "a load seems to be missing"
        )
        hint = "Without it the body moves as with empty hands; add what it leans against to the stage if it matters"
        return MissingSupport("needs_load", start_s, stop_s, message, hint)

    def _beyond(self, toe_m: float = _BEARING_M) -> Array:
        """(T,) metres that the zero-moment point is outside what bears weight; -1 where other parts than feet may."""
        ways = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)
        ways = np.stack([np.cos(ways), np.sin(ways)])
        feet = [i for i, link in enumerate(self.body.links) if link.role in ("foot", "toe")]
        reach_m = np.where(np.isin(self.of_link, feet), toe_m, _BEARING_M)
        bears = self.above < np.maximum(self.above.min(axis=1, keepdims=True), 0.0) + reach_m
        reach = np.where(bears[..., None], self.points[..., :2] @ ways, -np.inf).max(axis=1)
        out = (self.moment_point @ ways - reach).max(axis=-1)
        legs = [i for i, link in enumerate(self.body.links) if link.role in ("foot", "toe", "shin")]
        others = self.above[:, ~np.isin(self.of_link, legs)]
        free = others.min(axis=1, initial=np.inf) > _LOW * self.tall_m
        steps = np.gradient(smooth_hann(self.pos[:, 0, :2], self.fps, _STEADY_S), 1.0 / self.fps, axis=0)
        slow = np.linalg.norm(steps, axis=-1) < _RUNS_M_S
        return np.where(self.carried & free & slow, out, -1.0)

    def _sits(self) -> Flags:
        """(T,) where the hips are hardly above the knees."""
        hips, knees = ([i for i, link in enumerate(self.body.links) if link.role == role] for role in ("thigh", "shin"))
        if not hips or not knees:
            return np.zeros(len(self.pos), dtype=bool)
        return np.asarray(self.pos[:, hips, 2].mean(axis=1) < self.pos[:, knees, 2].mean(axis=1) + _SITS * self.tall_m)

    def _hands(self) -> tuple[Array, Array] | None:
        """(T, 3) metres, the left and the right hand, or the ends of the forearms; None without both, and for paws."""
        if len(find_front_feet(self.body)):
            return None
        found = []
        for side in "LR":
            own = {link.role: i for i, link in enumerate(self.body.links) if link.side == side}
            if "hand" in own:
                found.append(self.pos[:, own["hand"]])
            elif "forearm" in own:
                index = own["forearm"]
                length = self.body.skeleton.lengths[self.body.skeleton.index(self.body.links[index].bone)]
                along = np.broadcast_to([0.0, length, 0.0], (len(self.pos), 3))
                found.append(self.pos[:, index] + rotate(self.quat_wxyz[:, index], along))
        return (found[0], found[1]) if len(found) == 2 else None

    def _long(self, flags: Flags, least_s: float = _LEAST_S) -> Iterator[tuple[int, int]]:
        """Runs of frames that last."""
        return ((a, b) for a, b in find_runs(flags) if b - a >= least_s * self.fps)

    def _span(self, runs: list[tuple[int, int]]) -> tuple[float, float]:
        return runs[0][0] / self.fps, runs[-1][1] / self.fps

    def _most(self, runs: list[tuple[int, int]]) -> float:
        """Metres that the zero-moment point is usually beyond the feet in the worst of these runs."""
        beyond = self._beyond()
        return max(float(np.median(beyond[a:b])) for a, b in runs)

    def _newtons(self) -> float:
        return self.body.mass * _EARTH_M_S2


def _ground_force(
    body: BodyModel, qvel: Array, pos: Array, quat_wxyz: Array, fps: float, base: Array
) -> tuple[Array, Array]:
    """(T, 3) newtons that the ground must give a body, and (T, 2) the zero-moment point at heights ``base`` (T,)."""
    kinetics = Kinetics(body)
    linear, angular = kinetics.velocities(qvel, pos, quat_wxyz)
    own = np.array([link.com for link in body.links])
    places = pos + rotate(quat_wxyz, np.broadcast_to(own, pos.shape))
    centre, velocity = kinetics.com_velocity(places), kinetics.com_velocity(linear)
    turns = to_matrix(quat_wxyz)
    inertia = np.array([link.inertia for link in body.links])
    spin = np.einsum("tlij,ljk,tlmk,tlm->ti", turns, inertia, turns, angular)
    orbit = np.cross(places - centre[:, None], linear - velocity[:, None])
    momentum = spin + np.einsum("l,tlx->tx", kinetics.mass, orbit)
    pull, twist = (
        np.gradient(smooth_hann(values, fps, _STEADY_S), 1.0 / fps, axis=0) for values in (velocity, momentum)
    )
    force = body.mass * (pull + np.array([0.0, 0.0, _EARTH_M_S2]))
    lever, upward = centre[:, 2] - base, np.maximum(force[:, 2], 1e-6)
    x = centre[:, 0] - (lever * force[:, 0] + twist[:, 1]) / upward
    y = centre[:, 1] - (lever * force[:, 1] - twist[:, 0]) / upward
    return force, np.stack([x, y], axis=-1)
