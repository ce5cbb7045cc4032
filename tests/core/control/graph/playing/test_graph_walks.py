# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks go where they may, see every skill about equally, and are the same for the same seed."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sinew.core.control.graph.playing.graph_walks import random_walk, shortest_path
from sinew.core.errors import GraphError


def graph(skills, transitions, blend=3):
    """Successors, chain of each fragment and skill of each chain.

    skills: lengths, negative for what is played once. transitions: (source, leave, target, enter), leave being the
    fragment after which it begins.
    """
    firsts, chain_of, skill_of_chain = [], [], []
    successors: list[list[int]] = []
    for skill, length in enumerate(skills):
        firsts.append(len(successors))
        successors += [[len(successors) + step + 1] for step in range(abs(length))]
        successors[-1] = [firsts[-1]] if length > 0 else []
        chain_of += [skill] * abs(length)
        skill_of_chain.append(skill)
    for number, (source, leave, target, enter) in enumerate(transitions):
        first = len(successors)
        successors[firsts[source] + leave].append(first)
        successors += [[first + step + 1] for step in range(blend)]
        successors[-1] = [firsts[target] + (enter + blend) % abs(skills[target])]
        chain_of += [len(skills) + number] * blend
        skill_of_chain.append(target)
    return successors, np.array(chain_of), np.array(skill_of_chain)


def rounds_of(walk, chain_of, skills):
    """How often each skill was gone round."""
    return np.array([np.sum(chain_of[walk] == skill) / np.sum(chain_of == skill) for skill in range(skills)])


def complete(lengths):
    count = len(lengths)
    ways = [(a, (3 * a + b) % lengths[a], b, 2 * a % lengths[b]) for a in range(count) for b in range(count) if a != b]
    return graph(lengths, ways)


def test_every_step_is_one_that_may_be():
    successors, chain_of, skill_of_chain = complete([13, 8, 16])
    walk = random_walk(successors, chain_of, skill_of_chain, 4, 500, np.random.default_rng(1))
    assert walk.shape == (500,) and walk[0] == 4
    assert all(after in successors[before] for before, after in pairwise(walk))


def test_skills_are_seen_about_equally_and_all_of_each():
    successors, chain_of, skill_of_chain = complete([13, 8, 16, 40])
    walk = random_walk(successors, chain_of, skill_of_chain, 0, 4000, np.random.default_rng(0))
    rounds = rounds_of(walk, chain_of, 4)
    assert rounds.max() < 1.25 * rounds.min()
    seen = np.bincount(walk, minlength=len(successors))
    assert seen.min() > 0
    for skill in range(4):
        own = seen[chain_of == skill]
        assert own.max() < 3 * own.min()


def test_all_ways_into_a_skill_are_used_about_equally():
    successors, chain_of, skill_of_chain = complete([13, 8, 16])
    walk = random_walk(successors, chain_of, skill_of_chain, 0, 4000, np.random.default_rng(0))
    used = np.bincount(chain_of[walk])[3:]
    assert used.min() > 0.5 * used.max()


def test_a_hub_is_passed_more_often_but_others_get_their_share():
    hub = [(0, 3, 1, 0), (1, 4, 0, 5), (0, 8, 2, 0), (2, 7, 0, 1), (0, 10, 3, 0), (3, 14, 0, 9)]
    successors, chain_of, skill_of_chain = graph([13, 8, 16, -15], hub)
    walk = random_walk(successors, chain_of, skill_of_chain, 0, 4000, np.random.default_rng(0))
    rounds = rounds_of(walk, chain_of, 4)
    assert rounds.max() < 3.0 * rounds.min()
    assert rounds[1:].max() < 1.4 * rounds[1:].min()


def test_what_is_never_come_to_does_not_count():
    """Of skill 1 only the last three fragments are ever played."""
    successors, chain_of, skill_of_chain = graph([6, -9, 6], [(0, 2, 1, 3), (1, 8, 0, 0), (0, 4, 2, 0), (2, 4, 0, 0)])
    walk = random_walk(successors, chain_of, skill_of_chain, 0, 3000, np.random.default_rng(0))
    seen = np.bincount(walk, minlength=len(successors))
    assert not seen[6:12].any()
    assert seen[12:15].mean() < 1.4 * seen[15:21].mean()


def test_transitions_may_be_of_no_skill():
    successors, chain_of, skill_of_chain = complete([13, 8, 16])
    walk = random_walk(
        successors, chain_of, np.where(np.arange(9) < 3, skill_of_chain, -1), 0, 2000, np.random.default_rng(0)
    )
    rounds = rounds_of(walk, chain_of, 3)
    assert rounds.max() < 1.25 * rounds.min()


def test_the_same_seed_walks_the_same_way():
    where = complete([13, 8, 16])
    one, same, other = (random_walk(*where, 0, 300, np.random.default_rng(seed)) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one, same)
    assert np.any(one != other)


def test_a_longer_walk_begins_as_a_shorter_one():
    where = complete([13, 8, 16])
    short, long = (random_walk(*where, 0, count, np.random.default_rng(5)) for count in (100, 300))
    np.testing.assert_array_equal(short, long[:100])


def test_one_cycle_goes_round_and_round():
    successors, chain_of, skill_of_chain = graph([5], [])
    walk = random_walk(successors, chain_of, skill_of_chain, 2, 12, np.random.default_rng(0))
    np.testing.assert_array_equal(walk, (2 + np.arange(12)) % 5)


def test_who_begins_in_a_get_up_gets_on_and_never_comes_back():
    successors, chain_of, skill_of_chain = graph([6, -9], [(1, 8, 0, 0)])
    walk = random_walk(successors, chain_of, skill_of_chain, 6, 60, np.random.default_rng(0))
    np.testing.assert_array_equal(walk[:12], np.arange(6, 18))
    assert np.all(chain_of[walk[12:]] == 0)


def test_a_walk_stays_out_of_dead_ends():
    # Skill 1 is left in its middle; behind that there is no way on.
    successors, chain_of, skill_of_chain = graph([6, -9], [(0, 2, 1, 0), (1, 4, 0, 0)])
    walk = random_walk(successors, chain_of, skill_of_chain, 0, 400, np.random.default_rng(0))
    assert np.sum(chain_of[walk] == 1) > 20
    assert walk[chain_of[walk] == 1].max() == 6 + 4


def test_a_dead_end_is_refused_at_its_beginning():
    successors, chain_of, skill_of_chain = graph([6, -9], [])
    with pytest.raises(GraphError, match=r"From fragment 8 there is no way on.*leads back into the graph"):
        random_walk(successors, chain_of, skill_of_chain, 8, 3, np.random.default_rng(0))
    assert list(random_walk(successors, chain_of, skill_of_chain, 8, 1, np.random.default_rng(0))) == [8]


@pytest.mark.parametrize("start", [-1, 6])
def test_a_walk_begins_in_the_graph(start):
    with pytest.raises(GraphError, match=rf"no fragment {start}.*0 to 5"):
        random_walk(*graph([6], []), start, 3, np.random.default_rng(0))


def test_a_walk_has_a_length():
    with pytest.raises(GraphError, match=r"0 fragments goes nowhere.*one or more"):
        random_walk(*graph([6], []), 0, 0, np.random.default_rng(0))


def test_the_shortest_path_is_found():
    # From 1 the end of skill 0 is 4 steps off, the way over the transition one fragment more.
    successors, _, _ = graph([6, 7], [(0, 1, 1, 0), (1, 5, 0, 2)])
    assert shortest_path(successors, 1, (4,)) == [1, 2, 3, 4]
    assert shortest_path(successors, 4, (2,)) == [4, 5, 0, 1, 2]
    assert shortest_path(successors, 0, (6 + 3,)) == [0, 1, 13, 14, 15, 9]
    assert shortest_path(successors, 3, (3,)) == [3]


def test_without_a_path_there_is_none():
    successors, _, _ = graph([6, 7], [(0, 1, 1, 0)])
    assert shortest_path(successors, 8, (2,)) is None
    with pytest.raises(GraphError, match="no fragment 99"):
        shortest_path(successors, 99, (2,))


@st.composite
def any_graph(draw):
    count = draw(st.integers(1, 12))
    successors = [draw(st.lists(st.integers(0, count - 1), max_size=3, unique=True)) for _ in range(count)]
    chains = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    return successors, np.array(chains), np.array(draw(st.lists(st.integers(-1, 2), min_size=4, max_size=4)))


def endless(successors, start, steps):
    """Whether so many steps can be taken."""
    there = {start}
    for _ in range(steps):
        there = {after for before in there for after in successors[before]}
    return bool(there)


@settings(max_examples=200, deadline=None)
@given(any_graph(), st.integers(0, 2**16))
def test_no_graph_leads_a_walk_astray(found, seed):
    successors, chain_of, skill_of_chain = found
    try:
        walk = random_walk(successors, chain_of, skill_of_chain, 0, 40, np.random.default_rng(seed))
    except GraphError:
        assert not endless(successors, 0, 40)
        return
    assert len(walk) == 40
    assert all(after in successors[before] for before, after in pairwise(walk))
