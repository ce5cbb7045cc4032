# SPDX-License-Identifier: GPL-3.0-or-later
"""A graph is learned in an order in which nothing is missed, and walks go where least was seen."""

from itertools import pairwise

import numpy as np
import pytest

from sinew.core.control.graph.learning.curriculum import IDLE, curriculum_stages, joint_stage


@pytest.fixture(scope="module")
def structure(town):
    return town[1]


@pytest.fixture(scope="module")
def lessons(structure):
    return curriculum_stages(structure)


def test_cycles_come_first_each_alone_then_all_that_links_them(structure, lessons):
    assert [stage.name for stage in lessons] == ["walk", "run", "transitions"]
    for stage in lessons[:2]:
        assert np.array_equal(stage.trainable, structure.chain(stage.name).fragments)
        inside = {one for after in stage.successors for one in after}
        assert inside == set(stage.trainable)  # nothing leads out of it
    opened = np.concatenate([stage.trainable for stage in lessons])
    assert sorted(opened) == list(range(structure.count))


def test_refined_walks_are_ways_through_the_graph_that_see_everything_that_is_learned(structure, lessons):
    for stage in lessons:
        for walk in stage.refinement_walks:
            assert all(after in structure.successors[before] for before, after in pairwise(walk))
        assert set(np.concatenate(stage.refinement_walks)) >= set(stage.trainable)
    # A way begins with a run-up in the skill that it leaves; what nothing leads to begins with itself.
    links = lessons[-1]
    chains = [chain for chain in structure.chains if chain.kind != "cycle"]
    for chain, walk in zip(chains, links.refinement_walks, strict=True):
        begins = structure.chains[structure.chain_of[walk[0]]]
        assert begins.name == (chain.name.partition(">")[0] if chain.kind == "transition" else chain.name)
        assert walk[-1] not in chain.fragments  # and goes on after it


def walked(structure, stage, populations: int, seed: int) -> np.ndarray:
    """(F,) how often fragments are begun on guided walks as long as a lesson has them for 60 examples of each."""
    rng, visits, begun = np.random.default_rng(seed), np.zeros(structure.count), np.zeros(structure.count)
    fragments = np.array([stage.choose_start(visits, rng) for _ in range(populations)])
    idle = np.zeros(populations, dtype=int)
    np.add.at(begun, fragments, 1)
    for _ in range(60 * stage.walk_length // populations):
        after = stage.choose_next(fragments, rng, visits)
        assert all(one in stage.successors[before] for before, one in zip(fragments, after, strict=True))
        idle = np.where(np.isin(fragments, stage.trainable), 0, idle + 1)
        fragments = after
        np.add.at(begun, fragments, 1)
        for one in np.flatnonzero(idle > IDLE):  # begun anew, what came next is not walked
            begun[fragments[one]] -= 1
            fragments[one], idle[one] = stage.choose_start(visits, rng), 0
            begun[fragments[one]] += 1
    return begun


@pytest.mark.parametrize("populations", [1, 32])
def test_every_way_between_skills_is_begun_about_equally_often(structure, lessons, populations):
    links = lessons[-1]
    begun = walked(structure, links, populations, 0)
    names = [structure.chains[structure.chain_of[head]].name for head in links.heads]
    ways = {name: begun[head] for name, head in zip(names, links.heads, strict=True)}
    # A kick that was begun somewhere else or in its middle is left all the same.
    assert ways.pop("kick>walk") >= 0.9 * min(ways.values())
    assert min(ways.values()) > 0.7 * max(ways.values())
    assert min(ways.values()) >= 60  # which is what such walks are long enough for


def test_together_ways_are_taken_as_often_as_they_are_left_out(structure):
    begun = walked(structure, joint_stage(structure), 32, 0)
    parts = [after for after in structure.successors if len(after) > 1]
    assert parts and all(min(begun[list(after)]) > 0.2 * max(begun[list(after)]) for after in parts)


def test_together_everything_is_open(structure):
    stage = joint_stage(structure)
    assert np.array_equal(stage.trainable, np.arange(structure.count)) and stage.successors == structure.successors
