# SPDX-License-Identifier: GPL-3.0-or-later
"""More or less energy and volume as rewards (spacetime bounds, section 3.3, equations 4 and 5).

The paper's ranges are 20 to 100 J and 0.12 m³, for everything on one body. An amble on that body has 6 J and a run has
43 J, so that one would be worth nothing at all; and other bodies are of other sizes. Here ranges go by what the course
has, and reach far above it: who learns trembles, and has twice the source's energy before there is any style.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....geometry.quaternions import Array
from ..course import Course
from ..observations import Flags, Seen
from .quantities import Energy, Span, course_energy_j, course_volume_m3, links_seen

NAME = "style"
"""What the reward of any style is called in curves."""

# Of the course's mean energy: where the reward begins and ends to change. What is worth no more is not strived for, and
# to stay up is all that is left to earn: with four times as much nobody did.
_MORE, _LESS = (1.0, 3.0), (0.25, 4.0)
_VOLUMES = 1.1  # of the course's mean volume: the scale of its reward


def weighed(worth: Array, strength: float) -> Array:
    """A style's worth (N,) from 0 to 1 with a strength: at 0 all is worth one, at 1 it is the paper's own."""
    return np.asarray(1.0 - strength * (1.0 - worth))


class _Forgetful:
    """A term that remembers nothing."""

    name = NAME

    def begin(self, which: Flags, seen: Seen) -> None:
        """There is nothing to forget."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Nothing."""
        return {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """There is nothing to put back."""


class EnergyStyle(_Forgetful):
    """Equation 4: straight from 0 to 1 between two energies, upwards for more and downwards for less."""

    def __init__(self, course: Course, more: bool, strength: float = 1.0) -> None:
        self._energy, self.more, self.strength = Energy(course.body), more, strength
        usual = course_energy_j(course)
        self.least_j, self.most_j = (by * usual for by in (_MORE if more else _LESS))

    def worth(self, seen: Seen) -> Array:
        """(N,) from 0 to 1."""
        energy = self._energy.energy_j(seen.qvel, *links_seen(seen))
        share = np.clip((energy - self.least_j) / max(self.most_j - self.least_j, 1e-9), 0.0, 1.0)
        return weighed(share if self.more else 1.0 - share, self.strength)


class VolumeStyle(_Forgetful):
    """Equation 5: exp(-V / scale) for less, and what is left of one for more."""

    def __init__(self, course: Course, more: bool, strength: float = 1.0) -> None:
        self._span, self.more, self.strength = Span(course.body), more, strength
        self.scale_m3 = max(_VOLUMES * course_volume_m3(course), 1e-9)

    def worth(self, seen: Seen) -> Array:
        """(N,) from 0 to 1."""
        less = np.exp(-self._span.volume_m3(*links_seen(seen)) / self.scale_m3)
        return weighed(1.0 - less if self.more else less, self.strength)
