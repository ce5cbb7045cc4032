# SPDX-License-Identifier: GPL-3.0-or-later
"""The one place that starts a Python: none of them imports code from the folder it works in, or Blender was started in.

A scene comes in a zip with whatever its sender put beside it, and a Python looks for ``numpy`` in its working folder
before it looks anywhere else. So every child is told not to (``PYTHONSAFEPATH``, which its own children inherit), works
in the folder of its own executable, and gets none of the variables that lead a Python elsewhere. It keeps the packages
that the user installed for it, also those in the user's own folder. Python 3.10 and older know no ``PYTHONSAFEPATH``;
they are only ever asked for their version, and the folder of their executable is theirs.

Standard library alone, because the process that installs packages stands on this as well.
"""

import os
import shutil
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

_children: "weakref.WeakSet[subprocess.Popen[bytes]]" = weakref.WeakSet()  # that are not to outlive this process
_ENTRY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "entry.py")
_CALL = (
    "import importlib, runpy, sys; runpy.run_path(sys.argv[1])['load_package'](); "
    "sys.exit(getattr(importlib.import_module('sinew.' + sys.argv[2]), sys.argv[3])(*sys.argv[4:]))"
)

# Matrices here are small: more threads than one would spin on the cores that physics needs, and they sum up in another
# order, so that a take would depend on how many there are.
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
# The extension's folder may be read-only, and what is said is UTF-8 on every system.
_SET = {"PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
# What fits only this Python, or would lead another one or its pip astray: PYTHONPATH, PYTHONHOME, PIP_FIND_LINKS ...
_LEADS_ASTRAY = ("PYTHON", "__PYVENV", "PIP_")
# Folders that a user may have named from where the shell stood; the child stands elsewhere.
_PLACES = ("SINEW_JOBS", "SINEW_CACHE", "SINEW_STOCK", "XDG_DATA_HOME", "XDG_CACHE_HOME")


def child_environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a child: this process's, made safe, with ``variables`` on top."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(_LEADS_ASTRAY)}
    kept |= {name: os.path.abspath(kept[name]) for name in _PLACES if kept.get(name, "").strip()}
    return kept | _SET | ONE_THREAD | dict(variables or {})


def neutral_folder(python: str) -> str:
    """Where a child works: beside its executable, which is trusted as much as that is."""
    return os.path.dirname(os.path.abspath(python))


def call_arguments(module: str, function: str, *words: str) -> list[str]:
    """Arguments with which a Python calls a function of this package with ``words``; what it returns is the exit code.

    It finds what a worker finds: also the packages that lie beside it (``core/entry.py``).
    """
    return ["-c", _CALL, _ENTRY, module, function, *words]


def start_python(
    python: str,
    arguments: Sequence[str],
    *,
    variables: Mapping[str, str] | None = None,
    outlives_us: bool = False,
    **streams: Any,
) -> "subprocess.Popen[bytes]":
    """Start ``python`` with its arguments: a script or ``-c`` with code, and absolute paths.

    outlives_us: in a session of its own, so that neither our end nor a Ctrl-C here ends it.
    streams: ``stdin`` (none if not given), ``stdout`` and ``stderr`` as ``subprocess`` takes them.
    """
    process = subprocess.Popen([python, *arguments], **_conditions(python, variables, outlives_us), **_streams(streams))
    if not outlives_us:
        _children.add(process)
    return process


def run_python(
    python: str, arguments: Sequence[str], *, timeout_s: float, variables: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[bytes]":
    """Run ``python`` until it ends and keep what it says; as ``subprocess.run`` does, it raises after ``timeout_s``."""
    pipe = subprocess.PIPE
    with start_python(python, arguments, variables=variables, stdout=pipe, stderr=pipe) as process:
        try:
            said = process.communicate(timeout=timeout_s)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, *said)


def end_children() -> None:
    """Kill the children that are only this process's, when it leaves without waiting for them."""
    for process in list(_children):
        if process.poll() is None:
            process.kill()
            process.wait()


def find_program(name: str) -> str | None:
    """The full path of a program that can be run, given by its path or by a name to be looked for in ``PATH``.

    A bare name is never looked for in the working folder, neither because ``PATH`` says so nor because Windows does.
    """
    name = os.path.expanduser(name)
    if os.path.dirname(name):
        path = shutil.which(name)
        return os.path.abspath(path) if path else None
    endings = ("", ".exe") if sys.platform == "win32" else ("",)
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(folder):
            for ending in endings:
                if path := shutil.which(os.path.join(folder, name + ending)):
                    return path
    return None


def _conditions(python: str, variables: Mapping[str, str] | None, outlives_us: bool) -> dict[str, Any]:
    flags = 0
    if sys.platform == "win32":
        # Without it Windows would flash a console window over Blender.
        flags = subprocess.CREATE_NO_WINDOW
        if outlives_us:
            flags |= subprocess.CREATE_NEW_PROCESS_GROUP
    return {
        "cwd": neutral_folder(python),
        "env": child_environment(variables),
        "start_new_session": outlives_us,
        "creationflags": flags,
    }


def _streams(streams: Mapping[str, Any]) -> dict[str, Any]:
    return {"stdin": subprocess.DEVNULL, **streams}
