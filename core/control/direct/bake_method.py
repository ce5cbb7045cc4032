# SPDX-License-Identifier: GPL-3.0-or-later
"""Directed takes: a library goes where it is told; its policy gives that a body, or sampling control does."""

from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...errors import JobError, NotLearned
from ...motion import Clip, Take
from ...motion.library import Library
from ...settings import setting
from ...sim import engines
from ...sim.trace import Trace
from ..cast import load_cast
from ..matching.database import MatchingWeights
from ..matching.directing import IDLE, DirectedMotion, Directing
from ..matching.features import FPS
from ..matching.rejoining import rejoin_wish
from ..matching.wish import WISH, Wish, wish_from_arrays
from ..method import Method, Run, Source, Watched
from ..searched_body import (
    give_searched_body,
    make_body_builder,
    quality_setting,
    smooth_setting,
    when_lost_setting,
)
from ..staging import build_job_stage
from ..tracking.recording import collect_prop_motions, make_take
from ..tracking.skeleton_matching import describe_skeleton_difference
from ..tracking.source_preparation import add_findings
from ..tracking_policy.learned_file import (
    DIRECTED,
    AnyDirector,
    TrainedDirector,
    choose_clips,
    directed_body,
    directed_skeleton,
    director_from_content,
)
from ..tracking_policy.recovery import SEARCH_COPIES, make_recovery_search
from ..tracking_policy.reference_streams import CONTROL_FPS, DRAWN_SHARE, DRAWN_SHARE_ON_A_PATH, make_streams
from ..tracking_policy.stream_recording import play_stream
from ..tracking_policy.whole_play import DownAndUp, GettingUp

DIRECTING = "direct"
"""Name of the report's detail about what was played."""
_RISING_SEED = 23


@dataclass(frozen=True)
class DirectBakeSettings(MatchingWeights):
    """What an animator may set."""

    physics: bool = setting(
        True, "Physics", "Give the directed motion a body; without, it is played as its clips are, in a moment"
    )
    body_by: str = setting(
        "auto",
        "Body By",
        "What keeps the body on its feet",
        choices=(
            ("auto", "Automatic", "What the library was trained for, or else a search"),
            ("policy", "Training", "The policy that was trained with the library: many times faster than real time"),
            ("search", "Search", "Trials from moment to moment, which need no training and follow most closely"),
        ),
    )
    try_again: bool = setting(
        True, "Try Again", "Where the policy alone would fall, go back by a second or more and search for another way"
    )
    quality: str = quality_setting()
    steering: float = setting(
        0.1,
        "Steering",
        "How much clips are bent to keep to the path, as a share of their speed; 0 plays them as they are",
        minimum=0.0,
        maximum=1.0,
    )
    lock_feet: bool = setting(True, "Lock Feet", "Hold feet where they stand while clips are bent and blended")
    when_lost: str = when_lost_setting()
    smooth: float = smooth_setting()


class DirectBake(Method):
    """From a library and a wish to a take."""

    name = "direct_bake"
    label = "Direct"
    help = "Let the library's motion go where it is told, and bake that as a new Action"
    button = "Bake Directed Take"
    uses_engine = True
    simulates_cast = True
    takes = Source.LEARNED_FILE
    learned = DIRECTED
    result_name = "directed"
    watched = (Watched("planned_s", "Simulated", "{:.1f} s"),)
    settings_type = DirectBakeSettings

    def run(self, clip: Clip, settings: DirectBakeSettings, run: Run) -> Take:
        """Find the motion by motion matching, and give it a body by sampling control."""
        trained, wish = _load(clip, run)
        by_policy = settings.physics and _is_by_policy(trained, settings, run)
        director = choose_clips(trained, wish.styles, IDLE, get_ups=by_policy)
        library, build = director.library, make_body_builder(run)
        directing = Directing(directed_body(director, build), library, settings, build)
        # A generator of its own: the job's belongs to the search that follows, and comes back after a kill.
        rng = np.random.default_rng(run.seed)
        made = directing.make_motion(
            wish, rng, steering=settings.steering, lock=settings.lock_feet, name=clip.name or library.motion.name
        )
        add_findings(run, made.findings)
        run.add_detail(DIRECTING, _describe(made, library))
        if not settings.physics:
            run.progress(1, 1)
            return Take(made.motion.resample(clip.fps, end="hold"), own_clock=True)
        if by_policy:
            assert isinstance(trained, TrainedDirector)
            take, trace = _follow(trained, directing, wish, made, clip.fps, settings, run)
            if take.fell_at_s is None or settings.body_by == "policy":
                run.add_trace(trace)
                return take
            lost = f"What was trained loses its feet after {take.fell_at_s:.1f} s, so the body was searched for"
            run.add_finding("policy", lost, "Train longer, or ask for something easier")
        take = give_searched_body(made.motion, settings, run)
        return replace(take, own_clock=True, source_times_s=None)


def _is_by_policy(director: AnyDirector, settings: DirectBakeSettings, run: Run) -> bool:
    """Whether a policy gives the body: one that there is, for a character that is alone on the stage."""
    alone = not load_cast(run)
    if settings.body_by == "policy":
        if not isinstance(director, TrainedDirector):
            raise NotLearned("The library has no policy", "Train it first, or choose Search at Body By")
        if not alone:
            raise JobError(
                "A policy moves one character, and there are others on the stage", "Choose Search at Body By"
            )
    return settings.body_by != "search" and isinstance(director, TrainedDirector) and alone


def _follow(
    director: TrainedDirector,
    directing: Directing,
    wish: Wish,
    made: DirectedMotion,
    fps: float,
    settings: DirectBakeSettings,
    run: Run,
) -> tuple[Take, Trace]:
    """The motion as the trained policy does it, on the job's stage."""
    body = director.stored.body
    share = DRAWN_SHARE if wish.path is None else DRAWN_SHARE_ON_A_PATH
    streams = make_streams(body, [made.motion], [directing.contacts[made.played.frame[0]]], share)
    engine, stage, controller = engines.get_engine(run.engine), build_job_stage(run, body), director.controller
    with closing(engine.compile(stage, 1)) as world, closing(engine.compile(stage, SEARCH_COPIES)) as search_world:
        search = make_recovery_search(controller, streams, search_world, run.seed) if settings.try_again else None
        getting_up = None
        if settings.when_lost == "get_up":
            rejoining = rejoin_wish(directing, wish, made)
            getting_up = GettingUp(rejoining, search_world, np.random.default_rng([run.seed, _RISING_SEED]))
        done = play_stream(
            controller,
            streams,
            made.motion,
            world,
            lambda share: run.progress(round(1000 * share), 1000),
            search,
            getting_up,
        )
    run.add_detail("recovery", {"searches": done.searches, "falls": [_describe_fall(fall) for fall in done.falls]})
    for fall in done.falls:
        run.add_finding("fall", *_explain_fall(fall))
    take, trace, _ = make_take(done.film, 0, done.subject, fps, settings.smooth)
    return replace(take, own_clock=True, props=collect_prop_motions(done.film, take.motion)), trace


def _describe_fall(fall: DownAndUp) -> dict[str, object]:
    """What the report has of a fall."""
    back_s = None if fall.back is None else fall.back / CONTROL_FPS
    return {"fell_s": fall.fell / CONTROL_FPS, "back_s": back_s, "clip": fall.clip}


def _explain_fall(fall: DownAndUp) -> tuple[str, str]:
    """The same as a message and a hint."""
    fell = f"It fell at {fall.fell / CONTROL_FPS:.1f} s"
    if fall.back is not None:
        return f"{fell}, got up as in '{fall.clip}', and went on at {fall.back / CONTROL_FPS:.1f} s", ""
    if fall.clip:
        return f"{fell} and was getting up when the take ended", "Give it more seconds"
    return f"{fell} and stays down", "Add clips of getting up to the library, or ask for something easier"


def _load(clip: Clip, run: Run) -> tuple[AnyDirector, Wish]:
    attached, wished = run.attachment(DIRECTED.attachment), run.attachment(WISH)
    if attached is None or wished is None:
        lacks = "library" if attached is None else "wish"
        raise JobError(f"The job has no {lacks}", "Choose a library and where to go, and bake again")
    director = director_from_content(*attached, "The library")
    skeleton = directed_skeleton(director)
    if not skeleton.same_bones(clip.skeleton):
        why = describe_skeleton_difference(skeleton, clip.skeleton)
        raise JobError(f"The library is of another skeleton than '{clip.name}': {why}", "Build one for this armature")
    return director, wish_from_arrays(*wished)


def _describe(made: DirectedMotion, library: Library) -> dict[str, object]:
    """Which clips were played, from what second on, and for how long."""
    frame = made.played.frame[0]
    begins = np.concatenate([[0], np.flatnonzero(~np.isin(np.diff(frame), (0, 1))) + 1, [len(frame)]])
    clip_of = library.clip_of_frame()
    rows = []
    for first, stop in pairwise(begins.tolist()):
        clip = int(clip_of[frame[first]])
        row = {"clip": library.names[clip], "from_s": float(frame[first] - library.starts[clip]) / FPS}
        rows.append({**row, "at_s": float(first) / FPS, "lasts_s": float(stop - first) / FPS})
    return {"transitions": made.transitions, "played": rows}
