# SPDX-License-Identifier: GPL-3.0-or-later
"""Training that makes nothing but a learned file: killed, it goes on bit for bit; damaged, it is no result."""

import os
import signal
from pathlib import Path

import pytest

from directed_walks import make_stored_walks
from little_policies import LITTLE, trained_alike
from sinew.core import jobs
from sinew.core.control.tracking.library_files import store_library
from sinew.core.control.tracking_policy.learned_file import DIRECTED, TrainedDirector
from sinew.core.errors import JobError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")

# Little effort, and a checkpoint after every update.
LITTLE_EFFORT = f"""
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
import little_policies
little_policies.spare_effort()
little_policies.practice.CHECKPOINT_S = 0.0
"""
# An end at the fifth checkpoint.
KILLED = """
save, count = checkpoints.write_checkpoint, []
def saved(folder, *rest):
    save(folder, *rest)
    count.append(1)
    if len(count) == 5:
        die()
checkpoints.write_checkpoint = saved
"""


def training_of(folder) -> jobs.Job:
    stored = make_stored_walks()
    return jobs.create(
        stored.library.clip(0).frames(0, 1),
        method="direct_train",
        settings=LITTLE,
        engine="mujoco",
        seed=3,
        folder=folder,
        attachments={DIRECTED.attachment: store_library(stored)},
    )


def test_killed_in_the_middle_of_training_it_is_the_same_file(run_worker, tmp_path):
    whole, broken = training_of(tmp_path / "whole"), training_of(tmp_path / "broken")
    ended = run_worker(whole, LITTLE_EFFORT)
    assert ended.returncode == 0, ended.stderr
    assert run_worker(broken, LITTLE_EFFORT + KILLED).returncode == -signal.SIGKILL
    assert broken.status().state == "lost" and 0.0 < broken.status().fraction < 1.0
    assert run_worker(broken, LITTLE_EFFORT).returncode == 0
    trained_alike(whole.product("direct"), broken.product("direct"))
    report = broken.report()
    assert report["runs"] == 2 and report["train"]["samples"] >= 1000 and report["fell"] is None

    assert not broken.take_file.exists() and broken.has_result()
    assert isinstance(DIRECTED.from_content(broken.product("direct"), "it"), TrainedDirector)
    with pytest.raises(JobError, match=r"take\.npz"):
        broken.result()
    file = broken.product_file("direct")
    file.write_bytes(file.read_bytes()[:-20])
    assert not broken.has_result()
    with pytest.raises(JobError, match=r"(?s)direct\.npz.*damaged.*Start the job again"):
        broken.report()
