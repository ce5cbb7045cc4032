# SPDX-License-Identifier: GPL-3.0-or-later
"""What one body has learned is where another begins: taller, with longer legs, with bones turned some other way."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.bench.graph.other_bodies import lengthen_legs
from sinew.core.body import build_body
from sinew.core.body.poses import link_transforms
from sinew.core.control.graph.learning.retargeting import align_fragments, retarget_policies, retarget_track
from sinew.core.control.graph.model.control_graph import ControlGraph
from sinew.core.control.graph.model.features import Features
from sinew.core.control.graph.model.fragments import Track, hold_pose_targets
from sinew.core.control.graph.model.policies import zero_policies
from sinew.core.control.graph.model.structure import GraphStructure, convert_motion_graph
from sinew.core.control.graph.playing.push_tests import survived_fragments
from sinew.core.control.graph.transitions.motion_graph import MotionGraph, Skill
from sinew.core.control.tracking.facing import upright_rotation
from sinew.core.errors import GraphError
from sinew.core.geometry.quaternions import angle_between, conjugate, from_rotation_vector, multiply, to_rotation_vector
from sinew.core.motion import Clip, Skeleton
from sinew.core.motion.io import stock

from .....body_links import replace_link
from ....body.figures import person


@pytest.fixture(scope="module")
def known(town, body) -> ControlGraph:
    """The town with feedback and open-loop corrections of random numbers."""
    motions, structure, track = town
    rng, features = np.random.default_rng(1), Features(body)
    policies = zero_policies(rng.normal(size=(structure.count, 18)), len(features.action_dofs))
    parts = {name: rng.normal(size=getattr(policies, name).shape) for name in ("gains", "actions")}
    track = Track(body, track.qpos, track.rates, track.targets + 0.1 * rng.normal(size=track.targets.shape))
    return ControlGraph(structure, track, replace(policies, **parts), parts["actions"], motions.transitions)


def laid_for(clip: Clip, *skills: Skill) -> tuple[GraphStructure, Track]:
    """A body for a clip, and skills of its skeleton as fragments."""
    its = build_body(clip.skeleton, clip=clip)[0]
    return convert_motion_graph(its, MotionGraph(skills or (Skill("walk", clip, "cycle", True),)))


@pytest.fixture(scope="module")
def lanky() -> tuple[GraphStructure, Track]:
    """The walk of a body whose legs are a quarter longer."""
    return laid_for(lengthen_legs(stock.load_stock("walk"), 1.25))


@pytest.fixture(scope="module")
def turned_bones() -> tuple[GraphStructure, Track]:
    """The walk of a body of the same measures, whose bones are all turned about themselves by angles of their own."""
    clip = stock.load_stock("walk")
    angles = np.random.default_rng(2).uniform(-3.0, 3.0, size=len(clip.skeleton))
    rolls = from_rotation_vector(angles[:, None] * np.array([0.0, 1.0, 0.0]))
    rest_pos, rest_quat = clip.skeleton.rest_world()
    heads = Clip.from_world(clip.skeleton, 1.0, rest_pos[None], rest_quat[None])  # any clip: only its parents count
    still = Clip.from_world(heads.skeleton, 1.0, rest_pos[None], multiply(rest_quat, rolls)[None])
    bones = Skeleton(
        clip.skeleton.names,
        clip.skeleton.parents,
        still.local_pos[0],
        still.local_quat_wxyz[0],
        clip.skeleton.lengths,
    )
    pos, quat = clip.world()
    return laid_for(Clip.from_world(bones, clip.fps, pos, multiply(quat, rolls), "walk"))


def test_a_graph_of_the_same_fragments_is_itself(known):
    again = align_fragments(known, known.structure)
    for part in ("track", "policies"):
        for name in ("qpos", "targets") if part == "track" else ("gains", "states", "actions", "spreads"):
            assert np.array_equal(getattr(getattr(again, part), name), getattr(getattr(known, part), name))


def test_of_a_graph_with_more_skills_those_are_taken_that_are_wanted(known, body, stock_skill):
    structure, _ = convert_motion_graph(body, MotionGraph((stock_skill("run"), stock_skill("walk"))))
    some = align_fragments(known, structure)
    for name in ("run", "walk"):
        ours, theirs = structure.chain(name), known.structure.chain(name)
        assert ours.first != theirs.first
        gains = some.policies.gains[list(ours.fragments)]
        assert np.array_equal(gains, known.policies.gains[list(theirs.fragments)])


@pytest.mark.parametrize("count", [10, 14])
def test_a_walk_that_takes_a_little_longer_is_the_same_walk_phase_by_phase(known, count):
    chain = replace(known.structure.chain("walk"), count=count, touch=2)
    structure = GraphStructure((chain,), tuple((after,) for after in [*range(1, count), 0]))
    theirs = known.structure.chain("walk")
    found = [
        next(f for f in theirs.fragments if np.array_equal(gains, known.policies.gains[f]))
        for gains in align_fragments(known, structure).policies.gains
    ]
    assert found[2] == theirs.first + theirs.touch  # where the left foot comes down
    off = (np.array(found) - theirs.touch) / theirs.count - (np.arange(count) - 2) / count
    assert np.abs((off + 0.5) % 1.0 - 0.5).max() < 1.0 / theirs.count
    # The other half of a gait is still the mirror image of the first.
    assert (np.diff(np.array(found).reshape(2, -1), axis=0) % theirs.count == theirs.count // 2).all()


def test_another_body_keeps_its_poses_and_aims_as_far_ahead_as_the_known_one(known, lanky):
    structure, track = lanky
    begun = retarget_track(known, structure, track)
    assert np.array_equal(begun.qpos, track.qpos) and np.array_equal(begun.rates, track.rates)
    count = structure.count
    theirs = known.track.targets[:count] - hold_pose_targets(known.body, known.track.qpos[:count, 1:])
    ours = begun.targets - hold_pose_targets(track.body, track.qpos[:, 1:])
    assert ours == pytest.approx(theirs, abs=1e-9) and np.abs(theirs).max() > 0.1


def deviations(features: Features, rng: np.random.Generator, size: float, mass: float) -> np.ndarray:
    """(18,) a deviation of a body's state, in what it is for a body of another size and mass: metres, m/s, kg m²/s."""
    lengths = np.array([0.0] * 2 + [1.0] * 4 + [0.5] * 3 + [1.0] * 6 + [1.5] * 3)
    masses = np.array([0.0] * 15 + [1.0] * 3)
    return rng.normal(size=18) * features.scale * size**lengths * mass**masses


def test_a_body_of_twice_the_size_does_the_same_about_a_deviation_twice_as_large(known, body):
    clip = stock.load_stock("walk")
    bones = clip.skeleton
    large = Skeleton(bones.names, bones.parents, 2.0 * bones.rest_pos, bones.rest_quat_wxyz, 2.0 * bones.lengths)
    giant = build_body(large, clip=Clip(large, clip.fps, 2.0 * clip.local_pos, clip.local_quat_wxyz))[0]
    states = np.random.default_rng(3).normal(size=(known.structure.count, 18))
    policies = retarget_policies(known, zero_policies(states, 11), Features(giant))
    assert np.array_equal(policies.states, states)
    for fragment in (0, 17, 60):
        here, there = (
            deviations(known.features, np.random.default_rng(fragment), *size)
            for size in ((1.0, 1.0), (2.0, giant.mass / body.mass))
        )
        where = np.array([fragment])
        wanted = known.policies.unclipped_actions(where, known.policies.states[where] + here)
        assert policies.unclipped_actions(where, states[where] + there) == pytest.approx(wanted, abs=1e-6)


def moved_links(body, features: Features, action: np.ndarray) -> np.ndarray:
    """(M, 4) how an action turns the links that it moves, in the world, while the body stands and faces along +X."""
    poses = np.zeros((2, body.nq))
    poses[:, 3:7] = upright_rotation(body)
    offsets = np.stack([np.zeros(body.nu), features.target_offsets(action)])
    for index, link in enumerate(body.links[1:], start=1):
        own = offsets[:, body.qvel_starts[index] - 6 : body.qvel_starts[index + 1] - 6]
        values = own if link.joint.kind == "hinge" else from_rotation_vector(own)
        poses[:, body.qpos_starts[index] : body.qpos_starts[index + 1]] = values
    still, moved = link_transforms(body, poses)[1][:, list(features.actuated_links)]
    return multiply(moved, conjugate(still))


def test_the_same_action_turns_the_same_limbs_the_same_way_whatever_way_bones_are_turned(known, turned_bones):
    structure, track = turned_bones
    features, begun = Features(track.body), align_fragments(known, structure)
    policies = retarget_policies(begun, zero_policies(np.zeros((structure.count, 18)), 11), features)
    plain = moved_links(track.body, features, 0.2 * begun.policies.actions[0])
    for fragment in range(structure.count):
        wanted = moved_links(known.body, known.features, 0.2 * begun.policies.actions[fragment])
        found = moved_links(track.body, features, 0.2 * policies.actions[fragment])
        assert np.degrees(angle_between(found, wanted)).max() < 0.5
    wanted = moved_links(known.body, known.features, 0.2 * begun.policies.actions[0])
    assert np.degrees(angle_between(plain, wanted)).max() > 20.0  # the numbers themselves would mean something else


def test_another_armature_moves_its_own_waist_hips_and_knees_alike(known):
    """It faces elsewhere at rest, and has a spine of three bones where the known body has one."""
    other = build_body(person())[0]
    features = Features(other)
    assert [other.links[link].role for link in features.actuated_links][:1] == ["spine"]
    policies = retarget_policies(
        known, zero_policies(np.zeros((known.structure.count, 18)), len(features.action_dofs)), features
    )
    for act in range(11):
        action = 0.3 * np.eye(11)[act]
        nudged = replace(known, policies=replace(known.policies, actions=np.tile(action, (known.structure.count, 1))))
        found = retarget_policies(nudged, policies, features).actions[0]
        turned, wanted = (
            to_rotation_vector(moved_links(its, sees, asked))
            for its, sees, asked in ((other, features, found), (known.body, known.features, action))
        )
        # About the same axes: knees bend about axes of their own, which differ a little.
        assert np.sum(turned * wanted) > 0.95 * np.sum(wanted**2)


def test_on_longer_legs_a_learned_walk_gets_further_than_without_what_was_learned(walker, lanky, arena_of):
    """Nothing is learned for the new body yet: its own motion with its own servo targets falls within two steps."""
    structure, track = lanky
    copies = 12
    follows = np.array([after[0] for after in structure.successors])

    def lasted(some: Track, policies) -> float:
        starts = np.arange(copies) % structure.count
        return float(np.mean(survived_fragments(arena_of(some, copies), policies, starts, lambda f: follows[f], 40)))

    start = arena_of(track, copies).start_observations
    begun = retarget_track(walker, structure, track)
    policies = retarget_policies(walker, zero_policies(start, 11), Features(track.body))
    warm, cold = lasted(begun, policies), lasted(track, zero_policies(start, 11))
    assert warm > 1.5 * cold


def test_what_is_not_in_the_known_graph_is_named(known, body, stock_skill):
    structure, _ = convert_motion_graph(body, MotionGraph((stock_skill("dance_a"),)))
    with pytest.raises(GraphError, match="has no 'dance_a' that is learned as here") as caught:
        align_fragments(known, structure)
    assert "same skills" in caught.value.hint


def test_another_motion_of_the_same_name_is_refused(known):
    chain = replace(known.structure.chain("walk"), count=40)
    with pytest.raises(GraphError, match="'walk' lasts 40 fragments, but 12 in the graph to begin with"):
        align_fragments(known, GraphStructure((chain,), tuple((after,) for after in [*range(1, 40), 0])))


def test_a_body_with_other_limbs_is_refused(known, body):
    kneeless = body
    for index, link in enumerate(body.links):
        if link.role == "shin":
            kneeless = replace_link(kneeless, index, replace(link, role="tail", side=""))
    with pytest.raises(GraphError, match="other limbs") as caught:
        retarget_policies(known, zero_policies(np.zeros((known.structure.count, 18)), 9), Features(kneeless))
    assert "without a graph to begin with" in caught.value.hint
