# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes as tasks of a render farm: what is to be made (``order``), told to Open Job Description and to Flamenco.

A farm is given three kinds of tasks: one a take, one that merges all of them, and those that render. Names from a
scene are values of the farm's own parameters and never part of its template or script.
"""

from collections.abc import Callable

from ...errors import BadSettings
from . import flamenco, openjd
from .order import FarmOrder, parse_frame_list

FORMATS: dict[str, tuple[str, Callable[[FarmOrder], bytes]]] = {
    "openjd": (openjd.FILE_NAME, openjd.encode_template),
    "flamenco": (flamenco.FILE_NAME, flamenco.encode_job_type),
}
"""Format -> the file that it is written to, and what makes its content."""


def require_format(name: str) -> tuple[str, Callable[[FarmOrder], bytes]]:
    """The row of a format; refuses what is none."""
    if name not in FORMATS:
        raise BadSettings(f"There is no farm format '{name}'", f"Choose one of: {', '.join(FORMATS)}")
    return FORMATS[name]


__all__ = ["FORMATS", "FarmOrder", "parse_frame_list", "require_format"]
