# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are given, such as a robot's: masses, joints and limits are taken over, and only servos made for them.

A given body travels as plain values: on its armature in a .blend, and in a job.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import BadFile, RigError
from ..files import parse_json
from ..geometry.quaternions import Array, angle_between, conjugate, multiply, rotate
from ..limits import GIVEN_BODY_LETTERS
from ..motion import Skeleton
from .edits import apply_edits, apply_stiffness
from .four_legs import find_front_feet
from .gains import Servo, with_servo
from .given_servos import make_given_servos
from .io import body_from_arrays, body_to_arrays
from .model import BodyModel, Link
from .part_edit import PartEdit
from .report import BodyReport, BoneChoice, LinkChoice

_SAME_SHARE, _SAME_RAD = 0.01, 0.02  # of the body's size: what Blender's single precision and a pose's digits leave
_AGAIN = "Import the model again, or forget the body that it came with (Body > Forget Given Body)"


def given_to_mapping(body: BodyModel) -> dict[str, Any]:
    """The body as plain values, exact to the last bit."""
    arrays, meta = body_to_arrays(body)
    return {"meta": meta, "arrays": {name: array.tolist() for name, array in arrays.items()}}


def given_from_mapping(values: Mapping[str, Any]) -> BodyModel:
    """The inverse; what is no body is a ``BadFile``."""
    try:
        whole = {"parents", "link_parents"}
        arrays = {
            name: np.array(value, dtype=np.int64 if name in whole else float)
            for name, value in values["arrays"].items()
        }
        meta = values["meta"]
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise BadFile(f"The given body cannot be read: {error}", _AGAIN) from error
    return body_from_arrays(arrays, meta)


@lru_cache(maxsize=8)
def given_from_text(text: str) -> Mapping[str, Any] | None:
    """What a .blend keeps of a given body, None for ''; checked, for others may have written it."""
    if not text:
        return None
    if len(text) > GIVEN_BODY_LETTERS:
        raise BadFile(f"The given body has {len(text)} letters, and {GIVEN_BODY_LETTERS} is the most", _AGAIN)
    try:
        values = parse_json(text)
    except ValueError as error:
        raise BadFile(f"The given body cannot be read: {error}", _AGAIN) from error
    if not isinstance(values, dict):
        raise BadFile("The given body is no mapping", _AGAIN)
    given_from_mapping(values)
    return values


def build_given_body(
    skeleton: Skeleton,
    given: BodyModel,
    *,
    gains: str = "athlete",
    overrides: Mapping[str, str] | None = None,
    mass_kg: float | None = None,
    edits: Mapping[str, PartEdit] | None = None,
) -> tuple[BodyModel, BodyReport]:
    """The given body on the bones of ``skeleton``, which must rest as it did, held by servos; and what was chosen.

    Efforts are the model's own where it has any; stiffness and damping, and other efforts, are those of the preset
    for what each joint carries. overrides: by bone another role.
    """
    _require_same_rest(skeleton, given)
    edits = edits or {}
    body = replace(given, skeleton=skeleton, links=tuple(_named(link, overrides or {}) for link in given.links))
    if mass_kg is not None:
        share = mass_kg / body.mass
        weighed = (replace(link, mass=link.mass * share, inertia=link.inertia * share) for link in body.links)
        body = replace(body, links=tuple(weighed))
    body = apply_edits(body, edits, mass_kg)
    servos = apply_stiffness(make_given_servos(body, gains), body.links, edits)
    pairs = zip(body.links, servos, strict=True)
    body = replace(body, links=tuple(replace(link, joint=with_servo(link.joint, servo)) for link, servo in pairs))
    return body, _report(body, servos, gains)


def _require_same_rest(skeleton: Skeleton, given: BodyModel) -> None:
    own = given.skeleton
    for bone, parent in zip(own.names, own.parents, strict=True):
        if bone not in skeleton.names:
            raise RigError(f"The given body moves bone '{bone}', which is not there any more", _AGAIN)
        above = skeleton.parents[skeleton.index(bone)]
        if parent >= 0 and (above < 0 or skeleton.names[above] != own.names[parent]):
            raise RigError(f"Bone '{bone}' hangs on another bone than the given body has it", _AGAIN)
    order = [skeleton.index(bone) for bone in own.names]
    (here, here_turn), (there, there_turn) = skeleton.rest_world(), own.rest_world()
    size = max(float(np.ptp(there, axis=0).max()), 1e-6)
    off = np.linalg.norm((here[order] - here[order[0]]) - _turned(here_turn[order[0]], there_turn[0], there), axis=-1)
    worst = int(np.argmax(off))
    if off[worst] > _SAME_SHARE * size:
        raise RigError(
            f"Bone '{own.names[worst]}' rests {off[worst]:.3f} m from where the given body has it",
            "Undo what was done to the armature in Edit Mode or to its scale, or forget the given body",
        )
    relative = angle_between(skeleton.rest_quat_wxyz[order][1:], own.rest_quat_wxyz[1:])
    if len(relative) and relative.max() > _SAME_RAD:
        bone = own.names[1 + int(np.argmax(relative))]
        raise RigError(f"Bone '{bone}' rests otherwise turned than the given body has it", _AGAIN)


def _turned(now: Array, then: Array, heads: Array) -> Array:
    """(B, 3) heads from the first one, turned as the whole was: the object itself may be."""
    return rotate(multiply(now, conjugate(then)), heads - heads[0])


def _named(link: Link, overrides: Mapping[str, str]) -> Link:
    text = overrides.get(link.bone, "")
    if text in ("ride", "merge"):
        raise RigError(f"Bone '{link.bone}' is a part of the given body, and cannot {text}", "Take that back")
    role, _, side = text.partition(".")
    return replace(link, role=role, side=side) if role else link


def _report(body: BodyModel, servos: list[Servo], gains: str) -> BodyReport:
    known = {link.bone: link for link in body.links}
    bones = tuple(
        BoneChoice(name, "link", known[name].role, known[name].side, "given", name)
        if name in known
        else BoneChoice(name, "ride", "", "", "none", "")
        for name in body.skeleton.names
    )
    links = tuple(
        LinkChoice(
            link.bone, link.role, link.side, body.links[link.parent].bone if link.parent >= 0 else "", link.mass,
            servo.load, f"{link.joint.kind}: given", "given",
        )
        for link, servo in zip(body.links, servos, strict=True)
    )  # fmt: skip
    kind = "quadruped" if len(find_front_feet(body)) else "biped"
    heights = body.skeleton.rest_world()[0][:, 2]
    return BodyReport(kind, float(np.ptp(heights)), body.mass, "given", gains, bones, links)
