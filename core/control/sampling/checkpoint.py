# SPDX-License-Identifier: GPL-3.0-or-later
"""A performance as plain arrays, so that a run that was killed goes on at the last finished fragment, bit for bit.

What is done is one state and one row of offsets a fragment: ten minutes of a humanoid are 8 MB. Only the section that
is being planned is kept with all its samples. What the engine or a generator makes again from the same numbers is not
kept: guides are explored anew, but for what was learned again where the motion was lost.
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ... import __version__
from ...errors import BadFile
from ...geometry.quaternions import Array
from ..method import Run
from ..tracking.reference import CONTROL_FPS, FRAGMENT_STEPS
from . import plan
from .fragment_samples import FragmentSamples, Indices, SamplingDistribution, Trajectory
from .plan import PlanTask
from .search import SamconSearch
from .stage_character import StageCharacter
from .stage_rollout import StageRollout

_PAUSE_S = 2.0
# Saving may take this share of the time, on slow disks and for long clips too.
_SHARE = 0.02
_WAY = ("starts", "offsets", "ends", "anchors", "cost")
_KEPT = ("states", "offsets", "parents", "total", "anchors", "kept")  # of a layer, for every sample that is kept
_TRIED = ("noise", "value")  # for every sample that was tried
_GUIDE = ("gains", "aims", "curves", "slants")

_log = logging.getLogger(__name__)
Arrays = dict[str, np.ndarray]


class RolloutCheckpoints:
    """A run's checkpoints of a performance. Time decides when one is saved, never what is computed.

    loading: the step that a performance is just being put back to, which takes as long as a guide; else 0.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.loading = 0
        self._next_s = 0.0  # the first one at once

    def save(self, performance: StageRollout, step: int) -> None:
        """Save, if it is time again or all is done."""
        begin_s = time.monotonic()
        if begin_s < self._next_s and not performance.done:
            return
        self._run.save_checkpoint(step, **pack_rollout(performance, self._run.engine))
        end_s = time.monotonic()
        self._next_s = end_s + max(_PAUSE_S, (end_s - begin_s) / _SHARE)

    def load(self, performance: StageRollout) -> None:
        """Put a new performance where the newest checkpoint was; leave it at its beginning where none fits."""
        if checkpoint := self._run.load_checkpoint():
            self.loading, arrays = checkpoint
            try:
                restore_rollout(performance, self._run.engine, arrays)
            except BadFile as error:
                _log.warning("Beginning anew: %s", error)
            self.loading = 0


def pack_rollout(performance: StageRollout, engine: str) -> Arrays:
    """All that ``restore_rollout`` needs."""
    world = performance.world
    arrays: Arrays = {
        "fits": np.array(_fits(performance, engine)),
        "state": performance.state,
        "begun": np.array(performance.begun).reshape(-1, world.state_size),
        "offsets": np.array(performance.offsets).reshape(-1, _nu(performance)),
        "waiting": np.array(performance.waiting, dtype=np.int64),
        "anchors": np.array([one.anchor for one in performance.performers]),
        "calm": np.array([one.calm for one in performance.performers], dtype=np.int64),
    }
    for who, performer in enumerate(performance.performers):
        arrays |= _packed_way(f"way{who}", performer.way)
    if performance.planning is not None:
        arrays |= _packed_plan(*performance.planning)
    return arrays


def restore_rollout(performance: StageRollout, engine: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Put a performance that has just been made where it was when ``arrays`` were packed.

    What does not fit is a ``BadFile``, and leaves the performance as it was.
    """
    found = _Found(arrays)
    if found.text("fits") != _fits(performance, engine):
        raise BadFile("The checkpoint was made by another Sinew, with another engine or for another body")
    size, performers = performance.world.state_size, performance.performers
    begun = found.floats("begun", None, size)
    offsets = found.floats("offsets", len(begun), _nu(performance))
    waiting = found.integers("waiting", None, below=len(performers))
    anchors, calm = found.floats("anchors", len(performers), 2), found.integers("calm", len(performers))
    ways = [_way(found, f"way{who}", one) for who, one in enumerate(performers)]
    if len(begun) > performance.fragments:
        raise BadFile("The checkpoint has more fragments than the clip")
    state = found.floats("state", size)
    planning = _plan(found, performance, len(begun), [int(who) for who in waiting])
    performance.state, performance.begun, performance.offsets = state, list(begun), list(offsets)
    performance.waiting, performance.planning = [int(who) for who in waiting], planning
    for who, performer in enumerate(performers):
        performer.way, performer.anchor, performer.calm = ways[who], np.array(anchors[who]), int(calm[who])


def _fits(performance: StageRollout, engine: str) -> str:
    """What must be the same for numbers to mean the same."""
    everybody = [
        (one.world.state_size, one.world.copies, one.gauge.nx, one.gauge.nu, one.effort.spreads, one.seed)
        for one in performance.performers
    ]
    rates = (CONTROL_FPS, FRAGMENT_STEPS, plan.SECTION)
    return repr((__version__, engine, rates, performance.fragments, performance.world.state_size, everybody))


def _nu(performance: StageRollout) -> int:
    return sum(one.gauge.nu for one in performance.performers)


def _packed_way(name: str, way: Trajectory | None) -> Arrays:
    if way is None:
        return {}
    return {f"{name}_first": np.array(way.first)} | {f"{name}_{field}": getattr(way, field) for field in _WAY}


def _way(found: "_Found", name: str, performer: StageCharacter) -> Trajectory | None:
    if f"{name}_first" not in found.arrays:
        return None
    size, nu = performer.world.state_size, performer.gauge.nu
    starts = found.floats(f"{name}_starts", None, size)
    count = len(starts)
    return Trajectory(
        int(found.integers(f"{name}_first")),
        starts,
        found.floats(f"{name}_offsets", count, nu),
        found.floats(f"{name}_ends", count, size),
        found.floats(f"{name}_anchors", count, 2),
        found.floats(f"{name}_cost", count),
    )


def _packed_plan(who: int, number: int, search: SamconSearch) -> Arrays:
    """The plan under way."""
    which, learned = sorted(search.scatters), sorted(search.relearned)
    scatters, nu = [search.scatters[at] for at in which], search.ground.gauge.nu
    arrays: Arrays = {
        "plan": np.array([who, number, search.first, search.stop, search.spare]),
        "plan_start": search.start,
        "plan_anchor": search.anchor,
        "plan_before": search.before,
        "plan_tries": search.tries,
        "scatter_at": np.array(which, dtype=np.int64),
        "scatter_mean": np.array([one.mean for one in scatters]).reshape(-1, nu),
        "scatter_covariance": np.array([one.covariance for one in scatters]).reshape(-1, nu, nu),
        "learned_at": np.array(learned, dtype=np.int64),
        "after_curve": search.guide.curves[search.stop - search.first],
        "after_slant": search.guide.slants[search.stop - search.first],
    }
    arrays |= {f"learned_{field}": getattr(search.guide, field)[learned] for field in _GUIDE}
    layers = search.layers
    arrays["layer_kept_count"] = np.array([len(layer.kept) for layer in layers], dtype=np.int64)
    arrays["layer_tried_count"] = np.array([len(layer.value) for layer in layers], dtype=np.int64)
    if layers:
        arrays["layer_numbers"] = np.array([(layer.cost, layer.astray) for layer in layers])
        for field in (*_KEPT, *_TRIED):
            arrays[f"layer_{field}"] = np.concatenate([getattr(layer, field) for layer in layers])
    return arrays | _packed_way("known", search.known)


def _plan(
    found: "_Found", performance: StageRollout, at: int, waiting: list[int]
) -> tuple[int, int, SamconSearch] | None:
    if "plan" not in found.arrays:
        return None
    who, number, first, stop, spare = (int(value) for value in found.integers("plan", 5))
    if not waiting or who != waiting[0] or first != at or not first < stop <= performance.fragments:
        raise BadFile("The checkpoint's plan is for another moment")
    performer = performance.performers[who]
    known = _way(found, "known", performer)
    if number >= len(performer.effort.spreads) or (known is None) != (number == 0):
        raise BadFile("The checkpoint's plan is in a pass that there is not")
    if known is not None and (known.first, len(known)) != (first, stop - first):
        raise BadFile("The checkpoint's plan follows another one")
    start = found.floats("plan_start", performer.world.state_size)
    tries = found.integers("plan_tries", stop - first)
    scatters, layers = _scatters(found, performer, stop - first), _layers(found, performer, stop - first)
    nx = performer.gauge.nx
    after = found.floats("after_curve", nx, nx), found.floats("after_slant", nx)
    anchor, before = found.floats("plan_anchor", 2), found.floats("plan_before", performer.gauge.nu)
    search = performer.planner.search(number, PlanTask(first, stop, start, anchor, before), known, after)
    search.tries, search.spare, search.scatters, search.layers = tries, spare, scatters, layers
    learned = found.integers("learned_at", None, below=stop - first)
    if len(learned):
        guide = {field: np.array(getattr(search.guide, field)) for field in _GUIDE}
        for field, values in guide.items():
            values[learned] = found.floats(f"learned_{field}", len(learned), *values.shape[1:])
        search.guide, search.relearned = replace(search.guide, **guide), {int(index) for index in learned}
    return who, number, search


def _scatters(found: "_Found", performer: StageCharacter, count: int) -> dict[int, SamplingDistribution]:
    which, nu = found.integers("scatter_at", None, below=count), performer.gauge.nu
    means = found.floats("scatter_mean", len(which), nu)
    covariances = found.floats("scatter_covariance", len(which), nu, nu)
    return {
        int(at): SamplingDistribution(np.array(mean), np.array(covariance))
        for at, mean, covariance in zip(which, means, covariances, strict=True)
    }


def _layers(found: "_Found", performer: StageCharacter, most: int) -> list[FragmentSamples]:
    kept, tried = found.integers("layer_kept_count", None), found.integers("layer_tried_count", None)
    if len(kept) != len(tried) or len(kept) > most:
        raise BadFile("The checkpoint has more layers than its plan has fragments")
    if not len(kept):
        return []
    size, nu, every, all_tried = performer.world.state_size, performer.gauge.nu, int(kept.sum()), int(tried.sum())
    numbers = found.floats("layer_numbers", len(kept), 2)
    fields: Mapping[str, np.ndarray] = {
        "states": found.floats("layer_states", every, size),
        "offsets": found.floats("layer_offsets", every, nu),
        "parents": found.integers("layer_parents", every),
        "total": found.floats("layer_total", every),
        "anchors": found.floats("layer_anchors", every, 2),
        "kept": found.integers("layer_kept", every),
        "noise": found.floats("layer_noise", all_tried, nu),
        "value": found.floats("layer_value", all_tried),
    }
    split: dict[str, list[Any]] = {
        field: [np.array(part) for part in np.split(values, np.cumsum(tried if field in _TRIED else kept)[:-1])]
        for field, values in fields.items()
    }
    before = np.concatenate([[1 << 62], kept[:-1]])  # nobody asks for the parents of the first layer
    for at, (parents, ones) in enumerate(zip(split["parents"], split["kept"], strict=True)):
        if not len(ones) or parents.max() >= before[at] or ones.max() >= tried[at]:
            raise BadFile("The checkpoint has samples that come from nowhere")
    return [
        FragmentSamples(
            cost=float(cost),
            astray=float(astray),
            **{field: parts[at] for field, parts in split.items()},
        )
        for at, (cost, astray) in enumerate(numbers)
    ]


class _Found:
    """What was saved, by name; what is missing or of another shape is a ``BadFile``. A length of None is any."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self.arrays = arrays

    def text(self, name: str) -> str:
        return str(self._of("U", name, ()))

    def floats(self, name: str, *shape: int | None) -> Array:
        return self._of("f", name, shape)

    def integers(self, name: str, *shape: int | None, below: int | None = None) -> Indices:
        """None of them is negative, nor as much as ``below``."""
        values = self._of("i", name, shape)
        if values.size and (values.min() < 0 or (below is not None and values.max() >= below)):
            raise BadFile(f"The checkpoint's '{name}' is out of range")
        return values

    def _of(self, kind: str, name: str, shape: tuple[int | None, ...]) -> np.ndarray:
        values = self.arrays.get(name)
        if values is None or values.dtype.kind != kind or len(values.shape) != len(shape):
            raise BadFile(f"The checkpoint's '{name}' is missing or of another kind")
        if any(want is not None and want != got for want, got in zip(shape, values.shape, strict=True)):
            raise BadFile(f"The checkpoint's '{name}' has the shape {values.shape}, not {shape}")
        return values
