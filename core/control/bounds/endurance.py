# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a policy stays within the bounds by itself, without exploration noise."""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from ...sim.engine import World
from .bounds import bound_names
from .closed_loop import Act, ClosedLoop
from .observations import place_at_origin, transform_to_world
from .reference_trajectory import CONTROL_FPS, Indices, ReferenceTrajectory

# Standard deviations of the initial states: of joints, and of all velocities in m/s and rad/s.
_JOINT_STD_RAD, _VELOCITY_STD = 0.01, 0.05


@dataclass(frozen=True, eq=False)
class Endurance:
    """The survival of n copies.

    at: (n,) frames that they began in. survived_steps: (n,) control steps within the bounds. requested_steps: (n,) how
    many there could be. violated: the bound that ended each, '' for none.
    """

    at: Indices
    survived_steps: Indices
    requested_steps: Indices
    violated: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of the requested steps that was survived, as a mean over the copies."""
        return float(np.mean(self.survived_steps / self.requested_steps))

    @property
    def whole(self) -> bool:
        """Whether all copies survived all of their steps."""
        return bool((self.survived_steps >= self.requested_steps).all())


def measure_policy_endurance(
    reference: ReferenceTrajectory, widths: Array, act: Act, world: World, seconds: float, stop_share: float = 1.0
) -> Endurance:
    """Simulate the copies of a world until they violate widths (T + 1, R), the time is over, or the motion ends.

    All begin where the reference begins, each perturbed a little: in the middle of a source there may be states that
    no body could go on from, such as a leap that would not land.
    stop_share: stop once more than this share of the copies has left the bounds.
    """
    count = world.copies
    at = np.zeros(count, dtype=np.int64)
    limit = round(seconds * CONTROL_FPS)
    requested = np.full(count, limit if reference.cyclic else min(reference.steps, limit))
    placement, names = place_at_origin(at), bound_names(reference.body)
    states = world.state_of(*transform_to_world(reference, *perturb_initial_states(reference, count), placement))
    loop = ClosedLoop(reference, world, states, placement)
    survived, violated = requested.copy(), [""] * count
    for step in range(int(requested.max())):
        alive = (survived == requested) & (step < requested)
        if not alive.any():
            break
        if np.mean(survived < requested) > stop_share:
            survived[alive] = step
            break
        loop.drop(~alive)
        loop.step(act(loop.kinematics.observations()), end_only=True)
        exceeded = loop.exceeded(widths)
        ended = alive & (exceeded.max(axis=1) > 1.0)
        for copy in np.flatnonzero(ended):
            violated[copy] = names[int(np.argmax(exceeded[copy]))]
        survived[ended] = step
    return Endurance(at, survived, requested, tuple(violated))


def perturb_initial_states(reference: ReferenceTrajectory, count: int) -> tuple[Array, Array]:
    """Poses (n, nq) and velocities (n, nv) around the reference's first state; the first is that state itself."""
    noise = np.random.default_rng(0).standard_normal((2, count, reference.body.nv))
    noise[:, 0] = 0.0
    noise[0, :, :6] = 0.0  # joints differ, feet stay on the floor
    qpos = reference.pose_space.integrate(reference.qpos[0], _JOINT_STD_RAD * noise[0])
    return qpos, reference.qvel[0] + _VELOCITY_STD * noise[1]
