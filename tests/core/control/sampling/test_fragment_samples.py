# SPDX-License-Identifier: GPL-3.0-or-later
"""What a search remembers, on layers made by hand: who descends from whom, and where to look next time."""

import numpy as np
import pytest

from sinew.core.control.sampling.fragment_samples import (
    SamplingDistribution,
    count_surviving_fragments,
    trace_trajectory,
)
from sinew.core.control.sampling.search import _REACH_M, shift_anchors
from sinew.core.control.tracking.resampling import resample_systematically

from .toys import layer


@pytest.fixture
def family():
    """Three layers of three kept samples: the last are all offspring of samples 2 and 1 of the first."""
    return [
        layer([0, 0, 0], [1.0, 2.0, 3.0], anchors=[[0, 0], [0, 1], [0, 2]]),
        layer([2, 1, 1], [4.0, 5.0, 6.0], anchors=[[1, 0], [1, 1], [1, 2]]),
        layer([1, 0, 0], [9.0, 7.0, 8.0], anchors=[[2, 0], [2, 1], [2, 2]]),
    ]


def test_the_cheapest_of_the_last_layer_is_traced_to_its_beginning(family):
    trajectory = trace_trajectory(family, 7, np.array([-1.0]), np.array([5.0, 5.0]))
    assert (trajectory.first, len(trajectory)) == (7, 3)
    # Sample 1 of the last layer, its parent 0, and that one's parent 2; states are 100 * the first total + index.
    assert trajectory.ends[:, 0].tolist() == [102.0, 400.0, 901.0]
    assert trajectory.starts[:, 0].tolist() == [-1.0, 102.0, 400.0]
    assert trajectory.offsets[:, 0].tolist() == pytest.approx([0.2, 0.0, 0.1])
    assert trajectory.anchors.tolist() == [[5.0, 5.0], [0.0, 2.0], [1.0, 0.0]]
    assert trajectory.cost.tolist() == [1.0, 4.0, 7.0]


def test_a_single_layer_is_a_way_too(family):
    trajectory = trace_trajectory(family[:1], 0, np.array([-1.0]), np.zeros(2))
    assert trajectory.ends[:, 0].tolist() == [100.0] and trajectory.starts[:, 0].tolist() == [-1.0]


def test_depth_is_how_long_the_family_lasted():
    layers = [
        layer([0, 0, 0], [1.0, 2.0, 3.0], kept=[4, 0, 2], tried=6),
        layer([0, 0, 2], [4.0, 5.0, 6.0], kept=[1, 3, 5], tried=6),
        layer([2, 2, 2], [7.0, 8.0, 9.0], kept=[0, 1, 2], tried=6),
    ]
    first, second, third = count_surviving_fragments(layers)
    # Kept sample 0 of the first layer (tried as number 4) has children that have none; kept 2 has grandchildren.
    assert first.tolist() == [0, -1, 2, -1, 1, -1]
    assert second.tolist() == [-1, 0, -1, 0, -1, 1]
    assert third.tolist() == [0, 0, 0, -1, -1, -1]


def test_an_even_scatter_has_no_preference_and_its_first_sample_is_the_mean():
    distribution = SamplingDistribution(np.array([1.0, -2.0]), np.array([[4.0, 1.0], [1.0, 1.0]]))
    drawn = distribution.sample(20_000, 1.0, np.random.default_rng(0))
    assert drawn[0].tolist() == [1.0, -2.0]
    np.testing.assert_allclose(drawn.mean(0), distribution.mean, atol=0.05)
    np.testing.assert_allclose(np.cov(drawn.T), distribution.covariance, atol=0.1)
    even = SamplingDistribution.isotropic(3)
    assert not even.mean.any() and np.array_equal(even.covariance, np.eye(3))


def generation(distribution, rng, wanted, count=200):
    """The distribution after samples of which those near ``wanted`` lasted."""
    noise = distribution.sample(count, 1.0, rng)
    away = np.linalg.norm(noise - wanted, axis=-1)
    return distribution.adapt(noise, away, np.where(away < np.median(away), 5, -1))


def test_it_is_drawn_to_those_that_lasted():
    wanted, rng = np.array([1.5, -1.0, 0.5]), np.random.default_rng(1)
    distribution, off = SamplingDistribution.isotropic(3), []
    for _ in range(8):
        off.append(np.linalg.norm(distribution.mean - wanted))
        distribution = generation(distribution, rng, wanted)
    off.append(np.linalg.norm(distribution.mean - wanted))
    assert off[1] < 0.8 * off[0] and off[-1] < 0.1 * off[0]


def test_it_shrinks_where_they_agree_and_never_grows_beyond_the_first():
    wanted, rng = np.array([0.5, 0.0]), np.random.default_rng(2)
    distribution, sizes = SamplingDistribution.isotropic(2), []
    for _ in range(8):
        distribution = generation(distribution, rng, wanted)
        sizes.append(np.trace(distribution.covariance))
        assert np.linalg.eigvalsh(distribution.covariance).min() > 0.0
    assert sizes[-1] < 0.1 and all(size <= 2.0 + 1e-6 for size in sizes)
    # Far-away survivors widen it no more than it was.
    far = SamplingDistribution.isotropic(2).adapt(
        50.0 * rng.normal(size=(40, 2)), np.zeros(40), np.zeros(40, dtype=int)
    )
    assert np.trace(far.covariance) <= 2.0 + 1e-6


def test_lasting_counts_before_being_cheap():
    noise = np.array([[1.0], [-1.0]] * 20)
    cheap, lasting = np.tile([0.0, 9.0], 20), np.tile([0, 3], 20)
    assert SamplingDistribution.isotropic(1).adapt(noise, cheap, lasting).mean[0] == pytest.approx(-1.0)
    assert SamplingDistribution.isotropic(1).adapt(noise, cheap, np.zeros(40, dtype=int)).mean[0] == pytest.approx(1.0)


def test_the_cheaper_have_more_successors():
    total = np.array([1.0, 2.0, 4.0, np.inf])
    drawn = resample_systematically(total, 1000, np.random.default_rng(0))
    counts = np.bincount(drawn, minlength=4)
    weight = np.exp(-(total[:3] - 1.0) / np.std(total[:3]))
    expected = 1000 * weight / weight.sum()
    # Systematic: everybody gets their share to within one, whatever is drawn.
    assert np.abs(counts[:3] - expected).max() <= 1.0 and counts[3] == 0


def test_equals_share_alike_and_where_nobody_lives_everybody_goes_on():
    rng = np.random.default_rng(1)
    assert np.bincount(resample_systematically(np.full(4, 3.0), 100, rng)).tolist() == [25] * 4
    assert resample_systematically(np.full(3, np.inf), 7, rng).tolist() == [0, 1, 2, 0, 1, 2, 0]


def test_the_reference_comes_along_with_who_is_out_of_reach():
    anchors = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    near = 0.6 * _REACH_M  # along both axes
    moved = shift_anchors(anchors, np.array([[near, near, 9.0], [3.0, 4.0, 9.0], [0.0, 0.0, 9.0]]))
    assert moved[0].tolist() == [1.0, 1.0] and moved[2].tolist() == [0.0, 0.0]
    # It is moved straight towards the body, until that is just within reach.
    left = np.array([3.0, 4.0]) - (moved[1] - anchors[1])
    np.testing.assert_allclose(left, np.array([0.6, 0.8]) * _REACH_M)
    np.testing.assert_allclose(shift_anchors(moved[1:2], np.array([[*left, 0.0]])), moved[1:2], atol=1e-12)
