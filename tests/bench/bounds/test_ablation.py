# SPDX-License-Identifier: GPL-3.0-or-later
"""Ablations and claims with hardly any learning: what their rows say, and that they go on from what is kept."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.bench.bounds import ablation, claims, policy_motion
from sinew.bench.bounds.table import BoundsBench
from sinew.core.control.bounds.train_settings import BoundsTrainSettings

from ...stock_clips import stock_clip

pytest.importorskip("torch")


@pytest.fixture
def bench(tmp_path):
    stock_clip("walk")
    settings = BoundsTrainSettings(bounds="locomotion", millions=0.002, worlds=32, seconds=1.0, warm=False)
    return BoundsBench(tmp_path, clips=("spinkick",), settings=settings)


def test_with_and_without_differ_in_what_was_begun_where(bench):
    both, neither = ablation.measure_ablation(bench, [0], ["both", "neither"])
    assert (both["importance"], both["evolution"], neither["importance"], neither["evolution"]) == (1, 1, 0, 0)
    segments = len(both["starts"]["seconds"]) - 1
    for row in (both, neither):
        starts = row["starts"]
        assert np.shape(starts["returns"]) == np.shape(starts["apart"]) == (len(starts["samples"]), segments)
        assert starts["samples"][-1] <= 1e6 * row["samples_m"]
        assert len(row["elites"]["first"]) == len(row["elites"]["seconds"])
    assert np.ptp(neither["starts"]["chances"]) < 1e-3 < np.ptp(both["starts"]["chances"][-1])
    assert np.max(neither["starts"]["apart"]) == 0.0 < np.max(both["starts"]["apart"][-1])
    assert "lasts" in ablation.format_ablation_row(both)


def test_a_variant_goes_on_where_it_was_and_not_anew(bench):
    (short,) = ablation.measure_ablation(bench, [0], ["importance"])
    longer = replace(bench, settings=replace(bench.settings, millions=0.004))
    (long,) = ablation.measure_ablation(longer, [0], ["importance"])
    assert long["curve"][: len(short["curve"])] == short["curve"]
    assert len(long["curve"]) > len(short["curve"])


def test_the_same_clip_within_other_bounds_is_told_by_how_far_it_is_from_the_first(bench, monkeypatch):
    monkeypatch.setattr(policy_motion, "_SETTLED_S", 0.1)
    own = replace(bench, clips=("walk",))
    variants = ["loose", "loose_again", "tight"]
    loose, again, tight = claims.measure_claims(own, [0], ["width", *variants])
    assert [row["bounds"] for row in (loose, again, tight)] == ["loose", "loose", "tight"]
    assert [row["from_first"] is None for row in (loose, again, tight)] == [True, False, False]
    assert again["from_other_seed"] == again["from_first"] > 0.0 and again["curve"] != loose["curve"]
    assert tight["from_other_seed"] is None
    assert 0.0 < loose["from_source"] < 0.7 and tight["swing"] == loose["swing"] > 0.1
    assert "source" in claims.format_claim_row(tight)


def test_of_poor_keys_it_is_told_who_stands_and_who_does_what_was_wanted(bench):
    own = replace(bench, clips=())
    bounded, free = claims.measure_claims(own, [0], ["keyframes", "bounds", "imitation"])
    assert bounded["samples_m"] == free["samples_m"] >= 0.002  # nobody has more of them
    assert 0.0 < bounded["reference_off"] < 0.5
    for row in (bounded, free):
        assert 0.0 <= row["does_s"] <= row["stands_s"] <= 1.0  # who does it has not fallen
    assert "feet" in claims.format_claim_row(free)
