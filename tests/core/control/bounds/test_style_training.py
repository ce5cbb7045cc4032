# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles learned as jobs would: from a neutral policy or from nothing, killed and resumed, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.bench.run import BenchRun
from sinew.core.control import practice, registry
from sinew.core.control.bounds.bounds import bounds_of_preset, sample_widths
from sinew.core.control.bounds.controller import controller_from_arrays
from sinew.core.control.bounds.endurance import Endurance
from sinew.core.control.bounds.style import training as styled
from sinew.core.control.bounds.style.energy_and_volume import EnergyReward
from sinew.core.control.bounds.style.style_choice import NEUTRAL, attach_style_clip
from sinew.core.control.bounds.training import BoundsTrainingConfig
from sinew.core.errors import BoundsError
from sinew.core.learn import autoencoder_cache
from sinew.core.motion.io import stock
from sinew.core.sim import engines

from ....stock_clips import stock_clip
from ...body import figures

pytest.importorskip("torch")
LITTLE = {
    "bounds": "style_exploration",
    "millions": 0.001,
    "worlds": 16,
    "seconds": 1.0,
    "symmetric": False,
    "warm": False,
}


class Run(BenchRun):
    """A run that keeps its checkpoint, and may be killed after some steps."""

    def __init__(self, attachments=None, checkpoint=None, killed_after=None) -> None:
        super().__init__("mujoco", 0, attachments or {})
        self.checkpoint, self.killed_after, self.steps = checkpoint, killed_after, 0

    def progress(self, step, total, /, **measurements) -> None:
        self.steps += 1
        if self.steps == self.killed_after:
            raise KeyboardInterrupt

    def save_checkpoint(self, step, /, **arrays) -> None:
        self.checkpoint = (step, {name: np.array(array) for name, array in arrays.items()})

    def load_checkpoint(self):
        return self.checkpoint


def trained(run=None, clip="walk", **settings):
    method, run = registry.get_method("bounds_train"), run or Run()
    method.run(stock.load_stock(clip), method.settings_type.from_mapping({**LITTLE, **settings}), run)
    return run


@pytest.fixture(scope="module")
def neutral():
    stock_clip("walk")
    return trained().products["controller"]


def weights_of(product):
    return {name: array for name, array in product[0].items() if name.startswith(("policy.weights", "policy.biases"))}


def differ(one, other):
    return any(np.any(weights_of(other)[name] != array) for name, array in weights_of(one).items())


def test_a_style_begins_as_the_neutral_policy_and_listens_first(neutral):
    run = trained(Run({NEUTRAL: neutral}), style="more_energy")
    # A thousand samples are fewer updates than it listens: what it does is still what the neutral policy does.
    assert not differ(neutral, run.products["controller"])
    assert differ(neutral, trained(style="more_energy").products["controller"])


def test_a_killed_style_goes_on_as_if_nothing_had_happened(neutral, monkeypatch):
    monkeypatch.setattr(practice, "CHECKPOINT_S", 0.0)
    monkeypatch.setattr(styled, "_CRITIC_UPDATES", 2)
    words = {"style": "less_volume", "strength": 0.5}
    whole = trained(Run({NEUTRAL: neutral}), **words)
    killed = Run({NEUTRAL: neutral}, killed_after=4)
    with pytest.raises(KeyboardInterrupt):
        trained(killed, **words)
    resumed = trained(Run({NEUTRAL: neutral}, killed.checkpoint), **words)
    assert resumed.steps < whole.steps
    assert not differ(whole.products["controller"], resumed.products["controller"])
    assert differ(neutral, whole.products["controller"])


def test_in_the_manner_of_another_action(neutral, monkeypatch, tmp_path):
    monkeypatch.setattr(autoencoder_cache, "_STEPS", 20)
    monkeypatch.setattr(autoencoder_cache, "encoder_folder", lambda: tmp_path)
    run = trained(Run({NEUTRAL: neutral, **attach_style_clip(stock.load_stock("run"))}), style="manner")
    about = controller_from_arrays(*run.products["controller"]).about
    assert about["settings"]["style"] == "manner"
    assert len(list(tmp_path.glob("*.npz"))) == 1


def test_a_manner_without_an_action_or_on_another_skeleton_is_refused_before_anything_is_learned():
    with pytest.raises(BoundsError, match="no motion in whose manner"):
        trained(style="manner")
    fox = figures.wiggling(figures.fox())
    with pytest.raises(BoundsError, match="another skeleton"):
        trained(Run(attach_style_clip(fox)), style="manner")


def test_a_policy_for_another_body_or_motion_is_no_beginning(neutral, body, walk):
    with pytest.raises(BoundsError, match="another body"):
        trained(Run({NEUTRAL: neutral}), clip="run", style="more_energy")
    begun = controller_from_arrays(*neutral)
    with pytest.raises(BoundsError, match="another motion"):
        styled.require_same_reference(begun, replace(begun.reference, targets=begun.reference.targets + 0.01))
    styled.require_same_reference(begun, begun.reference)


@pytest.fixture
def training(body, walk):
    widths = sample_widths(bounds_of_preset(body, "style_exploration"), walk, stock.load_stock("walk"))
    config, engine = BoundsTrainingConfig(worlds=8), engines.get_engine("mujoco")
    with styled.StyledTraining(walk, widths, engine, config, 0, lambda: (EnergyReward(walk, True),), None) as made:
        yield made


def test_of_those_that_last_the_most_styled_is_kept(training, monkeypatch):
    """Tests whose outcome is said here, of policies that are told apart by when they were tested."""
    outcomes = [(0.9, 0.99), (0.3, 1.0), (0.5, 1.0), (0.8, 0.5), (0.4, 1.0), (0.45, 1.0)]
    shares = iter([share for _, share in outcomes])

    def endured(*_):
        lived = np.array([round(1000 * next(shares))])
        return Endurance(np.zeros(1, dtype=np.int64), lived, np.array([1000]), ("",))

    monkeypatch.setattr("sinew.core.control.bounds.training.measure_policy_endurance", endured)
    kept, enough = [], []
    for worth, _ in outcomes:
        training.advance()
        newest = training.trainer.policy
        record = training.trainer.curve[-1]
        training.trainer.curve[-1] = type(record)(**{**vars(record), "terms": {"style": worth}})
        training.test()
        kept.append(np.array_equal(training.best.layers[0][0], newest.layers[0][0]))
        assert not training.is_done  # it may still get better
        with monkeypatch.context() as patch:
            patch.setattr(styled, "_PATIENCE", 1)
            enough.append(training.is_done)
    assert kept == [True, True, True, False, False, False]
    assert enough == [*[False] * 5, True]  # the fourth does not last and may yet, the fifth has only just begun to
