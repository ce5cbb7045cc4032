# SPDX-License-Identifier: GPL-3.0-or-later
"""One simulation of a benchmark: a method run in this process on a clip, and a row of figures about it."""

import hashlib
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.control import registry
from ..core.control.character import build_job_body
from ..core.control.method import Method
from ..core.errors import SinewError
from ..core.files import Attachment
from ..core.measure.measures import measure_take
from ..core.motion import Clip, Take
from ..core.motion.checks import require_simulatable
from ..core.motion.inspection import UNIT_KINDS, inspect_clip
from ..core.motion.take import Measurement
from ..core.motion.trim import find_trim
from ..core.settings import Settings
from ..core.sim import engines
from ..core.sim.trace import Trace
from .source_comparison import compare_with_source, judge_take

Row = dict[str, Any]


class BenchRun:
    """A run without a job: nothing is written, and no cancel comes; implements ``core.control.method.Run``."""

    def __init__(self, engine: str, seed: int, attachments: Mapping[str, Attachment]) -> None:
        self.engine = engine
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.findings: list[str] = []
        self.kinds: list[str] = []
        self.traces: list[Trace] = []
        self.products: dict[str, tuple[Mapping[str, np.ndarray], Mapping[str, Any]]] = {}
        self._attachments = attachments

    def progress(self, step: int, total: int, /, **measurements: Measurement) -> None:
        """Nobody watches."""

    def save_checkpoint(self, step: int, /, **arrays: np.ndarray) -> None:
        """Nothing is kept."""

    def load_checkpoint(self) -> tuple[int, dict[str, np.ndarray]] | None:
        """There is none."""
        return None

    def attachment(self, name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """What the case has under this name."""
        found = self._attachments.get(name)
        return None if found is None else (dict(found[0]), dict(found[1]))

    def add_finding(self, kind: str, message: str, hint: str) -> None:
        """Keep it for the row."""
        self.findings.append(message)
        self.kinds.append(kind)

    def add_detail(self, name: str, value: Mapping[str, Any]) -> None:
        """The row has no room for it."""

    def add_trace(self, trace: Trace) -> None:
        """Keep it to be measured."""
        self.traces.append(trace)

    def show(self, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
        """Nobody watches."""

    def is_enough(self) -> bool:
        """Never: what is measured is all of it."""
        return False

    def add_product(self, name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
        """Keep it for whoever measures it."""
        self.products[name] = (arrays, meta)


@dataclass(frozen=True, eq=False)
class Case:
    """What is simulated: a clip by name in a group of the benchmark, with one seed on one engine.

    attachments: as a job would have them. words: what else the row says of the case.
    compare: whether the take is to be better than its source, which is low-quality.
    """

    group: str
    name: str
    clip: Clip
    seed: int = 0
    engine: str = "mujoco"
    attachments: Mapping[str, Attachment] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)
    compare: bool = False


def simulate_case(case: Case, method: Method, settings: Settings) -> tuple[Row, Take | None]:
    """The row of a case and its take; a refusal has its reason in the row and no take, and a bug its last line."""
    row, take = _simulated(case, method, settings)
    if case.compare:
        row |= _compared(case, take)
        row |= judge_take(row)
    return row, take


def _simulated(case: Case, method: Method, settings: Settings) -> tuple[Row, Take | None]:
    row: Row = {"group": case.group, "clip": case.name, "seed": case.seed, "engine": case.engine, **case.words}
    row["clip_s"] = case.clip.duration_s
    run = BenchRun(case.engine, case.seed, case.attachments)
    try:
        require_simulatable(case.clip)
        if method.uses_engine:
            engines.get_engine(case.engine)  # imported once, which is no part of the work
        begin, spent_s = time.perf_counter(), time.process_time()
        take = method.run(case.clip, settings, run)
        assert take is not None  # a clip becomes a take
        wall_s, spent_s = time.perf_counter() - begin, time.process_time() - spent_s
        asked = take.in_take_time(case.clip)
        figures = measure_take(run.traces[0] if run.traces else None, asked, take.motion)
    except SinewError as error:
        return {**row, "refused": str(error), "findings": _findings(case.clip, run)}, None
    except Exception as error:  # noqa: BLE001 - one bug must not cost the rows of an hour
        traceback.print_exc()
        return {**row, "bug": f"{type(error).__name__}: {error}", "findings": run.findings}, None
    return {
        **row,
        "fell_at_s": take.fell_at_s,
        "lost_at_s": figures.lost_at_s if run.traces else take.lost_at_s,
        **take.measurements,
        **figures.to_mapping(),
        "wall_s": wall_s,
        "wall_over_clip": wall_s / case.clip.duration_s,
        "processor_over_clip": spent_s / case.clip.duration_s,
        "findings": _findings(case.clip, run),
        "missing": [kind for kind in run.kinds if kind.startswith("needs_")],
        "sha256": hash_take(take),
    }, take


def _compared(case: Case, take: Take | None) -> Row:
    """Figures of the source and the take that a verdict needs."""
    if take is None:
        return {}
    trim = find_trim(case.clip)
    source = trim.cut_clip(case.clip)
    body, _ = build_job_body(source, BenchRun(case.engine, case.seed, case.attachments))
    return {**compare_with_source(source, trim.cut_clip(take.motion), body)}


def method_and_settings(name: str, texts: list[str]) -> tuple[Method, Settings]:
    """A method and its settings from texts such as ``quality=draft``; wrong ones are refused."""
    method = registry.get_method(name)
    return method, method.settings_type.from_texts(texts)


def hash_take(take: Take) -> str:
    """A hash of the take's numbers: the same for the same Action, bit for bit."""
    found = hashlib.sha256()
    arrays: list[np.ndarray] = [take.motion.local_pos, take.motion.local_quat_wxyz]
    if take.contacts is not None:
        arrays.append(take.contacts)
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    found.update(repr((take.motion.fps, take.fell_at_s)).encode())
    return found.hexdigest()


def _findings(clip: Clip, run: BenchRun) -> list[str]:
    """What the animator would be told, as a job tells it."""
    return [finding.message for finding in inspect_clip(clip) if finding.kind in UNIT_KINDS] + run.findings
