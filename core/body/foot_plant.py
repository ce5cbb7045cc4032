# SPDX-License-Identifier: GPL-3.0-or-later
"""Foot plant for sources: foot skate of a capture is removed, because a body would have to slide where its source does.

``foot_correction`` keeps the contact in place. A sole that is nearly level is laid flat, for a stiff foot would rock on
its edge. A long slide is meant and stays, and so does everything that stands still already or does not stand.
"""

from dataclasses import dataclass

import numpy as np

from ..geometry.angles import arctan2_exact
from ..geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, rotate
from ..motion import Clip
from .foot_correction import (
    UP,
    FootCorrection,
    SpanCorrection,
    StanceSpan,
    apply_foot_corrections,
    blend_spans,
    cancel_drift,
    compute_contact_steps,
    lower_hips,
    make_stance_spans,
    rotate_foot,
    smootherstep,
)
from .foot_skate import source_foot_skate
from .leg_ik import Leg, find_legs
from .model import BodyModel
from .stances import Flags, Sole, find_stances
from .terrain_adaptation import GroundSurface

_MOST_TURN = np.radians(25.0)
_MOST_RISE_M = 0.05
# A foot that is tilted for most of a stance, by less than the first and constant to the second, is laid flat.
_TILTED, _ROCKS = np.radians(12.0), np.radians(4.0)
# What is left: no further than the first from level it is flat, beyond the second the heel or the ball is lifted.
_FLAT, _LIFTS = np.radians(1.0), np.radians(7.0)
_SHAKY = 1.5  # how many times as much feet may slide in a source that had jitter
_LEAST_M, _LEAST_TURN = 0.002, np.radians(1.0)  # smaller corrections are left out


@dataclass(frozen=True)
class FootPlantReport:
    """What was done: ``held`` stances that were planted, ``kept`` long slides, and foot skate in m/s.

    slid is that of the source and slides that of the result, both as ``foot_skate`` has it; None where no foot stands.
    moved: metres, the most that a foot was moved by.
    """

    held: int = 0
    kept: int = 0
    slid: float | None = None
    slides: float | None = None
    moved: float = 0.0

    @property
    def touched(self) -> bool:
        """Whether anything was changed."""
        return self.held > 0

    @property
    def message(self) -> str:
        """In plain words."""
        text = "Feet stand still already"
        if self.touched:
            text = "Feet were held where they stand"
            if self.slid is not None:
                text += f": they slid {100 * self.slid:.{1 if self.slid < 0.0995 else 0}f} cm/s in the source"
        if self.kept:
            slides = "1 long slide was" if self.kept == 1 else f"{self.kept} long slides were"
            text += f"; {slides} left as in the source"
        return text


def plant_feet(
    body: BodyModel, clip: Clip, ground: GroundSurface | None = None, shaky: bool = False
) -> tuple[Clip, FootPlantReport]:
    """The clip with planted feet, and what was done; frames without such a foot keep every bit.

    The clip must be on the ground already (``terrain_adaptation.adapt_to_ground``); None is a flat floor at 0.
    shaky: whether sliding a little more than usual is noise, too, and not meant.
    """
    slack = _SHAKY if shaky else 1.0
    legs = find_legs(body, clip.skeleton)
    plans = [plan for leg in legs if (plan := _Plan.of(body, clip, leg, ground, slack)) is not None]
    held, kept = sum(len(plan.span_corrections) for plan in plans), sum(plan.kept for plan in plans)
    slid = source_foot_skate(body, clip, ground)
    corrections = [
        FootCorrection.of(body, clip, plan.leg, ground, plan.span_corrections, plan.stands)
        for plan in plans
        if plan.span_corrections
    ]
    if not corrections:
        return clip, FootPlantReport(kept=kept, slid=slid, slides=slid)
    moved = apply_foot_corrections(clip, corrections, lower_hips(clip, corrections))
    most = float(max(np.linalg.norm(correction.shift, axis=-1).max() for correction in corrections))
    return moved, FootPlantReport(held, kept, slid, source_foot_skate(body, moved, ground), most)


@dataclass(frozen=True, eq=False)
class _Plan:
    """What to do with a leg's foot: its corrections, and how many slides are kept.

    stands: (T - 1,) in which steps the foot stands.
    """

    leg: Leg
    span_corrections: list[SpanCorrection]
    kept: int
    stands: Flags

    @classmethod
    def of(cls, body: BodyModel, clip: Clip, leg: Leg, ground: GroundSurface | None, slack: float) -> "_Plan | None":
        """None if the foot never stands."""
        sole = Sole.of(body, clip, leg, ground)
        found, slides = find_stances(sole, clip.fps, slack)
        if not found and not slides:
            return None
        stands = np.zeros(len(clip) - 1, dtype=bool)
        for first, last in found:
            stands[first:last] = True
        span_corrections = _correct_spans(body, clip, leg, ground, make_stance_spans(found, len(clip), clip.fps))
        return cls(leg, span_corrections, slides, stands)


def _correct_spans(
    body: BodyModel, clip: Clip, leg: Leg, ground: GroundSurface | None, spans: list[StanceSpan]
) -> list[SpanCorrection]:
    """Corrections of a foot, where needed: it is laid flat, then its yaw drift and its slide are cancelled."""
    tilts = _levelling(body, clip, leg, Sole.of(body, clip, leg, ground), spans)
    tilt = from_rotation_vector(blend_spans(spans, tilts, clip))
    flat = Sole.of(body, rotate_foot(clip, leg, tilt), leg, ground)
    steps = flat.yaw_steps()[:, None] * UP
    yaws = [cancel_drift(steps, span) for span in spans]
    yaws = [yaw if np.ptp(yaw[:, 2]) < _MOST_TURN else 0.0 * yaw for yaw in yaws]  # a wide pivot is meant
    turn = multiply(from_rotation_vector(blend_spans(spans, yaws, clip)), tilt)
    straight = Sole.of(body, rotate_foot(clip, leg, turn), leg, ground)
    shifts = [_shift(straight, span) for span in spans]
    span_corrections = [SpanCorrection(*parts) for parts in zip(spans, tilts, yaws, shifts, strict=True)]
    return [part for part in span_corrections if part.exceeds(_LEAST_TURN, _LEAST_M)]


def _levelling(body: BodyModel, clip: Clip, leg: Leg, sole: Sole, spans: list[StanceSpan]) -> list[Array]:
    """For each span (frames, 3): rotation vectors in the world that lay a sole flat which is nearly so."""
    normal = _sole_normal(body, clip, leg)
    turns = []
    quat = clip.world()[1][:, leg.foot]
    for span in spans:
        frames = slice(span.start, span.stop + 1)
        if normal is None or not sole.level[span.first : span.last].all():
            turns.append(np.zeros((span.stop + 1 - span.start, 3)))
            continue
        upward = rotate(quat[frames], np.broadcast_to(normal, (len(quat[frames]), 3)))
        axis = np.cross(upward, UP)
        sine = np.linalg.norm(axis, axis=-1)
        tilt = axis * (arctan2_exact(sine, upward[:, 2]) / np.maximum(sine, 1e-12))[:, None]
        inside = tilt[span.first - span.start : span.last + 1 - span.start]
        usual = np.median(inside, axis=0)
        rocks = float(np.median(np.linalg.norm(inside - usual, axis=-1)))
        if np.linalg.norm(usual) > _TILTED or rocks > _ROCKS:
            usual = np.zeros(3)
        rest = tilt - usual
        angle = np.linalg.norm(rest, axis=-1)
        turns.append(usual + rest * (1.0 - smootherstep((angle - _FLAT) / (_LIFTS - _FLAT)))[:, None])
    return turns


def _sole_normal(body: BodyModel, clip: Clip, leg: Leg) -> Array | None:
    """(3,) what points up in the foot's frame when the sole is flat; None for hands and for other feet than boxes."""
    link = body.links[leg.links[0]] if leg.links else None
    if link is None or link.role != "foot" or not link.shapes or link.shapes[0].kind != "box":
        return None
    _, rest = clip.skeleton.rest_world()
    up = rotate(conjugate(rest[leg.foot]), UP)
    axes = rotate(np.broadcast_to(link.shapes[0].quat_wxyz, (3, 4)), np.eye(3))
    along = axes @ up
    best = int(np.argmax(np.abs(along)))
    return np.asarray(axes[best] * np.sign(along[best])) if abs(along[best]) > 0.85 else None


def _shift(sole: Sole, span: StanceSpan) -> Array:
    """(frames, 3) metres that keep the contact in place, and on the ground if that is flat."""
    shift = cancel_drift(compute_contact_steps(sole), span)
    inside = slice(span.first, span.last)
    if sole.level[inside].all():
        shift[:, 2] -= np.clip(np.median(sole.low[inside]), -_MOST_RISE_M, _MOST_RISE_M)
    return shift
