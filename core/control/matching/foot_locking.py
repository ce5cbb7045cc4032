# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that stand stay where they are: played clips are bent and blended, and soles would slide by as much.

Which foot stands is known of every frame of a library; it need not be found again in what was made of it.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
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
)
from ...body.leg_ik import Leg, find_legs
from ...body.stances import Sole, find_stances
from ...geometry.flags import find_runs
from ...geometry.quaternions import Array, from_rotation_vector
from ...motion import Clip
from ...motion.library import Library

_BRIDGE_FRAMES = 3  # a contact that is lost for no longer is not lost
_LEAST_FRAMES = 4
_MOST_DRIFT_M = 0.12  # a foot that would be held further from its clip is let go, and stands anew
_MOST_TURN = np.radians(35.0)
_GAP_FRAMES = 8  # for which it is let go

Flags = NDArray[np.bool_]


@lru_cache(maxsize=8)
def find_standing_legs(body: BodyModel) -> tuple[Leg, ...]:
    """The legs of the left and the right side."""
    return tuple(leg for leg in find_legs(body, body.skeleton) if any(body.links[i].role == "foot" for i in leg.links))


def read_contacts(body: BodyModel, library: Library) -> Flags:
    """(M, legs) whether a foot stands in a frame of the library; found anew in one that does not say."""
    legs = find_standing_legs(body)
    names = [next(f"foot.{body.links[i].side}" for i in leg.links if body.links[i].role == "foot") for leg in legs]
    if set(names) <= set(library.feet):
        return np.asarray(library.contacts[:, [library.feet.index(name) for name in names]])
    flags = np.zeros((len(library.motion), len(legs)), dtype=bool)
    for index in range(len(library)):
        clip, first = library.clip(index), int(library.starts[index])
        if len(clip) < 2:
            continue
        for column, leg in enumerate(legs):
            for begin, last in find_stances(Sole.of(body, clip, leg, None), clip.fps, 1.0)[0]:
                flags[first + begin : first + last + 1, column] = True
    return flags


def lock_feet_in_contact(body: BodyModel, clip: Clip, contacts: Flags) -> Clip:
    """The clip with feet held while they are in contact (T, legs), on the ground as this body has its soles."""
    legs, corrections = find_standing_legs(body), []
    clip = _lower_to_ground(body, clip, legs, contacts)
    for column, leg in enumerate(legs):
        sole = Sole.of(body, clip, leg, None)
        steps, turns = compute_contact_steps(sole), sole.yaw_steps()[:, None] * UP
        found = _split_stances(_join_contacts(contacts[:, column]), steps, turns)
        spans = make_stance_spans(found, len(clip), clip.fps)
        parts = _correct_stances(body, clip, leg, spans, turns)
        if parts:
            stands = np.zeros(len(clip) - 1, dtype=bool)
            for first, last in found:
                stands[first:last] = True
            corrections.append(FootCorrection.of(body, clip, leg, None, parts, stands))
    return apply_foot_corrections(clip, corrections, lower_hips(clip, corrections)) if corrections else clip


def _lower_to_ground(body: BodyModel, clip: Clip, legs: tuple[Leg, ...], contacts: Flags) -> Clip:
    """The clip at the height at which soles in contact are mostly on the ground."""
    low = [Sole.of(body, clip, leg, None).low[contacts[:-1, column]] for column, leg in enumerate(legs)]
    heights = np.concatenate(low) if low else np.zeros(0)
    if not len(heights):
        return clip
    pos = np.array(clip.local_pos)
    pos[:, clip.skeleton.parents < 0, 2] -= np.median(heights)
    return replace(clip, local_pos=pos)


def _correct_stances(
    body: BodyModel, clip: Clip, leg: Leg, spans: list[StanceSpan], turns: Array
) -> list[SpanCorrection]:
    yaws = [cancel_drift(turns, span) for span in spans]
    straight = Sole.of(body, rotate_foot(clip, leg, from_rotation_vector(blend_spans(spans, yaws, clip))), leg, None)
    steps = compute_contact_steps(straight)
    found = []
    for span, yaw in zip(spans, yaws, strict=True):
        shift = cancel_drift(steps, span)
        inside = slice(span.first, max(span.last, span.first + 1))
        shift[:, 2] -= np.median(straight.low[inside])
        found.append(SpanCorrection(span, 0.0 * yaw, yaw, shift))
    return found


def _join_contacts(flags: Flags) -> list[tuple[int, int]]:
    """First and last frame of each stance; short gaps are bridged, and what is too short is none."""
    joined: list[tuple[int, int]] = []
    for first, stop in find_runs(flags):
        if joined and first - joined[-1][1] - 1 <= _BRIDGE_FRAMES:
            joined[-1] = (joined[-1][0], stop - 1)
        else:
            joined.append((first, stop - 1))
    return [(first, last) for first, last in joined if last - first >= _LEAST_FRAMES]


def _split_stances(found: list[tuple[int, int]], steps: Array, turns: Array) -> list[tuple[int, int]]:
    """Stances in which a foot would be held too far from its clip become several."""
    parts = []
    for begin, last in found:
        first = begin
        while last - first >= _LEAST_FRAMES:
            way = np.linalg.norm(np.cumsum(steps[first:last, :2], axis=0), axis=-1)
            turn = np.abs(np.cumsum(turns[first:last, 2]))
            too_far = np.flatnonzero((way > _MOST_DRIFT_M) | (turn > _MOST_TURN))
            if not len(too_far):
                parts.append((first, last))
                break
            end = first + int(too_far[0])
            if end - first >= _LEAST_FRAMES:
                parts.append((first, end))
            first = end + _GAP_FRAMES
    return parts
