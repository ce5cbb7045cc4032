# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes by intent on a walk: what is found is what the same newtons do, and a kill changes nothing."""

import io

import numpy as np
import pytest

from sinew.core.control.sampling import checkpoint, reaction_trials
from sinew.core.control.sampling import method as method_module
from sinew.core.control.sampling.method import SamplingMethod, SamplingSettings
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.control.tracking.reactions import BRACES, Reaction
from sinew.core.motion.plain_walk import plain_walk
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import PushPart, StageParts

from .people import MemoryRun


class Killed(BaseException):
    """The worker is gone."""


class KeptRun(MemoryRun):
    """A run with checkpoints, which can be killed at a report of progress."""

    def __init__(self, seed, attachments, killed_at=None, checkpoint=None):
        super().__init__(seed, attachments)
        self.saved, self._killed_at, self._checkpoint, self.said = checkpoint, killed_at, checkpoint, []

    def progress(self, step, total, /, **measurements):
        super().progress(step, total)
        self.said.append(measurements.get("doing", ""))
        if self._killed_at is not None and self._killed_at(self):
            raise Killed

    def save_checkpoint(self, step, /, **arrays):
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        self.saved = step, stream.getvalue()

    def load_checkpoint(self):
        if self._checkpoint is None:
            return None
        archive = np.load(io.BytesIO(self._checkpoint[1]), allow_pickle=False)
        return self._checkpoint[0], {name: archive[name] for name in archive.files}


@pytest.fixture(scope="module", autouse=True)
def _little_effort():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(method_module.EFFORTS, "draft", SearchEffort(24, (0.1,)))
        patch.setattr(checkpoint, "_PAUSE_S", 0.0)
        patch.setattr(checkpoint, "_SHARE", 1e9)
        yield


def simulate(intent="", push_n=100.0, seed=0, **kept):
    """A walk pushed at the chest from the front."""
    push = PushPart("Shove", "", "chest", np.array([0.0, push_n, 0.0]), 0.75, 0.2, intent)
    stage = stage_to_arrays(StageParts(characters=("",), pushes=(push,)))
    run = KeptRun(seed, {"stage": stage}, **kept)
    return SamplingMethod().run(plain_walk(1.8), SamplingSettings(quality="draft"), run), run


def same(one, other):
    assert one.motion.local_quat_wxyz.tobytes() == other.motion.local_quat_wxyz.tobytes()
    assert one.motion.local_pos.tobytes() == other.motion.local_pos.tobytes()


@pytest.fixture(scope="module")
def fallen(_little_effort):
    return simulate("fall")


def test_a_fall_is_found_and_told(fallen):
    _, run = fallen
    found = run.details["reactions"]["Shove"]
    assert found["found"] and found["reaction"] == "falls" and found["unit"] == "N" and found["seed"] == 0
    said = [message for kind, message in run.findings if kind == "reaction"]
    assert said == [f"Fall: {found['strength']:.0f} N, seed 0 ('Shove')"]
    assert any(words.startswith("Fall: trying ") for words in run.said)
    assert run.steps == sorted(run.steps) and len(run.totals) == 1 and run.steps[-1] == run.totals.copy().pop()


def test_the_take_is_what_the_same_newtons_give(fallen):
    take, run = fallen
    same(take, simulate(push_n=run.details["reactions"]["Shove"]["strength"])[0])


@pytest.mark.parametrize("after", [1, 12])
def test_a_run_that_is_killed_within_a_trial_ends_the_same(fallen, after):
    take, run = fallen
    with pytest.raises(Killed):
        simulate("fall", killed_at=(killed := Kill(after)))
    again, resumed = simulate("fall", checkpoint=killed.saved)
    same(take, again)
    assert resumed.details["reactions"] == run.details["reactions"]


class Kill:
    """Kills a run at its so-manieth report within trials."""

    def __init__(self, after):
        self.after, self.saved = after, None

    def __call__(self, run):
        self.saved = run.saved
        return sum("trying" in words for words in run.said) >= self.after


def test_a_brace_is_weaker_than_a_fall(fallen):
    _, run = simulate("brace")
    found = run.details["reactions"]["Shove"]
    assert found["strength"] < fallen[1].details["reactions"]["Shove"]["strength"]
    assert found["found"] == (found["reaction"] == "braces" and found["off_m"] > 0.05)


def test_what_no_seed_gives_is_said_and_the_nearest_is_taken(monkeypatch):
    """A body that braces whatever one does: the seeds are tried, and the take is still made."""
    monkeypatch.setattr(reaction_trials, "SEEDS", 2)
    monkeypatch.setattr(reaction_trials, "classify_reaction", lambda *_: Reaction(BRACES, 0.1, True))
    monkeypatch.setattr(reaction_trials, "next_strength", lambda intent, first, trials: 50.0 if not trials else None)
    take, run = simulate("stagger", seed=5)
    found = run.details["reactions"]["Shove"]
    assert not found["found"] and [one["seed"] for one in found["trials"]] == [5, 6] and found["seed"] == 5
    (said,) = [message for kind, message in run.findings if kind == "reaction"]
    assert "not found" in said and "50 N" in said
    same(take, simulate(push_n=50.0, seed=5)[0])
