# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning gives the same graph each time, also after it was killed on the way; its curves say what happened."""

import io
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from sinew.bench.run import BenchRun, hash_take
from sinew.core.control.graph import learn_method
from sinew.core.control.graph.learning import (
    checkpoint,
    curriculum,
    evolution_strategies,
    guided_samcon,
    learner,
    open_loop_refinement,
    steering,
)
from sinew.core.control.graph.learning.progress import LearningBudget, LearningProgress
from sinew.core.control.graph.model.io import graph_from_arrays
from sinew.core.control.graph.playing.push_tests import find_hardest_push
from sinew.core.control.graph.transitions.motion_graph import MotionGraph, Transition, motion_graph_attachments
from sinew.core.control.registry import get_method
from sinew.core.errors import GraphError

STUDY = LearningBudget(copies=32, population_size=8, examples=8, iterations=1, settled=0.0, es_turns=1)


class MemoryRun(BenchRun):
    """A run that keeps every checkpoint as it would be in its file, and begins with one of another run."""

    def __init__(self, attachments, resume=None):
        super().__init__("mujoco", 5, attachments)
        self.saved, self.steps, self.curves, self.resume = [], [], [], resume

    def progress(self, step, total, /, **measurements):
        if total > 1:
            self.steps.append((step, total))
            self.curves.append(measurements)

    def save_checkpoint(self, step, /, **arrays):
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        self.saved.append((step, stream.getvalue()))

    def load_checkpoint(self):
        if self.resume is None:
            return None
        archive = np.load(io.BytesIO(self.resume[1]), allow_pickle=False)
        return self.resume[0], {name: archive[name] for name in archive.files}


@pytest.fixture(scope="module")
def learn(stock_skill):
    """Learns a graph of stock skills with hardly any effort; gives take and run."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in (
            (learner, "_REFINE_COPIES", 8),
            (learner, "_TEST_COPIES", 24),
            (learner, "_FALLS", 8),
            (learner, "_MIN_TUPLES", 5),
            (learner, "_UPDATES", 1),
            (learner, "_PUSHED_WITHIN", 1),
            (evolution_strategies, "_STEPS", 3),
            (guided_samcon, "_FORGET", 3),
            (learner, "find_hardest_push", partial(find_hardest_push, cycles=1)),
            (curriculum, "_INSTANCES", 1),
            (curriculum, "_LEAST_S", 0.1),
            (curriculum, "_RUN_UP", 1),
            (curriculum, "_RUN_OUT", 1),
            (open_loop_refinement, "_SPREADS", (0.1,)),
            (steering, "_SETTLE", 1),
            (steering, "_COUNTED", 2),
            (learn_method, "_SHOWN_S", 0.5),
        ):
            patch.setattr(module, name, value)
        patch.setitem(learn_method._BUDGETS, "draft", STUDY)

        def make(names, ways=(), resume=None):
            graph = MotionGraph(tuple(stock_skill(name) for name in names), ways)
            run = MemoryRun(motion_graph_attachments(graph), resume)
            method = get_method("graph_learn")
            take = method.run(graph.skills[0].clip, method.settings_type(quality="draft"), run)
            return take, run

        yield make


@pytest.fixture(scope="module")
def ways():
    return (Transition("run", 0.2, "kick", 0.0), Transition("kick", 1.5, "run", 0.2))


@pytest.fixture(scope="module")
def whole(learn, ways):
    return learn(("run", "kick"), ways)


def product(run):
    """The bits of the learned graph."""
    arrays, meta = run.products["graph"]
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}, meta


def test_a_graph_is_learned_shown_and_can_be_played(whole):
    take, run = whole
    graph = graph_from_arrays(*run.products["graph"])
    assert [chain.name for chain in graph.structure.chains] == ["run", "kick", "run>kick", "kick>run"]
    learned = graph.policies.gains.any(axis=(1, 2))
    assert learned[:8].all() and learned.mean() > 0.3  # fragments that were seen often enough have feedback
    assert len(take.motion) == 16 and take.own_clock
    assert graph.about["engine"] == "mujoco"


def test_curves_tell_how_it_went(whole):
    _, run = whole
    curve = run.products["graph"][1]["about"]["curve"]
    steps = [(one["lesson"], one["iteration"]) for one in curve]
    assert steps[:4] == [("run", 1), ("run", 2), ("transitions", 1), ("transitions", 2)]
    studied, practised = ([one for one in curve if (name in one)] for name in ("cost", "felled"))
    assert len(studied) == len(practised) == len(curve) // 2
    assert all(one["cost"] > 0.0 and 0.0 <= one["lost_share"] <= 1.0 for one in studied)
    assert all(one["change"] > 0.0 and 0.0 <= one["felled"] <= 1.0 for one in practised)
    assert all(("push_n" in one) == (one["lesson"] == "run") for one in curve)
    assert {"cost", "change", "push_n"} <= set().union(*run.curves)
    steps = [step for step, _ in run.steps]
    assert steps == sorted(steps) and all(step <= total for step, total in run.steps)


def test_progress_is_true_from_the_first_report_on(whole):
    """Shares of the whole by report: none stands still for long, and what is done is said in plain words."""
    _, run = whole
    shares = np.array([step / total for step, total in run.steps])
    count = len(shares)
    assert (np.diff(shares) >= 0.0).all() and shares[0] < 0.05 and shares[-1] > 0.9
    assert shares[count // 10] >= 0.02 and shares[count // 2] >= 0.2
    assert np.diff(shares).max() < 0.2
    said = [one["doing"] for one in run.curves]
    assert said[0] == "Studying 'run'" and any(words.startswith("Practising 'run': stands pushes") for words in said)
    assert any(words.startswith("Practising transitions") for words in said) and said[-1] == "Learning to turn"
    studied = [one["studied"] for one in run.curves if "studied" in one]
    assert len(set(studied)) > 5 and not any("cost" in one for one in run.curves if "studied" in one)


def test_a_gait_is_learned_even(whole):
    graph = graph_from_arrays(*whole[1].products["graph"])
    twins, count = graph.structure.mirror_of, graph.structure.count
    seconds = np.flatnonzero(twins != np.arange(count))
    knees = [
        int(graph.body.qpos_starts[i])
        for side in "LR"
        for i, link in enumerate(graph.body.links)
        if (link.role, link.side) == ("shin", side)
    ]
    for one, other in (knees, knees[::-1]):
        assert graph.track.qpos[seconds][..., one] == pytest.approx(
            graph.track.qpos[twins[seconds]][..., other], abs=1e-6
        )


def test_killed_on_the_way_it_goes_on_to_the_same_graph_bit_for_bit(learn, ways, whole):
    take, run = whole
    assert len(run.saved) == len({step for step, _ in run.saved}) >= 4
    saved = run.saved[3]  # when the transitions were refined; tests of jobs kill workers earlier than that
    again, resumed = learn(("run", "kick"), ways, resume=saved)
    assert product(resumed) == product(run)
    assert hash_take(again) == hash_take(take)
    assert [step for step, _ in resumed.saved] == [step for step, _ in run.saved[4:]]
    assert resumed.steps[0][0] > 0.3 * resumed.steps[0][1]  # as far as the first one was, and not at its beginning


@pytest.fixture
def loaded(whole):
    """What is made of a checkpoint by a run that knows where it would begin: (step, progress) and the beginning."""
    graph = graph_from_arrays(*whole[1].products["graph"])

    def load(saved, engine="mujoco", fragments=None):
        track = graph.track if fragments is None else replace(graph.track, qpos=graph.track.qpos[:fragments])
        begun = LearningProgress(track, graph.policies, graph.policies, np.zeros(len(graph.policies)))
        run = MemoryRun({}, saved)
        run.engine = engine
        return checkpoint.load_progress(run, graph.body, begun), begun

    return load


def test_everything_of_a_step_is_kept(whole, loaded):
    saved = whole[1].saved[1]
    (step, now), _ = loaded(saved)
    assert (step, now.stage, now.refined, now.regressed, now.iteration, now.es_turn) == (saved[0], 0, True, True, 0, 0)
    again = MemoryRun({})
    checkpoint.save_progress(again, step, now)
    elsewhere = replace(
        now,
        stage=3,
        iteration=5,
        es_turn=2,
        refined=False,
        regressed=False,
        warm_start=True,
        push_levels=now.push_levels + 7,
    )
    checkpoint.save_progress(again, 7, elsewhere)
    assert again.saved[0] == saved
    (step, found), _ = loaded(again.saved[1])
    assert step == 7 and np.array_equal(found.push_levels, now.push_levels + 7)
    for name in ("stage", "iteration", "es_turn", "refined", "regressed", "warm_start", "curve"):
        assert getattr(found, name) == getattr(elsewhere, name)


def test_a_checkpoint_that_does_not_fit_is_left_alone(whole, loaded):
    saved = whole[1].saved[3]
    for other in ({"engine": "bullet"}, {"fragments": 5}):
        (step, now), begun = loaded(saved, **other)
        assert step == 0 and now is begun


def test_a_checkpoint_of_nonsense_is_told_and_left_alone(loaded, caplog):
    stream = io.BytesIO()
    np.savez(stream, about=np.frombuffer(b"{nonsense", dtype=np.uint8))
    (step, now), begun = loaded((2, stream.getvalue()))
    assert step == 0 and now is begun and "cannot be read" in caplog.text


@pytest.mark.parametrize(
    ("names", "message"),
    [(("kick",), "leads out of 'kick'"), (("walk", "run"), "no way to 'run'")],
    ids=["once", "apart"],
)
def test_a_graph_in_which_somebody_would_be_stuck_is_refused(learn, names, message):
    with pytest.raises(GraphError, match=message):
        learn(names)
