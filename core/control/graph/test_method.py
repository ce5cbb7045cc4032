# SPDX-License-Identifier: GPL-3.0-or-later
"""Testing a learned graph as a method: pushes, endurance and a random walk become figures, and no take."""

from dataclasses import dataclass

from ...motion import Clip
from ...settings import Settings, setting
from ...sim import engines
from ..method import Method, Product, Run, Source
from .learned_file import GRAPH, attached_graph
from .testing.report import TESTS, measure_graph, tested_skills


@dataclass(frozen=True)
class GraphTestSettings(Settings):
    """What an animator may set."""

    push: bool = setting(True, "Push", "Find the hardest push that each cycle stands")
    endurance: bool = setting(True, "Endurance", "Let each cycle go on without a push")
    walk: bool = setting(False, "Walk", "A random walk with a push of 150 N every 10 s")
    seconds: float = setting(60.0, "Seconds", "How long endurance and walk are", minimum=1.0, maximum=3600.0, unit="s")
    cycles: int = setting(20, "Cycles", "For how many cycles a push must be stood", minimum=1, maximum=1000)


class GraphTest(Method):
    """What the skills of a graph take before they fall."""

    name = "graph_test"
    label = "Test Skills"
    help = "Push what was learned and let it run, and say how much it takes"
    uses_engine = True
    takes = Source.LEARNED_FILE
    makes = (Product.REPORT,)
    learned = GRAPH
    settings_type = GraphTestSettings

    def run(self, clip: Clip, settings: GraphTestSettings, run: Run) -> None:
        """Test, and leave the figures in the report and in sentences."""
        graph = attached_graph(run)
        tests = [name for name in TESTS if getattr(settings, name)]
        total = len(tested_skills(graph, "")) * len(set(tests) - {"walk"}) + ("walk" in tests)
        done = iter(range(total))
        found = measure_graph(
            graph,
            engines.get_engine(run.engine),
            tests,
            "",
            seconds=settings.seconds,
            cycles=settings.cycles,
            seed=int(run.rng.integers(2**31)),
            say=lambda _: run.progress(next(done, total), max(total, 1)),
        )
        run.add_detail("test", found)
        for name, own in found["skills"].items():
            if "push_n" in own:
                run.add_finding("test", f"{name} takes a push of {own['push_n'] or 0.0:.0f} N", "")
        run.progress(total, max(total, 1))
