# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from sinew.core.control.bounds.bounds import Bounds, bound_names
from sinew.core.control.bounds.environment import BROKEN, OVER, TIME, EpisodeRules
from sinew.core.control.bounds.observations import Frames, begun, course_seen, placed, see
from sinew.core.control.bounds.rewards import Imitation
from sinew.core.control.bounds.starts import StartRules
from sinew.core.errors import BoundsError

COPIES = 8


def states_of(environment, qpos, qvel, frames):
    states = environment.world.state_of(*placed(environment.course, qpos, qvel, frames))
    return states, environment.world.sense(states)


def test_on_the_course_nothing_is_violated_and_nothing_is_to_be_corrected(environment_of):
    environment = environment_of()
    course = environment.course
    frames = begun(np.arange(COPIES))
    states, rows = states_of(environment, course.qpos[:COPIES], course.rates[:COPIES], frames)
    environment.age = np.zeros(COPIES)
    seen = see(course, environment.world, states, rows, frames)
    assert (environment.why(seen) == -1).all()
    assert np.abs(seen.deviations).max() < 1e-6
    # Physics and the course agree on what is seen, so an episode's first observation needs no physics.
    np.testing.assert_allclose(seen.observed(), course_seen(course, frames.at).observed(), atol=1e-3)
    assert Imitation().worth(seen) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("name", ["com x", "com z", "root", "joint thigh.L", "joint shin.R", "effector foot.R"])
def test_what_leaves_its_bound_is_named(body, environment_of, name):
    names = bound_names(body)
    widths = np.full((1, len(names)), np.inf)
    widths[0, names.index(name)] = 0.3
    environment = environment_of(bounds=Bounds(names, widths))
    course, at = environment.course, np.full(COPIES, 3)
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
    frames = begun(at)
    states, rows = states_of(environment, course.space.integrate(course.qpos[at], by), course.rates[at], frames)
    environment.age = np.zeros(COPIES)
    seen = see(course, environment.world, states, rows, frames)
    deviation = seen.deviations[:, names.index(name)]
    why = environment.why(seen)
    np.testing.assert_array_equal(why, np.where(deviation > 0.3, names.index(name), -1))
    assert why[0] == -1
    assert why[-1] == names.index(name)
    if not name.startswith("effector"):
        np.testing.assert_allclose(deviation, sizes, atol=1e-6)


def test_a_policy_does_not_see_place_or_direction(environment_of):
    environment = environment_of()
    course, rng = environment.course, np.random.default_rng(1)
    at = rng.integers(course.steps, size=COPIES)
    qpos = course.space.integrate(course.qpos[at], 0.1 * rng.normal(size=(COPIES, course.body.nv)))
    qvel = course.rates[at] + rng.normal(size=(COPIES, course.body.nv))
    here = begun(at)
    there = Frames(at, rng.uniform(-3.0, 3.0, COPIES), 20.0 * rng.normal(size=(COPIES, 2)))
    first, second = (
        see(course, environment.world, *states_of(environment, qpos, qvel, frames), frames) for frames in (here, there)
    )
    np.testing.assert_allclose(first.deviations, second.deviations, atol=1e-9)
    np.testing.assert_allclose(first.observed(), second.observed(), atol=1e-4)


@pytest.mark.parametrize("name", ["walk", "cartwheel"])
def test_a_cycle_goes_on_from_where_it_ended(environment_of, name):
    environment = environment_of(name)
    course, frames = environment.course, begun(np.arange(COPIES))
    for _ in range(3 * course.steps):
        frames = frames.advanced(course)
    np.testing.assert_array_equal(frames.at, np.arange(COPIES))
    np.testing.assert_allclose(frames.heading, 3.0 * course.turn)
    ends, _ = placed(course, course.qpos[:COPIES], course.rates[:COPIES], frames)
    assert np.linalg.norm(ends[0, :2] - course.qpos[0, :2]) > 1.0
    # Where the second cycle ends is where the third begins.
    before = Frames(np.full(1, course.steps), frames.heading[:1] - course.turn, frames.place[:1] * 0.0)
    after = before.advanced(course)
    joined = [placed(course, course.qpos[[one]], course.rates[[one]], f)[0] for one, f in ((-1, before), (0, after))]
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
    environment = environment_of("kick", rules=EpisodeRules(starts=StartRules(False, False)))
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
    environment = environment_of(rules=EpisodeRules(longest_s=0.2))
    environment.reset()
    cut = 0
    for _ in range(12):
        done = environment.step(np.zeros((COPIES, environment.action_size)))
        cut += sum(environment.end_reasons[why] == TIME for why in done.end_reasons[done.truncated])
    assert cut >= COPIES


def test_put_back_it_goes_on_bit_for_bit(environment_of):
    rules = EpisodeRules(epoch=4)
    first, second = environment_of(seed=5, rules=rules), environment_of(seed=6, rules=rules)
    first.start()
    second.start()
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
    np.testing.assert_array_equal(first.starts.returns, second.starts.returns)


def test_bounds_of_another_course_are_refused(environment_of, course_of):
    environment = environment_of()
    with pytest.raises(BoundsError, match="not those of 39 frames"):
        type(environment)(
            environment.course, np.ones((5, 5)), environment.world, np.random.default_rng(0), rules=EpisodeRules()
        )


def test_imitation_falls_with_distance(environment_of):
    course = environment_of().course
    at = np.zeros(3, dtype=np.int64)
    seen = course_seen(course, at)
    by = np.zeros((3, course.body.nv))
    by[1, 6:], by[2, 6:] = 0.05, 0.3
    moved = course.space.integrate(seen.qpos, by)
    worth = Imitation().worth(type(seen)(course, at, moved, seen.qvel, seen.com, seen.com_velocity, seen.tips, None))
    assert worth[0] == pytest.approx(1.0)
    assert 1.0 > worth[1] > worth[2] > 0.0
