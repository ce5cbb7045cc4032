# SPDX-License-Identifier: GPL-3.0-or-later
"""States, data, world model and autoencoder: what they say of a body is so, and training goes on bit for bit."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from directed_walks import make_walks
from sinew.core.body.poses import link_transforms
from sinew.core.control.improvise import training as training_module
from sinew.core.control.improvise.body_states import StateReader, link_velocities
from sinew.core.control.improvise.expert import Expert
from sinew.core.control.improvise.latent_model import LatentModel
from sinew.core.control.improvise.rollouts import RolloutConfig
from sinew.core.control.improvise.stream_matching import StreamMatcher, match_features
from sinew.core.control.improvise.training import LatentTraining, LatentTrainingConfig, cut_sequences
from sinew.core.control.improvise.variety import measure_spread, measure_variety, sample_known_motion
from sinew.core.control.improvise.wandering import WanderingBodies, wander_by, wander_until_fall
from sinew.core.control.matching.directing import Directing
from sinew.core.control.tracking.facing import rotate_pose_about_z
from sinew.core.control.tracking_policy.matching_streams import make_clip_streams
from sinew.core.control.tracking_policy.training import PPO, TrackingTraining, TrackingTrainingConfig
from sinew.core.errors import BadFile
from sinew.core.learn.conditional_vae import ConditionalVAE, TransitionBatch, VAESettings
from sinew.core.learn.normaliser import RunningStatistics
from sinew.core.learn.world_model import WorldModel
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage

CONFIG = LatentTrainingConfig(
    worlds=8,
    samples=1000,
    world_samples=64,
    cloning_samples=64,
    test_interval=100_000,
    minibatch=64,
    threads=1,
    rollouts=RolloutConfig(steps=8),
    shards=2,
)
VAE = VAESettings(latent=4, encoder_widths=(16,), prior_widths=(16,), decoder_widths=(16,), lookahead=3)


@pytest.fixture(scope="module")
def library():
    return make_walks()


@pytest.fixture(scope="module")
def streams(library):
    return make_clip_streams(Directing(library[1], library[0]), library[1], np.array([0, 5, 11]))


@pytest.fixture(scope="module")
def controller(streams):
    """An expert that has practised nothing: it plays the walk as it is."""
    small = TrackingTrainingConfig(worlds=2, ppo=replace(PPO, width=16, critic_width=16))
    with TrackingTraining(streams, streams, engines.get_engine("mujoco"), small, 0) as training:
        return training.controller(training.trainer.policy)


def training_of(controller, streams, config=CONFIG):
    return LatentTraining(controller, streams, engines.get_engine("mujoco"), config, VAE, 3)


def test_velocities_are_those_of_places(streams):
    body, step = streams.body, 1e-6
    qpos, qvel = streams.qpos[100:102].astype(float), streams.qvel[100:102].astype(float)
    pos, quat = link_transforms(body, qpos)
    velocity, _ = link_velocities(body, pos, quat, qvel)
    world = engines.get_engine("mujoco").compile(Stage((Character(body),)), 2, dt_s=step)
    with closing(world):
        states = world.state_of(qpos, qvel)
        _, rows = world.rollout(states, np.zeros((2, 1, body.nu)), substeps=1)
    np.testing.assert_allclose((rows.link_pos[:, -1] - pos) / step, velocity, atol=0.01)


def test_a_state_does_not_know_place_and_heading(streams):
    reader = StateReader(streams.body)
    qpos, qvel = streams.qpos[50:53].astype(float), streams.qvel[50:53].astype(float)
    turned, turned_vel = rotate_pose_about_z(np.full(3, 2.3), qpos, qvel)
    turned[:, :2] += (3.0, -7.0)
    here, there = reader(qpos, qvel), reader(turned, turned_vel)
    np.testing.assert_allclose(here.rows, there.rows, atol=1e-5)
    np.testing.assert_allclose(np.angle(np.exp(1j * (there.heading - here.heading - 2.3))), 0.0, atol=1e-9)


def test_a_state_of_the_library_is_found_in_it(streams):
    reader = StateReader(streams.body)
    matcher = StreamMatcher(streams, reader)
    frame = matcher.frames[::20]
    rows = reader(streams.qpos[frame].astype(float), streams.qvel[frame].astype(float)).rows
    assert matcher.distance_m(rows).max() < 1e-3
    found = matcher.find(rows, np.random.default_rng(0))  # the walk repeats itself, so not always the same frame
    again = reader(streams.qpos[found].astype(float), streams.qvel[found].astype(float)).rows
    np.testing.assert_allclose(match_features(again), match_features(rows), atol=0.01)


def test_the_expert_says_what_directed_motion_would_do(streams, controller):
    expert = Expert(controller, streams)
    frame = np.array([40, 90])
    with closing(engines.get_engine("mujoco").compile(Stage((Character(streams.body),)), 2)) as world:
        states = world.state_of(streams.qpos[frame].astype(float), streams.qvel[frame].astype(float))
        state = expert.read(world, states, world.sense(states), frame, np.zeros((2, 2)))
    offsets = np.zeros((2, len(expert.acting)))
    advice = expert.advise(state, offsets)
    corrected = (advice.targets - advice.reference)[:, expert.acting]
    np.testing.assert_allclose(corrected, controller.act(state, offsets), atol=1e-6)
    assert advice.apart_m.max() < 1e-5 and advice.seen.shape == (2, expert.seen_size)


def test_a_body_that_lags_behind_draws_its_stream_along(streams, controller):
    expert, frame, drawn = Expert(controller, streams), np.array([40]), np.zeros((1, 2))
    qpos, qvel = streams.qpos[frame].astype(float), streams.qvel[frame].astype(float)
    qpos[:, 0] += 1.0
    with closing(engines.get_engine("mujoco").compile(Stage((Character(streams.body),)), 1)) as world:
        states = world.state_of(qpos, qvel)
        rows = world.sense(states)
        apart = [np.linalg.norm(expert.read(world, states, rows, frame, drawn).com_error[:, :2]) for _ in range(60)]
    assert apart[0] > 0.85 and apart[-1] < 0.15 and drawn[0, 0] > 0.85


def test_training_goes_on_from_a_checkpoint_bit_for_bit(streams, controller, monkeypatch):
    monkeypatch.setattr(training_module, "TEST_S", 1.0)
    with training_of(controller, streams) as whole:
        for _ in range(3):
            whole.advance()
        assert not whole.world_errors or whole.world_errors["after_1_m"] < 1.0
        kept = {name: array.copy() for name, array in whole.state().items()}
        whole.advance()
        whole.test()
        with training_of(controller, streams) as other:
            other.restore(kept)
            other.advance()
            other.test()
            assert other.samples == whole.samples == 256 and other.tests == whole.tests
            for name, array in whole.state().items():
                assert np.array_equal(array, other.state()[name]), name
            with pytest.raises(BadFile, match="does not fit"):
                other.restore({**kept, "bodies.1.frame": kept["bodies.1.frame"][:3]})


def test_what_was_learned_acts_as_it_learned_without_torch(streams, controller):
    with training_of(controller, streams) as training:
        rows = training.collect(None, CONFIG.rollouts)
        training._set_statistics(rows)
        training._learn_actions(rows, np.random.default_rng(0))
        import torch

        _, prior, decoder = training.vae.policies(averaged=False)
        model, state = LatentModel(prior, decoder), rows.state[0]
        latent = np.ones((len(state), 4), dtype=np.float32)
        with torch.inference_mode():
            normal = training.vae._state(torch.from_numpy(state))
            wanted = training.vae._raw_action(training.vae._decode(normal, torch.from_numpy(latent))).numpy()
        np.testing.assert_allclose(model.decode(state, latent), wanted, atol=1e-4)
        sequence, seen = cut_sequences(rows, 3)
        assert sequence.shape[0] == 4 and seen.shape[0] == 3 and sequence.shape[1] == seen.shape[1] > 0


def test_a_world_model_learns_a_law_and_says_it_for_several_steps():
    rng = np.random.default_rng(1)
    model, law = WorldModel(2, 1, rng), np.array([[0.1, -0.2], [0.3, 0.1]], dtype=np.float32)
    state = rng.standard_normal((2000, 2), dtype=np.float32)
    action = rng.standard_normal((2000, 1), dtype=np.float32)
    after = state + state @ law.T + 0.5 * action
    for _ in range(5):
        error = model.learn(state, action, after, rng, epochs=2, minibatch=128)
    assert error < 0.05
    found = model.predict(state[:50], np.zeros((2, 50, 1), dtype=np.float32))
    step = np.eye(2) + law
    np.testing.assert_allclose(found[1], state[:50] @ step.T @ step.T, atol=0.4)


def test_noise_gives_back_both_ways_of_an_expert():
    """Where an expert does one of two things, the prior's noise chooses between them."""
    rng = np.random.default_rng(2)
    state, seen = np.zeros((1024, 1), np.float32), np.zeros((1024, 1), np.float32)
    seen[::2] = 1.0
    label = np.where(seen > 0.5, 1.0, -1.0).astype(np.float32)
    settings = VAESettings(latent=2, encoder_widths=(32,), prior_widths=(8,), decoder_widths=(32,), rate=3e-3)
    vae = ConditionalVAE((1, 1, 1), settings, np.random.default_rng(3))
    vae.set_statistics(*(RunningStatistics.from_rows(one) for one in (state, seen, label)))
    for _ in range(50):
        losses = vae.learn(TransitionBatch(state, seen, label), None, rng, epochs=1, minibatch=128)
    assert losses.action < 0.05 and losses.divergence > 0.3  # it needs to be told which of both
    _, prior, decoder = vae.policies(averaged=False)
    model = LatentModel(prior, decoder)
    drawn = model.decode(state, model.sample(state, rng))
    assert 0.25 < float((drawn > 0.0).mean()) < 0.75 and float((np.abs(drawn) > 0.5).mean()) > 0.7


def test_rollouts_that_are_the_library_cover_it_and_those_that_stand_do_not(library, streams):
    reader = StateReader(streams.body)
    known = sample_known_motion(streams, [0, 5, 11], library[0], reader)
    rows = reader(streams.qpos[::4].astype(float), streams.qvel[::4].astype(float)).rows
    whole, still = measure_variety(known, rows), measure_variety(known, rows[-1:])
    assert whole["coverage"] > 0.9 and whole["evenness"] > 0.9
    assert still["coverage"] < 0.5 and still["evenness"] == 0.0
    assert whole["styles"]["stand"]["library"] == pytest.approx((known.style == 2).mean(), abs=0.5)
    assert measure_spread(np.array([[[0.0, 0.0, 1.0], [3.0, 4.0, 1.0]]])) == pytest.approx(5.0)


def test_bodies_that_hold_nothing_fall_and_the_time_is_told(streams, controller):
    with training_of(controller, streams) as training:
        model, fall_heights = training.model, training.fall_heights
    with closing(engines.get_engine("mujoco").compile(Stage((Character(streams.body),)), 4)) as world:
        qpos, qvel = np.repeat(streams.qpos[:1], 4, axis=0).astype(float), np.zeros((4, streams.body.nv))
        bodies = WanderingBodies(streams.body, world, qpos, qvel, fall_heights)
        found = wander_until_fall(bodies, wander_by(model), 6.0, np.random.default_rng(0))
    assert found.fell.all() and 0.2 < found.mean_up_s < 6.0
    assert np.isfinite(found.rows[0]).all()
