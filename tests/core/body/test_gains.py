# SPDX-License-Identifier: GPL-3.0-or-later
"""Servo gains: the papers' sets on the papers' bodies, and in proportion on any other."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.presets import body_preset, gain_preset, gain_presets
from sinew.core.errors import BadSettings
from sinew.core.motion import Skeleton
from sinew.core.motion.io import stock

from .figures import fox, person

# DeepMimic's humanoid: kp and torque limit of each joint at 45 kg; kd is a tenth of kp.
DEEP_MIMIC = {
    "chest": (1000, 200), "head": (100, 50), "thigh": (500, 200), "shin": (500, 150), "foot": (400, 90),
    "upper_arm": (400, 100), "forearm": (300, 60),
}  # fmt: skip


def gains_of(body):
    return {link.bone: (link.joint.kp, link.joint.kd, link.joint.torque_limit) for link in body.links[1:]}


def test_the_stock_humanoid_at_45_kg_gets_deep_mimics_gains():
    body, _ = build_body(stock.stock_skeleton(), mass_kg=45.0, gains="locomotion")
    for link in body.links[1:]:
        kp, limit = DEEP_MIMIC[link.role]
        assert (link.joint.kp, link.joint.kd, link.joint.torque_limit) == pytest.approx((kp, kp / 10, limit), rel=1e-3)
    root = body.links[0].joint
    assert (root.kp, root.kd, root.torque_limit) == (0.0, 0.0, 0.0)


def test_an_athlete_is_who_is_built_and_half_as_strong_again_at_every_joint():
    """The same servos otherwise."""
    plain, strong = (gain_preset(name).joints for name in ("locomotion", "athlete"))
    assert plain.keys() == strong.keys()
    for role, gain in plain.items():
        assert strong[role] == replace(gain, torque_limit=1.5 * gain.torque_limit), role
    body, report = build_body(stock.stock_skeleton(), mass_kg=45.0)
    assert report.gain_preset == "athlete"
    for link in body.links[1:]:
        kp, limit = DEEP_MIMIC[link.role]
        expected = (kp, kp / 10, 1.5 * limit)
        assert (link.joint.kp, link.joint.kd, link.joint.torque_limit) == pytest.approx(expected, rel=1e-3)


def test_gains_grow_with_mass_and_with_size():
    skeleton = stock.stock_skeleton()
    light, heavy = (build_body(skeleton, mass_kg=mass)[0] for mass in (45.0, 90.0))
    large = Skeleton(
        skeleton.names, skeleton.parents, 2.0 * skeleton.rest_pos, skeleton.rest_quat_wxyz, 2.0 * skeleton.lengths
    )
    giant, _ = build_body(large, mass_kg=45.0)
    for bone, gains in gains_of(light).items():
        assert gains_of(heavy)[bone] == pytest.approx(2.0 * np.array(gains))
        assert gains_of(giant)[bone] == pytest.approx(2.0 * np.array(gains), rel=1e-6)


def test_the_papers_stunt_gains_hold_for_the_papers_person():
    skeleton = stock.stock_skeleton()
    _, report = build_body(skeleton)
    scale = 1.7 / report.stature
    tall = Skeleton(
        skeleton.names, skeleton.parents, scale * skeleton.rest_pos, skeleton.rest_quat_wxyz, scale * skeleton.lengths
    )
    body, _ = build_body(tall, mass_kg=62.0, gains="stunts")
    expected = {
        "chest": (2000, 100),
        "thigh": (1000, 50),
        "shin": (1000, 50),
        "foot": (1000, 50),
        "upper_arm": (500, 50),
    }
    for link in body.links[1:]:
        if link.role in expected:
            assert (link.joint.kp, link.joint.kd) == pytest.approx(expected[link.role], rel=0.01)
    even, _ = build_body(tall, mass_kg=62.0, gains="uniform")
    assert [link.joint.kp for link in even.links[1:]] == pytest.approx([500.0] * 12, rel=0.01)


@pytest.mark.parametrize("gains", gain_presets())
@pytest.mark.parametrize("make", [person, fox, stock.stock_skeleton])
def test_every_joint_gets_gains_from_every_preset(make, gains):
    body, report = build_body(make(), gains=gains)
    assert report.gain_preset == gains
    for link, told in zip(body.links[1:], report.links[1:], strict=True):
        assert 0.0 < link.joint.kd < link.joint.kp and link.joint.torque_limit > 0.0
        assert told.load > 0.0


def test_a_servo_can_hold_what_hangs_on_it():
    """The torque limit of every arm, head and spine joint is above what gravity asks of it when stretched out."""
    for make in (person, stock.stock_skeleton, fox):
        body, report = build_body(make())
        for link, told in zip(body.links[1:], report.links[1:], strict=True):
            if (
                link.role in ("upper_arm", "forearm", "hand", "head", "chest", "spine", "tail")
                and report.kind == "biped"
            ):
                assert link.joint.torque_limit > 1.2 * 9.81 * told.load


@pytest.mark.parametrize("read", [body_preset, gain_preset])
def test_an_unknown_preset_is_refused_with_those_there_are(read):
    with pytest.raises(BadSettings, match=r"no .* preset 'giant'") as caught:
        read("giant")
    assert "adult" in caught.value.hint or "locomotion" in caught.value.hint
