# SPDX-License-Identifier: GPL-3.0-or-later
"""A graph is learned in an order in which nothing is missed, and walks go where least was seen."""

from itertools import pairwise

import numpy as np
import pytest

from sinew.core.control.graph.learning.curriculum import IDLE, curriculum_stages, joint_stage


@pytest.fixture(scope="module")
def layout(town):
    return town[1]


@pytest.fixture(scope="module")
def lessons(layout):
    return curriculum_stages(layout)


def test_cycles_come_first_each_alone_then_all_that_links_them(layout, lessons):
    assert [lesson.name for lesson in lessons] == ["walk", "run", "transitions"]
    for lesson in lessons[:2]:
        assert np.array_equal(lesson.open, layout.chain(lesson.name).fragments)
        inside = {one for after in lesson.follows for one in after}
        assert inside == set(lesson.open)  # nothing leads out of it
    opened = np.concatenate([lesson.open for lesson in lessons])
    assert sorted(opened) == list(range(layout.count))


def test_refined_walks_are_ways_through_the_graph_that_see_everything_that_is_learned(layout, lessons):
    for lesson in lessons:
        for walk in lesson.walks:
            assert all(after in layout.follows[before] for before, after in pairwise(walk))
        assert set(np.concatenate(lesson.walks)) >= set(lesson.open)
    # A way begins with a run-up in the skill that it leaves; what nothing leads to begins with itself.
    links = lessons[-1]
    chains = [chain for chain in layout.chains if chain.kind != "cycle"]
    for chain, walk in zip(chains, links.walks, strict=True):
        begins = layout.chains[layout.chain_of[walk[0]]]
        assert begins.name == (chain.name.partition(">")[0] if chain.kind == "transition" else chain.name)
        assert walk[-1] not in chain.fragments  # and goes on after it


def walked(layout, lesson, populations: int, seed: int) -> np.ndarray:
    """(F,) how often fragments are begun on guided walks as long as a lesson has them for 60 examples of each."""
    rng, visits, begun = np.random.default_rng(seed), np.zeros(layout.count), np.zeros(layout.count)
    fragments = np.array([lesson.fresh(visits, rng) for _ in range(populations)])
    idle = np.zeros(populations, dtype=int)
    np.add.at(begun, fragments, 1)
    for _ in range(60 * lesson.length // populations):
        after = lesson.after(fragments, rng, visits)
        assert all(one in lesson.follows[before] for before, one in zip(fragments, after, strict=True))
        idle = np.where(np.isin(fragments, lesson.open), 0, idle + 1)
        fragments = after
        np.add.at(begun, fragments, 1)
        for one in np.flatnonzero(idle > IDLE):  # begun anew, what came next is not walked
            begun[fragments[one]] -= 1
            fragments[one], idle[one] = lesson.fresh(visits, rng), 0
            begun[fragments[one]] += 1
    return begun


@pytest.mark.parametrize("populations", [1, 32])
def test_every_way_between_skills_is_begun_about_equally_often(layout, lessons, populations):
    links = lessons[-1]
    begun = walked(layout, links, populations, 0)
    names = [layout.chains[layout.chain_of[head]].name for head in links.heads]
    ways = {name: begun[head] for name, head in zip(names, links.heads, strict=True)}
    # A kick that was begun somewhere else or in its middle is left all the same.
    assert ways.pop("kick>walk") >= 0.9 * min(ways.values())
    assert min(ways.values()) > 0.7 * max(ways.values())
    assert min(ways.values()) >= 60  # which is what such walks are long enough for


def test_together_ways_are_taken_as_often_as_they_are_left_out(layout):
    begun = walked(layout, joint_stage(layout), 32, 0)
    parts = [after for after in layout.follows if len(after) > 1]
    assert parts and all(min(begun[list(after)]) > 0.2 * max(begun[list(after)]) for after in parts)


def test_together_everything_is_open(layout):
    lesson = joint_stage(layout)
    assert np.array_equal(lesson.open, np.arange(layout.count)) and lesson.follows == layout.follows
