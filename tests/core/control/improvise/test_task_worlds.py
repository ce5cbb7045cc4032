# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks in worlds of their own: crowds that share one, terrains that are stood on, bags that are hit; and steadying."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from directed_walks import make_stored_walks
from little_improvisers import make_improviser, make_policy
from sinew.core.control.improvise import steadying
from sinew.core.control.improvise.learned_file import improviser_from_content
from sinew.core.control.improvise.playing import RandomPlayer, TogetherPlay
from sinew.core.control.improvise.steadying import SteadyingConfig, SteadyingTraining
from sinew.core.control.improvise.task_environment import TaskEnvironment
from sinew.core.control.tasks.tasks_table import get_task
from sinew.core.control.tasks.terrain import peaks
from sinew.core.errors import BadFile
from sinew.core.sim import engines

ENGINE = engines.get_engine("mujoco")


@pytest.fixture(scope="module")
def improviser():
    stored = make_stored_walks(("stand",))
    return make_improviser(stored.body, stored.library.clip(0))


def environment_of(improviser, name, world, seed=1):
    kind = get_task(name)
    task = kind(world.copies * kind.together, None, world.stage)
    return TaskEnvironment(improviser, task, world, np.random.default_rng(seed), 0.0)


def world_of(improviser, name, copies):
    return closing(ENGINE.compile(get_task(name).make_stage(improviser.body), copies, threads=1))


@pytest.mark.parametrize("name", ["circle", "terrain", "maze", "bag"])
def test_an_environment_of_any_world_goes_on_from_its_state(improviser, name):
    kind = get_task(name)
    with world_of(improviser, name, 2) as world:
        whole, other = (environment_of(improviser, name, world, seed) for seed in (1, 2))
        actions = np.zeros((whole.worlds, whole.action_size))
        assert whole.worlds == 2 * kind.together
        whole.step(actions)
        seen = other.restore(whole.state())
        np.testing.assert_array_equal(seen, whole._observe())
        one, two = whole.step(actions), other.step(actions)
        np.testing.assert_array_equal(one.observations, two.observations)
        assert np.isfinite(one.rewards).all() and one.rewards.shape == (whole.worlds,)


def test_who_falls_in_a_crowd_is_put_back_and_nobody_else_is_moved(improviser):
    with world_of(improviser, "circle", 1) as world:
        crowd = environment_of(improviser, "circle", world)
        crowd.age[:] = 0
        qpos, qvel = (values.reshape(8, -1).copy() for values in world.pose_of(crowd.states))
        qpos[3, 2:7] = (0.25, 1.0, 0.0, 0.0, 0.0)  # lies: its bones stand along Y
        crowd.states = world.replace_pose(crowd.states, qpos.reshape(1, -1), qvel.reshape(1, -1))
        result = crowd.step(np.zeros((8, crowd.action_size)))
        assert result.terminated.tolist() == [number == 3 for number in range(8)]
        after = world.pose_of(crowd.states)[0].reshape(8, -1)
        assert after[3, 2] > 0.6 and np.linalg.norm(after[3, :2]) == pytest.approx(5.0, abs=0.5)
        others = np.arange(8) != 3
        np.testing.assert_allclose(after[others, :2], qpos[others, :2], atol=0.1)
        assert (crowd.age == 1).all()  # all of a crowd end together


def test_on_a_hill_a_body_is_as_high_as_on_the_flat(improviser):
    with world_of(improviser, "peaks", 2) as world:
        hill = environment_of(improviser, "peaks", world)
        qpos = improviser.start_qpos[:1].repeat(2, axis=0)
        qpos[:, :2] = [*peaks()[:1], (29.0, 29.0)]  # on a top, and beside all hills
        qpos[0, 2] += 4.0
        hill.states = world.state_of(qpos, np.zeros((2, improviser.body.nv)))
        hill._read(world.sense(hill.states))
        np.testing.assert_allclose(hill.body.rows[0], hill.body.rows[1], atol=1e-3)
        assert hill.moment.root[0, 2] > 4.5 and not hill.step(np.zeros((2, hill.action_size))).terminated.any()


def test_a_take_on_a_hill_has_not_fallen(improviser):
    with world_of(improviser, "peaks", 1) as world:
        qpos = improviser.start_qpos[:1].copy()
        qpos[:, :2], qpos[:, 2] = peaks()[:1], qpos[:, 2] + 4.0
        play = TogetherPlay(
            improviser, world, [RandomPlayer(improviser, 1.0)], qpos, np.zeros((1, improviser.body.nv)), 3
        )
        done = play.run(0.3)
    assert done.fell_at_s == (None,) and done.falls == 0


def test_steadying_goes_on_bit_for_bit_and_only_moves_the_priors_means(improviser, monkeypatch):
    monkeypatch.setattr(steadying, "_COPIES", 2)
    monkeypatch.setattr(steadying, "_TEST_S", 0.3)
    config = SteadyingConfig(worlds=4, samples=1000, test_interval=10**6, threads=1)
    with SteadyingTraining(improviser, ENGINE, config, 1) as whole:
        before = whole.test()
        whole.advance()
        kept = {name: array.copy() for name, array in whole.state().items()}
        whole.advance()
        with SteadyingTraining(improviser, ENGINE, config, 1) as other:
            other.restore(kept)
            other.advance()
            for name, array in whole.state().items():
                assert np.array_equal(array, other.state()[name]), name
        assert 0.0 < before.up_s <= 0.3
        model = whole.steadied(whole.trainer.policy)
    rows = np.random.default_rng(0).standard_normal((5, model.state_size)).astype(np.float32)
    (mean, deviation), (plain, same) = model.prior_of(rows), improviser.model.prior_of(rows)
    np.testing.assert_array_equal(deviation, same)
    assert 0.0 < np.abs(mean - plain).max() <= 3.0 * deviation.max()


def test_what_keeps_it_up_comes_back_from_the_file(improviser):
    size, latent = improviser.model.state_size, improviser.model.latent_size
    steadier = make_policy(size, latent, np.full(latent, 0.5))
    made = replace(improviser, model=improviser.model.with_steadier(steadier))
    arrays, meta = made.to_content()
    back = improviser_from_content(arrays, meta, "it")
    rows = np.zeros((2, size), np.float32)
    np.testing.assert_allclose(back.model.prior_of(rows)[0] - improviser.model.prior_of(rows)[0], 0.5, atol=1e-6)
    odd = {**arrays, "steadier.weights0": arrays["steadier.weights0"][:, :-1]}
    with pytest.raises(BadFile, match="no whole improviser"):
        improviser_from_content(odd, meta, "it")
