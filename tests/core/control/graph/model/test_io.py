# SPDX-License-Identifier: GPL-3.0-or-later
"""Control graphs survive their files to the last bit; every other file is refused with a reason."""

import copy
import json
import math
from dataclasses import fields, replace

import numpy as np
import pytest

from sinew.core import __version__
from sinew.core.control.graph.model import policies
from sinew.core.control.graph.model.control_graph import ControlGraph
from sinew.core.control.graph.model.features import Features
from sinew.core.control.graph.model.fragments import Track
from sinew.core.control.graph.model.io import VERSION, graph_from_arrays, graph_to_arrays, load_graph, save_graph
from sinew.core.control.graph.model.structure import GraphStructure, convert_motion_graph
from sinew.core.control.graph.transitions.motion_graph import MotionGraph, Transition
from sinew.core.errors import BadFile, GraphError
from sinew.core.files import read_arrays, write_arrays
from sinew.core.motion.io import npz, stock

ABOUT = {"engine": "mujoco", "skills": {"walk": {"push_n": 0.1 + 0.2, "iterations": 3}}, "curve": [1.5, None, True]}


@pytest.fixture(scope="module")
def graph(body, stock_skill) -> ControlGraph:
    """Two gaits and the ways between them, with feedback of random numbers: nothing was learned."""
    ways = (Transition("walk", 1.0 / 3.0, "run", 0.1), Transition("run", 0.2, "walk", 0.7))
    structure, track = convert_motion_graph(body, MotionGraph((stock_skill("walk"), stock_skill("run")), ways))
    rng, features = np.random.default_rng(4), Features(body)
    made = policies.zero_policies(rng.normal(size=(structure.count, len(features.scale))), len(features.action_dofs))
    made = replace(made, gains=rng.normal(size=made.gains.shape), actions=rng.normal(size=made.actions.shape))
    turns = rng.normal(size=made.actions.shape)
    rates = rng.uniform(size=structure.count)
    return ControlGraph(structure, track, made, turns, transitions=ways, about=ABOUT, turn_rates=rates)


@pytest.fixture(scope="module")
def stored(graph):
    """(arrays, meta) of the graph."""
    return graph_to_arrays(graph)


@pytest.fixture
def spoiled(stored):
    """Makes (arrays, meta) with some replaced; None takes one out."""

    def make(arrays=None, **meta):
        merged = stored[0] | (arrays or {}), copy.deepcopy(stored[1]) | meta
        return tuple({name: value for name, value in one.items() if value is not None} for one in merged)

    return make


def bits(thing) -> object:
    """All that a thing is made of, down to the bits of its numbers."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes()
    if isinstance(thing, tuple | list):
        return type(thing), tuple(bits(one) for one in thing)
    if isinstance(thing, dict):
        return {name: bits(one) for name, one in thing.items()}
    if isinstance(thing, float):
        return thing.hex()
    if hasattr(thing, "__dataclass_fields__"):
        return type(thing), tuple((field.name, bits(getattr(thing, field.name))) for field in fields(thing))
    return type(thing), thing


def refused(arrays, meta) -> BadFile:
    """The error that content is refused with."""
    with pytest.raises(BadFile) as caught:
        graph_from_arrays(arrays, meta)
    assert caught.value.hint
    return caught.value


def test_a_graph_comes_back_to_the_bit(graph, tmp_path):
    path = tmp_path / "Übung" / "walk and run.graph.npz"
    save_graph(path, graph)
    assert bits(load_graph(path)) == bits(graph)


def test_a_graph_travels_as_arrays_too(graph, stored):
    assert bits(graph_from_arrays(*stored)) == bits(graph)


def test_the_description_is_plain_and_says_what_the_graph_is(graph, stored):
    meta = json.loads(json.dumps(stored[1], allow_nan=False))
    assert (meta["kind"], meta["version"], meta["sinew"]) == ("sinew control graph", 1, __version__)
    assert meta["about"] == ABOUT
    assert [chain["name"] for chain in meta["chains"]] == ["walk", "run", "walk>run", "run>walk"]
    assert meta["transitions"][0] == {"source": "walk", "leave_s": 1.0 / 3.0, "target": "run", "enter_s": 0.1}
    assert len(meta["follows"]) == graph.structure.count
    assert len(meta["features"]["state"]) == graph.policies.states.shape[1]


def test_what_json_cannot_hold_of_how_it_was_learned_does_not_cost_the_graph(graph, tmp_path):
    about = {"cost": np.float64(0.5), "lost": math.nan, "pushes": np.arange(2), "sizes": (1, 2)}
    save_graph(tmp_path / "graph.npz", replace(graph, about=about))
    expected = {"cost": 0.5, "lost": None, "pushes": [0, 1], "sizes": [1, 2]}
    assert load_graph(tmp_path / "graph.npz").about == expected


def test_what_was_read_cannot_be_changed_by_accident_and_is_no_ones_else(graph, stored):
    again = graph_from_arrays(*stored)
    for part, names in ((again.track, ("qpos", "rates", "targets")), (again.policies, ("gains", "spreads"))):
        assert not any(getattr(part, name).flags.writeable for name in names)
    assert not again.turns.flags.writeable
    arrays = {name: np.array(array) for name, array in stored[0].items()}
    again = graph_from_arrays(arrays, stored[1])
    for array in arrays.values():
        array[:] = 0
    assert bits(again) == bits(graph)


def test_the_same_graph_makes_the_same_file(graph, tmp_path):
    for name in ("a.npz", "b.npz"):
        save_graph(tmp_path / name, graph)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_file_cut_short_anywhere_is_refused(graph, tmp_path):
    whole, cut = tmp_path / "graph.npz", tmp_path / "cut.npz"
    save_graph(whole, graph)
    data = whole.read_bytes()
    for twentieth in range(20):
        cut.write_bytes(data[: len(data) * twentieth // 20])
        with pytest.raises(BadFile, match=r"cut\.npz") as caught:
            load_graph(cut)
        assert "Learn the skills again" in caught.value.hint


def test_a_file_with_flipped_bits_is_refused_or_says_the_same(graph, tmp_path):
    path = tmp_path / "graph.npz"
    save_graph(path, graph)
    data, rng, bad = path.read_bytes(), np.random.default_rng(0), 0
    # Most of a file is numbers; what tells where they are is at its end, and before each array.
    arrays_start = [data.find(b"\x93NUMPY", 0)]
    while (found := data.find(b"\x93NUMPY", arrays_start[-1] + 1)) >= 0:
        arrays_start.append(found)
    heads = [start + offset for start in arrays_start for offset in range(-60, 128, 12)]
    tail = range(len(data) - 3000, len(data), 40)
    places = [*heads, *tail, *rng.integers(len(data), size=100)]
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            assert bits(load_graph(path)) == bits(graph), place
        except BadFile as error:
            bad += "graph.npz" in error.message
    assert bad > 0.5 * len(places)


def test_a_file_of_a_newer_sinew_says_both_versions_and_the_fix(spoiled, tmp_path):
    path = tmp_path / "graph.npz"
    write_arrays(path, *spoiled(version=VERSION + 1, sinew="9.8.7", chains=None, body="something else"))
    with pytest.raises(BadFile, match=r"graph\.npz.*Sinew 9\.8\.7.*format 2") as caught:
        load_graph(path)
    assert f"Sinew {__version__}" in caught.value.message
    assert caught.value.hint == "Update Sinew"


@pytest.mark.parametrize("version", [None, "2", 0, 1.5])
def test_a_file_without_a_version_is_not_called_newer(spoiled, version):
    assert "no format version" in refused(*spoiled(version=version)).message


def test_a_body_of_a_newer_format_is_refused_with_the_fix(spoiled, stored):
    error = refused(*spoiled(body=stored[1]["body"] | {"version": 99}))
    assert "format 99" in error.message
    assert error.hint == "Update Sinew"


def test_a_clip_is_no_graph(tmp_path):
    path = tmp_path / "walk.npz"
    npz.save_clip(path, stock.load_stock("walk"))
    with pytest.raises(BadFile, match=r"walk\.npz' is no control graph, but a 'sinew\.clip' file") as caught:
        load_graph(path)
    assert "graph" in caught.value.hint


def test_what_is_no_file_of_ours_is_refused_by_name(tmp_path):
    np.savez(tmp_path / "foreign.npz", x=np.arange(3))
    (tmp_path / "text.npz").write_text("HIERARCHY")
    for name, message in (("foreign", "no control graph"), ("text", "not a whole"), ("none", "does not exist")):
        with pytest.raises(BadFile, match=rf"{name}\.npz' .*{message}") as caught:
            load_graph(tmp_path / f"{name}.npz")
        assert caught.value.hint


def test_every_array_is_needed_and_must_fit_the_others(stored, spoiled):
    for name, array in stored[0].items():
        assert name.removeprefix("body_") in refused(*spoiled({name: None})).message
        word = name.removeprefix("body_").removeprefix("track_").removeprefix("policies_")
        assert word in refused(*spoiled({name: array[:-1]})).message


@pytest.mark.parametrize("name", ["track_qpos", "track_targets", "policies_gains", "policies_states"])
def test_arrays_that_fit_another_body_are_refused(stored, spoiled, name):
    error = refused(*spoiled({name: stored[0][name][..., :-1]}))
    assert f"{name.split('_')[1]} of the {name.split('_')[0]} have shape" in error.message


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused_by_fragment(graph, stored, spoiled, value):
    fragment = graph.structure.chain("run").first + 2
    for name, array in stored[0].items():
        if not name.startswith("body_"):
            spoilt = array.copy()
            spoilt.reshape(len(spoilt), -1)[fragment, -1] = value
            message = refused(*spoiled({name: spoilt})).message
            assert f"Fragment {fragment} of 'run'" in message
            assert f"has {name.removeprefix('track_').removeprefix('policies_')} of" in message


def test_what_is_not_even_numbers_is_refused(stored, spoiled):
    error = refused(*spoiled({"policies_gains": stored[0]["policies_gains"].astype(complex)}))
    assert "policies_gains holds complex128" in error.message


@pytest.mark.parametrize("missing", ["about", "chains", "follows", "transitions", "features", "body"])
def test_every_part_of_the_description_is_needed(spoiled, missing):
    assert f"lacks '{missing}'" in refused(*spoiled(**{missing: None})).message
    assert refused(*spoiled(**{missing: 3}))
    assert refused(*spoiled(**{missing: "something"}))


@pytest.mark.parametrize("outside", [-1, 10_000])
def test_a_fragment_that_leads_out_of_the_graph_is_refused(stored, spoiled, outside):
    follows = copy.deepcopy(stored[1]["follows"])
    follows[3].append(outside)
    assert f"Fragment 3 of 'walk' is followed by fragment {outside}" in refused(*spoiled(follows=follows)).message


@pytest.mark.parametrize("follows", [[[0.5]], [["0"]], [0]])
def test_what_follows_is_told_in_whole_numbers(stored, spoiled, follows):
    refused(*spoiled(follows=follows + stored[1]["follows"][1:]))


def test_an_empty_graph_is_neither_written_nor_read(graph, stored, spoiled):
    assert "empty" in refused(*spoiled(chains=[], follows=[], transitions=[])).message
    nothing = Track(graph.body, *(getattr(graph.track, name)[:0] for name in ("qpos", "rates", "targets")))
    with pytest.raises(GraphError, match="empty"):
        graph_to_arrays(
            ControlGraph(
                GraphStructure((), ()), nothing, policies.zero_policies(np.zeros((0, 18)), 11), np.zeros((0, 11))
            )
        )


@pytest.mark.parametrize(
    ("chain", "change", "message"),
    [
        (0, {"kind": "hop"}, "kind 'hop'"),
        (0, {"kind": "transition"}, "skill"),
        (0, {"name": " "}, "no skill of its own"),
        (1, {"name": "walk"}, "no skill of its own"),
        (0, {"skill": 1}, "skill 1"),
        (2, {"skill": 2}, "skill 2"),
        (2, {"skill": -1}, "skill -1"),
        (1, {"first": 0}, "'run'"),
        (1, {"count": 0}, "'run'"),
        (3, {"count": 99}, "have followers"),
        (0, {"kind": "once"}, "'walk' is a gait"),
        (0, {"count": 1.0}, "whole control graph"),
    ],
)
def test_chains_that_do_not_fit_are_refused(stored, spoiled, chain, change, message):
    chains = copy.deepcopy(stored[1]["chains"])
    assert chains[0]["gait"]
    chains[chain] |= change
    assert message in refused(*spoiled(chains=chains)).message


@pytest.mark.parametrize(
    "change", [{"source": "fly"}, {"target": "fly"}, {"leave_s": -0.1}, {"enter_s": math.inf}, {"enter_s": "soon"}]
)
def test_transitions_that_cannot_be_are_refused(stored, spoiled, change):
    ways = copy.deepcopy(stored[1]["transitions"])
    ways[1] |= change
    message = refused(*spoiled(transitions=ways)).message
    assert "transition run@" in message or "fly@" in message or "soon" in message


def test_policies_that_see_or_move_something_else_are_refused(stored, spoiled):
    known = stored[1]["features"]
    for part in ("state", "action"):
        error = refused(*spoiled(features=known | {part: known[part][::-1]}))
        assert f"know the {part}" in error.message
        assert "Learn the skills again" in error.hint


def test_a_graph_that_could_not_be_read_again_is_not_written(graph, tmp_path):
    gains = np.array(graph.policies.gains)
    gains[5, 0, 0] = np.nan
    with pytest.raises(GraphError, match="Fragment 5 of 'walk' has gains"):
        save_graph(tmp_path / "graph.npz", replace(graph, policies=replace(graph.policies, gains=gains)))
    assert not list(tmp_path.iterdir())


def test_a_file_holds_no_pickles(graph, tmp_path):
    save_graph(tmp_path / "graph.npz", graph)
    assert not any(array.dtype.hasobject for array in read_arrays(tmp_path / "graph.npz")[0].values())
