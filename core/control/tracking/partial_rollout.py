# SPDX-License-Identifier: GPL-3.0-or-later
"""A body of which only some links are simulated: the others are where their animation has them, at every moment.

Animated degrees of freedom are prescribed. After every physics step they are set to the animation, and the simulated
ones get what that changes for them: an impulse on the animated ones alone leaves the momentum of the others, so
M_cc dv_c + M_ca dv_a = 0. To first order in the time step that is the motion of a limb whose shoulder is led by hand,
in any engine. So that little is left to correct, links that carry the simulated ones are made heavy (nothing that hangs
on them moves them) and are given the forces of their own animation.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...body import BodyModel
from ...body.carried_inertia import CarriedInertia, find_carried_links
from ...body.kinetics import Kinetics
from ...body.pose_space import PoseSpace
from ...body.poses import link_transforms, pose_of_clip, velocity_of_pose
from ...body.stances import Flags
from ...geometry.quaternions import Array, from_rotation_vector, multiply, to_rotation_vector
from ...motion import Clip
from ...sim.engine import SensorRows, World
from ...sim.stage import Stage
from .servo_targets import compute_feedforward_targets

_HEAVY = 1000.0
# Engines keep stiff servos stable by about this much of kd times the time step as inertia of the joint.
_SERVO_INERTIA = 0.75
_MOST_OFFSET = 0.5  # radians that a servo aims off to hold a limb's weight


@dataclass(frozen=True, eq=False)
class PrescribedPath:
    """An animation at physics steps, the first at 0 s: poses (S + 1, nq) and velocities (S + 1, nv) of a body."""

    body: BodyModel
    qpos: Array
    qvel: Array


@dataclass(frozen=True, eq=False)
class PartialRecording:
    """What became of the main character and the props at physics steps, the first at 0 s.

    qpos: (S + 1, nq), qvel: (S + 1, nv), targets: (S + 1, nu). contact_force: (S + 1, L, 3) newtons.
    prop_pos: (S + 1, P, 3), prop_quat_wxyz: (S + 1, P, 4). lost: steps in which physics blew up and the simulated part
    was put back into its animation.
    """

    qpos: Array
    qvel: Array
    targets: Array
    contact_force: Array
    prop_pos: Array
    prop_quat_wxyz: Array
    lost: tuple[int, ...]


def prescribe_path(body: BodyModel, clip: Clip, dt_s: float) -> PrescribedPath:
    """The clip every ``dt_s`` to its end or a little beyond, through its frames without kinks (cubic Hermite).

    Straight lines between frames would knock at what hangs on them, once a frame.
    """
    frames, rates = pose_of_clip(body, clip)
    space, steps = PoseSpace(body), int(np.ceil(clip.duration_s / dt_s - 1e-6))
    place = np.clip(np.arange(steps + 1) * dt_s * clip.fps, 0.0, len(clip) - 1.0)
    low = np.clip(place.astype(int), 0, max(len(clip) - 2, 0))
    high = np.minimum(low + 1, len(clip) - 1)
    s = (place - low)[:, None]
    way = space.difference(frames[low], frames[high])
    by = (s**3 - 2.0 * s**2 + s) * rates[low] * clip.dt_s + (3.0 * s**2 - 2.0 * s**3) * way
    by += (s**3 - s**2) * rates[high] * clip.dt_s
    qpos = space.integrate(frames[low], by)
    return PrescribedPath(body, qpos, velocity_of_pose(body, qpos, dt_s))


def make_carrier_stage(stage: Stage, chosen: Flags) -> Stage:
    """The stage with all links heavy but those that the main character's chosen links (L,) carry."""
    main, *others = stage.characters
    carried = find_carried_links(main.body, chosen)
    heavy = [replace(main, body=_weigh(main.body, ~carried))]
    heavy += [replace(one, body=_weigh(one.body, np.ones(len(one.body.links), dtype=bool))) for one in others]
    return replace(stage, characters=tuple(heavy))


def _weigh(body: BodyModel, which: Flags) -> BodyModel:
    links = (
        replace(link, mass=_HEAVY * link.mass, inertia=_HEAVY * link.inertia) if heavy else link
        for link, heavy in zip(body.links, which, strict=True)
    )
    return replace(body, links=tuple(links))


class PartialRollout:
    """The main character's chosen links (L,) simulated in ``world`` (of ``make_carrier_stage``); all else prescribed.

    paths: of every character, the main one first. muscle: (S + 1,) its strength, 0 to 1.
    """

    def __init__(self, world: World, paths: tuple[PrescribedPath, ...], chosen: Flags, muscle: Array) -> None:
        self.world, self.paths, self.muscle = world, paths, muscle
        body = paths[0].body
        self.space, self.inertia = PoseSpace(body), CarriedInertia(body, chosen)
        self._free = self.inertia.dofs
        self._fixed = np.setdiff1d(np.arange(body.nv), self._free)
        self._coordinates = np.flatnonzero(np.repeat(chosen, [link.joint.coordinates for link in body.links]))
        kp, kd = (np.concatenate([np.zeros(6), body.per_dof(name)])[self._free] for name in ("kp", "kd"))
        self._kp, self._servo_inertia = kp, _SERVO_INERTIA * world.dt_s * kd
        self._targets = [compute_feedforward_targets(path.body, path.qpos, 1.0 / world.dt_s) for path in paths]
        self._forces = self._carrying_forces()

    def run(self, on_step: Callable[[int, int], None]) -> PartialRecording:
        """Simulate to the end; ``on_step`` is told how many steps are done, and of how many."""
        path, count = self.paths[0], len(self.paths[0].qpos) - 1
        states = self.world.state_of(*self._everybody(path.qpos[0], path.qvel[0], 0))
        nothing = np.zeros((len(path.body.links), 3))
        poses, rates, targets, forces = [path.qpos[0]], [path.qvel[0]], [self._targets[0][0]], [nothing]
        sensed, lost = [self.world.sense(states)], []
        for step in range(1, count + 1):
            rows, weight = self.inertia.compute(poses[-1], self.world.stage.gravity)
            targets.append(self._holding(self._targets[0][step], weight))
            states, seen, sound = self._step(states, targets[-1], step)
            qpos, qvel = (values[0] for values in self.world.pose_of(states))
            pose, rate = self._prescribed(qpos[: path.body.nq], qvel[: path.body.nv], rows, step)
            if not sound:
                lost.append(step)
                pose, rate = path.qpos[step], path.qvel[step]
            states = self.world.replace_pose(states, *self._everybody(pose, rate, step))
            poses.append(pose)
            rates.append(rate)
            forces.append(seen.contact_force[0, -1, : len(nothing)] if sound else nothing)
            sensed.append(seen if sound else sensed[-1])
            on_step(step, count)
        return PartialRecording(
            np.array(poses),
            np.array(rates),
            np.array(targets),
            np.array(forces),
            np.array([seen.prop_pos[0, -1] for seen in sensed]),
            np.array([seen.prop_quat_wxyz[0, -1] for seen in sensed]),
            tuple(lost),
        )

    def _step(self, states: Array, targets: Array, step: int) -> tuple[Array, SensorRows, bool]:
        """The states (1, state_size) after a physics step that leads to ``step``, and whether they are numbers.

        Where they are not, they are as before.
        """
        asked = np.concatenate([targets, *(one[step] for one in self._targets[1:])])
        after, seen = self.world.rollout(
            states,
            asked[None, None],
            substeps=1,
            forces=self._forces[None, step - 1 : step],
            muscle=np.full((1, 1), self.muscle[step]),
        )
        sound = bool(np.isfinite(after).all())
        return (after[:, -1] if sound else states), seen, sound

    def _everybody(self, pose: Array, rate: Array, step: int) -> tuple[Array, Array]:
        """(1, sum nq) and (1, sum nv): the main character's pose and velocity, and the others' animation."""
        others = self.paths[1:]
        qpos = np.concatenate([pose, *(one.qpos[step] for one in others)])
        qvel = np.concatenate([rate, *(one.qvel[step] for one in others)])
        return qpos[None], qvel[None]

    def _prescribed(self, qpos: Array, qvel: Array, rows: Array, step: int) -> tuple[Array, Array]:
        """The pose and velocity after a physics step, with what is animated as it should be at ``step``."""
        path, free, fixed = self.paths[0], self._free, self._fixed
        inertia = rows[:, free] + np.diag(self.muscle[step] * self._servo_inertia)
        kick = np.zeros_like(qvel)
        kick[fixed] = path.qvel[step][fixed] - qvel[fixed]
        kick[free] = -np.linalg.solve(inertia, rows[:, fixed] @ kick[fixed])
        moved = self.space.integrate(qpos, self.world.dt_s * kick)
        pose, rate = np.array(path.qpos[step]), np.array(path.qvel[step])
        pose[self._coordinates], rate[free] = moved[self._coordinates], (qvel + kick)[free]
        return pose, rate

    def _holding(self, targets: Array, weight: Array) -> Array:
        """(nu,) targets (nu,) aimed off by as much as the servos need to hold the weight (C,) on their joints."""
        by = np.zeros(len(targets) + 6)
        by[self._free] = np.clip(-weight / np.maximum(self._kp, 1e-9), -_MOST_OFFSET, _MOST_OFFSET)
        found, body = np.array(targets), self.paths[0].body
        for index, link in enumerate(body.links[1:], start=1):
            own = slice(*(body.qvel_starts[index : index + 2] - 6))
            offset = by[6:][own]
            if link.joint.kind == "hinge":
                found[own] += offset
            elif offset.any():
                aimed = multiply(from_rotation_vector(found[own]), from_rotation_vector(offset))
                found[own] = to_rotation_vector(aimed)
        return found

    def _carrying_forces(self) -> Array:
        """(S, sum L, 3) newtons that accelerate the heavy links as their animation does."""
        stage, dt_s = self.world.stage, self.world.dt_s
        parts = []
        for number, path in enumerate(self.paths):
            linear, _ = Kinetics(path.body).velocities(path.qvel, *link_transforms(path.body, path.qpos))
            mass = np.array([link.mass for link in stage.characters[number].body.links])
            force = mass[:, None] * (np.diff(linear, axis=0) / dt_s - stage.gravity)
            if number == 0:
                force[:, self.inertia.links] = 0.0
            parts.append(force)
        return np.concatenate(parts, axis=1)
