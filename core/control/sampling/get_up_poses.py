# SPDX-License-Identifier: GPL-3.0-or-later
"""How somebody who lies gets up, as key poses by role: over to the front, on hands and knees, kneeling, rising.

Every part has a pitch: degrees by which it is turned about the axis from right to left, from a body that stands upright
with limbs that hang down. A trunk at 90 lies on its front; a thigh at -90 points forwards. Nobody's hip bends further
than a right angle in any of them, so that a stiff body can do it too.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...body import BodyModel
from ...body.four_legs import find_front_feet, lowest_height
from ...body.poses import link_transforms
from ...geometry.quaternions import IDENTITY, Array, conjugate, from_rotation_vector, multiply, rotate

Pitches = Mapping[str, float]
_UP, _LEFT, _AHEAD = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
_NEEDED = ("upper_arm", "forearm", "thigh", "shin", "foot")
_TRUNK = ("pelvis", "spine", "chest", "neck", "head", "clavicle")


@dataclass(frozen=True)
class GetUpPose:
    """Pitches in degrees by part, of one side where it says so ('thigh.L'); what is not named has its trunk's.

    lasts_s: how long it takes to get there. holds: parts that stay in place meanwhile, seen from above.
    roll: degrees about the way from feet to head; 0 lies on the front, 90 on the left side, 180 on the back.
    """

    lasts_s: float
    pitch: Pitches
    holds: tuple[str, ...]
    roll: float = 0.0


_ON_BACK = {
    "trunk": 90.0, "thigh": 90.0, "shin": 90.0, "foot": 110.0, "upper_arm": 60.0, "forearm": -20.0, "hand": -20.0,
}  # fmt: skip
_LYING = {"trunk": 90.0, "thigh": 90.0, "shin": 90.0, "foot": 140.0, "upper_arm": 110.0, "forearm": 10.0, "hand": -60.0}
_FOURS = {"trunk": 80.0, "thigh": 0.0, "shin": 90.0, "foot": 140.0, "upper_arm": 0.0, "forearm": 0.0, "hand": -70.0}
_BACK = {
    "trunk": 55.0, "thigh": -30.0, "shin": 88.0, "foot": 100.0, "upper_arm": -40.0, "forearm": -45.0, "hand": -60.0,
}  # fmt: skip
_KNEEL = {"trunk": 8.0, "thigh": -10.0, "shin": 88.0, "foot": 90.0, "upper_arm": -5.0, "forearm": -30.0, "hand": -30.0}
_STEP = {**_KNEEL, "thigh.L": -75.0, "shin.L": 35.0, "foot.L": 20.0, "thigh.R": -3.0}
_LUNGE = {**_KNEEL, "trunk": 15.0, "thigh.L": -70.0, "shin.L": 0.0, "foot.L": 0.0, "thigh.R": 0.0, "foot.R": 75.0}
_RISE = {
    "trunk": 35.0, "thigh.L": -55.0, "shin.L": 25.0, "foot.L": 0.0, "thigh.R": 5.0, "shin.R": 70.0, "foot.R": 55.0,
    "upper_arm": -20.0, "forearm": -50.0, "hand": -50.0,
}  # fmt: skip
_CROUCH = {
    "trunk": 28.0, "thigh.L": -45.0, "shin.L": 25.0, "foot.L": 0.0, "thigh.R": -10.0, "shin.R": 50.0, "foot.R": 35.0,
    "upper_arm": -10.0, "forearm": -40.0, "hand": -40.0,
}  # fmt: skip
RISING = (
    GetUpPose(0.8, _LYING, ("pelvis",)),
    GetUpPose(0.9, _FOURS, ("forearm",)),
    GetUpPose(0.5, _BACK, ("shin",)),
    GetUpPose(0.6, _KNEEL, ("shin",)),
    GetUpPose(0.4, _STEP, ("shin.R",)),
    GetUpPose(0.3, _LUNGE, ("shin.R",)),
    GetUpPose(0.5, _RISE, ("foot.L",)),
    GetUpPose(0.4, _CROUCH, ("foot.L",)),
)
"""From lying on the front to a crouch with the left foot ahead."""
PIVOT = "foot.L"
"""What it rises from the crouch over."""
_ON_FRONT_DEG = 60.0  # who lies nearer than this to its front need not roll over


def plan_key_poses(roll_deg: float) -> tuple[GetUpPose, ...]:
    """The key poses of somebody who lies rolled over by so much: by way of the side that it is on, where it must."""
    if abs(roll_deg) < _ON_FRONT_DEG:
        return RISING
    side = float(np.sign(roll_deg))
    upper = "R" if side > 0.0 else "L"
    over = {**_ON_BACK, f"thigh.{upper}": 30.0, f"shin.{upper}": 100.0}
    arms = {part: _ON_BACK[part] for part in ("upper_arm", "forearm", "hand")}
    onto = {**_LYING, f"thigh.{upper}": 60.0, f"shin.{upper}": 110.0, **arms}
    turning = (
        GetUpPose(0.5, over, ("pelvis",), roll_deg),
        GetUpPose(0.6, over, ("pelvis",), side * min(abs(roll_deg), 90.0)),
        GetUpPose(0.5, onto, ("pelvis",), side * 20.0),
    )
    return (*turning, *RISING)


class PitchedPoses:
    """Turns of a body's links by pitches, and which way it lies; made from a pose in which it stands upright.

    heading: radians from +X to where it faces there.
    """

    def __init__(self, body: BodyModel, standing: Array) -> None:
        """standing: (nq,)."""
        self.body = body
        self.places = {(link.role, link.side): i for i, link in enumerate(body.links)}
        pos, quat = link_transforms(body, standing)
        self.heading = self._find_heading(pos)
        level = from_rotation_vector(-self.heading * _UP)
        pos, quat = rotate(level, pos - pos[0]), multiply(level, quat)
        upright = _shortest_turn(self._find_spine(pos), _UP)
        self._parts: list[str] = []
        self._base = np.empty((len(body.links), 4))
        for index, link in enumerate(body.links):
            part, turn = self._settle(index, quat, upright)
            self._parts.append(f"{part}.{link.side}" if link.side and part != "trunk" else part)
            self._base[index] = multiply(turn, quat[index])
        self._front = rotate(conjugate(self._base[0]), _AHEAD)

    def _settle(self, index: int, quat: Array, upright: Array) -> tuple[str, Array]:
        """A link's part, and what turns it from a stance into hanging down or standing upright."""
        link = self.body.links[index]
        if link.role in ("upper_arm", "forearm", "hand", "thigh", "shin"):
            return link.role, _shortest_turn(rotate(quat[index], self._limb(index)), -_UP)
        if link.role in ("foot", "toe"):
            return "foot", IDENTITY
        if link.parent < 0 or link.role in _TRUNK:
            return "trunk", upright
        return self._parts[link.parent].split(".")[0], upright

    def _limb(self, index: int) -> Array:
        """(3,) the way along a limb in the link's frame."""
        below = next((link.joint.pos for link in self.body.links if link.parent == index), None)
        return self.body.links[index].com if below is None else below

    def _find_heading(self, pos: Array) -> float:
        across = pos[self.places["thigh", "L"]] - pos[self.places["thigh", "R"]]
        return float(np.arctan2(-across[0], across[1]))

    def _find_spine(self, pos: Array) -> Array:
        """(3,) metres from between the hips to between the shoulders."""
        shoulders, hips = (
            (pos[self.places[role, "L"]] + pos[self.places[role, "R"]]) / 2.0 for role in ("upper_arm", "thigh")
        )
        return np.asarray(shoulders - hips)

    def describe_lying(self, qpos: Array) -> tuple[float, float]:
        """Of a pose (nq,) in which it lies: radians from +X to where its head is, and its roll in degrees."""
        pos, quat = link_transforms(self.body, qpos)
        spine = self._find_spine(pos)
        heading = float(np.arctan2(spine[1], spine[0]))
        front = rotate(multiply(from_rotation_vector(-heading * _UP), quat[0]), self._front)
        return heading, float(np.degrees(np.arctan2(front[1], -front[2])))

    def turn_links(self, pitch: Pitches, roll_deg: float) -> Array:
        """(L, 4) how links are turned in a key pose that faces along +X."""
        over = from_rotation_vector(np.radians(roll_deg) * _AHEAD)
        found = np.empty_like(self._base)
        for index, (base, part) in enumerate(zip(self._base, self._parts, strict=True)):
            degrees = pitch.get(part, pitch.get(part.split(".")[0], pitch["trunk"]))
            turn = multiply(over, from_rotation_vector(np.radians(degrees) * _LEFT))
            found[index] = multiply(turn, base)
        return found

    def find_links(self, parts: tuple[str, ...]) -> list[int]:
        """The links of parts such as 'shin' or 'foot.L'; the root where there are none."""
        sides = [(role, side) for role, _, side in (part.partition(".") for part in parts)]
        return [
            index
            for index, link in enumerate(self.body.links)
            if (link.role, "") in sides or (link.role, link.side) in sides
        ] or [0]


def explain_cannot_rise(body: BodyModel) -> str:
    """Why no key poses fit the body; '' where they do."""
    if len(find_front_feet(body)):
        return "it goes on four legs"
    have = {(link.role, link.side) for link in body.links}
    missing = [role for role in _NEEDED if not {(role, "L"), (role, "R")} <= have]
    return f"it has no {missing[0].replace('_', ' ')} on both sides" if missing else ""


def find_lowest(body: BodyModel, qpos: Array) -> Array:
    """(T,) metres: the height of the lowest point of poses (T, nq)."""
    pos, quat = link_transforms(body, qpos)
    heights = [
        lowest_height(shape, pos[:, index], quat[:, index])
        for index, link in enumerate(body.links)
        for shape in link.shapes
    ]
    return np.asarray(np.min(heights, axis=0))


def _shortest_turn(one: Array, other: Array) -> Array:
    """(4,) the rotation by the least angle that turns one direction (3,) into the other."""
    one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
    axis = np.cross(one, other)
    sine, cosine = float(np.linalg.norm(axis)), float(one @ other)
    if sine < 1e-9:
        return IDENTITY if cosine > 0.0 else from_rotation_vector(np.pi * _AHEAD)
    return np.asarray(from_rotation_vector(axis / sine * np.arctan2(sine, cosine)))
