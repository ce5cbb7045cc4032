# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the worker finds packages that lie beside a Python rather than in it.

Blender unpacks the wheels of its extensions into a folder that only its own process looks into, and what the user lets
Sinew install goes into a folder of Sinew's. Workers are told of both by ``SINEW_PACKAGES`` (``core/entry.py``).
"""

import os
import sys
from pathlib import Path

import bpy

from ...core import jobs
from ...core.paths import find_in_folder, is_folder

_NAME = "SINEW_PACKAGES"
_given: list[str] = []  # what this module put into the environment, so that nothing else is ever taken out of it


def installed_root() -> Path:
    """Where Sinew installs what it is asked to: with this user's data, a folder for each version of Python.

    Never beside jobs that are kept elsewhere: what lies here is code, and others may write to a folder of jobs.
    """
    return jobs.user_data_folder() / "packages"


def site_of(root: Path, version: str = "") -> Path:
    """The folder of packages for a Python (``3.11``; '' for this one) below ``root``."""
    return root / f"python{version or '.'.join(map(str, sys.version_info[:2]))}" / "site-packages"


def package_folders() -> list[Path]:
    """Every folder that workers may import from: of the extension's wheels, and of what was installed."""
    wheels = Path(bpy.utils.user_resource("EXTENSIONS")) / ".local" / "lib"
    homes = [path for path in find_in_folder(installed_root()) if path.name.startswith("python")]
    return [site_of(wheels), *(path / "site-packages" for path in homes if is_folder(path / "site-packages"))]


def apply_packages() -> None:
    """Let every worker and probe that this process starts find them; a value from outside is left alone."""
    if os.environ.get(_NAME, "") not in ("", *_given):
        return
    _given[:] = [os.pathsep.join(map(str, package_folders()))]
    os.environ[_NAME] = _given[0]


def withdraw_packages() -> None:
    """Take out of the environment what ``apply_packages`` put there."""
    if _given and os.environ.get(_NAME) == _given[0]:
        del os.environ[_NAME]
    _given.clear()
