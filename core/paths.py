# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that people, files and scenes give, checked before anything is opened with them.

Asked whether a file is there, ``pathlib`` raises an error for a folder that may not be looked into, for a name that is
too long and for one with a zero in it. Whoever packed a scene chooses such names, so that here the answer is "no".
"""

import errno
import os
import stat
from pathlib import Path

from .errors import BadFile
from .limits import BLENDER_PATH_BYTES
from .texts import is_encodable

_TOO_LONG_ON_WINDOWS = 206
SHORTER = "Give it a shorter name, or use a folder with a shorter path"
_REPARSE_POINT = 0x400


def is_plain_file(path: Path | str) -> bool:
    """Whether a file is there that can be read like one, as far as one may see."""
    return stat.S_ISREG(_kind_of(path))


def is_folder(path: Path | str) -> bool:
    """Whether a folder is there, as far as one may see."""
    return stat.S_ISDIR(_kind_of(path))


def is_there(path: Path | str) -> bool:
    """Whether anything is there; what nobody may look at is not."""
    return _kind_of(path) != 0


def _kind_of(path: Path | str) -> int:
    """The system's word for what is there, wherever links lead; 0 for nothing that can be seen."""
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):  # the second for a name with a zero, or half a character, in it
        return 0


def size_of(path: Path | str) -> int:
    """Bytes of a file; 0 for one that cannot be seen."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def why_no_file(path: Path | str) -> str:
    """Why no plain file is there, as the end of a sentence that names it; '' where one is."""
    try:
        about = os.stat(path)
    except FileNotFoundError:
        return "does not exist"
    except (OSError, ValueError) as error:
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"
    return "" if stat.S_ISREG(about.st_mode) else "is no file"


def is_link(path: Path) -> bool:
    """Whether the name leads elsewhere: a symbolic link, or a junction of Windows."""
    try:
        about = os.lstat(path)
    except (OSError, ValueError):
        return False
    # Windows calls links and junctions reparse points; Python 3.11 knows no junctions.
    return stat.S_ISLNK(about.st_mode) or bool(getattr(about, "st_file_attributes", 0) & _REPARSE_POINT)


def list_folder(folder: Path, ending: str = "") -> list[Path]:
    """What is in a folder, by name, as far as names end so; one that cannot be listed is a ``BadFile``."""
    try:
        return sorted(folder / name for name in os.listdir(folder) if name.endswith(ending))
    except FileNotFoundError as error:
        raise BadFile(f"The folder '{folder}' does not exist", "Check the path") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadFile(f"The folder '{folder}' cannot be read: {why}", "Ask its owner, or choose another one") from error


def find_in_folder(folder: Path, ending: str = "") -> list[Path]:
    """The same as far as one may see: nothing of a folder that is not there, or that may not be looked into."""
    try:
        return list_folder(folder, ending)
    except BadFile:
        return []


def real_path(path: Path) -> Path:
    """The path in full, without links; as it is where that cannot be found out, and who opens it will say why."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return path


def usable_path(text: str | Path) -> Path:
    """The path with ``~`` filled in; one that no file could have on this system, or in Blender, is a ``BadFile``."""
    given = str(text)
    if "\0" in given or not is_encodable(given):
        raise BadFile(f"'{given}' is no path: it has characters that are no text", "Rename it with plain letters")
    path = Path(given)
    try:
        path = path.expanduser()
        os.stat(path)
    except RuntimeError as error:  # a '~' without a home
        raise BadFile(f"'{given}' is no path: {error}", "Write the whole path") from error
    except OSError as error:
        if is_too_long(error):
            raise BadFile(f"'{given}' is too long for a path ({len(os.fsencode(given))} bytes)", SHORTER) from error
        if error.errno == errno.ELOOP:
            raise BadFile(f"'{given}' is a link that leads in a circle", "Delete the link") from error
        # It may come to be; who opens it says what is wrong with it.
    length = len(os.fsencode(os.path.abspath(path)))
    if length > BLENDER_PATH_BYTES:
        raise BadFile(f"'{given}' is too long for Blender: {length} bytes of {BLENDER_PATH_BYTES}", SHORTER)
    return path


def is_too_long(error: OSError) -> bool:
    """Whether it is a path's length that the system complains of."""
    return error.errno == errno.ENAMETOOLONG or getattr(error, "winerror", None) == _TOO_LONG_ON_WINDOWS
