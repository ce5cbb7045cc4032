# SPDX-License-Identifier: GPL-3.0-or-later
"""What feedback sees is the same wherever a body is and faces, and left for right in the mirror."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import BodyModel, build_body, pose_of_clip
from sinew.core.body.mirroring import BodyMirror
from sinew.core.control.graph.model.features import Features, state_names
from sinew.core.control.tracking.facing import rotate_pose_about_z, upright_rotation
from sinew.core.errors import GraphError
from sinew.core.geometry.quaternions import multiply, rotate
from sinew.core.motion.io import stock

from .....body_links import replace_link
from ....body.figures import fox, person, wiggling

COPIES = 8
LEGS = ("thigh", "shin", "foot", "toe")
TRUNK = ("spine", "chest")


@pytest.fixture(scope="module")
def features(body) -> Features:
    return Features(body)


@pytest.fixture(scope="module")
def poses(body):
    """(8, nq) and (8, nv): a walk, which moves, with random rates on top."""
    qpos, qvel = pose_of_clip(body, stock.load_stock("walk").resample(60.0))
    some = np.linspace(0, len(qpos) - 1, COPIES).astype(int)
    return qpos[some], qvel[some] + np.random.default_rng(2).normal(scale=0.5, size=(COPIES, body.nv))


def seen(features, world, qpos, qvel, base):
    """Features of poses against roots, by the engine's own sensors."""
    return features.observe(base, world.sense(world.state_of(qpos, qvel)))


@pytest.fixture(scope="module")
def bases(poses):
    """(8, 4) roots that the poses should have: those of other moments, facing elsewhere."""
    return np.roll(poses[0][:, 3:7], 3, axis=0)


def test_a_body_with_waist_and_legs_sees_18_numbers_and_moves_11(features):
    assert (len(state_names(features)), len(features.scale), len(features.action_dofs)) == (18, 18, 11)
    assert features.missing_parts == ()
    moved = [(features.body.links[link].role, features.body.links[link].side) for link in features.actuated_links]
    assert moved[1:] == [("thigh", "L"), ("shin", "L"), ("thigh", "R"), ("shin", "R")]
    assert features.body.links[features.trunk].role == "chest"


def test_what_is_seen_is_what_physics_says(features, world_of, poses, bases):
    qpos, qvel = poses
    qpos, _ = rotate_pose_about_z(np.zeros(COPIES), qpos, qvel)
    qpos[:, 3:7] = bases  # upright as it should be, and facing so: the frame is the world's
    world = world_of(features.body, COPIES)
    rows = world.sense(world.state_of(qpos, qvel))
    state = features.observe(bases, rows)
    found = dict(zip(state_names(features), state.T, strict=True))
    assert state[:, :2] == pytest.approx(0.0, abs=1e-9)  # no tilt
    assert found["root height"] == pytest.approx(qpos[:, 2])
    com, pos = rows.com[:, -1, 0], rows.link_pos[:, -1]
    for axis, name in enumerate("xyz"):
        assert found[f"centroid {name}"] == pytest.approx((com - pos[:, 0])[:, axis], abs=1e-9)
        assert found[f"velocity {name}"] == pytest.approx(rows.com_velocity[:, -1, 0, axis], abs=1e-9)
        assert found[f"spin {name}"] == pytest.approx(rows.angular_momentum[:, -1, 0, axis], abs=1e-9)
        for foot, side in zip(features.feet, "LR", strict=True):
            assert features.body.links[foot].side == side
            assert found[f"{side} foot {name}"] == pytest.approx((pos[:, foot] - com)[:, axis], abs=1e-9)


def test_a_body_that_is_turned_and_moved_sees_the_same(features, world_of, poses, bases):
    world = world_of(features.body, COPIES)
    before = seen(features, world, *poses, bases)
    qpos, qvel = rotate_pose_about_z(np.linspace(-3.0, 3.0, COPIES), *poses)
    qpos[:, :2] += np.random.default_rng(3).normal(scale=20.0, size=(COPIES, 2))
    assert seen(features, world, qpos, qvel, bases) == pytest.approx(before, abs=1e-8)
    tilted = np.array(qpos)
    tilted[:, 3:7] = np.roll(tilted[:, 3:7], 1, axis=0)
    assert np.abs(seen(features, world, tilted, qvel, bases) - before).max() > 0.05


def test_the_mirror_image_sees_the_mirrored_state(features, world_of, poses):
    """Both are in the frame that faces along +X, as fragments are."""
    body, world = features.body, world_of(features.body, COPIES)
    mirror, base = BodyMirror(body), np.tile(upright_rotation(body), (COPIES, 1))
    ahead = np.cross(mirror.normal, [0.0, 0.0, 1.0])
    heading = np.full(COPIES, np.arctan2(ahead[1], ahead[0]))
    qpos, qvel = rotate_pose_about_z(heading, *poses)
    qpos, qvel = rotate_pose_about_z(-heading, mirror.pose(qpos), mirror.velocity(qvel))
    state, image = seen(features, world, *poses, base), seen(features, world, qpos, qvel, base)
    matrix = features.mirrored_state(mirror)
    off = np.abs(image - state @ matrix.T) / features.scale
    assert off.max() < 0.02  # the body's halves are alike to a millimetre
    assert np.abs(image - state).max() > 0.1
    assert matrix @ matrix == pytest.approx(np.eye(18))


def test_the_mirror_image_of_an_action_moves_the_other_side(features):
    body, mirror = features.body, BodyMirror(features.body)
    matrix = features.mirrored_action(mirror)
    actions = np.random.default_rng(4).normal(scale=0.1, size=(COPIES, 11))
    # All that an action moves has its counterpart among what it moves.
    offsets = features.target_offsets(actions)
    assert offsets @ mirror.offsets.T == pytest.approx(features.target_offsets(actions @ matrix.T), abs=1e-12)
    assert matrix @ matrix == pytest.approx(np.eye(11), abs=1e-9)
    # A left hip's offset becomes a right hip's.
    one = features.target_offsets(np.eye(11)[3:4] * 0.2)
    image = one @ mirror.offsets.T
    changed = np.flatnonzero(np.abs(image[0]) > 1e-9)
    right = next(i for i, link in enumerate(body.links) if (link.role, link.side) == ("thigh", "R"))
    assert len(changed) and set(changed) <= set(range(body.qvel_starts[right] - 6, body.qvel_starts[right + 1] - 6))


def without(body: BodyModel, *roles: str) -> BodyModel:
    """The body with links that nobody knows as what they are."""
    for index, link in enumerate(body.links):
        if link.role in roles:
            body = replace_link(body, index, replace(link, role="tail", side=""))
    return body


LACKING = {
    "no legs": (LEGS, ("left hip", "left knee", "left foot", "right hip", "right knee", "right foot")),
    "no waist": (TRUNK, ("waist",)),
    "no feet": (("foot", "toe"), ()),  # shins stand instead
    "no knees": (("shin",), ("left knee", "right knee")),
}


@pytest.mark.parametrize(("missing", "lacks"), LACKING.values(), ids=LACKING)
def test_a_body_with_other_limbs_says_what_it_lacks_and_sees_the_rest(missing, lacks, world_of):
    skeleton = person()
    body = without(build_body(skeleton)[0], *missing)
    features = Features(body)
    assert features.missing_parts == lacks
    feet = 0 if "left foot" in lacks else 2
    assert len(state_names(features)) == len(features.scale) == 12 + 3 * feet
    qpos, qvel = (values[:COPIES] for values in pose_of_clip(body, wiggling(skeleton, frames=COPIES)))
    state = seen(features, world_of(body, COPIES), qpos, qvel, qpos[:, 3:7])
    assert state.shape == (COPIES, len(features.scale)) and np.isfinite(state).all()
    assert features.target_offsets(np.ones((2, len(features.action_dofs)))).sum(1) == pytest.approx(
        len(features.action_dofs)
    )


def test_a_body_with_nothing_that_feedback_could_move_is_refused():
    body = without(build_body(person())[0], *LEGS, *TRUNK)
    with pytest.raises(GraphError, match="neither waist nor legs") as caught:
        Features(body)
    assert "Body panel" in caught.value.hint


def test_four_legs_stand_on_the_hind_ones():
    features = Features(build_body(fox())[0])
    assert features.missing_parts == ()
    sides = [features.body.links[foot].side for foot in features.feet]
    assert sides == ["L", "R"] and {features.body.links[foot].role for foot in features.feet} == {"foot"}


def test_tilt_is_about_the_axes_that_the_body_faces_along(features, world_of, poses):
    """Leaning forward is a turn about its left, wherever it faces."""
    body, world = features.body, world_of(features.body, COPIES)
    base = np.tile(upright_rotation(body), (COPIES, 1))
    qpos, qvel = np.array(poses[0]), poses[1]
    half = 0.5 * 0.3
    lean = np.array([np.cos(half), 0.0, np.sin(half), 0.0])  # 0.3 rad about +Y: up goes to +X, ahead
    assert rotate(lean, np.array([0.0, 0.0, 1.0]))[0] > 0.0
    qpos[:, 3:7] = multiply(np.tile(lean, (COPIES, 1)), base)
    qpos, qvel = rotate_pose_about_z(np.linspace(-3.0, 3.0, COPIES), qpos, qvel)
    state = seen(features, world, qpos, qvel, base)
    assert state[:, :2] == pytest.approx(np.tile([0.0, 0.3], (COPIES, 1)), abs=1e-9)
