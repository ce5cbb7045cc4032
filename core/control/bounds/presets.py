# SPDX-License-Identifier: GPL-3.0-or-later
"""The bounds presets in ``presets/bounds/``, as JSON: widths of every kind, by the roles of a body's links."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...errors import BadFile, BadSettings
from ...files import read_json

_FOLDER = Path(__file__).resolve().parents[3] / "presets" / "bounds"


@dataclass(frozen=True)
class BoundsPreset:
    """Widths to both sides of the reference; None is no bound.

    com: metres along X, Y and Z. root: radians. joints: radians and effectors: metres, one for all or by role ('foot');
    roles that are not named have none.
    """

    name: str
    label: str
    help: str
    com: tuple[float | None, float | None, float | None]
    root: float | None
    joints: float | Mapping[str, float] | None
    effectors: float | Mapping[str, float] | None


def bounds_presets() -> tuple[str, ...]:
    """Names of the presets there are."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


@lru_cache(maxsize=16)
def bounds_preset(name: str) -> BoundsPreset:
    """The preset of that name."""
    if name not in (known := bounds_presets()):
        raise BadSettings(f"There are no bounds '{name}'", f"Choose one of: {', '.join(known)}")
    values = read_json(_FOLDER / f"{name}.json")
    try:
        x, y, z = map(_width, values["com"] or (None, None, None))
        joints, effectors = (_by_role(values[kind]) for kind in ("joints", "effectors"))
        return BoundsPreset(name, values["label"], values["help"], (x, y, z), _width(values["root"]), joints, effectors)
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"The bounds preset '{name}' lacks or garbles {error}", "Install Sinew again") from error


def _width(value: Any) -> float | None:
    return None if value is None else float(value)


def _by_role(value: Any) -> float | Mapping[str, float] | None:
    return {str(role): float(own) for role, own in value.items()} if isinstance(value, Mapping) else _width(value)
