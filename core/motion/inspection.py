# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that can be said of a motion before it is simulated, in one list: what, where, and what mends it."""

from collections.abc import Callable

import numpy as np

from .clip import Clip
from .flights import estimate_body_points
from .source_finding import SourceFinding
from .trim import MotionTrim, find_trim
from .unit_checks import check_frame_rate, check_scale

_HOVERS_M = 0.15  # of a person: a sole is not where the ankle is
_PERSON_M = 1.7
_TALLEST_M, _SMALLEST_M = 10.0, 0.1  # beyond these there is nothing to be hoped for
UNIT_KINDS = ("scale", "frame_rate")
"""Findings about the file's units rather than about its motion."""


def inspect_clip(clip: Clip) -> tuple[SourceFinding, ...]:
    """What looks wrong with the motion, in the order in which it should be mended; nothing for a sound one."""
    if len(clip) < 2:
        return ()
    trim = find_trim(clip)
    motion = trim.cut_clip(clip)
    return tuple(finding for detect in _DETECTORS for finding in detect(motion, trim))


def _scale(clip: Clip, trim: MotionTrim) -> tuple[SourceFinding, ...]:
    found = check_scale(clip)
    if found is None:
        return ()
    beyond = not _SMALLEST_M < found.height_m < _TALLEST_M
    one = SourceFinding(
        "scale", found.message, found.hint, fix="scale", value=found.suggested_scale, is_impossible=beyond
    )
    return (one,)


def _frame_rate(clip: Clip, trim: MotionTrim) -> tuple[SourceFinding, ...]:
    found = check_frame_rate(clip)
    if found is None:
        return ()
    return (SourceFinding("frame_rate", found.message, found.hint, fix="frame_rate", value=found.suggested_fps),)


def _no_motion(clip: Clip, trim: MotionTrim) -> tuple[SourceFinding, ...]:
    return trim.findings


def _hovering(clip: Clip, trim: MotionTrim) -> tuple[SourceFinding, ...]:
    body = estimate_body_points(clip)
    if not _SMALLEST_M < body.size_m < _TALLEST_M:
        return ()
    lowest = float(np.percentile(body.points[..., 2].min(1), 1.0))
    if abs(lowest) < _HOVERS_M * body.size_m / _PERSON_M:
        return ()
    where = f"hovers {lowest:.2f} m above" if lowest > 0.0 else f"is {-lowest:.2f} m below"
    hint = "It is put on the ground, and the take with it"
    return (SourceFinding("ground", f"The whole motion {where} the ground", hint),)


_DETECTORS: tuple[Callable[[Clip, MotionTrim], tuple[SourceFinding, ...]], ...] = (
    _scale,
    _frame_rate,
    _no_motion,
    _hovering,
)
