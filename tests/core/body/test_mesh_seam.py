# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh takes the place of the tables, and the servos are made for what it weighs."""

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.mesh import SkinnedMesh
from sinew.core.geometry.quaternions import rotate

from .figures import person


def worn(skeleton, thickness: float) -> SkinnedMesh:
    """Points on the surfaces of the table's own shapes, made thicker, each skinned to its link's bone."""
    body, _ = build_body(skeleton)
    heads, quats = skeleton.rest_world()
    rng = np.random.default_rng(0)
    vertices, weights = [], []
    for link in body.links:
        bone = skeleton.index(link.bone)
        for shape in link.shapes:
            ways = rng.normal(size=(150, 3))
            ways /= np.linalg.norm(ways, axis=-1, keepdims=True)
            if shape.kind == "box":
                points = shape.size * ways / np.abs(ways).max(-1, keepdims=True)
            else:
                points = shape.size[0] * ways + np.sign(ways[:, 2:]) * np.array([0.0, 0.0, shape.size[1]])
            own = rotate(shape.quat_wxyz, points * thickness) + shape.pos
            vertices.append(rotate(quats[bone], own) + heads[bone])
            row = np.zeros((len(points), len(skeleton)))
            row[:, bone] = 1.0
            weights.append(row)
    return SkinnedMesh(np.concatenate(vertices), np.concatenate(weights))


@pytest.fixture(scope="module")
def bodies():
    skeleton = person()
    return build_body(skeleton), build_body(skeleton, mesh=worn(skeleton, 1.15))


def test_shapes_and_masses_are_the_meshs(bodies):
    (table, _), (fitted, report) = bodies
    assert fitted.mass > 1.1 * table.mass
    assert [link.bone for link in fitted.links] == [link.bone for link in table.links]
    assert all("mesh" in link.solid for link in report.links)
    assert report.mass == pytest.approx(fitted.mass)


def test_servos_are_made_for_what_the_mesh_weighs(bodies):
    (table, _), (fitted, report) = bodies
    for old, new, told in zip(table.links[1:], fitted.links[1:], report.links[1:], strict=True):
        assert new.joint.kp / old.joint.kp == pytest.approx(new.joint.torque_limit / old.joint.torque_limit)
        assert told.load > 0.0
    knees = [body.links[body.link_of("shin.L")].joint.kp for body in (table, fitted)]
    assert knees[1] > 1.05 * knees[0]
