# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rollout has found so far, for who watches: everybody's motion up to where the search is, now and then."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ...sim.engine import character_offsets
from ..cast import attachment_name
from ..method import Run
from ..tracking.reference import CONTROL_FPS, FRAGMENT_STEPS, read_sensors
from .stage_character import StageCharacter
from .stage_rollout import StageRollout

POS, QUAT, BONES = "link_pos", "link_quat_wxyz", "bones"
"""(K, L, 3) metres, (K, L, 4), and the links' bones; another character's are named as its attachments are."""
_EVERY_S, _SHARE = 0.4, 0.03  # from one to the next at least, and of the search's time at most
_BETWEEN = 3  # moments that a fragment is shown with


class ShownPlan:
    """Shows a rollout to whoever watches its run, and changes nothing of it. clock: seconds."""

    def __init__(self, run: Run, clock: Callable[[], float] = time.monotonic) -> None:
        self._run, self._clock = run, clock
        self._next_s = -np.inf

    def look(self, rollout: StageRollout) -> None:
        """Show what there is by now, if it is some time ago that something was shown."""
        began_s = self._clock()
        if began_s < self._next_s:
            return
        arrays: dict[str, NDArray[Any]] = {}
        about: dict[str, Any] = {"fps": _BETWEEN * CONTROL_FPS / FRAGMENT_STEPS}
        for index, character in enumerate(rollout.characters):
            pos, quat = _find_motion(rollout, index, character)
            arrays[attachment_name(POS, index)] = _fill_between(pos).astype(np.float32)
            turns = _fill_between(_align(quat))
            turns /= np.maximum(np.linalg.norm(turns, axis=-1, keepdims=True), 1e-9)
            arrays[attachment_name(QUAT, index)] = turns.astype(np.float32)
            about[attachment_name(BONES, index)] = [link.bone for link in character.body.links]
            about[attachment_name("character", index)] = rollout.stage.characters[index].name
        self._run.show(arrays, about)
        now_s = self._clock()
        self._next_s = now_s + max(_EVERY_S, (now_s - began_s) / _SHARE)


def _find_motion(rollout: StageRollout, index: int, character: StageCharacter) -> tuple[Array, Array]:
    """(K, L, 3) and (K, L, 4) of a character at fragments' ends: what it has done, and what is planned from there on.

    Of a pass under way what it has found so far; after that, where the pass before would lead.
    """
    done = np.array([*rollout.start_states, rollout.state])
    where = character_offsets(rollout.stage)["links"]
    own = slice(int(where[index]), int(where[index + 1]))
    rows = read_sensors(rollout.world, done)
    parts = [(rows.link_pos[0, :, own], rows.link_quat_wxyz[0, :, own])]
    ends = _find_planned(rollout, index, character)
    if len(ends):
        planned = read_sensors(character.world, ends)
        parts.append((planned.link_pos[0], planned.link_quat_wxyz[0]))
    pos, quat = (np.concatenate(values) for values in zip(*parts, strict=True))
    whole = np.isfinite(pos).all(axis=(1, 2)) & np.isfinite(quat).all(axis=(1, 2))
    count = len(whole) if whole.all() else max(int(np.argmin(whole)), 1)  # until physics diverged
    return pos[:count], quat[:count]


def _find_planned(rollout: StageRollout, index: int, character: StageCharacter) -> Array:
    """(F, state_size) of the character's own world: what comes after what was done."""
    at, none = len(rollout.offsets), np.zeros((0, character.world.state_size))
    if rollout.planning is not None and rollout.planning[0] == index:
        search = rollout.planning[2]
        found = search.best_trajectory().ends if search.layers else none
        after = none if search.nominal is None else search.nominal.ends[len(found) :]
        return np.concatenate([found, after])
    trajectory = character.trajectory
    return none if trajectory is None else trajectory.ends[max(at - trajectory.first, 0) :]


def _align(quat: Array) -> Array:
    """(K, L, 4) the same turns, each of the sign that is nearer to the one before."""
    flips = np.sum(quat[1:] * quat[:-1], axis=-1) < 0.0
    signs = np.concatenate([np.ones((1, quat.shape[1])), np.where(np.cumsum(flips, axis=0) % 2, -1.0, 1.0)])
    return np.asarray(quat * signs[..., None])


def _fill_between(values: Array) -> Array:
    """(_BETWEEN * (K - 1) + 1, ...) with moments between those of (K, ...)."""
    at = np.arange(_BETWEEN * (len(values) - 1) + 1) / _BETWEEN
    first = np.minimum(at.astype(int), max(len(values) - 2, 0))
    share = (at - first).reshape(-1, *(1,) * (values.ndim - 1))
    return np.asarray((1.0 - share) * values[first] + share * values[np.minimum(first + 1, len(values) - 1)])
