# SPDX-License-Identifier: GPL-3.0-or-later
"""A character on a plan, one control step after the other: offsets as planned, and linear feedback around them.

For who needs a take that answers at once. A plan of sampling control is looked for as for a take, on a stage where
nothing unforeseen happens; what does happen is met by the gains of the LQR solution (control graphs, section 5.2).
"""

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

import numpy as np

from ...geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, to_rotation_vector
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

# A search for what to do must be done before it is needed: with so few copies, so many fragments ahead, a core takes a
# third of the time that the fragment lasts.
_COPIES, _AHEAD = 32, 3
_DISTURBED = 0.03  # metres or radians off the plan that feedback alone does not bring back well
# Noise as wide as that of so many retries, for who is further off than that. Near the plan it would only disturb: a
# walk that has gone round often falls over that, and so it does by feedback alone.
_THROWN, _WIDTH = 0.25, 2
_LEAST_STRENGTH = 0.5
_SHORTEST_S, _LONGEST_S, _FEWEST_ROUNDS = 4.0, 10.0, 3
_WHOLE = 0.6  # frames that rounds may be off whole fragments
_LEANS_RAD = 0.1  # from the end of a round to its beginning: more is another pose
_FAR = 0.4  # metres or radians off, of any joint, below which nobody has toppled


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

    turn, way: radians about Z and metres (2,) by which rounds that are over have turned and moved the reference.
    astray: fragments on end in which it had toppled. lost: it has toppled for too long, and follows nothing any more.
    """

    frame: int
    anchor: Array
    turn: float
    way: Array
    before: Array
    offsets: Array
    astray: int = 0
    lost: bool = False


class PlanFollower:
    """A character that follows a plan from its beginning. moment: all that it knows.

    trials: a world of its own with N copies, in which it looks for what to do when it was thrown off its plan; None to
    leave that to feedback. again: two frames of what goes round, from the second of which it goes on with the first;
    None for what ends.
    """

    def __init__(
        self, followed: FollowedPlan, trials: World | None = None, again: tuple[int, int] | None = None
    ) -> None:
        self.plan, self.trials, self.again = followed, trials, again
        self.frames = len(followed.reference.states)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Be at the beginning."""
        nothing = np.zeros(self.plan.offsets.shape[1])
        self.moment = FollowerMoment(0, np.zeros(2), 0.0, np.zeros(2), nothing, nothing)

    @property
    def is_over(self) -> bool:
        """Whether the plan has no more frames."""
        return self.again is None and self.moment.frame + 1 >= self.frames

    def choose_targets(self, qpos: Array, qvel: Array, strength: float = 1.0) -> Array:
        """(nu,) servo targets for the next control step from a pose (nq,) and its velocity (nv,).

        strength: the share that it has; with little of it nothing is looked for.
        """
        now, plan_, step = self.moment, self.plan, self.moment.frame % FRAGMENT_STEPS
        if step == 0:
            qpos, qvel = self._as_planned(qpos, qvel)
            fragment = min(now.frame // FRAGMENT_STEPS, len(plan_.offsets) - 1)
            frame = min(now.frame, self.frames - 1)
            error = plan_.character.tracking_error.state_error(qpos[None], qvel[None], frame, now.anchor[None])[0]
            away = error - plan_.errors[fragment]
            change = plan_.gains[fragment] @ away
            offsets = np.clip(plan_.offsets[fragment] + change, -MAX_OFFSET, MAX_OFFSET)
            if self._should_search(off := float(np.abs(away[: len(away) // 2]).max()), strength):
                offsets = self._search(fragment, qpos, qvel, offsets, _WIDTH if off > _THROWN else 0)
            now = self.moment = replace(now, before=now.offsets, offsets=offsets)
        eased = now.before + EASE[step] * (now.offsets - now.before)
        return np.asarray(plan_.reference.targets[min(now.frame + 1, self.frames - 1)] + eased)

    def _should_search(self, off: float, strength: float) -> bool:
        """Whether a body that is so far off its plan is further off than feedback is good for."""
        enough = strength > _LEAST_STRENGTH and not self.moment.lost
        return self.trials is not None and enough and off > _DISTURBED

    def _search(self, fragment: int, qpos: Array, qvel: Array, offsets: Array, width: int) -> Array:
        """(nu,) the best offsets of a short search from this pose, among which are those of the feedback (nu,).

        width: of the noise, in retries.
        """
        world, character, now = self.trials, self.plan.character, self.moment
        assert world is not None
        lqr, first = character.planner.lqr_at(fragment)
        poses, rates = (np.tile(part, (world.copies, 1)) for part in (qpos, qvel))
        state = np.asarray(world.state_of(poses, rates, fragment * FRAGMENT_STEPS / CONTROL_FPS)[0])
        stop = min(fragment + _AHEAD, len(self.plan.offsets))
        problem = replace(character.problem(REACT), world=world, improves=False)
        ahead = np.concatenate([offsets[None], self.plan.offsets[fragment + 1 : stop]])
        unknown = np.zeros((len(ahead), 1))
        known = Trajectory(fragment, unknown, ahead, unknown, unknown, unknown[:, 0])
        search = SamconSearch(
            problem, lqr.since(fragment - first), fragment, stop, state, now.anchor, now.offsets, known
        )
        search.retries[:], search.retry_budget = width, 0
        search.hasty = True
        while not search.done:
            search.advance()
        return np.asarray(search.best_trajectory().offsets[0])

    def pass_step(self, qpos: Array, qvel: Array, link_pos: Array, link_quat_wxyz: Array) -> None:
        """A control step has led to this pose, with links (L, 3), (L, 4): be a frame further.

        A body that was moved is followed from where it is.
        """
        now = self.moment
        frame = now.frame + 1
        if frame % FRAGMENT_STEPS == 0:
            seen_q, seen_v = self._as_planned(qpos, qvel)
            error = self.plan.character.tracking_error.state_error(
                seen_q[None], seen_v[None], min(frame, self.frames - 1), now.anchor[None]
            )
            now = self._watch(frame // FRAGMENT_STEPS - 1, error[0], link_pos, link_quat_wxyz)
            now = replace(now, anchor=shift_anchors(now.anchor[None], error)[0])
        if self.again is not None and frame >= self.again[1]:
            now, frame = self._go_round(now, *self.again), frame - (self.again[1] - self.again[0])
        self.moment = replace(now, frame=frame)

    def rejoin(self, frame: int, turn: float, way: Array) -> None:
        """Be at a frame where a fragment begins, with the reference turned about Z and moved (2,) by so much."""
        nothing = np.zeros(self.plan.offsets.shape[1])
        self.moment = FollowerMoment(frame, np.zeros(2), turn, way, nothing, nothing)

    def _go_round(self, now: FollowerMoment, begin: int, end: int) -> FollowerMoment:
        """The reference from frame ``begin`` on, placed and turned as it is in frame ``end``."""
        first, last = self.plan.reference.qpos[[begin, end]]
        turn = now.turn + float(_turn_of(first, last)[2])
        # The anchor stays as it is seen from the reference.
        way = now.way + _turned(now.turn, last[:2]) - _turned(turn, first[:2])
        anchor = _turned(now.turn - turn, now.anchor)
        return replace(now, turn=turn, way=way, anchor=anchor)

    def _as_planned(self, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """A pose (nq,) and its velocity (nv,) as seen from the reference, which rounds have turned and moved."""
        now = self.moment
        if now.turn == 0.0 and not now.way.any():
            return qpos, qvel
        qpos, qvel = qpos.copy(), qvel.copy()
        qpos[:2] = _turned(-now.turn, qpos[:2] - now.way)
        qpos[3:7] = multiply(from_rotation_vector(np.array([0.0, 0.0, -now.turn])), qpos[3:7])
        qvel[:2] = _turned(-now.turn, qvel[:2])
        return qpos, qvel

    def _watch(self, fragment: int, error: Array, link_pos: Array, link_quat_wxyz: Array) -> FollowerMoment:
        """Whether it has toppled for good, as takes do; only looked for where it is far off."""
        watch, now = self.plan.character.watch, self.moment
        if now.lost or fragment >= len(self.plan.offsets) or np.abs(error[: len(error) // 2]).max() < _FAR:
            return now if now.lost else replace(now, astray=0)
        watch.astray = now.astray
        found = watch.see(np.array([fragment]), link_pos[None], link_quat_wxyz[None])
        return replace(now, astray=watch.astray, lost=found is not None)


def _turned(angle: float, place: Array) -> Array:
    """(2,) a place turned about the origin."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([cosine * place[0] - sine * place[1], sine * place[0] + cosine * place[1]])


def _turn_of(before: Array, after: Array) -> Array:
    """(3,) rotation vector from the root of a pose (nq,) to that of another."""
    between = multiply(after[3:7], conjugate(before[3:7]))
    return np.asarray(to_rotation_vector(between if between[0] >= 0.0 else -between))


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
        # What stands in the way of one round is not in the way of the next.
        alike = not stage.obstacles and stage.terrain is None
        again = _find_round(character.reference, rounds) if goes_round and alike else None
        followers.append(PlanFollower(followed, trials, again))
        done += character.reference.fragments
    return stage, tuple(followers)


def _count_rounds(clip: Clip) -> int:
    """How often a cycle is played for a plan of going on and on; 1 for what is none."""
    if not is_cyclic(clip):
        return 1
    each_s = max(clip.duration_s, 1e-3)
    fewest = max(_FEWEST_ROUNDS, int(np.ceil(_SHORTEST_S / each_s)))
    most = max(fewest, int(_LONGEST_S / each_s))
    return _count_repeated(each_s * CONTROL_FPS, fewest - 2, most - 2) + 2


def _count_repeated(each: float, fewest: int, most: int) -> int:
    """How many rounds of so many frames are gone through again and again: the fewest that are whole fragments.

    A fragment that were begun amid another one would go on with that one's offsets, and fall over it sooner or later.
    """
    counts = np.arange(fewest, most + 1)
    off = np.abs(counts * each - FRAGMENT_STEPS * np.round(counts * each / FRAGMENT_STEPS))
    return int(counts[np.argmax(off < _WHOLE) if (off < _WHOLE).any() else np.argmin(off)])


def _find_round(reference: Reference, rounds: int) -> tuple[int, int] | None:
    """Two frames after the first of so many rounds and before the last one, which are alike; None where there are none.

    Both are where fragments begin. The last round is only what the plan looks ahead to: near its end a plan does not
    care what comes after.
    """
    if rounds < _FEWEST_ROUNDS:
        return None
    each = (len(reference.qpos) - 1) / rounds
    count = _count_repeated(each, 1, rounds - 2)
    first = FRAGMENT_STEPS * int(np.ceil(each / FRAGMENT_STEPS))
    last = first + FRAGMENT_STEPS * round(count * each / FRAGMENT_STEPS)
    leans = _turn_of(reference.qpos[first], reference.qpos[last])[:2]
    return (first, last) if float(np.linalg.norm(leans)) < _LEANS_RAD else None


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
