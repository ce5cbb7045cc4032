# SPDX-License-Identifier: GPL-3.0-or-later
"""An edit by hand of one part of a body, whatever was fitted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np

from ..errors import BadSettings

ShapeKind = Literal["sphere", "capsule", "box"]
KINDS: tuple[ShapeKind, ...] = get_args(ShapeKind)
SIZES = {"sphere": "radius", "capsule": "radius x length", "box": "width x depth x height"}
"""What the numbers of a size are."""
STIFFNESS = (0.01, 100.0)
"""The least and the most, times what the gains say."""

_LARGEST_M, _HEAVIEST_KG = 100.0, 1e5


@dataclass(frozen=True)
class PartEdit:
    """What is said of one part; what is left out stays as it was fitted.

    shape: what it is from now on. size_m: metres. Sphere: its radius. Capsule: radius and whole length, round ends
        included. Box: three whole edges along its own axes. Left out, about as large as what was fitted.
    offset_m: (3) metres in the bone's frame by which the part lies elsewhere.
    mass_kg: what it weighs. A new shape alone does not change that.
    limits_rad: how far its joint goes from zero. A hinge: lower and upper. A ball: how far in any direction. One
        number for a hinge is both ways, two for a ball the farther one. They hold also where the clip goes beyond.
    stiffness: times what the gains say, for stiffness, damping and strength alike.
    """

    shape: ShapeKind | None = None
    size_m: tuple[float, ...] = ()
    offset_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    mass_kg: float | None = None
    limits_rad: tuple[float, ...] = ()
    stiffness: float = 1.0

    def __post_init__(self) -> None:
        for name in ("size_m", "offset_m", "limits_rad"):
            object.__setattr__(self, name, tuple(float(value) for value in getattr(self, name)))
        self._check_shape()
        if len(self.offset_m) != 3 or not np.all(np.abs(self.offset_m) < _LARGEST_M):
            raise BadSettings(f"A part cannot lie {self.offset_m} m elsewhere", "Give three numbers in metres")
        if self.mass_kg is not None and not 0.0 < self.mass_kg < _HEAVIEST_KG:
            raise BadSettings(f"The mass of a part is {self.mass_kg:g} kg", "Give kilograms above zero")
        self._check_limits()
        if not STIFFNESS[0] <= self.stiffness <= STIFFNESS[1]:
            raise BadSettings(
                f"The stiffness of a part is {self.stiffness:g}", f"Give between {STIFFNESS[0]} and {STIFFNESS[1]:g}"
            )

    def _check_shape(self) -> None:
        if self.shape is None:
            if self.size_m:
                raise BadSettings("A size without a shape says nothing", f"Give a shape: {', '.join(KINDS)}")
            return
        if self.shape not in KINDS:
            raise BadSettings(f"'{self.shape}' is no shape", f"Choose one of: {', '.join(KINDS)}")
        wanted = SIZES[self.shape]
        if self.size_m and len(self.size_m) != wanted.count("x ") + 1:
            raise BadSettings(f"A {self.shape} of size {self.size_m}", f"Give {wanted}, in metres")
        if not all(0.0 < value < _LARGEST_M for value in self.size_m):
            raise BadSettings(f"A {self.shape} of size {self.size_m}", "Give metres above zero")

    def _check_limits(self) -> None:
        limits = self.limits_rad
        if len(limits) > 2 or not all(abs(value) <= 2.0 * np.pi for value in limits):
            raise BadSettings(f"A joint cannot go {_degrees(limits)}", "Give one or two angles within a turn")
        if limits and not (limits[0] if len(limits) == 2 else 0.0) < limits[-1]:
            raise BadSettings(f"A joint cannot go {_degrees(limits)}", "Let the second angle be larger than the first")

    @property
    def says(self) -> tuple[str, ...]:
        """What is not as fitted, in words."""
        moved = any(self.offset_m)
        found = (
            ("shape", self.shape is not None),
            ("place", moved),
            ("mass", self.mass_kg is not None),
            ("limits", bool(self.limits_rad)),
            ("stiffness", self.stiffness != 1.0),
        )
        return tuple(word for word, holds in found if holds)

    def to_mapping(self) -> dict[str, Any]:
        """Plain values for a JSON file, of what is said only."""
        plain = {
            "shape": self.shape,
            "size_m": list(self.size_m),
            "offset_m": list(self.offset_m) if any(self.offset_m) else None,
            "mass_kg": self.mass_kg,
            "limits_rad": list(self.limits_rad),
            "stiffness": self.stiffness if self.stiffness != 1.0 else None,
        }
        return {name: value for name, value in plain.items() if value}

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of ``to_mapping``."""
        return cls(**values)


def _degrees(limits: Sequence[float]) -> str:
    return " to ".join(f"{np.degrees(value):g}°" for value in limits)
