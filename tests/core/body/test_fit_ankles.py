# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs as wide as a robot's: the foot is what stands, not the round end of the leg."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body.fit_ankles import end_above_soles
from sinew.core.body.fit_shapes import capsule_between
from sinew.core.body.model import BodyModel, Joint, Link, Shape
from sinew.core.motion import Skeleton

FOOT = Shape("box", np.array([0.13, 0.045, 0.04]), np.array([0.0, -0.06, 0.04]))
TOP = np.array([0.0, 0.0, 0.5])


def leg() -> BodyModel:
    """A pelvis, a shin and a foot, one below the other."""
    places = np.array([[0.0, 0.0, 0.6], [0.0, 0.0, -0.1], [0.0, 0.0, -0.4]])
    straight = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
    names, parents = ("pelvis", "shin", "foot"), np.array([-1, 0, 1])
    bones = Skeleton(names, parents, places, straight, np.full(3, 0.2))
    ball = (Shape("sphere", np.array([0.03, 0.0, 0.0]), np.zeros(3)),)
    links = [
        Link(name, name, "L" if index else "", index - 1, Joint("ball" if index else "free", place, straight[0]), ball,
             1.0, np.zeros(3), np.eye(3) * 1e-3)
        for index, (name, place) in enumerate(zip(names, places, strict=True))
    ]  # fmt: skip
    return BodyModel(bones, tuple(links))


def lowest(shape: Shape) -> float:
    """Of an upright capsule."""
    return float(shape.pos[2] - shape.size[1] - shape.size[0])


@pytest.mark.parametrize("reaches", [-0.02, 0.0, 0.03])
def test_a_leg_that_reaches_the_ground_ends_half_a_foot_above_it(reaches):
    shin = capsule_between(TOP, np.array([0.0, 0.0, reaches + 0.07]), 0.07)
    fitted = end_above_soles(leg(), {"shin": shin, "foot": FOOT})
    assert lowest(shin) == pytest.approx(reaches) and lowest(fitted["shin"]) == pytest.approx(0.04)
    top = fitted["shin"].pos[2] + fitted["shin"].size[1]
    assert top == pytest.approx(TOP[2]) and fitted["shin"].size[0] == shin.size[0]
    assert fitted["foot"] is FOOT


def test_other_legs_stay_as_they_are():
    shin = capsule_between(TOP, np.array([0.0, 0.0, 0.15]), 0.05)
    lying = replace(shin, quat_wxyz=np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]), pos=np.array([0.0, 0.0, 0.05]))
    for one in (shin, lying):
        shapes = {"shin": one, "foot": FOOT}
        assert end_above_soles(leg(), shapes)["shin"] is one
    assert end_above_soles(leg(), {"shin": shin}) == {"shin": shin}
