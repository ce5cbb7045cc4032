# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a Python 3.11 that can make virtual environments. Standard library of Python 3.8."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys

from .environment import PYTHON, Failure

_NAME = "python%d.%d" % PYTHON
_VERSION = "%d.%d" % PYTHON
# venv alone is not enough: Debian's Python has it without ensurepip until python3.11-venv is installed.
_QUESTION = "import sys, venv, ensurepip; print('.'.join(map(str, sys.version_info[:3])))"


def find() -> tuple[str, str]:
    """(executable, version) of the first that answers; a ``Failure`` says how to get one."""
    halting = ""
    for candidate in candidates():
        answer = ask(candidate)
        if answer.startswith(_VERSION + "."):
            return candidate, answer
        if "ensurepip" in answer or "venv" in answer:
            halting = candidate
    if halting:
        raise Failure(
            "%s cannot make virtual environments: install its venv package (Debian, Ubuntu: "
            "sudo apt install %s-venv) and run this again" % (halting, _NAME)
        )
    raise Failure(
        "Python %s is needed to set up and was not found (this is %d.%d): install it (apt install %s %s-venv, "
        "brew install python@%s, pyenv install %s, or python.org) so that %s is on PATH, and run this again"
        % (_VERSION, *sys.version_info[:2], _NAME, _NAME, _VERSION, _VERSION, _NAME)
    )


def candidates() -> list[str]:
    """Executables worth asking, the likeliest first."""
    found = []
    if sys.version_info[:2] == PYTHON:
        # The base of a virtual environment, so that ours does not hang on somebody else's.
        found.append(getattr(sys, "_base_executable", None) or sys.executable)
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found.append(shutil.which(_NAME, path=folder) or "")
    home = os.path.expanduser("~")
    pyenv = os.environ.get("PYENV_ROOT") or os.path.join(home, ".pyenv")
    for pattern in (
        os.path.join(pyenv, "versions", _VERSION + "*", "bin", _NAME),
        os.path.join(home, ".local", "share", "uv", "python", "cpython-" + _VERSION + "*", "bin", _NAME),
        "/opt/homebrew/bin/" + _NAME,
        "/usr/local/bin/" + _NAME,
        "/Library/Frameworks/Python.framework/Versions/" + _VERSION + "/bin/" + _NAME,
        os.path.join(os.environ.get("LOCALAPPDATA", home), "Programs", "Python", "Python311", "python.exe"),
        os.path.join(os.environ.get("PROGRAMFILES", home), "Python311", "python.exe"),
    ):
        found += sorted(glob.glob(pattern), reverse=True)
    return [path for path in dict.fromkeys(found) if path]


def ask(python: str) -> str:
    """Its version if it can make environments, else the last line of its complaint."""
    try:
        done = subprocess.run(
            [python, "-I", "-c", _QUESTION], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""
