# SPDX-License-Identifier: GPL-3.0-or-later
"""Servos for a given body: stiffness by what each joint carries, strength as the model has it where it says so."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..geometry.quaternions import rotate
from .four_legs import find_front_feet
from .gains import CROUCHED, LEG, Servo, leg_role, scale_servo, shape_reach
from .model import BodyModel
from .presets import gain_preset

_NAMELESS = "spine"  # whose gains a joint has that is none of a person's


def make_given_servos(body: BodyModel, gains: str) -> list[Servo]:
    """The servo of every link's joint; hinges in a row are made for what they carry together, each of them whole."""
    preset, four = gain_preset(gains), bool(len(find_front_feet(body)))
    joints = _joints(body)
    found = [Servo(0.0, 0.0, 0.0, 0.0)]
    for index, link in enumerate(body.links[1:], start=1):
        first, last = joints[index]
        role = leg_role(body.joint_roles[index], four)
        role = role if role in preset.joints else _NAMELESS
        servo = scale_servo(preset, role, max(_load(body, joints, first, last, role in LEG, four), 1e-3))
        effort = link.joint.torque_limit
        found.append(replace(servo, torque_limit=effort) if effort > 0.0 else servo)
    return found


def _joints(body: BodyModel) -> dict[int, tuple[int, int]]:
    """By link the first and the last of its joint: of hinges in a row, or the link itself twice."""
    rows = {index: (row[0], row[-1]) for row in body.hinge_rows for index in row}
    return {index: rows.get(index, (index, index)) for index in range(len(body.links))}


def _load(
    body: BodyModel, joints: dict[int, tuple[int, int]], first: int, last: int, is_leg: bool, four_legged: bool
) -> float:
    """kg·m that a joint carries: a leg's all that is not below it, on its own length; others what hangs on them."""
    heads, quats = body.skeleton.rest_world()
    bones = [body.skeleton.index(link.bone) for link in body.links]
    below = _subtree(body, first)
    head = heads[bones[first]]
    if not is_leg:
        places = [heads[bones[i]] + rotate(quats[bones[i]], body.links[i].com) for i in below]
        return sum(
            body.links[i].mass * float(np.linalg.norm(place - head)) for i, place in zip(below, places, strict=True)
        )
    carried = body.mass - sum(body.links[i].mass for i in below)
    following = next((i for i, link in enumerate(body.links) if link.parent == last), -1)
    if following < 0:
        lever = max(shape_reach(shape) for shape in body.links[last].shapes)
    else:
        lever = float(np.linalg.norm(heads[bones[joints[following][0]]] - head))
    return carried * lever * (CROUCHED if four_legged else 1.0)


def _subtree(body: BodyModel, top: int) -> Sequence[int]:
    found = [top]
    for index, link in enumerate(body.links):
        if index > top and link.parent in found:
            found.append(index)
    return found
