# SPDX-License-Identifier: GPL-3.0-or-later
"""Cues: what a character is asked to do, when, and where."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import BadSettings, JobError
from ..matching.features import FPS

CUES = "cues"
"""What a job calls its attachment with the cues."""

_REACH_M = 0.7  # that a hand or foot reaches, about
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)"
_CUE = re.compile(
    rf"(?P<deed>[^@]+)@(?P<frame>{_NUMBER})(?::(?P<x>{_NUMBER}),(?P<y>{_NUMBER})(?:,(?P<heading>{_NUMBER}))?)?"
    rf"(?:=(?P<hit>{_NUMBER},{_NUMBER},{_NUMBER}))?"
)
_EXAMPLE = (
    "Write a deed, a frame and perhaps a place or a target in metres: frontkick@96, walk@140:3,2, punch@200:3,2,90, "
    "punch@200=3,2,1.4"
)


@dataclass(frozen=True)
class Cue:
    """A deed, or a style, at a time.

    deed: its name. time_s: seconds from the beginning at which its key moment is asked for; of a style, when it is to
    go on. frame: the same as the animator calls it. place: (x, y) metres where the root is to be then, None for
    anywhere. heading: radians from +X to face then, None for any. hit: (x, y, z) metres that the hand or foot is at
    then which does the deed, None for nothing to hit.
    """

    deed: str
    time_s: float
    frame: float
    place: tuple[float, float] | None = None
    heading: float | None = None
    hit: tuple[float, float, float] | None = None

    @property
    def at(self) -> int:
        """The frame of a directed motion, at 60 a second."""
        return round(self.time_s * FPS)

    def ground_from(self, here: complex) -> complex | None:
        """About where the root is to be, coming from a place; None for anywhere. Complex metres."""
        if self.place is not None:
            return complex(*self.place)
        if self.hit is None:
            return None
        away = complex(*self.hit[:2]) - here
        return here + away * max(1.0 - _REACH_M / max(abs(away), 1e-9), 0.0)

    @property
    def label(self) -> str:
        """As a command line has it."""
        return f"{self.deed}@{self.frame:g}"


def parse_cue(text: str, frame_start: float, fps: float) -> Cue:
    """A cue such as 'frontkick@96' or 'walk@140:3,2': deed, frame, and perhaps metres and degrees."""
    found = _CUE.fullmatch(text.strip())
    if found is None:
        raise BadSettings(f"'{text}' is no cue", _EXAMPLE)
    frame, heading = float(found["frame"]), found["heading"]
    place = None if found["x"] is None else (float(found["x"]), float(found["y"]))
    angle = None if heading is None else float(np.radians(float(heading)))
    hit = None if found["hit"] is None else _point(found["hit"].split(","))
    return make_cue(found["deed"].strip(), frame, frame_start, fps, place, angle, hit)


def _point(words: Sequence[Any]) -> tuple[float, float, float]:
    x, y, z = (float(word) for word in words)
    return x, y, z


def make_cue(
    deed: str,
    frame: float,
    frame_start: float,
    fps: float,
    place: tuple[float, float] | None = None,
    heading: float | None = None,
    hit: tuple[float, float, float] | None = None,
) -> Cue:
    """A cue at a frame of an animator's; one before the motion begins is refused."""
    if frame <= frame_start:
        raise BadSettings(
            f"Cue '{deed}@{frame:g}' is not after the first frame, {frame_start:g}", "Ask for it at a later frame"
        )
    return Cue(deed, (frame - frame_start) / fps, frame, place, heading, hit)


def sort_cues(cues: Iterable[Cue]) -> tuple[Cue, ...]:
    """Cues in the order of time; refuses none at all, and two that ask for different things at the same moment."""
    found = tuple(sorted(dict.fromkeys(cues), key=lambda cue: cue.time_s))
    if not found:
        raise BadSettings("There are no cues", _EXAMPLE)
    for one, other in pairwise(found):
        if one.at != other.at:
            continue
        what = "two deeds" if one.deed != other.deed else "two places or targets"
        raise BadSettings(
            f"Cues '{one.label}' and '{other.label}' contradict each other: {what} at one frame",
            "Move one of them, or leave it out",
        )
    return found


def cues_to_arrays(cues: Sequence[Cue], frame_start: float, fps: float) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays, meta) as a job attaches them. fps: of the animator's frames."""
    rows = [
        {name: getattr(one, name) for name in ("deed", "time_s", "frame", "place", "heading", "hit")} for one in cues
    ]
    return {}, {"cues": rows, "frame_start": frame_start, "fps": fps}


@dataclass(frozen=True)
class CueSheet:
    """The cues of a job in the order of time, and how its animator counts frames."""

    cues: tuple[Cue, ...]
    frame_start: float
    fps: float

    def frame_of(self, index: float) -> int:
        """The animator's frame of one of a motion at 60 a second."""
        return round(self.frame_start + index / FPS * self.fps)


def cues_from_arrays(meta: Mapping[str, Any]) -> CueSheet:
    """The inverse of ``cues_to_arrays``."""
    try:
        cues = [
            Cue(
                str(row["deed"]),
                float(row["time_s"]),
                float(row["frame"]),
                None if row["place"] is None else (float(row["place"][0]), float(row["place"][1])),
                None if row["heading"] is None else float(row["heading"]),
                None if row["hit"] is None else _point(row["hit"]),
            )
            for row in meta["cues"]
        ]
        frame_start, fps = float(meta["frame_start"]), float(meta["fps"])
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise JobError(f"The job's cues are not whole: {error}", "Bake again") from error
    return CueSheet(sort_cues(cues), frame_start, fps)
