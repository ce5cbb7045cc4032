# SPDX-License-Identifier: GPL-3.0-or-later
"""What MuJoCo does beyond what every engine must."""

import logging
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sinew.core.errors import BadMotion, EngineMissing
from sinew.core.geometry.quaternions import from_rotation_vector
from sinew.core.sim import engines
from sinew.core.sim.stage import Prop, Stage

from ...body_links import replace_link
from . import bodies
from .playing import WEIGHTLESS, begin, free_pose, play, stage_of


@pytest.fixture
def engine():
    return engines.get_engine("mujoco")


@pytest.mark.parametrize("speed", [5.0, 40.0, 100.0])
@pytest.mark.parametrize("late", [0.0, 0.4, 0.8])
def test_bullets_hit_what_they_cross_within_a_step(engine, speed, late):
    place = np.array([-1.0 - late * speed / 120.0, 0, 2.0])
    bullet = Prop("bullet", 0.5, place, bodies.sphere(0.05), velocity=np.array([speed, 0, 0]))
    world = engine.compile(stage_of(bodies.brick((0.05, 0.2, 0.2), 3.0), gravity=WEIGHTLESS, props=(bullet,)), 1)
    _, rows = play(world, begin(world, free_pose((0, 0, 2))), 0.5)
    stuck = 0.5 * speed / 3.5
    assert 0.95 * stuck < rows.com_velocity[0, -1, 0, 0] < 1.25 * stuck


def test_muscle_is_a_body_with_other_gains_bit_for_bit(engine):
    """Half the muscle and half the gains are one model: inertia of the servos and constants of the solver too."""
    body = bodies.humanoid()
    weak = body
    for index, link in enumerate(body.links[1:], start=1):
        joint = link.joint
        joint = replace(joint, kp=0.5 * joint.kp, kd=0.5 * joint.kd, torque_limit=0.5 * joint.torque_limit)
        weak = replace_link(weak, index, replace(link, joint=joint))
    targets = np.random.default_rng(0).normal(size=(2, 20, body.nu)) * 0.1
    full, half = (engine.compile(stage_of(each), 2) for each in (body, weak))
    states = begin(full, bodies.rest_pose(body))
    scaled, _ = full.rollout(states, targets, substeps=4, muscle=np.full((2, 20), 0.5))
    np.testing.assert_array_equal(scaled, half.rollout(states, targets, substeps=4)[0])
    again, _ = full.rollout(states, targets, substeps=4)
    np.testing.assert_array_equal(again, engine.compile(stage_of(body), 2).rollout(states, targets, substeps=4)[0])


def test_a_long_rollout_is_one_with_its_parts(engine, monkeypatch):
    """What is recorded is cut into pieces when it grows too long; nothing shows."""
    from sinew.core.sim.engines import mujoco as module

    body = bodies.humanoid()
    world = engine.compile(stage_of(body), 2)
    targets = np.random.default_rng(1).normal(size=(2, 25, body.nu)) * 0.1
    states = begin(world, bodies.rest_pose(body))
    whole, rows = world.rollout(states, targets, substeps=4)
    monkeypatch.setattr(module, "_RECORD_STEPS", 12)
    parts, same = world.rollout(states, targets, substeps=4)
    np.testing.assert_array_equal(whole, parts)
    for name, values in vars(rows).items():
        np.testing.assert_array_equal(values, getattr(same, name), err_msg=name)


def test_a_tumbling_limp_body_does_not_gather_speed(engine):
    """Thrown from 5 m with a spin of 6 rad/s: centrifugal forces of limp limbs are taken implicitly."""
    body = bodies.humanoid()
    world = engine.compile(stage_of(body), 16)
    rng = np.random.default_rng(3)
    qpos = np.tile(bodies.rest_pose(body, (0, 0, 5)), (16, 1))
    qpos[:, 3:7] = from_rotation_vector(rng.normal(size=(16, 3)) * 1.5)
    qvel = np.zeros((16, body.nv))
    qvel[:, 3:6] = rng.normal(size=(16, 3)) * 6.0
    states, rows = play(world, world.state_of(qpos, qvel), 4.0, muscle=np.zeros((16, 120)))
    assert np.isfinite(states).all()
    assert np.abs(world.pose_of(states)[1][:, :24, 6:]).max() < 60.0, "it gathered speed in the air"
    assert np.linalg.norm(rows.com_velocity[:, -1], axis=-1).max() < 0.3


def test_warnings_go_to_the_log_and_leave_no_file(engine, tmp_path, monkeypatch, caplog, capfd):
    monkeypatch.chdir(tmp_path)
    world = engine.compile(stage_of(bodies.brick()), 2)
    states = begin(world, free_pose((0, 0, 1)))
    qpos, qvel = world.pose_of(states)
    with caplog.at_level(logging.DEBUG, logger="sinew"):
        out, _ = play(world, world.state_of(qpos, qvel + 1e14), 0.1)
    assert np.isnan(out).all()
    assert "unstable" in caplog.text
    assert list(tmp_path.iterdir()) == [] and capfd.readouterr() == ("", "")


def test_an_old_mujoco_is_refused_by_number(monkeypatch):
    monkeypatch.setattr(mujoco, "__version__", "3.3.7")
    with pytest.raises(EngineMissing, match=r"3\.3\.7.*4\.0\.1"):
        engines.get_engine("mujoco")


def test_an_inertia_that_no_solid_has_is_said_to_be_one(engine):
    body = bodies.brick()
    needle = replace(body.links[0], inertia=np.diag([1.0, 0.01, 0.01]))
    with pytest.raises(BadMotion, match="inertia"):
        engine.compile(stage_of(replace_link(body, 0, needle)), 1)


def test_more_characters_than_there_are_bits_for(engine):
    crowd = stage_of(*[bodies.ball()] * 31)
    with pytest.raises(BadMotion, match="31 characters"):
        engine.compile(crowd, 1)
    world = engine.compile(Stage(crowd.characters[:30]), 1)
    poses = [free_pose((index * 0.5, 0, 0.2)) for index in range(30)]
    _, rows = play(world, begin(world, *poses), 0.5)
    assert rows.com.shape == (1, 15, 30, 3) and np.isfinite(rows.com).all()
