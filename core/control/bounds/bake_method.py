# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking from a controller as a method: it does what it has learned, for as long as wanted, and with whatever comes."""

from contextlib import closing
from dataclasses import dataclass

from ...errors import BoundsError
from ...motion import Clip, Take
from ...settings import Settings, setting
from ...sim import engines
from ..method import Run
from ..staging import build_job_stage
from ..tracking.skeleton_matching import describe_skeleton_difference
from .controller import controller_from_arrays
from .playing import played, require_length
from .take_making import home_of

CONTROLLER_FILE = "controller_file"
"""Name of the job's attachment: what a controller file holds."""


@dataclass(frozen=True)
class BoundsBakeSettings(Settings):
    """What an animator may set."""

    seconds: float = setting(
        0.0, "Seconds", "How long the take is; 0 for the clip's own length", minimum=0.0, maximum=3600.0, unit="s"
    )


class BoundsBake:
    """A take from a learned controller: clean, or pushed by what is on the stage."""

    name = "bounds_bake"
    label = "Bake From Controller"
    help = "Let the character do what it has learned within its bounds, and bake that as a new Action"
    uses_engine = True
    settings_type = BoundsBakeSettings

    def run(self, clip: Clip, settings: BoundsBakeSettings, run: Run) -> Take:
        """Put the character on the stage, play, and bring home what it did."""
        attached = run.attachment(CONTROLLER_FILE)
        if attached is None:
            raise BoundsError("The job has no controller", "Train one first, or choose a controller file")
        controller = controller_from_arrays(*attached)
        course = controller.course
        if different := describe_skeleton_difference(controller.body.skeleton, clip.skeleton):
            raise BoundsError(
                f"The controller was learned for another skeleton than that of '{clip.name}': {different}",
                "Train one for this armature, or bake with one that is like it",
            )
        seconds = settings.seconds or course.duration_s
        require_length(course, seconds)
        stage = build_job_stage(run, controller.body)
        with closing(engines.get_engine(run.engine).compile(stage, 1)) as world:

            def look(share: float) -> None:
                run.progress(round(1000 * share), 1000)

            done = played(course, controller.widths, controller.policy, world, clip, seconds, look)
        if done.left:
            worst = max(done.left, key=lambda name: done.left[name])
            run.add_finding("bounds", f"It left its bounds on the way, mostly '{worst}'", "")
        return home_of(done, clip.fps, run)
