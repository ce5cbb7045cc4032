# SPDX-License-Identifier: GPL-3.0-or-later
"""Training the policy, and playing it: it goes on bit for bit, and comes back from its file the same."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from directed_walks import make_walks
from sinew.core.control.matching.directing import Directing
from sinew.core.control.tracking_policy.controller import TrackingController, tracking_controller_from_arrays
from sinew.core.control.tracking_policy.matching_streams import make_clip_streams
from sinew.core.control.tracking_policy.playing import PolicyLoop
from sinew.core.control.tracking_policy.stream_recording import play_stream
from sinew.core.control.tracking_policy.stream_test import follow_streams
from sinew.core.control.tracking_policy.training import PPO, TrackingTraining, TrackingTrainingConfig
from sinew.core.control.tracking_policy.turning import measure_turn, rise_s
from sinew.core.errors import BadFile
from sinew.core.sim import engines
from sinew.core.sim.stage import Character, Stage

SMALL = TrackingTrainingConfig(worlds=32, samples=4000, test_interval=1500, ppo=replace(PPO, width=32, critic_width=32))


@pytest.fixture(scope="module")
def directing():
    library, body = make_walks()
    return Directing(body, library)


@pytest.fixture(scope="module")
def streams(directing):
    return make_clip_streams(directing, directing.database.body, np.array([0, 3]))


def training_on(streams, seed=0, config=SMALL):
    return TrackingTraining(streams, streams, engines.get_engine("mujoco"), config, seed)


def world_of(streams, copies=1):
    return closing(engines.get_engine("mujoco").compile(Stage((Character(streams.body),)), copies))


@pytest.fixture(scope="module")
def trained(streams):
    """A controller that has practised a walk for a little while; how well it learns is for the benchmark to say."""
    with training_on(streams) as training:
        while training.samples < SMALL.samples:
            training.advance()
        return training.controller(about={"samples": training.samples})


def test_it_goes_on_from_a_checkpoint_bit_for_bit(streams):
    with training_on(streams) as whole:
        for _ in range(7):
            whole.advance()
        kept = {name: array.copy() for name, array in whole.state().items()}
        assert whole.tests and whole.best is not None
        for _ in range(3):
            whole.advance()
        expected = whole.state()
    with training_on(streams) as resumed:
        resumed.restore(kept)
        for _ in range(3):
            resumed.advance()
        found = resumed.state()
    assert found.keys() == expected.keys()
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_a_checkpoint_of_another_training_is_refused(streams):
    with training_on(streams) as training, pytest.raises(BadFile, match="does not fit"):
        training.restore({"tested": np.frombuffer(b"{}", dtype=np.uint8)})


def test_it_acts_the_same_when_it_comes_from_a_file(trained, streams):
    controller = trained
    again = tracking_controller_from_arrays(*controller.to_arrays(), "'x'")
    assert again.about == {"samples": controller.about["samples"]}
    with world_of(streams) as world:
        first, second = (PolicyLoop(one, streams, world, np.zeros(1, np.int64)) for one in (controller, again))
        for _ in range(5):
            first.step()
            second.step()
        assert np.array_equal(first.states, second.states)


@pytest.mark.parametrize("spoil", ["weights", "smoothing", "missing"])
def test_a_policy_that_is_not_whole_is_refused(trained, spoil):
    arrays, meta = trained.to_arrays()
    if spoil == "weights":
        arrays["policy_weights0"] = arrays["policy_weights0"][:, :-1]
    elif spoil == "smoothing":
        meta["smoothing"] = 7.0
    else:
        del meta["policy"]
    with pytest.raises(BadFile):
        tracking_controller_from_arrays(arrays, meta, "'x'")


def test_a_policy_for_another_body_is_refused(trained, streams):
    other = TrackingController(trained.policy, 0.4, all_joints=True)
    with world_of(streams) as world, pytest.raises(BadFile, match="another body"):
        PolicyLoop(other, streams, world, np.zeros(1, np.int64))


def test_a_recording_has_every_frame_and_what_was_wanted(trained, streams, directing):
    motion = directing.database.library.clip(0)
    one = make_clip_streams(directing, streams.body, np.array([0]))
    shares = []
    with world_of(one) as world:
        played = play_stream(trained, one, motion, world, shares.append)
    count = 2 * ((len(motion) - 1) // 2) + 1
    assert len(played.film) == len(played.subject.wanted_pos) == count and shares[-1] == 1.0
    np.testing.assert_allclose(played.subject.wanted_pos, one.link_pos[:count], atol=1e-4)
    assert np.abs(played.film.qpos[0] - one.qpos[0]).max() < 1e-6
    assert len(played.apart_m) == (count - 1) // 2


def test_who_never_falls_is_not_put_back(trained, streams):
    """A body on rails: its state is the stream's in every step, so a test of it sees no error and no fall."""

    class Rails(PolicyLoop):
        def advance(self, targets, *, end_only=True):
            states = super().advance(targets, end_only=end_only)
            self.put_back(np.ones(len(self.frame), dtype=bool))
            return states

    from sinew.core.control.tracking_policy import stream_test

    loop, stream_test.PolicyLoop = stream_test.PolicyLoop, Rails
    try:
        with world_of(streams, 4) as world:
            found = follow_streams(trained, streams, world, 0.2)
    finally:
        stream_test.PolicyLoop = loop
    assert found.falls == 0 and found.joint_error_m < 1e-5


def test_the_rise_time_of_a_turn_is_read_from_a_tenth_to_nine_tenths(trained, directing):
    ramp = np.clip(np.arange(100) / 60.0, 0.0, 1.0)
    assert rise_s(ramp, 60.0) == pytest.approx(0.8, abs=0.02) and rise_s(0.5 * ramp, 60.0) == pytest.approx(100 / 60)
    found = measure_turn(
        trained,
        directing,
        directing.database.body,
        lambda copies: world_of(make_clip_streams(directing, directing.database.body, np.array([0])), copies),
    )
    assert 0.2 < found["kinematic_turn_90_s"] < 4.0 and found["turn_90_s"] > 0.0
