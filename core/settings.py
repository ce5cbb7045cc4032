# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that describe themselves: frozen dataclasses whose fields carry label, help and range.

A method declares its settings once; the panel, ``--set key=value`` and the job's ``spec.json`` all
follow from the fields' metadata.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

from .errors import BadSettings

Value = bool | int | float | str

_KINDS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def setting(
    default: Value,
    label: str,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    unit: str = "",
    choices: Sequence[tuple[str, str, str]] = (),
) -> Any:
    """Declare a field: ``choices`` are (value, label, help) for a string; ``unit`` is '', s, m, rad, N or kg."""
    meta = {
        "label": label,
        "help": help,
        "minimum": minimum,
        "maximum": maximum,
        "unit": unit,
        "choices": tuple(choices),
    }
    return dataclasses.field(default=default, metadata=meta)


@dataclasses.dataclass(frozen=True)
class Settings:
    """Base of every method's settings: wrong values fail here, where they are made."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            _check(field, value)
            if isinstance(field.default, float):
                # 1 and 1.0 are the same setting, so they must be the same in spec.json.
                object.__setattr__(self, field.name, float(value))

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Settings from a mapping such as a spec's; unknown names are refused."""
        known = {field.name for field in dataclasses.fields(cls)}
        for name in values:
            if name not in known:
                raise _unknown(name, known)
        return cls(**dict(values))

    @classmethod
    def from_texts(cls, pairs: Sequence[str]) -> Self:
        """Settings from ``key=value`` texts as given on the command line."""
        fields = {field.name: field for field in dataclasses.fields(cls)}
        values: dict[str, Value] = {}
        for pair in pairs:
            name, equals, text = pair.partition("=")
            name = name.strip()
            if not equals:
                raise BadSettings(f"'{pair}' is not a setting", "Write --set name=value")
            if name not in fields:
                raise _unknown(name, set(fields))
            values[name] = _parse(fields[name], text.strip())
        return cls(**values)

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """The names of all settings, in the order in which they were declared."""
        return tuple(field.name for field in dataclasses.fields(cls))

    def to_mapping(self) -> dict[str, Value]:
        """Plain values for ``spec.json``."""
        return dataclasses.asdict(self)


def _unknown(name: str, known: set[str]) -> BadSettings:
    names = ", ".join(sorted(known)) or "none for this method"
    return BadSettings(f"There is no setting '{name}'", f"Known settings: {names}")


def _parse(field: "dataclasses.Field[Any]", text: str) -> Value:
    kind: type = type(field.default)
    try:
        if kind is bool:
            return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[text.lower()]
        if kind is int:
            return int(text)
        if kind is float:
            return float(text)
    except (KeyError, ValueError):
        raise BadSettings(f"Setting '{field.name}' is '{text}'", f"Give {_KINDS[kind]}") from None
    return text


def _check(field: "dataclasses.Field[Any]", value: Any) -> None:
    kind: type = type(field.default)
    fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
    if not fits or (isinstance(value, bool) and kind is not bool):
        raise BadSettings(f"Setting '{field.name}' is {value!r}", f"Give {_KINDS[kind]}")
    if kind in (int, float):
        low, high = field.metadata["minimum"], field.metadata["maximum"]
        if not _finite(value) or (low is not None and value < low) or (high is not None and value > high):
            raise BadSettings(f"Setting '{field.name}' is {value}", f"Give a value {_bounds(low, high)}")
    names = [choice[0] for choice in field.metadata["choices"]]
    if names and value not in names:
        raise BadSettings(f"Setting '{field.name}' is '{value}'", f"Choose one of: {', '.join(names)}")


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number larger than any float
        return False


def _bounds(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"between {low} and {high}"
    if low is not None:
        return f"of at least {low}"
    return f"of at most {high}" if high is not None else "that is finite"
