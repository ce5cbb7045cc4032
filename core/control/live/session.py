# SPDX-License-Identifier: GPL-3.0-or-later
"""Live characters on their stage, frame by frame: the same commands at the same frames give the same bits."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...errors import BadMotion
from ...geometry.quaternions import Array
from ...sim.engine import Engine, SensorRows, character_offsets
from ...sim.stage import Stage
from .commands import (
    FPS,
    BadCommand,
    BeginAnew,
    Command,
    DragBone,
    DropBox,
    PushBone,
    ReleaseBone,
    SetMuscle,
    Steer,
    ThrowBall,
)
from .things import Thing, add_things

# A dragged bone hangs on a critically damped spring: newtons a metre for each kilogram of the body, and at most so
# many newtons for each.
_SPRING, _MOST_PULL = 20.0, 12.0
# Strength goes to what is wished over so long: limbs that are let go sink, and do not drop like stones.
_FADE_FRAMES = 18
LIMP = 0.03
"""The least muscle there is."""


@dataclass(frozen=True, eq=False)
class WantedPose:
    """Where a character should be: links (L, 3), (L, 4) and centroid (3,) in the world; local pose of all bones."""

    link_pos: Array
    link_quat_wxyz: Array
    com: Array
    local_pos: Array
    local_quat_wxyz: Array


class LiveCharacter(Protocol):
    """Somebody who can be live. moment: all that it knows, as something that is never changed in place."""

    body: BodyModel
    moment: Any

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to do."""

    def begin_anew(self) -> None:
        """Be at the beginning."""

    def first_pose(self) -> tuple[Array, Array]:
        """(nq,) and (nv,) at the beginning."""

    def steer(self, command: Steer) -> None:
        """Go somewhere else."""

    @property
    def is_lost(self) -> bool:
        """Whether it has fallen for good, and lets go."""

    def come_back(self) -> None:
        """It has its strength again."""

    def choose_targets(self, qpos: Array, qvel: Array, rows: SensorRows | None, strength: float) -> Array:
        """(nu,) servo targets for the next control step from pose and velocity.

        rows: of the step that led there, of all of the stage. strength: the share that it has, 0 to 1.
        """

    def pass_step(self, qpos: Array, qvel: Array, link_pos: Array, link_quat_wxyz: Array) -> None:
        """A control step has led to this pose, with links (L, 3), (L, 4) of its own."""

    def wanted(self) -> WantedPose:
        """Where it should be now."""


@dataclass(frozen=True, eq=False)
class LiveMoment:
    """All that decides what happens from a frame on.

    pushes: (link, newtons (3,), frame it ends with). drags: character -> (link, point). muscle, wished: (C,).
    shown: (P,) which things are on the stage now. used: how many balls and boxes have been taken.
    """

    frame: int
    state: Array
    characters: tuple[Any, ...]
    pushes: tuple[tuple[int, Array, int], ...]
    drags: dict[int, tuple[int, Array]]
    muscle: Array
    wished: Array
    shown: NDArray[np.bool_]
    used: tuple[int, int]
    rows: SensorRows | None = None


@dataclass(frozen=True, eq=False)
class LiveStep:
    """What came of a control step: qpos, qvel and targets of all; what the sensors saw; muscle (C,); forces (L, 3)."""

    frame: int
    qpos: Array
    qvel: Array
    targets: Array
    rows: SensorRows
    muscle: Array
    shown: NDArray[np.bool_]
    forces: Array
    wanted: tuple[WantedPose, ...] = field(repr=False)


class LiveSession:
    """Steps a stage with live characters. goes_round: begins anew when the first character has nothing more to do."""

    def __init__(
        self, stage: Stage, characters: Sequence[LiveCharacter], engine: Engine, *, goes_round: bool = True
    ) -> None:
        self.own_props = len(stage.props)
        self.stage, self.things = add_things(stage)
        self.characters, self.goes_round = tuple(characters), goes_round
        self.world = engine.compile(self.stage, 1, threads=1)
        self._where = character_offsets(self.stage)
        self._substeps = round(1.0 / (FPS * self.world.dt_s))
        self._first = self._begin(0)
        self.moment = self._first

    def close(self) -> None:
        """Let go of the world."""
        self.world.close()

    def _begin(self, frame: int) -> LiveMoment:
        """Everybody at the beginning, at a frame of the session."""
        for character in self.characters:
            character.begin_anew()
        qpos, qvel = (np.concatenate(part) for part in zip(*(one.first_pose() for one in self.characters), strict=True))
        full, count = np.ones(len(self.characters)), len(self.stage.props)
        shown = np.arange(count) < self.own_props
        moments = tuple(one.moment for one in self.characters)
        state = self.world.state_of(qpos[None], qvel[None])
        return LiveMoment(frame, state, moments, (), {}, full, full, shown, (0, 0))

    def go_to(self, moment: LiveMoment) -> None:
        """Be at a moment of this session again."""
        self.moment = moment
        for character, known in zip(self.characters, moment.characters, strict=True):
            character.moment = known

    @property
    def frame(self) -> int:
        """How many control steps were done."""
        return self.moment.frame

    def check(self, command: Command) -> None:
        """Refuse what is for somebody or something that is not there, with a ``BadCommand``."""
        if not 0 <= command.character < len(self.characters):
            raise BadCommand(f"There is no character {command.character}", f"There are {len(self.characters)}")
        if isinstance(command, PushBone | DragBone):
            body = self.characters[command.character].body
            if body.link_of(command.bone) < 0:
                links = ", ".join(link.bone for link in body.links)
                raise BadCommand(f"'{command.bone}' has no body", f"Use one of: {links}")

    def step(self, commands: Sequence[Command] = ()) -> LiveStep:
        """One control step, after commands for this frame."""
        if self.goes_round and self.characters[0].is_over:
            self._begin_anew()
        for command in commands:
            self._obey(command)
        now = self.moment
        poses = [self.pose_of(index) for index in range(len(self.characters))]
        targets = np.concatenate(
            [
                one.choose_targets(*pose, now.rows, float(strength))
                for one, pose, strength in zip(self.characters, poses, now.muscle, strict=True)
            ]
        )
        forces = self._forces(now)
        muscle = _come_nearer(now.muscle, now.wished)
        states, rows = self.world.rollout(
            now.state,
            targets[None, None],
            substeps=self._substeps,
            forces=forces[None, None],
            muscle=muscle[None, None],
        )
        state = np.array(states[:, -1])
        if not np.isfinite(state).all():
            raise BadMotion("The simulation blew up", "Begin anew, with less force")
        frame = now.frame + 1
        pushes = tuple(push for push in now.pushes if push[2] > frame)
        self.moment = replace(now, frame=frame, state=state, pushes=pushes, muscle=muscle, rows=rows)
        wished = now.wished.copy()
        for index, character in enumerate(self.characters):
            own = self.links_of(index)
            character.pass_step(*self.pose_of(index), rows.link_pos[0, -1, own], rows.link_quat_wxyz[0, -1, own])
            if character.is_lost:
                wished[index] = LIMP
        self.moment = replace(self.moment, wished=wished, characters=tuple(one.moment for one in self.characters))
        qpos, qvel = self.world.pose_of(state[0])
        wanted = tuple(one.wanted() for one in self.characters)
        return LiveStep(frame, qpos, qvel, targets, rows, muscle, now.shown, forces, wanted)

    def look(self) -> LiveStep:
        """The same for where everything is now, without a step."""
        now = self.moment
        qpos, qvel = self.world.pose_of(now.state[0])
        targets = np.zeros(self._where["nu"][-1])
        wanted = tuple(one.wanted() for one in self.characters)
        rows, forces = self.world.sense(now.state), np.zeros((self._where["links"][-1], 3))
        return LiveStep(now.frame, qpos, qvel, targets, rows, now.muscle, now.shown, forces, wanted)

    def pose_of(self, index: int) -> tuple[Array, Array]:
        """(nq,) and (nv,) of a character now."""
        qpos, qvel = self.world.pose_of(self.moment.state[0])
        q, v = (self._where[name][index : index + 2] for name in ("nq", "nv"))
        return qpos[q[0] : q[1]], qvel[v[0] : v[1]]

    def links_of(self, index: int) -> slice:
        """Which of the stage's links are a character's."""
        first, last = self._where["links"][index : index + 2]
        return slice(int(first), int(last))

    def _begin_anew(self) -> None:
        """Put everybody and everything back; only time goes on."""
        self._first = self._begin(0)
        self.moment = replace(self._first, frame=self.moment.frame)

    def _obey(self, command: Command) -> None:
        """Do what a command says, before the step."""
        self.check(command)
        now, index = self.moment, command.character
        if isinstance(command, BeginAnew):
            self._begin_anew()
        elif isinstance(command, PushBone):
            push = (self._link(index, command.bone), np.array(command.force), now.frame + command.frames)
            self.moment = replace(now, pushes=(*now.pushes, push))
        elif isinstance(command, DragBone):
            drag = (self._link(index, command.bone), np.array(command.to))
            self.moment = replace(now, drags=now.drags | {index: drag})
        elif isinstance(command, ReleaseBone):
            self.moment = replace(now, drags={who: drag for who, drag in now.drags.items() if who != index})
        elif isinstance(command, SetMuscle):
            wished = now.wished.copy()
            wished[index] = max(command.value, LIMP)
            if command.value > LIMP:
                self.characters[index].come_back()
            self.moment = replace(now, wished=wished, characters=tuple(one.moment for one in self.characters))
        elif isinstance(command, ThrowBall):
            self._put("ball", command.at, command.velocity)
        elif isinstance(command, DropBox):
            self._put("box", command.at, (0.0, 0.0, 0.0))
        elif isinstance(command, Steer):
            self.characters[index].steer(command)
            self.moment = replace(now, characters=tuple(one.moment for one in self.characters))

    def _put(self, kind: str, at: Sequence[float], velocity: Sequence[float]) -> None:
        """Put the next ball or box somewhere; when all are used, the one that was put first."""
        now, which = self.moment, 0 if kind == "ball" else 1
        of_kind: list[Thing] = [thing for thing in self.things if thing.kind == kind]
        number = self.own_props + self.things.index(of_kind[now.used[which] % len(of_kind)])
        place = np.array([*at, 1.0, 0.0, 0.0, 0.0, *velocity, 0.0, 0.0, 0.0])
        used, shown = list(now.used), now.shown.copy()
        used[which] += 1
        shown[number] = True
        state = self.world.replace_prop(now.state, number, place)
        self.moment = replace(now, state=state, used=(used[0], used[1]), shown=shown)

    def _link(self, index: int, bone: str) -> int:
        return int(self._where["links"][index]) + self.characters[index].body.link_of(bone)

    def _forces(self, now: LiveMoment) -> Array:
        """(L, 3) newtons that pushes and springs pull with."""
        forces = np.zeros((self._where["links"][-1], 3))
        for link, push, _ in now.pushes:
            forces[link] += push
        for index, (link, point) in now.drags.items():
            forces[link] += self._pull(index, link, point)
        return forces

    def _pull(self, index: int, link: int, point: Array) -> Array:
        """(3,) newtons of the spring from a link to a point: as stiff as the body is heavy."""
        rows, mass = self.moment.rows, self.characters[index].body.mass
        if rows is None:
            return np.zeros(3)
        force = _SPRING * mass * (point - rows.link_pos[0, -1, link])
        force -= 2.0 * np.sqrt(_SPRING) * 0.25 * mass * rows.com_velocity[0, -1, index]
        most = _MOST_PULL * mass
        return np.asarray(force * min(1.0, most / max(float(np.linalg.norm(force)), 1e-9)))


def _come_nearer(now: Array, wished: Array) -> Array:
    """(C,) muscle a frame later."""
    step = (1.0 - LIMP) / _FADE_FRAMES
    return np.asarray(now + np.clip(wished - now, -step, step))
