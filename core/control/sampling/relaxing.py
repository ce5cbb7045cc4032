# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that has lost its motion for good lets go: it lies where it fell, rests and reaches for its source no more."""

from dataclasses import dataclass

import numpy as np

from ...body.poses import targets_of_pose
from ...geometry.quaternions import Array
from ...motion.losing import LostMotionDetector
from ..tracking.reference import CONTROL_FPS, FRAGMENT_STEPS, Reference
from .fragment_samples import Indices

LOST_FRAGMENTS = 10
"""How many fragments on end a body must have toppled before it lets go: until then it may catch itself."""
# Strength goes from all to the first over so many seconds: limbs that are let go sink, and do not drop like stones.
_LIMP, _FADE_S = 0.03, 0.3


@dataclass(frozen=True, eq=False)
class Relaxation:
    """From fragment ``first`` on servos hold targets (nu,), those of the pose it was in, with ever less strength.

    stop: the fragment in which it begins to get up; None as long as it lies.
    """

    first: int
    targets: Array
    stop: int | None = None

    def started(self, fragments: Indices) -> np.ndarray:
        """(N,) which of the fragments (N,) it is for."""
        started = np.asarray(fragments >= self.first)
        return started if self.stop is None else started & (fragments < self.stop)

    def strength(self, fragments: Indices) -> Array:
        """(N, FRAGMENT_STEPS) share of its strength in the steps of fragments (N,); 1 before it lets go."""
        steps = (fragments[:, None] - self.first) * FRAGMENT_STEPS + np.arange(1, FRAGMENT_STEPS + 1)
        found = np.asarray(1.0 - (1.0 - _LIMP) * np.clip(steps / (_FADE_S * CONTROL_FPS), 0.0, 1.0))
        if self.stop is not None:
            found[fragments >= self.stop] = 1.0
        return found


class LossWatch:
    """Watches, fragment by fragment, whether a body has lost its reference for good.

    astray: at how many fragments' ends in a row it had toppled. Whose strength is keyed by hand is left to the hand.
    """

    def __init__(self, reference: Reference) -> None:
        self.astray = 0
        rows, self._reference = reference.rows, reference
        self._detector = LostMotionDetector(
            rows.link_pos[0], rows.link_quat_wxyz[0], reference.body.trunk, float(CONTROL_FPS)
        )
        self._keyed = bool(reference.muscle.min() < 1.0)

    def see(self, fragments: Indices, link_pos: Array, link_quat_wxyz: Array) -> int | None:
        """Look at links (N, L, 3) and (N, L, 4) at the ends of fragments (N,): which is one too many, if any."""
        if self._keyed:
            return None
        frames = self._reference.frames_of_many(fragments)[:, -1]
        for place, lost in enumerate(self._detector.detect_toppled(frames, link_pos, link_quat_wxyz)):
            self.astray = self.astray + 1 if lost else 0
            if self.astray >= LOST_FRAGMENTS:
                return place
        return None

    def relax(self, first: int, qpos: Array) -> Relaxation:
        """Let go from fragment ``first`` on, in pose (nq,)."""
        return Relaxation(first, targets_of_pose(self._reference.body, qpos[None])[0])
