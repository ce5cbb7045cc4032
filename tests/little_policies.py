# SPDX-License-Identifier: GPL-3.0-or-later
"""Hardly any effort to train and test a policy for the walks, so that it takes moments: what it learns is nothing."""

import json

from sinew.core import jobs
from sinew.core.control import practice
from sinew.core.control.direct import train_method
from sinew.core.control.tracking_policy import training
from sinew.core.jobs import worker

LITTLE = {"millions": 0.001, "worlds": 8, "practised": 0.1, "threads": 1, "device": "cpu"}
"""Settings of ``direct_train``."""
_EFFORT = (
    (training, "_TEST_COPIES", 2),
    (training, "_TEST_MINUTES", 0.02),
    (train_method, "_TESTED_USERS", 1),
    (train_method, "_USER_S", 4.0),
)


__all__ = ["LITTLE", "launch_here", "practice", "spare_effort", "trained_alike"]


def spare_effort(set_value=setattr):
    """Let tests within training be short; set_value: sets an attribute of a module, as ``monkeypatch.setattr`` does."""
    for module, name, value in _EFFORT:
        set_value(module, name, value)


def launch_here(set_value, first=lambda job: None):
    """Let jobs be done at once, in this process and with little effort; first: what is done to each before that."""
    spare_effort(set_value)

    def launched(job, python=None, where=None):
        first(job)
        worker._run(job)

    set_value(jobs, "launch", launched)


def trained_alike(one, other):
    """Asserts that two products of training are the same bit for bit, but for how long it took."""
    assert one[0].keys() == other[0].keys() and any(name.startswith("policy_") for name in one[0])
    assert all(one[0][name].tobytes() == other[0][name].tobytes() for name in one[0])
    texts = []
    for _, meta in (one, other):
        about = json.loads(json.dumps(meta))
        assert about["controller"]["about"].pop("seconds") > 0.0
        about.pop("sha256", None)
        texts.append(about)
    assert texts[0] == texts[1]
