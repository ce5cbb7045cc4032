# SPDX-License-Identifier: GPL-3.0-or-later
"""Many copies of a stage stepped by one Bullet world, taking turns.

Before each physics step of a copy everything that Bullet knows is put there anew, and what it remembers of contacts is
thrown away. So a state row is the whole truth: the same row and the same inputs give the same bits, whatever happened
before and whichever copies stand beside it. It is also faster than a world for each copy: putting costs 30 µs a step,
but a world that was not stepped for a while has left the processor's cache, which costs 60.
"""

from collections.abc import Sequence

import numpy as np
import pybullet
from numpy.typing import NDArray

from ....geometry.quaternions import Array
from ...prop_schedule import PropSchedule
from ...push_schedule import PushSchedule
from ...stage import Stage
from .character import BulletCharacter, BulletState, put_root, read_root, roots_from_bullet, roots_to_bullet
from .scene import Scene
from .state_layout import StateLayout

# The joints' inertia is good for this many physics steps.
_STEPS_AN_INERTIA = 4
# Copies whose numbers are worked out together; more of them would only need more memory.
_MOST_AT_ONCE = 64
# Bullet numbers what it forgets and finds again, and would run out of numbers after some days.
_OLDEST = 1_000_000
_MOST_RAYS = pybullet.MAX_RAY_INTERSECTION_BATCH_SIZE

CopyState = list[BulletState]  # the characters of one copy


class Stepper:
    """A stage in Bullet, for any number of copies."""

    def __init__(self, stage: Stage, dt_s: float) -> None:
        self._stage, self._dt_s = stage, dt_s
        self._layout = StateLayout(stage)
        self._characters = [BulletCharacter(columns, dt_s) for columns in self._layout.characters]
        self._pushes, self._props = PushSchedule(stage), PropSchedule(stage)
        frames = self._layout.prop_frames
        self._placed = [frame.to_native(row) for frame, row in zip(frames, self._props.placed, strict=True)]
        self._waiting = [frame.to_native(row) for frame, row in zip(frames, self._props.waiting, strict=True)]
        self._scene, self._age = Scene(stage, dt_s), 0

    def close(self) -> None:
        """Let Bullet forget the stage."""
        self._scene.close()

    def rollout(
        self,
        states: Array,
        targets: Array,
        out: Array,
        substeps: int,
        forces: Array | None,
        muscle: Array | None,
    ) -> None:
        """Advance copies from states (N, S) by K control steps into out (N, K, S); see ``World.rollout``.

        muscle: (N, K, C) or None.
        """
        factor = np.ones((*targets.shape[:2], len(self._characters))) if muscle is None else muscle
        for first in range(0, len(states), _MOST_AT_ONCE):
            some = slice(first, first + _MOST_AT_ONCE)
            current = np.array(states[some])
            for step in range(targets.shape[1]):
                force = None if forces is None else forces[some, step]
                self._control_step(current, targets[some, step], substeps, force, factor[some, step])
                out[some, step] = current

    def cast_rays(self, states: Array, origins: Array, ends: Array, character: int, out: Array) -> None:
        """Share (N, R) of the way from origins to ends (N, R, 3) that is free of all but the character's own."""
        out[:] = np.nan
        sound = np.flatnonzero(self._layout.is_sound(states))
        for row, characters in zip(sound.tolist(), self._to_bullet(states[sound]), strict=True):
            self._reset(characters, self._props_to_bullet(states[row]))
            for first in range(0, origins.shape[1], _MOST_RAYS):
                some = slice(first, first + _MOST_RAYS)
                hits = pybullet.rayTestBatch(
                    origins[row, some].tolist(), ends[row, some].tolist(),
                    collisionFilterMask=Scene.seen_by(character), physicsClientId=self._scene.client,
                )  # fmt: skip
                out[row, some] = [hit[2] if hit[0] >= 0 else 1.0 for hit in hits]

    def bare(self, states: Array, steps: int) -> None:
        """Nothing but physics steps of N copies, with Bullet's own motors holding the poses."""
        for row, characters in enumerate(self._to_bullet(states)):
            self._reset(characters, self._props_to_bullet(states[row]))
            for character, state, body in zip(self._characters, characters, self._scene.characters, strict=True):
                character.hold(state, body, self._scene.client)
            for _ in range(steps):
                pybullet.stepSimulation(self._scene.client)

    def _control_step(self, states: Array, targets: Array, substeps: int, forces: Array | None, muscle: Array) -> None:
        """Advance states (n, S) by a control step with muscle (n, C).

        Those that blow up become NaN and do not disturb the others.
        """
        self._age += substeps * len(states)
        if self._age > _OLDEST:
            self._renew()
        sound = self._layout.is_sound(states)
        while sound.any():
            force = None if forces is None else forces[sound]
            after = self._try(states[sound], targets[sound], substeps, force, muscle[sound])
            fine = self._layout.is_sound(after)
            if fine.all():
                states[sound] = after
                break
            # Bullet has dropped what left its world, so begin again with a new one and without the culprits.
            self._renew()
            sound[np.flatnonzero(sound)[~fine]] = False
        states[~sound] = np.nan

    def _renew(self) -> None:
        self._scene.close()
        self._scene = Scene(self._stage, self._dt_s)
        self._age = 0

    def _try(self, states: Array, targets: Array, substeps: int, forces: Array | None, muscle: Array) -> Array:
        """States (n, S) after a control step, or as they were when a copy blew up on the way."""
        now = states.copy()
        pushed = self._pushes.forces_at(now[:, 0], substeps, self._dt_s)
        for index, character in enumerate(self._characters):
            character.set_targets(targets, muscle[:, index])
        copies = self._to_bullet(now)
        for step in range(substeps):
            if step % _STEPS_AN_INERTIA == 0:
                for character in self._characters:
                    character.update_inertia(now)
            total = forces if pushed is None else pushed[:, step] if forces is None else forces + pushed[:, step]
            copies = self._physics_step(now, copies, total, step + 1 == substeps)
            if not self._layout.is_sound(now).all():
                break
        return now

    def _physics_step(
        self, states: Array, copies: list[CopyState], forces: Array | None, feel: bool
    ) -> list[CopyState]:
        """Advance states (n, S), the same as ``copies`` in Bullet's format, by a physics step with forces (n, L, 3).

        Contact forces are recorded if ``feel``. Returns the copies in Bullet's format afterwards.
        """
        orders = [character.compute_orders(states) for character in self._characters]
        bodies, client = self._scene.characters, self._scene.client
        answers: list[CopyState] = []
        prop_answers: list[list[Sequence[float]]] = []
        touches: list[Sequence[float]] = []
        for row, characters in enumerate(copies):
            self._reset(characters, self._props_to_bullet(states[row]))
            for character, wanted, body in zip(self._characters, orders, bodies, strict=True):
                character.send_orders(wanted, row, body, client)
            if forces is not None:
                self._push(forces[row])
            pybullet.stepSimulation(client)
            answers.append(
                [character.read_state(body, client) for character, body in zip(self._characters, bodies, strict=True)]
            )
            prop_answers.append([read_root(prop, client) for prop in self._scene.props])
            if feel:
                self._feel(row, touches)
        for index, character in enumerate(self._characters):
            character.store_states(states, [characters[index] for characters in answers])
        there = self._props.present(states[:, 0], self._dt_s)
        states[:, 0] += self._dt_s
        if self._layout.props:
            self._store_props(states, roots_from_bullet(prop_answers), there)
        if feel:
            states[:, self._layout.contacts] = self._forces(touches, len(states))
        return answers

    def _to_bullet(self, states: Array) -> list[CopyState]:
        """Where the characters of every copy are in states (n, S), in Bullet's format."""
        by_character = [character.to_bullet(states) for character in self._characters]
        return [[state[row] for state in by_character] for row in range(len(states))]

    def _props_to_bullet(self, state: Array) -> list[Sequence[float]]:
        """Where the props are in one state (S,), in Bullet's format."""
        if not self._layout.props:
            return []
        return roots_to_bullet(state[self._layout.all_props].reshape(-1, 13))

    def _reset(self, characters: CopyState, props: Sequence[Sequence[float]]) -> None:
        """Make Bullet's world that of a copy, with no past."""
        scene = self._scene
        for character, state, body in zip(self._characters, characters, scene.characters, strict=True):
            character.reset(state, body, scene.client)
        for prop, body in zip(props, scene.props, strict=True):
            put_root(prop, body, scene.client)
        scene.forget_contacts()

    def _push(self, forces: Array) -> None:
        """Push links with forces (L, 3) in the world at their centres of mass."""
        client = self._scene.client
        for character, body in zip(self._characters, self._scene.characters, strict=True):
            own = forces[character.columns.links]
            for link in np.flatnonzero(own.any(axis=-1)).tolist():
                if link == 0:
                    pos = pybullet.getBasePositionAndOrientation(body, client)[0]
                else:
                    pos = pybullet.getLinkState(body, link - 1, computeForwardKinematics=1, physicsClientId=client)[0]
                pybullet.applyExternalForce(body, link - 1, own[link].tolist(), pos, pybullet.WORLD_FRAME, client)

    def _feel(self, row: int, touches: list[Sequence[float]]) -> None:
        """Note what touches the characters: copy, link, normal and two directions of friction, and newtons of each."""
        for character, body in zip(self._characters, self._scene.characters, strict=True):
            first = character.columns.links.start + 1
            for touch in pybullet.getContactPoints(body, physicsClientId=self._scene.client):
                if touch[9] > 0.0:
                    directions = (*touch[7], *touch[11], *touch[13])
                    touches.append((row, first + touch[3], *directions, touch[9], touch[10], touch[12]))
                    if touch[2] == body:
                        # A self contact is reported once, for one of the two links.
                        touches.append((row, first + touch[4], *directions, -touch[9], -touch[10], -touch[12]))

    def _forces(self, touches: list[Sequence[float]], count: int) -> Array:
        """(n, 3 L) newtons on every link, summed over what touches it."""
        forces = np.zeros((count, self._layout.links, 3))
        if touches:
            numbers = np.array(touches)
            rows, links = numbers[:, :2].astype(int).T
            directions = numbers[:, 2:11].reshape(-1, 3, 3)
            np.add.at(forces, (rows, links), (numbers[:, 11:, None] * directions).sum(axis=1))
        return forces.reshape(count, -1)

    def _store_props(self, states: Array, rows: Array, there: NDArray[np.bool_]) -> None:
        """Take over where props (n, P, 13) are; those that are not there yet wait, those whose moment comes appear."""
        comes = self._props.present(states[:, 0], self._dt_s)
        for index, columns in enumerate(self._layout.props):
            early = np.where(comes[:, index, None], self._placed[index], self._waiting[index])
            states[:, columns] = np.where(there[:, index, None], rows[:, index], early)
