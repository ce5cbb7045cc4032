# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be live: characters that are simulated step by step while somebody has hold of them.

Each method that can play what it has made or learned this way has a class with these methods in a package of its own,
a function that opens it, and a row in ``registry.py``. Live itself (``live/``) knows none of them by name.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..body import BodyModel
from ..body.poses import link_transforms
from ..geometry.quaternions import Array, rotate
from ..motion import Clip
from ..sim.engine import SensorRows
from ..sim.stage import Stage
from .cast import load_cast
from .method import Run
from .staging import build_job_stage
from .tracking.bone_order import put_on_body

LIVE_FPS = 60
"""Control steps a second of everything that is live."""
HELP_FRAMES = 150
"""For how long who lies is helped up that has no way of its own to get up."""
_LETS_GO_FRAMES = 45


@dataclass(frozen=True, eq=False)
class WantedPose:
    """Where a character should be: links (L, 3), (L, 4) and centroid (3,) in the world; local pose of all bones."""

    link_pos: Array
    link_quat_wxyz: Array
    com: Array
    local_pos: Array
    local_quat_wxyz: Array


@dataclass(frozen=True, eq=False)
class SensedBody:
    """One body after a control step: qpos (nq,), qvel (nv,), and rows, what the sensors saw of it alone, (1, 1, ...).

    strength: the share that it has, 0 to 1.
    """

    qpos: Array
    qvel: Array
    rows: SensorRows
    strength: float = 1.0

    @property
    def link_pos(self) -> Array:
        """(L, 3) metres."""
        return self.rows.link_pos[0, -1]

    @property
    def link_quat_wxyz(self) -> Array:
        """(L, 4)."""
        return self.rows.link_quat_wxyz[0, -1]


@dataclass(frozen=True)
class Steering:
    """Where somebody is to go: m/s along X and Y of the world, and in which style or by which skill; '' for any."""

    velocity: tuple[float, float] = (0.0, 0.0)
    style: str = ""

    @property
    def speed_m_s(self) -> float:
        """How fast."""
        return float(np.hypot(*self.velocity))


class LiveCharacter(Protocol):
    """Somebody who can be live. moment: all that it knows, as something that is never changed in place.

    steered: whether it goes where it is told. styles: the styles or skills that it can be told by name.
    """

    body: BodyModel
    moment: Any
    steered: bool
    styles: tuple[str, ...]

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to do."""

    @property
    def is_lost(self) -> bool:
        """Whether it has fallen for good, and lets go."""

    @property
    def own_strength(self) -> float:
        """The share of its strength that it uses by itself, such as less of it while it lies; 1 for all."""

    @property
    def helped(self) -> float:
        """How much a hand helps it to where it should be, 0 to 1: it is getting up, or has just done so."""

    def begin_anew(self) -> None:
        """Be at the beginning."""

    def first_pose(self) -> tuple[Array, Array]:
        """(nq,) and (nv,) at the beginning."""

    def steer(self, steering: Steering) -> None:
        """Go somewhere else, for who is ``steered``."""

    def come_back(self, sensed: SensedBody) -> None:
        """It has its strength again: go on, and get up where it lies."""

    def choose_targets(self, sensed: SensedBody) -> Array:
        """(nu,) servo targets for the next control step."""

    def pass_step(self, sensed: SensedBody) -> None:
        """A control step has led to this."""

    def wanted(self) -> WantedPose:
        """Where it should be now."""


def fade_help(frames: int) -> float:
    """The share of help for who is helped for so many frames more; less and less in the end."""
    return float(np.clip(frames / _LETS_GO_FRAMES, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class LiveCast:
    """Everybody who is live on a stage. sources: everybody's clip, for name and skeleton.

    goes_round: all begins anew when the first character has nothing more to do.
    """

    stage: Stage
    characters: tuple[LiveCharacter, ...]
    sources: tuple[Clip, ...] = field(repr=False)
    goes_round: bool = False


class OpenLive(Protocol):
    """What a row of the registry names: everybody of a job, ready to begin; worlds are closed with ``opened``."""

    def __call__(self, clip: Clip, settings: Any, run: Run, opened: ExitStack) -> LiveCast:
        """settings: those of the live session."""


def place_learned_cast(body: BodyModel, clip: Clip, run: Run) -> tuple[Stage, tuple[Clip, ...]]:
    """The job's stage with everybody on it in the body that something was learned for, and where each of them begins.

    The clips have their bones in the body's order; somebody with other bones is refused.
    """
    clips = tuple(put_on_body(body, one) for one in (clip, *(member.clip for member in load_cast(run))))
    return build_job_stage(run, *(body for _ in clips), unless=("still",)), clips


def wanted_of_pose(body: BodyModel, qpos: Array, clip: Clip) -> WantedPose:
    """A pose (nq,) as what is wanted, with all bones that the body does not have as the clip begins."""
    pos, quat = link_transforms(body, qpos)
    mass = np.array([link.mass for link in body.links])
    centres = pos + rotate(quat, np.array([link.com for link in body.links]))
    return WantedPose(pos, quat, mass @ centres / mass.sum(), clip.local_pos[0], clip.local_quat_wxyz[0])


def skills_of(names: Sequence[str]) -> tuple[str, ...]:
    """Names to choose from, each once, in their order."""
    return tuple(dict.fromkeys(name for name in names if name))
