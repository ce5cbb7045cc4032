# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the motions of two policies on one reference are apart, in joint angles, frame by frame."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.control.bounds.closed_loop import Act, ClosedLoop
from ...core.control.bounds.observations import place_at_origin, transform_to_world
from ...core.control.bounds.reference_trajectory import CONTROL_FPS, Indices, ReferenceTrajectory
from ...core.geometry.quaternions import Array
from ...core.sim.engine import World

_SETTLED_S = 1.0


@dataclass(frozen=True, eq=False)
class PolicyMotion:
    """K control steps of N copies of a policy, without noise.

    at: (K, N) frames of the reference. qpos: (K, N, nq) in its frame. within: (K, N) until a copy first left.
    """

    reference: ReferenceTrajectory
    at: Indices
    qpos: Array
    within: NDArray[np.bool_]

    @property
    def settled(self) -> NDArray[np.bool_]:
        """(K, N) the steps that are compared: within the bounds, and on a cycle no longer near the initial state."""
        late = np.arange(len(self.qpos)) >= (round(_SETTLED_S * CONTROL_FPS) if self.reference.cyclic else 0)
        return np.asarray(self.within & late[:, None])


def record_policy_motion(
    reference: ReferenceTrajectory, widths: Array, act: Act, world: World, seconds: float
) -> PolicyMotion:
    """Simulate copies from all over a cycle, or from the beginning of a motion that ends, within widths (T + 1, R)."""
    count = world.copies
    first = np.linspace(0, reference.steps if reference.cyclic else 0, count, endpoint=False).astype(np.int64)
    placement, inside = place_at_origin(first), np.ones(count, dtype=bool)
    initial = transform_to_world(reference, reference.qpos[first], reference.qvel[first], placement)
    loop = ClosedLoop(reference, world, world.state_of(*initial), placement)
    at, qpos, within = [], [], []
    for _ in range(round(seconds * CONTROL_FPS)):
        if not reference.cyclic:
            inside = inside & (loop.placement.at < reference.steps)
        if not inside.any():
            break
        loop.drop(~inside)
        loop.step(act(loop.kinematics.observations()))
        inside = inside & (loop.exceeded(widths).max(axis=1) <= 1.0)
        at.append(loop.placement.at)
        qpos.append(loop.kinematics.qpos)
        within.append(inside)
    poses = np.array(qpos).reshape(-1, count, reference.body.nq)
    return PolicyMotion(
        reference, np.array(at, dtype=int).reshape(-1, count), poses, np.array(within, dtype=bool).reshape(-1, count)
    )


def distance_from_source(way: PolicyMotion) -> float | None:
    """Radians a joint that a way is from its course, as a mean over all that tells of it; None if nothing does."""
    return _mean(joint_angles(way.reference, way.reference.qpos[way.at], way.qpos), way.settled)


def motion_distance(one: PolicyMotion, other: PolicyMotion) -> float | None:
    """Radians a joint between two ways that were begun alike, at the same moments of the course."""
    count = min(len(one.qpos), len(other.qpos))
    both = one.settled[:count] & other.settled[:count] & (one.at[:count] == other.at[:count])
    return _mean(joint_angles(one.reference, one.qpos[:count], other.qpos[:count]), both)


def reference_variation(reference: ReferenceTrajectory) -> float:
    """Radians a joint that the course itself moves to and fro: from each of its poses to all others, as a mean."""
    poses = reference.qpos[:-1] if reference.cyclic else reference.qpos
    return float(joint_angles(reference, poses[:, None], poses[None]).mean())


def joint_angles(reference: ReferenceTrajectory, some: Array, others: Array) -> Array:
    """(...) radians between poses (..., nq), as a mean over the joints; the root does not count."""
    off = reference.pose_space.difference(some, others)
    return np.asarray(np.sqrt(np.add.reduceat(off**2, reference.rotation_starts[1:], axis=-1)).mean(axis=-1))


def _mean(values: Array, where: NDArray[np.bool_]) -> float | None:
    return float(values[where].mean()) if where.any() else None
