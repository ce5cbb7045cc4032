# SPDX-License-Identifier: GPL-3.0-or-later
"""A line of ``events.jsonl`` as an event on which every reader may rely, or nothing.

A power cut can leave zeros behind, and in a folder that is not ours alone anything may stand there. What decides how a
job stands must be right, or the line is no event; what is only shown is left out where it is not, and cut where it is
too long.
"""

import re
from collections.abc import Mapping
from typing import Any

from .. import limits
from ..files import parse_json

Event = dict[str, Any]

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def check_event(line: bytes) -> Event | None:
    """The event of a line, None for a line that is none."""
    try:
        event = parse_json(line.decode("utf-8"))
    except ValueError:
        return None
    if not isinstance(event, dict) or not isinstance(event.get("kind"), str):
        return None
    if not _is_whole(event.get("run"), limits.RUNS) or not _is_moment(event.get("time")):
        return None
    needed = _NEEDED.get(event["kind"], {})
    if not all(check(event.get(name)) for name, check in needed.items()):
        return None
    kept = {name: event[name] for name in ("time", "run", "kind", *needed)}
    return kept | {name: keep(event[name]) for name, keep in _SHOWN.items() if name in event and name not in needed}


def _is_whole(value: Any, most: int = limits.STEPS) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _is_moment(value: Any) -> bool:
    return isinstance(value, float) and 0.0 <= value <= limits.MOMENT_S


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_finding(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


_STEP = {"step": _is_whole}
_PROCESS = {"pid": lambda value: _is_whole(value, 2**31 - 1) and value > 0, "host": _is_text}
# Kind -> what it must have. A launch without a process would be waited for, one without a host never found.
_NEEDED: dict[str, dict[str, Any]] = {
    "launched": _PROCESS,
    "resumed": _STEP,
    "progress": _STEP,
    "finding": {"finding": _is_finding},
}


def _text(value: Any) -> str:
    return value[: limits.TEXT_LETTERS] if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    return (
        [_text(item) for item in value[: limits.FINDINGS] if isinstance(item, str)] if isinstance(value, list) else []
    )


def _numbers(value: Any) -> dict[str, Any]:
    """Measurements by name: numbers, yes or no, short texts, None for what nobody knows."""
    if not isinstance(value, dict):
        return {}
    items = [(name, item) for name, item in value.items() if len(name) <= limits.NAME_LETTERS]
    return {
        name: _text(item) if isinstance(item, str) else item
        for name, item in items[: limits.MEASUREMENTS]
        if item is None or isinstance(item, bool | int | float | str)
    }


def _hashes(value: Any) -> dict[str, str]:
    """File name -> sha256; a name that leads elsewhere is none of ours."""
    if not isinstance(value, Mapping):
        return {}
    named = ((name, item) for name, item in value.items() if isinstance(item, str))
    return {name: item for name, item in named if _FILE_NAME.fullmatch(name) and len(name) <= limits.NAME_LETTERS}


def _as_it_is(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float) else _text(value)


# What else may stand in an event, and what is left of it.
_SHOWN: dict[str, Any] = {
    "message": _text,
    "hint": _text,
    "python": _text,
    "where": _text,
    "host": _text,
    "pid": lambda value: value if _is_whole(value, 2**31 - 1) else 0,
    "total": lambda value: value if _is_whole(value) else 0,
    "measurements": _numbers,
    "summary": _texts,
    "sha256": _hashes,
    "fell": _as_it_is,
    "lost": _as_it_is,
    "memory_ends": lambda value: value if _is_whole(value) else None,
    "boot": _text,
}
