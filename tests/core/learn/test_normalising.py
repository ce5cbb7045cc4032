# SPDX-License-Identifier: GPL-3.0-or-later
"""Moments merged batch by batch are those of all rows at once."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sinew.core.learn.normalising import Moments, Normaliser


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(0, 2**32 - 1))
def test_merged_batches_are_as_good_as_all_at_once(sizes, seed):
    rng = np.random.default_rng(seed)
    # Far from zero, and of very different size: where sums of squares would drown.
    batches = [rng.normal([1e5, 0.0, -3.0], [1.0, 1e-2, 50.0], (size, 3)) for size in sizes]
    moments = sum(map(Moments.of, batches), Moments.none(3))
    rows = np.concatenate(batches)
    assert moments.count == len(rows)
    assert np.allclose(moments.mean, rows.mean(axis=0), rtol=1e-12, atol=1e-12)
    assert np.allclose(moments.deviations, np.square(rows - rows.mean(axis=0)).sum(axis=0), rtol=1e-7, atol=1e-9)


def test_normalised_rows_have_mean_0_and_spread_1():
    rows = np.random.default_rng(1).normal([2.0, -7.0], [0.5, 30.0], (4000, 2))
    normalised = Normaliser(Moments.of(rows))(rows)
    assert normalised.dtype == np.float32
    assert np.abs(normalised.mean(axis=0)).max() < 1e-5
    assert np.abs(normalised.std(axis=0) - 1.0).max() < 1e-5


def test_what_is_constant_is_only_shifted_and_freaks_stay_small():
    rows = np.array([[3.0, 0.0], [3.0, 1.0], [3.0, 2.0]])
    normaliser = Normaliser(Moments.of(rows))
    assert normaliser(rows)[:, 0].tolist() == [0.0, 0.0, 0.0]
    assert np.abs(normaliser(np.array([[3.5, 1e9]]))).max() < 10.0
    assert normaliser(np.array([[3.5, 1.0]])).tolist() == [[0.5, 0.0]]


def test_before_anything_was_seen_nothing_changes():
    assert Normaliser(Moments.none(2))(np.array([[1.5, -2.0]])).tolist() == [[1.5, -2.0]]


def test_the_past_fades():
    moments = Moments.none(1)
    rng = np.random.default_rng(2)
    for centre in (0.0, 10.0):
        for _ in range(200):
            moments = (moments + Moments.of(rng.normal(centre, 1.0, (50, 1)))).forgetting(1000.0)
    assert abs(moments.mean[0] - 10.0) < 0.3
    assert abs(moments.spread[0] - 1.0) < 0.2
    assert moments.count == 1000.0
