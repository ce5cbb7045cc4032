# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the things of a stage are in MuJoCo's arrays, and sensor rows made from them."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ..engine import SensorRows
from ..stage import Stage
from ..stage_layout import StageLayout
from .mujoco_model import body_name, prop_name

State = mujoco.mjtState
# What a state row is made of, in MuJoCo's own order.
STATE: int = sum(getattr(State, f"mjSTATE_{part}").value for part in ("TIME", "QPOS", "QVEL", "WARMSTART", "CTRL"))
# Where things are and how they move; MuJoCo has these ready at the beginning of a physics step.
PLACED = ("xpos", "xquat", "subtree_com", "sensordata")


class StateColumns:
    """Columns of a state row and rows of MuJoCo's arrays.

    qpos, qvel: (nq,), (nv,) columns of a state row in the stage's order; MuJoCo orders the joints of a character branch
    by branch. ctrl: the columns of the servo targets, whose order is the stage's. props: (P, 13) columns: position,
    wxyz, velocity, angular velocity. bodies: (L,), roots: (C,) body numbers. geom_character: (G,),
    dof_character: (nv,), servo_character: (servos,) whose each geom, degree of freedom and servo is, -1 for things.
    """

    def __init__(self, model: mujoco.MjModel, stage: Stage, layout: StageLayout) -> None:
        names, joints = [], []
        for index, character in enumerate(stage.characters):
            for number, link in enumerate(character.body.links):
                names.append(body_name(index, number))
                joints.append((model.joint(names[-1]), link.joint))
        first_v = 1 + model.nq
        self.qpos = np.concatenate([1 + joint.qposadr[0] + np.arange(kind.coordinates) for joint, kind in joints])
        self.qvel = np.concatenate([first_v + joint.dofadr[0] + np.arange(kind.dofs) for joint, kind in joints])
        self.ctrl = slice(first_v + 2 * model.nv, first_v + 2 * model.nv + layout.nu)
        self.state_size = int(mujoco.mj_stateSize(model, STATE))
        free = [model.joint(prop_name(index)) for index in range(len(stage.props))]
        self.props = np.array(
            [[*(1 + joint.qposadr[0] + np.arange(7)), *(first_v + joint.dofadr[0] + np.arange(6))] for joint in free],
            dtype=np.int64,
        ).reshape(-1, 13)
        self.bodies = np.array([model.body(name).id for name in names])
        self.roots = np.array([model.body(body_name(index, 0)).id for index in range(len(stage.characters))])
        self._links, self._roots = _span(self.bodies), _span(self.roots)
        owner = np.full(model.nbody, -1)
        owner[self.bodies] = layout.characters
        self.geom_character = owner[model.geom_bodyid]
        self.dof_character = owner[model.dof_bodyid]
        self.servo_character = owner[model.jnt_bodyid[model.actuator_trnid[:, 0]]]
        self._velocity = _columns(model, [f"character{index}/velocity" for index in range(len(stage.characters))])
        self._momentum = _columns(model, [f"character{index}/momentum" for index in range(len(stage.characters))])
        self._force = _columns(model, [f"{name}/force" for name in names])

    def rows(self, states: Array, placed: dict[str, Array], felt: Array) -> SensorRows:
        """Sensor rows of states (N, K, state_size), fields (N, K, ...) of those moments, and sensors just before."""
        sensed = placed["sensordata"]
        return SensorRows(
            time_s=states[..., 0].copy(),
            link_pos=placed["xpos"][:, :, self._links],
            link_quat_wxyz=placed["xquat"][:, :, self._links],
            com=placed["subtree_com"][:, :, self._roots],
            com_velocity=sensed[:, :, self._velocity],
            angular_momentum=sensed[:, :, self._momentum],
            contact_force=-felt[:, :, self._force],  # MuJoCo's is what the link does to the others
            # From the state: a prop that has just been placed has not been computed yet.
            prop_pos=states[:, :, self.props[:, :3]],
            prop_quat_wxyz=states[:, :, self.props[:, 3:7]],
        )


def _span(places: NDArray[np.int64]) -> NDArray[np.int64] | slice:
    """The same places, as a slice where each is next to the one before: then nothing must be copied."""
    return slice(places[0], places[-1] + 1) if len(places) and (np.diff(places) == 1).all() else places


def _columns(model: mujoco.MjModel, names: list[str]) -> NDArray[np.int64]:
    """(S, 3) where the three numbers of each sensor are."""
    return np.array([model.sensor(name).adr[0] for name in names], dtype=np.int64)[:, None] + np.arange(3)
