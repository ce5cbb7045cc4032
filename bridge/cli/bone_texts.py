# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``--bone`` says: NAME=ROLE, NAME=shape:box,size:0.1x0.2x0.1,mass:4, or both."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.body.part_edit import PartEdit
from ...core.errors import BadSettings

_HINT = "Write --bone NAME=ROLE, such as Hips=pelvis, or --bone NAME=mass:4,limits:-5:140"


def read_bones(texts: Sequence[str]) -> tuple[dict[str, str], dict[str, PartEdit]]:
    """Roles and edits by bone, several texts of one together; a name may hold anything, what is said of it no '='."""
    roles: dict[str, str] = {}
    values: dict[str, dict[str, Any]] = {}
    for text in texts:
        bone, _, told_of_it = text.rpartition("=")
        if not (bone and told_of_it):
            raise BadSettings(f"'{text}' says not which bone is what", _HINT)
        words = [word.strip() for word in told_of_it.split(",")]
        told = [word for word in words if ":" not in word]
        if len(told) > 1 or not all(words):
            raise BadSettings(f"'{text}' gives bone '{bone}' several roles", _HINT)
        if told:
            roles[bone] = told[0]
        if len(words) > len(told):
            values.setdefault(bone, {}).update(_values(text, [word for word in words if ":" in word]))
    return roles, {bone: PartEdit(**said) for bone, said in values.items()}


def _values(text: str, words: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for word in words:
        key, _, value = word.partition(":")
        if key not in _KEYS:
            raise BadSettings(f"'{key}' in '{text}' is nothing that a part has", f"Known are: {', '.join(_KEYS)}")
        name, read = _KEYS[key]
        try:
            values[name] = read(value)
        except ValueError:
            raise BadSettings(f"'{word}' in '{text}' is not in numbers", f"Write {_EXAMPLES[key]}") from None
    return values


def _lengths(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split("x"))


def _angles(text: str) -> tuple[float, ...]:
    return tuple(float(np.radians(float(part))) for part in text.split(":"))


_KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "shape": ("shape", str),
    "size": ("size_m", _lengths),
    "offset": ("offset_m", _lengths),
    "mass": ("mass_kg", float),
    "limits": ("limits_rad", _angles),
    "stiffness": ("stiffness", float),
}
_EXAMPLES = {
    "size": "size:0.05x0.4 in metres",
    "offset": "offset:0x0.02x0 in metres",
    "mass": "mass:4 in kilograms",
    "limits": "limits:-5:140 in degrees, or limits:80 for a joint that turns any way",
    "stiffness": "stiffness:0.5, which is half of the usual",
}
