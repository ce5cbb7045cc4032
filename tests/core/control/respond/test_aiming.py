# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that misses its targets is aimed anew, and the try that misses least is the one that is told of."""

import numpy as np
import pytest

from deed_clips import make_deeds
from sinew.core.control.respond.aiming import measure_misses, simulate_aimed
from sinew.core.control.respond.cues import CueSheet, parse_cue, sort_cues
from sinew.core.control.respond.responding import Responding
from sinew.core.control.sampling.search import shift_anchors
from sinew.core.motion import Take
from sinew.core.motion.travel import move_roots


@pytest.fixture(scope="module")
def made():
    """A kick at a ball and a walk to a place: cues, body and motion."""
    stored = make_deeds()
    responding = Responding(stored.body, stored.library)
    cues = sort_cues(parse_cue(text, 1, 30.0) for text in ("kick@110=2.5,0.8,0.6", "walk@190:3.5,0.5"))
    return responding.body, cues, responding.make_motion(CueSheet(cues, 1, 30.0), np.random.default_rng(0))


class Told:
    """A run that remembers what it was told."""

    def __init__(self):
        self.findings, self.shares, self.kept = [], [], 0

    def add_finding(self, kind, message, hint=""):
        self.findings.append(message)

    def progress(self, step, total, /, **_):
        self.shares.append(step / total)

    def save_checkpoint(self, step, /, **_):
        self.kept += 1

    def is_enough(self):
        return False


def drifting(aside, made):
    """A body that is further and further aside the longer it goes on, whatever it is told."""
    tries = []

    def simulate(motion, run):
        run.progress(1, 2)
        run.save_checkpoint(0)
        run.add_finding("try", f"try {len(tries)}")
        way = np.linspace(0.0, 1.0, len(motion))[:, None] * np.array([*aside(len(tries)), 0.0])
        tries.append(Take(move_roots(motion, np.zeros(len(motion)), way)))
        return tries[-1]

    return simulate, tries


def test_what_is_aimed_beside_its_targets_by_as_much_as_it_misses_hits(made):
    body, cues, plan = made
    simulate, tries = drifting(lambda _: (0.3, -0.2), made)
    run = Told()
    found = simulate_aimed(body, cues, plan.limbs, plan.motion, simulate, plan.reaim, run, 4)
    far = [
        [float(np.linalg.norm(miss)) for miss in measure_misses(body, cues, plan.limbs, one.motion)] for one in tries
    ]
    assert max(far[0]) > 0.2 and max(far[-1]) < 0.07 and found.take is tries[-1] and len(tries) <= 4
    assert run.findings == [f"try {len(tries) - 1}"] and run.kept == 1  # what is tried again is no checkpoint
    assert run.shares == sorted(run.shares)


def test_a_try_that_misses_by_more_does_not_count(made):
    body, cues, plan = made
    simulate, tries = drifting(lambda number: (0.2 + 0.8 * number, 0.0), made)
    run = Told()
    found = simulate_aimed(body, cues, plan.limbs, plan.motion, simulate, plan.reaim, run, 2)
    assert len(tries) == 2 and found.take is tries[0] and run.findings == ["try 0"]


def test_an_anchor_comes_along_and_goes_back_little_by_little():
    error = np.zeros((1, 12))
    error[0, :2] = 0.3, 0.0
    anchor = shift_anchors(np.zeros((1, 2)), error)
    np.testing.assert_allclose(anchor, [[0.2, 0.0]])
    np.testing.assert_allclose(shift_anchors(np.zeros((1, 2)), error, 0.05), [[0.15, 0.0]])
    assert np.array_equal(shift_anchors(np.array([[0.02, 0.0]]), np.zeros((1, 12)), 0.05), [[0.0, 0.0]])
