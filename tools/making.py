# SPDX-License-Identifier: GPL-3.0-or-later
"""Make an environment, showing what is done and how long it took. Standard library of Python 3.8."""

from __future__ import annotations

import collections
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

from . import pythons
from .environment import LOCK, Environment, Failure, required

# PyPI's torch for Linux is made for CUDA and drags gigabytes along; its makers keep small ones for processors here. Pip
# looks for nothing else in this place; where it cannot be reached, a folder or mirror that pip knows may have them.
SMALL_TORCH = "https://download.pytorch.org/whl/cpu"

# Beside the requirements: what every file that is installed has to be, wherever it comes from (tools/hashes.py).
HASHES = "hashes.txt"

# What pip may be told by its variables: where files are, and how to get there.
_ROUTE = frozenset(
    "PIP_" + name
    for name in (
        "CACHE_DIR CERT CLIENT_CERT CONFIG_FILE DEFAULT_TIMEOUT EXTRA_INDEX_URL FIND_LINKS INDEX_URL KEYRING_PROVIDER "
        "NO_CACHE_DIR NO_INDEX PROXY RETRIES TIMEOUT TRUSTED_HOST USE_DEPRECATED USE_FEATURE"
    ).split()
)

# What bpy links to and a bare machine may lack, as Debian and Ubuntu call it.
SYSTEM_PACKAGES = "libegl1 libgl1 libgomp1 libsm6 libx11-6 libxfixes3 libxi6 libxkbcommon0 libxrender1 libxxf86vm1"


def ensure(environment: Environment) -> None:
    """Make the environment if it is not whole; a ``Failure`` leaves it unfinished, to be made again."""
    with locked(environment):
        # Another launch may have made it while this one waited.
        flaw = environment.flaw()
        if flaw:
            _make(environment, flaw)
        if not environment.imports():
            check_imports(environment)


def _make(environment: Environment, flaw: str) -> None:
    verb = "making" if flaw == "first use" else "making again"
    say("sinew: %s %s for Blender %s: %s" % (verb, environment.name, environment.blender, flaw))
    began = time.monotonic()
    # Python first: without one, what there is had better stay.
    python, version = pythons.find()
    say("  Python %s, %s" % (version, python))
    if flaw == "first use":
        clear(environment)
    else:
        with timed("old one cleared"):
            clear(environment)
    with temporary_folder(environment):
        _install(environment, python)
    environment.write_marker(imports=False)
    check_imports(environment)
    say("sinew: %s is ready after %.0f s" % (environment.name, time.monotonic() - began))


def _install(environment: Environment, python: str) -> None:
    with timed("virtual environment"):
        _run([python, "-I", "-m", "venv", environment.folder], "Python could not make %s" % environment.name)
    pip = [environment.python, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input"]
    install = [*pip, "install", "--progress-bar", "off", "--no-user", "--no-deps", "--only-binary", ":all:"]
    install += ["--require-hashes", "-r"]
    complaint = "the packages could not be installed: check the network and run this again"
    packages = with_hashes(environment.requirements)
    with timed("%d packages" % len(packages)):
        torch = [line for line in packages if line.startswith("torch==")]
        if torch:
            listed = _write_list(environment, "torch.txt", torch)
            _run([*install, listed, "--retries", "2", "--extra-index-url", SMALL_TORCH], complaint)
        _run([*install, _write_list(environment, "requirements.txt", packages)], complaint)
        _run([*pip, "check"], "the pinned packages do not fit together")


def with_hashes(path: str) -> list[str]:
    """The requirements of a file, each with the hashes of the wheels that may be installed for it."""
    with open(os.path.join(os.path.dirname(path), HASHES), encoding="utf-8") as stream:
        text = re.sub(r"(?m)#.*$", "", stream.read()).replace("\\\n", " ")
    known = {line.split()[0]: " ".join(line.split()[1:]) for line in text.splitlines() if line.strip()}
    found = []
    for line in required(path):
        pin = line.partition(";")[0].strip()
        if not known.get(pin):
            raise Failure("%s has no hash in requirements/%s: run tools/hashes.py" % (pin, HASHES))
        found.append("%s %s" % (line, known[pin]))
    return found


def _write_list(environment: Environment, name: str, lines: list[str]) -> str:
    """Write requirements where they go with all that is temporary; gives the path."""
    path = os.path.join(environment.folder, "tmp", name)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("".join(line + "\n" for line in lines))
    return path


def check_imports(environment: Environment) -> None:
    """Import bpy once, because it wants libraries of the system that no wheel can bring."""
    with timed("import bpy"):
        done = subprocess.run(
            [environment.python, "-I", "-c", "import numpy, bpy"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=clean_variables(),
            check=False,
        )
        output = done.stdout.decode("utf-8", "replace").strip()
        if done.returncode != 0:
            raise Failure(why_not_imported(output, done.returncode))
    environment.write_marker(imports=True)


def why_not_imported(output: str, code: int) -> str:
    """The user's line for a failed ``import bpy``."""
    library = re.search(r"(\S+\.so[\d.]*): cannot open shared object file", output)
    if library:
        return "bpy needs the system's %s: run 'sudo apt-get install -y %s' and then this again" % (
            library.group(1),
            SYSTEM_PACKAGES,
        )
    last = output.splitlines()[-1] if output else "exit code %d" % code
    return "bpy cannot be imported: %s" % last


def clear(environment: Environment) -> None:
    """Empty the folder but for the lock; the marker goes first, so that a kill leaves no whole-looking half."""
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(environment.marker)
        for name in os.listdir(environment.folder):
            path = os.path.join(environment.folder, name)
            if name == LOCK:
                continue
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
    except OSError as error:
        raise Failure("cannot clear %s: %s; delete it and run this again" % (environment.folder, error)) from error


def _run(command: list[str], complaint: str) -> None:
    """Run a step; show what it downloads, and its last lines if it fails."""
    tail: collections.deque[str] = collections.deque(maxlen=15)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=clean_variables(),
        encoding="utf-8",
        errors="replace",
        # The lock stays held while the step lives, even if this launcher is killed.
        close_fds=os.name == "nt",
        # A Ctrl-C is ours alone to hear; we end the step with all that it has started. Windows has groups for that.
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            tail.append(line.rstrip())
            size = re.search(
                r"(?:Downloading|Using cached) \S*?([^/\s-]+-[^-\s]+)-\S+\.whl\S* \((\d[\d.]* [MG]B)\)", line
            )
            if size:
                say("  %s, %s" % size.groups())
            elif line.startswith("Installing collected packages"):
                say("  unpacking")
        code = process.wait()
    except BaseException:
        _end(process)
        raise
    if code != 0:
        for line in tail:
            say("  | " + line)
        full = any("No space left" in line for line in tail)
        raise Failure("the disk is full: free some space and run this again" if full else complaint)


def _end(process: subprocess.Popen[str]) -> None:
    """End a step and what it has started; a second Ctrl-C does not come between."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.name == "nt":
        process.terminate()
    else:
        # Asked so, pip clears up what it has in its temporary folder.
        for number in (signal.SIGINT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=5.0)
    process.wait()


def clean_variables() -> dict[str, str]:
    """The user's variables without those that lead Python or pip out of the environment.

    Of pip's, those stay that say how files are come by: what they are, the hashes say.
    """
    kept = {}
    for name, value in os.environ.items():
        upper = name.upper()  # as Windows and pip read them
        if not upper.startswith(("PIP_", "PYTHON")) or upper in _ROUTE:
            kept[name] = value
    return kept


@contextlib.contextmanager
def temporary_folder(environment: Environment) -> Iterator[None]:
    """Let steps have their temporary files in the environment: what an interrupted one leaves there goes with it."""
    folder = os.path.join(environment.folder, "tmp")
    before = {name: os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")}
    os.makedirs(folder, exist_ok=True)
    os.environ.update(dict.fromkeys(before, folder))
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@contextlib.contextmanager
def locked(environment: Environment) -> Iterator[None]:
    """Hold the environment's lock, waiting for another launch that makes it."""
    try:
        os.makedirs(environment.folder, exist_ok=True)
        handle = os.open(os.path.join(environment.folder, LOCK), os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise Failure("cannot write %s: %s" % (environment.folder, error.strerror)) from error
    try:
        if not _try_lock(handle):
            say("sinew: waiting for another ./sinew that is making %s" % environment.name)
            while not _try_lock(handle):
                time.sleep(0.2)
        os.set_inheritable(handle, os.name != "nt")
        yield
    finally:
        os.close(handle)


def _try_lock(handle: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def timed(what: str) -> Iterator[None]:
    """Say what was done and how long it took."""
    began = time.monotonic()
    yield
    say("  %-24s %5.1f s" % (what, time.monotonic() - began))


def say(line: str) -> None:
    """A line on stderr: stdout belongs to the verb."""
    print(line, file=sys.stderr, flush=True)
