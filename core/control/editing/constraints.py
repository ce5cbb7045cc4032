# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion is to be edited to: key moments with time, place and heading, and points that limbs are to reach."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import BadSettings
from ...files import Attachment

EDITS = "edits"
"""Name of the job's attachment."""

_HINT = "Give finite numbers"
_LONGEST_S = 10.0


@dataclass(frozen=True)
class EditConstraint:
    """A key moment, and what is wanted of it; None leaves a thing as the rest of the motion asks for.

    frame: of the source clip. time_s: seconds from the beginning of the result at which it happens.
    place: (x, y) metres in the world where the root is then. heading: radians about Z from +X that the root faces then.
    rigid_s: seconds before and after it in which path and pace keep their shape.
    """

    frame: int
    time_s: float | None = None
    place: tuple[float, float] | None = None
    heading: float | None = None
    rigid_s: float = 0.3

    def __post_init__(self) -> None:
        _require_numbers(f"The key moment at frame {self.frame}", self.time_s, self.heading, *(self.place or ()))
        if self.place is not None:
            object.__setattr__(self, "place", _point(self.place, 2, f"The place at frame {self.frame}"))
        _require_span(f"The time around frame {self.frame} that keeps its shape", self.rigid_s)


@dataclass(frozen=True)
class Reach:
    """A hand or foot that is at a point at a key moment.

    frame: of the source clip. bone: a hand's or foot's, or its role and side, such as 'foot.R'.
    target: (x, y, z) metres in the world. span_s: seconds before and after the frame over which it comes and goes.
    """

    frame: int
    bone: str
    target: tuple[float, float, float]
    span_s: float = 0.3

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", _point(self.target, 3, f"The target of '{self.bone}'"))
        _require_span(f"The time over which '{self.bone}' reaches", self.span_s)


@dataclass(frozen=True)
class FrameNumbers:
    """How frames are told to people: ``first`` is the number of the clip's first one, in the source and in the result.

    fps: frames a second of the result, as it is numbered. step: by how much frames of the source count.
    """

    fps: float
    first: float = 0
    step: float = 1.0

    def source(self, frame: int) -> int:
        """The number of a frame of the source."""
        return round(self.first + self.step * frame)

    def result(self, time_s: float) -> float:
        """The number of the result's frame at a moment, which may lie between two."""
        return round(self.first + time_s * self.fps, 3)


def require_consistent(
    constraints: Sequence[EditConstraint], reaches: Sequence[Reach], count: int, numbers: FrameNumbers
) -> None:
    """Refuse frames that a clip of ``count`` frames does not have, and constraints that contradict each other."""
    for frame in [*(one.frame for one in constraints), *(one.frame for one in reaches)]:
        if not 0 <= frame < count:
            raise BadSettings(
                f"Frame {numbers.source(frame)} is outside of the motion",
                f"Choose a key moment from frame {numbers.source(0)} to {numbers.source(count - 1)}",
            )
    known: dict[int, EditConstraint] = {}
    for one in constraints:
        other = known.setdefault(one.frame, one)
        for name, what in (("time_s", "moments"), ("place", "places"), ("heading", "headings")):
            mine, theirs = getattr(one, name), getattr(other, name)
            if mine is not None and theirs is not None and not np.allclose(mine, theirs):
                raise BadSettings(f"Frame {numbers.source(one.frame)} is wanted at two {what}", "Leave one of them out")
    for bone in {(one.bone, one.frame) for one in reaches}:
        if len({one.target for one in reaches if (one.bone, one.frame) == bone}) > 1:
            raise BadSettings(
                f"'{bone[0]}' is to reach two points at frame {numbers.source(bone[1])}", "Leave one of them out"
            )
    timed = sorted((one.frame, one.time_s) for one in constraints if one.time_s is not None)
    for (first, begins), (second, ends) in itertools.pairwise(timed):
        if second > first and ends <= begins:
            raise BadSettings(
                f"Frame {numbers.source(second)} is wanted at {ends:.2f} s, "
                f"but frame {numbers.source(first)} before it at {begins:.2f} s",
                "Keep key moments in the order of the motion",
            )


def make_edits_attachment(
    constraints: Sequence[EditConstraint], reaches: Sequence[Reach], numbers: FrameNumbers
) -> dict[str, Attachment]:
    """What travels with the job of an edit."""
    told = {
        "constraints": [
            {
                "frame": one.frame,
                "time_s": one.time_s,
                "place": None if one.place is None else list(one.place),
                "heading": one.heading,
                "rigid_s": one.rigid_s,
            }
            for one in constraints
        ],
        "reaches": [
            {"frame": one.frame, "bone": one.bone, "target": list(one.target), "span_s": one.span_s} for one in reaches
        ],
        "fps": numbers.fps,
        "first": numbers.first,
    }
    return {EDITS: ({}, told)}


def edits_from_mapping(told: Mapping[str, Any]) -> tuple[tuple[EditConstraint, ...], tuple[Reach, ...]]:
    """The constraints and reaches of an attachment's description."""
    constraints = tuple(
        EditConstraint(
            int(one["frame"]),
            one["time_s"],
            None if one["place"] is None else (one["place"][0], one["place"][1]),
            one["heading"],
            one["rigid_s"],
        )
        for one in told["constraints"]
    )
    reaches = tuple(
        Reach(int(one["frame"]), one["bone"], tuple(one["target"]), one["span_s"]) for one in told["reaches"]
    )
    return constraints, reaches


def _require_numbers(what: str, *values: float | None) -> None:
    if not all(value is None or np.isfinite(value) for value in values):
        raise BadSettings(f"{what} has something that is not a number", _HINT)


def _point(values: Sequence[float], count: int, what: str) -> tuple[float, ...]:
    if len(values) != count or not all(np.isfinite(value) for value in values):
        raise BadSettings(f"{what} is {tuple(values)}", f"Give {count} finite numbers, in metres")
    return tuple(float(value) for value in values)


def _require_span(what: str, seconds: float) -> None:
    if not (np.isfinite(seconds) and 0.0 <= seconds <= _LONGEST_S):
        raise BadSettings(f"{what} is {seconds:g} s", f"Give seconds from 0 to {_LONGEST_S:g}")
