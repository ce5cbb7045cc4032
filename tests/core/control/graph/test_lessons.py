# SPDX-License-Identifier: GPL-3.0-or-later
"""A graph is learned in an order in which nothing is missed, and walks go where least was seen."""

from itertools import pairwise

import numpy as np
import pytest

from sinew.core.control.graph.lessons import lessons_of, together


@pytest.fixture(scope="module")
def layout(town):
    return town[1]


@pytest.fixture(scope="module")
def lessons(layout):
    return lessons_of(layout)


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


def test_walks_go_only_where_the_lesson_leads_and_rather_where_they_were_seldom(layout, lessons):
    links, rng = lessons[-1], np.random.default_rng(0)
    visits = np.zeros(layout.count)
    fragments = np.array([links.fresh(visits, rng) for _ in range(8)])
    for step in range(600):
        after = links.after(fragments, rng, visits)
        assert all(one in layout.follows[before] for before, one in zip(fragments, after, strict=True))
        fragments = after
        if step % 15 == 14:
            fragments[step // 15 % 8] = links.fresh(visits, rng)
    # What only who begins anew gets to is seen alike, and so is what others come by.
    anew = np.isin(links.heads, [f for f in links.heads if layout.chains[layout.chain_of[f]].kind != "transition"])
    anew |= np.isin(links.heads, [chain.first for chain in layout.chains if chain.name.startswith("getup")])
    for seen in (visits[links.heads[anew]], visits[links.heads[~anew]]):
        assert seen.min() > 0.6 * seen.max() > 0.0


def test_together_everything_is_open(layout):
    lesson = together(layout)
    assert np.array_equal(lesson.open, np.arange(layout.count)) and lesson.follows == layout.follows
