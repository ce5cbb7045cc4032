# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles as rewards: which way they pull, how strongly, and what they are refused for."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.poses import link_transforms
from sinew.core.control.bounds.observations import course_seen
from sinew.core.control.bounds.style.making import manner_of_clip
from sinew.core.control.bounds.style.manner import MannerStyle
from sinew.core.control.bounds.style.pose_features import Looks, looks_of_clip
from sinew.core.control.bounds.style.quantities import Energy, course_energy_j, course_volume_m3, links_seen
from sinew.core.control.bounds.style.smoothness import Smoothness
from sinew.core.control.bounds.style.terms import EnergyStyle, VolumeStyle, weighed
from sinew.core.control.tracking.facing import rotate_pose_about_z
from sinew.core.errors import BoundsError
from sinew.core.learn import autoencoder_cache
from sinew.core.motion.io import stock

from ...body import figures


def frames_of(course):
    return course_seen(course, np.arange(course.steps))


@pytest.fixture(scope="module")
def manner(course_of, tmp_path_factory):
    """The run's, as a walk would have it."""
    pytest.importorskip("torch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(autoencoder_cache, "_STEPS", 60)
        return manner_of_clip(course_of("walk"), stock.load_stock("run"), tmp_path_factory.mktemp("encoders"))


def test_more_energy_is_worth_more_where_more_is_wanted(walk, course_of):
    more, less = EnergyStyle(walk, True), EnergyStyle(walk, False)
    calm, wild = frames_of(walk), frames_of(course_of("run"))
    assert course_energy_j(course_of("run")) > 3.0 * course_energy_j(walk)
    assert more.worth(wild).mean() > 0.8 > 0.2 > more.worth(calm).mean()
    assert less.worth(wild).mean() < 0.3 < 0.7 < less.worth(calm).mean()


def test_energy_counts_in_a_straight_line_around_what_the_source_has(walk):
    style, usual = EnergyStyle(walk, True), course_energy_j(walk)
    assert (style.least_j, style.most_j) == pytest.approx((1.0 * usual, 3.0 * usual))
    seen = course_seen(walk, np.arange(3))
    still = replace(seen, qvel=np.zeros_like(seen.qvel))
    assert style.worth(still).tolist() == [0.0, 0.0, 0.0]
    # Energy goes with the square of speed, and the reward with the energy.
    own = Energy(walk.body).energy_j(seen.qvel, *links_seen(seen))
    for by, worth in ((0.9, 0.0), (1.5, 0.25), (2.5, 0.75), (4.0, 1.0)):
        faster = replace(seen, qvel=seen.qvel * np.sqrt(by * usual / own)[:, None])
        np.testing.assert_allclose(style.worth(faster), worth, atol=1e-9)


def test_volume_is_worth_what_equation_five_says(walk, course_of):
    more, less = VolumeStyle(walk, True), VolumeStyle(walk, False)
    usual = course_volume_m3(walk)
    assert 0.02 < usual < 0.2
    wide = frames_of(course_of("run"))
    assert more.worth(wide).mean() > more.worth(frames_of(walk)).mean()
    np.testing.assert_allclose(more.worth(wide) + less.worth(wide), 1.0)
    assert less.scale_m3 == pytest.approx(1.1 * usual)


def test_strength_goes_from_nothing_at_all_to_all_that_counts(walk):
    seen = frames_of(walk)
    full = EnergyStyle(walk, True, 1.0).worth(seen)
    np.testing.assert_array_equal(EnergyStyle(walk, True, 0.0).worth(seen), 1.0)
    np.testing.assert_allclose(EnergyStyle(walk, True, 0.25).worth(seen), 1.0 - 0.25 * (1.0 - full))
    assert weighed(np.array([0.0]), 0.4)[0] == pytest.approx(0.6)


def test_looks_do_not_depend_on_place_heading_or_speed(walk):
    looks = Looks(walk.body)
    before = looks(*link_transforms(walk.body, walk.qpos))
    turned, _ = rotate_pose_about_z(np.full(len(walk.qpos), 2.0), walk.qpos, np.zeros((len(walk.qpos), walk.body.nv)))
    turned[:, :3] += [5.0, -3.0, 0.7]
    np.testing.assert_allclose(looks(*link_transforms(walk.body, turned)), before, atol=1e-9)
    assert before.shape[1] == looks.size


def test_an_even_walk_looks_like_its_mirror_image_half_a_cycle_later(body):
    from sinew.core.control.bounds.course import make_course

    even, looks = make_course(body, stock.load_stock("walk"), even=True), Looks(body)
    own = looks(*link_transforms(body, even.qpos))[:-1]
    np.testing.assert_allclose(looks.mirrored(own), np.roll(own, even.steps // 2, axis=0), atol=0.03)
    np.testing.assert_array_equal(looks.mirrored(looks.mirrored(own)), own)
    assert np.abs(looks.mirrored(own) - own).max() > 0.3


def test_who_moves_in_the_manner_is_worth_more_than_who_moves_as_the_source(walk, course_of, manner):
    worths = []
    for course in (walk, course_of("run")):
        style = MannerStyle(walk, manner)
        style.begin(np.ones(1, dtype=bool), course_seen(walk, np.zeros(1, dtype=np.int64)))
        for step in range(1, 3 * walk.steps):
            worth = style.worth(course_seen(course, np.array([step % course.steps])))
        worths.append(float(worth[0]))
    assert worths[1] > 2.0 * worths[0] > 0.0


def test_who_begins_anew_is_taken_to_have_done_as_the_source_before(walk, course_of, manner):
    style, copies = MannerStyle(walk, manner), np.array([4, 9])
    style.begin(np.ones(2, dtype=bool), course_seen(walk, copies))
    run = course_of("run")
    for step in range(walk.steps):
        style.worth(course_seen(run, (copies + step) % run.steps))
    style.begin(np.array([True, False]), course_seen(walk, copies))
    worth = style.worth(course_seen(walk, (copies + 1) % walk.steps))
    fresh = MannerStyle(walk, manner)
    fresh.begin(np.ones(2, dtype=bool), course_seen(walk, copies))
    expected = fresh.worth(course_seen(walk, (copies + 1) % walk.steps))
    assert worth[0] == pytest.approx(expected[0], rel=1e-5)
    assert worth[1] != pytest.approx(expected[1], rel=0.01)


def test_a_manner_goes_on_from_its_state_bit_for_bit(walk, manner):
    def advanced(style, first, last):
        return [style.worth(course_seen(walk, np.array([step, step + 5]) % walk.steps)) for step in range(first, last)]

    style, other = MannerStyle(walk, manner), MannerStyle(walk, manner)
    style.begin(np.ones(2, dtype=bool), course_seen(walk, np.array([0, 5])))
    advanced(style, 1, 6)
    other.restore({name: array.copy() for name, array in style.state().items()})
    np.testing.assert_array_equal(advanced(style, 6, 12), advanced(other, 6, 12))


def test_shaking_is_worth_less_than_moving_as_the_source_does(walk):
    at, rng = np.zeros(1, dtype=np.int64), np.random.default_rng(0)
    smooth, shaken = Smoothness(walk), Smoothness(walk)
    for term in (smooth, shaken):
        term.begin(np.ones(1, dtype=bool), course_seen(walk, at))
    plain, wild = [], []
    for step in range(1, 10):
        seen = course_seen(walk, at + step)
        plain.append(smooth.worth(seen))
        wild.append(shaken.worth(replace(seen, qvel=seen.qvel + rng.normal(scale=50.0, size=seen.qvel.shape))))
    assert np.mean(plain) > 0.95
    assert np.mean(wild) < 0.5 * np.mean(plain)


def test_a_style_clip_on_a_skeleton_of_another_kind_is_refused(walk, tmp_path):
    fox = figures.wiggling(figures.fox())
    with pytest.raises(BoundsError, match="another skeleton"):
        manner_of_clip(walk, fox, tmp_path)


def test_a_style_clip_on_another_person_looks_like_itself(body):
    person = figures.wiggling(figures.person(), frames=40)
    own = Looks(build_body(person.skeleton, clip=person)[0])
    Looks(body).require_same(own, "it")
    found = looks_of_clip(build_body(person.skeleton, clip=person)[0], person, 30.0)
    assert np.isfinite(found).all()


def test_a_style_clip_that_is_too_short_is_refused(walk, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(autoencoder_cache, "_STEPS", 2)
    with pytest.raises(BoundsError, match="too short"):
        manner_of_clip(walk, stock.load_stock("run").frames(0, 3), tmp_path)


def test_over_a_cycle_it_is_as_far_away_as_its_gram_matrix_says(walk, manner):
    style = MannerStyle(walk, manner)
    style.begin(np.ones(1, dtype=bool), course_seen(walk, np.zeros(1, dtype=np.int64)))
    away = []
    for step in range(1, 2 * walk.steps + 1):
        seen = course_seen(walk, np.array([step % walk.steps]))
        style.worth(seen)
        away.append(float(style._away(style._features[:, (step - 1) % walk.steps])[0]))
    looks = Looks(walk.body)(*link_transforms(walk.body, np.tile(walk.qpos[:-1], (3, 1))))
    whole = manner.distance(looks[-walk.steps - manner.encoder.width + 1 :])
    assert np.mean(away[-walk.steps :]) == pytest.approx(float(whole), rel=1e-3)
    assert np.ptp(away[-walk.steps :]) > 1e-3 * whole  # though its last cycle is always the same, what it does is felt
