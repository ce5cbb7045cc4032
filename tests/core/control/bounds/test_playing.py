# SPDX-License-Identifier: GPL-3.0-or-later
from contextlib import closing

import numpy as np
import pytest

from sinew.core.control.bounds.bounds import bounds_of_preset, sample_widths
from sinew.core.control.bounds.endurance import measure_policy_endurance
from sinew.core.control.bounds.observations import measure_kinematics, place_at_origin, transform_to_world
from sinew.core.control.bounds.playback import play_policy, relocate_reference, require_length
from sinew.core.control.tracking.facing import rotate_about_z
from sinew.core.errors import BoundsError
from sinew.core.motion.io import stock
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Push, Stage


def nothing(body):
    return lambda observed: np.zeros((len(observed), body.nu))


def widths_of(body, reference, name, preset="locomotion"):
    return sample_widths(bounds_of_preset(body, preset), reference, stock.load_stock(name))


def test_without_corrections_a_walk_does_not_last(body, walk, world_of):
    found = measure_policy_endurance(walk, widths_of(body, walk, "walk"), nothing(body), world_of(8), 20.0)
    assert not found.whole
    assert (found.requested_steps == 600).all()
    assert 10 < found.survived_steps.mean() < 200
    assert found.share == pytest.approx(found.survived_steps.mean() / 600)
    assert all(found.violated)


def test_what_has_an_end_is_asked_for_no_longer(body, reference_of, world_of):
    kick = reference_of("kick")
    widths = np.full_like(widths_of(body, kick, "kick"), 100.0)
    found = measure_policy_endurance(kick, widths, nothing(body), world_of(8), 20.0)
    assert found.whole
    assert (found.at == 0).all()
    assert (found.requested_steps == kick.steps).all()


def test_what_has_an_end_is_begun_a_little_differently_each_time(body, reference_of, world_of):
    kick, seen = reference_of("kick"), []

    def watching(observed):
        seen.append(observed)
        return np.zeros((len(observed), body.nu))

    measure_policy_endurance(kick, np.full_like(widths_of(body, kick, "kick"), 100.0), watching, world_of(8), 0.1)
    first = seen[0]
    assert len(np.unique(first, axis=0)) == 8
    np.testing.assert_allclose(first[0, 8:], 0.0, atol=0.05)


def test_nobody_is_asked_for_more_than_there_is(body, reference_of, walk):
    require_length(walk, 60.0)
    kick = reference_of("kick")
    require_length(kick, kick.duration_s)
    with pytest.raises(BoundsError, match=r"60 s were asked for.*no cycle"):
        require_length(kick, 60.0)


def test_a_film_begins_as_the_source_stands_and_lasts_as_long_as_asked(body, walk, world_of):
    clip = stock.load_stock("walk")
    done = play_policy(walk, widths_of(body, walk, "walk"), nothing(body), world_of(1), clip, 0.5)
    assert len(done.film) == 31
    np.testing.assert_allclose(done.film.qpos[0, :2], walk.qpos[0, :2], atol=1e-9)
    assert done.film.rows.time_s[0, -1] == pytest.approx(0.5)
    np.testing.assert_allclose(done.subject.wanted_pos[0, 0], walk.qpos[0, :3], atol=1e-9)
    assert np.linalg.norm(done.film.qpos[-1, :2] - done.film.qpos[0, :2]) > 0.3


def test_a_push_on_the_stage_is_felt(body, walk):
    clip, widths = stock.load_stock("walk"), widths_of(body, walk, "walk")
    ends = []
    for newtons in (0.0, 300.0):
        push = Push(0, "chest", np.array([newtons, 0.0, 0.0]), 0.1, 0.1)
        stage = Stage((Character(body),), pushes=(push,))
        with closing(engines.get_engine("mujoco").compile(stage, 1)) as world:
            ends.append(play_policy(walk, widths, nothing(body), world, clip, 0.5).film.rows.com[0, -1, 0])
    assert ends[1][0] - ends[0][0] > 0.1


def test_the_course_follows_who_is_pushed_aside(body, walk, world_of):
    world, widths = world_of(8), widths_of(body, walk, "walk")
    at = np.arange(8)
    frames = place_at_origin(at)
    qpos, qvel = transform_to_world(walk, walk.qpos[at], walk.qvel[at], frames)
    qpos[4:, 0] += 1.0
    qpos[:, :3] = rotate_about_z(np.where(at % 2, 0.8, 0.0), qpos[:, :3])
    states = world.state_of(qpos, qvel)
    seen = measure_kinematics(walk, world, states, world.sense(states), frames)
    moved = relocate_reference(walk, widths, seen, frames)
    np.testing.assert_array_equal(moved.place[0], 0.0)
    assert moved.heading[0] == 0.0
    after = measure_kinematics(walk, world, states, world.sense(states), moved)
    assert (after.deviations[:, :2] <= 0.15 + 1e-6).all()
    assert seen.deviations[4:, 0].min() > 0.3
