# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole stage rolled out fragment by fragment: characters follow their plans, and one that is disturbed reacts.

Nothing is foreseen: plans and reactions are made in worlds without pushes, props and other characters. What those do is
felt at the end of the fragment in which it happened, and no search goes back to before it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...geometry.quaternions import Array
from ...sim.engine import SensorRows, World, character_offsets
from ...sim.stage import Stage
from ..tracking.reference import pad_batch, read_sensors
from ..tracking.rollout import roll_out
from .fragment_samples import Indices, Trajectory
from .plan import REPEAT, SECTION, SHARED
from .search import SamconSearch, shift_anchors
from .stage_character import StageCharacter


@dataclass(eq=False)
class StageRollout:
    """A stage, its characters in the stage's order, and what they have done so far.

    state: (state_size,) of the whole world. start_states: (F, state_size) of the fragments done; offsets: (F, sum nu)
    of them. planning: the index of the character that makes a plan, the number of its pass and its search; None between
    plans. waiting: indices of characters that have to make a plan before the next fragment, in this order.
    """

    stage: Stage
    characters: tuple[StageCharacter, ...]
    world: World
    state: Array
    start_states: list[Array] = field(default_factory=list)
    offsets: list[Array] = field(default_factory=list)
    planning: tuple[int, int, SamconSearch] | None = None
    waiting: list[int] = field(default_factory=list)

    @property
    def fragments(self) -> int:
        """Of the whole clip."""
        return self.characters[0].reference.fragments

    @property
    def foreseeable(self) -> bool:
        """Whether nothing can happen that plans do not know of, so that playing them needs no world of its own."""
        return len(self.characters) == 1 and not self.stage.props and not self.stage.pushes

    @property
    def done(self) -> bool:
        """Whether the clip is over."""
        return len(self.offsets) == self.fragments

    @property
    def work(self) -> tuple[int, int]:
        """How much is done, and of how much, as ``count_work`` has it."""
        return self.count_work()

    def count_work(self, fitted: float = 0.0) -> tuple[int, int]:
        """Fragments of models and search of all passes and characters, and of the play that follows: done, and in all.

        fitted: the share of the models under way. Plans that are made anew after a disturbance do not count: how many
        there will be is not known before.
        """
        passes = [one.effort.usual_passes for one in self.characters]
        each, at = 2 * sum(passes) + (not self.foreseeable), len(self.offsets)
        begin = at // SECTION * SECTION
        length = min(SECTION, self.fragments - begin)
        count, more = float(begin * each), 0
        if at > begin and self.foreseeable:  # only who lets go stops amid a section, and planning it was all the work
            count += length * each
        elif at > begin:
            count += length * 2 * sum(passes) + at - begin
        elif self.planning is not None:
            index, number, search = self.planning
            made = search.tries - 1 + (0 if number in (REPEAT, SHARED) else number)
            count += length * (2 * (sum(passes[:index]) + made) + 1) + len(search.layers)
            count += length * fitted if len(search.layers) == length else 0.0
            effort = self.characters[index].effort
            more = 2 * length * (effort.count_passes(number, search.nominal) + search.tries - 1 - effort.usual_passes)
        elif self.waiting:
            count += length * (2 * sum(passes[: self.waiting[0]]) + fitted)
        total = self.fragments * each + more
        return (total if self.done else int(count)), total

    def run(self, on_progress: Callable[["StageRollout"], None]) -> None:
        """Go on to the end; ``on_progress`` is called whenever something more is done."""
        while not self.done:
            self.advance(on_progress)

    def advance(self, on_progress: Callable[["StageRollout"], None]) -> None:
        """Go on by one fragment, or by a whole section where nothing can happen that its plan does not know of."""
        at = len(self.offsets)
        stop = min((at // SECTION + 1) * SECTION, self.fragments)
        if at % SECTION == 0 and self.planning is None and not self.waiting and self._plans_end(at):
            self.waiting = [i for i, one in enumerate(self.characters) if one.relaxation is None]
        self._let_rise(at)
        self._plan(at, stop, on_progress)
        if self.foreseeable and self.characters[0].relaxation is None:
            self._adopt(self.characters[0])
        else:
            self._play(at, stop)
        on_progress(self)

    def _let_rise(self, at: int) -> None:
        """Let everybody get up who lies and can."""
        for index, character in enumerate(self.characters):
            if (get_up := character.plan_get_up(at, self.pose_of(index))) is not None:
                character.get_up(get_up)
                self.waiting.append(index)

    def _plans_end(self, at: int) -> bool:
        """Whether the plans are used up, or there never were any."""
        trajectories = [character.trajectory for character in self.characters]
        return all(trajectory is None or trajectory.first + len(trajectory) <= at for trajectory in trajectories)

    def _plan(self, at: int, stop: int, on_progress: Callable[["StageRollout"], None]) -> None:
        """Let every character that waits for it make a plan."""
        while self.waiting:
            index = self.waiting[0]
            character = self.characters[index]
            task = character.task(at, stop, self.pose_of(index), self._before(index))
            begun = self.planning[1:] if self.planning is not None else None

            def on_fragment(number: int, search: SamconSearch, index: int = index) -> None:
                self.planning = (index, number, search)
                on_progress(self)

            character.follow_plan(character.planner.plan(task, on_fragment, begun, character.planned))
            self.planning = None
            self.waiting.pop(0)

    def _adopt(self, character: StageCharacter) -> None:
        """What is planned is what happens, up to where the character lets go."""
        trajectory = character.trajectory
        assert trajectory is not None
        lost = self._find_loss(character, trajectory) if character.lets_go else None
        if lost is not None:
            self.start_states += list(trajectory.starts[: lost + 1])
            self.offsets += list(trajectory.offsets[: lost + 1])
            self.state = trajectory.ends[lost]
            character.let_go(len(self.offsets), self.pose_of(0))
            return
        self.start_states += list(trajectory.starts)
        self.offsets += list(trajectory.offsets)
        self.state = trajectory.ends[-1]
        frame = int(character.reference.frames_of(trajectory.first + len(trajectory) - 1)[-1])
        error = character.tracking_error.state_error(
            *character.world.pose_of(self.state[None]), frame, trajectory.anchors[-1:]
        )
        character.anchor = shift_anchors(trajectory.anchors[-1:], error)[0]

    def _find_loss(self, character: StageCharacter, trajectory: Trajectory) -> int | None:
        """The fragment of a plan at whose end the character has been lost for too long, counted from its first."""
        rows = read_sensors(character.world, trajectory.ends)
        fragments = trajectory.first + np.arange(len(trajectory))
        return character.watch.see(fragments, rows.link_pos[0], rows.link_quat_wxyz[0])

    def _play(self, at: int, stop: int) -> None:
        """One fragment in the whole world."""
        poses = [self.pose_of(index) for index in range(len(self.characters))]
        before = [self._before(index) for index in range(len(self.characters))]
        asked = np.concatenate(
            [one.offsets(at, stop, pose, last) for one, pose, last in zip(self.characters, poses, before, strict=True)]
        )
        states, rows = self.roll_out_fragments(
            np.array([at]), self.state[None], np.concatenate(before)[None], asked[None]
        )
        self.start_states.append(self.state)
        self.offsets.append(asked)
        self.state = states[0, -1]
        for index, character in enumerate(self.characters):
            pose = self.pose_of(index)
            if character.observe(at, pose) and at + 1 < stop:
                self.waiting.append(index)
            if character.lets_go and character.relaxation is None and self._is_lost(character, index, at, rows):
                character.let_go(at + 1, pose)
                self.waiting = [waits for waits in self.waiting if waits != index]

    def _is_lost(self, character: StageCharacter, index: int, at: int, rows: SensorRows) -> bool:
        """Whether a character has been lost for too long at the end of the fragment of which these are the rows."""
        where = character_offsets(self.stage)["links"]
        own = slice(where[index], where[index + 1])
        places = rows.link_pos[:1, -1, own], rows.link_quat_wxyz[:1, -1, own]
        return character.watch.see(np.array([at]), *places) is not None

    def pose_of(self, index: int) -> tuple[Array, Array]:
        """(nq,) and (nv,) of a character now."""
        where = character_offsets(self.stage)
        qpos, qvel = self.world.pose_of(self.state)
        return qpos[where["nq"][index] : where["nq"][index + 1]], qvel[where["nv"][index] : where["nv"][index + 1]]

    def _before(self, index: int) -> Array:
        """(nu,) the offsets of a character in the last fragment that was done."""
        where = character_offsets(self.stage)["nu"]
        own = slice(where[index], where[index + 1])
        return np.asarray(self.offsets[-1][own]) if self.offsets else np.zeros(where[index + 1] - where[index])

    def targets(self, fragments: Indices, before: Array, offsets: Array) -> Array:
        """(N, FRAGMENT_STEPS, sum nu) of fragments (N,) with offsets (N, sum nu) after those before them."""
        where = character_offsets(self.stage)["nu"]
        return np.concatenate(
            [
                one.servo_targets(fragments, before[:, first:last], offsets[:, first:last])
                for one, first, last in zip(self.characters, where[:-1], where[1:], strict=True)
            ],
            axis=-1,
        )

    def roll_out_fragments(
        self, fragments: Indices, states: Array, before: Array, offsets: Array
    ) -> tuple[Array, SensorRows]:
        """Fragments (n,) simulated in the whole world from states (n, state_size): states (n, steps, …) and rows."""
        copies = self.world.copies
        strength = self.characters[0].strength(fragments)
        if any(one.times_limp for one in self.characters):
            strength = np.stack([one.strength(fragments) for one in self.characters], axis=-1)
        return roll_out(
            self.world,
            pad_batch(states, copies),
            pad_batch(self.targets(fragments, before, offsets), copies),
            pad_batch(strength, copies),
        )
