# SPDX-License-Identifier: GPL-3.0-or-later
"""Several copies of a stage stepped side by side in one process, each in a client of its own.

Everything that Bullet knows is put there anew at the start of every control step, and what it remembers of contacts is
thrown away, so a state row is the whole truth: the same row and the same inputs give the same bits, whatever the copy
did before and whichever copies stand beside it.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pybullet
from numpy.typing import NDArray

from ....geometry.quaternions import Array
from ...props import PropSchedule
from ...pushes import PushSchedule
from ...stage import Stage
from .actor import Actor, Place
from .layout import StateLayout
from .scene import Scene

# The mass matrix is good for this many physics steps.
_STEPS_A_WEIGHING = 4

Indices = NDArray[np.int64]


class Copies:
    """N copies of a stage; N is at most what fits side by side."""

    def __init__(self, stage: Stage, count: int, dt_s: float) -> None:
        self.stage, self.count, self.dt_s = stage, count, dt_s
        self.layout = StateLayout(stage)
        self._pushes, self._props = PushSchedule(stage), PropSchedule(stage)
        placed = zip(self.layout.prop_frames, self._props.placed, strict=True)
        self._placed = [frame.to_native(row) for frame, row in placed]
        waiting = zip(self.layout.prop_frames, self._props.waiting, strict=True)
        self._waiting = [frame.to_native(row) for frame, row in waiting]
        self._actors = [Actor(columns, dt_s) for columns in self.layout.characters]
        self._scenes = [Scene(stage, dt_s) for _ in range(count)]

    def close(self) -> None:
        """Let go of all clients."""
        for scene in self._scenes:
            scene.close()

    def rollout(
        self,
        states: Array,
        targets: Array,
        out: Array,
        substeps: int,
        forces: Array | None,
        muscle: Array | None,
        pulse: Callable[[], None],
    ) -> None:
        """Advance n <= N copies from states (n, S) by K control steps into out (n, K, S); see ``World.rollout``.

        pulse: called once a control step.
        """
        current = np.array(states)
        sound = self.layout.is_sound(current)
        for step in range(targets.shape[1]):
            pulse()
            here = np.flatnonzero(sound)
            out[:, step] = np.nan
            if not len(here):
                continue
            factor = np.ones(len(here)) if muscle is None else np.asarray(muscle[here, step], dtype=float)
            force = None if forces is None else forces[here, step]
            after = self._control_step(here, current[here], targets[here, step], substeps, force, factor)
            fine = self.layout.is_sound(after)
            for copy in here[~fine]:
                self._rebuild(int(copy))
            sound[here[~fine]] = False
            current[here[fine]] = out[here[fine], step] = after[fine]

    def rays(self, states: Array, origins: Array, ends: Array, character: int, out: Array) -> None:
        """Share (n, R) of the way from origins to ends (n, R, 3) that is free of all but the character's own."""
        for copy, state in enumerate(states):
            out[copy] = np.nan
            if not self.layout.is_sound(state):
                continue
            self._put(np.array([copy]), state[None])
            most = pybullet.MAX_RAY_INTERSECTION_BATCH_SIZE
            for first in range(0, origins.shape[1], most):
                some = slice(first, first + most)
                hits = pybullet.rayTestBatch(
                    origins[copy, some].tolist(), ends[copy, some].tolist(),
                    collisionFilterMask=Scene.seen_by(character), physicsClientId=self._scenes[copy].client,
                )  # fmt: skip
                out[copy, some] = [hit[2] if hit[0] >= 0 else 1.0 for hit in hits]

    def bare(self, states: Array, steps: int) -> float:
        """Seconds that Bullet alone takes for physics steps of n copies, its own motors holding the poses."""
        self._put(np.arange(len(states)), states)
        for index, actor in enumerate(self._actors):
            actor.hold(states, self._places(index, np.arange(len(states))))
        begin = time.perf_counter()
        for scene in self._scenes[: len(states)]:
            client = scene.client
            for _ in range(steps):
                pybullet.stepSimulation(physicsClientId=client)
        return time.perf_counter() - begin

    def _rebuild(self, copy: int) -> None:
        """A fresh client for a copy that blew up: Bullet has dropped what left its world."""
        self._scenes[copy].close()
        self._scenes[copy] = Scene(self.stage, self.dt_s)

    def _put(self, here: Indices, states: Array) -> None:
        """Put copies ``here`` (n,) into states (n, S), and forget what touched."""
        for index, actor in enumerate(self._actors):
            actor.put(states, self._places(index, here))
        for index, columns in enumerate(self.layout.props):
            for copy, row in zip(here, states[:, columns], strict=True):
                scene = self._scenes[copy]
                _put_prop(scene.props[index], row, scene.client)
        for copy in here:
            self._scenes[copy].forget_contacts()

    def _control_step(
        self, here: Indices, states: Array, targets: Array, substeps: int, forces: Array | None, muscle: Array
    ) -> Array:
        """States (n, S) of copies ``here`` after a control step."""
        self._put(here, states)
        after = states.copy()
        pushed = self._pushes.forces_at(states[:, 0], substeps, self.dt_s)
        for actor in self._actors:
            actor.servos.aim(actor.frames.targets_to_native(targets[:, actor.columns.u]), muscle)
        for step in range(substeps):
            total = forces if pushed is None else pushed[:, step] if forces is None else forces + pushed[:, step]
            weigh = step % _STEPS_A_WEIGHING == 0
            last = step + 1 == substeps
            self._physics_step(here, after, total, weigh, last or (step + 1) % _STEPS_A_WEIGHING == 0)
            there = self._props.present(after[:, 0], self.dt_s)
            after[:, 0] += self.dt_s
            self._bring_props(here, after, there)
        self._read_props(here, after)
        self._read_contacts(here, after)
        return after

    def _physics_step(
        self, here: Indices, states: Array, forces: Array | None, weigh: bool, read_roots: bool
    ) -> None:
        """Advance poses, velocities and loads in states (n, S) by one physics step with forces (n, L, 3)."""
        for index, actor in enumerate(self._actors):
            if weigh:
                actor.servos.weigh(states[:, actor.columns.pose])
            if actor.joints:
                actor.command(states, self._places(index, here))
        scenes = [self._scenes[copy] for copy in here]
        if forces is not None:
            self._push(scenes, forces)
        for scene in scenes:
            pybullet.stepSimulation(physicsClientId=scene.client)
        for index, actor in enumerate(self._actors):
            actor.read(states, self._places(index, here), read_roots)

    def _places(self, character: int, here: Indices) -> list[Place]:
        """Where a character is to be found in copies ``here``."""
        scenes = (self._scenes[copy] for copy in here)
        return [(scene.characters[character], scene.client) for scene in scenes]

    def _push(self, scenes: list[Scene], forces: Array) -> None:
        """Push links with forces (n, L, 3) in the world at their centres of mass."""
        for index, actor in enumerate(self._actors):
            own = forces[:, actor.columns.links]
            for copy, link in np.argwhere(own.any(axis=-1)).tolist():
                body, client = scenes[copy].characters[index], scenes[copy].client
                if link == 0:
                    pos = pybullet.getBasePositionAndOrientation(body, physicsClientId=client)[0]
                else:
                    pos = pybullet.getLinkState(body, link - 1, computeForwardKinematics=1, physicsClientId=client)[0]
                force = own[copy, link].tolist()
                pybullet.applyExternalForce(
                    body, link - 1, force, pos, pybullet.WORLD_FRAME, physicsClientId=client
                )

    def _bring_props(self, here: Indices, states: Array, were_there: Indices) -> None:
        """Place the props whose moment has come."""
        if not len(self._placed):
            return
        comes = self._props.present(states[:, 0], self.dt_s) & ~were_there
        for copy, index in np.argwhere(comes).tolist():
            scene = self._scenes[here[copy]]
            _put_prop(scene.props[index], self._placed[index], scene.client)

    def _read_props(self, here: Indices, states: Array) -> None:
        there = self._props.present(states[:, 0], self.dt_s)
        for index, columns in enumerate(self.layout.props):
            for row, copy in enumerate(here):
                if there[row, index]:
                    scene = self._scenes[copy]
                    states[row, columns] = _read_prop(scene.props[index], scene.client)
                else:
                    states[row, columns] = self._waiting[index]

    def _read_contacts(self, here: Indices, states: Array) -> None:
        """Sum up what touches each link, in the last physics step."""
        forces = np.zeros((len(here), self.layout.links, 3))
        for row, copy in enumerate(here):
            scene = self._scenes[copy]
            for actor, body in zip(self._actors, scene.characters, strict=True):
                own = forces[row, actor.columns.links]
                for touch in pybullet.getContactPoints(body, physicsClientId=scene.client):
                    if touch[9] <= 0.0:
                        continue
                    own[touch[3] + 1] += _force(touch)
        states[:, self.layout.contacts] = forces.reshape(len(here), -1)


def _force(touch: Sequence[Any]) -> Array:
    """(3,) newtons on the body that was asked about, from one of Bullet's contact points."""
    normal, first, second = (np.array(touch[index]) for index in (7, 11, 13))
    return np.asarray(touch[9] * normal + touch[10] * first + touch[12] * second)


def _put_prop(body: int, row: Array, client: int) -> None:
    x, y, z, qw, qx, qy, qz, *velocities = row.tolist()
    pybullet.resetBasePositionAndOrientation(body, [x, y, z], [qx, qy, qz, qw], physicsClientId=client)
    pybullet.resetBaseVelocity(body, velocities[:3], velocities[3:], physicsClientId=client)


def _read_prop(body: int, client: int) -> list[float]:
    pos, (qx, qy, qz, qw) = pybullet.getBasePositionAndOrientation(body, physicsClientId=client)
    velocity, spin = pybullet.getBaseVelocity(body, physicsClientId=client)
    return [*pos, qw, qx, qy, qz, *velocity, *spin]
