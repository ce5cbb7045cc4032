# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's console says that an animator should never have to see."""

from __future__ import annotations

from collections.abc import Collection

_WORDS = ("traceback", "error", "warning", "exception")
_KNOWN = ("mounted file-systems",)  # Blender's own, on a machine without any


def complaints(path: str, expected: Collection[str] = ()) -> list[str]:
    """The lines of the log that complain; expected: what a step was to be warned of."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        lines = stream.read().splitlines()
    # Blender 4 says "Warning: ...", and Blender 5.2 "01:41.908  operator | WARNING ...".
    endings = tuple(start + text for text in expected for start in ("Warning: ", "| WARNING "))
    lines = [line for line in lines if not (endings and line.endswith(endings))]
    lines = [line for line in lines if not any(word in line for word in _KNOWN)]
    return [line for line in lines if any(word in line.lower() for word in _WORDS)]
