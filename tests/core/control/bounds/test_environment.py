# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from sinew.core.control.bounds.bounds import Bounds, bound_names
from sinew.core.control.bounds.environment import BROKEN, OVER, TIME, EpisodeConfig
from sinew.core.control.bounds.initial_states import InitialStateConfig
from sinew.core.control.bounds.observations import (
    ReferencePlacement,
    measure_kinematics,
    place_at_origin,
    reference_kinematics,
    transform_to_world,
)
from sinew.core.control.bounds.rewards import ImitationReward
from sinew.core.errors import BoundsError

COPIES = 8


def states_of(environment, qpos, qvel, frames):
    states = environment.world.state_of(*transform_to_world(environment.reference, qpos, qvel, frames))
    return states, environment.world.sense(states)


def test_on_the_course_nothing_is_violated_and_nothing_is_to_be_corrected(environment_of):
    environment = environment_of()
    reference = environment.reference
    frames = place_at_origin(np.arange(COPIES))
    states, rows = states_of(environment, reference.qpos[:COPIES], reference.qvel[:COPIES], frames)
    environment.age = np.zeros(COPIES)
    seen = measure_kinematics(reference, environment.world, states, rows, frames)
    assert (environment.find_end_reasons(seen) == -1).all()
    assert np.abs(seen.deviations).max() < 1e-6
    # Physics and the course agree on what is seen, so an episode's first observation needs no physics.
    np.testing.assert_allclose(
        seen.observations(), reference_kinematics(reference, frames.at).observations(), atol=1e-3
    )
    assert ImitationReward().evaluate(seen) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("name", ["com x", "com z", "root", "joint thigh.L", "joint shin.R", "effector foot.R"])
def test_what_leaves_its_bound_is_named(body, environment_of, name):
    names = bound_names(body)
    widths = np.full((1, len(names)), np.inf)
    widths[0, names.index(name)] = 0.3
    environment = environment_of(bounds=Bounds(names, widths))
    reference, at = environment.reference, np.full(COPIES, 3)
    by = np.zeros((COPIES, body.nv))
    sizes = np.array([0.0, 0.1, 0.2, 0.28, 0.32, 0.4, 0.5, 0.6])
    if name.startswith("com"):
        by[:, "xyz".index(name[-1])] = sizes
    elif name == "root":
        by[:, 4] = sizes
    else:
        link = next(i for i, one in enumerate(body.links) if one.bone == name.split()[1])
        link = body.links[body.links[link].parent].parent if name.startswith("effector") else link
        sizes = 2.0 * sizes if name.startswith("effector") else sizes  # a leg is longer than half a metre
        by[:, body.qvel_starts[link]] = sizes
    frames = place_at_origin(at)
    states, rows = states_of(
        environment, reference.pose_space.integrate(reference.qpos[at], by), reference.qvel[at], frames
    )
    environment.age = np.zeros(COPIES)
    seen = measure_kinematics(reference, environment.world, states, rows, frames)
    deviation = seen.deviations[:, names.index(name)]
    why = environment.find_end_reasons(seen)
    np.testing.assert_array_equal(why, np.where(deviation > 0.3, names.index(name), -1))
    assert why[0] == -1
    assert why[-1] == names.index(name)
    if not name.startswith("effector"):
        np.testing.assert_allclose(deviation, sizes, atol=1e-6)


def test_a_policy_does_not_see_place_or_direction(environment_of):
    environment = environment_of()
    reference, rng = environment.reference, np.random.default_rng(1)
    at = rng.integers(reference.steps, size=COPIES)
    qpos = reference.pose_space.integrate(reference.qpos[at], 0.1 * rng.normal(size=(COPIES, reference.body.nv)))
    qvel = reference.qvel[at] + rng.normal(size=(COPIES, reference.body.nv))
    here = place_at_origin(at)
    there = ReferencePlacement(at, rng.uniform(-3.0, 3.0, COPIES), 20.0 * rng.normal(size=(COPIES, 2)))
    first, second = (
        measure_kinematics(reference, environment.world, *states_of(environment, qpos, qvel, frames), frames)
        for frames in (here, there)
    )
    np.testing.assert_allclose(first.deviations, second.deviations, atol=1e-9)
    np.testing.assert_allclose(first.observations(), second.observations(), atol=1e-4)


@pytest.mark.parametrize("name", ["walk", "cartwheel"])
def test_a_cycle_goes_on_from_where_it_ended(environment_of, name):
    environment = environment_of(name)
    reference, frames = environment.reference, place_at_origin(np.arange(COPIES))
    for _ in range(3 * reference.steps):
        frames = frames.advance(reference)
    np.testing.assert_array_equal(frames.at, np.arange(COPIES))
    np.testing.assert_allclose(frames.heading, 3.0 * reference.cycle_turn)
    ends, _ = transform_to_world(reference, reference.qpos[:COPIES], reference.qvel[:COPIES], frames)
    assert np.linalg.norm(ends[0, :2] - reference.qpos[0, :2]) > 1.0
    # Where the second cycle ends is where the third begins.
    before = ReferencePlacement(
        np.full(1, reference.steps), frames.heading[:1] - reference.cycle_turn, frames.place[:1] * 0.0
    )
    after = before.advance(reference)
    joined = [
        transform_to_world(reference, reference.qpos[[one]], reference.qvel[[one]], f)[0]
        for one, f in ((-1, before), (0, after))
    ]
    np.testing.assert_allclose(joined[0][0, :2], joined[1][0, :2], atol=1e-6)


def test_who_blows_up_begins_anew_and_the_others_do_not_notice(environment_of):
    environment = environment_of()
    environment.reset()
    environment.states[3] = np.nan
    done = environment.step(np.zeros((COPIES, environment.action_size)))
    assert environment.end_reasons[done.end_reasons[3]] == BROKEN
    assert done.terminated[3]
    assert done.rewards[3] == 0.0
    assert (done.end_reasons[np.arange(COPIES) != 3] == -1).all()
    assert np.isfinite(done.observations).all()
    assert np.isfinite(done.final_observations).all()
    assert np.isfinite(environment.states).all()


def test_falling_ends_an_episode_for_good_and_earns_nothing(environment_of):
    environment = environment_of(copies=16)
    environment.reset()
    stumble = np.full((16, environment.action_size), 1.0)
    violated = 0
    for _ in range(20):
        done = environment.step(stumble)
        ended = done.end_reasons >= 0
        np.testing.assert_array_equal(done.terminated | done.truncated, ended)
        np.testing.assert_array_equal(done.rewards, np.where(done.terminated, 0.0, 1.0))
        np.testing.assert_array_equal(done.observations[~ended], done.final_observations[~ended])
        violated += int(np.sum(done.terminated))
    assert violated >= 16


def test_what_is_over_is_cut_and_could_have_gone_on(environment_of):
    environment = environment_of("kick", config=EpisodeConfig(initial_states=InitialStateConfig(False, False)))
    environment.reset()
    ends = dict.fromkeys((OVER, TIME), 0)
    for _ in range(60):
        done = environment.step(np.zeros((COPIES, environment.action_size)))
        for copy in np.flatnonzero(done.truncated):
            ends[environment.end_reasons[done.end_reasons[copy]]] += 1
            assert not done.terminated[copy]
            assert done.rewards[copy] == 1.0
    assert ends[OVER] > 0
    assert ends[TIME] == 0


def test_an_episode_that_lasts_long_enough_is_cut(environment_of):
    environment = environment_of(config=EpisodeConfig(time_limit_s=0.2))
    environment.reset()
    cut = 0
    for _ in range(12):
        done = environment.step(np.zeros((COPIES, environment.action_size)))
        cut += sum(environment.end_reasons[why] == TIME for why in done.end_reasons[done.truncated])
    assert cut >= COPIES


def test_put_back_it_goes_on_bit_for_bit(environment_of):
    config = EpisodeConfig(adaptation_interval=4)
    first, second = environment_of(seed=5, config=config), environment_of(seed=6, config=config)
    first.reset()
    second.reset()
    rng = np.random.default_rng(0)
    actions = rng.normal(size=(30, COPIES, first.action_size)) * 0.5
    for some in actions[:10]:
        first.step(some)
    kept = first.state()
    assert all(array.dtype != object for array in kept.values())
    seen = [first.step(some) for some in actions[10:]]
    second.restore(kept)
    again = [second.step(some) for some in actions[10:]]
    assert any(one.terminated.any() for one in seen)
    for one, other in zip(seen, again, strict=True):
        np.testing.assert_array_equal(one.observations, other.observations)
        np.testing.assert_array_equal(one.end_reasons, other.end_reasons)
    np.testing.assert_array_equal(first.initial_states.returns, second.initial_states.returns)


def test_bounds_of_another_course_are_refused(environment_of, reference_of):
    environment = environment_of()
    with pytest.raises(BoundsError, match="not those of 39 frames"):
        type(environment)(
            environment.reference, np.ones((5, 5)), environment.world, np.random.default_rng(0), config=EpisodeConfig()
        )


def test_imitation_falls_with_distance(environment_of):
    reference = environment_of().reference
    at = np.zeros(3, dtype=np.int64)
    seen = reference_kinematics(reference, at)
    by = np.zeros((3, reference.body.nv))
    by[1, 6:], by[2, 6:] = 0.05, 0.3
    moved = reference.pose_space.integrate(seen.qpos, by)
    worth = ImitationReward().evaluate(
        type(seen)(reference, at, moved, seen.qvel, seen.com, seen.com_velocity, seen.effector_pos, None)
    )
    assert worth[0] == pytest.approx(1.0)
    assert 1.0 > worth[1] > worth[2] > 0.0
