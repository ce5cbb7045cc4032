# SPDX-License-Identifier: GPL-3.0-or-later
"""A take's report as the .blend keeps it, read so that whoever shows it may rely on its types.

A .blend is a file like any other: the text may be cut, of another version, or made up. What is not as it should be is
left out, and the rest is shown.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from ...core import limits
from ...core.files import parse_json


@functools.lru_cache(maxsize=256)
def parse_report(text: str) -> Mapping[str, Any]:
    """The report in a text, empty where there is none. Not to be changed."""
    try:
        report = parse_json(text) if text and len(text) <= limits.REPORT_LETTERS else {}
    except ValueError:
        return {}
    if not isinstance(report, dict):
        return {}
    checked = {name: _CHECKS[name](value) if name in _CHECKS else value for name, value in report.items()}
    return {name: value for name, value in checked.items() if value is not None or name not in _CHECKS}


def _text(value: Any) -> str | None:
    return value[: limits.TEXT_LETTERS] if isinstance(value, str) else None


def _number(value: Any) -> float | int | None:
    return value if isinstance(value, float | int) and not isinstance(value, bool) else None


def _texts(value: Any) -> list[str] | None:
    if not isinstance(value, list):
        return None
    return [str(item)[: limits.TEXT_LETTERS] for item in value[: limits.FINDINGS]]


def _measurements(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    known = {name[: limits.NAME_LETTERS]: item for name, item in list(value.items())[: limits.MEASUREMENTS]}
    return {name: item for name, item in known.items() if item is None or isinstance(item, bool | int | float | str)}


def _mapping(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "title": _text,
    "method": _text,
    "engine": _text,
    "summary": _texts,
    "measurements": _measurements,
    "controls": _mapping,
    "wall_s": _number,
    "duration_s": _number,
    "lost_at_s": _number,
    "fell_at_s": _number,
}
