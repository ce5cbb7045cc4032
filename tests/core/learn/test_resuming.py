# SPDX-License-Identifier: GPL-3.0-or-later
"""The same seed gives the same weights, and so does a training that was stopped and went on."""

import json

import numpy as np
import pytest

from sinew.core.errors import BadFile
from sinew.core.files import read_arrays, write_arrays
from sinew.core.learn.hyperparameters import PPOHyperparameters
from sinew.core.learn.policy import Policy
from sinew.core.learn.trainer import Trainer

from .toy_environments import Balance, Bandit

SETTINGS = PPOHyperparameters(
    width=16,
    critic_width=16,
    horizon=8,
    minibatch=64,
    threads=2,
    device="cpu",
    noise_anneal_samples=3000,
    final_noise=0.05,
)


def training(seed=0, settings=SETTINGS, worlds=24):
    return Trainer(
        [Balance(worlds, seed=seed + 1, longest=20), Balance(worlds, seed=seed + 2, longest=20)], settings, seed
    )


def same(one, other):
    assert one.keys() == other.keys()
    assert [name for name in one if one[name].tobytes() != other[name].tobytes()] == []


def updated(trainer, times):
    for _ in range(times):
        trainer.update()
    return trainer


@pytest.fixture(scope="module")
def whole():
    return updated(training(), 5)


def test_the_same_seed_gives_the_same_weights(whole):
    same(updated(training(), 5).state(), whole.state())


def test_another_seed_gives_others(whole):
    other = updated(training(seed=1), 5).state()
    assert np.abs(other["learner.actor.weights"] - whole.state()["learner.actor.weights"]).max() > 1e-3


@pytest.mark.parametrize("kill", range(5))
def test_killed_after_any_update_it_ends_with_the_same_weights(whole, kill, tmp_path):
    path = tmp_path / "checkpoint.npz"
    write_arrays(path, updated(training(), kill).state(), {"clip": "walk"})  # as a job's checkpoints are kept
    # Everything about the new one is other, until it is told where the old one was.
    resumed = updated(training(seed=50), 1)
    arrays, about = read_arrays(path)
    assert about == {"clip": "walk"}
    resumed.restore(arrays)
    updated(resumed, 5 - kill)
    same(resumed.state(), whole.state())
    assert [record.to_mapping() for record in resumed.curve] == [record.to_mapping() for record in whole.curve]


def test_a_training_is_kept_by_a_job_as_plain_arrays(whole, tmp_path):
    np.savez(tmp_path / "job.npz", **whole.state())  # as a job's checkpoint does, which allows no objects
    with np.load(tmp_path / "job.npz", allow_pickle=False) as kept:
        resumed = training(seed=50)
        resumed.restore({name: kept[name] for name in kept.files})
    same(updated(resumed, 1).state(), updated(_copy(whole), 1).state())


def _copy(trainer):
    other = training(seed=9)
    other.restore(trainer.state())
    return other


def refused(arrays, trainer=None):
    trainer = trainer or training()
    before = trainer.state()
    with pytest.raises(BadFile) as caught:
        trainer.restore(arrays)
    same(trainer.state(), before)
    return str(caught.value)


def test_a_checkpoint_of_another_version_asks_for_the_sinew_that_wrote_it(whole):
    arrays = whole.state()
    about = json.loads(arrays["about"].tobytes())
    text = json.dumps({**about, "version": 2}).encode()
    assert "is of version 2" in refused(arrays | {"about": np.frombuffer(text, dtype=np.uint8)})


@pytest.mark.parametrize(
    "other",
    [
        lambda: training(settings=PPOHyperparameters(width=32, horizon=8, device="cpu")),
        lambda: training(worlds=12),
        lambda: Trainer([Bandit(24, seed=1), Bandit(24, seed=2)], SETTINGS, 0),
    ],
    ids=["width", "worlds", "environment"],
)
def test_a_training_of_something_else_is_refused(whole, other):
    assert "does not fit this training" in refused(whole.state(), other())


def test_an_array_that_is_missing_or_damaged_is_refused(whole):
    arrays = whole.state()
    for name in arrays:
        if not name.startswith("collector.0.environment"):
            refused({key: arrays[key] for key in arrays if key != name})
    refused(arrays | {"order": np.arange(9, dtype=np.uint8)})


def test_a_policy_comes_back_from_its_arrays(whole):
    policy = Policy.from_arrays(*whole.policy.to_arrays())
    observations = np.random.default_rng(0).normal(size=(9, 2))
    assert policy(observations).tobytes() == whole.policy(observations).tobytes()
    assert (policy.observation_size, policy.action_size) == (2, 1)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"weights0": np.zeros((16, 3), np.float32)}, "do not fit"),
        ({"weights1": np.zeros((8, 5), np.float32)}, "do not fit"),
        ({"weights1": np.full((8, 16), np.nan, np.float32)}, "no number"),
        ({"biases0": np.zeros((16, 1), np.float32)}, "dimensions"),
        ({"mean": np.zeros(5)}, "do not fit"),
        ({"noise": np.zeros(3, np.float32)}, "do not fit"),
    ],
)
def test_a_policy_that_cannot_be_is_refused(whole, change, complaint):
    arrays, about = whole.policy.to_arrays()
    with pytest.raises(BadFile, match=complaint):
        Policy.from_arrays(arrays | change, about)


@pytest.mark.parametrize("change", [{"activation": "sine"}, {"layers": 0}, {"layers": 9}, {"count": "many"}])
def test_a_policy_that_says_odd_things_of_itself_is_refused(whole, change):
    arrays, about = whole.policy.to_arrays()
    with pytest.raises(BadFile, match="policy"):
        Policy.from_arrays(arrays, about | change)
