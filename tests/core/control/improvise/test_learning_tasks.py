# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks in the latent space: what a policy may change, that training resumes bit for bit, and playing together."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from directed_walks import make_stored_walks
from little_improvisers import make_improviser, make_policy
from sinew.core.control.improvise.bake_method import is_inside, place_starts, require_free, require_same_size
from sinew.core.control.improvise.learned_file import TaskPolicy, improviser_from_content
from sinew.core.control.improvise.playing import RandomPlayer, TaskPlayer, TogetherPlay
from sinew.core.control.improvise.task_acting import act_in_latent_space, count_actions
from sinew.core.control.improvise.task_training import PPO, TaskTraining, TaskTrainingConfig
from sinew.core.control.tasks.point_goal import PointGoal
from sinew.core.control.tracking.bone_order import put_on_body, take_back
from sinew.core.errors import BadFile, JobError
from sinew.core.motion import Clip, Skeleton, Take
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Obstacle, Stage

CONFIG = TaskTrainingConfig(8, 1000, 10_000, 0.2, replace(PPO, width=16, critic_width=16, threads=1, horizon=8))


@pytest.fixture(scope="module")
def stored():
    return make_stored_walks(("stand",))


@pytest.fixture(scope="module")
def improviser(stored):
    return make_improviser(stored.body, stored.library.clip(0))


def task_of(improviser, name="point_goal", sigma=0.1):
    size = improviser.model.state_size + 3
    out = count_actions(improviser.model, improviser.body.nu, sigma)
    return TaskPolicy(name, make_policy(size, out, np.ones(out)), sigma, {}, {"seconds": 60.0})


def test_the_helper_stays_within_its_range_and_none_leaves_the_decoder_alone(improviser):
    model, nu = improviser.model, improviser.body.nu
    rows = np.zeros((2, model.state_size), np.float32)
    actions = np.zeros((2, count_actions(model, nu, 0.2)))
    plain = act_in_latent_space(model, rows, actions[:, : model.latent_size], 0.0)
    np.testing.assert_allclose(act_in_latent_space(model, rows, actions, 0.2), plain)
    actions[:, model.latent_size :] = 100.0
    np.testing.assert_allclose(act_in_latent_space(model, rows, actions, 0.2) - plain, 0.2)
    assert count_actions(model, nu, 0.0) == model.latent_size


def test_training_a_task_goes_on_bit_for_bit(improviser):
    engine = engines.get_engine("mujoco")
    with TaskTraining(improviser, PointGoal, engine, CONFIG, 1) as whole:
        whole.advance()
        kept = {name: array.copy() for name, array in whole.state().items()}
        whole.advance()
        with TaskTraining(improviser, PointGoal, engine, CONFIG, 1) as other:
            other.restore(kept)
            other.advance()
            for name, array in whole.state().items():
                assert np.array_equal(array, other.state()[name]), name
        assert whole.trainer.policy.action_size == improviser.model.latent_size + improviser.body.nu


def test_a_file_with_a_task_comes_back_and_one_for_another_body_does_not(improviser):
    arrays, meta = replace(improviser, task=task_of(improviser)).to_content()
    back = improviser_from_content(arrays, meta, "it")
    assert back.task.name == "point_goal" and back.task.sigma_rad == 0.1
    odd = {**meta, "task": {**meta["task"], "sigma_rad": 0.0}}
    with pytest.raises(BadFile, match="for another body"):
        improviser_from_content(arrays, odd, "it")
    with pytest.raises(BadFile, match="what it sees of 'joystick' is not what"):
        improviser_from_content(arrays, {**meta, "task": {**meta["task"], "name": "joystick"}}, "it")
    with pytest.raises(BadFile, match="There is no task 'fly'"):
        improviser_from_content(arrays, {**meta, "task": {**meta["task"], "name": "fly"}}, "it")


def test_characters_play_together_where_they_stand_and_the_same_seed_plays_the_same(stored, improviser):
    clip = stored.library.clip(0)
    away = Clip(clip.skeleton, clip.fps, clip.local_pos + [2.0, 1.0, 0.0], clip.local_quat_wxyz, "away")
    qpos, qvel = place_starts(improviser, (clip, away), np.random.default_rng(0))
    assert np.linalg.norm(qpos[1, :2] - qpos[0, :2]) == pytest.approx(np.hypot(2.0, 1.0), abs=0.01)
    points = np.array([[1.0, 0.0]])
    found = []
    for _ in range(2):
        players = [TaskPlayer(improviser, task_of(improviser), points, 0.1), RandomPlayer(improviser, 1.0)]
        stage = Stage((Character(improviser.body), Character(improviser.body)))
        with closing(engines.get_engine("mujoco").compile(stage, 1)) as world:
            play = TogetherPlay(improviser, world, players, qpos, qvel, 3)
            found.append(play.run(1.0))
    first, second = found
    assert len(first.film) == 61 and np.array_equal(first.film.qpos, second.film.qpos)
    assert np.abs(first.film.qpos[0, :2] - qpos[0, :2]).max() < 1e-9


def test_a_fall_that_nothing_helps_against_is_tried_again_and_then_told(stored, improviser):
    qpos, qvel = place_starts(improviser, (stored.library.clip(0),), np.random.default_rng(0))
    qvel = qvel + np.eye(1, qvel.shape[1], 0) * 9.0  # thrown forwards
    with closing(engines.get_engine("mujoco").compile(Stage((Character(improviser.body),)), 1)) as world:
        play = TogetherPlay(improviser, world, [RandomPlayer(improviser, 1.0)], qpos, qvel, 3)
        done = play.run(2.0)
    assert done.fell_at_s[0] is not None and done.falls > 3


def test_a_goal_inside_an_obstacle_is_refused():
    box = np.array([[x, y, z] for x in (1.0, 2.0) for y in (-1.0, 1.0) for z in (0.0, 2.0)])
    stage = Stage((), obstacles=(Obstacle("Pillar", (box,)),))
    with pytest.raises(JobError, match=r"1\.50, 0\.00 is inside 'Pillar'"):
        require_free(np.array([[0.0, 0.0], [1.5, 0.0]]), stage)
    require_free(np.array([[0.0, 0.0], [2.5, 0.0]]), stage)
    require_free(np.array([[1.5, 0.0]]), Stage((), obstacles=(Obstacle("Step", (box * [1.0, 1.0, 0.05],)),)))
    assert is_inside(np.zeros(2), np.array([[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]]))


def test_a_character_of_another_size_is_refused(stored):
    clip = stored.library.clip(0)
    require_same_size(stored.body, clip)
    skeleton = replace(clip.skeleton, rest_pos=1.3 * clip.skeleton.rest_pos)
    giant = Clip(skeleton, clip.fps, clip.local_pos, clip.local_quat_wxyz, "Giant")
    with pytest.raises(JobError, match="'Giant' has another body than what improvises"):
        require_same_size(stored.body, giant)


def test_bones_in_another_order_are_sorted_and_other_bones_refused(stored):
    clip, skeleton = stored.library.clip(0), stored.body.skeleton
    parents = skeleton.parents

    def depth(bone):
        return 0 if parents[bone] < 0 else 1 + depth(parents[bone])

    order = sorted(range(len(skeleton)), key=lambda bone: (depth(bone), -bone))  # parents still come first
    parts = (skeleton.rest_pos[order], skeleton.rest_quat_wxyz[order], skeleton.lengths[order])
    over = [order.index(parents[bone]) if parents[bone] >= 0 else -1 for bone in order]
    other = Skeleton(tuple(skeleton.names[bone] for bone in order), np.array(over), *parts)
    turned = Clip(other, clip.fps, clip.local_pos[:, order], clip.local_quat_wxyz[:, order], "x")
    back = put_on_body(stored.body, turned)
    assert other.names != skeleton.names and back.skeleton.names == skeleton.names
    assert np.array_equal(back.local_quat_wxyz, clip.local_quat_wxyz)
    assert np.array_equal(take_back(Take(back), other).motion.local_pos, turned.local_pos)
    renamed = replace(skeleton, names=("hips", *skeleton.names[1:]))
    with pytest.raises(JobError, match="has another skeleton"):
        put_on_body(stored.body, Clip(renamed, clip.fps, clip.local_pos, clip.local_quat_wxyz, "x"))
