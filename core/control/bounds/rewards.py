# SPDX-License-Identifier: GPL-3.0-or-later
"""What a control step within the bounds is worth: one, or one times how alike it is, times how it is done.

Survival alone is the paper's reward (section 5). All else multiplies it, and each term has a name for the curves.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from .observations import Flags, Seen


class Term(Protocol):
    """Something that a step's survival is multiplied by, such as a style.

    A term may remember what it saw of each copy; ``begin`` tells it that some begin anew.
    """

    name: str

    def worth(self, seen: Seen) -> Array:
        """(N,) from 0 to 1, of copies after a control step."""

    def begin(self, which: Flags, seen: Seen) -> None:
        """Forget what was seen of copies (N,) that have begun a new episode, in which they look like this."""

    def state(self) -> dict[str, NDArray[Any]]:
        """What it remembers, as plain arrays."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""


class Imitation:
    """How alike a copy is to the course, as DeepMimic (Peng et al. 2018, equations 5 to 9) weighs it.

    Pose, joint rates, end effectors and centre of mass, each as exp(-k * squared differences).
    """

    name = "imitation"
    _POSE, _RATES, _TIPS, _COM = 0.65, 0.1, 0.15, 0.1
    _POSE_K, _RATES_K, _TIPS_K, _COM_K = 2.0, 0.1, 40.0, 10.0
    # The formula sums over joints and tips; this many of each are what its factors are for.
    _JOINTS, _ENDS = 15.0, 4.0

    def worth(self, seen: Seen) -> Array:
        """(N,) from 0 to 1."""
        body, tips = seen.course.body, max(seen.tips_off.shape[1], 1)
        share = self._JOINTS / len(body.links)
        pose = np.sum(seen.pose_off[:, 3:] ** 2, axis=1) * share
        rates = np.sum(seen.rate_off[:, 6:] ** 2, axis=1) * share
        ends = np.sum(seen.tips_off**2, axis=(1, 2)) * self._ENDS / tips
        com = np.sum((seen.com - seen.course.com[seen.at]) ** 2, axis=1)
        return np.asarray(
            self._POSE * np.exp(-self._POSE_K * pose)
            + self._RATES * np.exp(-self._RATES_K * rates)
            + self._TIPS * np.exp(-self._TIPS_K * ends)
            + self._COM * np.exp(-self._COM_K * com)
        )

    def begin(self, which: Flags, seen: Seen) -> None:
        """There is nothing to forget."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Nothing."""
        return {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """There is nothing to put back."""
