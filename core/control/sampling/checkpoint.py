# SPDX-License-Identifier: GPL-3.0-or-later
"""A rollout as plain arrays, so that a run that was killed goes on at the last finished fragment, bit for bit.

What is done is one state and one row of offsets a fragment: ten minutes of a humanoid are 8 MB. Only the section that
is being planned is kept with all its samples. What the engine or a generator makes again from the same numbers is not
kept: LQR solutions are found anew, but for what was linearised again where the motion was lost.
"""

import logging
import time
from collections.abc import Callable, Mapping
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
from .getting_up import GetUp
from .plan import PlanTask
from .relaxing import Relaxation
from .search import SamconSearch
from .stage_character import StageCharacter
from .stage_rollout import StageRollout

_PAUSE_S = 2.0
# Saving may take this share of the time, on slow disks and for long clips too.
_SHARE = 0.02
# Names in the file, which do not change, and the fields that are kept under them.
_TRAJECTORY = ("starts", "offsets", "ends", "anchors", "cost")
_ELITES = {"kept": "elites"} | {name: name for name in ("states", "offsets", "parents", "total", "anchors")}
_SAMPLED = ("noise", "value")  # of a layer, for every sample; the others for its elites
_LQR = {"gains": "gains", "aims": "feedforward", "curves": "value_hessian", "slants": "value_gradient"}

_log = logging.getLogger(__name__)
Arrays = dict[str, np.ndarray]


class RolloutCheckpoints:
    """A run's checkpoints of a rollout. Time decides when one is saved, never what is computed.

    loaded: the step of the checkpoint that the run goes on from; 0 where it began anew.
    besides: gives what is saved besides the rollout.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.loaded = 0
        self.besides: Callable[[], Arrays] = dict
        self._next_s = 0.0  # the first one at once
        self._arrays: Mapping[str, np.ndarray] | None = None

    def save(self, rollout: StageRollout, step: int) -> None:
        """Save, if it is time again or all is done."""
        begin_s = time.monotonic()
        if begin_s < self._next_s and not rollout.done:
            return
        self._run.save_checkpoint(step, **pack_rollout(rollout, self._run.engine), **self.besides())
        end_s = time.monotonic()
        self._next_s = end_s + max(_PAUSE_S, (end_s - begin_s) / _SHARE)

    def read(self) -> Mapping[str, np.ndarray]:
        """The arrays of the newest checkpoint, with what was saved besides; none where there is none."""
        if self._arrays is None:
            self.loaded, self._arrays = self._run.load_checkpoint() or (0, {})
        return self._arrays

    def load(self, rollout: StageRollout) -> None:
        """Put a new rollout where the newest checkpoint was; leave it at its beginning where none fits."""
        if arrays := self.read():
            try:
                restore_rollout(rollout, self._run.engine, arrays)
            except BadFile as error:
                _log.warning("Beginning anew: %s", error)
                self.loaded = 0


def pack_rollout(rollout: StageRollout, engine: str) -> Arrays:
    """All that ``restore_rollout`` needs."""
    world = rollout.world
    arrays: Arrays = {
        "fits": np.array(_fits(rollout, engine)),
        "state": rollout.state,
        "begun": np.array(rollout.start_states).reshape(-1, world.state_size),
        "offsets": np.array(rollout.offsets).reshape(-1, _nu(rollout)),
        "waiting": np.array(rollout.waiting, dtype=np.int64),
        "anchors": np.array([one.anchor for one in rollout.characters]),
        "calm": np.array([one.undisturbed for one in rollout.characters], dtype=np.int64),
        "astray": np.array([one.watch.astray for one in rollout.characters], dtype=np.int64),
    }
    for character_index, character in enumerate(rollout.characters):
        if character.relaxation is not None:
            arrays[f"limp{character_index}_first"] = np.array(character.relaxation.first)
            arrays[f"limp{character_index}_targets"] = character.relaxation.targets
        arrays |= _pack_get_ups(f"rise{character_index}", character)
        arrays |= _pack_trajectory(f"way{character_index}", character.trajectory)
        arrays |= _pack_trajectory(f"past{character_index}", character.planned)
    if rollout.planning is not None:
        arrays |= _pack_plan(*rollout.planning)
    return arrays


def restore_rollout(rollout: StageRollout, engine: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Put a rollout that has just been made where it was when ``arrays`` were packed.

    What does not fit is a ``BadFile``, and leaves the rollout as it was.
    """
    saved = _SavedArrays(arrays)
    if saved.text("fits") != _fits(rollout, engine):
        raise BadFile("The checkpoint was made by another Sinew, with another engine or for another body")
    size, characters = rollout.world.state_size, rollout.characters
    begun = saved.floats("begun", None, size)
    offsets = saved.floats("offsets", len(begun), _nu(rollout))
    waiting = saved.integers("waiting", None, below=len(characters))
    anchors, calm = saved.floats("anchors", len(characters), 2), saved.integers("calm", len(characters))
    if len(begun) > rollout.fragments:
        raise BadFile("The checkpoint has more fragments than the clip")
    get_ups = [_read_get_ups(saved, f"rise{index}", one) for index, one in enumerate(characters)]
    trajectories = [
        _read_trajectory(saved, f"way{character_index}", one) for character_index, one in enumerate(characters)
    ]
    planned = [_read_trajectory(saved, f"past{index}", one) for index, one in enumerate(characters)]
    relaxations = [_read_relaxation(saved, f"limp{index}", one) for index, one in enumerate(characters)]
    astray = saved.integers("astray", len(characters)) if "astray" in arrays else np.zeros(len(characters), dtype=int)
    state = saved.floats("state", size)
    for character, known in zip(characters, get_ups, strict=True):
        character.repeat_get_ups(known)
    try:
        planning = _read_plan(saved, rollout, len(begun), [int(character_index) for character_index in waiting])
    except BadFile:
        for character in characters:
            character.repeat_get_ups([])
        raise
    rollout.state, rollout.start_states, rollout.offsets = state, list(begun), list(offsets)
    rollout.waiting, rollout.planning = [int(character_index) for character_index in waiting], planning
    for character_index, character in enumerate(characters):
        character.trajectory, character.anchor, character.undisturbed = (
            trajectories[character_index],
            np.array(anchors[character_index]),
            int(calm[character_index]),
        )
        character.planned = planned[character_index]
        character.relaxation, character.watch.astray = relaxations[character_index], int(astray[character_index])


def _fits(rollout: StageRollout, engine: str) -> str:
    """What must be the same for numbers to mean the same."""
    everybody = [
        (
            one.world.state_size,
            one.world.copies,
            one.tracking_error.nx,
            one.tracking_error.nu,
            one.effort.spreads,
            one.seed,
        )
        for one in rollout.characters
    ]
    rates = (CONTROL_FPS, FRAGMENT_STEPS, plan.SECTION)
    return repr((__version__, engine, rates, rollout.fragments, rollout.world.state_size, everybody))


def _nu(rollout: StageRollout) -> int:
    return sum(one.tracking_error.nu for one in rollout.characters)


def _pack_trajectory(name: str, trajectory: Trajectory | None) -> Arrays:
    if trajectory is None:
        return {}
    return {f"{name}_first": np.array(trajectory.first)} | {
        f"{name}_{field}": getattr(trajectory, field) for field in _TRAJECTORY
    }


def _read_trajectory(saved: "_SavedArrays", name: str, character: StageCharacter) -> Trajectory | None:
    if f"{name}_first" not in saved.arrays:
        return None
    size, nu = character.world.state_size, character.tracking_error.nu
    starts = saved.floats(f"{name}_starts", None, size)
    count = len(starts)
    return Trajectory(
        int(saved.integers(f"{name}_first")),
        starts,
        saved.floats(f"{name}_offsets", count, nu),
        saved.floats(f"{name}_ends", count, size),
        saved.floats(f"{name}_anchors", count, 2),
        saved.floats(f"{name}_cost", count),
    )


def _read_relaxation(saved: "_SavedArrays", name: str, character: StageCharacter) -> Relaxation | None:
    """None for who has not let go; checkpoints of before know of nobody who did."""
    if f"{name}_first" not in saved.arrays:
        return None
    first = int(saved.integers(f"{name}_first"))
    return Relaxation(first, saved.floats(f"{name}_targets", character.tracking_error.nu))


def _pack_get_ups(name: str, character: StageCharacter) -> Arrays:
    """How it lay and got up, if it ever did."""
    if not character.get_ups:
        return {}
    return {
        f"{name}_limp": np.array([(one.first, one.stop) for one in character.relaxations]),
        f"{name}_targets": np.array([one.targets for one in character.relaxations]),
        f"{name}_pose": np.array([one.qpos for one in character.get_ups]),
        f"{name}_rejoins": np.array([one.rejoins for one in character.get_ups]),
    }


def _read_get_ups(saved: "_SavedArrays", name: str, character: StageCharacter) -> list[tuple[Relaxation, GetUp]]:
    if f"{name}_limp" not in saved.arrays:
        return []
    if character.rises is None:
        raise BadFile("The checkpoint has somebody get up who is to stay down")
    reference = character.wanted
    limp = saved.integers(f"{name}_limp", None, 2, below=reference.fragments)
    targets = saved.floats(f"{name}_targets", len(limp), character.tracking_error.nu)
    pose = saved.floats(f"{name}_pose", len(limp), character.body.nq)
    rejoins = saved.integers(f"{name}_rejoins", len(limp), below=len(reference.states))
    if np.any(np.diff(limp.ravel()) <= 0) or np.any(rejoins <= FRAGMENT_STEPS * limp[:, 1]):
        raise BadFile("The checkpoint has somebody get up before lying down")
    return [
        (
            Relaxation(int(limp[at, 0]), targets[at], int(limp[at, 1])),
            GetUp(int(limp[at, 1]), pose[at], int(rejoins[at])),
        )
        for at in range(len(limp))
    ]


def _pack_plan(character_index: int, number: int, search: SamconSearch) -> Arrays:
    """The plan under way."""
    which, learned = sorted(search.distributions), sorted(search.relearned)
    distributions, nu = [search.distributions[at] for at in which], search.problem.tracking_error.nu
    arrays: Arrays = {
        "plan": np.array([character_index, number, search.first, search.stop, search.retry_budget]),
        "plan_start": search.start,
        "plan_anchor": search.anchor,
        "plan_before": search.before,
        "plan_tries": search.retries,
        "plan_firsts": np.array(search.tries),
        "scatter_at": np.array(which, dtype=np.int64),
        "scatter_mean": np.array([one.mean for one in distributions]).reshape(-1, nu),
        "scatter_covariance": np.array([one.covariance for one in distributions]).reshape(-1, nu, nu),
        "learned_at": np.array(learned, dtype=np.int64),
        "after_curve": search.lqr.value_hessian[search.stop - search.first],
        "after_slant": search.lqr.value_gradient[search.stop - search.first],
    }
    arrays |= {f"learned_{name}": getattr(search.lqr, field)[learned] for name, field in _LQR.items()}
    layers = search.layers
    arrays["layer_kept_count"] = np.array([len(layer.elites) for layer in layers], dtype=np.int64)
    arrays["layer_tried_count"] = np.array([len(layer.value) for layer in layers], dtype=np.int64)
    if layers:
        arrays["layer_numbers"] = np.array([(layer.cost, layer.height_error) for layer in layers])
        for name in (*_ELITES, *_SAMPLED):
            field = _ELITES.get(name, name)
            arrays[f"layer_{name}"] = np.concatenate([getattr(layer, field) for layer in layers])
        jacobians = [layer.jacobian for layer in layers if layer.jacobian is not None]
        if len(jacobians) == len(layers):
            arrays["layer_jacobian"] = np.array(jacobians)
    if search.learned is not None:
        arrays["plan_learned"] = search.learned
    return arrays | _pack_trajectory("known", search.nominal) | _pack_trajectory("rival", search.rival)


def _read_plan(
    saved: "_SavedArrays", rollout: StageRollout, at: int, waiting: list[int]
) -> tuple[int, int, SamconSearch] | None:
    if "plan" not in saved.arrays:
        return None
    character_index, number, first, stop, spare = (int(value) for value in saved.integers("plan", 5))
    if not waiting or character_index != waiting[0] or first != at or not first < stop <= rollout.fragments:
        raise BadFile("The checkpoint's plan is for another moment")
    character = rollout.characters[character_index]
    nominal = _read_trajectory(saved, "known", character)
    firsts = (0, plan.REPEAT, plan.SHARED)
    if (number >= len(character.effort.spreads) and number not in firsts) or (nominal is None) != (number in firsts):
        raise BadFile("The checkpoint's plan is in a pass that there is not")
    rival = _read_trajectory(saved, "rival", character)
    if any(one is not None and (one.first, len(one)) != (first, stop - first) for one in (nominal, rival)):
        raise BadFile("The checkpoint's plan follows another one")
    start = saved.floats("plan_start", character.world.state_size)
    tries = saved.integers("plan_tries", stop - first)
    distributions, layers = (
        _read_distributions(saved, character, stop - first),
        _read_layers(saved, character, stop - first),
    )
    nx = character.tracking_error.nx
    after = saved.floats("after_curve", nx, nx), saved.floats("after_slant", nx)
    anchor, before = saved.floats("plan_anchor", 2), saved.floats("plan_before", character.tracking_error.nu)
    shape = stop - first, *_jacobian_shape(character)
    learned = saved.floats("plan_learned", *shape) if "plan_learned" in saved.arrays else None
    search = character.planner.search(number, PlanTask(first, stop, start, anchor, before), nominal, after, learned)
    search.retries, search.retry_budget, search.distributions, search.layers = tries, spare, distributions, layers
    search.rival = rival
    if "plan_firsts" in saved.arrays:
        search.tries = int(saved.integers("plan_firsts"))
    _restore_relearned(saved, search, stop - first)
    return character_index, number, search


def _restore_relearned(saved: "_SavedArrays", search: SamconSearch, count: int) -> None:
    """Put back what was linearised again where the motion was lost."""
    where = saved.integers("learned_at", None, below=count)
    if len(where):
        lqr = {field: np.array(getattr(search.lqr, field)) for field in _LQR.values()}
        for name, field in _LQR.items():
            lqr[field][where] = saved.floats(f"learned_{name}", len(where), *lqr[field].shape[1:])
        search.lqr, search.relearned = replace(search.lqr, **lqr), {int(index) for index in where}


def _read_distributions(
    saved: "_SavedArrays", character: StageCharacter, count: int
) -> dict[int, SamplingDistribution]:
    which, nu = saved.integers("scatter_at", None, below=count), character.tracking_error.nu
    means = saved.floats("scatter_mean", len(which), nu)
    covariances = saved.floats("scatter_covariance", len(which), nu, nu)
    return {
        int(at): SamplingDistribution(np.array(mean), np.array(covariance))
        for at, mean, covariance in zip(which, means, covariances, strict=True)
    }


def _jacobian_shape(character: StageCharacter) -> tuple[int, int]:
    """Of a model: output errors, and state errors with offsets of servos."""
    tracking_error = character.tracking_error
    return len(tracking_error.weights), tracking_error.nx + len(tracking_error.servos)


def _read_layers(saved: "_SavedArrays", character: StageCharacter, most: int) -> list[FragmentSamples]:
    kept, tried = saved.integers("layer_kept_count", None), saved.integers("layer_tried_count", None)
    if len(kept) != len(tried) or len(kept) > most:
        raise BadFile("The checkpoint has more layers than its plan has fragments")
    if not len(kept):
        return []
    size, nu, every, all_tried = (
        character.world.state_size,
        character.tracking_error.nu,
        int(kept.sum()),
        int(tried.sum()),
    )
    numbers = saved.floats("layer_numbers", len(kept), 2)
    fields: Mapping[str, np.ndarray] = {
        "states": saved.floats("layer_states", every, size),
        "offsets": saved.floats("layer_offsets", every, nu),
        "parents": saved.integers("layer_parents", every),
        "total": saved.floats("layer_total", every),
        "anchors": saved.floats("layer_anchors", every, 2),
        "elites": saved.integers("layer_kept", every),
        "noise": saved.floats("layer_noise", all_tried, nu),
        "value": saved.floats("layer_value", all_tried),
    }
    split: dict[str, list[Any]] = {
        field: [np.array(part) for part in np.split(values, np.cumsum(tried if field in _SAMPLED else kept)[:-1])]
        for field, values in fields.items()
    }
    if "layer_jacobian" in saved.arrays:  # older ones have none
        split["jacobian"] = list(saved.floats("layer_jacobian", len(kept), *_jacobian_shape(character)))
    before = np.concatenate([[1 << 62], kept[:-1]])  # nobody asks for the parents of the first layer
    for at, (parents, ones) in enumerate(zip(split["parents"], split["elites"], strict=True)):
        if not len(ones) or parents.max() >= before[at] or ones.max() >= tried[at]:
            raise BadFile("The checkpoint has samples that come from nowhere")
    return [
        FragmentSamples(
            cost=float(cost),
            height_error=float(off),
            **{field: parts[at] for field, parts in split.items()},
        )
        for at, (cost, off) in enumerate(numbers)
    ]


class _SavedArrays:
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
