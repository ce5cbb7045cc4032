# SPDX-License-Identifier: GPL-3.0-or-later
"""A trained student: what it was told words for, its state's layout and its network; it plays N characters at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import BadFile
from ....geometry.quaternions import Array
from ....learn.recurrent import Floats32, RecurrentNetwork, recurrent_network_from_arrays
from ....learn.recurrent_data import HOLD, approach_weight
from ...matching.matching import Complex
from .controls import Controls, control_size, count_due, encode_controls, heading_column, place_column
from .key_choice import KeyChoice, key_choice_from_arrays
from .state_layout import STUDENT_FPS, StudentLayout, layout_from_arrays

_PREFIX = "student_"


@dataclass(frozen=True, eq=False)
class Student:
    """words: what it can be told to do. about: how it was trained."""

    words: tuple[str, ...]
    layout: StudentLayout
    keys: KeyChoice
    network: RecurrentNetwork
    about: Mapping[str, Any] = field(default_factory=dict)

    def to_arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """(arrays, meta) that go into a library's file."""
        arrays, network = self.network.to_arrays()
        more, layout = self.layout.to_arrays()
        meta = {"words": list(self.words), "layout": layout, "network": network, "about": dict(self.about)}
        return {f"{_PREFIX}{name}": array for name, array in (arrays | more | self.keys.to_arrays()).items()}, meta


def student_from_arrays(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], bones: int, label: str) -> Student:
    """What ``to_arrays`` gave; anything else is a ``BadFile``, for it may come from anywhere."""
    own = {name.removeprefix(_PREFIX): array for name, array in arrays.items() if name.startswith(_PREFIX)}
    try:
        words, about = tuple(str(word) for word in meta["words"]), meta["about"]
        layout = layout_from_arrays(own, meta["layout"], bones)
        keys = key_choice_from_arrays(own, len(words))
        network = recurrent_network_from_arrays(own, meta["network"])
        if not words or len(set(words)) != len(words) or not isinstance(about, Mapping):
            raise ValueError("it does not say what it can be told")
        if (
            network.input_size != layout.size + control_size(len(words), keys.size)
            or network.output_size != layout.size
        ):
            raise ValueError("its network is for another state")
        if keys.size not in (0, 3 * len(layout.joints)):
            raise ValueError("its key poses are of another body")
        if keys.size and keys.targets.shape[1] != layout.turns.stop - layout.places.start:
            raise ValueError("its key poses are of another body")
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"The student in {label} is not whole: {error}", "Train it again") from error
    return Student(words, layout, keys, network, about)


class StudentPlayer:
    """N characters that a student moves, 30 frames a second. pos: (N,) complex metres, yaw: (N,) radians of the roots.

    states: (N, S) normalised, raw: (N, S) in metres and radians.
    """

    def __init__(self, student: Student, states: Floats32, pos: Complex, yaw: Array) -> None:
        self.student = student
        self.states = np.array(states, dtype=np.float32)
        self.pos, self.yaw = np.array(pos, dtype=complex), np.array(yaw, dtype=float)
        self._memory = student.network.begin(len(states))
        self._action, self._left_s = np.full(len(states), -1), np.zeros(len(states))
        self._key = np.full(len(states), -1, dtype=np.int64)

    @property
    def raw(self) -> Floats32:
        """(N, S) in metres and radians."""
        return self.student.layout.raw(self.states)

    def step(self, told: Controls) -> None:
        """One frame on, for all."""
        student = self.student
        before_s = np.array(self._left_s)
        self._choose_keys(told)
        controls = encode_controls(len(student.words), told, self.pos, self.yaw, student.keys.tell(self._key))
        put_out = student.network.step(np.concatenate([self.states, controls], axis=1), self._memory)
        self._go(put_out, controls, count_due(told.left_s, before_s))
        step = self.states[:, :3] * student.layout.scale[:3] + student.layout.mean[:3]
        self.pos += np.exp(1j * self.yaw) * (step[:, 0] + 1j * step[:, 1])
        self.yaw += step[:, 2]

    def _choose_keys(self, told: Controls) -> None:
        """Whoever is asked for something else, or again, is told a key pose to come to, and keeps it."""
        anew = (told.action != self._action) | (told.left_s > self._left_s + 0.5 / STUDENT_FPS)
        self._action, self._left_s = np.array(told.action), np.array(told.left_s)
        if self.student.keys.size and anew.any():
            places = self.raw[anew][:, self.student.layout.places]
            self._key[anew] = self.student.keys.choose(told.action[anew], places, told.left_s[anew])

    def _go(self, put_out: Floats32, controls: Floats32, due: NDArray[np.int64]) -> None:
        """The next states: what the network says, and what is left of the way when the time is nearly out.

        As ``core/learn/recurrent_approach`` has it in training. due: (N,) frames that are left.
        """
        layout, words = self.student.layout, len(self.student.words)
        weight, steps = approach_weight(due), (np.maximum(due, 0) + 1).astype(np.float32)
        pose, has = slice(layout.places.start, layout.turns.stop), self._key >= 0
        if has.any():
            targets = (self.student.keys.targets[self._key[has]] - layout.mean[pose]) / layout.scale[pose]
            put_out[has, pose] += (weight / steps)[has, None] * (targets - self.states[has, pose])
        self.states += put_out
        step = self.states[:, :3] * layout.scale[:3] + layout.mean[:3]
        heading, place = (controls[:, first : first + 3] for first in (heading_column(words), place_column(words)))
        angle = np.arctan2(heading[:, 2], heading[:, 1])
        step[:, 2] += heading[:, 0] * (weight * (angle / steps - step[:, 2]) + np.where(due < 0, HOLD * angle, 0.0))
        step[:, :2] += (place[:, 0] * weight)[:, None] * (place[:, 1:] / steps[:, None] - step[:, :2])
        self.states[:, :3] = (step - layout.mean[:3]) / layout.scale[:3]

    def poses(self) -> tuple[Array, Array]:
        """Local places (N, bones, 3) and rotations (N, bones, 4) now."""
        return self.student.layout.decode(self.raw, self.pos, self.yaw)
