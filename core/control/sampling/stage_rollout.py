# SPDX-License-Identifier: GPL-3.0-or-later
"""Everybody on the stage, fragment by fragment: plans are played in the whole world, and who is disturbed reacts.

Nobody foresees: plans and reactions are made in worlds without pushes, props and other characters. What those do is
felt at the end of the fragment in which it happened, and no search goes back to before it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...geometry.quaternions import Array
from ...sim.engine import SensorRows, World, character_offsets
from ...sim.stage import Stage
from ..tracking.reference import CONTROL_FPS, pad_batch
from .fragment_samples import Indices
from .plan import SECTION
from .search import SamconSearch, shift_anchors
from .stage_character import StageCharacter


@dataclass(eq=False)
class StageRollout:
    """A stage, its performers in the stage's order, and what they have done so far.

    state: (state_size,) of the whole world. begun: (F, state_size) at the starts of the fragments done; offsets:
    (F, sum nu) of them. planning: who is making a plan, the number of its pass and its search; None between plans.
    waiting: who has to make a plan before the next fragment, in this order.
    """

    stage: Stage
    performers: tuple[StageCharacter, ...]
    world: World
    state: Array
    begun: list[Array] = field(default_factory=list)
    offsets: list[Array] = field(default_factory=list)
    planning: tuple[int, int, SamconSearch] | None = None
    waiting: list[int] = field(default_factory=list)

    @property
    def fragments(self) -> int:
        """Of the whole clip."""
        return self.performers[0].reference.fragments

    @property
    def foreseeable(self) -> bool:
        """Whether nothing can happen that plans do not know of, so that playing them needs no world of its own."""
        return len(self.performers) == 1 and not self.stage.props and not self.stage.pushes

    @property
    def done(self) -> bool:
        """Whether the clip is over."""
        return len(self.offsets) == self.fragments

    @property
    def work(self) -> tuple[int, int]:
        """How many fragments of all passes and characters, and of the play that follows, are done, and of how many.

        A plan that somebody disturbed makes anew does not count: nobody knows before how many there will be.
        """
        passes = [len(one.effort.spreads) for one in self.performers]
        each, at = sum(passes) + (not self.foreseeable), len(self.offsets)
        begin = at // SECTION * SECTION
        length = min(SECTION, self.fragments - begin)
        count = begin * each
        if at > begin:
            count += length * sum(passes) + at - begin
        elif self.planning is not None:
            who, number, search = self.planning
            count += length * (sum(passes[:who]) + number) + len(search.layers)
        return (self.fragments * each if self.done else count), self.fragments * each

    def run(self, look: Callable[["StageRollout"], None]) -> None:
        """Go on to the end; ``look`` is called whenever something more is done."""
        while not self.done:
            at = len(self.offsets)
            stop = min((at // SECTION + 1) * SECTION, self.fragments)
            if at % SECTION == 0 and self.planning is None and not self.waiting and self._plans_end(at):
                self.waiting = list(range(len(self.performers)))
            self._plan(at, stop, look)
            if self.foreseeable:
                self._adopt(self.performers[0])
            else:
                self._play(at, stop)
            look(self)

    def _plans_end(self, at: int) -> bool:
        """Whether the plans are used up, or there never were any."""
        ways = [performer.way for performer in self.performers]
        return all(way is None or way.first + len(way) <= at for way in ways)

    def _plan(self, at: int, stop: int, look: Callable[["StageRollout"], None]) -> None:
        """Let everybody who waits for it make a plan."""
        while self.waiting:
            who = self.waiting[0]
            performer = self.performers[who]
            task = performer.task(at, stop, self.pose_of(who), self._before(who))
            begun = self.planning[1:] if self.planning is not None else None

            def looked(number: int, search: SamconSearch, who: int = who) -> None:
                self.planning = (who, number, search)
                look(self)

            performer.follow(performer.planner.planned(task, looked, begun))
            self.planning = None
            self.waiting.pop(0)

    def _adopt(self, performer: StageCharacter) -> None:
        """What is planned is what happens."""
        way = performer.way
        assert way is not None
        self.begun += list(way.starts)
        self.offsets += list(way.offsets)
        self.state = way.ends[-1]
        frame = int(performer.reference.frames_of(way.first + len(way) - 1)[-1])
        deviation = performer.gauge.state(*performer.world.pose_of(self.state[None]), frame, way.anchors[-1:])
        performer.anchor = shift_anchors(way.anchors[-1:], deviation)[0]

    def _play(self, at: int, stop: int) -> None:
        """One fragment in the whole world."""
        poses = [self.pose_of(who) for who in range(len(self.performers))]
        before = [self._before(who) for who in range(len(self.performers))]
        asked = np.concatenate(
            [one.offsets(at, stop, pose, last) for one, pose, last in zip(self.performers, poses, before, strict=True)]
        )
        states, _ = self.simulated(np.array([at]), self.state[None], np.concatenate(before)[None], asked[None])
        self.begun.append(self.state)
        self.offsets.append(asked)
        self.state = states[0, -1]
        for who, performer in enumerate(self.performers):
            if performer.saw(at, self.pose_of(who)) and at + 1 < stop:
                self.waiting.append(who)

    def pose_of(self, who: int) -> tuple[Array, Array]:
        """(nq,) and (nv,) of a performer now."""
        where = character_offsets(self.stage)
        qpos, qvel = self.world.pose_of(self.state)
        return qpos[where["nq"][who] : where["nq"][who + 1]], qvel[where["nv"][who] : where["nv"][who + 1]]

    def _before(self, who: int) -> Array:
        """(nu,) the offsets of a performer in the last fragment that was done."""
        where = character_offsets(self.stage)["nu"]
        own = slice(where[who], where[who + 1])
        return np.asarray(self.offsets[-1][own]) if self.offsets else np.zeros(where[who + 1] - where[who])

    def targets(self, fragments: Indices, before: Array, offsets: Array) -> Array:
        """(N, FRAGMENT_STEPS, sum nu) of fragments (N,) with offsets (N, sum nu) after those before them."""
        where = character_offsets(self.stage)["nu"]
        return np.concatenate(
            [
                one.reference.aims(fragments, before[:, first:last], offsets[:, first:last])
                for one, first, last in zip(self.performers, where[:-1], where[1:], strict=True)
            ],
            axis=-1,
        )

    def simulated(self, fragments: Indices, states: Array, before: Array, offsets: Array) -> tuple[Array, SensorRows]:
        """Fragments (n,) played in the whole world from states (n, state_size): states (n, steps, …) and rows."""
        copies, reference = self.world.copies, self.performers[0].reference
        return self.world.rollout(
            pad_batch(states, copies),
            pad_batch(self.targets(fragments, before, offsets), copies),
            substeps=round(1.0 / (CONTROL_FPS * self.world.dt_s)),
            muscle=pad_batch(reference.muscle[reference.frames_of_many(fragments)], copies),
        )
