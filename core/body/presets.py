# SPDX-License-Identifier: GPL-3.0-or-later
"""The body and gain presets in ``presets/``, as JSON that Blender presets can be made from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import BadFile, BadSettings
from ..files import read_json

_FOLDER = Path(__file__).resolve().parents[2] / "presets"


@dataclass(frozen=True)
class BodyPreset:
    """How heavy a body of its stature is.

    bmi: kg/m², body mass over the square of stature. head: the head's part of body mass, None for the table's.
    """

    name: str
    label: str
    help: str
    bmi: float
    head: float | None = None


@dataclass(frozen=True)
class JointGain:
    """kp: N·m/rad, kd: N·m·s/rad, torque_limit: N·m, all of a joint that carries ``load`` kg·m."""

    kp: float
    kd: float
    torque_limit: float
    load: float


@dataclass(frozen=True)
class GainPreset:
    """Gains by role ('pelvis' has none)."""

    name: str
    label: str
    help: str
    joints: Mapping[str, JointGain]


def body_presets() -> tuple[str, ...]:
    """Names of the body presets there are."""
    return _names("bodies")


def gain_presets() -> tuple[str, ...]:
    """Names of the gain presets there are."""
    return _names("gains")


def body_preset(name: str) -> BodyPreset:
    """The body preset of that name."""
    values = _read("bodies", name)
    try:
        return BodyPreset(name, values["label"], values["help"], float(values["bmi"]), values.get("head"))
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"The body preset '{name}' lacks or garbles {error}", "Install Sinew again") from error


def gain_preset(name: str) -> GainPreset:
    """The gain preset of that name."""
    values = _read("gains", name)
    try:
        joints = {
            role: JointGain(**{key: float(value) for key, value in gain.items()})
            for role, gain in values["joints"].items()
        }
        return GainPreset(name, values["label"], values["help"], joints)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadFile(f"The gain preset '{name}' lacks or garbles {error}", "Install Sinew again") from error


def _names(kind: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (_FOLDER / kind).glob("*.json")))


@lru_cache(maxsize=32)
def _read(kind: str, name: str) -> Any:
    if name not in (known := _names(kind)):
        what = {"bodies": "body", "gains": "gain"}[kind]
        raise BadSettings(f"There is no {what} preset '{name}'", f"Choose one of: {', '.join(known)}")
    return read_json(_FOLDER / kind / f"{name}.json")
