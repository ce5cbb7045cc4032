# SPDX-License-Identifier: GPL-3.0-or-later
"""Testing a controller as a method: how long it lasts and how hard a push it stands become figures, and no take."""

from contextlib import closing
from dataclasses import dataclass

from ...motion import Clip
from ...settings import Settings, setting
from ...sim import engines
from ...sim.engine import World
from ...sim.stage import Character, Stage
from ..method import Method, Product, Run, Source
from .learned_file import CONTROLLER, attached_controller
from .push_recovery import SIDES, STEP_N
from .robustness import measure_lasting, measure_push


@dataclass(frozen=True)
class BoundsTestSettings(Settings):
    """What an animator may set."""

    seconds: float = setting(
        20.0, "Lasts", "How long it must last, also after a push", minimum=1.0, maximum=600.0, unit="s"
    )
    copies: int = setting(32, "Copies", "How many begin, spread over the motion", minimum=1, maximum=4096)
    side: str = setting(
        "back", "Pushed From", "Where pushes come from", choices=tuple((side, side.title(), "") for side in SIDES)
    )
    hardest_n: float = setting(
        800.0, "Hardest Push", "Newtons that pushes go up to", minimum=STEP_N, maximum=STEP_N * 4096, unit="N"
    )


class BoundsTest(Method):
    """What a controller takes before it leaves its bounds or falls."""

    name = "bounds_test"
    label = "Test Controller"
    help = "See how long the controller lasts by itself and how hard a push it stands"
    uses_engine = True
    takes = Source.LEARNED_FILE
    makes = (Product.REPORT,)
    learned = CONTROLLER
    settings_type = BoundsTestSettings

    def run(self, clip: Clip, settings: BoundsTestSettings, run: Run) -> None:
        """Test, and leave the figures in the report and in sentences."""
        controller = attached_controller(run)

        def world_of(copies: int) -> closing[World]:
            return closing(engines.get_engine(run.engine).compile(Stage((Character(controller.body),)), copies))

        run.progress(0, 2)
        with world_of(settings.copies) as world:
            found = measure_lasting(controller, world, settings.seconds)
        run.progress(1, 2)
        with world_of(int(settings.hardest_n // STEP_N) + 1) as world:
            found["push"] = measure_push(controller, world, settings.side, settings.seconds)
        run.add_detail("test", found)
        run.add_finding("test", f"It lasts {100.0 * found['share']:.0f} % of {settings.seconds:g} s", "")
        run.add_finding("test", f"It takes a push of {found['push']['push_n']:.0f} N from the {settings.side}", "")
        run.progress(2, 2)
