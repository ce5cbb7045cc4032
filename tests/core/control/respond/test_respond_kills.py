# SPDX-License-Identifier: GPL-3.0-or-later
"""A training that is killed on the way: teacher and student have the same bits as of one that was not."""

import numpy as np
import pytest

from deed_clips import make_deeds
from sinew.core.control import practice, registry
from sinew.core.control.respond.learned_file import RESPONDER
from sinew.core.control.tracking.library_files import store_library

pytest.importorskip("torch")

SETTINGS = {"updates": 6, "shown": 0.5, "units": 16, "layers": 1, "trials": 2, "teacher": 0.004}


class Killed(Exception):
    """The end of a worker."""


class OneRun:
    """A run that is killed at a checkpoint, or goes on from one."""

    seed, engine = 3, None

    def __init__(self, *, dies_at=0, checkpoint=None):
        self.rng = np.random.default_rng(self.seed)
        self.details, self.products, self.checkpoint, self.saved = {}, {}, checkpoint, 0
        self.dies_at = dies_at

    def attachment(self, name):
        return store_library(make_deeds()) if name == RESPONDER.attachment else None

    def save_checkpoint(self, step, /, **arrays):
        self.checkpoint = step, {name: np.array(array) for name, array in arrays.items()}
        self.saved += 1
        if self.saved == self.dies_at:
            raise Killed

    def load_checkpoint(self):
        return self.checkpoint

    def is_enough(self):
        return False

    def progress(self, *_, **__):
        pass

    def add_detail(self, name, detail):
        self.details[name] = detail

    def add_finding(self, kind, message, hint=""):
        raise AssertionError(message)  # such as that it begins anew

    def add_product(self, name, arrays, meta):
        self.products[name] = arrays


def test_killed_while_the_student_learns_both_are_what_they_would_have_been(monkeypatch):
    monkeypatch.setattr(practice, "CHECKPOINT_S", 0.0)
    method = registry.get_method("respond_train")
    settings = method.settings_type.from_mapping(SETTINGS)
    whole, killed = OneRun(), OneRun(dies_at=3)
    method.run(None, settings, whole)
    with pytest.raises(Killed):
        method.run(None, settings, killed)
    resumed = OneRun(checkpoint=killed.checkpoint)
    method.run(None, settings, resumed)
    assert resumed.saved == whole.saved - 3
    one, other = whole.products[RESPONDER.name], resumed.products[RESPONDER.name]
    assert one.keys() == other.keys() and [name for name in one if not np.array_equal(one[name], other[name])] == []
    assert whole.details["teacher"] == resumed.details["teacher"]
    for name in ("frames", "tests", "default"):
        assert whole.details["train"][name] == resumed.details["train"][name]
