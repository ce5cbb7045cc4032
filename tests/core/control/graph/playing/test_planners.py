# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters go where their plans lead: at random, through a list, along a path, towards each other."""

from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

from sinew.bench.run import BenchRun
from sinew.core.control.graph.bake_method import GraphBake, GraphBakeSettings
from sinew.core.control.graph.model.control_graph import MAX_TURN_RATE, ControlGraph
from sinew.core.control.graph.model.policies import zero_policies
from sinew.core.control.graph.model.structure import convert_motion_graph
from sinew.core.control.graph.playing.planners import (
    ApproachPlanner,
    PathPlanner,
    RandomWalkPlanner,
    SequenceItem,
    SequencePlanner,
    parse_sequence,
)
from sinew.core.control.graph.playing.player import PlannerView
from sinew.core.control.graph.transitions.motion_graph import MotionGraph
from sinew.core.errors import GraphError


@pytest.fixture(scope="module")
def graph(town) -> ControlGraph:
    """The town without anything learned."""
    motions, structure, track = town
    policies = zero_policies(np.zeros((structure.count, 18)), 11)
    return ControlGraph(structure, track, policies, np.zeros((structure.count, 11)), motions.transitions)


def followed(graph, plan, fragments: int, start: int = 0) -> list[int]:
    """The fragments that a plan leads through, a tenth of a second each."""
    walk = [start]
    for number in range(1, fragments):
        choices = graph.structure.successors[walk[-1]]
        walk.append(plan.next_fragment(view(walk[-1], time_s=0.1 * number), choices))
        assert walk[-1] in choices
    return walk


def view(fragment=0, place=(0.0, 0.0), heading=0.0, time_s=0.0, others=()) -> PlannerView:
    return PlannerView(fragment, np.array(place, dtype=float), heading, time_s, tuple(np.array(one) for one in others))


def stays(graph, walk) -> list[tuple[str, int]]:
    """The chains of a walk, and how many fragments it was in each."""
    names = [graph.structure.chains[graph.structure.chain_of[fragment]].name for fragment in walk]
    return [(name, len(list(group))) for name, group in groupby(names)]


def test_a_random_walk_sees_every_skill_but_get_ups_and_is_the_same_for_the_same_seed(graph):
    walks = [followed(graph, RandomWalkPlanner(graph, np.random.default_rng(seed)), 1500) for seed in (1, 1, 2)]
    assert walks[0] == walks[1] != walks[2]
    chains = [graph.structure.chains[number] for number in graph.structure.chain_of[np.array(walks[0])]]
    times = {name: sum(chain.name == name for chain in chains) for name in ("walk", "run", "kick")}
    assert min(times.values()) > 150
    assert not any(chain.kind == "rise" for chain in chains)


def test_after_a_fall_a_random_walk_goes_on_from_the_get_up(graph):
    plan, rise = RandomWalkPlanner(graph, np.random.default_rng(0)), graph.structure.chain("getup_faceup")
    followed(graph, plan, 30)
    after = followed(graph, plan, rise.count + 60, start=rise.first)
    assert after[: rise.count] == list(rise.fragments)
    assert [name for name, _ in stays(graph, after)][1:3] == ["getup_faceup>walk", "walk"]


def test_a_list_is_gone_through_each_skill_for_its_time(graph):
    plan = SequencePlanner(graph, [SequenceItem("walk", 3.0), SequenceItem("run", 2.0), SequenceItem("walk", 1.0)])
    found = stays(graph, followed(graph, plan, 150))
    assert [name for name, _ in found] == ["walk", "walk>run", "run", "run>walk", "walk"]
    # Each for its time, and then as long as it takes to where it can be left.
    (walk, run) = found[0][1], found[2][1]
    assert 30 <= walk < 30 + 12 and 20 <= run < 20 + 8
    assert found[-1][1] > 40  # with the last it stays


def test_what_is_played_once_is_played_once(graph):
    plan = SequencePlanner(
        graph,
        [
            SequenceItem("walk", 1.0),
            SequenceItem("kick"),
            SequenceItem("walk", 2.0),
            SequenceItem("kick"),
            SequenceItem("run", 1.0),
        ],
    )
    names = [name for name, _ in stays(graph, followed(graph, plan, 250))]
    assert names.count("kick") == 2 and names.count("walk>kick") == 2
    assert names[-1] == "run"
    kicks = [
        length
        for name, length in stays(graph, followed(graph, SequencePlanner(graph, plan.items), 250))
        if name == "kick"
    ]
    chain, way = graph.structure.chain("kick"), next(c for c in graph.structure.chains if c.name == "walk>kick")
    assert kicks == [chain.count - way.count] * 2  # to its end


def test_a_list_that_ends_with_something_played_once_goes_on_as_it_comes(graph):
    names = [name for name, _ in stays(graph, followed(graph, SequencePlanner(graph, [SequenceItem("kick")]), 200))]
    assert names.count("kick") == 1 and names[-1] == "walk"


def test_something_played_once_can_be_asked_for_time_and_again(graph):
    names = [
        name for name, _ in stays(graph, followed(graph, SequencePlanner(graph, [SequenceItem("kick", 8.0)]), 200))
    ]
    assert 3 <= names.count("kick") <= 5


def test_a_fall_only_interrupts_a_list(graph):
    """Who has fallen while it walked gets up and walks until its time is over, then runs."""
    plan, rise = (
        SequencePlanner(graph, [SequenceItem("walk", 2.0), SequenceItem("run", 5.0)]),
        graph.structure.chain("getup_facedown"),
    )
    followed(graph, plan, 10)
    names = [name for name, _ in stays(graph, followed(graph, plan, rise.count + 80, start=rise.first))]
    assert names == ["getup_facedown", "getup_facedown>walk", "walk", "walk>run", "run"]


def test_fragments_that_an_early_step_leaves_out_do_not_change_the_way(graph):
    """Two fragments before it was to leave the walk it stepped early: it leaves all the same."""
    structure = graph.structure
    leaves = next(
        f for f, after in enumerate(structure.successors) if len(after) > 1 and 2 <= f < structure.chains[0].count
    )
    way = structure.successors[leaves][1]
    target = structure.chains[structure.chains[structure.chain_of[way]].skill].name
    plan = SequencePlanner(graph, [SequenceItem(target, 5.0)])
    before = leaves - 2
    assert plan.next_fragment(view(before), structure.successors[before]) == leaves - 1
    assert plan.next_fragment(view(leaves), structure.successors[leaves]) == way


def test_a_skill_that_cannot_be_got_to_is_named(body, stock_skill):
    motions = MotionGraph((stock_skill("walk"), stock_skill("run")))
    structure, track = convert_motion_graph(body, motions)
    graph = ControlGraph(
        structure, track, zero_policies(np.zeros((structure.count, 18)), 11), np.zeros((structure.count, 11))
    )
    plan = SequencePlanner(graph, [SequenceItem("walk", 0.5), SequenceItem("run", 1.0)])
    with pytest.raises(GraphError, match="no way to 'run'") as caught:
        followed(graph, plan, 30)
    assert "transitions" in caught.value.hint


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "list of skills is empty"),
        ([SequenceItem("fly")], "no skill 'fly'"),
        ([SequenceItem("walk>run")], "no skill 'walk>run'"),
        ([SequenceItem("walk"), SequenceItem("getup_faceup")], "'getup_faceup' is a get-up"),
    ],
)
def test_a_list_of_what_cannot_be_done_is_refused(graph, items, message):
    with pytest.raises(GraphError, match=message) as caught:
        SequencePlanner(graph, items)
    assert caught.value.hint


def test_lists_are_read_from_text():
    assert parse_sequence("walk 3, run 2.5 ,kick") == [
        SequenceItem("walk", 3.0),
        SequenceItem("run", 2.5),
        SequenceItem("kick"),
    ]
    assert parse_sequence("slow walk 3,, Tanz ") == [SequenceItem("slow walk", 3.0), SequenceItem("Tanz")]
    # A name that ends with a number is a name, where there is a skill of it.
    assert parse_sequence("kick 2, kick 2 4, kick 3", ["kick", "kick 2"]) == [
        SequenceItem("kick 2"),
        SequenceItem("kick 2", 4.0),
        SequenceItem("kick", 3.0),
    ]


@pytest.mark.parametrize("text", ["", " , ", "3", "walk 0", "walk -2", "walk nan"])
def test_text_that_is_no_list_is_refused(text):
    with pytest.raises(GraphError) as caught:
        parse_sequence(text)
    assert "walk 3" in caught.value.hint


class Rolling:
    """A character that goes on at walking speed and turns just as it is asked to."""

    def __init__(self, place=(0.0, 0.0), heading=0.0):
        self.place, self.heading, self.trail = np.array(place, dtype=float), heading, []

    def rolled(self, plan, seconds: float, others=()):
        for _ in range(round(seconds * 10)):
            self.heading += 0.1 * plan.turn_rate(view(place=self.place, heading=self.heading, others=others))
            self.place = self.place + 0.12 * np.array([np.cos(self.heading), np.sin(self.heading)])
            self.trail.append(self.place)
        return np.array(self.trail)


def test_a_path_is_kept_to_and_left_straight_on(graph):
    points = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 0.5], [6.0, 6.0, 0.0]])
    trail = Rolling().rolled(PathPlanner(SequencePlanner(graph, [SequenceItem("walk")]), points), 16.0)
    first, second = trail[trail[:, 0] < 4.5], trail[(trail[:, 0] >= 4.5) & (trail[:, 1] > 3.0)]
    assert np.abs(first[:, 1]).max() < 0.3
    assert np.abs(second[-30:, 0] - 6.0).max() < 0.3 and second[-1, 1] > 6.5  # on beyond its end


def test_a_path_that_crosses_itself_is_gone_along_once_in_its_order(graph):
    """An eight: at the crossing it goes straight on, not round the same loop again."""
    turns = np.linspace(0.0, 2.0 * np.pi, 80)
    points = np.stack([6.0 * np.sin(turns), 3.0 * np.sin(2.0 * turns)], axis=-1)
    plan = PathPlanner(SequencePlanner(graph, [SequenceItem("walk")]), points)
    trail = Rolling(heading=np.pi / 4.0).rolled(plan, 42.0)
    assert trail[:, 0].max() > 5.0 and trail[:, 0].min() < -5.0
    far = [np.linalg.norm(points - place, axis=1).min() for place in trail[:300]]
    assert np.max(far) < 0.8


@pytest.mark.parametrize(("skill", "speed"), [("walk", 1.2), ("run", 3.5)])
def test_who_turns_slowly_and_late_comes_to_a_path_without_weaving(graph, skill, speed):
    """A learned gait turns by 0.17 radians a second at most, and needs strides until it does."""
    plan = PathPlanner(SequencePlanner(graph, [SequenceItem(skill)]), np.array([[0.0, 2.0], [300.0, 2.0]]))
    place, heading, rate, trail = np.zeros(2), 0.0, 0.0, []
    for _ in range(500):
        asked = plan.turn_rate(view(graph.structure.chain(skill).first, place=place, heading=heading))
        rate += 0.1 * (np.clip(asked, -0.17, 0.17) - rate)
        heading += 0.1 * rate
        place = place + 0.1 * speed * np.array([np.cos(heading), np.sin(heading)])
        trail.append(place)
    aside = np.array(trail)[:, 1] - 2.0
    assert aside.max() < 1.0 and np.abs(aside[200:]).max() < 0.2


@pytest.mark.parametrize("ends_where_it_begins", [True, False])
def test_a_closed_path_is_gone_round_and_round(graph, ends_where_it_begins):
    """An ellipse of 29 m: where it is closed it goes on where it began."""
    turns = np.linspace(0.0, 2.0 * np.pi, 60)
    points = np.stack([6.0 * np.sin(turns), 3.0 - 3.0 * np.cos(turns)], axis=-1)
    plan = PathPlanner(
        SequencePlanner(graph, [SequenceItem("walk")]), points if ends_where_it_begins else points[:-1], closed=True
    )
    trail = Rolling().rolled(plan, 80.0)  # 96 m
    turned = np.unwrap(np.arctan2(trail[:, 1] - 3.0, trail[:, 0]))
    assert 3.0 < (turned[-1] - turned[0]) / (2.0 * np.pi) < 3.5
    assert max(np.linalg.norm(points - place, axis=1).min() for place in trail) < 0.5


def test_a_small_closed_path_is_gone_round_the_way_it_leads(graph):
    """A ring of 2 m radius, the other way round: nobody turns about on it."""
    turns = np.linspace(0.0, -2.0 * np.pi, 40)
    points = 2.0 * np.stack([np.cos(turns), np.sin(turns)], axis=-1)
    plan = PathPlanner(SequencePlanner(graph, [SequenceItem("walk")]), points, closed=True)
    trail = Rolling((2.0, 0.0), -0.5 * np.pi).rolled(plan, 30.0)
    turned = np.unwrap(np.arctan2(trail[:, 1], trail[:, 0]))
    assert (np.diff(turned) < 0.0).all() and turned[-1] < -4.0 * np.pi
    assert np.abs(np.linalg.norm(trail, axis=1) - 2.0).max() < 0.5


@pytest.mark.parametrize("closed", [True, False])
def test_a_bake_goes_round_what_its_job_says_is_closed(graph, closed):
    turns = np.linspace(0.0, 2.0 * np.pi, 40)
    points = 3.0 * np.stack([np.cos(turns), np.sin(turns), np.zeros(40)], axis=-1)
    run = BenchRun("mujoco", 0, {"path": ({"points": points}, {"closed": closed})})
    plan = GraphBake()._make_planner(graph, GraphBakeSettings(mode="path", skills="walk"), run, 0)
    trail = Rolling((3.0, 0.0), 0.5 * np.pi).rolled(plan, 40.0)  # 48 m, round 19 m
    far = np.linalg.norm(trail, axis=1)
    assert (far.max() < 3.5) == closed and (far[-1] > 20.0) != closed


def test_a_plan_knows_how_far_from_its_path_it_was(graph):
    wide, narrow = (
        PathPlanner(
            SequencePlanner(graph, [SequenceItem("walk")]), np.array([[0.0, 0.0], [8.0, 0.0], [8.0 - bend, 12.0]])
        )
        for bend in (-12.0, 7.9)
    )
    assert wide.largest_deviation_m is None
    for plan in (wide, narrow):
        Rolling().rolled(plan, 30.0)  # and straight on after the end, which does not count
    assert 0.0 < wide.largest_deviation_m < 0.8 < 1.2 < narrow.largest_deviation_m < 5.0
    late = PathPlanner(SequencePlanner(graph, [SequenceItem("walk")]), np.array([[0.0, 0.0], [60.0, 0.0]]))
    Rolling((0.0, 4.0), 0.0).rolled(late, 40.0)
    assert late.largest_deviation_m < 0.5  # on its way to the path it has not left it


def test_turning_is_never_sharper_than_a_gait_can(graph):
    plan = PathPlanner(SequencePlanner(graph, [SequenceItem("walk")]), np.array([[0.0, 0.0], [-5.0, 0.1]]))
    assert plan.turn_rate(view(heading=0.0)) == pytest.approx(MAX_TURN_RATE)
    assert plan.turn_rate(view(heading=-3.0)) < 0.0  # the shorter way round


def test_a_path_keeps_the_skills_of_its_list(graph):
    plan = PathPlanner(SequencePlanner(graph, [SequenceItem("run", 60.0)]), np.array([[0.0, 0.0], [50.0, 0.0]]))
    names = [name for name, _ in stays(graph, followed(graph, plan, 60))]
    assert names == ["walk", "walk>run", "run"]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((1, 3)), "no two points"),
        (np.zeros((0, 3)), "no two points"),
        (np.array([[0.0, np.nan], [1.0, 0.0]]), "no two points"),
        (np.zeros(4), "no two points"),
        (np.array([[0.0, 0.0], [0.2, 0.0], [0.2, 0.3]]), "0.50 m long"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(graph, points, message):
    with pytest.raises(GraphError, match=message) as caught:
        PathPlanner(SequencePlanner(graph, [SequenceItem("walk")]), points)
    assert caught.value.hint


def test_two_who_go_towards_each_other_meet(graph):
    plans = [ApproachPlanner(SequencePlanner(graph, [SequenceItem("walk")])) for _ in range(2)]
    one, other = Rolling((0.0, 0.0), 0.5), Rolling((5.0, 1.0), 2.2)
    gaps = []
    for _ in range(40):
        one.rolled(plans[0], 0.1, (other.place, np.array([30.0, 30.0])))
        other.rolled(plans[1], 0.1, (one.place, np.array([30.0, 30.0])))
        gaps.append(np.linalg.norm(one.place - other.place))
    assert min(gaps) < 0.5
    assert plans[0].turn_rate(view()) == 0.0  # with nobody else, straight on


def test_what_is_done_for_a_turn_grows_with_it_up_to_what_the_gait_can(graph):
    turns, rates = np.zeros_like(graph.turns), np.zeros(graph.structure.count)
    turns[3], rates[3] = 0.1, 0.4
    able = replace(graph, turns=turns, turn_rates=rates)
    assert able.turn_action(3, 0.2) == pytest.approx(0.05) and able.turn_action(3, -0.2) == pytest.approx(-0.05)
    assert able.turn_action(3, 5.0) == pytest.approx(0.1)
    assert not able.turn_action(4, 0.2).any() and not graph.turn_action(3, 0.2).any()
