# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that installs packages: ``python run.py ROOT PINS NAME...``, by the Python that is to have them.

They come into ``ROOT/pythonX.Y/site-packages`` and nowhere else, all of them or none: pip works in a folder beside it,
which takes its place once everything in it can be imported. Whatever stops this process, what was there before stays,
and the next one clears up; pip's own cache keeps what was downloaded. A file called ``cancel`` in ROOT stops it.

PINS names every file that may be installed by its hash, so it does not matter where one comes from. Pip's own variables
and files of settings count for nothing. Three of Sinew's and two of pip's say how to get there: ``SINEW_INDEX``, a
mirror of PyPI; ``SINEW_WHEELS``, a folder of wheels, and then nothing is looked for elsewhere; ``PIP_CERT`` and
``PIP_PROXY``.
"""

import os
import re
import runpy
import shutil
import sys
import sysconfig
import time
import urllib.request
from importlib import import_module
from pathlib import Path

ENTRY = Path(__file__).resolve().parents[3] / "core" / "entry.py"
LOCK, CANCEL, LIST = "lock", "cancel", "requirements.txt"
DONE, CANCELLED, PYTHON = "Sinew: installed", "Sinew: cancelled", "Sinew: for "

PYPI = "https://pypi.org/simple"
ROUTE = {"PIP_CERT": "--cert", "PIP_PROXY": "--proxy"}
# PyPI's torch for Linux is made for CUDA and drags gigabytes along; its makers keep small ones for processors here.
SMALL_TORCH = "https://download.pytorch.org/whl/cpu"

# What torch needs beside NumPy.
WITH_TORCH = (
    "filelock", "fsspec", "Jinja2", "MarkupSafe", "mpmath", "networkx", "setuptools", "sympy", "typing_extensions",
)  # fmt: skip

# What Ray needs beside Python.
WITH_RAY = (
    "attrs", "certifi", "charset-normalizer", "click", "filelock", "idna", "jsonschema", "jsonschema-specifications",
    "msgpack", "packaging", "protobuf", "PyYAML", "referencing", "requests", "rpds-py", "typing_extensions", "urllib3",
)  # fmt: skip

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
# What was installed comes first here, or this might try out what the Python has itself.
_PROOF = """
import importlib, os, sys
site = os.path.realpath(sys.argv[1])
sys.path.insert(0, site)
for name in sys.argv[2:]:
    module = importlib.import_module(name)
    origin = os.path.realpath(module.__file__ or next(iter(module.__path__)))
    if os.path.commonpath([origin, site]) != site:
        sys.exit("ERROR: " + name + " came from " + origin + ", not from what was installed")
"""
_IMPORTED_BY = {"mujoco-core": "mujoco"}


def main(root: Path, pins: Path, wanted: list[str]) -> int:
    """Install, prove and swap in; the exit code: 0 for done, 3 for cancelled, else pip's own."""
    runpy.run_path(str(ENTRY))["load_package"]()
    lock = import_module("sinew.core.jobs.lock")
    root.mkdir(parents=True, exist_ok=True)
    with lock.hold_lock(root / LOCK) as held:
        if not held:
            _say("ERROR: another Blender is installing already")
            return 1
        _say("{}Python {}.{} on {}".format(PYTHON, *sys.version_info[:2], sysconfig.get_platform()))
        code = _install(root, read_pins(pins), wanted)
        (root / CANCEL).unlink(missing_ok=True)
    _say({0: DONE, 3: CANCELLED}.get(code, f"Sinew: failed with exit code {code}"))
    return code


def restore(root: Path) -> None:
    """Put back what a kill between two renames left aside, so that it is not taken for a leftover."""
    for old in root.glob(".python*.old"):
        home = root / old.name.removeprefix(".").removesuffix(".old")
        if not home.exists():
            old.rename(home)


def _swap_in(part: Path, home: Path, old: Path) -> int:
    """Let what is new take its place; Windows refuses while a worker has a library of it open."""
    try:
        if home.exists():
            home.rename(old)
        part.rename(home)
    except OSError as error:
        _say(f"ERROR: '{home}' cannot be replaced ({error.strerror}): wait until no simulation runs, and try again")
        return 1
    return 0


def read_pins(path: Path) -> dict[str, str]:
    """Package -> its line for pip, ``torch==2.13.0 --hash=sha256:... ...``, of a file in pip's own format."""
    text = re.sub(r"(?m)#.*$", "", path.read_text("utf-8")).replace("\\\n", " ")
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    return {line.partition("==")[0]: line for line in lines}


def _install(root: Path, pins: dict[str, str], wanted: list[str]) -> int:
    home = root / "python{}.{}".format(*sys.version_info[:2])
    part, old = (home.with_name(f".{home.name}.{end}") for end in ("part", "old"))
    restore(root)
    for leftover in (part, old):
        shutil.rmtree(leftover, ignore_errors=True)
    # All that is there is installed anew with what is asked for: the folder is swapped as a whole.
    before = (home / LIST).read_text("utf-8").split() if (home / LIST).is_file() else []
    names = sorted({one.partition("==")[0] for one in (*before, *wanted)} & set(pins))
    sources = _sources("torch" in names)
    if not sources:
        return 1
    (part / "tmp").mkdir(parents=True)
    try:
        code = _run(root, _pip(part, pins, names, sources), part / "tmp")
        imports = [_IMPORTED_BY.get(name, name) for name in names]
        if code == 0:
            _say(f"Trying out {', '.join(imports)}")
            code = _run(root, ["-c", _PROOF, str(part / "site-packages"), *imports], part / "tmp")
        if code == 0:
            shutil.rmtree(part / "tmp", ignore_errors=True)
            (part / LIST).write_text("".join(f"{pins[name].split()[0]}\n" for name in names), "utf-8")
            code = _swap_in(part, home, old)
        return code
    finally:
        restore(root)
        for leftover in (part, old):
            shutil.rmtree(leftover, ignore_errors=True)


def _pip(part: Path, pins: dict[str, str], names: list[str], sources: list[str]) -> list[str]:
    """Pip's arguments: every package is asked for by name and hash, and none by another."""
    more = {one for name, needed in (("torch", WITH_TORCH), ("ray", WITH_RAY)) if name in names for one in needed}
    every = [*names, *sorted(more)]
    (part / "tmp" / LIST).write_text("".join(f"{pins[name]}\n" for name in every), "utf-8")
    words = ["-c", _PIP.format(entry=str(ENTRY)), "install", "--isolated", "--no-input", "--only-binary=:all:"]
    words += ["--require-hashes", "--no-deps", "--disable-pip-version-check", "--no-warn-script-location"]
    words += ["--retries", "2", *sources, "--target", str(part / "site-packages")]
    return [*words, "-r", str(part / "tmp" / LIST)]


def _sources(with_torch: bool) -> list[str]:
    """Where pip is to look, and how it gets there; nothing where torch for this machine cannot be had."""
    if folder := os.environ.get("SINEW_WHEELS"):
        return ["--no-index", "--find-links", folder]
    mirror = os.environ.get("SINEW_INDEX")
    words = ["--index-url", mirror or PYPI]
    if with_torch and sys.platform == "linux":
        if _answers(SMALL_TORCH + "/torch/"):
            words += ["--extra-index-url", SMALL_TORCH]
        elif not mirror:
            _say(f"ERROR: {SMALL_TORCH} does not answer")
            return []
    for name, option in ROUTE.items():
        if value := os.environ.get(name):
            words += [option, value]
    return words


def _answers(address: str) -> bool:
    """Whether there is anything at an address; pip itself would try for minutes."""
    try:
        with urllib.request.urlopen(address, timeout=10.0):
            return True
    except (OSError, ValueError):
        return False


def _run(root: Path, words: list[str], temporary: Path) -> int:
    """Run a step, this Python with these arguments, until it ends or is cancelled."""
    variables = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)) | {"PIP_CONFIG_FILE": os.devnull}
    process = import_module("sinew.core.child_python").start_python(sys.executable, words, variables=variables)
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
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
