# SPDX-License-Identifier: GPL-3.0-or-later
"""Training and baking as jobs would do them, and the controller file between them."""

from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file

from sinew.bench.run import BenchRun
from sinew.core.control import practice, registry
from sinew.core.control.bounds import live_preview
from sinew.core.control.bounds.bounds import attach_keys
from sinew.core.control.bounds.controller import controller_from_arrays
from sinew.core.control.bounds.files import (
    load_controller,
    read_controller_content,
    save_controller,
    write_controller_content,
)
from sinew.core.control.bounds.train_settings import BoundsTrainSettings, make_bounds_training_config
from sinew.core.control.bounds.training import BoundsTrainingConfig
from sinew.core.errors import BadFile, BadSettings, BoundsError
from sinew.core.motion.io import stock

LITTLE = {"bounds": "locomotion", "millions": 0.001, "worlds": 16, "seconds": 1.0, "warm": False}


class TrainRun(BenchRun):
    """A run that remembers its checkpoints and what it was told."""

    def __init__(self, attachments=None, checkpoint=None) -> None:
        super().__init__("mujoco", 0, attachments or {})
        self.checkpoint, self.details, self.told = checkpoint, {}, []

    def progress(self, step, total, /, **measurements) -> None:
        self.told.append((step, total, measurements))

    def add_detail(self, name, value) -> None:
        self.details[name] = value

    def save_checkpoint(self, step, /, **arrays) -> None:
        self.checkpoint = (step, {name: np.array(array) for name, array in arrays.items()})

    def load_checkpoint(self):
        return self.checkpoint


class Killed(Exception):
    pass


class KilledRun(TrainRun):
    """A run that ends in the middle, after a checkpoint and some more."""

    def progress(self, step, total, /, **measurements) -> None:
        super().progress(step, total, **measurements)
        if len(self.told) == 4:
            raise Killed


class WatchedRun(TrainRun):
    """A run that keeps what it shows."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = []

    def show(self, arrays, meta) -> None:
        self.seen.append((arrays, meta))


def trained(name="walk", attachments=None, **settings):
    method = registry.get_method("bounds_train")
    run = TrainRun(attachments)
    take = method.run(stock.load_stock(name), method.settings_type.from_mapping({**LITTLE, **settings}), run)
    return take, run


@pytest.fixture(scope="module")
def walked():
    return trained()


def baked(run, clip, **settings):
    method = registry.get_method("bounds_bake")
    bake = BenchRun("mujoco", 0, {"controller_file": run.products["controller"]})
    return method.run(clip, method.settings_type.from_mapping(settings), bake), bake


def test_training_shows_what_it_learned_and_says_how(walked):
    take, run = walked
    assert take.own_clock
    assert take.motion.duration_s == pytest.approx(10.0, abs=0.05)
    told = run.details["bounds"]
    assert told["samples"] >= 1000
    assert told["done_after"] is None
    assert told["tests"][-1]["share"] < 1.0
    assert any("does not last" in finding for finding in run.findings)
    shares = [step / total for step, total, _ in run.told]
    assert shares == sorted(shares) and shares[0] < 0.1 and 0.8 < shares[-1] < 1.0
    numbers = run.told[-1][2]
    assert numbers["lives_s"] > 0.0 and numbers["doing"].startswith("Practising: stays up ")
    assert set(told["starts"][0]) == {"returns", "chances", "begun", "apart"}


def test_killed_and_resumed_it_hands_over_the_same_controller(walked, monkeypatch):
    monkeypatch.setattr(practice, "CHECKPOINT_S", 0.0)
    method = registry.get_method("bounds_train")
    settings = method.settings_type.from_mapping(LITTLE)
    killed = KilledRun()
    with pytest.raises(Killed):
        method.run(stock.load_stock("walk"), settings, killed)
    resumed = TrainRun(checkpoint=killed.checkpoint)
    method.run(stock.load_stock("walk"), settings, resumed)
    assert len(resumed.told) < len(walked[1].told)
    assert resumed.details["bounds"]["seconds"] > float(killed.checkpoint[1]["spent_s"]) > 0.0
    for name, array in walked[1].products["controller"][0].items():
        np.testing.assert_array_equal(resumed.products["controller"][0][name], array)


def test_what_it_does_is_shown_on_the_way_and_changes_nothing(walked, monkeypatch):
    monkeypatch.setattr(live_preview, "_EVERY_S", 0.0)
    monkeypatch.setattr(live_preview, "_SHARE", np.inf)  # after every update, however slow the machine is
    method, watched = registry.get_method("bounds_train"), WatchedRun()
    method.run(stock.load_stock("walk"), method.settings_type.from_mapping(LITTLE), watched)
    assert len(watched.seen) > 1
    arrays, about = watched.seen[-1]
    assert about["samples"] >= 1000 and len(about["bones"]) == arrays["link_pos"].shape[1]
    for name, array in walked[1].products["controller"][0].items():
        np.testing.assert_array_equal(watched.products["controller"][0][name], array)


def test_a_controller_makes_takes_of_any_length(walked):
    _, run = walked
    take, _ = baked(run, stock.load_stock("walk"), seconds=2.0)
    assert take.motion.duration_s == pytest.approx(2.0, abs=0.05)
    once, bake = baked(run, stock.load_stock("walk"))
    assert once.motion.duration_s == pytest.approx(38 / 30, abs=0.04)
    assert len(bake.traces) == 1


def test_it_begins_where_the_character_stands(walked):
    _, run = walked
    clip = stock.load_stock("walk")
    moved = replace(clip, local_pos=clip.local_pos + np.where(clip.skeleton.parents < 0, 1.0, 0.0)[:, None] * [3, 4, 0])
    take, _ = baked(run, moved, seconds=0.5)
    np.testing.assert_allclose(take.motion.world()[0][0, 0, :2], moved.world()[0][0, 0, :2], atol=0.01)


def test_what_is_no_cycle_is_not_played_for_a_minute():
    _, run = trained("kick")
    with pytest.raises(BoundsError, match="60 s were asked for"):
        baked(run, stock.load_stock("kick"), seconds=60.0)
    take, _ = baked(run, stock.load_stock("kick"))
    assert take.motion.duration_s == pytest.approx(stock.load_stock("kick").duration_s, abs=0.05)


def test_keys_outside_the_clip_and_no_width_are_refused_before_anything_is_learned():
    with pytest.raises(BoundsError, match="frame 500"):
        trained(attachments=attach_keys({"com z": {500: 0.2}}))
    with pytest.raises(BoundsError, match="0 wide"):
        trained(attachments=attach_keys({"com z": {0: 0.0}}))


def test_a_controller_file_comes_back_whole(walked, tmp_path):
    controller = controller_from_arrays(*walked[1].products["controller"])
    path = tmp_path / "walk.safetensors"
    save_controller(path, controller)
    again = load_controller(path)
    seen = np.random.default_rng(0).normal(size=(5, again.policy.observation_size))
    np.testing.assert_array_equal(again.policy(seen), controller.policy(seen))
    np.testing.assert_array_equal(again.widths, controller.widths)
    np.testing.assert_array_equal(again.reference.targets, controller.reference.targets)
    assert again.about == controller.about


def test_others_can_read_the_file(walked, tmp_path):
    path = tmp_path / "walk.safetensors"
    arrays, meta = walked[1].products["controller"]
    write_controller_content(path, arrays, meta)
    found = load_file(path)
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


FOREIGN = (
    b"\x80\x04\x95 a pickle may hold anything .",
    b"PK\x03\x04 zip",
    b"\xff" * 64,
    (2).to_bytes(8, "little") + b"{}",
    (2).to_bytes(8, "little") + b"[]",
    b'\x1a\x00\x00\x00\x00\x00\x00\x00{"__metadata__":{"sinew":1}}',
)


def test_torn_foreign_and_changed_files_are_refused(walked, tmp_path):
    arrays, meta = walked[1].products["controller"]
    path = tmp_path / "walk.safetensors"
    write_controller_content(path, arrays, meta)
    data = path.read_bytes()
    cut = [data[: int(share * len(data))] for share in (0.0, 0.001, 0.3, 0.99, 0.99999)]
    for broken in (*cut, data[:100], data[:-1000], data[:8] + b"[" + data[9:], *FOREIGN):
        path.write_bytes(broken)
        with pytest.raises(BadFile):
            read_controller_content(path)
    with pytest.raises(BadFile, match="does not exist"):
        read_controller_content(tmp_path / "none.safetensors")
    with pytest.raises(BadFile, match="no controller"):
        controller_from_arrays(arrays, {**meta, "kind": "something"})
    with pytest.raises(BadFile, match="newer Sinew"):
        controller_from_arrays(arrays, {**meta, "version": 99})
    with pytest.raises(BadFile, match="clip is not the one"):
        controller_from_arrays({**arrays, "course.qpos": arrays["course.qpos"] * 1.01}, meta)
    with pytest.raises(BadFile, match="lacks"):
        controller_from_arrays({name: a for name, a in arrays.items() if name != "widths"}, meta)
    short = {**arrays, "policy.weights0": arrays["policy.weights0"][:, :-1]}
    with pytest.raises(BadFile):
        controller_from_arrays(short, meta)


def test_device_and_threads_reach_the_networks():
    chosen = make_bounds_training_config(BoundsTrainSettings(device="cpu", threads=3)).ppo
    assert (chosen.device, chosen.threads) == ("cpu", 3)
    assert make_bounds_training_config(BoundsTrainSettings()).ppo == BoundsTrainingConfig().ppo
    with pytest.raises(BadSettings, match="device"):
        BoundsTrainSettings(device="abacus")
