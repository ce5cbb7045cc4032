# SPDX-License-Identifier: GPL-3.0-or-later
"""A worker without torch says how to get it, and does everything else."""

import json
import subprocess
import sys

import pytest

from sinew.core import jobs
from sinew.core.errors import BadSettings
from sinew.core.learn.devices import choose_device
from sinew.core.motion.io import stock

# A Python in which these cannot be imported, as if they had never been installed.
WITHOUT = """
import importlib, json, runpy, sys
for name in sys.argv[2].split(","):
    sys.modules[name] = None
runpy.run_path(sys.argv[1])["load_package"]()
from sinew.core.errors import SinewError
"""
TRAIN = """
from sinew.core.learn.hyperparameters import PPOHyperparameters
from sinew.core.learn.trainer import Trainer
try:
    Trainer([], PPOHyperparameters(), 0)
except SinewError as error:
    print(json.dumps([type(error).__name__, error.message, error.hint]))
"""
PLAY = """
import numpy as np
from sinew.core.learn.normaliser import Normaliser, RunningStatistics
from sinew.core.learn.policy import Policy
normaliser = Normaliser(RunningStatistics.empty(2))
policy = Policy(normaliser, [(np.array([[2.0, 1.0]], np.float32), np.ones(1, np.float32))], "elu", 1.0,
                np.ones(1, np.float32))
print(json.dumps(policy(np.array([[3.0, 4.0]])).tolist()))
"""
SIMULATE = """
from sinew.core.jobs import worker
sys.exit(worker.main([sys.argv[3]]))
"""


@pytest.fixture
def python_without(root):
    def run(names, script, *arguments):
        command = [sys.executable, "-c", WITHOUT + script, str(root / "core" / "entry.py"), names, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("missing", ["torch", "safetensors"])
def test_training_names_what_is_missing_and_how_to_install_it(python_without, missing):
    kind, message, hint = json.loads(python_without(missing, TRAIN))
    assert kind == "LearningMissing"
    assert missing in message and sys.executable in message
    assert "pip install torch==" in hint and "safetensors==" in hint and "preferences" in hint


def test_what_is_to_be_installed_is_what_is_tested_with(python_without, root):
    _, _, hint = json.loads(python_without("torch", TRAIN))
    pinned = (root / "requirements" / "common.txt").read_text().split()
    asked = [word.rstrip(",") for word in hint.split() if "==" in word]
    assert len(asked) == 2 and set(asked) <= set(pinned)


def test_a_learned_policy_can_be_played(python_without):
    assert json.loads(python_without("torch,safetensors", PLAY)) == [[11.0]]


def test_sampling_still_works(python_without, tmp_path):
    clip = stock.load_stock("walk").frames(0, 10)
    job = jobs.create(clip, method="sampling", settings={}, engine="mujoco", seed=3, folder=tmp_path / "job")
    python_without("torch,safetensors", SIMULATE, str(job.folder))
    assert job.status().state == "done"
    assert len(job.result().take.motion) == len(clip)


def test_a_device_that_is_not_there_is_refused():
    assert choose_device("cpu") == "cpu"
    with pytest.raises(BadSettings, match="cpu"):
        choose_device("a device of the future")
