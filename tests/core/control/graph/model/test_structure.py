# SPDX-License-Identifier: GPL-3.0-or-later
"""What may follow what in a graph of cycles, a kick and get-ups, and how ways lead from one to the other."""

import numpy as np
import pytest

from sinew.core.body.poses import link_transforms
from sinew.core.control.graph.model.fragments import concatenate_fragments
from sinew.core.control.graph.model.structure import convert_motion_graph
from sinew.core.control.graph.playing.graph_walks import random_walk
from sinew.core.control.graph.transitions.motion_graph import MotionGraph, Transition
from sinew.core.control.tracking.reference import CONTROL_FPS, FRAGMENT_STEPS
from sinew.core.errors import GraphError


@pytest.fixture(scope="module")
def structure(town):
    return town[1]


def test_chains_lie_one_after_the_other_skills_first(town):
    graph, structure, track = town
    assert [chain.first for chain in structure.chains] == [
        0,
        *np.cumsum([chain.count for chain in structure.chains])[:-1],
    ]
    assert structure.count == len(track) == sum(chain.count for chain in structure.chains)
    assert [chain.name for chain in structure.chains[:5]] == ["walk", "run", "kick", "getup_facedown", "getup_faceup"]
    assert [chain.kind for chain in structure.chains[:5]] == ["cycle", "cycle", "once", "rise", "rise"]
    ways = structure.chains[5:]
    assert [chain.name for chain in ways] == [f"{way.source}>{way.target}" for way in graph.transitions]
    assert all(chain.kind == "transition" and 3 <= chain.count for chain in ways)
    assert all(graph.skills[chain.skill].name == way.target for chain, way in zip(ways, graph.transitions, strict=True))


def test_cycles_go_round_and_everything_else_ends_in_a_way(structure):
    for chain in structure.chains:
        inside = [structure.successors[fragment] for fragment in chain.fragments]
        assert all(after[0] == fragment + 1 for after, fragment in zip(inside[:-1], chain.fragments, strict=False))
        if chain.kind == "cycle":
            assert inside[-1][0] == chain.first
        elif chain.kind != "transition":
            assert [structure.chains[structure.chain_of[after]].kind for after in inside[-1]] == ["transition"]
        else:
            (joins,) = inside[-1]
            target = structure.chains[structure.chain_of[joins]]
            assert target.skill == chain.skill and target.kind != "transition"


def test_get_ups_are_entered_by_nothing_and_the_kick_only_by_its_way(structure):
    into = {}
    for fragment, after in enumerate(structure.successors):
        for one in after:
            into.setdefault(int(structure.chain_of[one]), set()).add(int(structure.chain_of[fragment]))
    for number, chain in enumerate(structure.chains):
        if chain.kind == "rise":
            assert into[number] == {number}
        if chain.kind == "once":
            others = {structure.chains[one].name for one in into[number] - {number}}
            assert others == {"walk>kick"}


def test_ways_leave_and_join_where_the_transition_says(town):
    _, structure, _ = town
    kick = structure.chain("kick")
    # Left at its end, for the walk; entered at its beginning, so that the way takes the place of its first fragments.
    assert structure.successors[kick.first + kick.count - 1] == (
        next(c.first for c in structure.chains if c.name == "kick>walk"),
    )
    way = next(chain for chain in structure.chains if chain.name == "walk>kick")
    assert structure.successors[way.fragments[-1]] == (kick.first + way.count,)


def jerks(body, track, walk):
    """(T - 2,) m/s² of the link that is jerked most, step by step."""
    pos = link_transforms(body, concatenate_fragments(track, walk).qpos)[0]
    return np.linalg.norm(np.diff(pos, 2, axis=0), axis=-1).max(1) * CONTROL_FPS**2


def test_every_way_goes_on_from_its_source_into_its_target_without_a_jump(town, body):
    _, structure, track = town
    for chain in structure.chains[5:]:
        source = next(f for f, after in enumerate(structure.successors) if chain.first in after)
        joins = structure.successors[chain.fragments[-1]][0]
        walk = [source - 1, source, *chain.fragments, joins]
        seams = np.array([2, len(walk) - 1]) * FRAGMENT_STEPS - 1  # the second differences across them
        skills = (structure.chains[structure.chain_of[fragment]] for fragment in (source, joins))
        usual = max(jerks(body, track, list(skill.fragments)).max() for skill in skills)
        assert jerks(body, track, walk)[seams].max() < 1.5 * usual, chain.name


def test_twins_are_the_halves_of_gaits(structure):
    twins = structure.mirror_of
    for chain in structure.chains:
        own = np.array(chain.fragments)
        if chain.gait:
            half = chain.count // 2
            assert np.array_equal(twins[own], np.concatenate([own[:half], own[:half]]))
        else:
            assert np.array_equal(twins[own], own)


def test_skills_are_found_by_name_and_ways_are_no_skills(structure):
    assert structure.chain("run").first == 12
    for name in ("walk>run", "fly"):
        with pytest.raises(GraphError, match=f"no skill '{name}'") as caught:
            structure.chain(name)
        assert "walk, run, kick" in caught.value.hint


def test_a_skill_that_is_left_before_its_end_has_no_dead_end(body, stock_skill):
    """What comes after the last way out of a kick could only be got stuck in."""
    ways = (Transition("walk", 0.6, "kick", 0.0), Transition("kick", 1.0, "walk", 1.0))
    structure, track = convert_motion_graph(body, MotionGraph((stock_skill("walk"), stock_skill("kick")), ways))
    assert structure.chain("kick").count == 10 and len(track) == structure.count
    assert all(structure.successors)
    walk = random_walk(
        structure.successors, structure.chain_of, structure.skill_of_chain, 0, 200, np.random.default_rng(0)
    )
    assert structure.chain("kick").fragments[-1] in walk


def test_a_skill_cannot_be_left_where_it_begins(body, stock_skill):
    ways = (Transition("walk", 0.6, "kick", 0.0), Transition("kick", 0.01, "walk", 1.0))
    with pytest.raises(GraphError, match="where it begins"):
        convert_motion_graph(body, MotionGraph((stock_skill("walk"), stock_skill("kick")), ways))


def test_the_same_graph_is_laid_out_to_the_same_bit(body, stock_skill):
    graph = MotionGraph((stock_skill("walk"), stock_skill("run")), (Transition("walk", 0.1, "run", 0.0),))
    (one, first), (other, second) = convert_motion_graph(body, graph), convert_motion_graph(body, graph)
    assert one.successors == other.successors and one.chains == other.chains
    assert all(getattr(first, n).tobytes() == getattr(second, n).tobytes() for n in ("qpos", "rates", "targets"))
