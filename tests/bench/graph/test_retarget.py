# SPDX-License-Identifier: GPL-3.0-or-later
"""How learning for another body is measured: longer legs are longer, and both ways to learn have their figures."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from sinew.bench.graph import retarget
from sinew.bench.graph.learned_graphs import GraphCache, stock_skill
from sinew.bench.graph.other_bodies import lengthen_legs
from sinew.bench.graph.retarget import measure_retargeting
from sinew.core.body import build_body
from sinew.core.body.poses import link_transforms
from sinew.core.control.graph import learn_method
from sinew.core.control.graph.learning import curriculum, learner, open_loop_refinement, steering
from sinew.core.control.graph.learning.progress import LearningBudget
from sinew.core.control.graph.model.control_graph import ControlGraph
from sinew.core.control.graph.model.policies import zero_policies
from sinew.core.control.graph.model.structure import convert_motion_graph
from sinew.core.control.graph.playing.push_tests import find_hardest_push
from sinew.core.control.graph.testing.skill_tests import measure_hardest_push
from sinew.core.control.graph.transitions.motion_graph import MotionGraph
from sinew.core.motion.io import stock


def leg(clip) -> float:
    """Metres from the left hip to the ankle at rest."""
    pos = clip.skeleton.rest_world()[0]
    hip, knee, ankle = (pos[clip.skeleton.index(f"{bone}.L")] for bone in ("thigh", "shin", "foot"))
    return float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))


def test_longer_legs_are_longer_and_all_else_is_as_it_was():
    clip = stock.load_stock("walk")
    long = lengthen_legs(clip, 1.25)
    assert leg(long) == pytest.approx(1.25 * leg(clip))
    assert np.array_equal(long.local_quat_wxyz, clip.local_quat_wxyz)
    arm = clip.skeleton.index("forearm.L")
    assert np.array_equal(long.skeleton.rest_pos[arm], clip.skeleton.rest_pos[arm])


def test_who_has_longer_legs_stands_on_the_ground_and_takes_longer_steps():
    clip = stock.load_stock("walk")
    soles, ways = [], []
    for one in (clip, lengthen_legs(clip, 1.25)):
        _, track = convert_motion_graph(
            build_body(one.skeleton, clip=one)[0], MotionGraph((replace(stock_skill("walk"), clip=one),))
        )
        places = link_transforms(track.body, track.qpos[:, :1])[0]
        soles.append(places[..., 2].min())
        ways.append(float(np.linalg.norm(track.qpos[:, -1, :2], axis=-1).sum()))
    assert soles[1] == pytest.approx(soles[0], abs=0.03)
    assert ways[1] == pytest.approx(1.24 * ways[0], rel=0.05)


@pytest.fixture
def hasty(monkeypatch):
    """Learning without any effort."""
    for module, name, value in (
        (learner, "_REFINE_COPIES", 8),
        (learner, "_TEST_COPIES", 24),
        (learner, "_MIN_TUPLES", 5),
        (learner, "find_hardest_push", partial(find_hardest_push, cycles=1)),
        (retarget, "measure_hardest_push", partial(measure_hardest_push, cycles=1)),
        (curriculum, "_INSTANCES", 1),
        (curriculum, "_LEAST_S", 0.1),
        (open_loop_refinement, "_SPREADS", (0.1,)),
        (steering, "_SETTLE", 1),
        (steering, "_COUNTED", 2),
        (learn_method, "_SHOWN_S", 0.5),
    ):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setitem(
        learn_method._BUDGETS, "draft", LearningBudget(32, population_size=8, examples=8, iterations=1, es_turns=0)
    )


def test_both_ways_of_learning_have_their_figures(hasty, tmp_path):
    skill = stock_skill("walk")
    body = build_body(skill.clip.skeleton, clip=skill.clip)[0]
    structure, track = convert_motion_graph(body, MotionGraph((skill,)))
    known = ControlGraph(
        structure, track, zero_policies(np.zeros((structure.count, 18)), 11), np.zeros((structure.count, 11))
    )
    said = []
    row = measure_retargeting(known, GraphCache(tmp_path, "mujoco", ("quality=draft",), say=said.append), 0)
    assert row["mass_kg"] > body.mass and row["longer_legs"] == 1.25
    for how in ("cold", "warm"):
        own = row[how]
        assert own["learn_s"] > 0.0 and own["iterations"] == len(own["curve"]) >= 1
        assert own["first_push_n"] == own["curve"][0]["push_n"] and own["push_n"] >= 0.0
        assert any(how in line for line in said)
    assert row["cold"]["curve"][0]["cost"] != row["warm"]["curve"][0]["cost"]  # they did not begin with the same
    assert list(tmp_path.iterdir()) == []  # nothing is kept in place of the first body's
