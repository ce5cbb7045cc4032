# SPDX-License-Identifier: GPL-3.0-or-later
"""SAMCON: copies sample offsets around the LQR feedback, and elites go on (control graphs, section 5.3).

Samples of a fragment are ranked by the tracking cost (equation 20) and the LQR solution's value function. A pass after
the first may improve a nominal trajectory: samples are shares of the way from it to the LQR solution around it, a line
search as of iterative LQR, with noise. Where the motion is lost, the search goes back some fragments with a sampling
distribution adapted by CMA, then with feedback linearised around the states where it failed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ...geometry.quaternions import Array
from ...motion.falling import STRAY, height_error
from ...motion.losing import LostMotionDetector
from ...sim.engine import SensorRows, World
from ..tracking.linear_dynamics import LinearModels, NominalFragments, fit_linear_models
from ..tracking.lqr import MAX_OFFSET, LqrSolution, solve_lqr
from ..tracking.model_updates import update_jacobian
from ..tracking.reference import CONTROL_FPS, Reference
from ..tracking.resampling import resample_systematically
from ..tracking.rollout import RolloutMeter, roll_out
from ..tracking.shared_models import fit_shared_models
from ..tracking.tracking_cost import CostWeights
from ..tracking.tracking_error import TrackingError
from .cost import compute_cost
from .fragment_samples import (
    FragmentSamples,
    Indices,
    SamplingDistribution,
    Trajectory,
    count_surviving_fragments,
    trace_trajectory,
)

# How much of the ranking so far still counts a fragment later, while a trajectory is sought: a lucky start must not
# outweigh a stumble now.
_MEMORY = 0.6
# How far from the nominal trajectory to the LQR solution samples go at most: the whole way is beyond where the linear
# models hold. Shares of that and of the noise are spread evenly over the samples, by golden ratios in one dimension
# and in two, so that neither goes with the other or with the parents' order.
_FURTHEST, _GOLDEN, _PLASTIC = 0.5, 0.6180339887498949, 0.7548776662466927
# A unit of the value function, in units of equation 20.
_VALUE_WEIGHT = 3.0
_ELITES, _HOPELESS = 0.2, 0.3  # of the samples: how many go on, and how many are abandoned half way
# When the best sample's height error is this large for a while, it will soon be down: earlier than a take counts as
# fallen. One that costs no more than the second by equation 20 follows a source that no body could follow more closely.
_LOST, _DEAR = 0.4 * STRAY, 5.0
# What costs no more than this by equation 20 is near its source, and need not be compared with all that it does.
_NEAR_COST = 2.0
_LIMP = 0.5  # muscle below which no body is expected to keep up
_LONG = 3  # fragments that this must last: a flight that no body could fly as captured is off for a while, too
_ASTRAY_LONG = 2  # fragments that it may be where a take counts as lost: what is over sooner is a stumble
_BACK, _RETRIES = 9, 3  # fragments to go back when lost, and how often before the shot shows it
# Of all copies, with each retry; and where there is no going back. Elites grow with them: few that go on from many
# samples are nearly the same, and are lost together.
_ROUNDS, _HASTY_ROUNDS = (1, 4, 4, 6), 2
_PATIENCE = 1.0  # how many fragments may be tried again in a pass, as a share of all: the next pass can mend it, too
_NEAR = 0.7  # distances at which models are fitted around a trajectory that failed, of the tracking error's scales
_WIDER = 0.5  # more spread with each retry
_LOOSE = 0.7  # with the last retry, how much nearer to the others' spread that of arms has come: they may help, too
# How far from its place a body may be before the reference comes along, in metres.
_REACH_M = 0.1
# Root mean square of joint rates, 0.3 s around a fragment, from which all of the noise is used; and what share of it is
# left where nothing moves.
_ACTIVE_RAD_S, _STILL, _AROUND_STEPS = 0.6, 0.15, 18

RandomStream = Callable[[int, int, int], np.random.Generator]
"""A generator for (what for, fragment, retry): the same whatever was drawn before, so that a resumed search agrees."""
SAMPLES, RELEARN = 0, 1


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """What a search is given: N copies of a world, the tracking error of its reference, and noise (nu,) radians.

    meter: counts what is simulated, if given. shares_models: whether fragments that are alike have one Jacobian.
    improves: whether a nominal trajectory is improved as a whole, and not sought anew around its LQR solution.
    homing_m: metres that anchors go back in each fragment.
    """

    world: World
    tracking_error: TrackingError
    noise: Array
    random: RandomStream
    meter: RolloutMeter | None = None
    shares_models: bool = False
    improves: bool = False
    homing_m: float = 0.0

    def fit_models(
        self,
        nominal: NominalFragments,
        scale: float,
        rng: np.random.Generator,
        poll_cancel: Callable[[], None] | None = None,
    ) -> LinearModels:
        """Linear models around nominal fragments, ``scale`` of the tracking error's scales out."""
        fit = fit_shared_models if self.shares_models else fit_linear_models
        return fit(self.world, self.tracking_error, nominal, scale, rng, poll_cancel=poll_cancel, meter=self.meter)


@dataclass(eq=False)
class SamconSearch:
    """A pass over fragments ``first`` to ``stop``, fragment by fragment; can be put aside and taken up again.

    start: (state_size,), anchor: (2,), before: (nu,) the offsets that led to the start.
    nominal: the trajectory of the pass before; it stays among the samples, so that a pass is never worse than the last.
    lqr: for fragments from ``first`` on. relearned: those for which it is no longer what the search began with.
    jacobian: (F, ny, nx + servos) of its models, which layers bring up to date; None to learn nothing.
    learned: (F, ny, nx + servos) what the pass before had learned of them, if anything.
    retries: (F,) how often each fragment was gone back to. retry_budget: how many fragments may still be tried again.
    distributions: by fragment, where it is no longer the isotropic one. hasty: there is no going back, so that all
    samples there will be are drawn at once. tries: how many first passes there were, with this one; 0 where this leads
    back to what was planned before. rival: what the best of those before found, while this is another.
    """

    problem: SearchProblem
    lqr: LqrSolution
    first: int
    stop: int
    start: Array
    anchor: Array
    before: Array
    nominal: Trajectory | None = None
    jacobian: Array | None = None
    learned: Array | None = None
    layers: list[FragmentSamples] = field(default_factory=list)
    retries: Indices = field(init=False)
    retry_budget: int = field(init=False)
    distributions: dict[int, SamplingDistribution] = field(default_factory=dict)
    relearned: set[int] = field(default_factory=set)
    hasty: bool = False
    tries: int = 1
    rival: Trajectory | None = None

    def __post_init__(self) -> None:
        self.retries = np.zeros(self.stop - self.first, dtype=np.int64)
        reference = self.problem.tracking_error.reference
        self._activity = compute_activity(reference, np.arange(self.first, self.stop))
        self.retry_budget = round(_PATIENCE * len(self.retries))
        self._detector: LostMotionDetector | None = None
        self._improved = self.nominal if self.problem.improves else None
        self._improved_errors = None if self._improved is None else self._start_errors(self._improved)

    @property
    def done(self) -> bool:
        """Whether every fragment has its layer."""
        return len(self.layers) == self.stop - self.first

    def advance(self) -> FragmentSamples:
        """One more fragment; goes back some where the motion was lost."""
        at = len(self.layers)
        retry = min(int(self.retries[max(at - 2, 0) : at + _BACK].max(initial=0)), _RETRIES)
        layer = self._sample_layer(retry)
        self.layers.append(layer)
        back = min(_BACK * (1 + int(self.retries[at])), at + 1)
        limp = self.problem.tracking_error.reference.muscle[self._frames(at)].min() < _LIMP
        since = self._lost_since()
        lost = at + 1 - since >= (_ASTRAY_LONG if layer.height_error >= STRAY else _LONG)
        # A body that lies on the ground is no longer helped by trying again from there.
        if lost and not limp and self.retries[[since, at]].max() < _RETRIES and back <= self.retry_budget:
            self._go_back(back)
        return layer

    def _lost_since(self) -> int:
        """The fragment since which the best samples have been lost without a break; that of the next layer if not."""
        since = len(self.layers)
        while since and _is_lost(self.layers[since - 1]):
            since -= 1
        return since

    def best_trajectory(self) -> Trajectory:
        """The cheapest trajectory through the layers so far."""
        return trace_trajectory(self.layers, self.first, self.start, self.anchor)

    def learned_jacobians(self) -> Array | None:
        """(F, ny, nx + servos) Jacobians as the samples of all fragments have them; None where nothing was learned."""
        found = [layer.jacobian for layer in self.layers if layer.jacobian is not None]
        return np.array(found) if len(found) == self.stop - self.first else None

    def _frames(self, at: int) -> Indices:
        return self.problem.tracking_error.reference.frames_of(self.first + at)

    def _sample_layer(self, retry: int) -> FragmentSamples:
        """The next fragment, sampled by as many rounds of all copies as retries have earned."""
        problem, at = self.problem, len(self.layers)
        world, tracking_error = problem.world, problem.tracking_error
        rng = problem.random(SAMPLES, self.first + at, int(self.retries[at]))
        count = _HASTY_ROUNDS if self.hasty else _ROUNDS[retry]
        rounds = [self._sample(rng, retry, self.nominal if number == 0 else None) for number in range(count)]
        parents, noise, offsets, ends, total, each, anchors, link_pos, link_quat, begun, outcome = (
            np.concatenate(parts) for parts in zip(*rounds, strict=True)
        )
        jacobian = None
        if self.jacobian is not None:
            jacobian = update_jacobian(tracking_error, self.jacobian[at], begun, offsets, outcome)
        skip = 0 if self.nominal is None else 1  # the first sample is the nominal trajectory
        best = skip + int(np.argmin(each[skip:]))
        keep = round(_ELITES * world.copies * (1 if self.hasty else count))
        if self.nominal is None:
            elites = np.argsort(total, kind="stable")[:keep]
        else:  # the nominal trajectory is the first sample of all, and stays the first elite
            elites = np.concatenate([[0], 1 + np.argsort(total[1:], kind="stable")[: keep - 1]])
        frame = int(self._frames(at)[-1])
        wanted = tracking_error.reference.rows.link_pos[0, [frame]]
        lost = height_error(wanted, link_pos[[best]], tracking_error.tallest)[0]
        if each[best] > _NEAR_COST and self._is_astray(frame, link_pos[[best]], link_quat[[best]]):
            lost = max(lost, STRAY)
        return FragmentSamples(
            ends[elites], offsets[elites], parents[elites], total[elites], anchors[elites],
            float(each[best]), float(lost), noise, total, elites, jacobian,
        )  # fmt: skip

    def _sample(self, rng: np.random.Generator, retry: int, nominal: Trajectory | None) -> tuple[np.ndarray, ...]:
        """One round of all copies, the first of which follows the nominal trajectory: parts of a layer."""
        problem, at = self.problem, len(self.layers)
        world, tracking_error, count = problem.world, problem.tracking_error, problem.world.copies
        parents, starts, total_before, anchors, before = self._parents(rng, nominal is not None)
        distribution = self.distributions.get(at) or SamplingDistribution.isotropic(tracking_error.nu)
        noise = distribution.sample(count, 1.0 + _WIDER * retry, rng)
        frame = int(self._frames(at)[-1])
        begun = tracking_error.state_error(*world.pose_of(starts), int(self._begin(at)), anchors)
        spread = problem.noise + _LOOSE * retry / _RETRIES * (problem.noise.max() - problem.noise)
        if retry == 0:  # what keeps up by feedback alone must not tremble
            spread = spread * self._activity[at]
        feedback = self.lqr.offsets(at, begun)
        if self._improved is not None and self._improved_errors is not None:
            held = self._improved.offsets[at] + (begun - self._improved_errors[at]) @ self.lqr.gains[at].T
            feedback = held + _FURTHEST * _spread_shares(count, _GOLDEN) * (feedback - held)
            noise *= _spread_shares(count, _PLASTIC)
        offsets = np.clip(feedback, -MAX_OFFSET, MAX_OFFSET) + noise * spread
        if nominal is not None:
            noise[0] += (nominal.offsets[at] - offsets[0]) / np.maximum(spread, 1e-9)
            offsets[0] = nominal.offsets[at]
        ends, rows = roll_out_samples(problem, starts, self.first + at, before, offsets, anchors)
        pose = world.pose_of(ends)
        each = compute_cost(tracking_error.reference, frame, pose[0], rows, offsets, anchors, CostWeights()).total
        error = tracking_error.state_error(*pose, frame, anchors)
        if self._improved is None:
            total_before = _MEMORY * total_before
        else:  # the whole trajectory counts: its cost so far, and what is to come from here instead of from the start
            total_before = total_before - _VALUE_WEIGHT * self.lqr.value(at, begun)
        total = total_before + each + _VALUE_WEIGHT * self.lqr.value(at + 1, error)
        total = np.where(np.isfinite(total), total, np.inf)
        link_pos, link_quat = rows.link_pos[:, -1], rows.link_quat_wxyz[:, -1]
        outcome = tracking_error.output_error(error, link_pos, frame, anchors)
        anchors = shift_anchors(anchors, error, problem.homing_m)
        return parents, noise, offsets, ends, total, each, anchors, link_pos, link_quat, begun, outcome

    def _is_astray(self, frame: int, link_pos: Array, link_quat_wxyz: Array) -> bool:
        """Whether a body with links at (1, L, 3) and (1, L, 4) in a frame is one that a take would count as lost."""
        if self._detector is None:
            reference = self.problem.tracking_error.reference
            rows, trunk = reference.rows, reference.body.trunk
            self._detector = LostMotionDetector(rows.link_pos[0], rows.link_quat_wxyz[0], trunk, float(CONTROL_FPS))
        return bool(self._detector.detect_astray(np.array([frame]), link_pos, link_quat_wxyz)[0])

    def _start_errors(self, nominal: Trajectory) -> Array:
        """(F, nx) state errors of the nominal trajectory at the starts of its fragments."""
        tracking_error = self.problem.tracking_error
        frames = tracking_error.reference.frame_before(np.arange(self.first, self.stop))
        pose = self.problem.world.pose_of(nominal.starts)
        return tracking_error.state_error(*pose, frames, nominal.anchors)

    def _begin(self, at: int) -> int:
        return int(self.problem.tracking_error.reference.frame_before(np.array([self.first + at]))[0])

    def _parents(self, rng: np.random.Generator, nominal: bool) -> tuple[Indices, Array, Array, Array, Array]:
        """The elites that the copies are offspring of: indices, states, totals, anchors, offsets."""
        count = self.problem.world.copies
        if not self.layers:
            nothing = np.zeros(count, dtype=np.int64)
            start, anchor, before = (np.tile(part, (count, 1)) for part in (self.start, self.anchor, self.before))
            return nothing, start, np.zeros(count), anchor, before
        last = self.layers[-1]
        parents = resample_systematically(last.total, count, rng)
        if nominal:
            parents[0] = 0
        return parents, last.states[parents], last.total[parents], last.anchors[parents], last.offsets[parents]

    def _go_back(self, back: int) -> None:
        """Take back the last layers and adapt their distributions; the second time also linearise anew."""
        window = self.layers[-back:]
        first = len(self.layers) - back
        for index, (layer, depth) in enumerate(zip(window, count_surviving_fragments(window), strict=True)):
            distribution = self.distributions.get(first + index)
            distribution = distribution or SamplingDistribution.isotropic(self.problem.tracking_error.nu)
            self.distributions[first + index] = distribution.adapt(layer.noise, layer.value, depth)
        if self.retries[len(self.layers) - 1] >= 1:
            self._relearn(first)
        self.retries[first : len(self.layers)] += 1
        self.retry_budget -= back
        del self.layers[first:]

    def _relearn(self, first: int) -> None:
        """Linearise around the trajectory that failed, where the body really is, and solve from there to here anew."""
        problem = self.problem
        some = np.arange(first, len(self.layers))
        rng = problem.random(RELEARN, self.first + first, int(self.retries[-1 + len(self.layers)]))
        nominal = self.best_trajectory().linearization(self.before)[some]
        models = problem.fit_models(nominal, _NEAR, rng)
        last = some[-1] + 1
        local = solve_lqr(problem.tracking_error, models, self.lqr.value_hessian[last], self.lqr.value_gradient[last])
        parts = {name: np.array(part) for name, part in vars(self.lqr).items()}
        for name, part in parts.items():
            part[some] = getattr(local, name)[: len(some)]
        self.lqr = replace(self.lqr, **parts)
        self.relearned.update(int(index) for index in some)
        for index in some:
            self.distributions.pop(int(index), None)


def _is_lost(layer: FragmentSamples) -> bool:
    """Whether the best sample of a fragment is lost: too far from the wanted heights, or astray whatever it costs."""
    return layer.height_error >= STRAY or (layer.height_error > _LOST and layer.cost > _DEAR)


def _spread_shares(count: int, ratio: float) -> Array:
    """(count, 1) numbers from 0 to 1, evenly spread in every stretch of the samples."""
    return (np.arange(count) * ratio % 1.0)[:, None]


def compute_activity(reference: Reference, fragments: Indices) -> Array:
    """(F,) how much of the noise fragments get: all of it where joints move as in a walk, little where they stand.

    Offsets that a search draws every tenth of a second are what a standing body is seen to tremble from.
    """
    squares = np.mean(reference.rates[:, 6:] ** 2, axis=-1)
    frames = reference.frames_of_many(fragments)
    first, last = (
        np.maximum(frames[:, 0] - _AROUND_STEPS, 0),
        np.minimum(frames[:, -1] + _AROUND_STEPS, len(squares) - 1),
    )
    summed = np.concatenate([[0.0], np.cumsum(squares)])
    rms = np.sqrt(np.maximum(summed[last + 1] - summed[first], 0.0) / (last + 1 - first))
    return np.asarray(np.clip(rms / _ACTIVE_RAD_S, _STILL, 1.0))


def roll_out_samples(
    problem: SearchProblem, starts: Array, fragment: int, before: Array, offsets: Array, anchors: Array
) -> tuple[Array, SensorRows]:
    """States (N, state_size) at the end of a fragment, and rows, for offsets (N, nu) after those before, from states.

    Half way the hopeless are abandoned: they are not numbers from then on, and cost no time.
    """
    reference, world = problem.tracking_error.reference, problem.world
    frames = reference.frames_of(fragment)
    targets = reference.servo_targets(np.full(len(starts), fragment), before, offsets)
    half = len(frames) // 2

    def on(states: Array, steps: slice) -> tuple[Array, SensorRows]:
        muscle = np.tile(reference.muscle[frames[steps]], (len(states), 1))
        found, rows = roll_out(world, states, targets[:, steps], muscle, problem.meter, end_only=True)
        return found[:, -1], rows

    middle, rows = on(starts, slice(half))
    pose = world.pose_of(middle)[0]
    each = compute_cost(reference, int(frames[half - 1]), pose, rows, offsets, anchors, CostWeights()).total
    each[0] = -np.inf  # the nominal trajectory, or the feedback's own
    middle[np.argsort(each, kind="stable")[len(each) - round(_HOPELESS * len(each)) :]] = np.nan
    return on(middle, slice(half, None))


def shift_anchors(anchors: Array, error: Array, homing_m: float = 0.0) -> Array:
    """(N, 2) anchors that have come along with bodies whose state errors (N, nx) place them further off than reach.

    homing_m: how far they then go back to where they would be, so that bodies are drawn there little by little.
    """
    aside = error[:, :2]
    far = np.linalg.norm(aside, axis=-1, keepdims=True)
    moved = anchors + aside * np.maximum(1.0 - _REACH_M / np.maximum(far, 1e-9), 0.0)
    if homing_m:
        moved *= np.maximum(1.0 - homing_m / np.maximum(np.linalg.norm(moved, axis=-1, keepdims=True), 1e-9), 0.0)
    return moved
