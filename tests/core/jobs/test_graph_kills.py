# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning that is killed goes on at its last finished step, and the graph is the one that it would have been."""

import os
import signal
from pathlib import Path

import pytest

from sinew.core import jobs
from sinew.core.control.graph.transitions.motion_graph import MotionGraph, Skill, motion_graph_attachments
from sinew.core.motion.io import stock

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")

LITTLE = f"""
runpy.run_path({str(Path(__file__).with_name("little_learning.py"))!r})
"""
# An end at the n-th checkpoint of the run.
KILLED = """
save, count = checkpoints.write_checkpoint, []
def saved(folder, *rest):
    save(folder, *rest)
    count.append(1)
    if len(count) == {n}:
        die()
checkpoints.write_checkpoint = saved
"""


def learning_of(folder) -> jobs.Job:
    clip = stock.load_stock("run")
    graph = MotionGraph((Skill("run", clip, "cycle", gait=True),))
    return jobs.create(
        clip,
        method="graph_learn",
        settings={"quality": "draft"},
        engine="mujoco",
        seed=3,
        folder=folder,
        attachments=motion_graph_attachments(graph),
    )


def test_killed_in_the_middle_of_learning_it_is_the_same_graph(run_worker, same, tmp_path):
    whole, broken = learning_of(tmp_path / "whole"), learning_of(tmp_path / "broken")
    assert run_worker(whole, LITTLE).returncode == 0
    for n in (1, 1, 1):  # after it was refined, after its iteration, and in the middle of practice
        assert run_worker(broken, LITTLE + KILLED.format(n=n)).returncode == -signal.SIGKILL
        assert broken.status().state == "lost"
    assert run_worker(broken, LITTLE).returncode == 0
    one, other = whole.product("graph"), broken.product("graph")
    assert one[1] == other[1] and one[0].keys() == other[0].keys()
    assert all(one[0][name].tobytes() == other[0][name].tobytes() for name in one[0])
    assert len(one[1]["about"]["curve"]) == 3
    same(whole.result().take.motion, broken.result().take.motion)
    assert broken.result().report["runs"] == 4
