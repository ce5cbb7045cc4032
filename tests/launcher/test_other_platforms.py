# SPDX-License-Identifier: GPL-3.0-or-later
"""What the launcher and its tools do on Windows, seen here by what that would answer at its lowest level."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
from types import ModuleType

import pytest

from .load import load

check = load("tools.check")
environment = load("tools.environment")
launcher = load("tools.launcher")
making = load("tools.making")


class WindowsOs:
    """The module ``os`` for one module alone: pathlib and others would take a changed name for the truth."""

    name = "nt"

    def __getattr__(self, name):
        if name in ("execv", "killpg", "fork"):
            raise AttributeError(f"Windows has no os.{name}")
        return getattr(os, name)


@pytest.fixture
def windows(monkeypatch):
    """Lets a module believe that it is on Windows."""

    def believe(*modules):
        for module in modules:
            monkeypatch.setattr(module, "os", WindowsOs())

    return believe


class Process:
    """A process that was not started, and what was done with it."""

    def __init__(self, command=(), **words):
        self.command, self.words, self.done, self.stdout = command, words, [], iter(["Installing collected packages"])
        self.pid = 4711

    def __getattr__(self, name):
        return lambda *_, **__: self.done.append(name) or 7


@pytest.fixture
def started(monkeypatch):
    """What is started, instead of starting it."""
    made = []

    def start(command, **words):
        made.append(Process(command, **words))
        return made[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    return made


@pytest.fixture
def interrupts():
    """Puts back who hears Ctrl-C."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_verb_is_a_child_that_hears_ctrl_c_itself(windows, started, interrupts, monkeypatch):
    windows(launcher)
    for name in ("PYTHONPATH", "PYTHONSAFEPATH", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "C:\\odd")
    assert launcher.hand_over("C:\\a b\\python.exe", "tools/check.py", ["--only", "a b"]) == 7
    (process,) = started
    assert process.command[0] == "C:\\a b\\python.exe" and process.command[2:] == ["tools/check.py", "--only", "a b"]
    assert process.done == ["wait"] and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert "PYTHONPATH" not in os.environ and os.environ["OPENBLAS_NUM_THREADS"] == "1"


def test_an_environment_is_laid_out_as_windows_has_it(windows, tmp_path):
    windows(environment)
    made = environment.Environment(str(tmp_path), "4.5")
    assert made.python == os.path.join(made.folder, "Scripts", "python.exe")
    assert made.packages == os.path.join(made.folder, "Lib", "site-packages")
    os.makedirs(made.folder)
    assert made.flaw() == "first use"
    os.makedirs(os.path.join(made.packages, "bpy-4.5.0.dist-info"))
    assert made.flaw() == "it was not finished" and "bpy-4.5.0" in " ".join(made.installed())


def test_a_step_has_a_group_of_its_own_and_no_handle_of_ours(windows, started, monkeypatch):
    windows(making)
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    with pytest.raises(making.Failure, match="it did not work"):  # its exit code is 7
        making._run(["pip"], "it did not work")
    words = started[0].words
    assert words["close_fds"] is True and words["creationflags"] == 0x200


def test_here_a_step_keeps_the_lock_and_has_a_session(started):
    with pytest.raises(making.Failure):
        making._run(["pip"], "it did not work")
    words = started[0].words
    assert words["close_fds"] is False and words["start_new_session"] is True and words["creationflags"] == 0


def test_a_step_is_ended_without_signals(windows, interrupts):
    windows(making)
    process = Process()
    making._end(process)
    assert process.done == ["terminate", "wait"]


@pytest.fixture
def msvcrt(monkeypatch):
    """Locks of Windows: one byte of a file for one handle, or refused."""
    fake = ModuleType("msvcrt")
    fake.LK_NBLCK = 2

    def locking(handle, mode, count):
        assert mode == fake.LK_NBLCK and count == 1 and os.lseek(handle, 0, os.SEEK_CUR) == 0
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    fake.locking = locking
    monkeypatch.setitem(sys.modules, "msvcrt", fake)


def test_the_lock_of_windows(windows, msvcrt, tmp_path):
    windows(making)
    made = environment.Environment(str(tmp_path), "4.5")
    path = os.path.join(made.folder, environment.LOCK)
    with making.locked(made):
        other = os.open(path, os.O_RDWR)
        assert not making._try_lock(other), "two launches would make it at once"
        os.close(other)
    other = os.open(path, os.O_RDWR)
    assert making._try_lock(other)
    os.close(other)


@pytest.fixture
def small_project(tmp_path, monkeypatch):
    """A folder that can be no name of a package, with a few of its files; and what mypy would be given."""
    home = tmp_path / "sinew-main"
    for path in ("core/a.py", "bench/b.py", "bridge/c.py", "tests/d.py", ".venv/e.py", "out/f.py"):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text("", encoding="utf-8")
    (home / "__init__.py").write_text("", encoding="utf-8")
    seen = []

    def call(module, *words):
        package = os.path.dirname(words[-1])
        found = {os.path.join(at, name) for at, _, names in os.walk(package) for name in names}
        seen.append((os.path.islink(package), {os.path.relpath(path, package) for path in found}, words))
        return 0

    monkeypatch.setattr(check, "ROOT", str(home))
    monkeypatch.setattr(check, "call", call)
    return seen


def test_types_are_checked_where_nobody_may_make_a_link(small_project, monkeypatch):
    def refuse(*_, **__):
        error = OSError(errno.EINVAL, "A required privilege is not held by the client")
        error.winerror = 1314
        raise error

    monkeypatch.setattr(os, "symlink", refuse)
    assert check.check_types() == 0
    is_link, files, words = small_project[0]
    assert not is_link and files == {"__init__.py", "core/a.py", "bench/b.py", "bridge/c.py"}
    assert words[1].endswith("pyproject.toml") and words[2].endswith(os.path.join("sinew", "core"))


def test_types_are_checked_through_a_link_where_one_can_be_made(small_project):
    assert check.check_types() == 0
    assert small_project[0][0]
