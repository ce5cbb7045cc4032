# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that fell and lies gets up and rejoins its source: a reference for it, made of key poses and of the source.

The key poses lead from where the body lies to a crouch, and from there it rises into what the source does just then.
It goes on from its own place, and turns to the source's heading as it goes.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...body.poses import link_transforms, pose_of_links, velocity_of_pose
from ...geometry.quaternions import Array, multiply, rotate, slerp
from ...sim.engine import World
from ...sim.surface import Surface
from ..tracking.facing import rotation_about_z
from ..tracking.reference import CONTROL_FPS, FRAGMENT_STEPS, Reference, compute_states, read_sensors
from ..tracking.servo_targets import compute_feedforward_targets
from .get_up_poses import PIVOT, GetUpPose, PitchedPoses, Pitches, explain_cannot_rise, find_lowest, plan_key_poses

REST_FRAGMENTS = 12
"""For how long somebody lies at least before getting up."""
MOST_GET_UPS = 3
"""How often it tries."""
_AT_REST_M_S = 0.3
INTO_S = 0.8
"""How long it takes from the crouch into the source's motion."""
_STANDS_S = 0.5  # for how long the source must stand by then, and how long there must be something left to follow
_LEAN_RAD, _HIGH = 0.8, 0.8  # a source stands that leans less, its root as high as this share of the most
_TURN_RAD_S = 1.0  # how fast it turns to the source's heading


@dataclass(frozen=True, eq=False)
class GetUp:
    """Somebody gets up from fragment ``first`` on, from the pose (nq,) that it lies in, and rejoins at a frame."""

    first: int
    qpos: Array
    rejoins: int


class GetUpPlanner:
    """Plans how a body gets up that was to follow a reference; ``why_not`` says why it cannot, '' where it can."""

    def __init__(self, reference: Reference, surface: Surface | None) -> None:
        self._source, self._surface, self._body = reference, surface, reference.body
        self.why_not = explain_cannot_rise(reference.body)
        if not self.why_not:
            self._stands = find_standing(reference)
            if not self._stands.any():
                self.why_not = "its source never stands"

    def plan(self, fragment: int, pose: tuple[Array, Array]) -> GetUp | None:
        """How to get up from a pose (nq,) with velocity (nv,) now; None where it moves or the source won't stand."""
        if self.why_not or np.linalg.norm(pose[1][:3]) > _AT_REST_M_S:
            return None
        lasts_s = sum(key.lasts_s for key in self._key_poses(pose[0])[1]) + INTO_S
        rejoins = fragment * FRAGMENT_STEPS + round(lasts_s * CONTROL_FPS)
        near = round(_STANDS_S * CONTROL_FPS)
        if rejoins + near >= len(self._stands) or not self._stands[rejoins - near : rejoins + near].all():
            return None
        return GetUp(fragment, pose[0], rejoins)

    def _key_poses(self, qpos: Array) -> tuple[float, tuple[GetUpPose, ...]]:
        """The heading in which a body gets up that lies in pose (nq,), and its key poses."""
        heading, roll_deg = self._poses.describe_lying(qpos)
        return heading, plan_key_poses(roll_deg)

    @cached_property
    def _poses(self) -> PitchedPoses:
        return PitchedPoses(self._body, self._source.qpos[int(np.flatnonzero(self._stands)[0])])

    def make_reference(self, before: Reference, get_up: GetUp, world: World) -> Reference:
        """The reference from then on: up to then as it was before, then getting up, then the source from its place."""
        begin = get_up.first * FRAGMENT_STEPS
        rising, heading = self.rise(get_up)
        after = self._follow(get_up.rejoins, rising[-1], heading)
        tail = np.concatenate([rising, after])
        qpos = np.concatenate([before.qpos[:begin], tail])
        rates = np.concatenate([before.rates[:begin], velocity_of_pose(self._body, tail, 1.0 / CONTROL_FPS)])
        targets = compute_feedforward_targets(self._body, tail, CONTROL_FPS)
        states = compute_states(world, qpos, rates)
        return replace(
            before,
            qpos=qpos,
            rates=rates,
            states=states,
            targets=np.concatenate([before.targets[:begin], targets]),
            rows=read_sensors(world, states),
        )

    def rise(self, get_up: GetUp) -> tuple[Array, float]:
        """Poses (K, nq) from the lying one to the frame in which it rejoins, and the heading it gets up in."""
        heading, keys = self._key_poses(get_up.qpos)
        turns, holds, rolled = self._turn_through(keys, get_up.qpos, heading)
        qpos = pose_of_links(self._body, np.zeros((len(turns), 3)), turns)
        qpos = self._blend_into_source(qpos, get_up.rejoins, heading)
        holds += [(PIVOT,)] * (len(qpos) - len(holds))
        qpos[:, :2] = self._place(qpos, holds, np.pad(rolled, (0, len(qpos) - len(rolled))), heading) + get_up.qpos[:2]
        share = np.clip((np.arange(len(qpos)) - len(turns) + 1) / max(len(qpos) - len(turns), 1), 0.0, 1.0)
        qpos[:, :2] += self._gain_speed(get_up.rejoins, share, heading)
        above = find_lowest(self._body, self._source.qpos[[get_up.rejoins]])[0] - self._ground(
            self._source.qpos[[get_up.rejoins], :2]
        )
        qpos[:, 2] -= find_lowest(self._body, qpos) - self._ground(qpos[:, :2]) - _ease(share) * above
        # It lies a little in the ground, which is soft: that goes within the first tenths.
        sunk = get_up.qpos[2] - qpos[0, 2]
        qpos[:, 2] += sunk * np.clip(1.0 - np.arange(len(qpos)) / FRAGMENT_STEPS, 0.0, 1.0)
        qpos[0] = get_up.qpos
        return qpos, heading

    def _turn_through(
        self, keys: tuple[GetUpPose, ...], qpos: Array, heading: float
    ) -> tuple[Array, list[tuple[str, ...]], Array]:
        """Turns (K, L, 4) of links from the pose (nq,) through all key poses, what holds in each, and (K,) its roll's
        change since the one before in radians."""
        poses, facing = self._poses, rotation_about_z(np.array(heading))
        now, roll = link_transforms(self._body, qpos)[1], keys[0].roll
        turns, holds, rolled = [now], [keys[0].holds], [0.0]
        pitch = None
        for key in keys:
            steps = round(key.lasts_s * CONTROL_FPS)
            for share in _ease(np.arange(1, steps + 1) / steps):
                if pitch is None:  # from where it lies, every link by the shorter way
                    wanted = multiply(facing, poses.turn_links(key.pitch, key.roll))
                    turns.append(slerp(now, wanted, np.full(len(now), share)))
                else:
                    between = _mix(pitch, key.pitch, float(share))
                    turns.append(multiply(facing, poses.turn_links(between, roll + share * (key.roll - roll))))
                holds.append(key.holds)
            change = np.diff(_ease(np.arange(steps + 1) / steps)) * (np.radians(key.roll - roll) if pitch else 0.0)
            rolled += list(change)
            pitch, roll = key.pitch, key.roll
        return np.array(turns), holds, np.array(rolled)

    def _blend_into_source(self, qpos: Array, rejoins: int, heading: float) -> Array:
        """Poses (K, nq) with those added that lead from the last one into the source, turned as it is headed."""
        steps = round(INTO_S * CONTROL_FPS)
        source = np.array(self._source.qpos[rejoins - steps + 1 : rejoins + 1])
        source[:, 3:7] = multiply(rotation_about_z(np.array(heading - self._heading_of(rejoins))), source[:, 3:7])
        way = self._source.space.difference(qpos[-1], source) * _ease(np.arange(1, steps + 1) / steps)[:, None]
        return np.concatenate([qpos, self._source.space.integrate(qpos[-1], way)])

    def _heading_of(self, frame: int) -> float:
        """Radians: where the source faces."""
        return PitchedPoses(self._body, self._source.qpos[frame]).heading

    def _place(self, qpos: Array, holds: list[tuple[str, ...]], rolled: Array, heading: float) -> Array:
        """(K, 2) metres: where the root is for the parts that hold to stay where they are, from zero on."""
        unplaced = np.concatenate([np.zeros((len(qpos), 3)), qpos[:, 3:]], axis=1)
        pos, _ = link_transforms(self._body, unplaced)
        height = -find_lowest(self._body, unplaced)
        left = np.array([-np.sin(heading), np.cos(heading)])
        steps = np.zeros((len(qpos), 2))
        for frame in range(1, len(qpos)):
            links = self._poses.find_links(holds[frame])
            steps[frame] = (pos[frame - 1, links] - pos[frame, links]).mean(axis=0)[:2]
            steps[frame] -= rolled[frame] * height[frame] * left
        return np.cumsum(steps, axis=0)

    def _gain_speed(self, rejoins: int, share: Array, heading: float) -> Array:
        """(K, 2) metres that it comes ahead while it takes up the source's speed; share: (K,) how far it has."""
        count = len(share)
        frames = np.clip(rejoins - count + 1 + np.arange(count), 1, None)
        turned = rotation_about_z(np.array(heading - self._heading_of(rejoins)))
        speed = self._source.qpos[frames, :3] - self._source.qpos[frames - 1, :3]
        return np.cumsum(_ease(share)[:, None] * rotate(turned, speed)[:, :2], axis=0)

    def _follow(self, rejoins: int, last: Array, heading: float) -> Array:
        """The source's poses after the frame in which it is rejoined, from pose (nq,) on; turns back as it goes."""
        source = np.array(self._source.qpos[rejoins + 1 :])
        off = (heading - self._heading_of(rejoins) + np.pi) % (2.0 * np.pi) - np.pi
        steps = max(abs(off) / _TURN_RAD_S * CONTROL_FPS, 1.0)
        angle = off * (1.0 - _ease(np.clip(np.arange(1, len(source) + 1) / steps, 0.0, 1.0)))
        turn = rotation_about_z(angle)
        moves = np.diff(self._source.qpos[rejoins:, :3], axis=0)
        there = source[:, :2].copy()
        source[:, :2] = last[:2] + np.cumsum(rotate(turn, moves), axis=0)[:, :2]
        source[:, 2] += self._ground(source[:, :2]) - self._ground(there)
        source[:, 3:7] = multiply(turn, source[:, 3:7])
        return source

    def _ground(self, xy: Array) -> Array:
        """(K,) metres: the height of the ground at places (K, 2)."""
        if self._surface is None:
            return np.zeros(len(xy))
        ground, _ = self._surface.layers(xy)
        return np.where(np.isfinite(ground), ground, 0.0)


def find_standing(reference: Reference) -> NDArray[np.bool_]:
    """(T,) in which frames a body stands: upright, and about as high as it ever does."""
    places = {(link.role, link.side): index for index, link in enumerate(reference.body.links)}
    pos = reference.rows.link_pos[0]
    arms, legs = ([places[role, side] for side in "LR"] for role in ("upper_arm", "thigh"))
    spine = pos[:, arms].mean(axis=1) - pos[:, legs].mean(axis=1)
    upright = spine[:, 2] > np.cos(_LEAN_RAD) * np.linalg.norm(spine, axis=-1)
    height = pos[:, 0, 2] - pos[..., 2].min(axis=-1)
    return np.asarray(upright & (height > _HIGH * np.percentile(height, 95)))


def _mix(one: Pitches, other: Pitches, share: float) -> Pitches:
    """Pitches between two key poses; a part that only one of them names apart has its role's in the other."""
    names = {*one, *other}
    sided = {name.partition(".")[0] for name in names if "." in name}
    names |= {f"{role}.{side}" for role in sided for side in "LR"}

    def find(pitch: Pitches, name: str) -> float:
        return pitch.get(name, pitch.get(name.partition(".")[0], pitch["trunk"]))

    return {name: (1.0 - share) * find(one, name) + share * find(other, name) for name in names}


def _ease(share: Array) -> Array:
    """(K,) shares from 0 to 1 that begin and end slowly."""
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * np.asarray(share)))
