# SPDX-License-Identifier: GPL-3.0-or-later
"""How hard a push a learned policy stands: copies that are pushed harder and harder, each once, from a calm start.

As control graphs are tested (Liu et al. 2016, section 6.1), so that both can be compared: at the trunk, for 0.1 s, as
the body faces then.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...body.poses import link_transforms
from ...errors import BadSettings
from ...geometry.quaternions import Array
from ...motion.falling import character_height, height_error
from ...sim.engine import World
from ...sim.variations import trunk_bone
from ..tracking.facing import facing_direction, upright_rotation
from .course import CONTROL_FPS, FILM_STEPS, Course, Indices
from .environment import targets_of
from .observations import Flags, Seen, begun, placed, see
from .playing import Act, followed

SIDES = {"back": 0.0, "right": 0.5, "front": 1.0, "left": 1.5}
"""Where a push comes from, and half turns to the left from straight ahead that it goes."""

STEP_N = 10.0
_PUSH_STEPS = 3  # of control: 0.1 s
_FELL = 0.25  # how far astray, as a share of the body's height


@dataclass(frozen=True, eq=False)
class Pushed:
    """What became of copies that were pushed with force_n (N,) newtons: seconds (N,) they stayed up after the push.

    asked_s: how long they could. Who falls before the push has stayed up for none.
    """

    force_n: Array
    lasted_s: Array
    asked_s: float

    @property
    def stood(self) -> Flags:
        """(N,) who was still up in the end."""
        return np.asarray(self.lasted_s >= self.asked_s - 1e-9)

    @property
    def push_n(self) -> float | None:
        """The last push before the first that fells it; None if it falls without being pushed."""
        stood = self.stood
        if not stood[0]:
            return None
        return float(self.force_n[-1] if stood.all() else self.force_n[int(np.argmin(stood)) - 1])


def pushed(course: Course, widths: Array, act: Act, world: World, side: str = "back", seconds: float = 20.0) -> Pushed:
    """Push the copies of a world, from none to ``STEP_N`` times their number, and see who stays up for some seconds.

    A cycle is pushed where its second one begins; what ends, at a third of it, and is watched to its end. As in films,
    the course follows who is pushed aside: who keeps up goes on from where it is.
    """
    if side not in SIDES:
        raise BadSettings(f"Nothing comes from '{side}'", f"Choose from: {', '.join(SIDES)}")
    body, count = course.body, world.copies
    first = course.steps if course.cyclic else course.steps // 3
    last = first + (round(seconds * CONTROL_FPS) if course.cyclic else course.steps - first)
    force = STEP_N * np.arange(count)
    wanted = link_transforms(body, course.qpos)[0]
    tallest, facing = character_height(wanted), upright_rotation(body)
    trunk = [link.bone for link in body.links].index(trunk_bone(body))
    frames = begun(np.zeros(count, dtype=np.int64))
    states = world.state_of(*placed(course, course.qpos[frames.at], course.rates[frames.at], frames))
    seen = see(course, world, states, world.sense(states), frames)
    fell: Indices = np.full(count, last)
    substeps = round(1.0 / (CONTROL_FPS * FILM_STEPS * world.dt_s))
    for step in range(last):
        forces = None
        if first <= step < first + _PUSH_STEPS:
            forces = np.zeros((count, FILM_STEPS, len(body.links), 3))
            way = _level(facing_direction(world.pose_of(states)[0][:, 3:7], facing), SIDES[side])
            forces[:, :, trunk] = np.nan_to_num(force[:, None] * way)[:, None]
        targets = targets_of(course, frames.at, act(seen.observed()))
        states, rows = world.rollout(states, targets, substeps=substeps, forces=forces)
        states, frames = np.array(states[:, -1]), frames.advanced(course)
        down = height_error(wanted[frames.at], rows.link_pos[:, -1], tallest) > _FELL
        fell = np.where(down & (fell == last), step, fell)
        if (fell < last).all():
            break
        states[fell < last] = np.nan  # who lies costs no more time
        seen = see(course, world, states, rows, frames)
        frames = followed(course, widths, _calm(seen), frames)
        seen = see(course, world, states, rows, frames)
    return Pushed(force, np.maximum(fell - first, 0) / CONTROL_FPS, (last - first) / CONTROL_FPS)


def _level(ahead: Array, half_turns: float) -> Array:
    """Level directions (N, 3) turned to the left."""
    cos, sin = np.cos(np.pi * half_turns), np.sin(np.pi * half_turns)
    x, y = ahead[:, 0], ahead[:, 1]
    return np.stack([cos * x - sin * y, sin * x + cos * y, np.zeros(len(ahead))], axis=-1)


def _calm(seen: Seen) -> Seen:
    """The same with the course in place of who is no more, whom it need not follow."""
    gone = ~(np.isfinite(seen.com).all(axis=1) & np.isfinite(seen.qpos).all(axis=1))
    com, qpos = np.array(seen.com), np.array(seen.qpos)
    com[gone], qpos[gone] = seen.course.com[seen.at[gone]], seen.course.qpos[seen.at[gone]]
    return replace(seen, com=com, qpos=qpos)
