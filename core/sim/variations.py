# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded variations of a stage: the same motion pushed from other sides, at other times, with other weights.

Variation k of a seed is the same however many there are, so more of them can be had later.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..body import BodyModel
from ..errors import BadSettings, BadStage
from ..geometry.quaternions import Array, rotate
from ..motion import Clip
from ..settings import Settings, setting
from .aiming import aim_throw
from .stage_parts import PropPart, PushPart, StageParts

SIDES = (
    ("any", "Any Side", "From anywhere around the character"),
    ("front", "Front", "From the front, seen by the character, give or take 30 degrees"),
    ("back", "Back", "From behind, give or take 30 degrees"),
    ("left", "Left", "From the character's left, give or take 30 degrees"),
    ("right", "Right", "From the character's right, give or take 30 degrees"),
)
_ANGLES = {"front": 0.0, "left": 90.0, "back": 180.0, "right": 270.0}
_SPREAD_DEG = 30.0
PUSH_S = 0.2
"""How long a push lasts, unless it says otherwise."""
_NAMES = ("the front", "the front left", "the left", "the back left", "the back", "the back right", "the right")
_TRUNK = ("chest", "spine", "pelvis")
_UP: Array = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class VariationSettings(Settings):
    """How the variations differ. What has no room to vary stays as the scene has it; the seed always varies."""

    count: int = setting(20, "Takes", "How many variations are simulated", minimum=1, maximum=1000)
    least_n: float = setting(50.0, "Push from", "The weakest push, in newtons", minimum=0.0, maximum=1e5, unit="N")
    most_n: float = setting(
        200.0, "Push to", "The strongest push, in newtons; 0 for no push", minimum=0.0, maximum=1e5, unit="N"
    )
    side: str = setting("any", "From", "Where pushes and throws come from, as the character stands then", choices=SIDES)
    duration_s: float = setting(0.2, "Duration", "How long a push lasts", minimum=0.001, maximum=100.0, unit="s")
    earliest: float = setting(
        0.1, "Not Before", "When it may happen at the earliest, as a share of the clip", minimum=0.0, maximum=1.0
    )
    latest: float = setting(
        0.6, "Not After", "When it may happen at the latest, as a share of the clip", minimum=0.0, maximum=1.0
    )
    bone: str = setting("", "Bone", "The bone that is pushed or thrown at; empty for the upper trunk")
    throw: bool = setting(
        False, "Throw", "Throw the projectiles of the stage from these sides and at these times instead of their own"
    )
    mass: float = setting(
        0.0,
        "Mass ±",
        "By what share the character gets heavier or lighter, but no stronger",
        minimum=0.0,
        maximum=0.9,
    )
    friction: float = setting(
        0.0, "Friction ±", "By what share the ground gets more or less slippery", minimum=0.0, maximum=1.0
    )
    gravity: float = setting(0.0, "Gravity ±", "By what share gravity changes", minimum=0.0, maximum=1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for low, high, what in (("least_n", "most_n", "push"), ("earliest", "latest", "moment")):
            if getattr(self, low) > getattr(self, high):
                raise BadSettings(
                    f"The {what} goes from {getattr(self, low):g} to {getattr(self, high):g}",
                    "Let the first be the smaller one",
                )

    @property
    def pushes(self) -> bool:
        """Whether there are any pushes."""
        return self.most_n > 0.0


@dataclass(frozen=True, eq=False)
class Variation:
    """One of them: number from 1 on, seed of its job, its stage, what is different in words and as plain values."""

    number: int
    seed: int
    parts: StageParts
    words: str
    facts: dict[str, Any] = field(default_factory=dict)

    def title(self, motion: str) -> str:
        """What its job and take are called: 'Walk push 3: 120 N from the left'."""
        return f"{motion}{' push' if 'push_n' in self.facts else ''} {self.number}: {self.words}"


def make_variations(
    parts: StageParts, clip: Clip, body: BodyModel, settings: VariationSettings, seed: int
) -> tuple[Variation, ...]:
    """All variations of a stage, whose first character has this body and moves as in the clip."""
    return tuple(make_variation(parts, clip, body, settings, seed, number) for number in range(1, settings.count + 1))


def make_variation(
    parts: StageParts, clip: Clip, body: BodyModel, settings: VariationSettings, seed: int, number: int
) -> Variation:
    """The variation of that number, from 1 on."""
    rng = np.random.default_rng([seed, number])
    # Every number is drawn whether it is used or not: switching one thing on does not change the others.
    moment, turn, strength, mass, friction, gravity = rng.uniform(size=6)
    at_s = _moment(clip, settings, moment)
    from_deg = _side(settings.side, turn)
    words: list[str] = []
    facts: dict[str, Any] = {}
    bone = settings.bone or trunk_bone(body)
    if settings.pushes or settings.throw:
        _require_bone(body, bone)
        facts |= {"at_s": at_s, "from_deg": from_deg, "from": _side_name(from_deg), "bone": bone}
    if settings.pushes:
        push_n = settings.least_n + (settings.most_n - settings.least_n) * float(strength)
        parts = replace(parts, pushes=(*parts.pushes, _push(parts, clip, body, facts, push_n, settings)))
        facts |= {"push_n": push_n, "push_s": settings.duration_s}
        words.append(f"{push_n:.0f} N from {facts['from']}")
    if settings.throw:
        parts = replace(parts, props=_thrown(parts, clip, body, facts))
        words.append(f"a throw from {facts['from']}")
    for name, share in (("mass", mass), ("friction", friction), ("gravity", gravity)):
        spread = getattr(settings, name)
        if spread:
            factor = 1.0 + spread * (2.0 * float(share) - 1.0)
            parts = _changed(parts, name, factor)
            facts[f"{name}_factor"] = factor
            words.append(f"{name} {100.0 * (factor - 1.0):+.0f} %")
    return Variation(number, seed + number - 1, parts, ", ".join(words) or f"seed {seed + number - 1}", facts)


def add_push_part(
    parts: StageParts, clip: Clip, body: BodyModel, push_n: float, at_s: float, side: str, intent: str = ""
) -> StageParts:
    """The parts with a push on the first character's trunk, from a side as it stands then.

    intent: the reaction that its strength is to be found for; newtons are then only a beginning.
    """
    if not 0.0 <= at_s < clip.duration_s:
        raise BadSettings(
            f"A push at {at_s:g} s is outside of the clip, which lasts {clip.duration_s:.2f} s", "Push earlier"
        )
    lasts_s = min(PUSH_S, clip.duration_s - at_s)
    force = push_n * _towards(body, clip, at_s, _ANGLES[side])
    name, character = f"Push {len(parts.pushes) + 1}", parts.characters[0] if parts.characters else ""
    push = PushPart(name, character, trunk_bone(body), force, at_s, lasts_s, intent)
    return replace(parts, pushes=(*parts.pushes, push))


def trunk_bone(body: BodyModel) -> str:
    """The bone of the upper trunk: the uppermost of the spine, or the pelvis of a body without."""
    for role in _TRUNK:
        found = [link.bone for link in body.links if link.role == role]
        if found:
            return found[-1]
    return body.links[0].bone


def facing_direction_at(body: BodyModel, clip: Clip, time_s: float) -> Array:
    """(3,) level unit vector: where the character faces at that time, by its hips."""
    pos, quat = clip.world()
    frame = int(np.clip(round(time_s * clip.fps), 0, len(clip) - 1))
    hips = {link.side: clip.skeleton.index(link.bone) for link in body.links if link.role == "thigh"}
    if "L" in hips and "R" in hips:
        ahead = np.cross(pos[frame, hips["L"]] - pos[frame, hips["R"]], _UP)
        if np.linalg.norm(ahead) > 1e-3:
            return np.asarray(ahead / np.linalg.norm(ahead))
    # Where it lies on its side, or has no legs: the way the root turns what was ahead at rest.
    root = clip.skeleton.index(body.links[0].bone)
    _, rest = clip.skeleton.rest_world()
    ahead = rotate(quat[frame, root], rotate(rest[root] * [1.0, -1.0, -1.0, -1.0], np.array([0.0, -1.0, 0.0])))
    ahead[2] = 0.0
    length = float(np.linalg.norm(ahead))
    return ahead / length if length > 1e-3 else np.array([0.0, -1.0, 0.0])


def _moment(clip: Clip, settings: VariationSettings, share: float) -> float:
    """Seconds; a push is over before the clip is."""
    at_s = (settings.earliest + (settings.latest - settings.earliest) * float(share)) * clip.duration_s
    if settings.pushes:
        at_s = min(at_s, clip.duration_s - settings.duration_s)
    if at_s < 0.0:
        raise BadSettings(
            f"A push of {settings.duration_s:g} s does not fit into a clip of {clip.duration_s:.2f} s",
            "Make it shorter",
        )
    return at_s


def _side(side: str, share: float) -> float:
    """Degrees from straight ahead, counter-clockwise seen from above: 90 is the left."""
    if side == "any":
        return 360.0 * float(share)
    return (_ANGLES[side] + _SPREAD_DEG * (2.0 * float(share) - 1.0)) % 360.0


def _side_name(degrees: float) -> str:
    return (*_NAMES, "the front right")[round(degrees / 45.0) % 8]


def _towards(body: BodyModel, clip: Clip, at_s: float, from_deg: float) -> Array:
    """(3,) the level direction of what comes from that side."""
    ahead = facing_direction_at(body, clip, at_s)
    left = np.cross(_UP, ahead)
    angle = np.radians(from_deg)
    return np.asarray(-(np.cos(angle) * ahead + np.sin(angle) * left))


def _push(
    parts: StageParts, clip: Clip, body: BodyModel, facts: dict[str, Any], push_n: float, settings: VariationSettings
) -> PushPart:
    force = push_n * _towards(body, clip, facts["at_s"], facts["from_deg"])
    name = parts.characters[0] if parts.characters else ""
    return PushPart("Variation", name, facts["bone"], force, facts["at_s"], settings.duration_s)


def _thrown(parts: StageParts, clip: Clip, body: BodyModel, facts: dict[str, Any]) -> tuple[PropPart, ...]:
    """The props, those that fly thrown from another side at another time, from as far and with as much speed."""
    flying = [prop for prop in parts.props if np.linalg.norm(prop.velocity) > 0.0]
    if not flying:
        raise BadStage("There is nothing on the stage to throw", "Mark an object as a projectile, or switch Throw off")
    pos, _ = clip.world()
    bone = clip.skeleton.index(facts["bone"])
    towards = _towards(body, clip, facts["at_s"], facts["from_deg"])
    first = int(facts["at_s"] * clip.fps)

    def thrown(prop: PropPart) -> PropPart:
        was = int(np.clip(round(prop.appears_s * clip.fps), 0, len(clip) - 1))
        far = float(np.linalg.norm((np.asarray(prop.pos) - pos[was, bone])[:2]))
        start = pos[first, bone] - far * towards
        start[2] = prop.pos[2]
        speed = float(np.linalg.norm(prop.velocity))
        velocity, _ = aim_throw(start, speed, np.asarray(parts.gravity), pos[first:, bone], 1.0 / clip.fps)
        return replace(prop, pos=start, velocity=velocity, appears_s=facts["at_s"])

    return tuple(thrown(prop) if prop in flying else prop for prop in parts.props)


def _changed(parts: StageParts, name: str, factor: float) -> StageParts:
    if name == "mass":
        return replace(parts, mass_factor=parts.mass_factor * factor)
    if name == "friction":
        return replace(parts, friction=parts.friction * factor)
    return replace(parts, gravity=np.asarray(parts.gravity) * factor)


def _require_bone(body: BodyModel, bone: str) -> None:
    if body.link_of(bone) < 0:
        links = ", ".join(link.bone for link in body.links)
        raise BadStage(f"'{bone}' has no body that could be pushed", f"Choose one of the bones that do: {links}")
