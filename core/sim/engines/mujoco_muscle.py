# SPDX-License-Identifier: GPL-3.0-or-later
"""How strong the servos of a MuJoCo batch are, copy by copy and character by character."""

from typing import Any

import mujoco
import numpy as np

from ...geometry.quaternions import Array
from ..stage import Stage
from .mujoco_columns import StateColumns
from .mujoco_model import ROTOR, choose_integrator


class Muscles:
    """The factors (N, C) that a batch of N copies has now, 1 at first."""

    def __init__(self, model: mujoco.MjModel, stage: Stage, places: StateColumns, copies: int) -> None:
        self._model, self._stage, self._places = model, stage, places
        self._strong: Array = np.ones((copies, len(stage.characters)))
        self._now = self._strong

    def set(self, batch: Any, factors: Array | None) -> None:
        """Scale every servo's gains and torque limit, and the inertia it needs, by its character's; None is 1."""
        wanted = self._strong if factors is None else np.array(factors, dtype=float)
        if np.array_equal(wanted, self._now):
            return
        model, places = self._model, self._places
        of_servos = wanted[:, places.servo_character, None]
        for field in ("actuator_gainprm", "actuator_biasprm", "actuator_forcerange"):
            batch.expand(field)[:] = of_servos * getattr(model, field)
        # A prop has no servo, and zero stays zero whatever it is multiplied with.
        rotor = np.minimum(model.dof_armature, ROTOR)
        batch.expand("dof_armature")[:] = rotor + wanted[:, places.dof_character] * (model.dof_armature - rotor)
        batch.expand("opt.integrator")[:] = choose_integrator(self._stage, wanted)
        batch.set_const()
        self._now = wanted
