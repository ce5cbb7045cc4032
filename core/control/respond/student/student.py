# SPDX-License-Identifier: GPL-3.0-or-later
"""A trained student: what it was told words for, its state's layout and its network; it plays N characters at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....errors import BadFile
from ....geometry.quaternions import Array
from ....learn.recurrent import Floats32, RecurrentNetwork, recurrent_network_from_arrays
from ...matching.matching import Complex
from .controls import Controls, control_size, encode_controls
from .state_layout import StudentLayout, layout_from_arrays

_PREFIX = "student_"


@dataclass(frozen=True, eq=False)
class Student:
    """words: what it can be told to do. about: how it was trained."""

    words: tuple[str, ...]
    layout: StudentLayout
    network: RecurrentNetwork
    about: Mapping[str, Any] = field(default_factory=dict)

    def to_arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """(arrays, meta) that go into a library's file."""
        arrays, network = self.network.to_arrays()
        more, layout = self.layout.to_arrays()
        meta = {"words": list(self.words), "layout": layout, "network": network, "about": dict(self.about)}
        return {f"{_PREFIX}{name}": array for name, array in (arrays | more).items()}, meta


def student_from_arrays(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any], bones: int, label: str) -> Student:
    """What ``to_arrays`` gave; anything else is a ``BadFile``, for it may come from anywhere."""
    own = {name.removeprefix(_PREFIX): array for name, array in arrays.items() if name.startswith(_PREFIX)}
    try:
        words, about = tuple(str(word) for word in meta["words"]), meta["about"]
        layout = layout_from_arrays(own, meta["layout"], bones)
        network = recurrent_network_from_arrays(own, meta["network"])
        if not words or len(set(words)) != len(words) or not isinstance(about, Mapping):
            raise ValueError("it does not say what it can be told")
        if network.input_size != layout.size + control_size(len(words)) or network.output_size != layout.size:
            raise ValueError("its network is for another state")
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"The student in {label} is not whole: {error}", "Train it again") from error
    return Student(words, layout, network, about)


class StudentPlayer:
    """N characters that a student moves, 30 frames a second. pos: (N,) complex metres, yaw: (N,) radians of the roots.

    states: (N, S) normalised, raw: (N, S) in metres and radians.
    """

    def __init__(self, student: Student, states: Floats32, pos: Complex, yaw: Array) -> None:
        self.student = student
        self.states = np.array(states, dtype=np.float32)
        self.pos, self.yaw = np.array(pos, dtype=complex), np.array(yaw, dtype=float)
        self._memory = student.network.begin(len(states))

    @property
    def raw(self) -> Floats32:
        """(N, S) in metres and radians."""
        return self.student.layout.raw(self.states)

    def step(self, told: Controls) -> None:
        """One frame on, for all."""
        student = self.student
        controls = encode_controls(len(student.words), told, self.pos, self.yaw)
        self.states += student.network.step(np.concatenate([self.states, controls], axis=1), self._memory)
        step = self.states[:, :3] * student.layout.scale[:3] + student.layout.mean[:3]
        self.pos += np.exp(1j * self.yaw) * (step[:, 0] + 1j * step[:, 1])
        self.yaw += step[:, 2]

    def poses(self) -> tuple[Array, Array]:
        """Local places (N, bones, 3) and rotations (N, bones, 4) now."""
        return self.student.layout.decode(self.raw, self.pos, self.yaw)
