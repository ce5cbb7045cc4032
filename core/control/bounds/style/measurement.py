# SPDX-License-Identifier: GPL-3.0-or-later
"""The style of a controller in numbers: mean kinetic energy and volume, and its distance from the style of a motion."""

from dataclasses import dataclass

import numpy as np

from ....body.manner_figures import MannerFigures, measure_manner
from ....geometry.quaternions import Array
from ....sim.engine import World
from ..closed_loop import ClosedLoop
from ..controller import Controller
from ..endurance import perturb_initial_states
from ..observations import place_at_origin, transform_to_world
from ..reference_trajectory import CONTROL_FPS
from .gram_style import GramStyle
from .pose_features import PoseFeatures
from .quantities import KineticEnergy, LimbVolume


@dataclass(frozen=True)
class StyleFigures:
    """energy_j: mean kinetic energy about the centre of mass. volume_m3: mean hull of root and end effectors."""

    energy_j: float
    volume_m3: float


@dataclass(frozen=True, eq=False)
class StyleRollout:
    """K control steps of N copies of a controller, without noise.

    energy_j, volume_m3: (K, N). pose_features: (K, N, F). within: (K, N) until a copy first left the bounds.
    manner: what an animator would name, of a copy that stayed within to the end; None where none did.
    """

    energy_j: Array
    volume_m3: Array
    pose_features: Array
    within: Array
    manner: MannerFigures | None = None

    @property
    def figures(self) -> StyleFigures:
        """Means over all steps within the bounds."""
        weights = self.within / max(float(self.within.sum()), 1.0)
        means = (float(np.sum(np.nan_to_num(one) * weights)) for one in (self.energy_j, self.volume_m3))
        return StyleFigures(*means)

    @property
    def lasts(self) -> float:
        """The share of the copies that stayed within the bounds to the end."""
        return float(self.within[-1].mean())

    def distance(self, style: GramStyle) -> float:
        """Gram distance to a style, as a mean over the copies that stayed within to the end; NaN where none did."""
        whole = np.flatnonzero(self.within[-1])
        if not len(whole):
            return float("nan")
        return float(style.distance(np.swapaxes(self.pose_features[:, whole], 0, 1)).mean())


def measure_style(controller: Controller, world: World, seconds: float = 20.0) -> StyleRollout:
    """Simulate copies from the initial states of endurance tests, and measure their style."""
    reference, copies = controller.reference, world.copies
    energy, volume = KineticEnergy(reference.body), LimbVolume(reference.body)
    pose_features = PoseFeatures(reference.body)
    placement, within = place_at_origin(np.zeros(copies, dtype=np.int64)), np.ones(copies, dtype=bool)
    initial = transform_to_world(reference, *perturb_initial_states(reference, copies), placement)
    loop = ClosedLoop(reference, world, world.state_of(*initial), placement)
    steps = round(seconds * CONTROL_FPS)
    links: list[tuple[Array, Array]] = []
    found: dict[str, list[Array]] = {"energy_j": [], "volume_m3": [], "pose_features": [], "within": []}
    for _ in range(steps if reference.cyclic else min(steps, reference.steps)):
        _, rows = loop.step(controller.policy(loop.kinematics.observations()))
        within = within & ~(loop.exceeded(controller.widths).max(axis=1) > 1.0)
        pos, quat = rows.link_pos[:, -1], rows.link_quat_wxyz[:, -1]
        links.append((pos, quat))
        found["energy_j"].append(energy.energy_j(loop.kinematics.qvel, pos, quat))
        found["volume_m3"].append(volume.volume_m3(pos, quat))
        found["pose_features"].append(pose_features(pos, quat))
        found["within"].append(within)
    manner, whole = None, np.flatnonzero(within)
    if len(whole):
        pos, quat = (np.stack([step[part][whole[0]] for step in links]) for part in (0, 1))
        manner = measure_manner(reference.body, pos, quat, CONTROL_FPS)
    return StyleRollout(**{name: np.stack(values) for name, values in found.items()}, manner=manner)
