# SPDX-License-Identifier: GPL-3.0-or-later
"""Graphs of stock clips, learned with a clock and cached in files."""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.control.character import build_job_body
from ...core.control.graph.learned_file import GRAPH
from ...core.control.graph.model.control_graph import ControlGraph
from ...core.control.graph.model.io import graph_from_arrays, graph_to_arrays, load_graph, save_graph
from ...core.control.graph.transitions.distances import propose_transitions
from ...core.control.graph.transitions.motion_graph import MotionGraph, Skill, motion_graph_attachments
from ...core.control.tracking.motion_kind import guess_gait, guess_motion_kind
from ...core.errors import SinewError
from ...core.files import Attachment, make_folder
from ...core.motion.io import stock
from ...core.motion.take import Measurement
from .. import rows
from ..run import BenchRun, method_and_settings

METHOD = "graph_learn"
CYCLES = ("walk", "run", "spinkick", "dance_a", "backflip")
"""Clips of the paper's kinds of cyclic skills; a spin kick that ends nearly as it began is one, too."""
_CLOCK = "clock"  # in what a graph tells about itself
_SHOWN = ("change", "push_n", "stood", "cost")


def graph_cache_folder() -> Path:
    """Where learned graphs are kept if nobody says where: this user's folder for what can be made again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "Sinew" / "graphs"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "Sinew" / "graphs"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sinew" / "graphs"


@dataclass(frozen=True, eq=False)
class GraphCache:
    """Learned graphs by skills and seed, each in a file of a folder.

    settings: texts for the method, such as 'quality=draft'. anew: learn even what is cached. say: prints lines to
    watch.
    """

    folder: Path
    engine: str
    settings: tuple[str, ...] = ()
    anew: bool = False
    say: Callable[[str], None] = lambda _: None
    _loaded: set[Path] = field(default_factory=set)

    def graph(self, names: Sequence[str], seed: int) -> ControlGraph:
        """The graph of stock clips by name, with the transitions that are proposed: kept, or learned now."""
        path = self.path(names, seed)
        if path.is_file() and (not self.anew or path in self._loaded):
            try:
                graph = load_graph(path)
                if path not in self._loaded:
                    self.say(
                        f"{'+'.join(names)}: kept, learned at {learning_figures(graph)['learned_at'] or 'some time'}"
                    )
                    self._loaded.add(path)
                return graph
            except SinewError as error:  # of another Sinew: a cache is no reason to stop
                self.say(f"{'+'.join(names)}: the graph that is kept is of no use, so it is learned again: {error}")
        graph = self._learned(names, seed)
        self._loaded.add(path)
        return graph

    def path(self, names: Sequence[str], seed: int) -> Path:
        """The file of a graph: another way to learn it is another file."""
        words = ("+".join(names), self.engine, *self.settings, f"seed={seed}")
        return self.folder / f"{'_'.join(words).replace('/', '-')}.npz"

    def learn(
        self,
        motions: MotionGraph,
        seed: int,
        name: str,
        begin_with: ControlGraph | None = None,
        keep: Callable[[ControlGraph], None] = lambda _: None,
    ) -> ControlGraph:
        """A graph learned now, with a clock.

        begin_with: the same skills, learned for another body. keep: given the graph as soon as it is there.
        """
        method, settings = method_and_settings(METHOD, list(self.settings))
        attached = {
            key: (dict(arrays), dict(meta)) for key, (arrays, meta) in motion_graph_attachments(motions).items()
        }
        if begin_with is not None:
            arrays, meta = graph_to_arrays(begin_with)
            attached[GRAPH.attachment] = dict(arrays), dict(meta)
        run = TimedLearningRun(self.engine, seed, attached, name, self.say)
        run.keep = keep
        method.run(motions.skills[0].clip, settings, run)
        return run.graphs[0]

    def _learned(self, names: Sequence[str], seed: int) -> ControlGraph:
        make_folder(self.folder)
        skills = tuple(map(stock_skill, names))
        body, _ = build_job_body(skills[0].clip, BenchRun(self.engine, seed, {}))
        motions = MotionGraph(skills, propose_transitions(body, skills) if len(skills) > 1 else ())
        self.learn(motions, seed, "+".join(names), keep=lambda graph: save_graph(self.path(names, seed), graph))
        return load_graph(self.path(names, seed))


class TimedLearningRun(BenchRun):
    """A run of learning with a clock beside it, which stops as the graph is handed over."""

    def __init__(
        self, engine: str, seed: int, attachments: Mapping[str, Attachment], name: str, say: Callable[[str], None]
    ) -> None:
        super().__init__(engine, seed, attachments)
        self.keep: Callable[[ControlGraph], None] = lambda _: None
        self.graphs: list[ControlGraph] = []
        self._name, self._say = name, say
        self._begin, self._begin_core = time.perf_counter(), time.process_time()
        self._marks: list[float] = []
        self._reported_step = 0

    def progress(self, step: int, total: int, /, **measurements: Measurement) -> None:
        """A line for each step."""
        if step == self._reported_step:
            return
        self._reported_step = step
        figures = "".join(f", {name} {measurements[name]:.4g}" for name in _SHOWN if name in measurements)
        self._say(f"{self._name}: step {step} of {total} after {time.perf_counter() - self._begin:.0f} s{figures}")

    def save_checkpoint(self, step: int, /, **arrays: np.ndarray) -> None:
        """Only look at the clock: a refinement or an iteration is done."""
        self._marks.append(time.perf_counter() - self._begin)

    def add_product(self, name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
        """The graph, kept at once with what the clock says."""
        graph = graph_from_arrays(arrays, json.loads(json.dumps(meta)))
        clock = {
            "learn_s": time.perf_counter() - self._begin,
            "learn_core_s": time.process_time() - self._begin_core,
            "marks_s": self._marks,
            "commit": rows.code_version(),
            "machine": rows.describe_machine(),
        }
        self.graphs.append(replace(graph, about={**graph.about, _CLOCK: clock}))
        self.keep(self.graphs[-1])


def stock_skill(name: str) -> Skill:
    """A stock clip as a skill."""
    clip = stock.load_stock(name)
    return Skill(name, clip, "cycle" if name in CYCLES else guess_motion_kind(clip), guess_gait(clip))


def learning_figures(graph: ControlGraph) -> dict[str, Any]:
    """How a graph was learned: seconds, iterations, and its learning curve with the time of each iteration."""
    curve = [dict(one) for one in graph.about.get("curve", ())]
    clock = graph.about.get(_CLOCK, {})
    marks = list(clock.get("marks_s", ()))
    ends = marks[len(marks) - len(curve) :] if len(marks) >= len(curve) else []
    for one, end in zip(curve, ends, strict=False):
        one["after_s"] = round(end, 2)
    motion_s = sum(stock.load_stock(chain.name).duration_s for chain in graph.skills)
    learn_s = clock.get("learn_s")
    return {
        "motion_s": motion_s,
        "learn_s": learn_s,
        "learn_core_s": clock.get("learn_core_s"),
        # In a graph of one skill all that comes before its iterations is refinement.
        "refine_s": marks[-len(curve) - 1] if len(graph.skills) == 1 and len(marks) > len(curve) else None,
        "iterations": len(curve),
        "learn_s_per_s": None if learn_s is None else learn_s / motion_s,
        "learned_at": clock.get("commit", ""),
        "learned_on": clock.get("machine", ""),
        "curve": curve,
    }
