# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollouts of wavers whose every checkpoint is kept, so that they can be killed and resumed at any of them."""

import io
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields

import numpy as np
import pytest

from sinew.bench.run import BenchRun
from sinew.core.control.sampling import checkpoint, plan, relaxing, search
from sinew.core.control.sampling import stage_rollout as rollout
from sinew.core.control.sampling.checkpoint import RolloutCheckpoints
from sinew.core.control.sampling.fragment_samples import FragmentSamples, Trajectory
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.control.sampling.rollout_progress import RolloutProgress
from sinew.core.control.sampling.stage_recording import record_rollout
from sinew.core.motion.losing import LostMotionDetector
from sinew.core.sim import engines

from .toys import rollout_of

SHORT = 3  # fragments in a section, so that half a second has several


class Killed(BaseException):
    """As good as a SIGKILL: nothing that a method does can stop it."""


class MemoryRun(BenchRun):
    """A run that keeps every checkpoint as it would be in its file, and may be told to die at a report of progress."""

    def __init__(self, attachments=None, *, resume=None, stop_at=None, error=Killed, engine="mujoco"):
        super().__init__(engine, 5, attachments or {})
        self.saved, self.steps = [], []
        self.resume, self.stop_at, self.error = resume, stop_at, error

    def progress(self, step, total, /, **measurements):
        if total == 1:  # the stage is being assembled
            return
        self.steps.append((step, total))
        if len(self.steps) == self.stop_at:
            raise self.error

    def save_checkpoint(self, step, /, **arrays):
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        self.saved.append((step, stream.getvalue()))

    def load_checkpoint(self):
        return None if self.resume is None else (self.resume[0], read(self.resume))


def read(saved) -> dict[str, np.ndarray]:
    archive = np.load(io.BytesIO(saved[1]), allow_pickle=False)
    return {name: archive[name] for name in archive.files}


def perform(rollout, run) -> None:
    """What the method does once a rollout is made, but for reports of progress while models are explored."""
    checkpoints = RolloutCheckpoints(run)
    checkpoints.load(rollout)
    rollout.run(RolloutProgress(run, checkpoints).watch)


@dataclass(eq=False)
class Scene:
    """Wavers with clips, what else is on the stage, constants that make it interesting, and what nobody disturbed."""

    clips: list
    stage: dict = field(default_factory=dict)
    constants: tuple = ()
    engine: str = "mujoco"
    repeats: bool = False
    shares_first: bool = False
    refits_above: float = 0.0

    def __post_init__(self):
        self.run = MemoryRun(engine=self.engine)
        with self.made() as whole:
            perform(whole, self.run)
            self.whole, self.film = whole, record_rollout(whole)
        assert len(self.run.saved) == len(self.run.steps)

    @contextmanager
    def made(self):
        """A rollout at its beginning, and the constants as long as it lives."""
        get_engine = engines.get_engine
        with ExitStack() as opened, pytest.MonkeyPatch.context() as patch:
            patch.setattr(checkpoint, "_PAUSE_S", -1.0)  # a checkpoint after every fragment
            patch.setattr(checkpoint, "_SHARE", np.inf)
            patch.setattr(plan, "AHEAD", 2)
            patch.setattr(engines, "get_engine", lambda _: get_engine(self.engine))
            for module, name, value in self.constants:
                patch.setattr(module, name, value)
            choices = {"repeats": self.repeats, "shares_first": self.shares_first, "improves": True}
            effort = SearchEffort(20, (0.1, 0.07), self.refits_above, **choices)
            yield rollout_of(opened, self.clips, effort=effort, **self.stage)

    def moments(self, wanted) -> list[int]:
        """After which checkpoints the arrays are as wanted."""
        return [index for index, saved in enumerate(self.run.saved) if wanted(read(saved))]

    def resumed(self, index: int) -> None:
        """Go on from a checkpoint; everything must be as if nothing had happened."""
        run = MemoryRun(resume=self.run.saved[index], engine=self.engine)
        with self.made() as again:
            perform(again, run)
            film = record_rollout(again)
        assert run.steps == self.run.steps[index + 1 :]  # no fragment twice, and no progress lost
        same(state_of(again), state_of(self.whole), "rollout")
        for name in ("qpos", "qvel", "targets"):
            same(getattr(film, name), getattr(self.film, name), name)
        same(vars(film.rows), vars(self.film.rows), "rows")

    def stopped(self, rollout, looks: int):
        """A rollout of the scene after as many looks."""
        with pytest.raises(Killed):
            perform(rollout, MemoryRun(stop_at=looks, engine=self.engine))
        return rollout


def state_of(rollout) -> dict:
    """All that a rollout is, besides what it is made of."""
    found = {name: getattr(rollout, name) for name in ("state", "start_states", "offsets", "waiting", "planning")}
    found["characters"] = [
        {name: getattr(one, name) for name in ("trajectory", "planned", "anchor", "undisturbed")}
        | {"astray": one.watch.astray, "relaxation": one.relaxation and vars(one.relaxation)}
        for one in rollout.characters
    ]
    return found


def same(one, other, where: str) -> None:
    """Assert that arrays and what consists of them are equal, bit for bit."""
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes()), where
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for index, (mine, its) in enumerate(zip(one, other, strict=True)):
            same(mine, its, f"{where}[{index}]")
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            same(one[key], other[key], f"{where}[{key}]")
    elif isinstance(
        one, FragmentSamples | Trajectory | search.SamconSearch | search.SamplingDistribution | search.LqrSolution
    ):
        for part in fields(one):
            if part.name != "problem":
                same(getattr(one, part.name), getattr(other, part.name), f"{where}.{part.name}")
    else:
        assert one == other, where


def sections(count: int) -> tuple:
    return ((plan, "SECTION", count), (rollout, "SECTION", count))


# References come along with bodies at once, for a lost anchor to be noticed.
ANCHORED = (search, "_REACH_M", 0.0)
# Every fragment by itself is taken for lost, whatever was before it.
LOST = ((search.SamconSearch, "_lost_since", lambda self: len(self.layers) - 1), (search, "_LONG", 1))
HARD = (*sections(SHORT), ANCHORED, *LOST, (search, "_BACK", 2), (search, "_PATIENCE", 3.0))


def lost_from(frame: int) -> tuple:
    """The body is taken for lost from this frame of its source on."""
    return (
        (LostMotionDetector, "detect_toppled", lambda self, frames, *_: frames >= frame),
        (relaxing, "LOST_FRAGMENTS", 2),
    )


def now(arrays, *, who=0, number=0) -> bool:
    """Whether this one is making a plan and in this pass."""
    return "plan" in arrays and arrays["plan"][:2].tolist() == [who, number]
