# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers become sentences that an animator can use; what is not known is not spoken of."""

import pytest

from sinew.core.measure import summarize_measurements

GOOD = {
    "joint_error_m": 0.032, "joint_error_max_m": 0.124, "joint_error_global_m": 0.05, "root_error_m": 0.01,
    "root_error_max_m": 0.04, "com_error_m": 0.01, "com_error_max_m": 0.03, "tip_error_m": 0.04, "tip_error_max_m": 0.2,
    "skate_m_s": 0.004, "source_skate_m_s": 0.0561, "penetration_m": 0.001, "penetration_max_m": 0.003,
    "jerk_m_s3": 300.0, "jerk_ratio": 1.1, "torque_use": 0.1, "torque_use_max": 1.0, "energy_j_kg": 12.0,
}  # fmt: skip


def test_a_good_take():
    assert summarize_measurements(GOOD, None) == [
        "Stayed with the source: 3.2 cm on average, 12 cm at most",
        "Feet slide 0.4 cm/s (in the source 5.6 cm/s)",
        "As smooth as the source",
    ]


def test_a_take_that_follows_no_source_speaks_of_its_skills():
    alone = GOOD | {"root_error_max_m": 1.31}
    del alone["jerk_ratio"]
    assert summarize_measurements(alone, None, own_clock=True) == [
        "Stayed with its skills: 3.2 cm on average, 12 cm at most",
        "Feet slide 0.4 cm/s (in its skills 5.6 cm/s)",
    ]


def test_a_bad_take():
    bad = GOOD | {"root_error_max_m": 1.31, "penetration_max_m": 0.021, "jerk_ratio": 2.34, "torque_use": 0.4}
    del bad["source_skate_m_s"]
    assert summarize_measurements(bad, 2.34, fell=True) == [
        "Lost it at 2.3 s and stayed down",
        "Until then stayed with the source: 3.2 cm on average, 12 cm at most",
        "Moves up to 1.3 m away from the source's path",
        "Feet slide 0.4 cm/s",
        "Sinks up to 2.1 cm into the ground",
        "2.3 times as jerky as the source",
        "Hard work: 40% of its strength on average",
    ]


@pytest.mark.parametrize(
    ("measurements", "lost_at_s", "sentences"),
    [
        ({}, None, []),
        ({}, 0.0, ["Lost it at once"]),
        ({"lost_s": 1.26}, 5.21, ["Lost it at 5.2 s, for 1.3 s"]),
        ({"frames": 40, "engine": "mujoco", "kept": True}, None, []),
        ({"skate_m_s": None, "jerk_ratio": float("nan"), "joint_error_m": float("inf")}, None, []),
        ({"skate_m_s": 0.0001}, None, ["Feet stand still"]),
        ({"skate_m_s": 1.5}, None, ["Feet slide 1.5 m/s"]),
        ({"jerk_ratio": 0.5}, None, ["Smoother than the source"]),
        ({"joint_error_m": 0.0, "joint_error_max_m": 0.0}, None, ["Stayed with the source exactly"]),
        ({"joint_error_m": 0.0, "joint_error_max_m": 0.0}, 1.0, ["Lost it at 1.0 s"]),
        ({"joint_error_m": 0.0996}, None, ["Stayed with the source: 10 cm on average"]),
        ({"joint_error_m": 0.0994}, None, ["Stayed with the source: 9.9 cm on average"]),
    ],
)
def test_what_is_said(measurements, lost_at_s, sentences):
    assert summarize_measurements(measurements, lost_at_s) == sentences


def test_no_sentence_speaks_in_names_or_in_digits_that_nobody_needs():
    for sentence in summarize_measurements(GOOD | {"torque_use": 0.33333, "jerk_ratio": 3.33333}, 1.23456):
        assert "_" not in sentence and not any(len(part) > 1 for part in _decimals(sentence))


def _decimals(sentence):
    return [word.partition(".")[2].rstrip(",") for word in sentence.split() if word.replace(".", "", 1).isdigit()]
