# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles as rewards: which way they pull, how strongly, and what they are refused for."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.poses import link_transforms
from sinew.core.control.bounds.observations import reference_kinematics
from sinew.core.control.bounds.style.energy_and_volume import EnergyReward, VolumeReward, apply_strength
from sinew.core.control.bounds.style.gram_style import GramStyleReward
from sinew.core.control.bounds.style.pose_features import PoseFeatures, clip_pose_features
from sinew.core.control.bounds.style.quantities import KineticEnergy, links_of, reference_energy_j, reference_volume_m3
from sinew.core.control.bounds.style.smoothness import SmoothnessRegulariser
from sinew.core.control.bounds.style.style_choice import make_clip_style
from sinew.core.control.tracking.facing import rotate_pose_about_z
from sinew.core.errors import BoundsError
from sinew.core.learn import autoencoder_cache
from sinew.core.motion.io import stock

from ...body import figures


def frames_of(reference):
    return reference_kinematics(reference, np.arange(reference.steps))


@pytest.fixture(scope="module")
def manner(reference_of, tmp_path_factory):
    """The run's, as a walk would have it."""
    pytest.importorskip("torch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(autoencoder_cache, "_STEPS", 60)
        return make_clip_style(reference_of("walk"), stock.load_stock("run"), tmp_path_factory.mktemp("encoders"))


def test_more_energy_is_worth_more_where_more_is_wanted(walk, reference_of):
    more, less = EnergyReward(walk, True), EnergyReward(walk, False)
    calm, wild = frames_of(walk), frames_of(reference_of("run"))
    assert reference_energy_j(reference_of("run")) > 3.0 * reference_energy_j(walk)
    assert more.evaluate(wild).mean() > 0.8 > 0.2 > more.evaluate(calm).mean()
    assert less.evaluate(wild).mean() < 0.3 < 0.7 < less.evaluate(calm).mean()


def test_energy_counts_in_a_straight_line_around_what_the_source_has(walk):
    style, usual = EnergyReward(walk, True), reference_energy_j(walk)
    assert (style.least_j, style.most_j) == pytest.approx((1.0 * usual, 3.0 * usual))
    seen = reference_kinematics(walk, np.arange(3))
    still = replace(seen, qvel=np.zeros_like(seen.qvel))
    assert style.evaluate(still).tolist() == [0.0, 0.0, 0.0]
    # Energy goes with the square of speed, and the reward with the energy.
    own = KineticEnergy(walk.body).energy_j(seen.qvel, *links_of(seen))
    for by, worth in ((0.9, 0.0), (1.5, 0.25), (2.5, 0.75), (4.0, 1.0)):
        faster = replace(seen, qvel=seen.qvel * np.sqrt(by * usual / own)[:, None])
        np.testing.assert_allclose(style.evaluate(faster), worth, atol=1e-9)


def test_volume_is_worth_what_equation_five_says(walk, reference_of):
    more, less = VolumeReward(walk, True), VolumeReward(walk, False)
    usual = reference_volume_m3(walk)
    assert 0.02 < usual < 0.2
    wide = frames_of(reference_of("run"))
    assert more.evaluate(wide).mean() > more.evaluate(frames_of(walk)).mean()
    np.testing.assert_allclose(more.evaluate(wide) + less.evaluate(wide), 1.0)
    assert less.scale_m3 == pytest.approx(1.1 * usual)


def test_strength_goes_from_nothing_at_all_to_all_that_counts(walk):
    seen = frames_of(walk)
    full = EnergyReward(walk, True, 1.0).evaluate(seen)
    np.testing.assert_array_equal(EnergyReward(walk, True, 0.0).evaluate(seen), 1.0)
    np.testing.assert_allclose(EnergyReward(walk, True, 0.25).evaluate(seen), 1.0 - 0.25 * (1.0 - full))
    assert apply_strength(np.array([0.0]), 0.4)[0] == pytest.approx(0.6)


def test_looks_do_not_depend_on_place_heading_or_speed(walk):
    looks = PoseFeatures(walk.body)
    before = looks(*link_transforms(walk.body, walk.qpos))
    turned, _ = rotate_pose_about_z(np.full(len(walk.qpos), 2.0), walk.qpos, np.zeros((len(walk.qpos), walk.body.nv)))
    turned[:, :3] += [5.0, -3.0, 0.7]
    np.testing.assert_allclose(looks(*link_transforms(walk.body, turned)), before, atol=1e-9)
    assert before.shape[1] == looks.size


def test_an_even_walk_looks_like_its_mirror_image_half_a_cycle_later(body):
    from sinew.core.control.bounds.reference_trajectory import make_reference_trajectory

    even, looks = make_reference_trajectory(body, stock.load_stock("walk"), symmetric=True), PoseFeatures(body)
    own = looks(*link_transforms(body, even.qpos))[:-1]
    np.testing.assert_allclose(looks.mirror(own), np.roll(own, even.steps // 2, axis=0), atol=0.03)
    np.testing.assert_array_equal(looks.mirror(looks.mirror(own)), own)
    assert np.abs(looks.mirror(own) - own).max() > 0.3


def test_who_moves_in_the_manner_is_worth_more_than_who_moves_as_the_source(walk, reference_of, manner):
    worths = []
    for reference in (walk, reference_of("run")):
        style = GramStyleReward(walk, manner)
        style.reset(np.ones(1, dtype=bool), reference_kinematics(walk, np.zeros(1, dtype=np.int64)))
        for step in range(1, 3 * walk.steps):
            worth = style.evaluate(reference_kinematics(reference, np.array([step % reference.steps])))
        worths.append(float(worth[0]))
    assert worths[1] > 2.0 * worths[0] > 0.0


def test_who_begins_anew_is_taken_to_have_done_as_the_source_before(walk, reference_of, manner):
    style, copies = GramStyleReward(walk, manner), np.array([4, 9])
    style.reset(np.ones(2, dtype=bool), reference_kinematics(walk, copies))
    run = reference_of("run")
    for step in range(walk.steps):
        style.evaluate(reference_kinematics(run, (copies + step) % run.steps))
    style.reset(np.array([True, False]), reference_kinematics(walk, copies))
    worth = style.evaluate(reference_kinematics(walk, (copies + 1) % walk.steps))
    fresh = GramStyleReward(walk, manner)
    fresh.reset(np.ones(2, dtype=bool), reference_kinematics(walk, copies))
    expected = fresh.evaluate(reference_kinematics(walk, (copies + 1) % walk.steps))
    assert worth[0] == pytest.approx(expected[0], rel=1e-5)
    assert worth[1] != pytest.approx(expected[1], rel=0.01)


def test_a_manner_goes_on_from_its_state_bit_for_bit(walk, manner):
    def advanced(style, first, last):
        return [
            style.evaluate(reference_kinematics(walk, np.array([step, step + 5]) % walk.steps))
            for step in range(first, last)
        ]

    style, other = GramStyleReward(walk, manner), GramStyleReward(walk, manner)
    style.reset(np.ones(2, dtype=bool), reference_kinematics(walk, np.array([0, 5])))
    advanced(style, 1, 6)
    other.restore({name: array.copy() for name, array in style.state().items()})
    np.testing.assert_array_equal(advanced(style, 6, 12), advanced(other, 6, 12))


def test_shaking_is_worth_less_than_moving_as_the_source_does(walk):
    at, rng = np.zeros(1, dtype=np.int64), np.random.default_rng(0)
    smooth, shaken = SmoothnessRegulariser(walk), SmoothnessRegulariser(walk)
    for term in (smooth, shaken):
        term.reset(np.ones(1, dtype=bool), reference_kinematics(walk, at))
    plain, wild = [], []
    for step in range(1, 10):
        seen = reference_kinematics(walk, at + step)
        plain.append(smooth.evaluate(seen))
        wild.append(shaken.evaluate(replace(seen, qvel=seen.qvel + rng.normal(scale=50.0, size=seen.qvel.shape))))
    assert np.mean(plain) > 0.95
    assert np.mean(wild) < 0.5 * np.mean(plain)


def test_a_style_clip_on_a_skeleton_of_another_kind_is_refused(walk, tmp_path):
    fox = figures.wiggling(figures.fox())
    with pytest.raises(BoundsError, match="another skeleton"):
        make_clip_style(walk, fox, tmp_path)


def test_a_style_clip_on_another_person_looks_like_itself(body):
    person = figures.wiggling(figures.person(), frames=40)
    own = PoseFeatures(build_body(person.skeleton, clip=person)[0])
    PoseFeatures(body).require_same(own, "it")
    found = clip_pose_features(build_body(person.skeleton, clip=person)[0], person, 30.0)
    assert np.isfinite(found).all()


def test_a_style_clip_that_is_too_short_is_refused(walk, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(autoencoder_cache, "_STEPS", 2)
    with pytest.raises(BoundsError, match="too short"):
        make_clip_style(walk, stock.load_stock("run").frames(0, 3), tmp_path)


def test_over_a_cycle_it_is_as_far_away_as_its_gram_matrix_says(walk, manner):
    style = GramStyleReward(walk, manner)
    style.reset(np.ones(1, dtype=bool), reference_kinematics(walk, np.zeros(1, dtype=np.int64)))
    away = []
    for step in range(1, 2 * walk.steps + 1):
        seen = reference_kinematics(walk, np.array([step % walk.steps]))
        style.evaluate(seen)
        away.append(float(style._extrapolated_distance(style._features[:, (step - 1) % walk.steps])[0]))
    looks = PoseFeatures(walk.body)(*link_transforms(walk.body, np.tile(walk.qpos[:-1], (3, 1))))
    whole = manner.distance(looks[-walk.steps - manner.encoder.width + 1 :])
    assert np.mean(away[-walk.steps :]) == pytest.approx(float(whole), rel=1e-3)
    assert np.ptp(away[-walk.steps :]) > 1e-3 * whole  # though its last cycle is always the same, what it does is felt
