# SPDX-License-Identifier: GPL-3.0-or-later
"""People of the stock clips as jobs of the sampling method, in this process and with little effort."""

import numpy as np

from sinew.core.control.cast import CastMember, make_member_attachments
from sinew.core.control.sampling import method as method_module
from sinew.core.control.sampling.method import SamplingMethod, SamplingSettings
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.motion import Clip, Take
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import StageParts


class MemoryRun:
    """A worker's run that remembers what it is told."""

    engine = "mujoco"

    def __init__(self, seed: int, attachments) -> None:
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.attachments = attachments
        self.steps, self.totals = [], set()
        self.findings, self.traces, self.details, self.shown = [], [], {}, []

    def progress(self, step, total, /, **measurements) -> None:
        self.steps.append(step)
        self.totals.add(total)

    def show(self, arrays, meta) -> None:
        self.shown.append((dict(arrays), dict(meta)))

    def save_checkpoint(self, step, /, **arrays) -> None:
        pass

    def load_checkpoint(self):
        return None

    def attachment(self, name):
        return self.attachments.get(name)

    def add_finding(self, kind, message, hint) -> None:
        self.findings.append((kind, message))

    def add_detail(self, name, value) -> None:
        self.details[name] = value

    def add_trace(self, trace) -> None:
        self.traces.append(trace)


def simulated(
    monkeypatch, clip: Clip, *, seed: int = 0, others=(), parts: StageParts | None = None, **attachments
) -> tuple[Take, MemoryRun]:
    """A take with a quarter of a draft's effort."""
    monkeypatch.setitem(method_module.EFFORTS, "draft", SearchEffort(24, (0.1,)))
    for number, (name, other) in enumerate(others, start=1):
        attachments |= make_member_attachments(CastMember(name, other, number), {})
    if parts is not None:
        attachments["stage"] = stage_to_arrays(parts)
    run = MemoryRun(seed, attachments)
    return SamplingMethod().run(clip, SamplingSettings(quality="draft"), run), run
