# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's console says that an animator should never have to see."""

from __future__ import annotations

_WORDS = ("traceback", "error", "warning", "exception")
_KNOWN = ("mounted file-systems",)  # Blender's own, on a machine without any


def complaints(path: str) -> list[str]:
    """The lines of the log that complain."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        lines = stream.read().splitlines()
    return [line for line in lines if any(w in line.lower() for w in _WORDS) and not any(k in line for k in _KNOWN)]
