# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is lost for good lets go: strength fades, the body lies and rests, and who is only disturbed does not."""

from contextlib import ExitStack

import numpy as np
import pytest

from sinew.core.control.sampling.relaxing import LOST_FRAGMENTS, LossWatch, Relaxation
from sinew.core.control.sampling.stage_recording import record_rollout
from sinew.core.control.tracking.reference import FRAGMENT_STEPS, make_reference
from sinew.core.measure import measure_take
from sinew.core.motion.io import stock
from sinew.core.motion.loops import loop_clip
from sinew.core.motion.losing import LostMotionDetector
from sinew.core.sim.stage_parts import PushPart, StageParts

from .people import simulated
from .toys import rollout_of, waver, waving, world_of


def thrown_down(force_n=1500.0):
    push = PushPart("shove", "walk", "chest", np.array([0.0, force_n, 0.0]), 0.5, 0.1)
    return StageParts(characters=("walk",), pushes=(push,))


def test_strength_fades_from_all_to_little():
    relaxation = Relaxation(3, np.zeros(2))
    strength = relaxation.strength(np.arange(12)).ravel()
    assert np.all(strength[: 3 * FRAGMENT_STEPS] == 1.0) and np.all(np.diff(strength) <= 0.0)
    assert 0.9 < strength[3 * FRAGMENT_STEPS] < 1.0 and 0.0 < strength[-1] < 0.1
    assert relaxation.started(np.array([2, 3, 4])).tolist() == [False, True, True]


def test_a_walk_that_is_thrown_down_says_so_and_comes_to_rest(monkeypatch):
    clip = loop_clip(stock.load_stock("walk"), 4)
    take, run = simulated(monkeypatch, clip, parts=thrown_down())
    (trace,) = run.traces
    found = measure_take(trace, clip, take.motion)
    assert take.fell and 0.5 < found.lost_at_s <= take.fell_at_s < 2.6
    speed = np.linalg.norm(np.diff(trace.seen_pos, axis=0), axis=-1) * trace.fps
    assert speed[-20:].max() < 0.1 and trace.seen_pos[-1, :, 2].max() < 0.6
    # What it holds itself with is next to nothing.
    assert np.abs(trace.torque[-20:]).max() < 0.05 * np.abs(trace.torque[:60]).max()


def test_who_goes_on_trying_does_not_rest(opened, monkeypatch):
    monkeypatch.setattr(LostMotionDetector, "detect_toppled", lambda self, frames, *_: frames >= 30)
    clip = waving(3.0)
    lying, again, reaching = (played(opened, clip, lets_go) for lets_go in (True, True, False))
    np.testing.assert_array_equal(record_rollout(lying).qpos, record_rollout(again).qpos)
    assert lying.characters[0].relaxation.first == 4 + LOST_FRAGMENTS
    assert reaching.characters[0].relaxation is None
    still, moving = (np.abs(record_rollout(one).qvel[-20:, 6:]).mean() for one in (lying, reaching))
    assert still < 0.4 * moving


def played(opened, clip, lets_go):
    rollout = rollout_of(opened, [clip])
    rollout.characters[0].lets_go = lets_go
    rollout.run(lambda _: None)
    return rollout


def test_of_two_only_the_one_who_is_lost_lets_go(opened, monkeypatch):
    clips = [waving(2.5), waving(2.5, x=3.0)]
    apart = rollout_of(opened, clips)
    apart.run(lambda _: None)
    calm = record_rollout(apart)
    monkeypatch.setattr(
        LostMotionDetector,
        "detect_toppled",
        lambda self, frames, *_: (frames >= 30) & (self.wanted_pos[0, 0, 0] < 1.5),
    )
    rollout = rollout_of(opened, clips)
    rollout.run(lambda _: None)
    film, (limp, other) = record_rollout(rollout), rollout.characters
    assert limp.relaxation.first == 4 + LOST_FRAGMENTS and other.relaxation is None
    own, alone = film.qpos[:, limp.body.nq :], calm.qpos[:, limp.body.nq :]
    gone = limp.relaxation.first * FRAGMENT_STEPS + 1
    np.testing.assert_array_equal(own[:gone], alone[:gone])
    assert np.abs(own - alone).max() < 0.05  # MuJoCo takes another integrator beside who is limp
    last = slice(-20, None)
    still, moving = (np.abs(one.qvel[last, 6 : limp.body.nv]).mean() for one in (film, calm))
    assert still < 0.5 * moving
    assert limp.strength_at_frames()[-1] < 0.1 and np.all(other.strength_at_frames() == 1.0)


@pytest.fixture
def opened():
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def world():
    made = world_of(4)
    yield made
    made.close()


@pytest.mark.parametrize(("spans", "place"), [([(2, 20)], 2 + LOST_FRAGMENTS - 1), ([(2, 5), (8, 11)], None)])
def test_only_who_is_astray_for_long_lets_go(world, monkeypatch, spans, place):
    reference = make_reference(waver(), waving(2.0), world)
    lost = np.zeros(20, dtype=bool)
    for first, last in spans:
        lost[first:last] = True
    monkeypatch.setattr(LostMotionDetector, "detect_toppled", lambda *_: lost)
    rows = reference.rows
    ends = reference.frames_of_many(np.arange(20))[:, -1]
    assert LossWatch(reference).see(np.arange(20), rows.link_pos[0, ends], rows.link_quat_wxyz[0, ends]) == place


def test_keyed_strength_is_left_to_the_hand_that_keyed_it(world, monkeypatch):
    monkeypatch.setattr(LostMotionDetector, "detect_toppled", lambda self, frames, *_: np.ones(len(frames), dtype=bool))
    reference = make_reference(waver(), waving(2.0), world, np.linspace(1.0, 0.2, len(waving(2.0))))
    rows = reference.rows
    assert LossWatch(reference).see(np.arange(20), rows.link_pos[0, :20], rows.link_quat_wxyz[0, :20]) is None
