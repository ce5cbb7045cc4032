# SPDX-License-Identifier: GPL-3.0-or-later
"""Lost, skates, sinks: each mark is there when it should be, and says by how much."""

import math

import pytest

from sinew.bench.simulate import goals
from sinew.core.measure import quality_checks
from sinew.core.measure.quality_checks import SINKS_M, SKATES_M_S


def faults(measurements, lost=False):
    return [mark.fault for mark in quality_checks.check_quality(measurements, lost) if mark.bad]


def test_every_fault_is_found_alone():
    good = {"skate_m_s": 0.5 * SKATES_M_S, "penetration_max_m": 0.5 * SINKS_M}
    assert faults(good) == []
    assert faults(good, lost=True) == ["fell"]
    assert faults(good | {"skate_m_s": 2.0 * SKATES_M_S}) == ["skates"]
    assert faults(good | {"penetration_max_m": 2.0 * SINKS_M}) == ["sinks"]


def test_what_nobody_measured_is_neither_good_nor_bad():
    for nothing in ({}, {"skate_m_s": None, "penetration_max_m": math.nan}, {"skate_m_s": True}):
        found = quality_checks.check_quality(nothing, lost=False)
        assert [mark.bad for mark in found] == [False, None, None]
        assert all("not measured" in mark.words for mark in found[1:])


def test_words_have_the_numbers_and_the_source_beside_them():
    found = quality_checks.check_quality(
        {"skate_m_s": 0.031, "source_skate_m_s": 0.08, "penetration_max_m": 0.042}, True, 1.26, fell=True
    )
    assert [mark.words for mark in found] == [
        "Lost it at 1.3 s and stayed down",
        "Feet slide 3.1 cm/s (source 8.0 cm/s)",
        "Sinks 4.2 cm into the ground",
    ]


def test_feet_are_held_to_what_the_benchmark_holds_them_to():
    assert pytest.approx(goals.SKATE.most) == SKATES_M_S


@pytest.mark.parametrize(
    ("at_s", "fell", "measured", "words"),
    [
        (5.21, False, {"lost_s": 1.3}, "Lost it at 5.2 s, for 1.3 s"),
        (5.21, True, {"lost_s": 1.3}, "Lost it at 5.2 s and stayed down"),
        (None, True, {}, "Lost it and stayed down"),
    ],
)
def test_who_is_lost_is_told_since_when_and_what_became_of_it(at_s, fell, measured, words):
    mark = quality_checks.check_quality(measured, True, at_s, fell)[0]
    assert (mark.bad, mark.words) == (True, words)
