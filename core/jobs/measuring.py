# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers for a take that is done: every character's, from what physics saw of it or from its clips alone."""

import logging
from dataclasses import replace

from ..control.cast import load_cast
from ..files import to_jsonable
from ..measure import measure_take
from ..motion import Clip, Take
from ..sim.trace import Trace
from .running import WorkerRun

_log = logging.getLogger(__name__)


def measure_job_takes(take: Take, clip: Clip, run: WorkerRun) -> Take:
    """The take with what was measured beside what its method said of it; ``clip`` is the main character's source."""
    sources = (clip, *(member.clip for member in load_cast(run)[: len(take.others)]))
    traces: list[Trace | None] = [*run.traces, *[None] * len(sources)]
    takes = (replace(take, others=()), *take.others)
    main, *others = (_measured(*one, run) for one in zip(takes, sources, traces, strict=False))
    return replace(main, others=(*others, *take.others[len(others) :]))


def _measured(take: Take, source: Clip, trace: Trace | None, run: WorkerRun) -> Take:
    found: dict[str, float] = {}
    lost_at_s = take.lost_at_s
    try:
        measures = measure_take(trace, take.in_take_time(source), take.motion)
        found = measures.to_mapping()
        lost_at_s = measures.lost_at_s if trace is not None else lost_at_s
    except Exception:  # noqa: BLE001 - a take is worth more than its numbers
        _log.exception("A bug in measuring")
        run.add_finding("measuring", "The take could not be measured", f"Look into '{run.job.log}' and report it")
    return replace(take, measurements=to_jsonable({**take.measurements, **found}), lost_at_s=lost_at_s)
