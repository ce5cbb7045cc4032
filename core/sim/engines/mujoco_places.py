# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the things of a stage are in MuJoCo's arrays, and sensor rows made from them."""

from typing import Any

import mujoco
import numpy as np

from ...geometry.quaternions import Array
from ..engine import Rows
from ..layout import Layout
from ..stage import Stage
from .mujoco_model import body_name, prop_name

_FIELDS = ("xpos", "xquat", "subtree_com", "sensordata")


class Places:
    """Columns of a state row and rows of MuJoCo's arrays.

    qpos, qvel: (nq,), (nv,) columns of a state row in the stage's order; MuJoCo orders the joints of a character branch
    by branch. ctrl: the columns of the servo targets, whose order is the stage's. props: (P, 13) columns: position,
    wxyz, velocity, angular velocity. bodies: (L,), roots: (C,) body numbers. geom_character: (G,) whose each geom is,
    -1 for things.
    """

    def __init__(self, model: mujoco.MjModel, stage: Stage, layout: Layout) -> None:
        names, joints = [], []
        for index, character in enumerate(stage.characters):
            for number, link in enumerate(character.body.links):
                names.append(body_name(index, number))
                joints.append((model.joint(names[-1]), link.joint))
        first_v = 1 + model.nq
        self.qpos = np.concatenate([1 + joint.qposadr[0] + np.arange(kind.coordinates) for joint, kind in joints])
        self.qvel = np.concatenate([first_v + joint.dofadr[0] + np.arange(kind.dofs) for joint, kind in joints])
        self.ctrl = slice(first_v + 2 * model.nv, first_v + 2 * model.nv + layout.nu)
        self.state_size = int(self.ctrl.stop)
        free = [model.joint(prop_name(index)) for index in range(len(stage.props))]
        self.props = np.array(
            [[*(1 + joint.qposadr[0] + np.arange(7)), *(first_v + joint.dofadr[0] + np.arange(6))] for joint in free],
            dtype=np.int64,
        ).reshape(-1, 13)
        self.bodies = np.array([model.body(name).id for name in names])
        self.roots = np.array([model.body(body_name(index, 0)).id for index in range(len(stage.characters))])
        owner = np.full(model.nbody, -1)
        owner[self.bodies] = layout.characters
        self.geom_character = owner[model.geom_bodyid]
        self._velocity = _columns(model, [f"character{index}/velocity" for index in range(len(stage.characters))])
        self._momentum = _columns(model, [f"character{index}/momentum" for index in range(len(stage.characters))])
        self._force = _columns(model, [f"{name}/force" for name in names])

    def rows(self, states: Array, tape: "Tape") -> Rows:
        """Sensor rows of states (N, K, state_size) and what MuJoCo computed at the same moments."""
        pos, quat, com, sensed = (tape.fields[name] for name in _FIELDS)
        return Rows(
            time_s=states[..., 0].copy(),
            link_pos=pos[:, :, self.bodies],
            link_quat_wxyz=quat[:, :, self.bodies],
            com=com[:, :, self.roots],
            com_velocity=sensed[:, :, self._velocity],
            angular_momentum=sensed[:, :, self._momentum],
            # MuJoCo's is what the link does to the others.
            contact_force=-sensed[:, :, self._force],
            # From the state: a prop that has just been placed has not been computed yet.
            prop_pos=states[:, :, self.props[:, :3]],
            prop_quat_wxyz=states[:, :, self.props[:, 3:7]],
        )


class Tape:
    """What a batch computed, copied control step by control step: (N, K, ...) of each field."""

    def __init__(self, batch: Any, count: int) -> None:
        self._bound = {name: batch.bind(name) for name in _FIELDS}
        self.fields: dict[str, Array] = {
            name: np.empty((len(values), count, *values.shape[1:])) for name, values in self._bound.items()
        }

    def record(self, step: int) -> None:
        """Keep what was computed last."""
        for name, values in self._bound.items():
            self.fields[name][:, step] = values


def _columns(model: mujoco.MjModel, names: list[str]) -> np.ndarray:
    """(S, 3) where the three numbers of each sensor are."""
    return np.array([model.sensor(name).adr[0] for name in names])[:, None] + np.arange(3)
