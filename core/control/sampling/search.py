# SPDX-License-Identifier: GPL-3.0-or-later
"""Sampling-based control: many copies try offsets around the guide, the best go on (SAMCON; control graphs, 5.3)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ...geometry.quaternions import Array
from ...motion.falling import STRAY, height_error
from ...sim.engine import SensorRows, World
from ..tracking.linear_dynamics import fit_linear_models
from ..tracking.lqr import LqrSolution, solve_lqr
from ..tracking.reference import CONTROL_FPS
from ..tracking.tracking_error import TrackingError
from .cost import CostWeights, compute_cost
from .fragment_samples import (
    FragmentSamples,
    Indices,
    SamplingDistribution,
    Trajectory,
    count_surviving_fragments,
    trace_trajectory,
)

# How much of the ranking so far still counts a fragment later: a lucky start must not outweigh a stumble now.
_MEMORY = 0.6
# A unit of what the guide foresees, in units of equation 20.
_WORTH = 3.0
_KEPT, _HOPELESS = 0.2, 0.3  # of the samples: how many go on, and how many are abandoned half way
# When the best sample is this far astray for a while, it will soon be down: earlier than a take counts as fallen. Who
# is no further off than the second by equation 20 follows a source that nobody could follow more closely.
_LOST, _DEAR = 0.4 * STRAY, 5.0
_LIMP = 0.5  # muscle below which nobody is expected to keep up
_LONG = 3  # fragments that this must last: a flight that nobody could fly as captured is off for a while, too
_BACK, _RETRIES = 6, 3  # fragments to go back when lost, and how often before the shot shows it
_ROUNDS = (1, 2, 2, 3)  # of all copies, with each retry
_PATIENCE = 2.0  # how many fragments may be tried again, as a share of all
_NEAR = 0.7  # how far around the way that failed its surroundings are explored, of the gauge's distances
_WIDER = 0.5  # more spread with each retry
_LOOSE = 0.7  # with the last retry, how much nearer to the others' spread that of arms has come: they may help, too
# How far from its place a body may be before the reference comes along, in metres.
_REACH_M = 0.1

Random = Callable[[int, int, int], np.random.Generator]
"""A generator for (what for, fragment, retry): the same whatever was drawn before, so that a resumed search agrees."""
SAMPLES, RELEARN = 0, 1


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """What a search stands on: N copies of a world, the gauge of its reference, and noise (nu,) radians."""

    world: World
    gauge: TrackingError
    noise: Array
    random: Random


@dataclass(eq=False)
class SamconSearch:
    """A pass over fragments ``first`` to ``stop``, fragment by fragment; can be put aside and taken up again.

    start: (state_size,), anchor: (2,), before: (nu,) the offsets that led to the start.
    known: a way that was found before; it stays among the samples, so that a pass is never worse than the last.
    guide: for fragments from ``first`` on. relearned: those for which it is no longer what the search began with.
    """

    ground: SearchProblem
    guide: LqrSolution
    first: int
    stop: int
    start: Array
    anchor: Array
    before: Array
    known: Trajectory | None = None
    layers: list[FragmentSamples] = field(default_factory=list)
    tries: Indices = field(init=False)
    spare: int = field(init=False)
    scatters: dict[int, SamplingDistribution] = field(default_factory=dict)
    relearned: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.tries = np.zeros(self.stop - self.first, dtype=np.int64)
        self.spare = round(_PATIENCE * len(self.tries))

    @property
    def done(self) -> bool:
        """Whether every fragment has its layer."""
        return len(self.layers) == self.stop - self.first

    def advance(self) -> FragmentSamples:
        """One more fragment; goes back some where the motion was lost."""
        at = len(self.layers)
        retry = min(int(self.tries[max(at - 2, 0) : at + _BACK].max(initial=0)), _RETRIES)
        layer = self._layer(retry)
        self.layers.append(layer)
        back = min(_BACK * (1 + int(self.tries[at])), at + 1)
        limp = self.ground.gauge.reference.muscle[self._frames(at)].min() < _LIMP
        since = self._lost_since()
        lost = at + 1 - since >= _LONG
        # Who lies on the ground is no longer helped by trying again from there.
        if lost and not limp and self.tries[[since, at]].max() < _RETRIES and back <= self.spare:
            self._go_back(back)
        return layer

    def _lost_since(self) -> int:
        """The fragment since which the best samples have been astray without a break; that of the next layer if not."""
        since = len(self.layers)
        while since and self.layers[since - 1].astray > _LOST and self.layers[since - 1].cost > _DEAR:
            since -= 1
        return since

    def way(self) -> Trajectory:
        """The best way through."""
        return trace_trajectory(self.layers, self.first, self.start, self.anchor)

    def _frames(self, at: int) -> Indices:
        return self.ground.gauge.reference.frames_of(self.first + at)

    def _layer(self, retry: int) -> FragmentSamples:
        """The next fragment, tried by as many rounds of all copies as retries have earned."""
        ground, at = self.ground, len(self.layers)
        world, gauge = ground.world, ground.gauge
        rng = ground.random(SAMPLES, self.first + at, int(self.tries[at]))
        rounds = [self._tried(rng, retry, self.known if number == 0 else None) for number in range(_ROUNDS[retry])]
        parents, noise, offsets, ends, total, each, anchors, link_pos = (
            np.concatenate(parts) for parts in zip(*rounds, strict=True)
        )
        known = 0 if self.known is None else 1  # the first sample is the known way
        best = known + int(np.argmin(each[known:]))
        keep = round(_KEPT * world.copies)
        if self.known is None:
            kept = np.argsort(total, kind="stable")[:keep]
        else:  # the known way is the first sample of all, and stays the first that is kept
            kept = np.concatenate([[0], 1 + np.argsort(total[1:], kind="stable")[: keep - 1]])
        frame = int(self._frames(at)[-1])
        wanted = gauge.reference.rows.link_pos[0, [frame]]
        lost = height_error(wanted, link_pos[[best]], gauge.tallest)[0]
        return FragmentSamples(
            ends[kept], offsets[kept], parents[kept], total[kept], anchors[kept],
            float(each[best]), float(lost), noise, total, kept,
        )  # fmt: skip

    def _tried(self, rng: np.random.Generator, retry: int, known: Trajectory | None) -> tuple[np.ndarray, ...]:
        """One round of all copies, the first of which goes the known way: what ``_layer`` makes a layer of."""
        ground, at = self.ground, len(self.layers)
        world, gauge, count = ground.world, ground.gauge, ground.world.copies
        parents, starts, total_before, anchors, before = self._parents(rng, known is not None)
        scatter = self.scatters.get(at) or SamplingDistribution.even(gauge.nu)
        noise = scatter.drawn(count, 1.0 + _WIDER * retry, rng)
        frame = int(self._frames(at)[-1])
        begun = gauge.state(*world.pose_of(starts), int(self._begin(at)), anchors)
        spread = ground.noise + _LOOSE * retry / _RETRIES * (ground.noise.max() - ground.noise)
        offsets = self.guide.offsets(at, begun) + noise * spread
        if known is not None:
            noise[0] += (known.offsets[at] - offsets[0]) / np.maximum(spread, 1e-9)
            offsets[0] = known.offsets[at]
        ends, rows = roll_out_samples(ground, starts, self.first + at, before, offsets, anchors)
        pose = world.pose_of(ends)
        each = compute_cost(gauge.reference, frame, pose[0], rows, offsets, anchors, CostWeights())
        deviation = gauge.state(*pose, frame, anchors)
        total = _MEMORY * total_before + each + _WORTH * self.guide.worth(at + 1, deviation)
        total = np.where(np.isfinite(total), total, np.inf)
        return parents, noise, offsets, ends, total, each, shift_anchors(anchors, deviation), rows.link_pos[:, -1]

    def _begin(self, at: int) -> int:
        return int(self.ground.gauge.reference.frame_before(np.array([self.first + at]))[0])

    def _parents(self, rng: np.random.Generator, known: bool) -> tuple[Indices, Array, Array, Array, Array]:
        """Of whom the copies are offspring: indices, states, totals, anchors, offsets."""
        count = self.ground.world.copies
        if not self.layers:
            nobody = np.zeros(count, dtype=np.int64)
            alike = (np.tile(part, (count, 1)) for part in (self.start, self.anchor, self.before))
            start, anchor, before = alike
            return nobody, start, np.zeros(count), anchor, before
        last = self.layers[-1]
        parents = resample_systematically(last.total, count, rng)
        if known:
            parents[0] = 0
        return parents, last.states[parents], last.total[parents], last.anchors[parents], last.offsets[parents]

    def _go_back(self, back: int) -> None:
        """Take back the last layers, having learned from them where to sample; the second time look anew all around."""
        window = self.layers[-back:]
        first = len(self.layers) - back
        for index, (layer, depth) in enumerate(zip(window, count_surviving_fragments(window), strict=True)):
            scatter = self.scatters.get(first + index) or SamplingDistribution.even(self.ground.gauge.nu)
            self.scatters[first + index] = scatter.adapted(layer.noise, layer.value, depth)
        if self.tries[len(self.layers) - 1] >= 1:
            self._relearn(first)
        self.tries[first : len(self.layers)] += 1
        self.spare -= back
        del self.layers[first:]

    def _relearn(self, first: int) -> None:
        """Explore around the way that failed, where the body really is, and guide from there to here anew."""
        ground, way = self.ground, self.way()
        some = np.arange(first, len(self.layers))
        rng = ground.random(RELEARN, self.first + first, int(self.tries[-1 + len(self.layers)]))
        starts, offsets, anchors = way.starts[some], way.offsets[some], way.anchors[some]
        before = way.offsets_before(self.before)[some]
        models = fit_linear_models(
            ground.world, ground.gauge, self.first + some, starts, before, offsets, _NEAR, rng, anchors
        )
        guide = self.guide
        local = solve_lqr(ground.gauge, models, guide.curves[some[-1] + 1], guide.slants[some[-1] + 1])
        gains, aims, curves, slants = (np.array(part) for part in (guide.gains, guide.aims, guide.curves, guide.slants))
        gains[some], aims[some] = local.gains, local.aims
        curves[some], slants[some] = local.curves[:-1], local.slants[:-1]
        self.guide = replace(guide, gains=gains, aims=aims, curves=curves, slants=slants)
        self.relearned.update(int(index) for index in some)
        for index in some:
            self.scatters.pop(int(index), None)


def roll_out_samples(
    ground: SearchProblem, starts: Array, fragment: int, before: Array, offsets: Array, anchors: Array
) -> tuple[Array, SensorRows]:
    """States (N, state_size) at the end of a fragment, and rows, for offsets (N, nu) after those before, from states.

    Half way the hopeless are abandoned: they are not numbers from then on, and cost no time.
    """
    reference, world = ground.gauge.reference, ground.world
    frames = reference.frames_of(fragment)
    targets = reference.aims(np.full(len(starts), fragment), before, offsets)
    half = len(frames) // 2

    def on(states: Array, steps: slice) -> tuple[Array, SensorRows]:
        found, rows = world.rollout(
            states,
            targets[:, steps],
            substeps=round(1.0 / (CONTROL_FPS * world.dt_s)),
            muscle=np.tile(reference.muscle[frames[steps]], (len(states), 1)),
        )
        return found[:, -1], rows

    middle, rows = on(starts, slice(half))
    each = compute_cost(
        reference, int(frames[half - 1]), world.pose_of(middle)[0], rows, offsets, anchors, CostWeights()
    )
    each[0] = -np.inf  # the known way, or the guide's own
    middle[np.argsort(each, kind="stable")[len(each) - round(_HOPELESS * len(each)) :]] = np.nan
    return on(middle, slice(half, None))


def resample_systematically(total: Array, count: int, rng: np.random.Generator) -> Indices:
    """(count,) indices drawn systematically: cheaper samples have more successors."""
    finite = total[np.isfinite(total)]
    if not len(finite):
        return np.arange(count) % len(total)
    spread = max(float(np.std(finite)), 1e-6)
    weight = np.exp(-(total - finite.min()) / spread)
    edges = np.cumsum(weight / weight.sum())
    return np.minimum(np.searchsorted(edges, (np.arange(count) + rng.random()) / count), len(total) - 1)


def shift_anchors(anchors: Array, deviation: Array) -> Array:
    """(N, 2) anchors that have come along with bodies further than reach from their place."""
    aside = deviation[:, :2]
    far = np.linalg.norm(aside, axis=-1, keepdims=True)
    return anchors + aside * np.maximum(1.0 - _REACH_M / np.maximum(far, 1e-9), 0.0)
