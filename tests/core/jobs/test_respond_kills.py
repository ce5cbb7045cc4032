# SPDX-License-Identifier: GPL-3.0-or-later
"""A training that is killed on the way: teacher and student have the same bits as of one that was not."""

import os
import signal

import numpy as np
import pytest

from deed_clips import make_deeds
from sinew.core import jobs
from sinew.core.control.respond.learned_file import RESPONDER
from sinew.core.control.tracking.library_files import store_library

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")

SETTINGS = {"updates": 8, "shown": 0.3, "units": 16, "layers": 1, "trials": 2, "teacher": 0.004}
EAGER = """
from sinew.core.control import practice
practice.CHECKPOINT_S = 0.0
"""
AT_A_CHECKPOINT = (
    EAGER
    + """
save, count = checkpoints.write_checkpoint, []
def saved(folder, *rest):
    save(folder, *rest)
    count.append(1)
    if len(count) == 3:
        die()
checkpoints.write_checkpoint = saved
"""
)


def training_of(folder):
    stored = make_deeds()
    return jobs.create(
        stored.library.clip(0).frames(0, 1),
        method="respond_train",
        settings=SETTINGS,
        seed=3,
        folder=folder,
        attachments={RESPONDER.attachment: store_library(stored)},
    )


def test_killed_while_the_student_learns_both_are_what_they_would_have_been(run_worker, tmp_path):
    whole, broken = training_of(tmp_path / "whole"), training_of(tmp_path / "broken")
    ended = run_worker(whole, EAGER)
    assert ended.returncode == 0, ended.stderr
    assert run_worker(broken, AT_A_CHECKPOINT).returncode == -signal.SIGKILL
    assert broken.status().state == "lost"
    assert run_worker(broken, EAGER).returncode == 0
    (arrays, _), (resumed, _) = whole.product(RESPONDER.name), broken.product(RESPONDER.name)
    assert arrays.keys() == resumed.keys()
    assert [name for name in arrays if not np.array_equal(arrays[name], resumed[name])] == []
    one, other = whole.report(), broken.report()
    assert other["runs"] == 2 and one["teacher"] == other["teacher"]
    for name in ("frames", "tests", "default"):
        assert one["train"][name] == other["train"][name]
