# SPDX-License-Identifier: GPL-3.0-or-later
"""Given bodies on every engine: inertias that lie askew, hinges in a row, four legs that stand."""

import json
from pathlib import Path

import numpy as np
import pytest

from sinew.core.body.given_body import build_given_body, given_from_mapping, given_to_mapping
from sinew.core.body.poses import pose_of_clip, targets_of_pose
from sinew.core.motion import Clip
from sinew.core.sim.engines.mujoco_import import compile_model
from sinew.core.sim.models.model_body import make_model_body
from sinew.core.sim.models.model_source import read_model_source

from .playing import WEIGHTLESS, begin, play, stage_of
from .robot_models import MJCF

pybullet_data = pytest.importorskip("pybullet_data")
QUADRUPEDS = ("a1/a1.urdf", "mini_cheetah/mini_cheetah.urdf")


def body_from(path: Path, scale: float = 1.0):
    given, _ = make_model_body(compile_model(read_model_source(path)), scale)
    return build_given_body(given.skeleton, given_from_mapping(json.loads(json.dumps(given_to_mapping(given)))))[0]


def standing_pose(body):
    still = (np.tile(array, (2, 1, 1)) for array in (body.skeleton.rest_pos, body.skeleton.rest_quat_wxyz))
    return pose_of_clip(body, Clip(body.skeleton, 30.0, *still))[0][0]


@pytest.fixture(scope="module")
def tin(tmp_path_factory):
    path = tmp_path_factory.mktemp("tin") / "tin.xml"
    path.write_text(MJCF)
    return body_from(path)


def test_hinges_in_a_row_hold_the_body_up(compiled, tin):
    pose = standing_pose(tin)
    world = compiled(stage_of(tin))
    _, rows = play(world, begin(world, pose), 1.0, targets_of_pose(tin, pose[None])[0])
    heights = rows.link_pos[0, :, 0, 2]
    assert np.abs(heights - pose[2]).max() < 0.02


def test_a_body_that_tumbles_keeps_its_momentum(compiled, tin):
    """Weightless, whatever hinges, servos and askew inertias do: the centre of mass goes on as it did."""
    velocity = np.zeros(tin.nv)
    velocity[:3], velocity[6:] = [0.3, -0.2, 0.1], 0.5
    world = compiled(stage_of(tin, gravity=WEIGHTLESS))
    pose = standing_pose(tin)
    pose[2] += 5.0
    states = begin(world, pose, qvel=velocity)
    _, rows = play(world, states, 0.3, targets_of_pose(tin, pose[None])[0])
    steps = np.diff(rows.com[0, :, 0], axis=0)
    np.testing.assert_allclose(steps, np.broadcast_to(steps[0], steps.shape), atol=2e-4)


@pytest.mark.parametrize("file", QUADRUPEDS)
def test_four_legs_stand_and_are_held(compiled, file):
    body = body_from(Path(pybullet_data.getDataPath()) / file)
    assert {link.role for link in body.links} >= {"thigh", "shin", "upper_arm", "forearm"}
    pose = standing_pose(body)
    for index, link in enumerate(body.links[1:], start=1):
        angle = pose[body.qpos_starts[index]]
        assert link.joint.lower - 1e-6 <= angle <= link.joint.upper + 1e-6, link.bone
    world = compiled(stage_of(body))
    _, rows = play(world, begin(world, pose), 1.0, targets_of_pose(body, pose[None])[0])
    assert np.abs(rows.link_pos[0, :, 0, 2] - pose[2]).max() < 0.01
