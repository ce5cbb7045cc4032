# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens on a stage, in the few words that a take's name has room for."""

import numpy as np

from sinew.core.body import Shape
from sinew.core.sim.stage_parts import PropPart, PushPart, StageParts
from sinew.core.sim.stage_words import describe_events


def push(name="Push", bone="chest", newtons=200.0, start_s=1.0, character="Hero"):
    return PushPart(name, character, bone, np.array([0.0, newtons, 0.0]), start_s, 0.2)


def ball(name="Ball", speed=12.0, appears_s=0.5):
    shape = Shape("sphere", np.array([0.1, 0.0, 0.0]), np.zeros(3))
    return PropPart(name, 1.0, np.zeros(3), shape=shape, velocity=np.array([speed, 0.0, 0.0]), appears_s=appears_s)


def words(*events, characters=("Hero",)):
    pushes = tuple(one for one in events if isinstance(one, PushPart))
    props = tuple(one for one in events if isinstance(one, PropPart))
    return describe_events(StageParts(characters=characters, pushes=pushes, props=props))


def test_nothing_happens_on_an_empty_stage():
    assert words() == () and words(ball(speed=0.0, appears_s=0.0)) == ()


def test_a_push_is_its_bone_and_its_force():
    assert words(push()) == ("push chest 200 N",)
    assert words(push(bone="mixamorig:Spine_2", newtons=123.4)) == ("push Spine 2 123 N",)


def test_a_push_that_swells_is_its_strongest_part():
    assert words(push(newtons=50.0), push(newtons=180.0, start_s=1.2), push(newtons=20.0, start_s=1.4)) == (
        "push chest 180 N",
    )


def test_events_come_in_their_order_and_many_are_counted():
    assert words(push(), ball()) == ("Ball thrown 12 m/s", "push chest 200 N")
    many = [push(f"Push {number}", start_s=number) for number in range(5)]
    assert words(*many) == ("push chest 200 N", "push chest 200 N", "3 more")
    assert words(ball(speed=0.0)) == ("Ball dropped",)


def test_a_push_of_somebody_else_says_whom():
    assert words(push(character="Anna"), characters=("Hero", "Anna")) == ("push Anna chest 200 N",)
