# SPDX-License-Identifier: GPL-3.0-or-later
"""A character on a plan, one control step after the other: offsets as planned, and linear feedback around them.

For who needs a take that answers at once. A plan of sampling control is looked for as for a take, on a stage where
nothing unforeseen happens; what does happen is met by the gains of the LQR solution (control graphs, section 5.2).
"""

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

import numpy as np

from ...geometry.quaternions import Array, conjugate, multiply, to_rotation_vector
from ...motion import Clip
from ...motion.loops import is_cyclic, loop_clip
from ...sim import engines
from ...sim.engine import World
from ...sim.stage import Stage
from ..cast import load_cast
from ..method import Run
from ..tracking.lqr import MAX_OFFSET
from ..tracking.reference import CONTROL_FPS, EASE, FRAGMENT_STEPS, Reference
from . import plan
from .fragment_samples import Trajectory
from .method import EFFORTS, SamplingSettings, begin_rollout, prepare_stage
from .plan import PlanTask
from .search import SamconSearch, shift_anchors
from .stage_character import REACT, StageCharacter

# A search for what to do must be done before it is needed: with so few copies, so many fragments ahead, and noise as
# wide as that of so many retries, two cores take a third of the time that the fragment lasts.
_COPIES, _AHEAD, _WIDTH = 16, 2, 2
_DISTURBED = 0.02  # metres or radians off the plan that feedback alone does not bring back well
_LEAST_STRENGTH = 0.5
_SHORTEST_S, _FEWEST_ROUNDS = 4.0, 3
_TURNED_RAD = 0.1  # what turns by more in a round cannot simply be moved


@dataclass(frozen=True, eq=False)
class FollowedPlan:
    """What a character follows: F fragments of offsets (F, nu), gains (F, nu, nx) and the errors (F, nx) on the plan.

    source: what riders and merged bones go on with.
    """

    source: Clip
    character: StageCharacter
    offsets: Array
    gains: Array
    errors: Array

    @property
    def reference(self) -> Reference:
        """The motion that was planned for."""
        return self.character.reference


@dataclass(frozen=True, eq=False)
class FollowerMoment:
    """Where a follower is: frame of the reference, anchor (2,), and offsets (nu,) of this fragment and the last.

    way: (2,) metres that rounds have gone which are over. astray: fragments on end in which it had toppled.
    lost: it has toppled for too long, and follows nothing any more.
    """

    frame: int
    anchor: Array
    way: Array
    before: Array
    offsets: Array
    astray: int = 0
    lost: bool = False


class PlanFollower:
    """A character that follows a plan from its beginning. moment: all that it knows.

    trials: a world of its own with N copies, in which it looks for what to do when it was thrown off its plan; None to
    leave that to feedback. round_from: the frame that the last one is equal to, of what goes round; None for what ends.
    """

    def __init__(self, followed: FollowedPlan, trials: World | None = None, round_from: int | None = None) -> None:
        self.plan, self.trials, self.round_from = followed, trials, round_from
        self.frames = len(followed.reference.states)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Be at the beginning."""
        nothing = np.zeros(self.plan.offsets.shape[1])
        self.moment = FollowerMoment(0, np.zeros(2), np.zeros(2), nothing, nothing)

    @property
    def is_over(self) -> bool:
        """Whether the plan has no more frames."""
        return self.round_from is None and self.moment.frame + 1 >= self.frames

    def choose_targets(self, qpos: Array, qvel: Array, strength: float = 1.0) -> Array:
        """(nu,) servo targets for the next control step from a pose (nq,) and its velocity (nv,).

        strength: the share that it has; with little of it nothing is looked for.
        """
        now, plan_, step = self.moment, self.plan, self.moment.frame % FRAGMENT_STEPS
        if step == 0:
            fragment = min(now.frame // FRAGMENT_STEPS, len(plan_.offsets) - 1)
            frame = min(now.frame, self.frames - 1)
            error = plan_.character.tracking_error.state_error(qpos[None], qvel[None], frame, now.anchor[None])[0]
            away = error - plan_.errors[fragment]
            if self._should_search(away, strength):
                offsets = self._search(fragment, qpos, qvel)
            else:
                change = plan_.gains[fragment] @ away
                offsets = np.clip(plan_.offsets[fragment] + change, -MAX_OFFSET, MAX_OFFSET)
            now = self.moment = replace(now, before=now.offsets, offsets=offsets)
        eased = now.before + EASE[step] * (now.offsets - now.before)
        return np.asarray(plan_.reference.targets[min(now.frame + 1, self.frames - 1)] + eased)

    def _should_search(self, away: Array, strength: float) -> bool:
        """Whether a body with errors (nx,) off its plan is further off than feedback is good for."""
        enough = strength > _LEAST_STRENGTH and not self.moment.lost
        return self.trials is not None and enough and bool(np.abs(away[: len(away) // 2]).max() > _DISTURBED)

    def _search(self, fragment: int, qpos: Array, qvel: Array) -> Array:
        """(nu,) the offsets that a short search from this pose finds for a fragment."""
        world, character, now = self.trials, self.plan.character, self.moment
        assert world is not None
        lqr, first = character.planner.lqr_at(fragment)
        poses, rates = (np.tile(part, (world.copies, 1)) for part in (qpos, qvel))
        state = np.asarray(world.state_of(poses, rates, fragment * FRAGMENT_STEPS / CONTROL_FPS)[0])
        stop = min(fragment + _AHEAD, len(self.plan.offsets))
        problem = replace(character.problem(REACT), world=world)
        search = SamconSearch(problem, lqr.since(fragment - first), fragment, stop, state, now.anchor, now.offsets)
        search.retries[:], search.retry_budget = _WIDTH, 0
        search.hasty = True
        while not search.done:
            search.advance()
        return np.asarray(search.best_trajectory().offsets[0])

    def pass_step(self, qpos: Array, qvel: Array, link_pos: Array, link_quat_wxyz: Array) -> None:
        """A control step has led to this pose, with links (L, 3), (L, 4): be a frame further.

        A body that was moved is followed from where it is.
        """
        frame, anchor, way = self.moment.frame + 1, self.moment.anchor, self.moment.way
        if frame % FRAGMENT_STEPS == 0:
            error = self.plan.character.tracking_error.state_error(
                qpos[None], qvel[None], min(frame, self.frames - 1), anchor[None]
            )
            anchor = shift_anchors(anchor[None], error)[0]
            self._watch(frame // FRAGMENT_STEPS - 1, link_pos, link_quat_wxyz)
        if frame + 1 >= self.frames and self.round_from is not None:
            places = self.plan.reference.qpos[:, :2]
            step = places[self.frames - 1] - places[self.round_from]
            frame, anchor, way = frame - (self.frames - 1 - self.round_from), anchor + step, way + step
        self.moment = replace(self.moment, frame=frame, anchor=anchor, way=way)

    def _watch(self, fragment: int, link_pos: Array, link_quat_wxyz: Array) -> None:
        """Note whether it has toppled for good, as takes do."""
        watch, now = self.plan.character.watch, self.moment
        if now.lost or fragment >= len(self.plan.offsets):
            return
        watch.astray = now.astray
        found = watch.see(np.array([fragment]), link_pos[None], link_quat_wxyz[None])
        self.moment = replace(now, astray=watch.astray, lost=found is not None)


def prepare_followers(
    clip: Clip, settings: SamplingSettings, run: Run, opened: ExitStack, *, goes_round: bool = True
) -> tuple[Stage, tuple[PlanFollower, ...]]:
    """The job's stage, and everybody on it with a plan; worlds are closed with ``opened``.

    goes_round: a cycle is gone through over and over. What other takes of the same source have found out already is
    used (``core/array_cache.py``).
    """
    seed = int(run.rng.integers(2**62))
    rounds = _count_rounds(clip) if goes_round and not load_cast(run) else 1
    stage, sources, _, _, played, _ = prepare_stage(loop_clip(clip, rounds), settings, run)
    rounds = rounds if played is None else played.cycles
    rollout = begin_rollout(stage, sources, None, EFFORTS[settings.quality], seed, run, opened)
    fragments = sum(one.reference.fragments for one in rollout.characters)
    done = 0

    def tell(planned: int) -> None:
        run.progress(min(done + planned, fragments), fragments, doing="Getting ready")

    followers = []
    for character in rollout.characters:
        character.poll_cancel = lambda: tell(0)
        followed = _follow_plan(character, tell)
        alone = replace(character.world.stage, props=(), pushes=())
        trials = opened.enter_context(closing(engines.get_engine(run.engine).compile(alone, _COPIES)))
        again = _find_round(character.reference, rounds) if goes_round else None
        followers.append(PlanFollower(followed, trials, again))
        done += character.reference.fragments
    return stage, tuple(followers)


def _count_rounds(clip: Clip) -> int:
    """How often a cycle is played for a plan of going on and on; 1 for what is none."""
    if not is_cyclic(clip):
        return 1
    return max(_FEWEST_ROUNDS, int(np.ceil(_SHORTEST_S / max(clip.duration_s, 1e-3))))


def _find_round(reference: Reference, rounds: int) -> int | None:
    """The frame after the first of so many rounds, which the last frame is equal to; None where it goes elsewhere."""
    if rounds < 2:
        return None
    last = len(reference.qpos) - 1
    first = round(last / rounds)
    between = multiply(reference.qpos[last, 3:7], conjugate(reference.qpos[first, 3:7]))
    return first if float(np.linalg.norm(to_rotation_vector(between))) < _TURNED_RAD else None


def _follow_plan(character: StageCharacter, tell: Callable[[int], None]) -> FollowedPlan:
    """Plan the whole of a character's clip, section by section."""
    reference, planner, error = character.reference, character.planner, character.tracking_error
    start, anchor, before = reference.states[0], np.zeros(2), np.zeros(error.nu)
    sections: list[Trajectory] = []
    gains = []
    for first in range(0, reference.fragments, plan.SECTION):
        stop = min(first + plan.SECTION, reference.fragments)
        task = PlanTask(first, stop, start, anchor, before)

        def on_fragment(_: int, search: SamconSearch, first: int = first) -> None:
            tell(first + len(search.layers))

        section = planner.plan(task, on_fragment)
        lqr, begin = planner.lqr_at(first)
        gains.append(lqr.gains[first - begin : stop - begin])
        start, anchor, before = section.ends[-1], section.anchors[-1], section.offsets[-1]
        sections.append(section)
    starts, offsets, anchors = (
        np.concatenate([getattr(section, name) for section in sections]) for name in ("starts", "offsets", "anchors")
    )
    frames = reference.frame_before(np.arange(reference.fragments))
    errors = error.state_error(*character.world.pose_of(starts), frames, anchors)
    return FollowedPlan(character.source, character, offsets, np.concatenate(gains), errors)
