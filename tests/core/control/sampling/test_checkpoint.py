# SPDX-License-Identifier: GPL-3.0-or-later
"""Killed after whatever fragment and resumed: the take is the one of a run that nobody disturbed, bit for bit."""

import io
from contextlib import ExitStack
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
import pytest

from sinew.core.control.cast import CastMember, member_attachments
from sinew.core.control.registry import get
from sinew.core.control.sampling import checkpoint, method, performance, plan, search
from sinew.core.control.sampling.checkpoint import Checkpoints, packed, restore
from sinew.core.control.sampling.layers import Layer, Way
from sinew.core.control.sampling.plan import Effort
from sinew.core.errors import BadFile
from sinew.core.jobs.running import Cancelled
from sinew.core.measure.bench_run import BenchRun
from sinew.core.motion import Clip
from sinew.core.motion.io import stock
from sinew.core.sim import engines
from sinew.core.sim.io import to_arrays
from sinew.core.sim.parts import PushPart, StageParts

SHORT = 4  # fragments in a section, so that half a second has several


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


@dataclass(frozen=True)
class Scene:
    """A clip, what its job has besides, and the run that nobody disturbed."""

    clip: Clip
    attachments: dict
    run: MemoryRun
    take: object

    def moments(self, wanted) -> list[int]:
        """After which checkpoints the arrays are as wanted."""
        return [index for index, saved in enumerate(self.run.saved) if wanted(read(saved))]

    def resumed(self, index: int) -> None:
        """Go on from a checkpoint; everything must be as if nothing had happened."""
        run = MemoryRun(self.attachments, resume=self.run.saved[index])
        take = simulated(self.clip, run)
        assert run.steps == self.run.steps[index + 1 :]  # no fragment twice, and no progress lost
        same_takes(take, self.take)
        for one, other in zip(run.traces, self.run.traces, strict=True):
            for name in ("seen_pos", "contact_force", "torque"):
                assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name


def simulated(clip, run):
    sampling = get("sampling")
    return sampling.run(clip, sampling.settings_type(quality="draft"), run)


def same_takes(one, other) -> None:
    for mine, its in zip((one, *one.others), (other, *other.others), strict=True):
        assert mine.motion.local_pos.tobytes() == its.motion.local_pos.tobytes()
        assert mine.motion.local_quat_wxyz.tobytes() == its.motion.local_quat_wxyz.tobytes()
        assert mine.contacts.tobytes() == its.contacts.tobytes() and mine.fell_at_s == its.fell_at_s
    for mine, its in zip(one.props, other.props, strict=True):
        assert mine.pos.tobytes() == its.pos.tobytes() and mine.quat_wxyz.tobytes() == its.quat_wxyz.tobytes()


@pytest.fixture(scope="module", autouse=True)
def small():
    """Few copies, two passes, short sections, and a checkpoint after every fragment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(method._EFFORTS, "draft", Effort(16, (0.1, 0.07)))
        patch.setattr(checkpoint, "_PAUSE_S", -1.0)
        patch.setattr(checkpoint, "_SHARE", np.inf)
        for module in (plan, performance):
            patch.setattr(module, "SECTION", SHORT)
        patch.setattr(plan, "AHEAD", 2)
        yield patch


def played(clip, attachments=None) -> Scene:
    run = MemoryRun(attachments)
    take = simulated(clip, run)
    assert len(run.saved) == len(run.steps)
    return Scene(clip, attachments or {}, run, take)


@pytest.fixture(scope="module")
def hard(small):
    """Ten fragments, in three sections, of which the search believes that all is lost as long as it may go back."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_LOST", -1.0)
        patch.setattr(search, "_BACK", 2)
        patch.setattr(search, "_PATIENCE", 3.0)
        yield played(stock.load("walk").frames(0, 31))


@pytest.fixture(scope="module")
def pushed(small):
    """One who is pushed in the second of its fragments."""
    push = PushPart("Shove", "Hero", "chest", np.array([0.0, 150.0, 0.0]), 0.12, 0.05)
    small.setattr(performance, "SECTION", 10)
    small.setattr(plan, "SECTION", 10)
    yield played(stock.load("walk").frames(0, 31), {"stage": to_arrays(StageParts(("Hero",), pushes=(push,)))})
    small.setattr(performance, "SECTION", SHORT)
    small.setattr(plan, "SECTION", SHORT)


@pytest.fixture(scope="module")
def two(small):
    """Two who walk side by side."""
    clip = stock.load("walk").frames(0, 16)
    aside = np.array(clip.local_pos)
    aside[:, 0, :2] += [2.0, 2.0]
    other = Clip(clip.skeleton, clip.fps, aside, clip.local_quat_wxyz, "Other")
    return played(clip, member_attachments(CastMember("Other", other, 1), {}))
