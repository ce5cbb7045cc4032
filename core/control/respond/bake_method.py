# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes that do what cues ask for, on time: planned in a library, and given a body by sampling control."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...body import BodyModel
from ...errors import BadSettings, JobError, NotLearned
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
from ..tracking.skeleton_matching import describe_skeleton_difference
from ..tracking.source_preparation import add_findings
from .aiming import AIMED_TRIES, HOLD_PLACE_M_S, simulate_aimed
from .cue_report import report_cues
from .cues import CUES, CueSheet, cues_from_arrays
from .hurrying import HURRY
from .learned_file import RESPONDER, AnyResponder, library_of, responder_from_content, student_of
from .responding import Responding, ResponseMotion
from .student.student import Student
from .student.student_motion import play_cues

RESPONSE = "respond"
"""Name of the report's detail about cues."""


ANSWERS = (
    ("auto", "Automatic", "What was better when the library was trained, or else the exact answer"),
    ("exact", "Exact", "The cheapest way through the library's clips, by dynamic programming"),
    ("student", "Student", "The network that was trained with the library, which needs none of its clips"),
)


def answer_setting() -> Any:
    """Who answers."""
    return setting("auto", "Answer By", "What makes the motion that is asked for", choices=ANSWERS)


def agility_setting() -> Any:
    """How rough transitions may be."""
    return setting(
        0.3,
        "Agility",
        "How unlike two poses may be that follow each other, in metres: more is sooner, and less smooth",
        minimum=0.05,
        maximum=2.0,
        unit="m",
    )


def hurry_setting() -> Any:
    """How much faster clips may be played."""
    return setting(
        HURRY,
        "Hurry",
        "How many times as fast as it is a clip may be played, where there is too little time; 1 for never",
        minimum=1.0,
        maximum=5.0,
    )


@dataclass(frozen=True)
class RespondBakeSettings(Settings):
    """What an animator may set."""

    physics: bool = setting(
        True, "Physics", "Give the motion a body; without, it is played as its clips are, in a moment"
    )
    quality: str = quality_setting()
    when_lost: str = when_lost_setting()
    answer: str = answer_setting()
    agility: float = agility_setting()
    hurry: float = hurry_setting()
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
    aims: int = setting(
        AIMED_TRIES,
        "Aims",
        "How often a body that misses its places and targets is aimed and simulated again, the first time included",
        minimum=1,
        maximum=10,
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
        responder, sheet = _load(clip, run)
        stored = library_of(responder)
        body, build = stored.body, make_body_builder(run)
        run.progress(0, 1, doing="Making tables")
        responding = Responding(body, stored.library, build=build, most_m=settings.agility)
        # A generator of its own: the job's belongs to the search that follows, and comes back after a kill.
        rng = np.random.default_rng(run.seed)
        start, heading = _find_start(body, clip)
        student = choose_student(responder, settings.answer, settings.agility)
        if student is not None:
            made = play_cues(
                responding, student, sheet, start, heading, settings.reach, settings.hurry, clip.name or "cues"
            )
        else:
            made = responding.make_motion(
                sheet,
                rng,
                start=start,
                heading=heading,
                steering=settings.steering,
                lock=settings.lock_feet,
                reach=settings.reach,
                hurry=settings.hurry,
                name=clip.name or "cues",
            )
        add_findings(run, made.findings)
        if settings.physics:
            take = replace(_simulate(body, sheet, made, settings, run), own_clock=True, source_times_s=None)
        else:
            run.progress(1, 1)
            take = Take(made.motion.resample(clip.fps, end="hold"), own_clock=True)
        keys = responding.key_poses(made.keys)
        rows = report_cues(body, sheet, keys, made.limbs, made.motion, take.motion, take.fell_at_s)
        costs = zip(rows, made.costs, strict=True)
        told = [{**row, "transition_m": float(np.sqrt(cost))} for row, cost in costs]
        run.add_detail(RESPONSE, {"cues": told})
        return take


def _simulate(body: BodyModel, sheet: CueSheet, made: ResponseMotion, settings: RespondBakeSettings, run: Run) -> Take:
    """What a body does that comes to its places and hits its targets, as far as aiming anew helps."""
    if made.reaim is None or not settings.reach:
        return give_searched_body(made.motion, settings, run)
    found = simulate_aimed(
        body,
        sheet.cues,
        made.limbs,
        made.motion,
        lambda motion, own: give_searched_body(motion, settings, own, HOLD_PLACE_M_S),
        made.reaim,
        run,
        settings.aims,
    )
    return found.take


def choose_student(responder: AnyResponder, answer: str, agility: float) -> Student | None:
    """The student that is to answer; None for the exact answer. One that was not trained for this is refused."""
    student = student_of(responder)
    if answer == "student" and student is None:
        raise NotLearned("The library has no student", "Train it first, or choose Exact at Answer By")
    if student is None or answer == "exact":
        return None
    if answer == "auto" and student.about.get("default") != "student":
        return None
    trained = float(student.about["settings"]["agility"])
    if agility > trained + 1e-9:
        raise BadSettings(
            f"An agility of {agility:g} m is beyond the {trained:g} m that the student was trained with",
            f"Ask for {trained:g} m or less, train it with more, or choose Exact at Answer By",
        )
    return student


def _load(clip: Clip, run: Run) -> tuple[AnyResponder, CueSheet]:
    responder = load_responder(run)
    stored = library_of(responder)
    asked = run.attachment(CUES)
    if asked is None:
        raise JobError("The job has no cues", "Ask for a deed at a frame, and bake again")
    skeleton = stored.body.skeleton
    if not skeleton.same_bones(clip.skeleton):
        why = describe_skeleton_difference(skeleton, clip.skeleton)
        raise JobError(f"The library is of another skeleton than '{clip.name}': {why}", "Build one for this armature")
    return responder, cues_from_arrays(asked[1])


def load_responder(run: Run) -> AnyResponder:
    """The job's library, trained or not."""
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
