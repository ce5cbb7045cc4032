# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress of parts: it moves at every call, never back, and never says that all is done before it is."""

import itertools

import pytest

from sinew.core.control.work_meter import WHOLE, WorkMeter


class Reports:
    """A run that keeps what it is told."""

    def __init__(self):
        self.shares, self.said = [], []

    def progress(self, step, total, /, **measurements):
        assert total == WHOLE
        self.shares.append(step / total)
        self.said.append(measurements)


def test_calls_lead_through_a_part_and_parts_through_the_whole():
    run = Reports()
    meter = WorkMeter(run, lambda: {"studied": meter.part_share})
    meter.begin(0.5, 100, "Studying")
    for _ in range(50):
        meter.step()
    assert meter.share == pytest.approx(0.25) and run.said[-1]["doing"] == "Studying"
    assert run.said[-1]["studied"] == pytest.approx(0.5)
    meter.begin(1.0, 10, "Practising")  # what was left of the first is over
    assert meter.share == pytest.approx(0.5) and run.said[-1]["doing"] == "Practising"
    assert run.shares == sorted(run.shares)


@pytest.mark.parametrize("calls", [10, 1000])
def test_a_part_that_takes_longer_slows_down_and_one_that_is_shorter_is_over(calls):
    run = Reports()
    meter = WorkMeter(run)
    meter.begin(0.8, 100)
    for _ in range(calls):
        meter.step()
    assert 0.05 < meter.share < 0.8 + 1e-12
    steps = [later - earlier for earlier, later in itertools.pairwise(run.shares)]
    assert min(steps) >= 0.0 and max(steps) < 0.02
    meter.begin(0.9)
    assert meter.share == pytest.approx(0.8)


def test_it_goes_neither_back_nor_to_the_end_by_itself():
    run = Reports()
    meter = WorkMeter(run)
    meter.begin(1.0, 10)
    meter.reach(0.6)
    meter.reach(0.3)
    assert meter.share == pytest.approx(0.6)
    meter.begin(0.2)  # before where it is
    meter.reach(50.0)
    assert run.shares == sorted(run.shares) and run.shares[-1] < 1.0
