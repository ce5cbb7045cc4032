# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark of styles with hardly any learning: what its rows say, and that what is kept is not learned again."""

import pytest

from sinew.bench.bounds import styles
from sinew.bench.bounds.table import BoundsBench
from sinew.core.control.bounds.train_settings import BoundsTrainSettings
from sinew.core.errors import BadFile
from sinew.core.learn import autoencoder_cache
from sinew.core.motion.io import stock

from ...stock_clips import stock_clip

pytest.importorskip("torch")


def clip_of(name):
    if "sad" in name:
        raise BadFile("It is nowhere")
    return stock.load_stock("run")


@pytest.fixture
def bench(tmp_path, monkeypatch):
    stock_clip("walk")
    monkeypatch.setattr(styles, "_WATCHED_S", 0.5)
    monkeypatch.setattr(autoencoder_cache, "_STEPS", 5)
    monkeypatch.setattr(autoencoder_cache, "encoder_folder", lambda: tmp_path / "encoders")
    said = []
    settings = BoundsTrainSettings(bounds="locomotion", millions=0.001, worlds=16, seconds=1.0)
    return BoundsBench(tmp_path, clips=("walk", "cartwheel"), settings=settings, say=said.append)


def test_a_style_is_told_by_how_far_it_is_from_the_neutral_policy(bench):
    neutral, styled = styles.measure_styles(bench, ["style"], [0], clip_of, ["more_energy"])
    assert (neutral["style"], neutral["bounds"], styled["bounds"]) == ("neutral", "locomotion", "style_exploration")
    assert styled["energy_change"] == pytest.approx(styled["energy_j"] / neutral["energy_j"] - 1.0)
    assert not styled["reached"]  # a thousand samples teach nothing
    assert "energy" in styles.format_style_row(styled)
    written = {path: path.stat().st_mtime_ns for path in bench.folder.glob("*.safetensors")}
    assert len(written) == 2
    again = list(styles.measure_styles(bench, ["style"], [0], clip_of, ["more_energy"]))
    assert [row["energy_j"] for row in again] == [neutral["energy_j"], styled["energy_j"]]
    assert {path: path.stat().st_mtime_ns for path in bench.folder.glob("*.safetensors")} == written


def test_a_manner_is_told_by_what_is_left_of_its_distance_and_a_missing_clip_costs_one_row(bench):
    neutral, sad, happy = styles.measure_styles(bench, ["manner"], [0], clip_of)
    assert "refused" in sad
    assert "nowhere" in styles.format_style_row(sad)
    assert neutral["energy_j"] > 0.0
    assert set(happy) >= {"distance_neutral", "distance", "left", "reached"}
