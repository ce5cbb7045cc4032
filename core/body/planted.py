# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that stand still when they stand: what slides a little in a capture is held where it is.

A foot rolls from heel to ball, so no point of it is held for a whole stance. What is held is the contact: from frame
to frame the points that are on the ground move by nothing. A sole that is nearly level is laid flat, for a stiff foot
would rock on its edge. Hips and knees make up for it. Who slides far is meant to slide and is left alone, and so is
everything that stands still already or does not stand.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, rotate
from ..motion import Clip
from .clearance import SOFT_M, envelope
from .footing import Ground
from .legs import Leg, legs_of, reaching, shortfall
from .model import BodyModel
from .stances import Flags, Sole, stances, steady

_MOST_TURN = np.radians(25.0)
_MOST_RISE_M = 0.05
# A foot that is tilted for most of a stance, by less than the first and steady to the second, is laid flat as a whole.
_TILTED, _ROCKS = np.radians(12.0), np.radians(4.0)
# What is left: no further than the first from level it is flat, beyond the second the heel or the ball is lifted.
_FLAT, _LIFTS = np.radians(1.0), np.radians(7.0)
_EDGE_S = 0.02  # half the time in which a foot that comes down is brought to a stop
_RISE_S = 0.2  # in which it is back at its height, lest it scuffs
_LIFT_S = 0.05
_FADE_S = 0.25  # in which a swinging foot comes back to where it was, if it swings for so long
_LEAST_M, _LEAST_TURN = 0.002, np.radians(1.0)  # less than this is not worth a touch
_MOST_DROP_M, _DROP_S = 0.03, 0.2
_SHORT_M = 0.005  # a leg that is too short by no more than this reaches well enough
_UP: Array = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class PlantReport:
    """What was done: ``held`` stances of feet, ``kept`` slides that were left, and m/s that feet slid while they stood.

    slid is that of the source and slides that of the result, both over all stances. moved: metres, the most that a
    foot was moved by.
    """

    held: int = 0
    kept: int = 0
    slid: float = 0.0
    slides: float = 0.0
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
            text = f"Feet were held where they stand: they slid {100 * self.slid:.0f} cm/s in the source"
        if self.kept:
            slides = "1 long slide was" if self.kept == 1 else f"{self.kept} long slides were"
            text += f"; {slides} left as in the source"
        return text


def planted(body: BodyModel, clip: Clip, ground: Ground | None = None) -> tuple[Clip, PlantReport]:
    """The clip with feet that stand where they stand, and what was done; frames without such a foot keep every bit.

    The clip must be on the ground already (``footing.stood_on``); None is a flat floor at 0.
    """
    plans = [plan for leg in legs_of(body, clip.skeleton) if (plan := _Plan.of(body, clip, leg, ground)) is not None]
    kept, slid = sum(plan.kept for plan in plans), [plan.slid for plan in plans]
    plans = [plan for plan in plans if plan.held]
    if not plans:
        return clip, PlantReport(kept=kept, slid=_mean(slid), slides=_mean(slid))
    moved = _reached(clip, plans)
    after = []
    for plan in plans:
        speed = Sole.of(body, moved, plan.leg, ground).speed(clip.fps)
        after.append(speed[plan.stands])
    report = PlantReport(
        sum(plan.held for plan in plans),
        kept,
        _mean(slid),
        _mean(after),
        float(max(np.linalg.norm(plan.shift, axis=-1).max() for plan in plans)),
    )
    return moved, report


@dataclass(frozen=True, eq=False)
class _Plan:
    """How a foot is to be moved.

    turn: (T, 4) a rotation in the world about the foot's head, shift: (T, 3) metres, changed: (T,) where there is
    either. stands: (T - 1,) in which steps the foot stands, slid: m/s in those.
    """

    leg: Leg
    turn: Array
    shift: Array
    changed: Flags
    stands: Flags
    held: int
    kept: int
    slid: Array

    @classmethod
    def of(cls, body: BodyModel, clip: Clip, leg: Leg, ground: Ground | None) -> "_Plan | None":
        """What to do with a leg's foot; None if it never stands."""
        sole = Sole.of(body, clip, leg, ground)
        found, slides = stances(sole, clip.fps)
        if not found and not slides:
            return None
        stands = np.zeros(len(clip) - 1, dtype=bool)
        for first, last in found:
            stands[first:last] = True
        holds = _holds(body, clip, leg, ground, _spans(found, len(clip), clip.fps))
        spans = [hold.span for hold in holds]
        tilt, yaw, shift = (_spread(spans, [getattr(hold, name) for hold in holds], clip) for name in _PARTS)
        shift[:, 2] = _spread(spans, [hold.shift for hold in holds], clip, _RISE_S)[:, 2]
        turn = multiply(from_rotation_vector(yaw), from_rotation_vector(tilt))
        shift[:, 2] += _out_of_ground(sole, Sole.of(body, _turned(clip, leg, turn), leg, ground), shift, clip.fps)
        changed = np.any((tilt != 0.0) | (yaw != 0.0) | (shift != 0.0), axis=-1)
        return cls(leg, turn, shift, changed, stands, len(holds), slides, sole.speed(clip.fps)[stands])


@dataclass(frozen=True, eq=False)
class _Span:
    """Frames ``first`` to ``last`` of a stance, and ``start`` to ``stop``, between which it comes and goes.

    grip: (stop - start,) how much of the slide from each frame to the next is taken back, 0 to 1.
    """

    first: int
    last: int
    start: int
    stop: int
    grip: Array


_PARTS = ("tilt", "yaw", "shift")


@dataclass(frozen=True, eq=False)
class _Hold:
    """What is done to a foot over a span: (frames, 3) each, rotation vectors in the world and metres."""

    span: _Span
    tilt: Array
    yaw: Array
    shift: Array

    @property
    def worth_it(self) -> bool:
        return max(_most(self.tilt), _most(self.yaw)) > _LEAST_TURN or _most(self.shift) > _LEAST_M


def _holds(body: BodyModel, clip: Clip, leg: Leg, ground: Ground | None, spans: list[_Span]) -> list[_Hold]:
    """First the sole is laid flat, then it is kept from turning, and then from sliding, where there is any need."""
    tilts = _levelling(body, clip, leg, Sole.of(body, clip, leg, ground), spans)
    tilt = from_rotation_vector(_spread(spans, tilts, clip))
    flat = Sole.of(body, _turned(clip, leg, tilt), leg, ground)
    turned = flat.turned()[:, None] * _UP
    yaws = [_held(turned, span) for span in spans]
    yaws = [yaw if np.ptp(yaw[:, 2]) < _MOST_TURN else 0.0 * yaw for yaw in yaws]  # who turns far is meant to
    turn = multiply(from_rotation_vector(_spread(spans, yaws, clip)), tilt)
    straight = Sole.of(body, _turned(clip, leg, turn), leg, ground)
    shifts = [_shift(straight, span) for span in spans]
    holds = [_Hold(*parts) for parts in zip(spans, tilts, yaws, shifts, strict=True)]
    return [hold for hold in holds if hold.worth_it]


def _spans(found: list[tuple[int, int]], count: int, fps: float) -> list[_Span]:
    edge = max(round(_EDGE_S * fps), 1)
    spans = []
    for index, (first, last) in enumerate(found):
        before = -edge if index == 0 else (found[index - 1][1] + first) // 2 + 1
        after = count + edge if index == len(found) - 1 else (last + found[index + 1][0]) // 2
        start, stop = max(first - edge, before, 0), min(last + edge, after, count - 1)
        on = np.zeros(stop - start + 2 * edge)
        on[edge + first - start : edge + last - start] = 1.0
        # A clip that begins or ends in a stance was in it before, and stays in it.
        on[:edge], on[len(on) - edge :] = float(first == 0), float(last == count - 1)
        grip = steady(on, fps, edge / fps)[edge : len(on) - edge]
        spans.append(_Span(first, last, start, stop, grip))
    return spans


def _levelling(body: BodyModel, clip: Clip, leg: Leg, sole: Sole, spans: list[_Span]) -> list[Array]:
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
        axis = np.cross(upward, _UP)
        sine = np.linalg.norm(axis, axis=-1)
        tilt = axis * (np.arctan2(sine, upward[:, 2]) / np.maximum(sine, 1e-12))[:, None]
        inside = tilt[span.first - span.start : span.last + 1 - span.start]
        usual = np.median(inside, axis=0)
        rocks = float(np.median(np.linalg.norm(inside - usual, axis=-1)))
        if np.linalg.norm(usual) > _TILTED or rocks > _ROCKS:
            usual = np.zeros(3)
        rest = tilt - usual
        angle = np.linalg.norm(rest, axis=-1)
        turns.append(usual + rest * (1.0 - _smooth((angle - _FLAT) / (_LIFTS - _FLAT)))[:, None])
    return turns


def _sole_normal(body: BodyModel, clip: Clip, leg: Leg) -> Array | None:
    """(3,) what points up in the foot's frame when the sole is flat; None for hands and for other feet than boxes."""
    link = body.links[leg.links[0]] if leg.links else None
    if link is None or link.role != "foot" or not link.shapes or link.shapes[0].kind != "box":
        return None
    _, rest = clip.skeleton.rest_world()
    up = rotate(conjugate(rest[leg.foot]), _UP)
    axes = rotate(np.broadcast_to(link.shapes[0].quat_wxyz, (3, 4)), np.eye(3))
    along = axes @ up
    best = int(np.argmax(np.abs(along)))
    return np.asarray(axes[best] * np.sign(along[best])) if abs(along[best]) > 0.85 else None


def _held(steps: Array, span: _Span) -> Array:
    """(frames, 3) what takes back steps (T - 1, 3) over a span, so that the middle of the stance stays in place."""
    back = -np.cumsum(np.concatenate([np.zeros((1, 3)), steps[span.start : span.stop] * span.grip[:, None]]), axis=0)
    return np.asarray(back - np.median(back[span.first - span.start : span.last - span.start + 1], axis=0))


def _shift(sole: Sole, span: _Span) -> Array:
    """(frames, 3) metres that hold the contact where it is, and on the ground if that is flat."""
    inside = slice(span.first, span.last)
    height = sole.low
    rise = np.diff(height, append=height[-1:])
    steps = np.concatenate([sole.slide[:, :2], rise[:, None]], axis=1)
    shift = _held(steps, span)
    if sole.level[inside].all():
        shift[:, 2] -= np.clip(np.median(height[inside]), -_MOST_RISE_M, _MOST_RISE_M)
    return shift


def _out_of_ground(source: Sole, sole: Sole, shift: Array, fps: float) -> Array:
    """(T,) metres to lift a foot that would be deeper in the ground than it was; sole: as turned, before ``shift``."""
    deep = np.minimum(source.depths(), 0.0) - SOFT_M - (sole.depths() + shift[:, 2])
    need = np.maximum(np.nan_to_num(deep, nan=0.0, posinf=0.0, neginf=0.0), 0.0)
    return envelope(need, fps, _LIFT_S) if need.any() else need


def _spread(spans: list[_Span], values: list[Array], clip: Clip, fade_s: float = _FADE_S) -> Array:
    """(T, 3) the values (frames, 3) of spans, fading to zero between them, or from one to the next."""
    count, reach = len(clip), max(round(fade_s * clip.fps), 1)
    whole = np.zeros((count, 3))
    for index, (span, own) in enumerate(zip(spans, values, strict=True)):
        whole[span.start : span.stop + 1] = own
        before = spans[index - 1].stop if index else -reach
        after = spans[index + 1].start if index + 1 < len(spans) else count + reach
        for edge, step, gap in ((span.start, -1, span.start - before), (span.stop, 1, after - span.stop)):
            fade = min(gap, reach)
            frames = edge + step * np.arange(1, fade)
            inside = (frames >= 0) & (frames < count)
            weight = 1.0 - _smooth(np.arange(1, fade) / fade)
            whole[frames[inside]] += weight[inside, None] * own[0 if step < 0 else -1]
    return whole


def _smooth(share: Array) -> Array:
    """From 0 to 1 with neither speed nor acceleration at the ends."""
    x = np.clip(share, 0.0, 1.0)
    return np.asarray(x**3 * (10.0 - 15.0 * x + 6.0 * x**2))


def _turned(clip: Clip, leg: Leg, turn: Array, changed: Flags | None = None) -> Clip:
    """The clip with the foot turned by ``turn`` (T, 4) in the world about its own head."""
    _, quat = clip.world()
    above = conjugate(quat[:, clip.skeleton.parents[leg.foot]])
    local = np.array(clip.local_quat_wxyz)
    own = multiply(above, multiply(turn, quat[:, leg.foot]))
    local[:, leg.foot] = own if changed is None else np.where(changed[:, None], own, local[:, leg.foot])
    return replace(clip, local_quat_wxyz=local)


def _reached(clip: Clip, plans: list[_Plan]) -> Clip:
    """The clip with feet where they are planned to be; the hips go down a little where a leg is too short for that."""
    pos, _ = clip.world()
    goals = [pos[:, plan.leg.foot] + plan.shift for plan in plans]
    short = [  # a swinging leg need not reach quite as far
        np.where(plan.changed & np.append(plan.stands, False), shortfall(pos, pos, plan.leg, goal) - _SHORT_M, 0.0)
        for plan, goal in zip(plans, goals, strict=True)
    ]
    drop = np.clip(envelope(np.max(short, axis=0), clip.fps, _DROP_S), 0.0, _MOST_DROP_M)
    moved = np.array(clip.local_pos)
    for root in np.flatnonzero(clip.skeleton.parents < 0):
        moved[:, root, 2] -= drop
    moved_clip = replace(clip, local_pos=moved)
    for plan, goal in zip(plans, goals, strict=True):
        moved_clip = _turned(moved_clip, plan.leg, plan.turn, plan.changed)
        moved_clip = replace(moved_clip, local_quat_wxyz=reaching(moved_clip, plan.leg, goal))
    return moved_clip


def _most(vectors: Array) -> float:
    return float(np.linalg.norm(vectors, axis=-1).max())


def _mean(parts: list[Array]) -> float:
    values = np.concatenate([np.zeros(0), *parts])
    return float(values.mean()) if values.size else 0.0
