# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that people give, checked before anything is opened with them."""

import errno
import os
from pathlib import Path

from .errors import BadFile
from .limits import BLENDER_PATH_BYTES
from .texts import is_encodable

_TOO_LONG_ON_WINDOWS = 206
SHORTER = "Give it a shorter name, or use a folder with a shorter path"


def usable_path(text: str | Path) -> Path:
    """The path with ``~`` filled in; one that no file could have on this system, or in Blender, is a ``BadFile``."""
    given = str(text)
    if "\0" in given or not is_encodable(given):
        raise BadFile(f"'{given}' is no path: it has characters that are no text", "Rename it with plain letters")
    try:
        path = Path(given).expanduser()
        os.lstat(path)
    except RuntimeError as error:  # a '~' without a home
        raise BadFile(f"'{given}' is no path: {error}", "Write the whole path") from error
    except OSError as error:
        if is_too_long(error):
            raise BadFile(f"'{given}' is too long for a path ({len(os.fsencode(given))} bytes)", SHORTER) from error
        path = Path(given).expanduser()  # it may come to be; who opens it says what is wrong with it
    length = len(os.fsencode(os.path.abspath(path)))
    if length > BLENDER_PATH_BYTES:
        raise BadFile(f"'{given}' is too long for Blender: {length} bytes of {BLENDER_PATH_BYTES}", SHORTER)
    return path


def is_too_long(error: OSError) -> bool:
    """Whether it is a path's length that the system complains of."""
    return error.errno == errno.ENAMETOOLONG or getattr(error, "winerror", None) == _TOO_LONG_ON_WINDOWS
