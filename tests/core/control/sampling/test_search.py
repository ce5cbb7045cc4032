# SPDX-License-Identifier: GPL-3.0-or-later
"""A search finds its way, goes back when it is lost, gives up in time, and never forgets its nominal trajectory."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.control.sampling import search as search_module
from sinew.core.control.sampling.search import SamconSearch, roll_out_samples
from sinew.core.control.tracking.linear_dynamics import fit_linear_models, reference_fragments
from sinew.core.control.tracking.lqr import LqrSolution, solve_lqr
from sinew.core.control.tracking.reference import CONTROL_FPS
from sinew.core.geometry.quaternions import multiply
from sinew.core.motion.falling import STRAY

from .toys import PLATE, finished, problem_of, search_of, tracking_error_of, waving, world_of


@pytest.fixture(scope="module")
def world():
    found = world_of(20)
    yield found
    found.close()


def lqr_of(world, tracking_error, seed=0) -> LqrSolution:
    nominal = reference_fragments(tracking_error, np.arange(tracking_error.reference.fragments))
    rng = np.random.default_rng(seed)
    return solve_lqr(tracking_error, fit_linear_models(world, tracking_error, nominal, 0.5, rng))


@pytest.fixture(scope="module")
def wave(world):
    """The problem and the LQR solution of a wave that can be done."""
    tracking_error = tracking_error_of(world, waving(0.8))
    return problem_of(world, tracking_error), lqr_of(world, tracking_error)


@pytest.fixture(scope="module")
def hover(world):
    """The same of a wave in mid air, which cannot."""
    tracking_error = tracking_error_of(world, waving(1.2, height=1.0))
    return problem_of(world, tracking_error), lqr_of(world, tracking_error)


def advances(search: SamconSearch, most: int = 1000) -> int:
    """How many fragments were tried until the end."""
    count = 0
    while not search.done:
        search.advance()
        count += 1
        assert count < most, "the search does not end"
    return count


def test_it_finds_a_way_where_there_is_one(wave):
    search = search_of(*wave)
    assert advances(search) == 8  # never lost
    trajectory = search.best_trajectory()
    assert len(trajectory) == 8 and max(layer.height_error for layer in search.layers) < 0.05
    tracking_error, world = wave[0].tracking_error, wave[0].world
    seen = world.sense(np.tile(trajectory.ends[-1], (world.copies, 1))).link_pos[0, 0]
    wanted = tracking_error.reference.rows.link_pos[0, int(tracking_error.reference.frames_of(7)[-1])]
    assert np.abs(seen - wanted).max() < 0.1


def test_a_way_is_what_physics_does(wave):
    """Every fragment begins where the one before has ended, and playing its offsets leads to its end, to the bit."""
    problem, lqr = wave
    trajectory = finished(search_of(problem, lqr)).best_trajectory()
    np.testing.assert_array_equal(trajectory.starts[0], problem.tracking_error.reference.states[0])
    np.testing.assert_array_equal(trajectory.starts[1:], trajectory.ends[:-1])
    for fragment in range(len(trajectory)):
        starts = np.tile(trajectory.starts[fragment], (problem.world.copies, 1))
        before = trajectory.offsets[fragment - 1] if fragment else np.zeros(problem.tracking_error.nu)
        targets = problem.tracking_error.reference.servo_targets(
            np.array([fragment]), before[None], trajectory.offsets[[fragment]]
        )
        every = np.tile(targets, (problem.world.copies, 1, 1))
        ends, _ = problem.world.rollout(starts, every, substeps=round(1 / (CONTROL_FPS * problem.world.dt_s)))
        np.testing.assert_array_equal(ends[3, -1], trajectory.ends[fragment])


def test_the_hopeless_are_abandoned_half_way_but_never_the_first(wave):
    """The first is the nominal trajectory, or the feedback's own."""
    problem, _ = wave
    world, reference = problem.world, problem.tracking_error.reference
    offsets = 0.2 * np.random.default_rng(0).normal(size=(world.copies, problem.tracking_error.nu))
    offsets[0] = 3.0  # the worst of all
    starts = np.tile(reference.states[0], (world.copies, 1))
    ends, rows = roll_out_samples(problem, starts, 0, np.zeros_like(offsets), offsets, np.zeros((world.copies, 2)))
    lost = ~np.isfinite(ends).all(-1)
    assert 0 < lost.sum() <= 0.5 * world.copies and not lost[0]
    assert np.isnan(rows.link_pos[lost]).all() and np.isfinite(rows.link_pos[~lost]).all()
    apart = np.linalg.norm(offsets, axis=-1)
    assert apart[lost].mean() > apart[1:][~lost[1:]].mean()


def test_samples_are_kept_in_order_of_their_rank(wave):
    search = search_of(*wave)
    layer = search.advance()
    assert len(layer.total) == round(0.2 * 20) == len(layer.states)
    assert (np.diff(layer.total) >= 0.0).all() and layer.total[-1] <= np.delete(layer.value, layer.elites).min()
    np.testing.assert_array_equal(layer.value[layer.elites], layer.total)


def test_the_same_seed_finds_the_same_way_and_another_one_another(wave, world):
    problem, lqr = wave
    first, again = (finished(search_of(problem, lqr)).best_trajectory() for _ in range(2))
    other = finished(search_of(problem_of(world, problem.tracking_error, seed=1), lqr)).best_trajectory()
    np.testing.assert_array_equal(first.ends, again.ends)
    np.testing.assert_array_equal(first.offsets, again.offsets)
    assert not np.array_equal(first.offsets, other.offsets)


def test_put_aside_and_taken_up_again_it_finds_the_same(hover):
    """In the middle of going back and trying again, too."""
    problem, lqr = hover
    whole = search_of(problem, lqr)
    for _ in range(10):
        whole.advance()
    assert whole.retries.any()
    again = search_of(problem, whole.lqr)
    again.layers, again.retries, again.retry_budget = list(whole.layers), whole.retries.copy(), whole.retry_budget
    again.distributions = dict(whole.distributions)
    np.testing.assert_array_equal(finished(again).best_trajectory().ends, finished(whole).best_trajectory().ends)


def test_it_goes_back_when_lost_learns_and_gives_up_in_time(hover):
    problem, lqr = hover
    search = search_of(problem, lqr)
    fragments = search.stop - search.first
    while not search.retries.any():
        search.advance()
        assert len(search.layers) <= fragments
    assert search.distributions  # it knows better where to look
    assert any(distribution.mean.any() for distribution in search.distributions.values())
    spare = round(search_module._PATIENCE * fragments)
    finished(search, most=fragments + spare)
    assert search.retry_budget >= 0
    assert len(search.best_trajectory()) == fragments and np.isfinite(search.best_trajectory().ends).all()


def test_every_fragment_that_is_tried_again_is_paid_for(hover):
    search = search_of(*hover)
    fragments, spare = search.stop - search.first, search.retry_budget
    assert advances(search) == fragments + spare - search.retry_budget
    assert search.retry_budget < spare


def test_a_retry_tries_more_and_wider(hover):
    search = search_of(*hover)
    first = search.advance()
    while not search.retries.any():
        search.advance()
    while len(search.layers) == 0 or search.retries[len(search.layers) - 1] == 0:
        search.advance()
    again = search.layers[-1]
    assert len(again.value) > len(first.value)
    # As many of the samples go on as before: few of many are nearly the same, and are lost together.
    assert len(again.total) / len(again.value) == len(first.total) / len(first.value)


def test_who_cannot_go_back_draws_twice_and_keeps_as_many_as_ever(wave):
    search = search_of(*wave)
    first = search.advance()
    hasty = search_of(*wave)
    hasty.retries[:], hasty.retry_budget, hasty.hasty = 2, 0, True
    found = hasty.advance()
    assert (len(found.value), len(found.total)) == (2 * len(first.value), len(first.total))


def test_the_second_time_it_looks_around_where_it_was_lost(hover, monkeypatch):
    looked = []
    real = search_module.fit_linear_models

    def noted(world, tracking_error, nominal, *rest, **options):
        looked.append(nominal.fragments)
        return real(world, tracking_error, nominal, *rest, **options)

    monkeypatch.setattr(search_module, "fit_linear_models", noted)
    search = search_of(*hover)
    advances(search)
    assert looked and search.lqr is not hover[1]
    assert np.isfinite(search.lqr.gains).all() and np.isfinite(search.lqr.value_hessian).all()
    # The LQR solution that was given is not written to.
    assert np.array_equal(hover[1].gains, lqr_of(hover[0].world, hover[0].tracking_error).gains)


ASTRAY, DEAR = 1.1 * search_module._LOST, 1.1 * search_module._DEAR


@pytest.mark.parametrize(
    ("seen", "lost"),
    [
        ([(ASTRAY, DEAR)] * 3, True),
        ([(ASTRAY, DEAR)] * 2, False),
        ([(ASTRAY, DEAR), (0.9 * search_module._LOST, DEAR), (ASTRAY, DEAR)], False),
        ([(ASTRAY, 0.9 * search_module._DEAR)] * 6, False),
        ([(0.9 * search_module._LOST, DEAR)] * 6, False),
        ([(STRAY, 0.5 * DEAR)] * 2, True),
        ([(STRAY, 0.5 * DEAR), (0.0, 0.5 * DEAR), (STRAY, 0.5 * DEAR)], False),
    ],
    ids=[
        "for long",
        "not yet",
        "not all the while",
        "low, but as near as can be",
        "far off, but up",
        "where a take counts as lost",
        "a stumble",
    ],
)
def test_only_who_is_far_off_for_long_is_lost(wave, monkeypatch, seen, lost):
    """Who is lower than the source may still follow one that nobody could follow more closely."""
    search = search_of(*wave)
    given = iter(seen)
    real = SamconSearch._sample_layer

    def layer(self, retry):
        far, dear = next(given)
        return replace(real(self, retry), height_error=far, cost=dear)

    monkeypatch.setattr(SamconSearch, "_sample_layer", layer)
    for _ in seen:
        search.advance()
    # All of three fragments are taken back: as many as _BACK were not yet done.
    assert (len(search.layers), search.retries.any()) == ((0, True) if lost else (len(seen), False))


def test_a_body_that_leans_as_its_source_never_does_is_astray(wave):
    """Where all links are as high as they should be, heights alone do not tell."""
    search = search_of(*wave)
    rows = wave[0].tracking_error.reference.rows
    pos, quat = rows.link_pos[0, [6]], rows.link_quat_wxyz[0, [6]]
    toppled = multiply(np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]), quat)
    assert (search._is_astray(6, pos, quat), search._is_astray(6, pos, toppled)) == (False, True)


def test_who_lies_on_the_ground_is_not_tried_again_from_there(wave, monkeypatch):
    """Lost from the second fragment on, whatever is done: once that has had its retries, the rest gets none."""
    monkeypatch.setattr(search_module, "_PATIENCE", 2.0)
    search = search_of(*wave)
    real = SamconSearch._sample_layer
    tried = []

    def layer(self, retry):
        tried.append(len(self.layers))
        found = real(self, retry)
        return (
            replace(found, height_error=ASTRAY, cost=DEAR)
            if len(self.layers) >= 1
            else replace(found, height_error=0.0)
        )

    monkeypatch.setattr(SamconSearch, "_sample_layer", layer)
    advances(search)
    assert search.retries[:4].tolist() == [3, 3, 3, 3] and not search.retries[4:].any()
    # Three times back from the fourth, and then on to the end.
    assert tried == [0, 1, 2, 3] * 4 + [4, 5, 6, 7]
    assert search.retry_budget == round(search_module._PATIENCE * 8) - 12


def test_arms_are_spread_more_with_each_retry_and_never_more_than_the_rest(wave):
    """Their share of the others' spread grows from a quarter to three quarters with the last retry."""
    problem, lqr = wave
    calm = replace(problem, noise=np.array([0.1, 0.1, 0.1, 0.025]))
    shares = []
    for retry in range(search_module._RETRIES + 1):
        search = search_of(
            calm, replace(lqr, gains=np.zeros_like(lqr.gains), feedforward=np.zeros_like(lqr.feedforward))
        )
        _, noise, offsets, *_ = search._sample(np.random.default_rng(0), retry, None)
        spread = (offsets[1:] / noise[1:]).std(axis=0), (offsets[1:] / noise[1:]).mean(axis=0)
        np.testing.assert_allclose(spread[0], 0.0, atol=1e-9)  # one spread for all samples
        np.testing.assert_allclose(spread[1][:3], 0.1)
        shares.append(spread[1][3] / 0.1)
    np.testing.assert_allclose(shares, 0.25 + 0.75 * 0.7 * np.arange(4) / 3)


def test_limp_bodies_fall_and_nobody_tries_again(world):
    clip = waving(1.2, height=1.0)
    tracking_error = tracking_error_of(world, clip, np.zeros(len(clip)))
    search = search_of(problem_of(world, tracking_error), lqr_of(world, tracking_error))
    assert advances(search) == search.stop and not search.retries.any()
    assert search.layers[-1].height_error > 1.0
    seen = world.pose_of(search.best_trajectory().ends[-1])[0]
    assert seen[2] < 3 * PLATE  # on the problem, and not a metre above it


def test_a_known_way_stays_to_the_bit_and_the_next_is_no_worse(wave, world):
    problem, lqr = wave
    nominal = finished(search_of(problem, lqr)).best_trajectory()
    search = finished(search_of(problem_of(world, problem.tracking_error, seed=3, spread=0.05), lqr, nominal))
    for fragment, layer in enumerate(search.layers):
        np.testing.assert_array_equal(layer.states[0], nominal.ends[fragment])
        np.testing.assert_array_equal(layer.offsets[0], nominal.offsets[fragment])
        assert layer.parents[0] == 0
    last = search.layers[-1]
    assert last.total.min() <= last.total[0]


def test_where_all_else_is_worse_the_known_way_is_what_is_found(wave, world):
    """Samples that shake the arm by a radian are all worse."""
    problem, lqr = wave
    nominal = finished(search_of(problem, lqr)).best_trajectory()
    search = search_of(problem_of(world, problem.tracking_error, seed=3, spread=3.0), lqr, nominal)
    trajectory = finished(search).best_trajectory()
    np.testing.assert_array_equal(trajectory.ends, nominal.ends)
    np.testing.assert_array_equal(trajectory.offsets, nominal.offsets)


def test_a_world_that_blows_up_is_a_way_to_nowhere_but_an_end(world, wave):
    """Broken samples rank last; where all are broken the search still ends."""
    problem, lqr = wave
    reference = problem.tracking_error.reference
    nowhere, before = np.full(world.state_size, np.nan), np.zeros(problem.tracking_error.nu)
    search = SamconSearch(problem, lqr, 0, reference.fragments, nowhere, np.zeros(2), before)
    finished(search, most=40)
    assert np.isinf(search.layers[-1].total).all()
