# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that installs packages: ``python run.py ROOT REQUIREMENT...``, by the Python that is to have them.

They come into ``ROOT/pythonX.Y/site-packages`` and nowhere else, all of them or none: pip works in a folder beside it,
which takes its place once everything in it can be imported. Whatever stops this process, what was there before stays,
and the next one clears up; pip's own cache keeps what was downloaded. A file called ``cancel`` in ROOT stops it.
"""

import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
import time
import urllib.request
from importlib import import_module
from pathlib import Path

ENTRY = Path(__file__).resolve().parents[3] / "core" / "entry.py"
LOCK, CANCEL, LIST = "lock", "cancel", "requirements.txt"
DONE, CANCELLED, PYTHON = "Sinew: installed", "Sinew: cancelled", "Sinew: for "

# PyPI's torch for Linux is made for CUDA and drags gigabytes along; its makers keep small ones for processors here.
SMALL_TORCH = "https://download.pytorch.org/whl/cpu"

_PIP = """
import glob, importlib.util, os, runpy, sys
before = len(sys.path)
runpy.run_path({entry!r})["use_packages"]()
# The extension's own pip tells how far it is; the one that a Python brings may be too old for that.
sys.path[:0] = [folder for folder in sys.path[before:] if os.path.isdir(os.path.join(folder, "pip"))]
if importlib.util.find_spec("pip") is None and importlib.util.find_spec("ensurepip") is not None:
    import ensurepip
    sys.path[:0] = glob.glob(os.path.join(os.path.dirname(ensurepip.__file__), "_bundled", "pip-*.whl"))
if importlib.util.find_spec("pip") is None:
    sys.exit("ERROR: " + sys.executable + " has no pip: choose another Python in Sinew's preferences")
import pip
if tuple(int(part) for part in pip.__version__.split(".")[:2]) >= (24, 1):
    sys.argv += ["--progress-bar", "raw"]
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
_PROOF = """
import importlib, sys
sys.path.append(sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
"""
_IMPORTED_BY = {"mujoco-core": "mujoco"}


def main(root: Path, wanted: list[str]) -> int:
    """Install, prove and swap in; the exit code: 0 for done, 3 for cancelled, else pip's own."""
    runpy.run_path(str(ENTRY))["load_package"]()
    lock = import_module("sinew.core.jobs.lock")
    root.mkdir(parents=True, exist_ok=True)
    with lock.hold_lock(root / LOCK) as held:
        if not held:
            _say("ERROR: another Blender is installing already")
            return 1
        _say("{}Python {}.{} on {}".format(PYTHON, *sys.version_info[:2], sysconfig.get_platform()))
        code = _install(root, wanted)
        (root / CANCEL).unlink(missing_ok=True)
    _say({0: DONE, 3: CANCELLED}.get(code, f"Sinew: failed with exit code {code}"))
    return code


def _install(root: Path, wanted: list[str]) -> int:
    home = root / "python{}.{}".format(*sys.version_info[:2])
    part, old = (home.with_name(f".{home.name}.{end}") for end in ("part", "old"))
    for leftover in (part, old):
        shutil.rmtree(leftover, ignore_errors=True)
    # All that is there is installed anew with what is asked for: the folder is swapped as a whole.
    before = (home / LIST).read_text("utf-8").split() if (home / LIST).is_file() else []
    names = {one.partition("==")[0] for one in wanted}
    every = sorted([one for one in before if one.partition("==")[0] not in names] + wanted)
    (part / "tmp").mkdir(parents=True)
    try:
        code = 0
        for some in ([one for one in every if not _is_torch(one)], [one for one in every if _is_torch(one)]):
            if some and code == 0:
                code = _run(root, _pip(part / "site-packages", some), part / "tmp")
        imports = [_IMPORTED_BY.get(one.partition("==")[0], one.partition("==")[0]) for one in every]
        if code == 0:
            _say(f"Trying out {', '.join(imports)}")
            code = _run(root, [sys.executable, "-c", _PROOF, str(part / "site-packages"), *imports], part / "tmp")
        if code == 0:
            shutil.rmtree(part / "tmp", ignore_errors=True)
            (part / LIST).write_text("\n".join(every) + "\n", "utf-8")
            if home.exists():
                home.rename(old)
            part.rename(home)
        return code
    finally:
        for leftover in (part, old):
            shutil.rmtree(leftover, ignore_errors=True)


def _pip(target: Path, requirements: list[str]) -> list[str]:
    command = [sys.executable, "-c", _PIP.format(entry=str(ENTRY)), "install", "--no-input", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--no-warn-script-location", "--target", str(target), *requirements]
    if not _is_torch(requirements[0]):
        # They ask for nothing but NumPy, and that is the Python's own: pip would bring another.
        return [*command, "--no-deps"]
    if sys.platform == "linux" and _answers(SMALL_TORCH + "/torch/"):
        command += ["--extra-index-url", SMALL_TORCH]
    return command


def _is_torch(requirement: str) -> bool:
    return requirement.partition("==")[0] == "torch"


def _answers(address: str) -> bool:
    """Whether there is anything at an address; pip itself would try for minutes."""
    try:
        with urllib.request.urlopen(address, timeout=10.0):
            return True
    except (OSError, ValueError):
        _say(f"{address} does not answer: doing without")
        return False


def _run(root: Path, command: list[str], temporary: Path) -> int:
    """Run a step until it ends or is cancelled."""
    kept = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=os.environ | kept)
    while process.poll() is None:
        if (root / CANCEL).exists():
            process.kill()
            process.wait()
            return 3
        time.sleep(0.1)
    return process.returncode


def _say(line: str) -> None:
    """Write a line into the log, which is this process's output."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
