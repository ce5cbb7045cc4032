# SPDX-License-Identifier: GPL-3.0-or-later
"""Push recovery: the hardest push that a policy withstands, of copies that are each pushed once, harder and harder.

As control graphs are tested (Liu et al. 2016, section 6.1), so that both can be compared: at the trunk, for 0.1 s, from
a side relative to where the body faces.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...body import BodyModel
from ...body.poses import link_transforms
from ...errors import BadSettings
from ...geometry.quaternions import Array
from ...motion.falling import character_height, height_error
from ...sim.engine import World
from ...sim.variations import trunk_bone
from ..tracking.facing import facing_direction, upright_rotation
from .closed_loop import Act, ClosedLoop
from .observations import Flags, RelativeKinematics, place_at_origin, transform_to_world
from .playback import relocate_reference
from .reference_trajectory import CONTROL_FPS, FILM_STEPS, Indices, ReferenceTrajectory

SIDES = {"back": 0.0, "right": 0.5, "front": 1.0, "left": 1.5}
"""Where a push comes from, and its direction as half turns to the left from straight ahead."""

STEP_N = 10.0
_PUSH_STEPS = 3  # of control: 0.1 s
_FELL = 0.25  # height error, as a share of the body's height, that counts as a fall


@dataclass(frozen=True, eq=False)
class PushRecovery:
    """Copies that were pushed with force_n (N,) newtons, and the seconds lasted_s (N,) that they stayed up after it.

    asked_s: how long they could. A copy that falls before the push has stayed up for none.
    """

    force_n: Array
    lasted_s: Array
    asked_s: float

    @property
    def stood(self) -> Flags:
        """(N,) which copies were still up in the end."""
        return np.asarray(self.lasted_s >= self.asked_s - 1e-9)

    @property
    def push_n(self) -> float | None:
        """The last push before the first that fells it; None if it falls without being pushed."""
        stood = self.stood
        if not stood[0]:
            return None
        return float(self.force_n[-1] if stood.all() else self.force_n[int(np.argmin(stood)) - 1])


def measure_push_recovery(
    reference: ReferenceTrajectory, widths: Array, act: Act, world: World, side: str = "back", seconds: float = 20.0
) -> PushRecovery:
    """Push the copies of a world, from none to ``STEP_N`` times their number, and see which stay up for some seconds.

    A cycle is pushed at the beginning of its second repetition; a motion that ends, at a third of it, and is simulated
    to its end. As in playback, the reference is relocated for copies that are pushed aside.
    """
    if side not in SIDES:
        raise BadSettings(f"Nothing comes from '{side}'", f"Choose from: {', '.join(SIDES)}")
    count = world.copies
    first = reference.steps if reference.cyclic else reference.steps // 3
    last = first + (round(seconds * CONTROL_FPS) if reference.cyclic else reference.steps - first)
    force = STEP_N * np.arange(count)
    wanted = link_transforms(reference.body, reference.qpos)[0]
    tallest = character_height(wanted)
    placement = place_at_origin(np.zeros(count, dtype=np.int64))
    initial = transform_to_world(reference, reference.qpos[placement.at], reference.qvel[placement.at], placement)
    loop = ClosedLoop(reference, world, world.state_of(*initial), placement)
    fell: Indices = np.full(count, last)
    for step in range(last):
        forces = None
        if first <= step < first + _PUSH_STEPS:
            forces = _push_forces(reference.body, world.pose_of(loop.states)[0], force, SIDES[side])
        _, rows = loop.step(act(loop.kinematics.observations()), forces=forces)
        down = height_error(wanted[loop.placement.at], rows.link_pos[:, -1], tallest) > _FELL
        fell = np.where(down & (fell == last), step, fell)
        if (fell < last).all():
            break
        loop.drop(fell < last)
        loop.measure()
        loop.placement = relocate_reference(reference, widths, _without_fallen(loop.kinematics), loop.placement)
        loop.measure()
    return PushRecovery(force, np.maximum(fell - first, 0) / CONTROL_FPS, (last - first) / CONTROL_FPS)


def _push_forces(body: BodyModel, qpos: Array, force_n: Array, half_turns: float) -> Array:
    """(N, FILM_STEPS, L, 3) newtons at the trunk of copies with poses (N, nq), relative to where they face."""
    forces = np.zeros((len(qpos), FILM_STEPS, len(body.links), 3))
    trunk = [link.bone for link in body.links].index(trunk_bone(body))
    direction = _turn_level(facing_direction(qpos[:, 3:7], upright_rotation(body)), half_turns)
    forces[:, :, trunk] = np.nan_to_num(force_n[:, None] * direction)[:, None]
    return forces


def _turn_level(ahead: Array, half_turns: float) -> Array:
    """Horizontal directions (N, 3) turned to the left."""
    cos, sin = np.cos(np.pi * half_turns), np.sin(np.pi * half_turns)
    x, y = ahead[:, 0], ahead[:, 1]
    return np.stack([cos * x - sin * y, sin * x + cos * y, np.zeros(len(ahead))], axis=-1)


def _without_fallen(kinematics: RelativeKinematics) -> RelativeKinematics:
    """The same with the reference in place of copies that are no longer simulated, which it need not follow."""
    gone = ~(np.isfinite(kinematics.com).all(axis=1) & np.isfinite(kinematics.qpos).all(axis=1))
    com, qpos = np.array(kinematics.com), np.array(kinematics.qpos)
    at = kinematics.at[gone]
    com[gone], qpos[gone] = kinematics.reference.com[at], kinematics.reference.qpos[at]
    return replace(kinematics, com=com, qpos=qpos)
