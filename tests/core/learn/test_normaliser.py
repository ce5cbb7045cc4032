# SPDX-License-Identifier: GPL-3.0-or-later
"""Running statistics merged batch by batch are those of all rows at once."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sinew.core.learn.normaliser import Normaliser, RunningStatistics


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(0, 2**32 - 1))
def test_merged_batches_are_as_good_as_all_at_once(sizes, seed):
    rng = np.random.default_rng(seed)
    # Far from zero, and of very different size: where sums of squares would drown.
    batches = [rng.normal([1e5, 0.0, -3.0], [1.0, 1e-2, 50.0], (size, 3)) for size in sizes]
    statistics = sum(map(RunningStatistics.from_rows, batches), RunningStatistics.empty(3))
    rows = np.concatenate(batches)
    assert statistics.count == len(rows)
    assert np.allclose(statistics.mean, rows.mean(axis=0), rtol=1e-12, atol=1e-12)
    assert np.allclose(statistics.deviations, np.square(rows - rows.mean(axis=0)).sum(axis=0), rtol=1e-7, atol=1e-9)


def test_normalised_rows_have_mean_0_and_spread_1():
    rows = np.random.default_rng(1).normal([2.0, -7.0], [0.5, 30.0], (4000, 2))
    normalised = Normaliser(RunningStatistics.from_rows(rows))(rows)
    assert normalised.dtype == np.float32
    assert np.abs(normalised.mean(axis=0)).max() < 1e-5
    assert np.abs(normalised.std(axis=0) - 1.0).max() < 1e-5


def test_what_is_constant_is_only_shifted_and_freaks_stay_small():
    rows = np.array([[3.0, 0.0], [3.0, 1.0], [3.0, 2.0]])
    normaliser = Normaliser(RunningStatistics.from_rows(rows))
    assert normaliser(rows)[:, 0].tolist() == [0.0, 0.0, 0.0]
    assert np.abs(normaliser(np.array([[3.5, 1e9]]))).max() < 10.0
    assert normaliser(np.array([[3.5, 1.0]])).tolist() == [[0.5, 0.0]]


def test_before_anything_was_seen_nothing_changes():
    assert Normaliser(RunningStatistics.empty(2))(np.array([[1.5, -2.0]])).tolist() == [[1.5, -2.0]]


def test_the_past_fades():
    statistics = RunningStatistics.empty(1)
    rng = np.random.default_rng(2)
    for centre in (0.0, 10.0):
        for _ in range(200):
            statistics = (
                statistics + RunningStatistics.from_rows(rng.normal(centre, 1.0, (50, 1)))
            ).with_limited_count(1000.0)
    assert abs(statistics.mean[0] - 10.0) < 0.3
    assert abs(statistics.std[0] - 1.0) < 0.2
    assert statistics.count == 1000.0
