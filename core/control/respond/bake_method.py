# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes that do what cues ask for, on time: planned in a library, and given a body by sampling control."""

from dataclasses import dataclass, replace

import numpy as np

from ...body import BodyModel
from ...errors import JobError
from ...motion import Clip, Take
from ...settings import Settings, setting
from ..method import Method, Run, Source, Watched
from ..searched_body import (
    give_searched_body,
    make_body_builder,
    quality_setting,
    smooth_setting,
    when_lost_setting,
)
from ..tracking.facing import facing_direction, upright_rotation
from ..tracking.library_files import StoredLibrary
from ..tracking.skeleton_matching import describe_skeleton_difference
from ..tracking.source_preparation import add_findings
from .cue_report import report_cues
from .cues import CUES, CueSheet, cues_from_arrays
from .learned_file import RESPONDER, responder_from_content
from .responding import Responding

RESPONSE = "respond"
"""Name of the report's detail about cues."""


@dataclass(frozen=True)
class RespondBakeSettings(Settings):
    """What an animator may set."""

    physics: bool = setting(
        True, "Physics", "Give the motion a body; without, it is played as its clips are, in a moment"
    )
    quality: str = quality_setting()
    when_lost: str = when_lost_setting()
    agility: float = setting(
        0.3,
        "Agility",
        "How unlike two poses may be that follow each other, in metres: more is sooner, and less smooth",
        minimum=0.05,
        maximum=2.0,
        unit="m",
    )
    steering: float = setting(
        0.15,
        "Steering",
        "How much the way is bent to come to a cue's place, as a share of its length; 0 plays clips as they are",
        minimum=0.0,
        maximum=1.0,
    )
    reach: bool = setting(
        True, "Reach Places", "Bend what is played so that each cue is done in its place, least around its key moment"
    )
    lock_feet: bool = setting(True, "Lock Feet", "Hold feet where they stand while clips are bent and blended")
    smooth: float = smooth_setting()


class RespondBake(Method):
    """From a library and cues to a take."""

    name = "respond_bake"
    label = "Respond"
    help = "Let the library's deeds be done on cue, and bake that as a new Action"
    button = "Bake Cues"
    uses_engine = True
    simulates_cast = True
    takes = Source.LEARNED_FILE
    learned = RESPONDER
    result_name = "on cue"
    watched = (Watched("planned_s", "Simulated", "{:.1f} s"),)
    settings_type = RespondBakeSettings

    def run(self, clip: Clip, settings: RespondBakeSettings, run: Run) -> Take:
        """Plan the motion, and give it a body by sampling control."""
        stored, sheet = _load(clip, run)
        body, build = stored.body, make_body_builder(run)
        run.progress(0, 1, doing="Making tables")
        responding = Responding(body, stored.library, build=build, most_m=settings.agility)
        # A generator of its own: the job's belongs to the search that follows, and comes back after a kill.
        rng = np.random.default_rng(run.seed)
        start, heading = _find_start(body, clip)
        made = responding.make_motion(
            sheet,
            rng,
            start=start,
            heading=heading,
            steering=settings.steering,
            lock=settings.lock_feet,
            reach=settings.reach,
            name=clip.name or "cues",
        )
        add_findings(run, made.findings)
        if settings.physics:
            take = replace(give_searched_body(made.motion, settings, run), own_clock=True, source_times_s=None)
        else:
            run.progress(1, 1)
            take = Take(made.motion.resample(clip.fps, end="hold"), own_clock=True)
        keys = responding.key_poses(made.keys)
        rows = report_cues(body, sheet, keys, made.limbs, made.motion, take.motion, take.fell_at_s)
        costs = zip(rows, made.costs, strict=True)
        told = [{**row, "transition_m": float(np.sqrt(cost))} for row, cost in costs]
        run.add_detail(RESPONSE, {"cues": told})
        return take


def _load(clip: Clip, run: Run) -> tuple[StoredLibrary, CueSheet]:
    stored = load_responder(run)
    asked = run.attachment(CUES)
    if asked is None:
        raise JobError("The job has no cues", "Ask for a deed at a frame, and bake again")
    skeleton = stored.body.skeleton
    if not skeleton.same_bones(clip.skeleton):
        why = describe_skeleton_difference(skeleton, clip.skeleton)
        raise JobError(f"The library is of another skeleton than '{clip.name}': {why}", "Build one for this armature")
    return stored, cues_from_arrays(asked[1])


def load_responder(run: Run) -> StoredLibrary:
    """The job's library."""
    attached = run.attachment(RESPONDER.attachment)
    if attached is None:
        raise JobError("The job has no library", "Choose a library, and bake again")
    return responder_from_content(*attached, "The library")


def _find_start(body: BodyModel, clip: Clip) -> tuple[tuple[float, float], float]:
    """Where the character stands, and which way it faces."""
    pos, quat = clip.world()
    root = clip.skeleton.index(body.links[0].bone)
    ahead = facing_direction(quat[0, root], upright_rotation(body))
    return (float(pos[0, root, 0]), float(pos[0, root, 1])), float(np.arctan2(ahead[1], ahead[0]))
