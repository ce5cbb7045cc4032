# SPDX-License-Identifier: GPL-3.0-or-later
"""The example method: the clip as it is, in steps, and from where it stopped."""

import numpy as np
import pytest

from sinew.core.control import registry
from sinew.core.control.passthrough import Passthrough, PassthroughSettings
from sinew.core.motion import Clip, Skeleton, Tag


@pytest.fixture
def clip() -> Clip:
    rng = np.random.default_rng(1)
    skeleton = Skeleton(("root", "arm"), [-1, 0], np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1)), [0.3, 0.4])
    pos, quat = rng.normal(size=(25, 2, 3)), rng.choice([-0.5, 0.5], size=(25, 2, 4))
    return Clip(skeleton, 60.0, pos, quat, "Wave", (Tag("wave", 3, 9),))


class Stop(BaseException):
    """What a cancel looks like to a method."""


class FakeRun:
    """A ``Run`` in memory that can stop the method after a number of steps."""

    engine = "none"

    def __init__(self, stop_after: int | None = None) -> None:
        self.rng = np.random.default_rng(0)
        self.steps: list[tuple[int, int]] = []
        self.kept: tuple[int, dict[str, np.ndarray]] | None = None
        self.stop_after = stop_after

    def progress(self, step, total, /, **measurements) -> None:
        self.steps.append((step, total))
        if self.stop_after is not None and len(self.steps) >= self.stop_after:
            raise Stop

    def save_checkpoint(self, step, /, **arrays) -> None:
        self.kept = step, {name: array.copy() for name, array in arrays.items()}

    def load_checkpoint(self):
        return self.kept


def assert_same(a: Clip, b: Clip) -> None:
    assert np.array_equal(a.local_pos, b.local_pos)
    assert np.array_equal(a.local_quat_wxyz, b.local_quat_wxyz)
    assert (a.fps, a.name, a.tags, a.skeleton.names) == (b.fps, b.name, b.tags, b.skeleton.names)


@pytest.mark.parametrize("chunk", [1, 7, 25, 1000])
def test_the_clip_comes_back_whatever_the_steps(clip, chunk):
    run = FakeRun()
    take = Passthrough().run(clip, PassthroughSettings(chunk_frames=chunk), run)
    assert_same(take.motion, clip)
    assert not take.fell
    assert run.steps[-1] == (25, 25)
    assert len(run.steps) == -(-25 // chunk)


def test_it_goes_on_from_its_checkpoint(clip):
    settings = PassthroughSettings(chunk_frames=4)
    run = FakeRun(stop_after=3)
    with pytest.raises(Stop):
        Passthrough().run(clip, settings, run)
    assert run.kept[0] == 12
    run.stop_after = None
    take = Passthrough().run(clip, settings, run)
    assert [step for step, _ in run.steps] == [4, 8, 12, 16, 20, 24, 25]
    assert_same(take.motion, clip)


def test_it_is_in_the_registry():
    method = registry.get_method("passthrough")
    assert isinstance(method, Passthrough)
    assert method.settings_type is PassthroughSettings
    assert not method.uses_engine
    assert method.label
    assert method.help
