# SPDX-License-Identifier: GPL-3.0-or-later
"""The same seed gives the same weights, and so does a training that was stopped and went on."""

import numpy as np
import pytest

from sinew.core.errors import BadFile
from sinew.core.learn import checkpoint, files
from sinew.core.learn.settings import LearnSettings
from sinew.core.learn.trainer import Trainer

from .small_worlds import Balance, Bandit

SETTINGS = LearnSettings(
    width=16, critic_width=16, horizon=8, minibatch=64, threads=2, device="cpu", noise_samples=3000, final_noise=0.05
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
    path = tmp_path / "training.safetensors"
    checkpoint.save(path, updated(training(), kill), {"clip": "walk"})
    # Everything about the new one is other, until it is told where the old one was.
    resumed = updated(training(seed=50), 1)
    assert checkpoint.load(path, resumed) == {"clip": "walk"}
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


@pytest.fixture
def kept(whole, tmp_path):
    path = tmp_path / "training.safetensors"
    checkpoint.save(path, whole)
    return path


def refused(path, trainer=None):
    trainer = trainer or training()
    before = trainer.state()
    with pytest.raises(BadFile) as caught:
        checkpoint.load(path, trainer)
    same(trainer.state(), before)
    assert path.name in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99, 0.99999])
def test_a_cut_file_is_refused(kept, share):
    data = kept.read_bytes()
    kept.write_bytes(data[: int(share * len(data))])
    assert "not a whole training" in refused(kept)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x04\x95 a pickle may hold anything .",
        b"PK\x03\x04 zip",
        b"\xff" * 64,
        (2).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        b'\x1a\x00\x00\x00\x00\x00\x00\x00{"__metadata__":{"sinew":1}}',
    ],
    ids=["empty", "pickle", "zip", "noise", "nothing", "list", "number"],
)
def test_a_file_of_another_kind_is_refused(kept, data):
    kept.write_bytes(data)
    refused(kept)


def test_a_file_that_is_not_there_is_named(tmp_path):
    assert "does not exist" in refused(tmp_path / "nowhere.safetensors")


def test_a_policy_is_no_training(whole, tmp_path):
    path = tmp_path / "policy.safetensors"
    files.write_policy(path, whole.policy, {})
    assert "is a policy, not a training" in refused(path)


def test_a_newer_file_asks_for_a_newer_sinew(kept):
    arrays, about = files.read_tensors(kept, "training")
    del about["kind"]
    files.write_tensors(kept, "training", arrays, {**about, "format": 2})
    assert "Update Sinew" in refused(kept)


@pytest.mark.parametrize(
    "other",
    [
        lambda: training(settings=LearnSettings(width=32, horizon=8, device="cpu")),
        lambda: training(worlds=12),
        lambda: Trainer([Bandit(24, seed=1), Bandit(24, seed=2)], SETTINGS, 0),
    ],
    ids=["width", "worlds", "environment"],
)
def test_a_training_of_something_else_is_refused(kept, other):
    assert "does not fit this training" in refused(kept, other())


def test_an_array_that_is_missing_or_damaged_is_refused(kept):
    arrays, _ = files.read_tensors(kept, "training")
    for name in arrays:
        if not name.startswith("collector.0.environment"):
            files.write_tensors(kept, "training", {key: arrays[key] for key in arrays if key != name}, {"about": {}})
            refused(kept)
    files.write_tensors(kept, "training", arrays | {"order": np.arange(9, dtype=np.uint8)}, {"about": {}})
    refused(kept)


def test_a_policy_comes_back_from_its_file(whole, tmp_path):
    path = tmp_path / "policy.safetensors"
    files.write_policy(path, whole.policy, {"body": "abc", "clip": "walk"})
    policy, about = files.read_policy(path)
    seen = np.random.default_rng(0).normal(size=(9, 2))
    assert about == {"body": "abc", "clip": "walk"}
    assert policy(seen).tobytes() == whole.policy(seen).tobytes()
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
def test_a_policy_that_cannot_be_is_refused(whole, tmp_path, change, complaint):
    path = tmp_path / "policy.safetensors"
    arrays, own = whole.policy.to_arrays()
    files.write_tensors(path, "policy", arrays | change, {"policy": own, "about": {}})
    with pytest.raises(BadFile, match=complaint) as caught:
        files.read_policy(path)
    assert path.name in str(caught.value)


@pytest.mark.parametrize("change", [{"activation": "sine"}, {"layers": 0}, {"layers": 9}, {"count": "many"}])
def test_a_policy_that_says_odd_things_of_itself_is_refused(whole, tmp_path, change):
    path = tmp_path / "policy.safetensors"
    arrays, own = whole.policy.to_arrays()
    files.write_tensors(path, "policy", arrays, {"policy": own | change, "about": {}})
    with pytest.raises(BadFile, match=r"policy\.safetensors"):
        files.read_policy(path)
