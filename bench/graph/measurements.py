# SPDX-License-Identifier: GPL-3.0-or-later
"""Control graphs on the stock clips: the paper's table II, endurance, disturbances, cost, and retargeting."""

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.control.graph.model.control_graph import ControlGraph
from ...core.control.graph.playing.baking import Bake
from ...core.control.graph.testing.pushed_walks import measure_collision, measure_pushed_walk
from ...core.control.graph.testing.skill_tests import measure_endurance, measure_hardest_push, measure_playback_cost
from ...core.errors import SinewError
from ...core.motion.io import stock
from ...core.sim import engines
from .. import rows
from ..rows import Row
from .learned_graphs import CYCLES, GraphCache, learning_figures
from .retarget import measure_retargeting

FLOORS_N = {"walk": 280.0, "run": 470.0, "spinkick": 260.0, "dance_a": 230.0, "backflip": 80.0}
"""The hardest pushes that the paper's character stands, which weighs ``PAPER_KG``."""
PAPER_KG = 62.0
STRETCHED = ("walk", "run")
"""Skills that should stand twice that."""
LINKED = ("walk", "run", "dance_a", "getup_faceup", "getup_facedown")
"""Skills of the graph that is walked at random."""
SECONDS = {"endurance": 600.0, "walk": 300.0, "cost": 20.0, "collide": 30.0}
"""How long each part plays, by itself."""
_LINE_EVERY_S = 5.0


@dataclass(frozen=True, eq=False)
class GraphBenchmark:
    """Which graphs each part of the benchmark measures.

    skills: of the table, the first also of endurance, cost and retarget. linked: of the graph that walks and collides.
    seconds: other than the part's own.
    """

    cache: GraphCache
    skills: tuple[str, ...] = CYCLES
    linked: tuple[str, ...] = LINKED
    seconds: float | None = None
    say: Callable[[str], None] = lambda _: None
    on_collision: Callable[[ControlGraph, Bake, Row], None] = lambda *_: None
    """Called with the bake of two characters that collided, for a contact sheet."""

    def rows(self, parts: Sequence[str], seeds: Sequence[int]) -> Iterator[Row]:
        """Every row as soon as it is known; a part that fails has its reason in its row."""
        for part in parts:
            for seed in seeds:
                for name in self.names(part):
                    yield self._row(part, name, seed)

    def names(self, part: str) -> tuple[str, ...]:
        """The graphs that a part is measured with, each by its skills."""
        if part == "table":
            return self.skills
        return ("+".join(self.linked if part in _OF_LINKED else self.skills[:1]),)

    def _row(self, part: str, name: str, seed: int) -> Row:
        row: Row = {
            "part": part,
            "name": name,
            "seed": seed,
            "engine": self.cache.engine,
            "study": " ".join(self.cache.settings),
            "commit": rows.code_version(),
            "machine": rows.describe_machine(),
        }
        try:
            graph = self.cache.graph(name.split("+"), seed)
            return row | {"learned_at": learning_figures(graph)["learned_at"]} | _PARTS[part](self, graph, seed)
        except SinewError as error:
            return row | {"refused": str(error)}
        except Exception as error:  # noqa: BLE001 - one bug must not cost the rows of an hour
            traceback.print_exc()
            return row | {"bug": f"{type(error).__name__}: {error}"}

    def lasts_s(self, part: str) -> float:
        """How long a part plays."""
        return SECONDS[part] if self.seconds is None else self.seconds

    def report_played(self, what: str) -> Callable[[float], None]:
        """Says how far playing is, now and then."""
        last = time.monotonic()

        def tell(played_s: float) -> None:
            nonlocal last
            if time.monotonic() - last > _LINE_EVERY_S:
                last = time.monotonic()
                self.say(f"{what}: {played_s:.0f} s played")

        return tell


def measure_push_table(bench: GraphBenchmark, graph: ControlGraph, seed: int) -> dict[str, Any]:
    """One row of the paper's table II: how long a cycle took to learn, and the hardest push it stands."""
    skill = graph.skills[0].name
    found = measure_hardest_push(graph, engines.get_engine(bench.cache.engine), skill)
    return {**learning_figures(graph), **found, **compare_with_paper(skill, found["push_n"], graph.body.mass)}


def compare_with_paper(skill: str, push_n: float, mass_kg: float) -> dict[str, Any]:
    """How a push stands to the paper's, scaled by mass; None where the paper has no such skill."""
    floor = FLOORS_N[skill] * mass_kg / PAPER_KG if skill in FLOORS_N else None
    stretch = 2.0 * floor if floor is not None and skill in STRETCHED else None
    return {
        "mass_kg": mass_kg,
        "floor_n": floor,
        "reached": None if floor is None else push_n >= floor,
        "stretch_n": stretch,
        "stretched": None if stretch is None else push_n >= stretch,
    }


def _endurance(bench: GraphBenchmark, graph: ControlGraph, seed: int) -> dict[str, Any]:
    engine, skill = engines.get_engine(bench.cache.engine), graph.skills[0].name
    return measure_endurance(
        graph, engine, skill, bench.lasts_s("endurance"), bench.report_played(f"endurance of {skill}")
    )


def _walk(bench: GraphBenchmark, graph: ControlGraph, seed: int) -> dict[str, Any]:
    engine = engines.get_engine(bench.cache.engine)
    stage = learning_figures(graph)
    ways = [str(way) for way in graph.transitions]
    learned = {name: stage[name] for name in ("motion_s", "learn_s", "learn_core_s", "iterations")}
    played = measure_pushed_walk(graph, engine, bench.lasts_s("walk"), seed, bench.report_played("walk"))
    return {**learned, "transitions": ways, **played}


def _cost(bench: GraphBenchmark, graph: ControlGraph, seed: int) -> dict[str, Any]:
    seconds = max(round(bench.lasts_s("cost")), 1)
    return measure_playback_cost(graph, engines.get_engine(bench.cache.engine), graph.skills[0].name, seconds)


def _collide(bench: GraphBenchmark, graph: ControlGraph, seed: int) -> dict[str, Any]:
    cycles = [chain.name for chain in graph.skills if chain.kind == "cycle"]
    skill = "run" if "run" in cycles else cycles[0]
    source = stock.load_stock(skill)
    on_played = bench.report_played("collide")
    row, bake = measure_collision(
        graph, engines.get_engine(bench.cache.engine), skill, source, bench.lasts_s("collide"), on_played
    )
    bench.on_collision(graph, bake, row)
    return {"skill": skill, **row}


def _retarget(bench: GraphBenchmark, graph: ControlGraph, seed: int) -> dict[str, Any]:
    return measure_retargeting(graph, bench.cache, seed)


_PARTS: dict[str, Callable[[GraphBenchmark, ControlGraph, int], dict[str, Any]]] = {
    "table": measure_push_table,
    "endurance": _endurance,
    "walk": _walk,
    "cost": _cost,
    "collide": _collide,
    "retarget": _retarget,
}
_OF_LINKED = ("walk", "collide")
PARTS = tuple(_PARTS)
