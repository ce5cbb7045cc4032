# SPDX-License-Identifier: GPL-3.0-or-later
"""The state row of a stage in Bullet: all that the next physics step depends on, and what sensors last felt.

time (1); then for each character its native pose (nq) and velocity (nv), see ``frames``, and the load (nu) that its
servos reckon with; then for each prop position, wxyz, velocity, angular velocity of Bullet's frame (13); then the
contact force on every link (L, 3) in the last physics step.
"""

import numpy as np

from ....geometry.quaternions import Array
from ...engine import character_offsets
from ...mass_properties import prop_mass_properties
from ...stage import Stage
from .frames import BodyFrames, SolidFrame
from .kinematics import Kinematics


class CharacterColumns:
    """Where a character is.

    pose, velocity, rates (the joints' part of velocity), load: slices of a state row.
    q, v, u, links: slices of poses, velocities, servo targets and links of the whole stage.
    """

    def __init__(self, stage: Stage, index: int, first: int) -> None:
        body = stage.characters[index].body
        self.pose = slice(first, first + body.nq)
        self.velocity = slice(self.pose.stop, self.pose.stop + body.nv)
        self.load = slice(self.velocity.stop, self.velocity.stop + body.nu)
        self.rates = slice(self.velocity.start + 6, self.velocity.stop)
        of_stage = character_offsets(stage)
        self.q, self.v, self.u, self.links = (
            slice(int(of_stage[name][index]), int(of_stage[name][index + 1])) for name in ("nq", "nv", "nu", "links")
        )
        self.frames = BodyFrames(body)
        self.kinematics = Kinematics(self.frames)


class StateLayout:
    """Where everything is in a state row of the stage; ``size`` numbers in all."""

    def __init__(self, stage: Stage) -> None:
        self.characters: list[CharacterColumns] = []
        first = 1
        for index in range(len(stage.characters)):
            self.characters.append(CharacterColumns(stage, index, first))
            first = self.characters[-1].load.stop
        self.prop_frames = [SolidFrame(prop_mass_properties(prop)) for prop in stage.props]
        self.props = [slice(first + 13 * index, first + 13 * (index + 1)) for index in range(len(stage.props))]
        self.all_props = slice(first, first + 13 * len(stage.props))
        first = self.all_props.stop
        self.links = int(character_offsets(stage)["links"][-1])
        self.contacts = slice(first, first + 3 * self.links)
        self.size = self.contacts.stop

    def contact_forces(self, states: Array) -> Array:
        """(..., L, 3) newtons of states (..., size)."""
        return states[..., self.contacts].reshape(*states.shape[:-1], self.links, 3)

    def is_sound(self, states: Array) -> np.ndarray:
        """(...) whether states (..., size) are numbers, and nothing has left the world."""
        with np.errstate(invalid="ignore"):
            return np.asarray((np.abs(states[..., 1:]) < 1e9).all(axis=-1) & np.isfinite(states[..., 0]))
