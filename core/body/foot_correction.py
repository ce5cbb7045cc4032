# SPDX-License-Identifier: GPL-3.0-or-later
"""Foot corrections: drift over a stance is cancelled and blended out around it, and legs follow by inverse kinematics.

A foot rolls from heel to ball, so no point of it is fixed for a whole stance. What is fixed is the contact: from frame
to frame the points that are on the ground do not move. ``foot_plant`` finds the stances of sources, ``foot_lock`` those
of takes.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..geometry.quaternions import Array, conjugate, from_rotation_vector, multiply
from ..motion import Clip
from .clearance import SOFT_M, upper_envelope
from .leg_ik import Leg, move_foot, reach_shortfall
from .model import BodyModel
from .stances import Flags, Sole, smooth_hann
from .terrain_adaptation import GroundSurface

UP: Array = np.array([0.0, 0.0, 1.0])
_EDGE_S = 0.02  # half of the time over which a foot is brought to a stop at touchdown
_RISE_S = 0.2  # over which it is back at its height, lest it scuffs
_LIFT_S = 0.05
_FADE_S = 0.25  # over which a swinging foot returns to its own path, if it swings for so long
_MOST_DROP_M, _DROP_S = 0.03, 0.2
_SHORT_M = 0.005  # a leg that falls short by no more than this reaches well enough


@dataclass(frozen=True, eq=False)
class StanceSpan:
    """Frames ``first`` to ``last`` of a stance, and ``start`` to ``stop`` with its edges.

    share: (stop - start,) how much of the slide from each frame to the next is taken back, 0 to 1.
    """

    first: int
    last: int
    start: int
    stop: int
    share: Array

    @property
    def inside(self) -> slice:
        """The stance's frames among those from ``start`` to ``stop``."""
        return slice(self.first - self.start, self.last - self.start + 1)


def make_stance_spans(found: list[tuple[int, int]], count: int, fps: float) -> list[StanceSpan]:
    """Stances, first and last frame of each, with the edges between which a foot is brought to a stop."""
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
        share = smooth_hann(on, fps, edge / fps)[edge : len(on) - edge]
        spans.append(StanceSpan(first, last, start, stop, share))
    return spans


def cancel_drift(steps: Array, span: StanceSpan) -> Array:
    """(frames, 3) the offset that cancels steps (T - 1, 3) over a span; its median over the stance is zero."""
    back = -np.cumsum(np.concatenate([np.zeros((1, 3)), steps[span.start : span.stop] * span.share[:, None]]), axis=0)
    return np.asarray(back - np.median(back[span.inside], axis=0))


def compute_contact_steps(sole: Sole) -> Array:
    """(T - 1, 3) metres a step: how the contact slides over the ground, and how its height above it changes."""
    rise = np.diff(sole.low, append=sole.low[-1:])
    return np.concatenate([sole.slide[:, :2], rise[:, None]], axis=1)


@dataclass(frozen=True, eq=False)
class SpanCorrection:
    """Correction of a foot over a span, (frames, 3) each: rotation vectors in the world and metres."""

    span: StanceSpan
    tilt: Array
    yaw: Array
    shift: Array

    def exceeds(self, turn: float, shift_m: float) -> bool:
        """Whether the foot is turned or moved by more than these somewhere."""
        return max(_most(self.tilt), _most(self.yaw)) > turn or _most(self.shift) > shift_m


@dataclass(frozen=True, eq=False)
class FootCorrection:
    """Correction of a foot over a whole clip.

    turn: (T, 4) a rotation in the world about the foot's head, shift: (T, 3) metres, changed: (T,) where there is
    either. stands: (T - 1,) in which steps the foot stands.
    """

    leg: Leg
    turn: Array
    shift: Array
    changed: Flags
    stands: Flags

    @classmethod
    def of(
        cls,
        body: BodyModel,
        clip: Clip,
        leg: Leg,
        ground: GroundSurface | None,
        span_corrections: list[SpanCorrection],
        stands: Flags,
        soft_m: float = SOFT_M,
    ) -> "FootCorrection":
        """All spans blended, with the foot nowhere deeper in the ground than it was by ``soft_m``."""
        spans = [part.span for part in span_corrections]
        tilt, yaw, shift = (
            blend_spans(spans, [getattr(part, name) for part in span_corrections], clip) for name in _PARTS
        )
        shift[:, 2] = blend_spans(spans, [part.shift for part in span_corrections], clip, _RISE_S)[:, 2]
        turn = multiply(from_rotation_vector(yaw), from_rotation_vector(tilt))
        source, moved = (Sole.of(body, one, leg, ground) for one in (clip, rotate_foot(clip, leg, turn)))
        shift[:, 2] += _out_of_ground(source, moved, shift, soft_m, clip.fps)
        changed = np.any((tilt != 0.0) | (yaw != 0.0) | (shift != 0.0), axis=-1)
        return cls(leg, turn, shift, changed, stands)


_PARTS = ("tilt", "yaw", "shift")


def blend_spans(spans: list[StanceSpan], values: list[Array], clip: Clip, fade_s: float = _FADE_S) -> Array:
    """(T, 3) the values (frames, 3) of spans, blended to zero between them, or from one to the next."""
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
            weight = 1.0 - smootherstep(np.arange(1, fade) / fade)
            whole[frames[inside]] += weight[inside, None] * own[0 if step < 0 else -1]
    return whole


def smootherstep(share: Array) -> Array:
    """Quintic easing from 0 to 1: neither speed nor acceleration at the ends."""
    x = np.clip(share, 0.0, 1.0)
    return np.asarray(x**3 * (10.0 - 15.0 * x + 6.0 * x**2))


def _out_of_ground(source: Sole, sole: Sole, shift: Array, soft_m: float, fps: float) -> Array:
    """(T,) metres to lift a foot that would be deeper in the ground than it was; sole: as turned, before ``shift``."""
    deep = np.minimum(source.depths(), 0.0) - soft_m - (sole.depths() + shift[:, 2])
    need = np.maximum(np.nan_to_num(deep, nan=0.0, posinf=0.0, neginf=0.0), 0.0)
    return upper_envelope(need, fps, _LIFT_S) if need.any() else need


def rotate_foot(clip: Clip, leg: Leg, turn: Array, changed: Flags | None = None) -> Clip:
    """The clip with the foot rotated by ``turn`` (T, 4) in the world about its own head."""
    _, quat = clip.world()
    above = conjugate(quat[:, clip.skeleton.parents[leg.foot]])
    local = np.array(clip.local_quat_wxyz)
    own = multiply(above, multiply(turn, quat[:, leg.foot]))
    local[:, leg.foot] = own if changed is None else np.where(changed[:, None], own, local[:, leg.foot])
    return replace(clip, local_quat_wxyz=local)


def lower_hips(clip: Clip, corrections: list[FootCorrection]) -> Clip:
    """The clip with hips lowered a little where a leg is too short to reach its corrected foot."""
    pos, _ = clip.world()
    short = [  # a swinging leg need not reach quite as far
        np.where(
            correction.changed & np.append(correction.stands, False),
            reach_shortfall(pos, pos, correction.leg, pos[:, correction.leg.foot] + correction.shift) - _SHORT_M,
            0.0,
        )
        for correction in corrections
    ]
    drop = np.clip(upper_envelope(np.max(short, axis=0), clip.fps, _DROP_S), 0.0, _MOST_DROP_M)
    moved = np.array(clip.local_pos)
    for root in np.flatnonzero(clip.skeleton.parents < 0):
        moved[:, root, 2] -= drop
    return replace(clip, local_pos=moved)


def apply_foot_corrections(clip: Clip, corrections: list[FootCorrection], hips: Clip | None = None) -> Clip:
    """The clip with corrected feet, as far as legs reach; hips: the clip that the legs hang on."""
    pos, _ = clip.world()
    goals = [pos[:, correction.leg.foot] + correction.shift for correction in corrections]
    moved = clip if hips is None else hips
    for correction, goal in zip(corrections, goals, strict=True):
        moved = rotate_foot(moved, correction.leg, correction.turn, correction.changed)
        moved = move_foot(moved, correction.leg, goal)
    return moved


def _most(vectors: Array) -> float:
    return float(np.linalg.norm(vectors, axis=-1).max())
