# SPDX-License-Identifier: GPL-3.0-or-later
"""How a motion is done, in numbers: its mean kinetic energy and volume, and how far it is from another's manner."""

from dataclasses import dataclass

import numpy as np

from ....geometry.quaternions import Array
from ....sim.engine import World
from ..controller import Controller
from ..course import CONTROL_FPS, FILM_STEPS
from ..environment import targets_of
from ..observations import begun, placed, see
from ..playing import first_states
from .manner import Manner
from .pose_features import Looks
from .quantities import Energy, Span


@dataclass(frozen=True)
class StyleFigures:
    """energy_j: mean kinetic energy about the centre of mass. volume_m3: mean hull of root and ends of limbs."""

    energy_j: float
    volume_m3: float


@dataclass(frozen=True, eq=False)
class StyleRollout:
    """What N copies of a controller did, K control steps each, without noise.

    energy_j, volume_m3: (K, N). looks: (K, N, F), see ``Looks``. within: (K, N) until a copy first left the bounds.
    """

    energy_j: Array
    volume_m3: Array
    looks: Array
    within: Array

    @property
    def figures(self) -> StyleFigures:
        """Means over everything that was done within the bounds."""
        weights = self.within / max(float(self.within.sum()), 1.0)
        means = (float(np.sum(np.nan_to_num(one) * weights)) for one in (self.energy_j, self.volume_m3))
        return StyleFigures(*means)

    @property
    def lasts(self) -> float:
        """The share of the copies that stayed within the bounds to the end."""
        return float(self.within[-1].mean())

    def distance(self, manner: Manner) -> float:
        """Gram distance to a manner, as a mean over the copies that lasted to the end; NaN where none did."""
        whole = np.flatnonzero(self.within[-1])
        if not len(whole):
            return float("nan")
        return float(manner.distance(np.swapaxes(self.looks[:, whole], 0, 1)).mean())


def measure_style(controller: Controller, world: World, seconds: float = 20.0) -> StyleRollout:
    """Let copies begin as in tests of how long they last, and watch how they do it."""
    course, copies = controller.course, world.copies
    energy, span, looks = Energy(course.body), Span(course.body), Looks(course.body)
    frames, within = begun(np.zeros(copies, dtype=np.int64)), np.ones(copies, dtype=bool)
    states = world.state_of(*placed(course, *first_states(course, copies), frames))
    seen = see(course, world, states, world.sense(states), frames)
    substeps = round(1.0 / (CONTROL_FPS * FILM_STEPS * world.dt_s))
    steps = round(seconds * CONTROL_FPS)
    found: dict[str, list[Array]] = {"energy_j": [], "volume_m3": [], "looks": [], "within": []}
    for _ in range(steps if course.cyclic else min(steps, course.steps)):
        targets = targets_of(course, frames.at, controller.policy(seen.observed()))
        states, rows = world.rollout(states, targets, substeps=substeps)
        states, frames = np.array(states[:, -1]), frames.advanced(course)
        seen = see(course, world, states, rows, frames)
        over = np.nan_to_num(seen.deviations / controller.widths[frames.at], nan=np.inf).max(axis=1) > 1.0
        within = within & ~over
        pos, quat = rows.link_pos[:, -1], rows.link_quat_wxyz[:, -1]
        found["energy_j"].append(energy.energy_j(seen.qvel, pos, quat))
        found["volume_m3"].append(span.volume_m3(pos, quat))
        found["looks"].append(looks(pos, quat))
        found["within"].append(within)
    return StyleRollout(**{name: np.stack(values) for name, values in found.items()})
