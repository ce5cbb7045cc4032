# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities of a body's parts against how they really move, and energies that are known."""

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.kinetics import Kinetics
from sinew.core.body.pose_space import PoseSpace
from sinew.core.body.poses import link_transforms
from sinew.core.geometry.quaternions import rotate, to_matrix

from ...stock_clips import stock_clip


@pytest.fixture(scope="module")
def body():
    clip = stock_clip("walk")
    return build_body(clip.skeleton, clip=clip)[0]


@pytest.fixture
def bent(body):
    """Some poses with all joints bent, and links in them."""
    rng, space = np.random.default_rng(0), PoseSpace(body)
    zero = np.zeros((4, body.nq))
    zero[:, 3] = 1.0
    for start, link in zip(body.qpos_starts[1:], body.links[1:], strict=False):
        if link.joint.kind == "ball":
            zero[:, start] = 1.0
    return space.integrate(zero, rng.normal(scale=0.3, size=(4, body.nv)))


def places(body, qpos):
    pos, quat = link_transforms(body, qpos)
    return pos + rotate(quat, np.array([link.com for link in body.links]))


def test_velocities_are_how_the_parts_really_move(body, bent):
    space, rates = PoseSpace(body), np.random.default_rng(1).normal(size=(4, body.nv))
    linear, _ = Kinetics(body).velocities(rates, *link_transforms(body, bent))
    step = 1e-5
    ahead, behind = (places(body, space.integrate(bent, by * rates)) for by in (step, -step))
    np.testing.assert_allclose(linear, (ahead - behind) / (2.0 * step), atol=1e-5)


def test_whoever_only_travels_has_no_energy(body, bent):
    rates = np.zeros((4, body.nv))
    rates[:, :3] = [3.0, -2.0, 1.0]
    pos, quat = link_transforms(body, bent)
    kinetics = Kinetics(body)
    linear, angular = kinetics.velocities(rates, pos, quat)
    np.testing.assert_allclose(kinetics.kinetic_energy_j(linear, angular, quat), 0.0, atol=1e-12)
    np.testing.assert_allclose(kinetics.com_velocity(linear), rates[:, :3])


def test_a_stiff_body_that_spins_has_the_energy_of_its_inertia(body, bent):
    spin = np.array([0.3, -0.5, 2.0])
    pos, quat = link_transforms(body, bent)
    rates = np.zeros((4, body.nv))
    rates[:, 3:6] = np.einsum("nyx,y->nx", to_matrix(quat[:, 0]), spin)
    kinetics = Kinetics(body)
    energy = kinetics.kinetic_energy_j(*kinetics.velocities(rates, pos, quat), quat)
    centres, mass = places(body, bent), np.array([link.mass for link in body.links])
    apart = centres - (np.einsum("l,nlx->nx", mass, centres) / mass.sum())[:, None]
    turned = to_matrix(quat)
    own = np.einsum("nlxy,lyz,nlwz->nlxw", turned, np.array([link.inertia for link in body.links]), turned)
    steiner = np.einsum("nlx,nlx->nl", apart, apart)[..., None, None] * np.eye(3) - np.einsum(
        "nlx,nly->nlxy", apart, apart
    )
    inertia = (own + mass[:, None, None] * steiner).sum(axis=1)
    np.testing.assert_allclose(energy, 0.5 * np.einsum("x,nxy,y->n", spin, inertia, spin), rtol=1e-9)
