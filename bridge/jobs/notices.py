# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel has to say about the motion that is chosen now: errors and doubts, each with its fix."""

from dataclasses import dataclass

import bpy

from ...core.body.frozen_limbs import find_frozen_limbs
from ...core.body.in_place import find_in_place
from ...core.errors import BadMotion, SinewError
from ...core.motion import Clip
from ...core.motion.inspection import inspect_clip
from ...core.motion.trim import find_trim
from ..takes.views import find_missing_support_findings
from .requests import Request, trims_source

GIVE_TRAVEL = "sinew.give_travel"


@dataclass(frozen=True)
class Notice:
    """A message with its fix.

    fix, value: what a button sets, and to what (``source_fixes``); '' where there is nothing to press.
    is_impossible: nothing is simulated of this without asking. offer: an operator that makes something of it.
    """

    message: str
    hint: str
    is_error: bool = False
    fix: str = ""
    value: float = 0.0
    is_impossible: bool = False
    offer: str = ""


class ImpossibleSource(BadMotion):
    """Raised instead of simulating what no body can do; notices: all that there is to say about it."""

    def __init__(self, notices: tuple[Notice, ...]) -> None:
        reason = next(notice for notice in notices if notice.is_impossible)
        super().__init__(f"{reason.message}. It was not simulated", "Fix it, or simulate again to do it anyway")
        self.notices = notices


# The last request that there was something to say about.
_said: list[tuple[Request, tuple[Notice, ...]]] = []


def of(request: Request) -> tuple[Notice, ...]:
    """What there is to say about the request, nothing outdated.

    An error is about all that was asked for; a doubt is about the motion, whatever is to be done with it.
    """
    return tuple(
        notice
        for known, notices in _said
        for notice in notices
        if known == request or (not notice.is_error and _source(known) == _source(request))
    )


def of_takes(obj: bpy.types.Object | None, source_name: str) -> tuple[Notice, ...]:
    """What physics showed of an Action when it was simulated last: that stairs, a seat, a partner or a load is missing.

    source_name: '' for the Action that moves the armature now.
    """
    active = obj.animation_data.action if obj is not None and obj.animation_data else None
    source_name = source_name or (active.name if active is not None else "")
    if obj is None or not source_name:
        return ()
    return tuple(Notice(message, hint) for message, hint in find_missing_support_findings(obj, source_name))


def _source(request: Request) -> tuple[object, ...]:
    return request.armature, request.action, request.frames, request.true_fps, request.scale


def show_notices(request: Request, notices: tuple[Notice, ...]) -> None:
    """Show the notices as long as they hold."""
    _said[:] = [(request, notices)]


def forget_errors(request: Request) -> None:
    """What was wrong with the request is mended; doubts about its motion stay."""
    show_notices(request, tuple(notice for notice in of(request) if not notice.is_error))


def error(problem: SinewError) -> Notice:
    """The notice for an error."""
    return Notice(problem.message, problem.hint, is_error=True)


def show_problem(request: Request, problem: SinewError) -> None:
    """Show what was wrong, with the fixes where there are some."""
    show_notices(request, problem.notices if isinstance(problem, ImpossibleSource) else (error(problem),))


def doubts_about(clip: Clip, request: Request, *, on_floor: bool) -> tuple[Notice, ...]:
    """What looks wrong with the motion itself. on_floor: whether it is simulated on the flat floor."""
    trims = trims_source(request)
    doubts = tuple(
        Notice(
            found.message,
            found.hint if trims or found.fix != "trim" else "Every frame is simulated as it is",
            fix="" if trims and found.fix == "trim" else found.fix,
            value=found.value,
            is_impossible=found.is_impossible,
        )
        for found in inspect_clip(clip)
        if on_floor or found.kind != "ground"
    )
    frozen = tuple(Notice(limb.message, limb.hint) for limb in find_frozen_limbs(clip))
    return doubts + frozen + _travel_doubts(clip, request)


def _travel_doubts(clip: Clip, request: Request) -> tuple[Notice, ...]:
    """That a cycle is on the spot, and what becomes of it; nothing for a method that does not care, or gives travel."""
    travel = (request.settings or {}).get("travel")
    found = find_in_place(find_trim(clip).cut_clip(clip) if trims_source(request) else clip) if travel else None
    if found is None:
        return ()
    if travel == "off":
        return (Notice(found.message, "No body can glide like that", fix="travel", offer=GIVE_TRAVEL),)
    return (Notice(found.message, "It is simulated as it would travel, and comes back as a loop", offer=GIVE_TRAVEL),)


def require_possible(doubts: tuple[Notice, ...]) -> None:
    """Refuse to simulate what no body can do."""
    if any(doubt.is_impossible for doubt in doubts):
        raise ImpossibleSource(doubts)


def impossible_reason(request: Request) -> str:
    """Why the request should not be simulated without asking, as far as is known; '' if it may."""
    return next((notice.message for notice in of(request) if notice.is_impossible), "")


def forget_notices() -> None:
    """Forget everything, as when another file is opened."""
    _said.clear()
