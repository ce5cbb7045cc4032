# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet of takes that stand still where physics says that they are carried.

Soft contacts creep, and soles touch down with speed: what is left of that is taken back by ``holding``. A foot that
really slides goes on sliding, on ice as well as under a push, and one that turns on its sole goes on turning. The hips
and all above them stay as they were simulated.
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

_BRIDGE_S, _LEAST_S = 0.05, 0.05  # a foot bounces for no longer than the first, and stands for no less than the second
_LOW_M = 0.02  # what is carried higher than this above the ground stands on something else, which may move
# Who slides as fast as this for longer than that is meant to. A sole that touches down is faster, but not for long.
_SLIDES_M_S, _SLIDES_S = 0.25, 0.1
# Over a stance, slides and turns up to the first are taken back whole, those beyond the second not at all. Who slides
# on long after touching down and long before lifting off is sooner believed.
_SLIDE_M, _STEADY_SLIDE_M = (0.07, 0.14), (0.07, 0.11)
_TURN = (np.radians(25.0), np.radians(50.0))
_MOST_M, _MOST_RISE_M = 0.035, 0.025  # a foot is not moved further than this, sideways and upwards
_LEAST_M, _LEAST_TURN = 0.0005, np.radians(0.25)  # less than this is not worth a touch
_FALLING_S = 0.25  # in which feet are let go before a fall


@dataclass(frozen=True)
class FootLockReport:
    """What was done: ``lock_feet`` stances of feet, ``left`` to slide, and metres that feet were moved by.

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
    """The clip with feet that stay where they stand, and what was done; frames without such a foot keep every bit.

    stands: (T, L) whether links are carried (``stances.carried``). ground: None is a flat floor at 0.
    until: the frame from which on nothing is touched, for there the character fell.
    """
    end = len(clip) if until is None else min(until, len(clip))
    moves, count, left = [], 0, 0
    for leg in find_legs(body, clip.skeleton):
        on = stands[:, list(leg.links)].any(axis=1) & (np.arange(len(clip)) < end)
        sole = Sole.of(body, clip, leg, ground)
        found = _stances(sole, on, clip.fps)
        grips = [_grip(sole, stance, clip.fps) for stance in found]
        left += sum(not grip.any() for grip in grips)
        holds = _holds(body, clip, leg, ground, _gripped(found, grips, clip))
        if holds:
            count += len(holds)
            move = FootCorrection.of(body, clip, leg, ground, holds, on[:-1] & on[1:], soft_m=_LEAST_M)
            move = _limited(move, sole, ground)
            moves.append(move if end == len(clip) else _let_go(move, end, clip.fps))
    if not moves:
        return clip, FootLockReport(left=left)
    moved = apply_foot_corrections(clip, moves)
    feet = [move.leg.foot for move in moves]
    way = np.linalg.norm((moved.world()[0] - clip.world()[0])[:, feet], axis=-1)
    return moved, FootLockReport(count, left, float(way.mean()), float(way.max()))


def _stances(sole: Sole, on: Flags, fps: float) -> list[tuple[int, int]]:
    """Ranges of frames, first and last, in which a foot is carried by the ground; bounces are not the end of one."""
    low = sole.low < _LOW_M
    found: list[tuple[int, int]] = []
    for start, stop in find_runs(on[:-1] & on[1:] & low):
        # A moment in which nothing carries is missing in the step before it and in the one after it.
        if found and start - found[-1][1] <= _BRIDGE_S * fps + 1 and low[found[-1][1] : start].all():
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    return [(first, last) for first, last in found if last - first >= _LEAST_S * fps]


def _grip(sole: Sole, stance: tuple[int, int], fps: float) -> Array:
    """(steps,) how much of each step of a stance is to be taken back: 0 of what really slides."""
    slide, edge = sole.slide[slice(*stance), :2], round(_SLIDES_S * fps)
    fast = np.linalg.norm(slide, axis=-1) * fps > _SLIDES_M_S
    if fast.mean() > 0.5:
        return np.zeros(len(slide))
    slides = np.zeros(len(slide))
    for start, stop in find_runs(fast):
        slides[start:stop] = stop - start > edge
    grip = 1.0 - smooth_hann(slides, fps)
    way = np.cumsum(slide * grip[:, None], axis=0)
    share = _share(way, _SLIDE_M)
    if len(way) > 2 * edge:
        share = min(share, _share(way[edge:-edge], _STEADY_SLIDE_M))
    return np.asarray(share * grip)


def _share(way: Array, limits: tuple[float, float]) -> float:
    """How much is taken back of something that goes a way (frames, ...): less the further it is beyond a limit."""
    extent = float(np.linalg.norm(np.ptp(way, axis=0)))
    return float(np.clip((limits[1] - extent) / (limits[1] - limits[0]), 0.0, 1.0))


def _gripped(found: list[tuple[int, int]], grips: list[Array], clip: Clip) -> list[StanceSpan]:
    """The spans of those stances that are held at all, each step as firmly as it says."""
    spans = make_stance_spans(found, len(clip), clip.fps)
    edges = [(span.first - span.start, span.stop - span.last) for span in spans]
    return [
        replace(span, grip=span.grip * np.pad(grip, edge, mode="edge"))
        for span, grip, edge in zip(spans, grips, edges, strict=True)
        if grip.any()
    ]


def _holds(
    body: BodyModel, clip: Clip, leg: Leg, ground: GroundSurface | None, spans: list[StanceSpan]
) -> list[SpanCorrection]:
    """First a sole is kept from turning, and then from sliding, where there is any need."""
    steps = Sole.of(body, clip, leg, ground).yaw_steps()[:, None] * UP
    yaws = [cancel_drift(steps, span) for span in spans]
    yaws = [yaw * _share(yaw[span.inside], _TURN) for yaw, span in zip(yaws, spans, strict=True)]
    turn = from_rotation_vector(blend_spans(spans, yaws, clip))
    straight = Sole.of(body, rotate_foot(clip, leg, turn), leg, ground)
    shifts = [_shift(straight, span) for span in spans]
    holds = [SpanCorrection(span, 0.0 * yaw, yaw, shift) for span, yaw, shift in zip(spans, yaws, shifts, strict=True)]
    return [hold for hold in holds if hold.exceeds(_LEAST_TURN, _LEAST_M)]


def _shift(sole: Sole, span: StanceSpan) -> Array:
    """(frames, 3) metres that hold the contact where it is, and out of the ground if that is flat."""
    shift = cancel_drift(compute_contact_steps(sole), span)
    # The middle of the stance stays in place, unless that would take its ends too far.
    centre = 0.5 * (shift[:, :2].min(axis=0) + shift[:, :2].max(axis=0))
    nearer = (shift[:, :2] - part * centre for part in np.linspace(0.0, 1.0, 11))
    shift[:, :2] = min(nearer, key=lambda way: max(np.linalg.norm(way, axis=-1).max(), _MOST_M))
    inside = slice(span.first, span.last)
    if sole.level[inside].all():
        shift[:, 2] += np.maximum(-np.median(sole.low[inside]), 0.0)
    return shift


def _limited(move: FootCorrection, sole: Sole, ground: GroundSurface | None) -> FootCorrection:
    """A move that is nowhere too far, and that follows the ground up and down where it goes sideways."""
    share = np.minimum(_MOST_M / np.maximum(np.linalg.norm(move.shift[:, :2], axis=-1), 1e-9), 1.0)
    rise = np.clip(move.shift[:, 2], -_MOST_RISE_M, _MOST_RISE_M)
    shift = np.concatenate([move.shift[:, :2] * share[:, None], rise[:, None]], axis=1)
    return replace(move, shift=shift + _slope(sole.contact(), shift, ground)[:, None] * UP)


def _slope(contact: Array, shift: Array, ground: GroundSurface | None) -> Array:
    """(T,) metres that the ground rises from the contact (T, 3) to where it is shifted to; 0 for walls and edges."""
    sideways = shift * [1.0, 1.0, 0.0]
    there, here = (ground_height_under(place[:, None], ground)[:, 0] for place in (contact + sideways, contact))
    with np.errstate(invalid="ignore"):  # where there is no ground
        rise = there - here
        return np.where(np.abs(rise) <= np.linalg.norm(sideways, axis=-1), rise, 0.0)


def _let_go(move: FootCorrection, end: int, fps: float) -> FootCorrection:
    """A move that is over at frame ``end``."""
    ebb = smootherstep((end - np.arange(len(move.shift))) / max(round(_FALLING_S * fps), 1))[:, None]
    turn = from_rotation_vector(to_rotation_vector(move.turn) * ebb)
    return replace(move, turn=turn, shift=move.shift * ebb, changed=move.changed & (ebb[:, 0] > 0.0))
