# SPDX-License-Identifier: GPL-3.0-or-later
"""Bullet's own frames and numbers, on bodies whose inertia is crooked in every link."""

import numpy as np
import pytest

from sinew.core.body import Joint, Link
from sinew.core.geometry.quaternions import conjugate, from_rotation_vector, multiply, normalize, rotate, to_matrix
from sinew.core.motion.skeleton import to_world
from sinew.core.sim.engines.bullet.frames import BodyFrames
from sinew.core.sim.engines.bullet.kinematics import Kinematics
from sinew.core.sim.stage import Character, Stage

from . import bodies

pybullet = pytest.importorskip("pybullet")


def crooked(rng):
    """Five links in two branches, given neither branch by branch nor level by level."""

    def part(name, parent, joint):
        root = rng.normal(size=(3, 3))
        inertia = 0.01 * root @ root.T + 0.02 * np.eye(3)
        return Link(
            name, "part", "", parent, joint, (bodies.sphere(0.05),), 1 + rng.random(), rng.normal(size=3), inertia
        )

    def joint(kind):
        axis = rng.normal(size=3)
        return Joint(kind, rng.normal(size=3), normalize(rng.normal(size=4)), axis / np.linalg.norm(axis))

    return bodies.body([
        part("root", -1, bodies.FREE), part("a", 0, joint("ball")), part("b", 0, joint("hinge")),
        part("a1", 1, joint("hinge")), part("b1", 2, joint("ball")),
    ])  # fmt: skip


@pytest.fixture
def posed():
    """The body, its frames, and 6 poses and velocities of it."""
    rng = np.random.default_rng(3)
    body = crooked(rng)
    frames = BodyFrames(body)
    qpos, qvel = rng.normal(size=(6, body.nq)), rng.normal(size=(6, body.nv))
    qpos[:, 3:7], qpos[:, frames.ball_q] = normalize(qpos[:, 3:7]), normalize(qpos[:, frames.ball_q])
    return body, frames, qpos, qvel


def link_frames(body, frames, qpos):
    """Positions (N, L, 3) and rotations (N, L, 4) of the links, by the words of ``BodyModel``."""
    turn = np.zeros((len(qpos), len(body.links), 4))
    turn[:, frames.balls] = qpos[:, frames.ball_q]
    axes = np.array([body.links[index].joint.axis for index in frames.hinges])
    turn[:, frames.hinges] = from_rotation_vector(qpos[:, frames.hinge_q, None] * axes)
    pos = np.tile([link.joint.pos for link in body.links], (len(qpos), 1, 1))
    quat = multiply(np.array([link.joint.zero_quat_wxyz for link in body.links]), turn)
    pos[:, 0], quat[:, 0] = qpos[:, :3], qpos[:, 3:7]
    return to_world(frames.parents, pos, quat)


def test_native_and_back(posed):
    _, frames, qpos, qvel = posed
    again = frames.from_native(*frames.to_native(qpos, qvel))
    np.testing.assert_allclose(again[0], qpos, atol=1e-12)
    np.testing.assert_allclose(again[1], qvel, atol=1e-12)


def test_parts_are_at_the_centres_of_mass_in_principal_axes(posed):
    body, frames, qpos, qvel = posed
    pos, quat = link_frames(body, frames, qpos)
    parts = Kinematics(frames).parts(frames.to_native(qpos, qvel)[0])
    np.testing.assert_allclose(parts.pos, pos + rotate(quat, frames.com), atol=1e-12)
    np.testing.assert_allclose(parts.turn, to_matrix(multiply(quat, frames.turn)), atol=1e-12)
    inertia = to_matrix(frames.turn) @ (frames.moments[..., None] * to_matrix(conjugate(frames.turn)))
    np.testing.assert_allclose(inertia, [link.inertia for link in body.links], atol=1e-12)


def test_velocities_are_what_positions_do(posed):
    """Against a small step along the velocity."""
    _, frames, qpos, qvel = posed
    step = 1e-6
    after = qpos.copy()
    after[:, :3] += step * qvel[:, :3]
    after[:, 3:7] = multiply(qpos[:, 3:7], from_rotation_vector(step * qvel[:, 3:6]))
    after[:, frames.ball_q] = multiply(qpos[:, frames.ball_q], from_rotation_vector(step * qvel[:, frames.ball_v]))
    after[:, frames.hinge_q] += step * qvel[:, frames.hinge_v]
    kinematics = Kinematics(frames)
    native_q, native_v = frames.to_native(qpos, qvel)
    parts, later = kinematics.parts(native_q), kinematics.parts(frames.to_native(after, qvel)[0])
    velocity, spin = kinematics.velocities(parts, native_v)
    np.testing.assert_allclose(velocity, (later.pos - parts.pos) / step, atol=1e-4)
    skew = (later.turn - parts.turn) @ np.swapaxes(parts.turn, -1, -2) / step
    np.testing.assert_allclose(spin, np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], -1), atol=1e-4)


def test_mass_matrix_is_kinetic_energy(posed):
    _, frames, qpos, qvel = posed
    kinematics = Kinematics(frames)
    native_q, native_v = frames.to_native(qpos, qvel)
    parts = kinematics.parts(native_q)
    velocity, spin = kinematics.velocities(parts, native_v)
    own = np.einsum("nlji,nlj->nli", parts.turn, spin)
    energy = 0.5 * (frames.masses * (velocity**2).sum(-1) + (frames.moments * own**2).sum(-1)).sum(-1)
    mass = kinematics.mass_matrix(parts)
    np.testing.assert_allclose(0.5 * np.einsum("ni,nij,nj->n", native_v, mass, native_v), energy, rtol=1e-10)
    np.testing.assert_allclose(mass, np.swapaxes(mass, -1, -2), atol=1e-12)


def test_bullet_has_every_link_as_it_is(posed):
    """Mass, inertia, friction, order, and where its links are in a pose, asked of Bullet itself."""
    from sinew.core.sim.engines.bullet.character import BulletCharacter
    from sinew.core.sim.engines.bullet.scene import Scene
    from sinew.core.sim.engines.bullet.state_layout import StateLayout

    body, frames, qpos, qvel = posed
    stage = Stage((Character(body),))
    scene, layout = Scene(stage, 1 / 120), StateLayout(stage)
    try:
        number, client = scene.characters[0], scene.client
        for index, link in enumerate(body.links):
            info = pybullet.getDynamicsInfo(number, index - 1, client)
            assert info[0] == link.mass and info[1] == 1.0
            np.testing.assert_allclose(info[2], frames.moments[index], rtol=1e-12)
        character = BulletCharacter(layout.characters[0], 1 / 120)
        states = np.zeros((6, layout.size))
        states[:, layout.characters[0].pose], states[:, layout.characters[0].velocity] = frames.to_native(qpos, qvel)
        character.reset(character.to_bullet(states)[2], number, client)
        pos, quat = link_frames(body, frames, qpos)
        for index in range(1, len(body.links)):
            told = pybullet.getLinkState(number, index - 1, 1, 1, client)
            np.testing.assert_allclose(told[4], pos[2, index], atol=1e-6)
            np.testing.assert_allclose(np.abs(np.dot(np.roll(told[5], 1), quat[2, index])), 1.0, atol=1e-10)
        parts = Kinematics(frames).parts(states[:, layout.characters[0].pose])
        velocity, spin = Kinematics(frames).velocities(parts, states[:, layout.characters[0].velocity])
        np.testing.assert_allclose(told[6], velocity[2, -1], atol=1e-5)
        np.testing.assert_allclose(told[7], spin[2, -1], atol=1e-5)
    finally:
        scene.close()
