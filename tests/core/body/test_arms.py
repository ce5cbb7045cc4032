# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms that cut into the floor are raised at the shoulder, arms that carry are not, and nothing else is touched."""

import numpy as np
import pytest

from sinew.core.body.arms import raise_arms
from sinew.core.body.clearance import SOFT_M, link_clearances
from sinew.core.body.model import BodyModel, Joint, Link, Shape
from sinew.core.body.terrain_adaptation import adapt_to_ground
from sinew.core.geometry.quaternions import angle_between, from_rotation_vector
from sinew.core.motion import Clip, Skeleton

FPS = 60.0
TIME = np.arange(241) / FPS
ARM = [2, 3]
UPPER, LOWER, THICK = 0.3, 0.3, 0.04  # metres: an arm straight along its bones' +Y, as thick as this
SHOULDER = 0.4  # metres above the floor of who sits on it
# Bones: the trunk, a foot on the floor, the arm. An arm that is not turned points along +Y.
BONES = Skeleton(
    ("trunk", "foot", "arm", "forearm"),
    np.array([-1, 0, 0, 2]),
    np.array([[0.0, 0.0, 0.11], [0.0, -0.5, -0.06], [0.1, 0.0, SHOULDER - 0.11], [0.0, UPPER, 0.0]]),
    np.tile([1.0, 0.0, 0.0, 0.0], (4, 1)),
    np.array([0.3, 0.1, UPPER, LOWER]),
)


def _link(bone, role, parent, joint, shape):
    return Link(bone, role, "", parent, Joint(joint, np.zeros(3)), (shape,), 1.0, np.zeros(3), np.eye(3))


def _capsule(length):
    """Along a bone, its round ends at the joints."""
    quat = from_rotation_vector(np.array([np.pi / 2, 0.0, 0.0]))
    return Shape("capsule", np.array([THICK, 0.5 * length, 0.0]), np.array([0.0, 0.5 * length, 0.0]), quat)


BODY = BodyModel(
    BONES,
    (
        _link("trunk", "pelvis", -1, "free", Shape("sphere", np.array([0.1, 0.0, 0.0]), np.zeros(3))),
        _link("foot", "foot", 0, "ball", Shape("box", np.array([0.05, 0.1, 0.05]), np.zeros(3))),
        _link("arm", "upper_arm", 0, "ball", _capsule(UPPER)),
        _link("forearm", "forearm", 2, "ball", _capsule(LOWER)),
    ),
)


def smooth(start_s: float, stop_s: float) -> np.ndarray:
    """(T,) from 0 to 1 between two moments."""
    share = np.clip((TIME - start_s) / (stop_s - start_s), 0.0, 1.0)
    return share**2 * (3.0 - 2.0 * share)


DOWN = smooth(1.0, 1.4) - smooth(2.2, 2.6)
LEVEL, DEEP = (TIME < 0.6) | (TIME > 3.0), (TIME > 1.4) & (TIME < 2.2)


def sitting(down: float, bend: float = 0.0, lower: float = 0.0) -> Clip:
    """Sits on the floor with an arm held level, which is lowered by ``down`` radians for a while and raised again.

    bend: radians, of the elbow, the forearm up or, negative, down and in. lower: metres that the shoulder goes down.
    """
    turns, pos = np.zeros((len(TIME), 4, 3)), np.tile(BONES.rest_pos, (len(TIME), 1, 1))
    turns[:, 2, 0], turns[:, 3, 0] = -down * DOWN, bend * DOWN
    pos[:, 2, 2] -= lower * DOWN
    return Clip(BONES, FPS, pos, from_rotation_vector(turns), "sits")


def bottoms(clip: Clip) -> np.ndarray:
    """(T,) metres from the floor at 0 up to the arm's lowest point."""
    return link_clearances(BODY, clip)[:, ARM].min(axis=1)


def turned(one: Clip, other: Clip) -> np.ndarray:
    """(T,) degrees between the shoulders of two clips."""
    return np.degrees(angle_between(one.local_quat_wxyz[:, 2], other.local_quat_wxyz[:, 2]))


def only_the_shoulder_differs(one: Clip, other: Clip) -> bool:
    others = [0, 1, 3]
    return np.array_equal(one.local_pos, other.local_pos) and np.array_equal(
        one.local_quat_wxyz[:, others], other.local_quat_wxyz[:, others]
    )


def reaching(metres: float) -> float:
    """The angle at which the stretched arm is so deep in the floor."""
    return float(np.arcsin((SHOULDER - THICK + metres) / (UPPER + LOWER)))


def test_a_forearm_in_the_floor_is_raised_to_it_and_the_rest_stays_to_the_bit():
    clip = sitting(reaching(0.1))
    assert bottoms(clip)[DEEP].max() == pytest.approx(-0.1)
    raised = raise_arms(BODY, clip)
    # To the floor, in which it may be by as much as contacts are soft, and no higher.
    assert bottoms(raised)[DEEP] == pytest.approx(-SOFT_M, abs=1e-3)
    assert bottoms(raised).min() > -SOFT_M - 1e-3
    assert turned(clip, raised)[DEEP] == pytest.approx(np.degrees(reaching(0.1) - reaching(SOFT_M)), abs=0.2)
    assert only_the_shoulder_differs(clip, raised)
    assert np.array_equal(raised.local_quat_wxyz[LEVEL], clip.local_quat_wxyz[LEVEL])


def test_it_is_turned_straight_up_and_by_no_jump():
    clip = sitting(reaching(0.1))
    raised = raise_arms(BODY, clip)
    # The arm goes down along +Y, and stays above that line.
    hand = raised.world()[0][:, 3] - clip.world()[0][:, 3]
    assert np.abs(hand[:, 0]).max() < 1e-12
    # Even where it has to come at once: an eighth of it a frame is what the envelope's steepest part has.
    pos = np.array(clip.local_pos)
    pos[120:, 0, 2] -= 0.1
    for one in (clip, Clip(BONES, FPS, pos, clip.local_quat_wxyz, "drops")):
        turn = turned(one, raise_arms(BODY, one))
        assert turn.max() > 5.0 and np.abs(np.diff(turn)).max() < 0.13 * turn.max()


def test_an_arm_above_the_floor_is_left():
    for clip in (sitting(reaching(-0.02)), sitting(reaching(0.5 * SOFT_M))):
        assert raise_arms(BODY, clip) is clip


def test_the_body_is_then_neither_lifted_nor_left_hovering():
    """Without it, a forearm 10 cm in the floor would lift the whole body by as much."""
    made, report = adapt_to_ground(BODY, sitting(reaching(0.1)), None)
    assert report.lift < 1e-3 and report.drop == 0.0
    assert np.abs(made.local_pos[:, 0, 2] - BONES.rest_pos[0, 2]).max() < 2e-3


@pytest.mark.parametrize("bend", [0.0, -112.0], ids=["on a hand", "on an elbow"])
def test_a_steep_arm_carries_and_the_body_is_lifted_instead(bend):
    """Whether on a hand or on the elbow, with the forearm across: what is low about it is under the shoulder."""
    down, lower = (68.0, 0.15) if bend else (72.0, -0.1)
    clip = sitting(np.radians(down), np.radians(bend), lower)
    deep = -bottoms(clip)[DEEP].min()
    assert deep > 0.05
    raised = raise_arms(BODY, clip)
    # On its way down it is not steep yet, and turned if need be; that is over by then.
    then = (TIME > 1.7) & (TIME < 1.9)
    assert turned(clip, raised)[then].max() < 1e-9
    made, report = adapt_to_ground(BODY, clip, None)
    assert (made.local_pos - clip.local_pos)[then, 0, 2] == pytest.approx(deep - SOFT_M, abs=2e-3)
    assert report.lifted_frames >= np.sum(DEEP) and link_clearances(BODY, made).min() > -SOFT_M - 1e-3


@pytest.mark.parametrize("bend", [1.0, 2.0, 3.0])
def test_an_elbow_in_the_floor_is_raised_wherever_the_hand_is(bend):
    clip = sitting(np.radians(40.0), bend, 0.25)
    deep = -bottoms(clip)[DEEP].min()
    assert deep == pytest.approx(UPPER * np.sin(np.radians(40.0)) + THICK - SHOULDER + 0.25, abs=1e-6) and deep > 0.08
    raised = raise_arms(BODY, clip)
    assert bottoms(raised)[DEEP] == pytest.approx(-SOFT_M, abs=2e-3)


def test_a_shoulder_in_the_floor_is_nothing_to_turn_an_arm_for():
    """Of who lies on it: no turn would help, so the arm is raised no higher than level."""
    clip = sitting(0.0, 0.0, SHOULDER)
    assert bottoms(clip)[DEEP].max() < -0.03
    assert turned(clip, raise_arms(BODY, clip)).max() < 1e-9
    clip = sitting(np.radians(15.0), 0.0, SHOULDER)
    raised = turned(clip, raise_arms(BODY, clip))
    assert 14.0 < raised[DEEP].min() and raised.max() < 15.1
