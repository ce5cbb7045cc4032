# SPDX-License-Identifier: GPL-3.0-or-later
"""Stances kept: feet that stand in the source stand in the edited motion, and key poses stay as they were.

Which foot stands is known from the source; it need not be found again in what was made of it. Within a stance the foot
is held where it is at the key moment, or else where it is on average; while it swings, it goes from one to the next.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...body import BodyModel
from ...body.foot_contacts import legs_by_foot
from ...body.foot_correction import (
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
from ...body.leg_ik import Leg
from ...body.stances import Flags, Sole
from ...geometry.flags import find_runs
from ...geometry.quaternions import Array, from_rotation_vector, to_rotation_vector
from ...motion import Clip

_LEAST_FRAMES = 2  # from the first frame of a stance to its last
_ROOM = 5  # frames between two stances of which one on either side may be taken to stop and to go
_BESIDE_S = 0.12  # a stance so near to another or to a key moment has no time to be elsewhere
_KEPT_S = 0.15  # around a key moment a swinging foot comes back to its own path, and goes again
# A foot that would be held over a longer way than this is let go, lifted for a while, and set down anew.
_MOST_DRIFT_M, _MOST_TURN = 0.3, np.radians(50.0)
_STEP_S, _STEP_LIFT_M = 0.2, 0.06
# So is one that two key poses of the same stance have in places further apart than this.
_SAME_M, _SAME_RAD = 0.01, np.radians(2.0)
# So is one that slips faster than this, because its leg does not reach; then what is left is held anew.
_SLIPS_M_S, _ROUNDS = 0.05, 3


def keep_stances(body: BodyModel, clip: Clip, contacts: Flags, keys: Sequence[int]) -> tuple[Clip, Flags]:
    """The clip with feet held while they are in contact (T, feet), in the order of ``name_feet``, and where they are.

    keys: frames whose poses stay as they are. A foot that the edit has taken too far away for its leg is let go before
    the end of its contact: these frames are contacts no more.
    """
    legs = list(legs_by_foot(body).values())
    held = []
    for column, leg in enumerate(legs):
        stances = [(first, stop - 1) for first, stop in find_runs(contacts[:, column])]
        stances = [(first, last) for first, last in stances if last - first >= _LEAST_FRAMES]
        others = np.delete(contacts, column, axis=1).any(axis=1)
        held.append(_let_go(body, clip, leg, stances, others, keys) if stances else [])
    for _ in range(_ROUNDS):
        edited = _hold(body, clip, legs, contacts, held, keys)
        shorter = [_shorten(body, edited, leg, stances) for leg, stances in zip(legs, held, strict=True)]
        if shorter == held:
            break
        held = shorter
    else:
        edited = _hold(body, clip, legs, contacts, held, keys)
    return edited, _flag(held, contacts)


def _hold(
    body: BodyModel,
    clip: Clip,
    legs: Sequence[Leg],
    contacts: Flags,
    held: Sequence[list[tuple[int, int]]],
    keys: Sequence[int],
) -> Clip:
    """The clip with each leg's foot held in its stances, and lifted in what else of its contacts there is."""
    lifted = contacts & ~_flag(held, contacts)
    corrections = [
        _correct_foot(body, clip, leg, stances, lifted[:, column], keys)
        for column, (leg, stances) in enumerate(zip(legs, held, strict=True))
        if stances
    ]
    if not corrections:
        return clip
    near = _near(keys, len(clip), clip.fps)[:, None, None]
    lowered = lower_hips(clip, corrections).local_pos
    hips = replace(clip, local_pos=clip.local_pos + (1.0 - near) * (lowered - clip.local_pos))
    return apply_foot_corrections(clip, corrections, hips)


def _flag(held: Sequence[list[tuple[int, int]]], contacts: Flags) -> Flags:
    """(T, feet) the frames of stances."""
    flags = np.zeros_like(contacts)
    for column, stances in enumerate(held):
        for first, last in stances:
            flags[first : last + 1, column] = True
    return flags


def _shorten(body: BodyModel, clip: Clip, leg: Leg, stances: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stances without the steps at their ends in which the leg was too short to hold the foot."""
    speed = np.linalg.norm(Sole.of(body, clip, leg, None).slide[:, :2], axis=-1) * clip.fps if stances else np.zeros(0)
    shorter = []
    for first, last in stances:
        still = np.flatnonzero(speed[first:last] < _SLIPS_M_S)
        if len(still) and still[-1] + 1 - still[0] >= _LEAST_FRAMES:
            shorter.append((first + int(still[0]), first + int(still[-1]) + 1))
    return shorter


def measure_slide(body: BodyModel, clip: Clip, contacts: Flags) -> float | None:
    """Mean speed in m/s of soles over the ground while they are in contact (T, feet); None where none ever is."""
    speeds = []
    for column, leg in enumerate(legs_by_foot(body).values()):
        stands = contacts[:-1, column] & contacts[1:, column]
        if len(clip) > 1 and stands.any():
            slide = Sole.of(body, clip, leg, None).slide[stands, :2]
            speeds.append(np.linalg.norm(slide, axis=-1) * clip.fps)
    return float(np.concatenate(speeds).mean()) if speeds else None


def _correct_foot(
    body: BodyModel, clip: Clip, leg: Leg, stances: list[tuple[int, int]], lifted: Flags, keys: Sequence[int]
) -> FootCorrection:
    """What holds a foot in its stances, and lifts it where it was let go: lifted (T,)."""
    spans = make_stance_spans(_widen(stances, len(clip)), len(clip), clip.fps)
    turns = Sole.of(body, clip, leg, None).yaw_steps()[:, None] * UP
    yaws = _settle([cancel_drift(turns, span) for span in spans], spans, keys, clip.fps)
    straight = rotate_foot(clip, leg, from_rotation_vector(blend_spans(spans, yaws, clip)))
    steps = compute_contact_steps(Sole.of(body, straight, leg, None)) * [1.0, 1.0, 0.0]
    shifts = _settle([cancel_drift(steps, span) for span in spans], spans, keys, clip.fps)
    parts = [SpanCorrection(span, 0.0 * yaw, yaw, shift) for span, yaw, shift in zip(spans, yaws, shifts, strict=True)]
    stands = np.zeros(len(clip) - 1, dtype=bool)
    for first, last in stances:
        stands[first:last] = True
    correction = FootCorrection.of(body, clip, leg, None, parts, stands)
    return _let_keys_be(_lift(correction, lifted, clip.fps), stances, keys, clip.fps)


def _widen(stances: list[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    """Stances with a frame more at either end, where there is room: a foot is brought to a stop before it stands."""
    edges = [-_ROOM, *(edge for stance in stances for edge in stance), count - 1 + _ROOM]
    wider = []
    for index, (first, last) in enumerate(stances):
        before, after = edges[2 * index], edges[2 * index + 3]
        wider.append(
            (first - (first > 0 and first - before >= _ROOM), last + (last < count - 1 and after - last >= _ROOM))
        )
    return wider


def _settle(offsets: list[Array], spans: list[StanceSpan], keys: Sequence[int], fps: float) -> list[Array]:
    """Offsets (frames, 3) over spans, moved to where they belong.

    Between stances that follow each other at once there is no time to go elsewhere: these share one offset. It is
    nothing at the first key moment in them or right beside them, or else on average.
    """
    groups: list[list[int]] = []
    keyed = [_at_key(offset, span, keys, fps) is not None for offset, span in zip(offsets, spans, strict=True)]
    for index, span in enumerate(spans):
        both = index > 0 and keyed[index - 1] and keyed[index]  # two key poses are kept before anything else
        if groups and not both and span.first - spans[index - 1].last < _BESIDE_S * fps:
            groups[-1].append(index)
        else:
            groups.append([index])
    settled: list[Array] = []
    for group in groups:
        chained: list[Array] = []
        for index in group:
            offset, span = offsets[index], spans[index]
            before = chained[-1][spans[index - 1].inside][-1] if chained else 0.0 * offset[0]
            chained.append(offset + (before - offset[span.inside][0]))
        members = [spans[index] for index in group]
        middle = np.median(np.concatenate([o[one.inside] for o, one in zip(chained, members, strict=True)]), axis=0)
        kept = [_at_key(o, one, keys, fps) for o, one in zip(chained, members, strict=True)]
        rest = next((value for value in kept if value is not None), middle)
        settled += [offset - rest for offset in chained]
    return settled


def _at_key(offset: Array, span: StanceSpan, keys: Sequence[int], fps: float) -> Array | None:
    """(3,) an offset over a span at the first key moment in its stance, or right beside it; None if there is none."""
    near = [key for key in keys if max(span.first - key, key - span.last, 0) <= _BESIDE_S * fps]
    return np.asarray(offset[int(np.clip(near[0], span.first, span.last)) - span.start]) if near else None


def _let_go(
    body: BodyModel, clip: Clip, leg: Leg, stances: list[tuple[int, int]], others: Flags, keys: Sequence[int]
) -> list[tuple[int, int]]:
    """Stances as far as a foot can be held; those that go on after it was let go become several.

    others: (T,) whether another foot stands, which is when a step is best made.
    """
    sole, gap, held = Sole.of(body, clip, leg, None), max(round(_STEP_S * clip.fps), 2), []
    way = np.concatenate([np.zeros((1, 2)), np.cumsum(sole.slide[:, :2], axis=0)])
    turn = np.concatenate([[0.0], np.cumsum(sole.yaw_steps())])
    for first, last in _part_at_keys(stances, way, turn, others, keys, gap):
        inside = [key for key in keys if first <= key <= last]
        begin = first if not inside else _furthest(way, turn, inside[0], first)
        while last - begin >= _LEAST_FRAMES:
            end = _furthest(way, turn, begin, last)
            if end - begin >= _LEAST_FRAMES:
                held.append((begin, end))
            begin = end + gap
    return held


def _part_at_keys(
    stances: list[tuple[int, int]], way: Array, turn: Array, others: Flags, keys: Sequence[int], gap: int
) -> list[tuple[int, int]]:
    """Stances of no more than one key pose each: a foot that two of them have in different places makes a step."""
    parts = []
    for begin, last in stances:
        first = begin
        inside = [key for key in keys if begin <= key <= last]
        for before, after in itertools.pairwise(inside):
            moved = np.linalg.norm(way[after] - way[before]) > _SAME_M or abs(turn[after] - turn[before]) > _SAME_RAD
            room = after - before - 1
            if moved and room > 1:
                step = min(gap, room)
                starts = np.arange(before, after - step)
                carried = np.array([others[start : start + step + 1].sum() for start in starts])
                best = starts[carried == carried.max()]
                start = int(best[len(best) // 2])
                parts.append((first, start))
                first = start + step
        parts.append((first, last))
    return parts


def _furthest(way: Array, turn: Array, start: int, stop: int) -> int:
    """The last frame from ``start`` towards ``stop`` that a foot can be held to, by its way (T, 2) and turn (T,)."""
    step = 1 if stop >= start else -1
    frames = np.arange(start, stop + step, step)
    low, high = np.minimum.accumulate(way[frames]), np.maximum.accumulate(way[frames])
    most = np.maximum.accumulate(turn[frames]) - np.minimum.accumulate(turn[frames])
    far = (np.linalg.norm(high - low, axis=-1) > _MOST_DRIFT_M) | (most > _MOST_TURN)
    return int(frames[max(int(np.argmax(far)) - 1, 0)]) if far.any() else stop


def _lift(correction: FootCorrection, lifted: Flags, fps: float) -> FootCorrection:
    """The foot off the ground in frames (T,) in which it was let go, rather than dragged; down again a little later."""
    rise, ease = np.zeros(len(lifted)), max(round(0.5 * _STEP_S * fps), 1)
    for first, stop in find_runs(lifted):
        begin, end = max(first - 1, 0), min(stop + ease, len(lifted) - 1)
        below = [frame for frame in range(stop, end) if not lifted[frame] and correction.stands[frame]]
        end = min([end, *below])
        share = np.linspace(0.0, 1.0, end - begin + 1)
        height = _STEP_LIFT_M * min((end - begin) / (_STEP_S * fps), 1.0) ** 2  # in less time it gets less high
        rise[begin : end + 1] = np.maximum(rise[begin : end + 1], height * np.sin(np.pi * share) ** 2)
    shift = correction.shift + rise[:, None] * UP
    return replace(correction, shift=shift, changed=correction.changed | (rise > 0.0))


def _let_keys_be(
    correction: FootCorrection, stances: list[tuple[int, int]], keys: Sequence[int], fps: float
) -> FootCorrection:
    """The correction faded out towards key moments in which the foot swings."""
    share = np.ones(len(correction.shift))
    frames = np.arange(len(share))
    for key in keys:
        if any(first <= key <= last for first, last in stances):
            continue
        edges = [abs(edge - key) for span in stances for edge in span]
        reach = max(min([_KEPT_S * fps, *edges]), 1.0)
        share = np.minimum(share, smootherstep(np.abs(frames - key) / reach))
    turn = from_rotation_vector(to_rotation_vector(correction.turn) * share[:, None])
    return replace(correction, turn=turn, shift=correction.shift * share[:, None])


def _near(keys: Sequence[int], count: int, fps: float) -> Array:
    """(T,) 1 at key moments, 0 away from them."""
    frames, near = np.arange(count), np.zeros(count)
    for key in keys:
        near = np.maximum(near, 1.0 - smootherstep(np.abs(frames - key) / (_KEPT_S * fps)))
    return near
