# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts a target, kills it at a random moment, looks, starts it again, and compares what comes of it in the end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .targets import Broken, Target, clear, expect

LONGEST_S = 300.0
KILLS_A_RUN = 6


@dataclass
class Toll:
    """What was done to a target. kills: how many; runs: how often it came to its end; broken: what was found."""

    kills: int = 0
    runs: int = 0
    broken: str = ""


def kill_target(target: Target, kills: int, seed: int, folder: Path) -> Toll:
    """Kill it so often, over as many runs as that takes, and compare every end with that of a run left in peace."""
    rng, toll = np.random.default_rng([seed, *target.name.encode()]), Toll()
    try:
        target.begin(clear(folder / "peace"))
        span_s = _run_to_end(target)
        expected = target.outcome()
        while toll.kills < kills:
            target.begin(clear(folder / f"run-{toll.runs}"))
            _kill_run(target, min(KILLS_A_RUN, kills - toll.kills), span_s, rng, toll)
            expect(target.outcome() == expected, "another result than that of a run in peace")
            toll.runs += 1
    except Broken as error:
        toll.broken = f"{error} (after {toll.kills} kills, in {target.folder})"
    return toll


def _run_to_end(target: Target) -> float:
    """Let it run; gives the seconds that it took."""
    begun = time.monotonic()
    code = target.start().wait(LONGEST_S)
    expect(code == 0, f"it ended with {code} without being killed")
    return time.monotonic() - begun


def _kill_run(target: Target, kills: int, span_s: float, rng: np.random.Generator, toll: Toll) -> None:
    """Kill one run so often, or until it is done, and let it end."""
    for _ in range(kills):
        process = target.start()
        try:
            code = process.wait(rng.uniform(0.0, span_s))
            expect(code == 0, f"it ended with {code} without being killed")
            return
        except subprocess.TimeoutExpired:
            _kill(target, process, with_others=rng.random() < 0.5)
        toll.kills += 1
        target.look()
    _run_to_end(target)


def _kill(target: Target, process: subprocess.Popen[bytes], with_others: bool) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pid in target.others() if with_others else ():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    time.sleep(0.05)
