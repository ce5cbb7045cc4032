# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel has to say about the motion that is chosen now: errors and doubts, each with its fix."""

from dataclasses import dataclass

from ...core.errors import SinewError
from ...core.motion import Clip
from ...core.motion.unit_checks import check_frame_rate, check_scale
from .requests import Request


@dataclass(frozen=True)
class Notice:
    """A message with its fix. A suggestion that is not 0 is a fix that a button can apply."""

    message: str
    hint: str
    is_error: bool = False
    suggested_fps: float = 0.0
    suggested_scale: float = 0.0


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


def doubts_about(clip: Clip) -> tuple[Notice, ...]:
    """What looks wrong with the motion itself: its size, its frame rate."""
    found = []
    if scale := check_scale(clip):
        found.append(Notice(scale.message, scale.hint, suggested_scale=scale.suggested_scale))
    if rate := check_frame_rate(clip):
        found.append(Notice(rate.message, rate.hint, suggested_fps=rate.suggested_fps))
    return tuple(found)


def forget_notices() -> None:
    """Forget everything, as when another file is opened."""
    _said.clear()
