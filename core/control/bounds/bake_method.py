# SPDX-License-Identifier: GPL-3.0-or-later
"""The method ``bounds_bake``: a take from a learned controller, of any length, with whatever is on the stage."""

from contextlib import closing
from dataclasses import dataclass

from ...errors import BoundsError
from ...motion import Clip, Take
from ...settings import Settings, setting
from ...sim import engines
from ..method import Method, Run, Source
from ..staging import build_job_stage
from ..tracking.skeleton_matching import describe_skeleton_difference
from .learned_file import CONTROLLER, attached_controller
from .playback import play_policy, require_length
from .take_making import make_playback_take


@dataclass(frozen=True)
class BoundsBakeSettings(Settings):
    """What an animator may set."""

    seconds: float = setting(
        0.0, "Seconds", "How long the take is; 0 for the clip's own length", minimum=0.0, maximum=3600.0, unit="s"
    )


class BoundsBake(Method):
    """A take from a learned controller: clean, or pushed by what is on the stage."""

    name = "bounds_bake"
    label = "Bake From Controller"
    help = "Let the character do what it has learned within its bounds, and bake that as a new Action"
    tooltip = "Let the character do what was learned within the bounds, and bake that as a new Action"
    uses_engine = True
    takes = Source.LEARNED_FILE
    learned = CONTROLLER
    settings_type = BoundsBakeSettings

    def run(self, clip: Clip, settings: BoundsBakeSettings, run: Run) -> Take:
        """Play the controller on the job's stage, and make a take of it."""
        controller = attached_controller(run)
        reference = controller.reference
        if different := describe_skeleton_difference(controller.body.skeleton, clip.skeleton):
            raise BoundsError(
                f"The controller was learned for another skeleton than that of '{clip.name}': {different}",
                "Train one for this armature, or bake with one that is like it",
            )
        seconds = settings.seconds or reference.duration_s
        require_length(reference, seconds)
        stage = build_job_stage(run, controller.body)
        with closing(engines.get_engine(run.engine).compile(stage, 1)) as world:

            def on_progress(share: float) -> None:
                run.progress(round(1000 * share), 1000)

            done = play_policy(reference, controller.widths, controller.policy, world, clip, seconds, on_progress)
        if done.violations:
            worst = max(done.violations, key=lambda name: done.violations[name])
            run.add_finding("bounds", f"It left its bounds on the way, mostly '{worst}'", "")
        return make_playback_take(done, clip.fps, run)
