# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of learned graphs, tried on a character that has learned nothing and so falls."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from sinew.bench.graph.learned_graphs import GraphCache, learning_figures, stock_skill
from sinew.bench.graph.measurements import GraphBenchmark
from sinew.core.body.build import build_body
from sinew.core.control.graph.model.control_graph import ControlGraph
from sinew.core.control.graph.model.features import Features
from sinew.core.control.graph.model.fragments import fragment_reference
from sinew.core.control.graph.model.io import save_graph
from sinew.core.control.graph.model.policies import zero_policies
from sinew.core.control.graph.model.structure import convert_motion_graph
from sinew.core.control.graph.playing.fragment_simulator import FragmentSimulator
from sinew.core.control.graph.testing.fall_records import Fall
from sinew.core.control.graph.testing.pushed_walks import (
    by_push,
    by_touch,
    measure_collision,
    measure_pushed_walk,
    push_at,
    push_vectors,
)
from sinew.core.control.graph.testing.skill_tests import measure_endurance, measure_hardest_push
from sinew.core.control.graph.transitions.motion_graph import MotionGraph, Transition
from sinew.core.errors import GraphError
from sinew.core.motion.io import stock
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage

from .....stock_clips import needs_stock

pytestmark = needs_stock
RISE = Transition("getup_faceup", 3.7, "walk", 0.0)


def unlearned(*names, transitions=()):
    """A graph of stock clips with policies that do nothing."""
    skills = tuple(map(stock_skill, names))
    body = build_body(skills[0].clip.skeleton, clip=skills[0].clip)[0]
    structure, track = convert_motion_graph(body, MotionGraph(skills, tuple(transitions)))
    features = Features(body)
    with closing(engines.get_engine("mujoco").compile(Stage((Character(body),)), 1)) as world:
        policies = zero_policies(
            FragmentSimulator(track, fragment_reference(track, world), world, features).start_observations,
            len(features.action_dofs),
        )
    clock = {"learn_s": 12.7, "learn_core_s": 20.0, "marks_s": [3.0, 7.0, 11.0], "commit": "abc", "machine": "mine"}
    about = {"curve": [{"change": 0.2, "push_n": 10.0}, {"change": 0.1, "push_n": 20.0}], "clock": clock}
    return ControlGraph(
        structure, track, policies, np.zeros((structure.count, len(features.action_dofs))), tuple(transitions), about
    )


@pytest.fixture(scope="module")
def walk():
    return unlearned("walk")


@pytest.fixture(scope="module")
def rising():
    return unlearned("walk", "getup_faceup", transitions=[RISE])


@pytest.fixture(scope="module")
def engine():
    return engines.get_engine("mujoco")


def test_who_has_learned_nothing_does_not_last(walk, engine):
    found = measure_endurance(walk, engine, "walk", 20.0)
    assert found["falls"] == 1 and 0.0 < found["lasted_s"] < 10.0
    assert measure_endurance(walk, engine, "walk", 0.2)["falls"] == 0


def test_who_falls_by_itself_stands_no_push(walk, engine):
    found = measure_hardest_push(walk, engine, "walk", cycles=6)
    assert found["push_n"] == 0.0 and found["falls_unpushed"] is True


def test_only_cycles_are_pushed_for_cycles(rising, engine):
    with pytest.raises(GraphError, match="'getup_faceup' is no cycle"):
        measure_hardest_push(rising, engine, "getup_faceup")


def test_pushes_come_every_ten_seconds_and_last_a_tenth():
    pushes = push_vectors(35.0, np.random.default_rng(0))
    assert pushes.shape == (3, 3) and np.allclose(np.linalg.norm(pushes, axis=1), 150.0) and not pushes[:, 2].any()
    pushed = [step for step in range(60 * 60) if push_at(pushes, step) is not None]
    assert pushed == [600 * push + step for push in (1, 2, 3) for step in range(6)]
    assert push_at(pushes, 1205) is not None and np.array_equal(push_at(pushes, 1205), pushes[1])
    assert len(push_vectors(300.0, np.random.default_rng(0))) == 29


def test_a_fall_is_a_pushs_only_soon_after_one():
    assert by_push(Fall(10.5, None, "walk"), 2) and by_push(Fall(21.0, 25.0, "walk"), 2)
    assert not by_push(Fall(1.0, None, "walk"), 2) and not by_push(Fall(18.0, None, "walk"), 2)
    assert not by_push(Fall(31.0, None, "walk"), 2)


def test_a_fall_is_a_touchs_only_soon_after_one():
    touched_s = np.array([4.0, 4.1, 9.0])
    assert by_touch(Fall(5.5, None, "run"), touched_s) and by_touch(Fall(9.0, None, "run"), touched_s)
    assert not by_touch(Fall(3.9, None, "run"), touched_s) and not by_touch(Fall(6.5, None, "run"), touched_s)


def test_a_walk_is_watched_until_who_is_down_had_time_to_rise(rising, engine):
    found = measure_pushed_walk(rising, engine, 3.0, seed=0)
    assert found["pushes"] == 0 and found["times_down"] >= 1 and found["by_a_push"] == 0
    assert sum(found["seconds_in"].values()) == pytest.approx(3.0, abs=0.1)
    assert found["down"][0]["fell_s"] < 3.0
    # Somebody who falls without having learned anything is never really up, and was given its ten seconds to be.
    assert found["up_again"] == found["up_within_10_s"] == 0 and found["down"][-1]["up_s"] is None
    assert measure_pushed_walk(rising, engine, 3.0, seed=0)["down"] == found["down"]


def test_two_who_meet_are_filmed(rising, engine):
    row, bake = measure_collision(rising, engine, "walk", stock.load_stock("walk"), 2.0)
    assert len(row["down"]) == len(bake.subjects) == 2 and len(bake.film) == 121
    assert row["nearest_m"] < 6.0 and sum(row["falls"]) == sum(bake.falls)


def test_what_is_kept_is_not_learned_again(walk, tmp_path):
    said = []
    school = GraphCache(tmp_path, "mujoco", ("quality=draft",), say=said.append)
    assert school.path(["walk", "run"], 1) != school.path(["walk"], 1) != school.path(["walk"], 0)
    save_graph(school.path(["walk"], 0), walk)
    assert school.graph(["walk"], 0).about == school.graph(["walk"], 0).about == walk.about
    assert said == ["walk: kept, learned at abc"]


def test_lessons_are_told_with_their_times(walk):
    found = learning_figures(walk)
    assert found["motion_s"] == pytest.approx(stock.load_stock("walk").duration_s)
    assert found["learn_s_per_s"] == pytest.approx(12.7 / found["motion_s"])
    assert found["refine_s"] == 3.0 and found["iterations"] == 2
    assert [one["after_s"] for one in found["curve"]] == [7.0, 11.0]
    bare = learning_figures(replace(walk, about={}))
    assert bare["learn_s"] is None and bare["curve"] == [] and bare["refine_s"] is None


def test_rows_say_what_they_are_of_and_failures_are_rows_too(walk, tmp_path):
    said = []
    school = GraphCache(tmp_path, "mujoco", ("quality=draft",), say=said.append)
    save_graph(school.path(["walk"], 3), walk)
    bench = GraphBenchmark(school, skills=("walk",), linked=("walk", "punch"), seconds=1.0)
    endured, cost = bench.rows(["endurance", "cost"], [3])
    known = {"part": "endurance", "name": "walk", "seed": 3, "engine": "mujoco", "study": "quality=draft"}
    known["learned_at"] = "abc"
    assert {key: endured[key] for key in known} == known
    assert endured["seconds"] == 1.0 and cost["wall_s_per_s"] > 0.0 and cost["bare_s_per_s"] > 0.0
    (refused,) = GraphBenchmark(replace(school, engine="jelly"), skills=("walk",)).rows(["cost"], [0])
    assert "jelly" in refused["refused"]
    assert bench.names("table") == ("walk",) and bench.names("walk") == bench.names("collide") == ("walk+punch",)
