# SPDX-License-Identifier: GPL-3.0-or-later
"""Fell, skates, sinks: each mark is there when it should be, and says by how much."""

import math

import pytest

from sinew.bench.simulate import goals
from sinew.core.measure import quality_checks
from sinew.core.measure.quality_checks import SINKS_M, SKATES_M_S


def faults(measurements, fell=False):
    return [mark.fault for mark in quality_checks.check_quality(measurements, fell) if mark.bad]


def test_every_fault_is_found_alone():
    good = {"skate_m_s": 0.5 * SKATES_M_S, "penetration_max_m": 0.5 * SINKS_M}
    assert faults(good) == []
    assert faults(good, fell=True) == ["fell"]
    assert faults(good | {"skate_m_s": 2.0 * SKATES_M_S}) == ["skates"]
    assert faults(good | {"penetration_max_m": 2.0 * SINKS_M}) == ["sinks"]


def test_what_nobody_measured_is_neither_good_nor_bad():
    for nothing in ({}, {"skate_m_s": None, "penetration_max_m": math.nan}, {"skate_m_s": True}):
        found = quality_checks.check_quality(nothing, fell=False)
        assert [mark.bad for mark in found] == [False, None, None]
        assert all("not measured" in mark.words for mark in found[1:])


def test_words_have_the_numbers_and_the_source_beside_them():
    found = quality_checks.check_quality(
        {"skate_m_s": 0.031, "source_skate_m_s": 0.08, "penetration_max_m": 0.042}, True, 1.26
    )
    assert [mark.words for mark in found] == [
        "Fell after 1.3 s",
        "Feet slide 3.1 cm/s (source 8.0 cm/s)",
        "Sinks 4.2 cm into the ground",
    ]


def test_feet_are_held_to_what_the_benchmark_holds_them_to():
    assert pytest.approx(goals.SKATE.most) == SKATES_M_S
