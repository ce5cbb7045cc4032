# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig with one arm hanging at rest learns its gaits without symmetry, by itself, and says so."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from sinew.core.body import build_body
from sinew.core.body.mirroring import BodyMirror
from sinew.core.control.graph.learning import learner as learning
from sinew.core.control.graph.learning import open_loop_refinement, steering
from sinew.core.control.graph.learning.gait_symmetry import FragmentSymmetry
from sinew.core.control.graph.learning.learner import GraphLearner
from sinew.core.control.graph.learning.progress import LearningBudget
from sinew.core.control.graph.model.control_graph import ControlGraph
from sinew.core.control.graph.model.features import Features
from sinew.core.control.graph.model.io import graph_from_arrays, graph_to_arrays
from sinew.core.control.graph.model.structure import convert_motion_graph
from sinew.core.control.graph.playing.push_tests import find_hardest_push
from sinew.core.control.graph.transitions.motion_graph import MotionGraph
from sinew.core.errors import RigError
from sinew.core.geometry.quaternions import from_rotation_vector, multiply
from sinew.core.sim import engines


@pytest.fixture(scope="module")
def run_skill(stock_skill):
    """A stock run on a rig whose rest pose has the right arm raised; every frame of it is as before."""
    skill = stock_skill("run")
    skeleton = skill.clip.skeleton
    quat = np.array(skeleton.rest_quat_wxyz)
    arm = skeleton.index("upper_arm.R")
    quat[arm] = multiply(from_rotation_vector(np.array([1.4, 0.0, 0.0])), quat[arm])
    hanging = replace(skeleton, rest_quat_wxyz=quat)
    return replace(skill, clip=replace(skill.clip, skeleton=hanging))


@pytest.fixture(scope="module")
def converted(run_skill):
    body, _ = build_body(run_skill.clip.skeleton, clip=run_skill.clip)
    with pytest.raises(RigError, match="not symmetric"):
        BodyMirror(body)
    findings = []
    return *convert_motion_graph(body, MotionGraph((run_skill,), ()), findings.extend), findings


def test_a_gait_without_symmetry_is_converted_and_told_of(converted):
    structure, track, findings = converted
    assert [one.kind for one in findings].count("symmetry") == 1
    said = next(one for one in findings if one.kind == "symmetry")
    assert "without symmetry" in said.message and "forearm.R" in said.message and said.hint
    assert structure.chains[0].gait and not structure.chains[0].mirrored
    assert np.array_equal(structure.mirror_of, np.arange(structure.count))
    symmetry = FragmentSymmetry(track.body, structure, Features(track.body))
    assert symmetry.symmetrize_track(track) is track


def test_a_symmetric_rig_is_still_mirrored_and_nothing_is_said(body, stock_skill):
    findings = []
    structure, _ = convert_motion_graph(body, MotionGraph((stock_skill("run"),), ()), findings.extend)
    assert "symmetry" not in [one.kind for one in findings]
    assert (structure.mirror_of != np.arange(structure.count)).sum() == structure.count // 2


def test_it_is_learned_turned_and_kept_in_a_file(converted, monkeypatch):
    for module, name, value in (
        (learning, "_REFINE_COPIES", 8),
        (learning, "_TEST_COPIES", 24),
        (learning, "_MIN_TUPLES", 5),
        (learning, "find_hardest_push", partial(find_hardest_push, cycles=1)),
        (open_loop_refinement, "_SPREADS", (0.1,)),
        (steering, "_SETTLE", 1),
        (steering, "_COUNTED", 2),
    ):
        monkeypatch.setattr(module, name, value)
    structure, track, _ = converted
    budget = LearningBudget(32, population_size=8, examples=8, iterations=1, settled=0.0, es_turns=0)
    learner = GraphLearner(structure, engines.get_engine("mujoco"), budget, 0)
    with learner.opened:
        now = learner.initial_progress(track)
        while now.stage < len(learner.stages(now)):
            now = learner.advance(now)
        graph = ControlGraph(structure, now.track, now.policies, *learner.learn_turns(now)[:1], (), {})
    again = graph_from_arrays(*graph_to_arrays(graph))
    assert again.structure.chains == structure.chains
    assert np.isfinite(again.policies.actions).all() and now.curve[-1]["cost"] > 0.0
