# SPDX-License-Identifier: GPL-3.0-or-later
"""A recurrent network learns to go on with motion, is where it is told to be in time, and resumes bit for bit."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from sinew.core.errors import BadFile
from sinew.core.learn.recurrent_approach import Approach
from sinew.core.learn.recurrent_data import MotionColumns, RecurrentSettings, ShownMotion
from sinew.core.learn.recurrent_training import RecurrentTraining

SIZE, WORDS = 16, 1
COLUMNS = MotionColumns(
    mean=np.zeros(SIZE, np.float32),
    scale=np.ones(SIZE, np.float32),
    step=0,
    joints=3,
    joint_count=2,
    contacts=15,
    feet=(1,),
    links=np.array([[0, 1]]),
    lengths=np.ones(1, np.float32),
    pose=(3, 15),
    heading=WORDS + 2,
    place=WORDS + 5,
)
SETTINGS = RecurrentSettings(
    units=24, layers=1, streams=8, updates=60, rate=1e-2, contact=0.0, rigid=0.0, shown_first=0.2, shown_last=0.2
)


def make_shown():
    """Swinging numbers: what comes next follows from what was before, not from what is."""
    time = np.arange(600)[:, None]
    states = np.sin(0.25 * time + np.arange(SIZE)).astype(np.float32)
    states[:, :3] *= 0.1
    controls = np.zeros((600, WORDS + 9), np.float32)
    due, none = np.full(600, -1), np.full(600, -1)
    targets = np.full((1, 12), 2.0, np.float32)
    return ShownMotion(
        states, controls, np.array([0, 600]), np.ones(SIZE, np.float32), np.arange(0), due, targets, none
    )


def test_it_learns_to_go_on():
    training = RecurrentTraining(make_shown(), COLUMNS, SETTINGS, 1)
    losses = [training.advance()["motion"] for _ in range(SETTINGS.updates)]
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10])


def test_what_is_resumed_has_the_same_bits_as_what_went_on():
    shown, settings = make_shown(), replace(SETTINGS, shown_last=0.0)
    one, other = (RecurrentTraining(shown, COLUMNS, settings, 2) for _ in range(2))
    for _ in range(3):
        one.advance()
    other.restore({name: np.array(array) for name, array in one.state().items()})
    for _ in range(4):
        assert one.advance() == other.advance()
    a, b = one.state(), other.state()
    assert all(np.array_equal(a[name], b[name]) for name in a) and a.keys() == b.keys()
    with pytest.raises(BadFile, match="does not fit this training"):
        other.restore({**a, "away": a["away"][:-1]})


def test_pose_heading_and_place_are_there_when_the_time_is_out():
    shown = make_shown()
    frames = torch.arange(10)
    due, target = np.array(shown.due), np.array(shown.target_of)
    due[:10], target[:10] = np.arange(9, -1, -1), 0
    approach = Approach(replace(shown, due=due, target_of=target), COLUMNS)
    now = torch.from_numpy(shown.states[:1].copy())
    place, heading = np.zeros(2), 0.0
    for frame in frames:
        control = torch.zeros(1, WORDS + 9)
        left, away = 1.2 - heading, np.array([0.5, -0.3]) - place
        cos, sin = np.cos(heading), np.sin(heading)
        control[0, COLUMNS.heading : COLUMNS.heading + 3] = torch.tensor([1.0, np.cos(left), np.sin(left)])
        seen = [1.0, cos * away[0] + sin * away[1], cos * away[1] - sin * away[0]]
        control[0, COLUMNS.place : COLUMNS.place + 3] = torch.tensor(seen)
        now = approach.go(now, now + 0.01, control, frame[None])
        x, y, turn = now[0, :3].numpy().astype(float)
        place, heading = place + [cos * x - sin * y, sin * x + cos * y], heading + turn
    np.testing.assert_allclose(now[0, 3:15], 2.0, atol=0.02)  # and what the network says besides
    np.testing.assert_allclose([*place, heading], [0.5, -0.3, 1.2], atol=1e-4)


def test_what_is_told_is_seen_from_where_it_is_itself():
    approach = Approach(make_shown(), COLUMNS)
    control = torch.zeros(1, WORDS + 9)
    control[0, COLUMNS.heading : COLUMNS.heading + 3] = torch.tensor([1.0, np.cos(0.7), np.sin(0.7)])
    control[0, COLUMNS.place : COLUMNS.place + 3] = torch.tensor([1.0, 2.0, 1.0])
    # A quarter turn to the left of the shown root, and a metre further on.
    found = approach.see_from(torch.tensor([[1.0, 0.0, np.pi / 2]]), control)[0].numpy()
    assert np.arctan2(found[COLUMNS.heading + 2], found[COLUMNS.heading + 1]) == pytest.approx(
        0.7 - np.pi / 2, abs=1e-5
    )
    np.testing.assert_allclose(found[COLUMNS.place + 1 : COLUMNS.place + 3], [1.0, -1.0], atol=1e-5)
    # Steps of both: the shown one goes on by a tenth, the other turns where it is.
    own, other = torch.zeros(1, SIZE), torch.zeros(1, SIZE)
    own[0, 2], other[0, 0] = 0.2, 0.1
    away = approach.move(torch.tensor([[1.0, 0.0, np.pi / 2]]), own, other)[0].numpy()
    np.testing.assert_allclose(away, [0.9, 0.0, np.pi / 2 + 0.2], atol=1e-5)
