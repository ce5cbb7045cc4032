# SPDX-License-Identifier: GPL-3.0-or-later
"""One character on a stream from beginning to end: who falls for all that goes limp, gets up, and goes on.

Getting up is the paper's future work: motion matching on the simulated body finds a clip that does (``rejoining``),
sampling control keeps the body on it (``rising``), and the policy takes over where it stands.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...body.poses import targets_of_pose
from ...geometry.quaternions import Array
from ...motion import Clip
from ...sim.engine import World
from ..matching.rejoining import Rejoined, Rejoining
from .controller import TrackingController
from .playing import LoopMoment, PolicyLoop
from .recovery import PlayedStep, RecoveringPlay, RecoverySearch
from .reference_streams import CONTROL_FPS, CONTROL_FRAMES, Indices, ReferenceStreams, make_streams
from .rising import RisingSearch

LIMP = 0.03
"""Of its strength, in a body that has let go."""
_LEAST_REST_S, _MOST_REST_S, _STILL_M_S = 1.2, 4.0, 0.3  # before it gets up
_MOST_TRIES = 3  # to get up after one fall
_LOST_M = 0.8  # metres between the heads at which getting up has failed
_SETTLES_S = 0.3  # after it is up: the policy begins with a body that stands


@dataclass(frozen=True, eq=False)
class WholePlayPlan:
    """What is followed from a control step on: streams whose frame 0 it is, and their motion, if known."""

    first: int
    streams: ReferenceStreams
    motion: Clip | None


@dataclass(frozen=True)
class DownAndUp:
    """A fall: control steps in which it fell and was back, None where it stays down, and whose get-up it was."""

    fell: int
    back: int | None
    clip: str = ""


@dataclass(frozen=True, eq=False)
class GettingUp:
    """What it takes to get up. world: where that is searched for, with the same stage. rng: what is tried."""

    rejoining: Rejoining | None
    world: World
    rng: np.random.Generator

    @property
    def can(self) -> bool:
        """Whether there is a clip that gets up."""
        return self.rejoining is not None and bool(self.rejoining.get_ups)

    def plan(self, qpos: Array, step: int, steps: int) -> Rejoined | None:
        """How to get up from a pose (nq,) after a control step, and where it goes on from there, for so many more."""
        assert self.rejoining is not None
        return self.rejoining.plan(qpos, CONTROL_FRAMES * step, CONTROL_FRAMES * steps + 1)


class WholePlay:
    """Plays so many control steps of the stream that frame (1,) is of; ``run`` does it.

    search: other ways where the policy would fall, None for the policy alone. getting_up: None for nobody who gets up.
    puts_back: who cannot get up is put onto the stream again, rather than to stay down.
    falls: in their order. limp: ranges of steps in which it had let go.
    """

    def __init__(
        self,
        controller: TrackingController,
        streams: ReferenceStreams,
        world: World,
        frame: Indices,
        steps: int,
        search: RecoverySearch | None = None,
        getting_up: GettingUp | None = None,
        motion: Clip | None = None,
        puts_back: bool = False,
    ) -> None:
        self.steps, self.falls, self.limp = steps, list[DownAndUp](), list[tuple[int, int]]()
        self.plans = [WholePlayPlan(0, streams, motion)]
        self._controller, self._world = controller, world
        self._getting_up = getting_up if getting_up is not None and getting_up.can else None
        self._tries_again, self._puts_back = search is not None, puts_back
        self._loop = PolicyLoop(controller, streams, world, frame)
        self._play = RecoveringPlay(self._loop, steps, search)
        self._before: list[PlayedStep] = []
        self._searches = 0

    @property
    def moment(self) -> LoopMoment:
        """What it is at now."""
        return self._loop.moment()

    @property
    def done(self) -> list[PlayedStep]:
        """All steps so far."""
        return self._before + self._play.done

    @property
    def searches(self) -> int:
        """How often other ways were tried."""
        return self._searches + self._play.searches

    def __len__(self) -> int:
        return len(self._before) + len(self._play.done)

    def run(self, on_progress: Callable[[float], None] = lambda _: None) -> None:
        """To the end."""
        while len(self) < self.steps:
            if self._play.advance():
                self._fall(on_progress)
            on_progress(len(self) / self.steps)

    def _fall(self, on_progress: Callable[[float], None]) -> None:
        """It has fallen: it lies, and gets up if it can; back on what it was told then, or at the end."""
        fell, clip, tries = len(self), "", 0
        while len(self) < self.steps:
            tries += 1
            up = self._getting_up if tries <= _MOST_TRIES else None
            if self._puts_back and up is None:
                self._play.begin_anew()
                break
            self._lie(for_good=up is None)
            on_progress(len(self) / self.steps)
            left = self.steps - len(self)
            if up is None or not left:
                continue
            plan = up.plan(self._loop.find_poses()[0], len(self), left)
            if plan is not None and self._rise(plan, up):
                clip = plan.clip
                break
        back = len(self) if (clip or self._puts_back) and len(self) < self.steps else None
        self.falls.append(DownAndUp(fell, back, clip))

    def _lie(self, *, for_good: bool) -> None:
        """Let go, and rest until nothing moves."""
        first = len(self)
        targets = np.repeat(targets_of_pose(self._loop.streams.body, self._loop.state.qpos)[:, None], CONTROL_FRAMES, 1)
        while len(self) < self.steps:
            rested_s = (len(self) - first) / CONTROL_FPS
            still = float(np.linalg.norm(self._loop.state.qvel[0, :3])) < _STILL_M_S
            if not for_good and (rested_s >= _MOST_REST_S or (rested_s >= _LEAST_REST_S and still)):
                break
            self._play.add_step(targets, LIMP)
        self.limp.append((first, len(self)))

    def _rise(self, plan: Rejoined, up: GettingUp) -> bool:
        """Follow a plan until it stands, and begin to follow what comes then; whether it has not fallen meanwhile."""
        before = self._loop.streams
        streams = make_streams(before.body, [plan.motion], [plan.contacts], before.drawn_share)
        self.plans.append(WholePlayPlan(len(self), streams, plan.motion))
        first, left, states = len(self), self.steps - len(self), self._loop.states
        self._before, self._searches = self.done, self.searches
        self._loop = PolicyLoop(self._controller, streams, self._world, np.zeros(1, dtype=np.int64))
        self._loop.begin_from(states)
        nobody = np.zeros(up.world.copies, dtype=np.int64)
        trying = PolicyLoop(self._controller, streams, up.world, nobody)
        search = RecoverySearch(trying, up.rng) if self._tries_again else None
        self._play = RecoveringPlay(self._loop, left, search)
        rising = RisingSearch(trying, up.rng)
        until = min(first + plan.stands // CONTROL_FRAMES + round(_SETTLES_S * CONTROL_FPS), self.steps)
        while len(self) < until:
            for step in rising.find(self._loop.moment())[: until - len(self)]:
                self._loop.offsets = step.offsets
                self._play.add_step(step.targets)
            if not float(self._loop.apart_m()[0]) <= _LOST_M:
                return False
        self._play.keep_what_is_done()
        return True
