# SPDX-License-Identifier: GPL-3.0-or-later
"""Left for right, so that for the policy it is always the same leg that swings.

A walk is learned from twice as many samples, and what supports the body and what steps is always in the same place of
an observation: the policy need not learn for each leg how it stands and how it steps. Which leg swings is the stream's
to say, so training and playing agree about it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...body.mirroring import BodyMirror
from ...errors import RigError
from ...geometry.quaternions import Array
from ..matching.features import FPS
from .reference_streams import Flags, Indices, ReferenceStreams

_FLIP: Array = np.diag([1.0, -1.0, 1.0])  # left and right in the facing frame
_SMOOTH_FRAMES = 9
_FASTER_M_S = 0.3  # than the other foot: it swings; with less the one that swung last still counts


def find_stance_links(body: BodyModel) -> Indices:
    """Links that stand, one on each side."""
    return np.array([i for i, link in enumerate(body.links) if link.role == "foot"], dtype=np.int64)


def find_body_mirror(body: BodyModel) -> BodyMirror | None:
    """What mirrors the body; None for one whose sides differ, or that does not have two feet."""
    try:
        mirror = BodyMirror(body)
    except RigError:
        return None
    feet = find_stance_links(body)
    return mirror if len(feet) == 2 and mirror.links[feet[0]] == feet[1] else None


def find_mirrored(streams: ReferenceStreams) -> Flags:
    """(F,) frames in which the second foot swings, or was the last to swing."""
    feet, found = find_stance_links(streams.body), np.zeros(len(streams), dtype=bool)
    for first, stop in zip(streams.starts[:-1], streams.starts[1:], strict=True):
        place = streams.link_pos[first:stop, feet, :2].astype(float)
        speed = FPS * np.linalg.norm(np.gradient(place, axis=0), axis=-1)
        lead = np.convolve(speed[:, 1] - speed[:, 0], np.full(_SMOOTH_FRAMES, 1.0 / _SMOOTH_FRAMES), mode="same")
        told = np.where(np.abs(lead) > _FASTER_M_S, np.arange(len(lead)), -1)
        latest = np.maximum.accumulate(told)
        found[first:stop] = np.where(latest >= 0, lead[latest] > 0.0, False)
    return found


Parts = Sequence[tuple[str, int]]
"""Kinds of numbers one after the other, with how many there are: what ``StanceMirror`` knows how to mirror."""


class StanceMirror:
    """Matrices for what is seen of streams and of states, and for actions (A, A), of one body."""

    def __init__(self, mirror: BodyMirror, body: BodyModel, acting: Indices, streams: Parts, states: Parts) -> None:
        self._mirror = mirror
        self._rates = mirror.velocity(np.eye(body.nv)).T[6:, 6:]
        self.actions = np.ascontiguousarray(mirror.offsets[np.ix_(acting, acting)], dtype=np.float32)
        self.streams, self.states = (
            _join_blocks([self._make_part(kind, size) for kind, size in parts]) for parts in (streams, states)
        )

    def _make_part(self, kind: str, size: int) -> Array:
        if kind == "vector":
            return _FLIP
        if kind == "axial":
            return -_FLIP
        if kind == "same":
            return np.eye(size)
        if kind == "opposite":
            return -np.eye(size)
        if kind == "sides":
            return np.eye(2)[::-1]
        if kind == "joints":
            return np.asarray(self._rates)
        if kind == "offsets":
            return np.asarray(self.actions, dtype=float)
        assert kind.startswith("links"), kind
        links = [int(word) for word in kind.split()[1:]]
        found = np.zeros((3 * len(links), 3 * len(links)))
        for own, link in enumerate(links):
            other = links.index(int(self._mirror.links[link]))
            found[3 * other : 3 * other + 3, 3 * own : 3 * own + 3] = _FLIP
        return found

    def mirror_states(self, rows: NDArray[np.float32], which: Flags) -> None:
        """Mirror some of (N, S) what is seen of states, in place."""
        if which.any():
            rows[which] = rows[which] @ self.states.T

    def mirror_actions(self, actions: NDArray[np.floating], which: Flags) -> Array:
        """(N, A) actions of which some are mirrored, by the policy for the body or back."""
        found = np.array(actions, dtype=float)
        if which.any():
            found[which] = found[which] @ self.actions.T.astype(float)
        return found


def _join_blocks(parts: list[Array]) -> NDArray[np.float32]:
    """The square matrices along the diagonal of one."""
    size, at = sum(len(part) for part in parts), 0
    found = np.zeros((size, size), dtype=np.float32)
    for part in parts:
        found[at : at + len(part), at : at + len(part)] = part
        at += len(part)
    return found
