# SPDX-License-Identifier: GPL-3.0-or-later
"""A graph that is live: it walks as a bake of it does, turns where it is steered, falls and is up again."""

from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from live_sessions import assert_goes_back, moved_clip, open_learned, play_live
from sinew.core.body.poses import pose_of_clip
from sinew.core.control.graph.live_character import LivePlanner
from sinew.core.control.graph.model.io import graph_to_arrays
from sinew.core.control.graph.playing.baking import bake_characters, place_of_pose
from sinew.core.control.graph.playing.planners import SequenceItem, SequencePlanner
from sinew.core.control.graph.playing.player import PlannerView
from sinew.core.control.live.commands import BadCommand, PushBone, Steer
from sinew.core.control.tracking.facing import upright_rotation

from ....stock_clips import stock_clip


@pytest.fixture(scope="module")
def opened():
    with ExitStack() as stack:
        yield stack


@pytest.fixture(scope="module")
def session(opened, walker):
    """Two that can be made to try to turn, which they have not learned."""
    walk = stock_clip("walk")
    turns = 0.1 * np.random.default_rng(0).standard_normal(walker.turns.shape)
    turner = replace(walker, turns=turns, turn_rates=np.full(len(walker.track), 0.4))
    return open_learned(opened, "graph", graph_to_arrays(turner), walk, moved_clip(walk, [0.0, 3.0, 0.0]))


def test_undisturbed_it_is_what_a_bake_is(opened, walker, world_of):
    clip = stock_clip("walk")
    alone = open_learned(opened, "graph", graph_to_arrays(walker), clip)
    states = play_live(alone, (), 90)
    place = place_of_pose(pose_of_clip(walker.body, clip.frames(0, 1))[0][0], upright_rotation(walker.body))
    planner = SequencePlanner(walker, [SequenceItem("walk", 10.0)])
    bake = bake_characters(world_of(walker.body, 1), [walker], [planner], [place], [clip], 1.5, lambda share: None)
    live = np.array([alone.world.pose_of(state)[0] for state in states])
    # Other things on the stage change last bits, which contacts blow up.
    np.testing.assert_allclose(live[:20], bake.film.qpos[1:21], atol=1e-6)
    np.testing.assert_allclose(live, bake.film.qpos[1:], atol=0.2)


def test_who_is_steered_turns_and_the_other_goes_straight_on(session):
    count = session.characters[0].body.nq
    left, right, none = (
        session.world.pose_of(play_live(session, [Steer(0, 1, velocity=(0.3, side))] if side else [], 60)[-1])[0]
        for side in (1.0, -1.0, 0.0)
    )
    np.testing.assert_allclose(left[:count], right[:count], atol=1e-3)
    assert not np.array_equal(left[count:], right[count:])
    assert np.abs(left[count:] - none[count:]).max() > 0.01


def test_another_skill_is_gone_to_by_the_shortest_way_and_stayed_in(town):
    graph = SimpleNamespace(structure=town[1])
    planner, chains = LivePlanner(graph, "walk"), graph.structure
    fragment, seen = chains.chain("walk").first, []
    for step in range(60):
        if step == 15:
            planner = LivePlanner(graph, "run")
        view = PlannerView(fragment, np.zeros(2), 0.0, 0.1 * step)
        fragment = planner.next_fragment(view, chains.successors[fragment])
        seen.append(fragment in chains.chain("run" if step > 14 else "walk").fragments)
    assert all(seen[:15]) and all(seen[40:])


def test_it_turns_the_shorter_way(town):
    planner = LivePlanner(SimpleNamespace(structure=town[1]), "walk", np.pi - 0.1)
    assert planner.turn_rate(PlannerView(0, np.zeros(2), -np.pi + 0.1, 0.0)) < 0.0
    assert planner.turn_rate(PlannerView(0, np.zeros(2), 0.0, 0.0)) > 0.0


def test_going_back_is_the_same_as_having_been_there(session):
    push = PushBone(10, 0, bone=session.characters[0].body.links[0].bone, force=(0.0, 80.0, 0.0))
    assert_goes_back(session, [push, Steer(30, 1, velocity=(0.0, 1.0))], 25, 60)


def test_a_skill_that_it_has_not_learned_is_named(session):
    with pytest.raises(BadCommand, match="It knows no 'fly'") as caught:
        session.step([Steer(0, style="fly")])
    assert "walk" in caught.value.hint


def test_who_is_felled_lies_with_less_strength_and_gets_up(opened, faller):
    one = open_learned(opened, "graph", graph_to_arrays(faller), stock_clip("walk"))
    chest = faller.body.links[1].bone
    play_live(one, [PushBone(6, 0, bone=chest, force=(0.0, 1500.0, 0.0), frames=12)], 50)
    assert one.characters[0].own_strength < 0.2
    assert one.step().muscle[0] == pytest.approx(one.characters[0].own_strength)
    for _ in range(400):
        one.step()
        if one.characters[0].own_strength == 1.0:
            break
    played = one.characters[0].moment.played
    assert faller.structure.chains[faller.structure.chain_of[played.fragment]].kind == "rise"
