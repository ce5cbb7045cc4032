# SPDX-License-Identifier: GPL-3.0-or-later
"""Travel without physics: a cycle on the spot as it would travel, several times over."""

from dataclasses import dataclass

from ..body.build import build_body
from ..errors import BadMotion
from ..motion import Clip, Take
from ..settings import Settings, setting
from .method import Method, Run
from .tracking.cycle_playing import plan_cycle


@dataclass(frozen=True)
class TravelSettings(Settings):
    """What an animator may set."""

    cycles: int = setting(5, "Cycles", "How many times over the cycle is played", minimum=1, maximum=1000)


class TravelMethod(Method):
    """The root motion that the stance feet ask for, and nothing else: no body, no physics."""

    name = "travel"
    label = "Give Travel"
    help = "Let a walk or run on the spot travel as its feet ask for, as an Action of its own; without physics"
    uses_engine = False
    settings_type = TravelSettings
    result_name = "travelling"

    def run(self, clip: Clip, settings: TravelSettings, run: Run) -> Take:
        """Find the travel, and play the cycle along it."""
        body, _ = build_body(clip.skeleton, clip=clip)
        played = plan_cycle(clip, body, "on", settings.cycles)
        if played is None:
            raise BadMotion(
                f"The feet of '{clip.name}' stand already, so there is no travel to give it",
                "Choose a walk or run whose feet slide back under it",
            )
        run.progress(1, 1)
        travel = played.travel
        figures = {"travel_m_s": travel.speed_m_s, "step_m": travel.step_m}
        return Take(played.play_at(clip.fps), measurements=figures, period_s=played.cycle.duration_s)
