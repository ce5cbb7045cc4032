# SPDX-License-Identifier: GPL-3.0-or-later
"""How Bullet's motors are made to mean what servos mean, and what keeps them stable."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.geometry.quaternions import to_rotation_vector
from sinew.core.sim.joint_damping import passive_damping

from ...body_links import replace_link
from . import bodies
from .playing import HZ, WEIGHTLESS, stage_of

pytest.importorskip("pybullet")


@pytest.fixture
def steps():
    """``steps(body, qpos, targets, count, ...)``: states (N, count, S) at every physics step, and their columns.

    In this process, without helpers. qpos: (N, nq), targets: (nu,).
    """
    from sinew.core.sim.engines.bullet.stepping import Stepper

    open_ones = []

    def run(body, qpos, targets, count, *, muscle=None, dt_s=1.0 / HZ, qvel=None, **options):
        stepper = Stepper(stage_of(body, **options), dt_s)
        open_ones.append(stepper)
        layout = stepper._layout
        columns = layout.characters[0]
        states, out = np.zeros((len(qpos), layout.size)), np.empty((len(qpos), count, layout.size))
        velocity = np.zeros((len(qpos), body.nv)) if qvel is None else qvel
        states[:, columns.pose], states[:, columns.velocity] = columns.frames.to_native(qpos, velocity)
        factor = None if muscle is None else np.full((len(qpos), count, 1), muscle)
        stepper.rollout(states, np.broadcast_to(targets, (len(qpos), count, body.nu)), out, 1, None, factor)
        return out, columns

    yield run
    for stepper in open_ones:
        stepper.close()


def high_up(body, copies=1):
    return np.tile(bodies.rest_pose(body, (0, 0, 50)), (copies, 1))


def energy(columns, states):
    """(N, K) joules of motion."""
    parts = columns.kinematics.parts(states[..., columns.pose])
    velocity, spin = columns.kinematics.velocities(parts, states[..., columns.velocity])
    frames, own = columns.frames, np.einsum("nklji,nklj->nkli", parts.turn, spin)
    return 0.5 * (frames.masses * (velocity**2).sum(-1) + (frames.moments * own**2).sum(-1)).sum(-1)


def test_in_the_air_a_step_is_implicit_damping_to_the_letter(steps):
    """From rest: (M + h kd) dv = h kp e, with M the mass matrix and the tissue's damping in kd."""
    body = bodies.humanoid()
    for index, link in enumerate(body.links[1:], start=1):
        body = replace_link(body, index, replace(link, joint=replace(link.joint, torque_limit=1e6)))
    targets = np.random.default_rng(0).uniform(-0.3, 0.3, body.nu)
    out, columns = steps(body, high_up(body), targets, 1, gravity=WEIGHTLESS)
    frames, h = columns.frames, 1.0 / HZ
    native, _ = frames.to_native(high_up(body), np.zeros((1, body.nv)))
    mass = columns.kinematics.mass_matrix(columns.kinematics.parts(native))[0]
    tissue = np.concatenate([np.full(link.joint.dofs, passive_damping(link)) for link in body.links[1:]])
    damping = h * np.concatenate([np.zeros(6), (body.per_dof("kd") + tissue)[frames.dofs]])
    push = np.concatenate([np.zeros(6), h * body.per_dof("kp")[frames.dofs] * frames.targets_to_native(targets)])
    expected = np.linalg.solve(mass + np.diag(damping), push)
    np.testing.assert_allclose(out[0, 0, columns.velocity], expected, atol=1e-6)


def test_torque_and_motor_together_keep_to_the_limit(steps):
    """Change of the angular momentum of an arm on a base of 10 t, in the air, step by step."""
    from sinew.core.body import Joint

    limit = 3.0
    joint = Joint("ball", np.array([0.0, 0.0, 0.9]), kp=2000.0, kd=100.0, torque_limit=limit)
    body = bodies.pendulum(0.8, 1.0, joint)
    out, columns = steps(body, high_up(body), np.array([1.0, -0.7, 0.4]), 30, gravity=WEIGHTLESS)
    inertia = np.array([0.641, 0.641, 0.001])
    rates = np.concatenate([np.zeros((1, 3)), out[0][:, columns.rates]])
    torque = np.linalg.norm(HZ * np.diff(rates, axis=0) * inertia, axis=-1)
    assert torque.max() < 1.05 * limit and torque[:5].min() > 0.95 * limit


def test_springs_too_stiff_for_the_step_do_not_ring(steps):
    """An undamped servo whose own period is 1/200 s, at 1/120 s: it comes to rest on the target's side of things."""
    from sinew.core.body import Joint

    joint = Joint("hinge", np.array([0.0, 0.0, 0.9]), kp=0.641 * (2 * np.pi * 200) ** 2, kd=0.0, torque_limit=1e9)
    body = bodies.pendulum(0.8, 1.0, joint)
    out, columns = steps(body, high_up(body), np.array([0.3]), 120, gravity=WEIGHTLESS)
    angle = out[0, :, columns.pose][..., 7]
    assert np.abs(angle - 0.3).max() < 0.31 and np.abs(angle[60:] - 0.3).max() < 0.01


@pytest.mark.parametrize("muscle", [0.0, 1.0], ids=["limp", "held"])
def test_a_ball_stops_at_its_limit(steps, muscle):
    """Thrown or driven, it goes no farther than a little past its limit, and back to it."""
    from sinew.core.body import Joint

    joint = Joint("ball", np.array([0.0, 0.0, 0.9]), max_angle=0.6, kp=50.0, kd=5.0, torque_limit=100.0)
    body = bodies.pendulum(0.8, 1.0, joint)
    qvel = np.zeros((1, body.nv))
    qvel[0, 6:] = [3.0, 1.0, 0.0] if muscle == 0.0 else 0.0
    out, columns = steps(
        body, high_up(body), np.array([1.5, 0.8, 0.0]), 120, gravity=WEIGHTLESS, muscle=muscle, qvel=qvel
    )
    angle = np.linalg.norm(to_rotation_vector(out[0, :, columns.pose][..., 7:11]), axis=-1)
    assert 0.55 < angle.max() < 0.65
    if muscle:
        np.testing.assert_allclose(angle[-1], 0.6, atol=0.02)


def test_a_limp_body_gathers_no_speed_from_its_spin(steps):
    """Every joint of every copy at up to 10 rad/s, weightless: energy only falls."""
    body = bodies.humanoid()
    rng = np.random.default_rng(0)
    qvel = np.zeros((8, body.nv))
    qvel[:, 6:] = rng.uniform(-10.0, 10.0, size=(8, body.nu))
    out, columns = steps(body, high_up(body, 8), np.zeros(body.nu), 60, gravity=WEIGHTLESS, muscle=0.0, qvel=qvel)
    joules = energy(columns, out)
    assert (joules[:, -1] < joules[:, 0]).all() and (joules.max(axis=1) < 1.2 * joules[:, 0]).all()


def test_standing_is_still(steps):
    """After a second on its feet, arms held out, nothing trembles from one physics step to the next."""
    body = bodies.humanoid()
    targets = np.zeros(body.nu)
    for side in "RL":
        index = body.link_of(f"upper_arm.{side}")
        targets[body.qvel_starts[index] - 6 + 1] = 0.5
    out, columns = steps(body, bodies.rest_pose(body)[None], targets, 120)
    rates = out[0, -24:, columns.rates]
    assert np.abs(np.diff(rates, axis=0)).max() < 0.2
