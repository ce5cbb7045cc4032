# SPDX-License-Identifier: GPL-3.0-or-later
"""Live characters on their stage, frame by frame: the same commands at the same frames give the same bits."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadMotion
from ...geometry.quaternions import Array, multiply, rotate
from ...sim.engine import Engine, SensorRows, character_offsets
from ..live_character import LiveCast, LiveCharacter, SensedBody, Steering, WantedPose
from .commands import (
    FPS,
    BadCommand,
    BeginAnew,
    Command,
    DragBone,
    DropBox,
    MoveThing,
    PushBone,
    ReleaseBone,
    SetMuscle,
    Steer,
    ThrowBall,
)
from .things import Thing, add_things

# A dragged bone hangs on a damped spring: newtons a metre for each kilogram of the body, and at most so many newtons
# for each. Half of its weight: an arm comes along, and who hangs on it is not lifted off the ground.
_SPRING, _MOST_PULL = 12.0, 5.0
# Strength goes to what is wished over so long: limbs that are let go sink, and do not drop like stones.
_FADE_FRAMES = 18
LIMP = 0.03
"""The least muscle there is."""
# A hand that helps somebody up: a damped spring on every link towards where that should be, 1/s² and 1/s for each
# kilogram; what is far away is not pulled harder for that, and nobody flies.
_HELP, _HELP_DAMPING, _HELP_M = 200.0, 28.0, 0.15


@dataclass(frozen=True, eq=False)
class LiveMoment:
    """All that decides what happens from a frame on.

    pushes: (link, newtons (3,), frame it ends with). drags: character -> (link, point). muscle, wished: (C,).
    shown: (P,) which things are on the stage now. used: how many balls and boxes have been taken. rows: of the state.
    moved: obstacles that stand elsewhere: (3,) metres by which, and (4,) turned. helping: of who is helped where the
    centres of its links were a step ago, and where they should have been, (2, L, 3).
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
    rows: SensorRows
    moved: dict[str, tuple[Array, Array]] = field(default_factory=dict)
    helping: dict[int, Array] = field(default_factory=dict)


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
    """Steps a stage with live characters."""

    def __init__(self, cast: LiveCast, engine: Engine) -> None:
        self.own_props = len(cast.stage.props)
        self.stage, self.things = add_things(cast.stage)
        self.characters: tuple[LiveCharacter, ...] = cast.characters
        self.goes_round = cast.goes_round
        self._engine, self._moved = engine, dict[str, tuple[Array, Array]]()
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
        return LiveMoment(frame, state, moments, (), {}, full, full, shown, (0, 0), self.world.sense(state))

    def go_to(self, moment: LiveMoment) -> None:
        """Be at a moment of this session again."""
        self.moment = moment
        self._stand()
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
        if isinstance(command, Steer):
            self._check_steering(command)
        if isinstance(command, MoveThing):
            known = [prop.name for prop in self.stage.props[: self.own_props]]
            known += [obstacle.name for obstacle in self.stage.obstacles]
            if command.thing not in known:
                raise BadCommand(f"There is no '{command.thing[:60]}'", f"There is: {', '.join(known) or 'nothing'}")

    def _check_steering(self, command: Steer) -> None:
        character = self.characters[command.character]
        if not character.steered:
            raise BadCommand("Who is live goes where it goes", "Push or drag it, or let something be live that is led")
        if command.style and command.style not in character.styles:
            known = ", ".join(character.styles) or "none"
            raise BadCommand(f"It knows no '{command.style[:60]}'", f"It knows: {known}")

    def step(self, commands: Sequence[Command] = ()) -> LiveStep:
        """One control step, after commands for this frame."""
        if self.goes_round and self.characters[0].is_over:
            self._begin_anew()
        for command in commands:
            self._obey(command)
        now = self.moment
        targets = np.concatenate([one.choose_targets(self.sense(index)) for index, one in enumerate(self.characters)])
        forces, helping = self._forces(now), {}
        for index, character in enumerate(self.characters):
            if character.helped:
                help_, helping[index] = self._help(index, now)
                forces[self.links_of(index)] += help_
        muscle = _come_nearer(now.muscle, now.wished)
        used = muscle * [one.own_strength for one in self.characters]
        states, rows = self.world.rollout(
            now.state,
            targets[None, None],
            substeps=self._substeps,
            forces=forces[None, None],
            muscle=used[None, None],
        )
        state = np.array(states[:, -1])
        if not np.isfinite(state).all():
            raise BadMotion("The simulation blew up", "Begin anew, with less force")
        frame = now.frame + 1
        pushes = tuple(push for push in now.pushes if push[2] > frame)
        self.moment = replace(now, frame=frame, state=state, pushes=pushes, muscle=muscle, rows=rows, helping=helping)
        wished = now.wished.copy()
        for index, character in enumerate(self.characters):
            character.pass_step(self.sense(index))
            if character.is_lost:
                wished[index] = LIMP
        self.moment = replace(self.moment, wished=wished, characters=tuple(one.moment for one in self.characters))
        qpos, qvel = self.world.pose_of(state[0])
        wanted = tuple(one.wanted() for one in self.characters)
        return LiveStep(frame, qpos, qvel, targets, rows, used, now.shown, forces, wanted)

    def look(self) -> LiveStep:
        """The same for where everything is now, without a step."""
        now = self.moment
        qpos, qvel = self.world.pose_of(now.state[0])
        targets = np.zeros(self._where["nu"][-1])
        wanted = tuple(one.wanted() for one in self.characters)
        rows, forces = self.world.sense(now.state), np.zeros((self._where["links"][-1], 3))
        return LiveStep(now.frame, qpos, qvel, targets, rows, now.muscle, now.shown, forces, wanted)

    def sense(self, index: int) -> SensedBody:
        """A character's body now."""
        now, own = self.moment, self.links_of(index)
        qpos, qvel = self.world.pose_of(now.state[0])
        q, v = (self._where[name][index : index + 2] for name in ("nq", "nv"))
        rows, only = now.rows, slice(index, index + 1)
        its = replace(
            rows,
            link_pos=rows.link_pos[:, -1:, own],
            link_quat_wxyz=rows.link_quat_wxyz[:, -1:, own],
            com=rows.com[:, -1:, only],
            com_velocity=rows.com_velocity[:, -1:, only],
            angular_momentum=rows.angular_momentum[:, -1:, only],
            contact_force=rows.contact_force[:, -1:, own],
        )
        return SensedBody(qpos[q[0] : q[1]], qvel[v[0] : v[1]], its, float(now.muscle[index]))

    def links_of(self, index: int) -> slice:
        """Which of the stage's links are a character's."""
        first, last = self._where["links"][index : index + 2]
        return slice(int(first), int(last))

    def _begin_anew(self) -> None:
        """Put everybody and everything back; only time goes on."""
        self._first = self._begin(0)
        self.moment = replace(self._first, frame=self.moment.frame, moved=self.moment.moved)

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
                self.characters[index].come_back(self.sense(index))
            self.moment = replace(now, wished=wished, characters=tuple(one.moment for one in self.characters))
        elif isinstance(command, ThrowBall):
            self._put("ball", command.at, command.velocity)
        elif isinstance(command, DropBox):
            self._put("box", command.at, (0.0, 0.0, 0.0))
        elif isinstance(command, MoveThing):
            self._move(command)
        elif isinstance(command, Steer):
            self.characters[index].steer(Steering(command.velocity, command.style))
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

    def _move(self, command: MoveThing) -> None:
        """Put a prop elsewhere, at rest, or build the stage anew with an obstacle elsewhere."""
        by, turn = np.array(command.by), np.array(command.turn) / np.linalg.norm(command.turn)
        names = [prop.name for prop in self.stage.props[: self.own_props]]
        if command.thing in names:
            number = names.index(command.thing)
            prop = self.stage.props[number]
            place = [*(rotate(turn, prop.pos) + by), *multiply(turn, prop.quat_wxyz), *np.zeros(6)]
            self.moment = replace(
                self.moment, state=self.world.replace_prop(self.moment.state, number, np.array(place))
            )
            return
        self.moment = replace(self.moment, moved=self.moment.moved | {command.thing: (by, turn)})
        self._stand()

    def _stand(self) -> None:
        """Have obstacles where the moment has them."""
        moved = self.moment.moved
        if moved is self._moved or (not moved and not self._moved):
            return
        obstacles = []
        for one in self.stage.obstacles:
            by, turn = moved.get(one.name, (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])))
            obstacles.append(replace(one, pieces=tuple(rotate(turn, piece) + by for piece in one.pieces)))
        world = self._engine.compile(replace(self.stage, obstacles=tuple(obstacles)), 1, threads=1)
        self.world.close()
        self.world, self._moved = world, moved

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

    def _help(self, index: int, now: LiveMoment) -> tuple[Array, Array]:
        """(L, 3) newtons that help somebody to where it should be, and what ``LiveMoment.helping`` says of it."""
        character, own = self.characters[index], self.links_of(index)
        body, wanted = character.body, character.wanted()
        com, mass = np.array([link.com for link in body.links]), np.array([link.mass for link in body.links])
        at = now.rows.link_pos[0, -1, own] + rotate(now.rows.link_quat_wxyz[0, -1, own], com)
        there = wanted.link_pos + rotate(wanted.link_quat_wxyz, com)
        places = np.stack([at, there])
        rates = FPS * (places - now.helping.get(index, places))
        away = there - at
        away *= np.minimum(1.0, _HELP_M / np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-9))
        force = mass[:, None] * (_HELP * away + _HELP_DAMPING * (rates[1] - rates[0]))
        return np.asarray(character.helped * now.muscle[index] * force), places

    def _pull(self, index: int, link: int, point: Array) -> Array:
        """(3,) newtons of the spring from a link to a point: as stiff as the body is heavy."""
        rows, mass = self.moment.rows, self.characters[index].body.mass
        force = _SPRING * mass * (point - rows.link_pos[0, -1, link])
        force -= 2.0 * np.sqrt(_SPRING) * 0.25 * mass * rows.com_velocity[0, -1, index]
        most = _MOST_PULL * mass
        return np.asarray(force * min(1.0, most / max(float(np.linalg.norm(force)), 1e-9)))


def _come_nearer(now: Array, wished: Array) -> Array:
    """(C,) muscle a frame later."""
    step = (1.0 - LIMP) / _FADE_FRAMES
    return np.asarray(now + np.clip(wished - now, -step, step))
