# SPDX-License-Identifier: GPL-3.0-or-later
"""Constant torques and rates cost what they must."""

import numpy as np
import pytest

from sinew.core.measure import effort

from .figures_seen import figure


def test_half_the_strength_of_one_of_two_hinges():
    body = figure("foot.L", "foot.R", limit=80.0)
    torque = np.tile([-40.0, 0.0], (7, 1))
    assert effort.torque_shares(body, torque) == pytest.approx(np.tile([0.5, 0.0], (7, 1)))


def test_a_balls_strength_is_the_length_of_its_torque():
    body = figure("head", kind="ball", limit=10.0)
    assert effort.torque_shares(body, np.array([[3.0, -4.0, 0.0]])) == pytest.approx(np.array([[0.5]]))


def test_what_has_no_strength_is_left_out():
    assert effort.torque_shares(figure("head", limit=0.0), np.ones((4, 1))).shape == (4, 0)
    assert effort.torque_shares(figure(), np.ones((4, 0))).shape == (4, 0)


def test_energy_of_a_steady_turn():
    body = figure("foot.L")  # 20 kg
    torque, rate = np.full((50, 1), 10.0), np.full((50, 1), 2.0)
    assert effort.mechanical_energy(body, torque, rate, 0.02) == pytest.approx(10.0 * 2.0 * 1.0 / 20.0)
    assert effort.mechanical_energy(body, -torque, rate, 0.02) == pytest.approx(1.0)
    assert effort.mechanical_energy(body, torque, 0.0 * rate, 0.02) == 0.0


def test_a_ball_that_turns_across_its_torque_does_no_work():
    body = figure("head", kind="ball")
    across, along = np.array([[0.0, 1.0, 0.0]]), np.array([[2.0, 0.0, 0.0]])
    assert effort.mechanical_energy(body, np.array([[5.0, 0.0, 0.0]]), across, 0.1) == 0.0
    assert effort.mechanical_energy(body, np.array([[5.0, 0.0, 0.0]]), along, 0.1) == pytest.approx(
        5.0 * 2.0 * 0.1 / 20.0
    )


def test_a_body_without_joints_costs_nothing():
    assert effort.mechanical_energy(figure(), np.zeros((3, 0)), np.zeros((3, 0)), 0.1) == 0.0
