# SPDX-License-Identifier: GPL-3.0-or-later
"""The policy's streams, observations, rewards and environment: on the stream all is well, and off it it is told how."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from directed_walks import make_walks
from sinew.core.body.clip_mirroring import ClipMirror
from sinew.core.body.mirroring import BodyMirror
from sinew.core.control.matching.directing import Directing
from sinew.core.control.tracking_policy.environment import (
    END_REASONS,
    FELL,
    OVER,
    TrackingConfig,
    TrackingEnvironment,
    find_acting,
    find_head,
)
from sinew.core.control.tracking_policy.matching_streams import make_clip_streams, make_matching_streams
from sinew.core.control.tracking_policy.observations import StreamFeatures, read_state
from sinew.core.control.tracking_policy.pushes import PushConfig, RandomPushes
from sinew.core.control.tracking_policy.reference_streams import CONTROL_FPS, join_streams, make_streams
from sinew.core.control.tracking_policy.rewards import RewardWeights, tracking_rewards
from sinew.core.control.tracking_policy.starts import StartDistribution
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage

COPIES = 8
QUIET = PushConfig(every_s=0.0)


@pytest.fixture(scope="module")
def directing():
    library, body = make_walks()
    return Directing(body, library)


@pytest.fixture(scope="module")
def streams(directing):
    body = directing.database.body
    users = make_matching_streams(directing, body, np.random.default_rng(3), characters=3, seconds=4.0, chance=0.01)
    return join_streams([users, make_clip_streams(directing, body, np.arange(3))])


@pytest.fixture(scope="module")
def world(streams):
    with closing(engines.get_engine("mujoco").compile(Stage((Character(streams.body),)), COPIES)) as found:
        yield found


def environment_on(streams, world, seed=0, **config):
    config = TrackingConfig(**{"pushes": QUIET, "noise": 0.0, **config})
    return TrackingEnvironment(
        streams, StreamFeatures(streams, find_acting(streams.body)), world, np.random.default_rng(seed), config
    )


def state_at(streams, world, frame, qpos=None, qvel=None):
    qpos = streams.qpos[frame].astype(float) if qpos is None else qpos
    qvel = streams.qvel[frame].astype(float) if qvel is None else qvel
    states = world.state_of(qpos, qvel)
    return read_state(
        streams, StreamFeatures(streams, find_acting(streams.body)), world, states, world.sense(states), frame
    )


def test_streams_are_joined_whole(streams, directing):
    lengths = np.diff(streams.starts)
    assert list(lengths[:3]) == [240] * 3 and len(lengths) == 6 and streams.starts[-1] == len(streams)
    assert (streams.ends[streams.starts[:-1]] == streams.starts[1:] - 1).all()
    assert streams.later(np.array([238]), 6) == 239  # held at the end of its stream
    clip = directing.database.library.clip(0)
    first = streams.starts[3]
    root = clip.world()[0][:, clip.skeleton.index(streams.body.links[0].bone)]
    np.testing.assert_allclose(streams.link_pos[first : first + len(clip), 0], root, atol=1e-5)


def test_on_the_stream_physics_and_stream_agree(streams, world):
    frame = np.linspace(0, len(streams) - 2, COPIES).astype(np.int64)
    state = state_at(streams, world, frame)
    assert np.abs(state.com_error).max() < 1e-4 and np.abs(state.link_errors).max() < 1e-4
    # Velocities of the stream are differences over time, and those of physics of joints.
    assert np.abs(state.velocity - state.features.velocity[frame]).max() < 0.15
    terms, rewards = tracking_rewards(
        state, state, np.zeros((COPIES, 3)), RewardWeights(speed=0.0), find_head(streams.body)
    )
    assert terms["pose"].min() > 0.999 and terms["fall"].min() == 1.0 and rewards.min() > 0.7


def test_observations_do_not_depend_on_place_and_direction(streams, world):
    from sinew.core.control.tracking.facing import rotate_about_z, rotate_pose_about_z

    frame = np.full(COPIES, 30)
    turn, shift = np.linspace(0.0, 5.0, COPIES), np.array([3.0, -2.0, 0.0])
    qpos, qvel = (values[frame].astype(float) for values in (streams.qpos, streams.qvel))
    qpos[:, 7] += 0.1  # a joint is off, the same for all
    moved_qpos, moved_qvel = rotate_pose_about_z(turn, qpos, qvel)
    moved_qpos[:, :2] += shift[:2]
    own = np.zeros((COPIES, len(find_acting(streams.body))))
    here = state_at(streams, world, frame, qpos, qvel).observations(own)
    for index in range(COPIES):
        vectors = {
            name: rotate_about_z(np.full(len(streams), turn[index]), getattr(streams, name).astype(float)) + add
            for name, add in (("link_pos", shift), ("com", shift), ("com_velocity", 0.0))
        }
        poses, rates = rotate_pose_about_z(np.full(len(streams), turn[index]), streams.qpos, streams.qvel)
        poses[:, :2] += shift[:2]
        moved = {name: values.astype(np.float32) for name, values in {**vectors, "qpos": poses, "qvel": rates}.items()}
        there = replace(streams, heading=streams.heading + np.float32(turn[index]), **moved)
        seen = state_at(there, world, frame, moved_qpos, moved_qvel).observations(own)
        np.testing.assert_allclose(seen[index], here[index], atol=2e-3)


def test_the_mirror_image_of_a_motion_looks_the_same_to_the_policy(directing, world):
    """Seen while the other foot swings, it is the same observation, and the same action does the mirrored thing."""
    body = directing.database.body
    mirror = ClipMirror(body)
    clip, contacts = directing.database.library.clip(4), directing.contacts[directing.database.library.frames_of(4)]
    here = make_streams(body, [clip], [contacts])
    there = make_streams(body, [mirror.mirror(clip)], [contacts[:, ::-1]])
    acting = find_acting(body)
    features = StreamFeatures(here, acting), StreamFeatures(there, acting)
    assert 0.3 < features[0].mirrored.mean() < 0.7 and (features[0].mirrored != features[1].mirrored)[30:].all()
    np.testing.assert_allclose(features[0].rows[30:-30], features[1].rows[30:-30], atol=2e-3)
    frame = np.linspace(40, 200, COPIES).astype(np.int64)
    rng = np.random.default_rng(0)
    nudge, rates = 0.05 * rng.standard_normal((COPIES, body.nv)), 0.2 * rng.standard_normal((COPIES, body.nv))
    both = BodyMirror(body)
    seen = []
    for streams, one, by, speed in (
        (here, features[0], nudge, rates),
        (there, features[1], both.velocity(nudge), both.velocity(rates)),
    ):
        qpos = streams.pose_space.integrate(streams.qpos[frame].astype(float), by)
        states = world.state_of(qpos, streams.qvel[frame] + speed)
        state = read_state(streams, one, world, states, world.sense(states), frame)
        seen.append(state.observations(np.zeros((COPIES, len(acting)))))
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-2)
    actions = rng.standard_normal((COPIES, len(acting)))
    turned = [one.turn_actions(actions, frame) for one in features]
    image = both.offsets[np.ix_(acting, acting)]
    np.testing.assert_allclose(turned[0] @ image.T, turned[1], atol=1e-5)


def test_who_is_off_earns_less(streams, world):
    frame = np.full(COPIES, 30)
    qpos = streams.qpos[frame].astype(float)
    qpos[:, 0] += np.linspace(0.0, 1.2, COPIES)
    state = state_at(streams, world, frame, qpos)
    terms, rewards = tracking_rewards(state, state, np.zeros((COPIES, 3)), RewardWeights(), find_head(streams.body))
    assert (np.diff(rewards) < 0.0)[:-1].all() and rewards[-1] == pytest.approx(0.0, abs=1e-6)
    assert terms["pose"].min() > 0.99  # only its place is off
    changed = tracking_rewards(state, state, np.full((COPIES, 3), 0.2), RewardWeights(), find_head(streams.body))[1]
    assert (changed < rewards).all()


def test_the_policy_leaves_hands_head_and_toes_alone(streams):
    body = streams.body
    some, every = find_acting(body), find_acting(body, all_joints=True)
    assert len(every) == body.nu and 0 < len(some) < body.nu
    roles = {body.links[int(np.searchsorted(body.qvel_starts, column + 6, "right")) - 1].role for column in some}
    assert {"thigh", "shin", "foot"} <= roles and not roles & {"hand", "head", "toe"}


def test_an_episode_ends_with_a_fall_or_with_its_stream(streams, world):
    environment = environment_on(streams, world, hard=False)
    environment.reset()
    reasons = []
    for _ in range(150):
        result = environment.step(np.full((COPIES, environment.action_size), 1.5))  # nobody stands like that
        reasons += [END_REASONS[one] for one in result.end_reasons[result.end_reasons >= 0]]
        assert (result.terminated == (result.end_reasons == 0)).all()
        assert np.isfinite(result.observations).all() and np.isfinite(result.rewards).all()
    assert set(reasons) <= {FELL, OVER} and reasons.count(FELL) > COPIES


def test_episodes_begin_where_it_is_hard(streams):
    starts = StartDistribution(streams, np.random.default_rng(0))
    frame = int(streams.starts[4]) + 120
    starts.note_falls(np.full(50, frame))
    begun = starts.sample(400)
    near = np.abs(begun - (frame - 20)) < 60
    assert 0.4 < near.mean() < 0.9
    assert (streams.ends[begun] - begun >= 60).all()


def test_a_push_is_what_was_asked_for(streams):
    pushes = RandomPushes(streams.body, 64, PushConfig(every_s=0.5, most_n_s=10.0), np.random.default_rng(0))
    forces = np.array([pushes.step() for _ in range(300)])
    impulse = np.linalg.norm(forces.sum(axis=3)[:, :, 0], axis=-1).sum(axis=0) / CONTROL_FPS  # of all pushes of one
    count = 300 / CONTROL_FPS / 0.5
    assert 0.5 * count * 10.0 / 3.0 < impulse.mean() < 1.1 * count * 10.0 / 3.0
    assert RandomPushes(streams.body, 4, QUIET, np.random.default_rng(0)).step() is None


def test_it_goes_on_from_a_kept_state_bit_for_bit(streams, world):
    config = {"pushes": PushConfig(every_s=0.3), "noise": 0.1}
    first, second = environment_on(streams, world, 1, **config), environment_on(streams, world, 2, **config)
    first.reset()
    actions = np.random.default_rng(0).normal(size=(40, COPIES, first.action_size)) * 0.3
    for one in actions[:20]:
        first.step(one)
    second.restore(first.state())
    for one in actions[20:]:
        a, b = first.step(one), second.step(one)
        assert np.array_equal(a.observations, b.observations) and np.array_equal(a.rewards, b.rewards)
