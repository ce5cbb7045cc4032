# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles as a user types them: one, four from one controller, in the manner of another clip; and what is refused."""

import json

import pytest

from sinew.bridge import cli
from sinew.bridge.bounds.styling import read_neutral
from sinew.bridge.bounds.training import TrainRequest, style_jobs
from sinew.bridge.importing.importers import open_input
from sinew.bridge.jobs import requests
from sinew.bridge.jobs.preparing import do_at_once
from sinew.core.control.bounds.files import load_controller
from sinew.core.control.bounds.style.style_choice import NEUTRAL
from sinew.core.jobs import worker
from sinew.core.learn import autoencoder_cache

from ...stock_clips import needs_stock

pytestmark = needs_stock
LITTLE = ("--set", "warm=0", "--set", "millions=0.001", "--set", "worlds=16", "--set", "seconds=1")


def run(*words):
    return cli.main([str(word) for word in words])


@pytest.fixture
def hasty(monkeypatch, tmp_path):
    """Train at once, in this process, with encoders that are trained for a moment."""

    def at_once(job):
        worker._run(job)
        return job.status()

    for module in ("running", "bounds.styles"):
        monkeypatch.setattr(f"sinew.bridge.cli.{module}.run_to_end", at_once)
    monkeypatch.setattr(autoencoder_cache, "_STEPS", 5)
    monkeypatch.setattr(autoencoder_cache, "encoder_folder", lambda: tmp_path / "encoders")


@pytest.fixture
def neutral(addon, hasty, tmp_path):
    path = tmp_path / "neutral.safetensors"
    assert run("bounds", "train", "walk", *LITTLE, "--out", path) == 0
    return path


def test_styles_begin_from_one_controller(neutral, tmp_path):
    words = ("--begin", neutral, "--out", tmp_path / "styles", "--styles", "more_energy,less_volume")
    assert run("bounds", "styles", "walk", *LITTLE, *words, "--strength", 0.5) == 0
    for style in ("more_energy", "less_volume"):
        about = load_controller(tmp_path / "styles" / f"{style}.safetensors").about
        assert (about["settings"]["style"], about["settings"]["strength"]) == (style, 0.5)
        assert about["settings"]["bounds"] == "style_exploration"
        assert json.loads((tmp_path / "styles" / f"{style}.json").read_text())["status"] == "done"


def test_four_jobs_wait_as_one_batch(neutral):
    open_input("walk")
    request = requests.Request(armature="", method="bounds_train", settings={"bounds": "style_exploration"})
    asked, rig = TrainRequest(request, own=False), requests.read(request)
    made = do_at_once(lambda own: style_jobs(own, asked, rig, read_neutral(neutral)))
    targets = [job.spec.target for job in made]
    assert [target.variation for target in targets] == [1, 2, 3, 4]
    assert len({target.batch for target in targets}) == 1
    assert [target.named for target in targets] == ["more energy", "less energy", "more volume", "less volume"]
    assert all(job.attachment(NEUTRAL) is not None and job.status().state == "created" for job in made)


def test_in_the_manner_of_another_clip(neutral, tmp_path):
    out = tmp_path / "manner.safetensors"
    words = ("--style", "manner", "--manner", "run", "--begin", neutral, "--bounds", "style_exploration")
    assert run("bounds", "train", "walk", *LITTLE, *words, "--out", out) == 0
    assert load_controller(out).about["settings"]["style"] == "manner"
    assert len(list((tmp_path / "encoders").glob("*.npz"))) == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--style", "grumpy"), "grumpy"),
        (("--style", "manner"), "--manner CLIP"),
        (("--manner", "run"), "--style manner"),
        (("--style", "manner", "--manner", "nothing_like_it"), "nothing_like_it"),
        (("--style", "more_energy", "--strength", "2"), "strength"),
        (("--style", "more_energy", "--begin", "nowhere.safetensors"), "nowhere"),
    ],
)
def test_what_is_no_style_is_refused_before_anything_is_learned(addon, hasty, tmp_path, capsys, words, complaint):
    assert run("bounds", "train", "walk", *LITTLE, *words, "--out", tmp_path / "x.safetensors") == 1
    assert complaint in capsys.readouterr().err
