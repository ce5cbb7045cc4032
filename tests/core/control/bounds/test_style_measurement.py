# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy and volume of motions for which they are known, and the distance of a manner from itself."""

from contextlib import closing

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.poses import link_transforms, pose_of_clip
from sinew.core.control.bounds.bounds import bounds_of_preset, sample_widths
from sinew.core.control.bounds.controller import Controller
from sinew.core.control.bounds.reference_trajectory import make_reference_trajectory
from sinew.core.control.bounds.style.gram_style import GramStyle
from sinew.core.control.bounds.style.measurement import StyleRollout, measure_style
from sinew.core.control.bounds.style.quantities import KineticEnergy, LimbVolume
from sinew.core.control.tracking.facing import rotation_about_z
from sinew.core.geometry.quaternions import multiply
from sinew.core.learn.autoencoder import MotionEncoder, gram_matrix
from sinew.core.motion import Clip
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage

from ....stock_clips import stock_clip


@pytest.fixture(scope="module")
def walk():
    return stock_clip("walk")


@pytest.fixture(scope="module")
def body(walk):
    return build_body(walk.skeleton, clip=walk)[0]


def held(clip, frames=31, fps=30.0, spin=0.0, speed=(0.0, 0.0, 0.0)):
    """A pose of the clip for a second, carried along and turned about the vertical through its root."""
    pos, quat = (np.repeat(array[:1], frames, axis=0) for array in (clip.local_pos, clip.local_quat_wxyz))
    root, times = int(np.flatnonzero(clip.skeleton.parents < 0)[0]), np.arange(frames) / fps
    pos[:, root] += times[:, None] * np.asarray(speed)
    quat[:, root] = multiply(rotation_about_z(spin * times), quat[:, root])
    return Clip(clip.skeleton, fps, pos, quat, "held")


def energy_and_volume(body, clip):
    """Means over the clip, on its body."""
    qpos, qvel = pose_of_clip(body, clip)
    pos, quat = link_transforms(body, qpos)
    return KineticEnergy(body).energy_j(qvel, pos, quat).mean(), LimbVolume(body).volume_m3(pos, quat).mean()


def test_who_is_carried_along_has_no_energy_and_the_volume_of_its_pose(walk, body):
    energy_j, volume_m3 = energy_and_volume(body, held(walk, speed=(3.0, 1.0, -0.5)))
    assert energy_j == pytest.approx(0.0, abs=1e-6)
    alone = LimbVolume(body).volume_m3(*link_transforms(body, pose_of_clip(body, walk.frames(0, 1))[0]))
    assert volume_m3 == pytest.approx(float(alone[0]), rel=1e-3)


def test_energy_goes_with_the_square_of_how_fast_it_turns(walk, body):
    slow, fast = (energy_and_volume(body, held(walk, spin=spin))[0] for spin in (1.0, 2.0))
    assert fast == pytest.approx(4.0 * slow, rel=1e-6)
    assert 0.2 < slow < 5.0  # half of a standing person's inertia about the vertical, about 1 to 2 kg m²


class Nothing:
    """A policy that trusts the course."""

    def __init__(self, size):
        self.size = size

    def __call__(self, observations):
        return np.zeros((len(observations), self.size), dtype=np.float32)


def test_a_controller_is_watched_until_it_leaves_its_bounds(walk, body):
    course = make_reference_trajectory(body, walk)
    widths = sample_widths(bounds_of_preset(body, "tight"), course, walk)
    controller = Controller(course, widths, Nothing(body.nu))
    with closing(engines.get_engine("mujoco").compile(Stage((Character(body),)), 3)) as world:
        found = measure_style(controller, world, 3.0)
    assert found.pose_features.shape[:2] == found.energy_j.shape == (90, 3)
    assert not np.any(found.within[1:] & ~found.within[:-1])
    assert found.lasts == 0.0  # nobody walks three seconds without a policy
    assert 1.0 < found.figures.energy_j < 30.0
    assert 0.01 < found.figures.volume_m3 < 0.3


def test_means_are_of_what_was_done_within_the_bounds():
    within = np.array([[True, True], [True, False]])
    figures = np.array([[1.0, 2.0], [3.0, 900.0]])
    found = StyleRollout(figures, 0.1 * figures, np.zeros((2, 2, 1)), within)
    assert (found.figures.energy_j, found.figures.volume_m3) == pytest.approx((2.0, 0.2))
    assert found.lasts == 0.5


def test_a_manner_is_no_distance_from_itself_and_some_from_another():
    rng = np.random.default_rng(0)
    arrays = (np.zeros(3), np.ones(3), rng.normal(size=(4, 6)), rng.normal(size=4))
    encoder = MotionEncoder(*(array.astype(np.float32) for array in arrays))
    looks = rng.normal(size=(30, 2, 3))
    looks[:, 1] = looks[:, 0]
    found = StyleRollout(np.zeros((30, 2)), np.zeros((30, 2)), looks, np.ones((30, 2), dtype=bool))
    assert found.distance(GramStyle(encoder, gram_matrix(encoder(looks[:, 0])))) == pytest.approx(0.0, abs=1e-5)
    assert found.distance(GramStyle(encoder, gram_matrix(encoder(2.0 * looks[:, 0])))) > 0.1
    nobody = StyleRollout(np.zeros((30, 2)), np.zeros((30, 2)), looks, np.zeros((30, 2), dtype=bool))
    assert np.isnan(nobody.distance(GramStyle(encoder, gram_matrix(encoder(looks[:, 0])))))
