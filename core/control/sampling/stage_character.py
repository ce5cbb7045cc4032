# SPDX-License-Identifier: GPL-3.0-or-later
"""One character on the stage: it plans in a world where nothing unforeseen happens, and reacts where something did."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...array_cache import ArrayCache, compute_digest
from ...body import BodyModel
from ...body.four_legs import find_front_feet
from ...geometry.quaternions import Array
from ...motion import Clip
from ...sim.engine import World
from ..tracking.reference import CONTROL_FPS, FRAGMENT_STEPS, Reference
from ..tracking.tracking_error import TrackingError
from .fragment_samples import Indices, Trajectory
from .getting_up import MOST_GET_UPS, REST_FRAGMENTS, GetUp, GetUpPlanner
from .plan import EXPLORE, SHARED, Planner, PlanTask, SearchEffort
from .relaxing import LossWatch, Relaxation
from .search import SamconSearch, SearchProblem, shift_anchors

# Shaking the head does not help to stand, and arms little, unless they are front legs.
_NOISE = {"head": 0.1, "hand": 0.1, "forearm": 0.25, "upper_arm": 0.25, "tail": 0.3}
# A pose that is this far from the expected one, in metres or radians, was disturbed.
_DISTURBED = 2e-3
_UNDISTURBED = 3  # fragments that go as expected, before a new plan is worth making
_AHEAD = 3  # fragments that a reaction looks ahead by trying, besides the LQR feedback
_HASTE = 2
REACT = 99
"""Stands for the number of the pass in reactions."""


@dataclass(eq=False)
class StageCharacter:
    """A character with its own world, in which only ground, terrain and obstacles are; N copies.

    about: a digest of reference, stage and engine, for what is kept from take to take; '' to keep nothing.
    trajectory: the plan it follows; None while it reacts. planned: that of before, while it reacts; None where it leads
    nowhere any more. anchor: (2,) metres by which its reference is moved.
    undisturbed: how many fragments went as expected. expected: (nq,) the pose at the end of the fragment under way.
    relaxation: since it has let go; None as long as it follows its source. lets_go: whether it does when it is lost.
    rises: plans how it gets up again, None where it shall not; get_ups: those it has begun, and relaxations: as many,
    in which it lay before. wanted: the reference that it was to follow from the beginning.
    poll_cancel: called while linear models are fitted, which takes seconds.
    """

    source: Clip
    reference: Reference
    world: World
    effort: SearchEffort
    seed: tuple[int, ...]
    about: str = ""
    trajectory: Trajectory | None = None
    planned: Trajectory | None = None
    anchor: Array = field(default_factory=lambda: np.zeros(2))
    undisturbed: int = 0
    expected: Array | None = None
    relaxation: Relaxation | None = None
    lets_go: bool = True
    rises: GetUpPlanner | None = None
    get_ups: list[GetUp] = field(default_factory=list)
    relaxations: list[Relaxation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.noise = compute_noise_scale(self.body)
        self.wanted = self.reference
        self.poll_cancel: Callable[[], None] | None = None
        self._track()

    def _track(self) -> None:
        """Follow the reference as it is now."""
        self.tracking_error = TrackingError(self.reference)
        self.watch = LossWatch(self.reference)
        about = self.about
        if about and self.get_ups:
            about = compute_digest(about, self.reference.qpos)
        cache = ArrayCache("plans") if about else None
        self.planner = Planner(self.tracking_error, self.problem, self.effort, cache, about, self.seed)
        self.planner.poll_cancel = lambda: self.poll_cancel() if self.poll_cancel is not None else None

    @property
    def body(self) -> BodyModel:
        """What it simulates."""
        return self.reference.body

    def problem(self, number: int) -> SearchProblem:
        """The search problem of pass ``number``.

        Models are the same with every seed, and so is a shared first pass: another take of the same source need not
        find them again.
        """
        spread = self.effort.spread_of(0 if number == REACT else number)

        def random(*what: int) -> np.random.Generator:
            seed = (0, self.seed[-1]) if what[0] == EXPLORE or number == SHARED else self.seed
            return np.random.default_rng([*seed, number, *what])

        noise, improves = spread * self.noise, self.effort.improves
        return SearchProblem(
            self.world,
            self.tracking_error,
            noise,
            random,
            shares_models=True,
            improves=improves,
            homing_m=self.effort.homing_m,
        )

    def task(self, fragment: int, stop: int, pose: tuple[Array, Array], before: Array) -> PlanTask:
        """The plan to be made; before: (nu,) the offsets that led to the pose."""
        return PlanTask(fragment, stop, self._state(fragment, pose), self.anchor, before)

    def follow_plan(self, trajectory: Trajectory) -> None:
        """Do as planned from now on."""
        self.trajectory, self.planned, self.undisturbed = trajectory, None, _UNDISTURBED

    def offsets(self, fragment: int, stop: int, pose: tuple[Array, Array], before: Array) -> Array:
        """(nu,) radians for a fragment, as planned, or of a short search from where the character is.

        before: (nu,) those of the fragment before.
        """
        if self.relaxation is not None:
            return np.zeros(self.body.nu)
        if self.trajectory is not None:
            at = fragment - self.trajectory.first
            self.expected = self.world.pose_of(self.trajectory.ends[at])[0]
            return np.asarray(self.trajectory.offsets[at])
        search = self._reaction(fragment, min(fragment + _AHEAD, stop), pose, before)
        while not search.done:
            search.advance()
        trajectory = search.best_trajectory()
        self.expected = self.world.pose_of(trajectory.ends[0])[0]
        return np.asarray(trajectory.offsets[0])

    def observe(self, fragment: int, pose: tuple[Array, Array]) -> bool:
        """Compare where the fragment has led to with the plan; whether it is time for a new one."""
        if self.relaxation is not None:
            return False
        frame = int(self.reference.frames_of(fragment)[-1])
        error = self.tracking_error.state_error(pose[0][None], pose[1][None], frame, self.anchor[None])
        self.anchor = shift_anchors(self.anchor[None], error, self.effort.homing_m)[0]
        assert self.expected is not None
        off = np.abs(self.reference.space.difference(self.expected, pose[0])).max()
        if not off < _DISTURBED:
            self.planned = self.planned if self.trajectory is None else self.trajectory
            self.trajectory, self.undisturbed = None, 0
            return False
        self.undisturbed += 1
        return self.trajectory is None and self.undisturbed >= _UNDISTURBED

    def let_go(self, first: int, pose: tuple[Array, Array]) -> None:
        """Follow nothing from fragment ``first`` on."""
        self.relaxation, self.trajectory, self.planned = self.watch.relax(first, pose[0]), None, None

    def plan_get_up(self, fragment: int, pose: tuple[Array, Array]) -> GetUp | None:
        """How it gets up now that it lies; None where it does not lie, may not or cannot yet."""
        if self.rises is None or self.relaxation is None or len(self.get_ups) == MOST_GET_UPS:
            return None
        rested = fragment >= self.relaxation.first + REST_FRAGMENTS
        return self.rises.plan(fragment, pose) if rested else None

    def get_up(self, get_up: GetUp) -> None:
        """Follow a way up and then the source again; needs a new plan."""
        assert self.rises is not None and self.relaxation is not None
        self.relaxations.append(replace(self.relaxation, stop=get_up.first))
        self.get_ups.append(get_up)
        self.relaxation, self.trajectory, self.anchor = None, None, np.zeros(2)
        self.reference = self.rises.make_reference(self.reference, get_up, self.world)
        self._track()

    def describe_rising(self, begin_s: float) -> str:
        """What became of it after it let go, in plain words; '' where it never did or was not to get up.

        begin_s: what the clip's first frame is at.
        """
        if self.rises is None or not self.times_limp:
            return ""
        if self.relaxation is not None:
            tried = f"got up {len(self.get_ups)} times and fell again" if len(self.get_ups) > 1 else "fell again"
            why = self.rises.why_not or "its source does not stand again long enough"
            return f"It {tried} and stays down" if self.get_ups else f"It stays down: {why}"
        return f"It begins to get up at {begin_s + self.get_ups[-1].first * FRAGMENT_STEPS / CONTROL_FPS:.1f} s"

    def repeat_get_ups(self, known: Sequence[tuple[Relaxation, GetUp]]) -> None:
        """Be as after having lain and got up so and no otherwise, as a checkpoint has it."""
        if known or self.get_ups:
            self.reference, self.get_ups, self.relaxations = self.wanted, [], []
            self._track()
        for relaxation, get_up in known:
            self.relaxation = relaxation
            self.get_up(get_up)

    @property
    def times_limp(self) -> list[Relaxation]:
        """Every time that it lay and followed nothing, in order."""
        return self.relaxations if self.relaxation is None else [*self.relaxations, self.relaxation]

    def servo_targets(self, fragments: Indices, before: Array, offsets: Array) -> Array:
        """(N, FRAGMENT_STEPS, nu) as ``Reference.servo_targets`` says, and what it holds since it let go."""
        targets = self.reference.servo_targets(fragments, before, offsets)
        for relaxation in self.times_limp:
            targets[relaxation.started(fragments)] = relaxation.targets
        return targets

    def strength(self, fragments: Indices) -> Array:
        """(N, FRAGMENT_STEPS) share of its strength in fragments (N,), as keyed, and less since it let go."""
        keyed = self.reference.muscle[self.reference.frames_of_many(fragments)]
        for relaxation in self.times_limp:
            keyed = keyed * relaxation.strength(fragments)
        return keyed

    def strength_at_frames(self) -> Array:
        """(T,) the same at the reference's frames."""
        muscle = self.reference.muscle
        for relaxation in self.times_limp:
            steps = relaxation.strength(np.arange(self.reference.fragments)).ravel()
            muscle = muscle * np.concatenate([steps[:1], steps])[: len(muscle)]
        return muscle

    def _reaction(self, fragment: int, stop: int, pose: tuple[Array, Array], before: Array) -> SamconSearch:
        lqr, first = self.planner.lqr_at(fragment)
        state = self._state(fragment, pose)
        search = SamconSearch(
            self.problem(REACT), lqr.since(fragment - first), fragment, stop, state, self.anchor, before
        )
        # There is no going back, so look as widely at once as for a second retry.
        search.retries[:], search.retry_budget, search.hasty = _HASTE, 0, True
        return search

    def _state(self, fragment: int, pose: tuple[Array, Array]) -> Array:
        """(state_size,) of the own world."""
        qpos, qvel = (np.tile(part, (self.world.copies, 1)) for part in pose)
        return np.asarray(self.world.state_of(qpos, qvel, fragment * FRAGMENT_STEPS / CONTROL_FPS)[0])


def compute_noise_scale(body: BodyModel) -> Array:
    """(nu,) how much of the spread each degree of freedom gets."""
    noise = _NOISE
    if len(find_front_feet(body)):
        noise = {role: share for role, share in _NOISE.items() if role not in ("upper_arm", "forearm", "hand")}
    pairs = zip(body.links[1:], body.joint_roles[1:], strict=True)
    return np.concatenate([np.full(link.joint.dofs, noise.get(role, 1.0)) for link, role in pairs])
