# SPDX-License-Identifier: GPL-3.0-or-later
"""Learned characters walk by themselves, fall when they must, notice it, and turn to a get-up."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.control.graph.playing.baking import Place, start_state
from sinew.core.control.graph.playing.planners import SequenceItem, SequencePlanner
from sinew.core.control.graph.playing.player import PlayedCharacter, Player
from sinew.core.control.tracking.facing import upright_rotation
from sinew.core.control.tracking.reference import CONTROL_FPS
from sinew.core.geometry.quaternions import rotate


@pytest.fixture
def play(world_of):
    """Puts characters with a graph at places on a stage of their own, and gives the player."""

    def make(graph, *places: Place, fragment: int = 0, plan=None) -> Player:
        places = places or (Place(np.zeros(2), 0.0),)
        world = world_of(graph.body, 1, len(places))
        plans = [plan or SequencePlanner(graph, [SequenceItem("walk")]) for _ in places]
        actors = [PlayedCharacter(graph, its, fragment) for its in plans]
        return Player(world, actors, start_state(world, [graph] * len(places), places, [fragment] * len(places)))

    return make


def shoved(player: Player, newtons, seconds: float = 0.1, who: int = 0) -> None:
    """Push a character's chest."""
    forces = np.zeros((len(player.rows.link_pos[0, 0]), 3))
    character = player.characters[who]
    forces[int(player.where["links"][who]) + character.features.trunk] = newtons
    for _ in range(round(seconds * CONTROL_FPS)):
        player.step(forces)


def stepped(player: Player, seconds: float) -> np.ndarray:
    """(K, C, 3) where everybody's root was, step by step."""
    trail = []
    for _ in range(round(seconds * CONTROL_FPS)):
        player.step()
        trail.append([player.pose(who)[0][:3] for who in range(len(player.characters))])
    return np.array(trail)


def test_a_learned_walk_goes_on_and_where_it_faces(walker, play):
    heading = 2.0
    player = play(walker, Place(np.array([3.0, -1.0]), heading))
    trail = stepped(player, 15.0)[:, 0]
    assert player.characters[0].falls == 0 and trail[:, 2].min() > 0.7
    way = trail[120, :2] - [3.0, -1.0]
    assert way @ [np.cos(heading), np.sin(heading)] > 1.0  # metres in two seconds
    gone = np.linalg.norm(np.diff(trail[:, :2], axis=0), axis=1).sum()
    assert 10.0 < gone < 25.0
    assert player.time_s == pytest.approx(15.0)


def test_it_does_about_what_it_is_meant_to(walker, play):
    player, off = play(walker), []
    for _ in range(180):
        player.step()
        off.append(walker.track.space.difference(player.reference_pose(0), player.pose(0)[0]))
    off = np.abs(off)
    assert np.mean(off[:, 6:]) < 0.2 and np.mean(off[:, :3]) < 0.1  # radians of joints, metres of the root


def test_a_push_of_100_n_is_walked_off(walker, play):
    player = play(walker)
    stepped(player, 1.0)
    before = player.pose(0)[1][:2]
    shoved(player, [0.0, 100.0, 0.0])
    assert player.pose(0)[1][1] - before[1] > 0.05  # it was felt
    trail = stepped(player, 8.0)
    assert player.characters[0].falls == 0 and trail[-60:, 0, 2].min() > 0.7


def test_a_fall_is_noticed_once_and_who_knows_no_get_up_stays_down(walker, play):
    player = play(walker)
    stepped(player, 1.0)
    shoved(player, [0.0, 1500.0, 0.0])
    stepped(player, 4.0)
    character = player.characters[0]
    assert character.falls == 1 and character.down_s is not None and character.down_s > 2.0
    _, muscle = player.step()
    assert muscle[0] < 0.2 and player.pose(0)[0][2] < 0.5
    assert np.array_equal(player.reference_pose(0), player.pose(0)[0])


@pytest.mark.parametrize("push", [[-1500.0, 0.0, 0.0], [1500.0, 0.0, 0.0]], ids=["backwards", "forwards"])
def test_who_fell_goes_limp_and_begins_the_get_up_for_how_it_lies(faller, play, push):
    player = play(faller)
    stepped(player, 1.0)
    shoved(player, push)
    character, strengths = player.characters[0], []
    for _ in range(12 * CONTROL_FPS):
        _, muscle = player.step()
        strengths.append(muscle[0])
        if faller.structure.chains[faller.structure.chain_of[character.fragment]].kind == "rise":
            break
    chain = faller.structure.chains[faller.structure.chain_of[character.fragment]]
    assert chain.kind == "rise" and character.down_s is None and character.falls >= 1
    assert min(strengths) == pytest.approx(0.1)
    assert player.pose(0)[0][2] < 0.5

    # Its belly is up, or down, as that get-up begins.
    ahead = rotate(
        upright_rotation(faller.body) * [1.0, -1.0, -1.0, -1.0], np.array([1.0, 0.0, 0.0])
    )  # for the root itself
    belly, begins = (
        rotate(quat, ahead)[2] for quat in (player.pose(0)[0][3:7], faller.track.qpos[chain.first, 0, 3:7])
    )
    assert belly * begins > 0.2


def test_feedback_that_asks_for_too_much_is_given_up(walker, play):
    """The size of the action tells a fall before the body lies."""
    wild = replace(walker.policies, actions=walker.policies.actions + 5.0)
    player = play(replace(walker, policies=wild))
    assert player.characters[0].falls == 1 and player.characters[0].down_s == 0.0
    assert player.pose(0)[0][2] > 0.7


def test_two_on_one_stage_do_not_disturb_each_other_until_they_meet(walker, play):
    alone = stepped(play(walker), 2.0)[:, 0]
    both = stepped(play(walker, Place(np.zeros(2), 0.0), Place(np.array([0.0, 4.0]), 0.0)), 2.0)
    assert both[:, 0] == pytest.approx(alone, abs=0.02)
    assert both[:, 1] - [0.0, 4.0, 0.0] == pytest.approx(alone, abs=0.02)


def test_two_who_walk_into_each_other_do_not_walk_through_each_other(walker, play):
    player = play(walker, Place(np.zeros(2), 0.0), Place(np.array([2.5, 0.0]), np.pi))
    trail = stepped(player, 4.0)
    gap = np.linalg.norm(trail[:, 0, :2] - trail[:, 1, :2], axis=1)
    assert 0.15 < gap.min() < 0.6  # they met, but were never in each other
    alone = stepped(play(walker), 4.0)[:, 0]
    assert trail[-1, 0, 0] < alone[-1, 0] - 1.0  # which costs metres


def test_the_same_play_is_the_same_to_the_bit(walker, play):
    states = []
    for _ in range(2):
        player = play(walker)
        stepped(player, 0.5)
        shoved(player, [50.0, 80.0, 0.0])
        stepped(player, 0.5)
        states.append(player.state.tobytes())
    assert states[0] == states[1]


def test_early_steps_go_where_the_graph_leads_and_nowhere_else(walker, play):
    """Whatever feet do, one fragment follows the other, but for the ends of strides, which may be left out."""
    (chain,) = walker.structure.chains
    begins = {chain.first + chain.touch, chain.first + (chain.touch + chain.count // 2) % chain.count}
    player, early = play(walker), 0
    character, forces = player.characters[0], np.zeros((len(walker.body.links), 3))
    for number in range(10 * CONTROL_FPS):
        fragment, step = character.fragment, character.step
        forces[walker.features.trunk, 0] = 60.0 * (number % 70 < 6)  # it stumbles ahead
        player.step(forces)
        if (character.fragment, character.step) != (fragment, step + 1):
            assert character.step == 0
            on_time = step == 5 and character.fragment in walker.structure.successors[fragment]
            assert on_time or character.fragment in begins
            early += not on_time
    assert early > 0 and character.falls == 0
