# SPDX-License-Identifier: GPL-3.0-or-later
"""Installing what is missing, when the user asks for it: into a folder of Sinew's own, never into Blender's Python.

The work is a process of its own (``run.py``) that writes a log. It goes on if Blender is closed, a lock says whether it
lives, and a file cancels it; here is only what starts it, looks at it on a timer and remembers it for the panel.
"""

import contextlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import bpy

from ....core.child_python import start_python
from ....core.errors import SinewError
from ....core.files import cannot_write
from ....core.jobs import lock
from ....core.paths import find_in_folder, is_folder, is_there
from ...scene.viewport import redraw_areas
from .. import packages, readiness
from . import run
from .failures import explain_failure

PERIOD_S = 0.25

PINS = Path(__file__).resolve().with_name("pinned.txt")
"""The hash of every file that may be installed."""

# What to ask pip for, by the name that a package is imported by: the versions of requirements/common.txt.
REQUIREMENTS = {
    "scipy": "scipy==1.17.1",
    "cma": "cma==4.5.0",
    "coacd": "coacd==1.0.14",
    "mujoco": "mujoco-core==4.0.1",
    "safetensors": "safetensors==0.8.0",
    "torch": "torch==2.13.0",
    "ray": "ray==2.60.0",
}


@dataclass(frozen=True)
class InstallationView:
    """What the panel shows of an installation.

    state: 'running', 'done', 'cancelled' or 'failed'. doing: what it is at, in a few words.
    part: 0 to 1 of the download that is under way, None where nobody knows. fix: what to do about a failure.
    """

    state: str
    doing: str
    part: float | None = None
    fix: str = ""


_children: list["subprocess.Popen[bytes]"] = []  # ours, to be asked whether it has ended
_seen: list[InstallationView] = []  # what was last seen


def current_installation() -> InstallationView | None:
    """The installation that runs, or how the last one of this session ended; None for none."""
    return _seen[0] if _seen else None


def is_installing() -> bool:
    """Whether one runs, as far as was last seen."""
    return bool(_seen) and _seen[0].state == "running"


def log_path() -> Path:
    """Where the installation writes what it does."""
    return packages.installed_root() / "install.log"


def may_go_online() -> bool:
    """Whether the user lets Blender use the network."""
    return bool(bpy.app.online_access)


def why_no_installation() -> str:
    """Why nothing can be installed now, in a sentence with the fix; '' if it can."""
    if not may_go_online():
        return "Blender may not go online: allow it in Preferences > System > Network > Allow Online Access"
    if is_installing():
        return "It is being installed already"
    return ""


def start_installation(names: tuple[str, ...], python: str) -> None:
    """Let a process of ``python`` install the packages of these import names."""
    root = packages.installed_root()
    log = log_path()
    try:
        root.mkdir(parents=True, exist_ok=True)
        if is_there(root / run.CANCEL):  # a read-only disk refuses to unlink even what is not there
            (root / run.CANCEL).unlink()
        stream = log.open("wb")
    except OSError as error:
        raise cannot_write(log, error) from error
    script, wanted = str(Path(run.__file__).resolve()), [REQUIREMENTS[name] for name in names]
    with stream:
        try:
            process = start_python(
                python,
                [script, str(root.absolute()), str(PINS), *wanted],
                variables={name: os.environ[name] for name in run.ROUTE if name in os.environ},
                outlives_us=True,
                stdout=stream,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise SinewError(f"'{python}' cannot be started: {error.strerror}", "Choose another Python") from error
    _children[:] = [process]
    _seen[:] = [InstallationView("running", "Starting")]
    _watch()


def cancel_installation() -> None:
    """Ask it to stop; what it had begun is removed, what was installed before stays."""
    (packages.installed_root() / run.CANCEL).touch()


def poll_installation() -> float | None:
    """Look at the log; once it has ended, look anew at what is ready. Seconds until the next look."""
    _seen[:] = [_look()]
    redraw_areas(readiness.SHOWN_IN)
    if is_installing():
        return PERIOD_S
    _children.clear()
    readiness.check_readiness()
    return None


def _look() -> InstallationView:
    alive = _children[0].poll() is None if _children else lock.is_locked(packages.installed_root() / run.LOCK)
    try:
        text = log_path().read_text("utf-8", errors="replace")
    except OSError:
        text = ""
    return parse_log(text, alive)


def parse_log(log: str, alive: bool) -> InstallationView:
    """What a log says, of an installation that is alive or not."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    if not alive:
        if last == run.DONE:
            return InstallationView("done", "Installed")
        if last == run.CANCELLED:
            return InstallationView("cancelled", "Cancelled; nothing of it is left")
        failure = explain_failure(log)
        return InstallationView("failed", failure.what, fix=failure.fix)
    told = [line for line in lines if re.match(r"Downloading|Using cached|Installing collected|Trying out", line)]
    if not told:
        return InstallationView("running", "Looking for the packages")
    if told[-1].startswith("Installing"):
        return InstallationView("running", "Unpacking")
    if told[-1].startswith("Trying"):
        return InstallationView("running", told[-1])
    file = re.search(r"([A-Za-z0-9_.]+)-\d[^/\s]*\.whl\S* ?(\(.*?\))?", told[-1])
    doing = "Downloading {} {}".format(*(word or "" for word in file.groups())).strip() if file else told[-1]
    progress = re.fullmatch(r"Progress (\d+) of (\d+)", last)
    part = int(progress[1]) / max(int(progress[2]), 1) if progress else None
    return InstallationView("running", doing, part)


def _watch() -> None:
    if not bpy.app.timers.is_registered(poll_installation):
        bpy.app.timers.register(poll_installation, first_interval=PERIOD_S, persistent=True)


def register() -> None:
    """Follow an installation that another session left running."""
    root = packages.installed_root()
    if lock.is_locked(root / run.LOCK):
        _seen[:] = [_look()]
        _watch()
    elif is_folder(root):
        with contextlib.suppress(OSError):
            run.restore(root)
        for leftover in find_in_folder(root):  # of one that was killed
            if leftover.name.startswith(".python"):
                shutil.rmtree(leftover, ignore_errors=True)


def unregister() -> None:
    """Stop looking; a running installation goes on."""
    if bpy.app.timers.is_registered(poll_installation):
        bpy.app.timers.unregister(poll_installation)
    _children.clear()
    _seen.clear()
