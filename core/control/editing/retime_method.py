# SPDX-License-Identifier: GPL-3.0-or-later
"""Retime and Reach as a method: a clip and its edits become a take, without physics."""

from dataclasses import asdict, dataclass
from typing import Any

from ...body.foot_skate import source_foot_skate
from ...errors import BadSettings
from ...motion import Clip, Take
from ...settings import Settings, setting
from ..character import build_job_body
from ..method import Method, Run
from .constraints import EDITS, EditConstraint, FrameNumbers, Reach, edits_from_mapping, require_consistent
from .motion_editing import EditedMotion, edit_motion, find_timed
from .time_map import PaceBounds, require_possible_times

# Beyond these a motion is edited as asked, and the animator is told that it may look it.
_STRETCHED, _GLIDES_M_S, _SLIDES_M_S, _LIFTED_S = 1.6, 0.5, 0.02, 0.1


@dataclass(frozen=True)
class RetimeSettings(Settings):
    """What an animator may set."""

    slowest: float = setting(0.5, "Slowest", "How slow it may be played: 0.5 is half as fast", minimum=0.1, maximum=1.0)
    fastest: float = setting(2.0, "Fastest", "How fast it may be played: 2 is twice as fast", minimum=1.0, maximum=10.0)
    rigid_s: float = setting(
        0.3,
        "Keep Around",
        "Seconds before and after the key moment in which path and pace keep their shape",
        minimum=0.0,
        maximum=10.0,
        unit="s",
    )
    reach_s: float = setting(
        0.3,
        "Reach Over",
        "Seconds before and after the key moment over which a hand or foot reaches its target and comes back",
        minimum=0.0,
        maximum=10.0,
        unit="s",
    )
    hold_start: bool = setting(
        True, "Hold Start", "Let the Action begin where it begins; else all of it is moved, as far as that will do"
    )
    hold_end: bool = setting(False, "Hold End", "Let the Action end where and when it ends")

    @property
    def bounds(self) -> PaceBounds:
        """How slow and how fast it may be played."""
        return PaceBounds(self.slowest, self.fastest)


class RetimeMethod(Method):
    """Laplacian motion editing of one clip; no physics."""

    name = "retime"
    label = "Retime and Reach"
    help = "Let the Action be at a place, facing a direction, at a frame, with its key pose kept; without physics"
    uses_engine = False
    settings_type = RetimeSettings
    result_name = "retimed"

    def run(self, clip: Clip, settings: RetimeSettings, run: Run) -> Take:
        """Edit the clip as the job's attachment says."""
        attached = run.attachment(EDITS)
        if attached is None:
            raise BadSettings(
                "There is no key moment to retime", "Use the button Retime and Reach, or the verb: sinew retime"
            )
        constraints, reaches = edits_from_mapping(attached[1])
        numbers = FrameNumbers(float(attached[1]["fps"]), int(attached[1]["first"]))
        body, _ = build_job_body(clip, run)
        edited = edit_motion(
            body,
            clip,
            constraints,
            reaches,
            bounds=settings.bounds,
            hold_start=settings.hold_start,
            hold_end=settings.hold_end,
            numbers=numbers,
        )
        run.progress(1, 1)
        run.add_detail(EDITS, _describe(edited, numbers))
        _tell(edited, run)
        skate = {"skate_m_s": source_foot_skate(body, edited.clip), "source_skate_m_s": source_foot_skate(body, clip)}
        figures = {"slowest": edited.slowest, "fastest": edited.fastest, "stretch": edited.stretch, **skate}
        return Take(edited.clip, measurements=figures, source_times_s=edited.times_s)


def require_possible_edits(
    clip: Clip,
    constraints: tuple[EditConstraint, ...],
    reaches: tuple[Reach, ...],
    settings: RetimeSettings,
    numbers: FrameNumbers,
) -> None:
    """Refuse before there is a job what can be seen without a body: frames, contradictions, and the pace."""
    require_consistent(constraints, reaches, len(clip), numbers)
    require_possible_times(clip.fps, find_timed(clip, constraints, settings.hold_end), settings.bounds, numbers)


def _describe(edited: EditedMotion, numbers: FrameNumbers) -> dict[str, Any]:
    """What became of every key moment and reach, for the report; frames as people number them."""
    fps = edited.clip.fps
    moments, reaches = [asdict(one) for one in edited.constraints], [asdict(one) for one in edited.reaches]
    for row in (*moments, *reaches):
        row["frame"] = numbers.source(row["frame"])
        row["result_frame"] = numbers.result(row["result_frame"] / fps)
    return {
        "key_moments": moments,
        "reaches": reaches,
        "turn_rad": edited.turn_rad,
        "glide_m_s": edited.shift_m_s,
        "let_go_s": edited.let_go_s,
        "stance_slide_m_s": edited.slide_m_s,
        "source_stance_slide_m_s": edited.source_slide_m_s,
    }


def _tell(edited: EditedMotion, run: Run) -> None:
    """Say what an animator may see of the edit."""
    for kind, message, hint in _findings(edited):
        run.add_finding(kind, message, hint)


def _findings(edited: EditedMotion) -> list[tuple[str, str, str]]:
    nearer = "Ask for a place that is nearer, or for a later frame"
    found = []
    if edited.let_go_s > _LIFTED_S:
        text = f"Feet are lifted sooner than in the source, for {edited.let_go_s:.2f} s in all: the way is too long"
        found.append(("stances", text, nearer))
    if edited.shift_m_s > _GLIDES_M_S:
        text = f"The hips glide at up to {edited.shift_m_s:.1f} m/s besides their own way"
        found.append(("glide", text, nearer))
    elif edited.stretch > _STRETCHED:
        found.append(("stretch", f"The way is changed in length by a factor of {edited.stretch:.1f}", nearer))
    if edited.slide_m_s is not None and edited.slide_m_s > _SLIDES_M_S:
        found.append(("slide", f"Standing feet slide {100.0 * edited.slide_m_s:.0f} cm/s", nearer))
    return found
