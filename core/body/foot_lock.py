# SPDX-License-Identifier: GPL-3.0-or-later
"""Foot lock for takes: a foot stands still wherever contact forces say that it carries weight.

Soft contacts creep, and soles touch down with speed: ``foot_correction`` removes what foot skate is left of that. A
foot that really slides goes on sliding, on ice as well as under a push, and one that pivots on its sole goes on
pivoting. The hips and everything above them stay as they were simulated.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..geometry.flags import find_runs
from ..geometry.quaternions import Array, from_rotation_vector, to_rotation_vector
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
    make_stance_spans,
    rotate_foot,
    smootherstep,
)
from .leg_ik import Leg, find_legs
from .model import BodyModel
from .stances import Flags, Sole, ground_height_under, smooth_hann
from .terrain_adaptation import GroundSurface

# Longest bounce within a stance, how far a foot goes in it at most, and shortest stance.
_BRIDGE_S, _HOP_M, _LEAST_S = 0.05, 0.02, 0.05
_LOW_M = 0.02  # a foot that carries weight higher than this stands on something else, which may correction
# Faster than the first for longer than the second is a slide that is meant. A touchdown is faster, but not for long.
_SLIDES_M_S, _SLIDES_S = 0.25, 0.1
# Over a stance, slides and turns up to the first are taken back whole, those beyond the second not at all. A slide
# long after touchdown and long before lift-off is sooner believed.
_SLIDE_M, _STEADY_SLIDE_M = (0.07, 0.14), (0.07, 0.11)
_TURN = (np.radians(25.0), np.radians(50.0))
_MOST_M, _MOST_RISE_M = 0.035, 0.025  # largest correction of a foot, sideways and upwards
_LEAST_M, _LEAST_TURN = 0.0005, np.radians(0.25)  # smaller corrections are left out
_FALLING_S = 0.25  # over which the lock is released before a fall


@dataclass(frozen=True)
class FootLockReport:
    """What was done: ``held`` stances that were locked, ``left`` to slide, and metres that feet were moved by.

    mean: over all frames of the feet that were moved at all, most: the furthest.
    """

    held: int = 0
    left: int = 0
    mean: float = 0.0
    most: float = 0.0

    @property
    def touched(self) -> bool:
        """Whether anything was changed."""
        return self.held > 0

    @property
    def message(self) -> str:
        """In plain words."""
        if not self.touched:
            return "Feet stand where physics had them"
        moved = f"moved by {1000 * self.mean:.0f} mm on average, {100 * self.most:.1f} cm at most"
        return f"The take's feet were held where they stand: {moved}"


def lock_feet(
    body: BodyModel, clip: Clip, stands: Flags, ground: GroundSurface | None = None, until: int | None = None
) -> tuple[Clip, FootLockReport]:
    """The clip with its feet locked in stance, and what was done; frames without such a foot keep every bit.

    stands: (T, L) whether links are supported (``stances.detect_support``). ground: None is a flat floor at 0.
    until: the frame of the fall, from which on nothing is changed.
    """
    end = len(clip) if until is None else min(until, len(clip))
    corrections, count, left = [], 0, 0
    for leg in find_legs(body, clip.skeleton):
        on = stands[:, list(leg.links)].any(axis=1) & (np.arange(len(clip)) < end)
        sole = Sole.of(body, clip, leg, ground)
        found = _stances(sole, on, clip.fps)
        shares = [_lock_shares(sole, stance, clip.fps) for stance in found]
        left += sum(not share.any() for share in shares)
        span_corrections = _correct_spans(body, clip, leg, ground, _locked_spans(found, shares, clip))
        if span_corrections:
            count += sum(part.exceeds(_LEAST_TURN, _LEAST_M) for part in span_corrections)
            correction = FootCorrection.of(body, clip, leg, ground, span_corrections, on[:-1] & on[1:], soft_m=_LEAST_M)
            correction = _limit_correction(correction, sole, ground)
            corrections.append(correction if end == len(clip) else _release_lock(correction, end, clip.fps))
    if not corrections:
        return clip, FootLockReport(left=left)
    moved = apply_foot_corrections(clip, corrections)
    feet = [correction.leg.foot for correction in corrections]
    way = np.linalg.norm((moved.world()[0] - clip.world()[0])[:, feet], axis=-1)
    return moved, FootLockReport(count, left, float(way.mean()), float(way.max()))


def _stances(sole: Sole, on: Flags, fps: float) -> list[tuple[int, int]]:
    """Stances, first and last frame of each, in which the ground supports a foot.

    A bounce does not end one, a hop to elsewhere does.
    """
    moved = np.linalg.norm(sole.least_slide, axis=-1)
    low = sole.low < _LOW_M
    found: list[tuple[int, int]] = []
    for start, stop in find_runs(on[:-1] & on[1:] & low):
        # A moment in which nothing carries is missing in the step before it and in the one after it.
        gap = slice(found[-1][1], start) if found else slice(0, 0)
        bounces = gap.stop - gap.start <= _BRIDGE_S * fps + 1 and low[gap].all() and moved[gap].sum() < _HOP_M
        if found and bounces:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    return [(first, last) for first, last in found if last - first >= _LEAST_S * fps]


def _lock_shares(sole: Sole, stance: tuple[int, int], fps: float) -> Array:
    """(steps,) share of each step of a stance that is cancelled: 0 where the foot really slides."""
    slide, edge = sole.least_slide[slice(*stance)], round(_SLIDES_S * fps)
    fast = np.linalg.norm(slide, axis=-1) * fps > _SLIDES_M_S
    if fast.mean() > 0.5:
        return np.zeros(len(slide))
    slides = np.zeros(len(slide))
    for start, stop in find_runs(fast):
        slides[start:stop] = stop - start > edge
    each = 1.0 - smooth_hann(slides, fps)
    drift = np.cumsum(slide * each[:, None], axis=0)
    share = _cancelled_share(drift, _SLIDE_M)
    if len(drift) > 2 * edge:
        share = min(share, _cancelled_share(drift[edge:-edge], _STEADY_SLIDE_M))
    return np.asarray(share * each)


def _cancelled_share(drift: Array, limits: tuple[float, float]) -> float:
    """Share of a drift (frames, ...) that is cancelled: all below the first limit, none beyond the second."""
    extent = float(np.linalg.norm(np.ptp(drift, axis=0)))
    return float(np.clip((limits[1] - extent) / (limits[1] - limits[0]), 0.0, 1.0))


def _locked_spans(found: list[tuple[int, int]], shares: list[Array], clip: Clip) -> list[StanceSpan]:
    """Spans of the stances that are locked at all, each step by its own share."""
    spans = make_stance_spans(found, len(clip), clip.fps)
    edges = [(span.first - span.start, span.stop - span.last) for span in spans]
    return [
        replace(span, share=span.share * np.pad(share, edge, mode="edge"))
        for span, share, edge in zip(spans, shares, edges, strict=True)
        if share.any()
    ]


def _correct_spans(
    body: BodyModel, clip: Clip, leg: Leg, ground: GroundSurface | None, spans: list[StanceSpan]
) -> list[SpanCorrection]:
    """Corrections of a foot: first its yaw drift is cancelled, then its slide, where there is any need."""
    steps = Sole.of(body, clip, leg, ground).yaw_steps()[:, None] * UP
    yaws = [cancel_drift(steps, span) for span in spans]
    yaws = [yaw * _cancelled_share(yaw[span.inside], _TURN) for yaw, span in zip(yaws, spans, strict=True)]
    turn = from_rotation_vector(blend_spans(spans, yaws, clip))
    straight = Sole.of(body, rotate_foot(clip, leg, turn), leg, ground)
    shifts = [_shift(straight, span) for span in spans]
    span_corrections = [
        SpanCorrection(span, 0.0 * yaw, yaw, shift) for span, yaw, shift in zip(spans, yaws, shifts, strict=True)
    ]
    needed = [part.exceeds(_LEAST_TURN, _LEAST_M) for part in span_corrections]
    if not any(needed):
        return []
    # Where nothing is to be done the foot stays, too, though the next stance's correction fades in.
    return [
        part if need else SpanCorrection(part.span, part.tilt, 0.0 * part.yaw, 0.0 * part.shift)
        for part, need in zip(span_corrections, needed, strict=True)
    ]


def _shift(sole: Sole, span: StanceSpan) -> Array:
    """(frames, 3) metres that keep the contact in place, and out of the ground if that is flat."""
    steps = compute_contact_steps(sole)
    steps[:, :2] = sole.least_slide  # what a foot pivots on stays; its middle need not
    shift = cancel_drift(steps, span)
    # The middle of the stance stays in place, unless that would take its ends too far.
    centre = 0.5 * (shift[:, :2].min(axis=0) + shift[:, :2].max(axis=0))
    nearer = (shift[:, :2] - part * centre for part in np.linspace(0.0, 1.0, 11))
    shift[:, :2] = min(nearer, key=lambda way: max(np.linalg.norm(way, axis=-1).max(), _MOST_M))
    inside = slice(span.first, span.last)
    if sole.level[inside].all():
        shift[:, 2] += np.maximum(-np.median(sole.low[inside]), 0.0)
    return shift


def _limit_correction(correction: FootCorrection, sole: Sole, ground: GroundSurface | None) -> FootCorrection:
    """The correction within its limits; where it goes sideways, it follows the ground up and down."""
    share = np.minimum(_MOST_M / np.maximum(np.linalg.norm(correction.shift[:, :2], axis=-1), 1e-9), 1.0)
    rise = np.clip(correction.shift[:, 2], -_MOST_RISE_M, _MOST_RISE_M)
    shift = np.concatenate([correction.shift[:, :2] * share[:, None], rise[:, None]], axis=1)
    return replace(correction, shift=shift + _slope(sole.contact(), shift, ground)[:, None] * UP)


def _slope(contact: Array, shift: Array, ground: GroundSurface | None) -> Array:
    """(T,) metres that the ground rises from the contact (T, 3) to where it is shifted to; 0 for walls and edges."""
    sideways = shift * [1.0, 1.0, 0.0]
    there, here = (ground_height_under(place[:, None], ground)[:, 0] for place in (contact + sideways, contact))
    with np.errstate(invalid="ignore"):  # where there is no ground
        rise = there - here
        return np.where(np.abs(rise) <= np.linalg.norm(sideways, axis=-1), rise, 0.0)


def _release_lock(correction: FootCorrection, end: int, fps: float) -> FootCorrection:
    """The correction faded out by frame ``end``."""
    ebb = smootherstep((end - np.arange(len(correction.shift))) / max(round(_FALLING_S * fps), 1))[:, None]
    turn = from_rotation_vector(to_rotation_vector(correction.turn) * ebb)
    return replace(correction, turn=turn, shift=correction.shift * ebb, changed=correction.changed & (ebb[:, 0] > 0.0))
