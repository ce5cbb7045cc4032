# SPDX-License-Identifier: GPL-3.0-or-later
"""Branches for Windows and macOS, run here on what those systems do at their lowest level.

Windows refuses to rename over or to remove a file that somebody has open, has other locks, no signals and no /proc, and
takes paths of 259 characters; macOS has no /proc. What is faked is only what the system itself would answer.
"""

import errno
import fcntl
import importlib.util
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from sinew.core import array_cache, child_python, files
from sinew.core.errors import CannotWrite
from sinew.core.files import cannot_write, remove_file, write_whole
from sinew.core.jobs import Job, checkpoints, folders, home, lock, processes
from sinew.core.learn import autoencoder_cache
from sinew.core.paths import is_link, is_too_long

IN_USE = 32  # ERROR_SHARING_VIOLATION


class Windows:
    """A system on which some files are open elsewhere: renames over them and removals fail so many times."""

    def __init__(self, monkeypatch, open_for: int) -> None:
        self.left, self.refused = open_for, 0
        monkeypatch.setattr(files, "_WINDOWS", True)
        monkeypatch.setattr(files, "_PAUSES_S", (0.001,) * 5)
        replace, unlink = os.replace, Path.unlink
        monkeypatch.setattr(os, "replace", lambda a, b: self.ask(lambda: replace(a, b)))
        monkeypatch.setattr(
            Path, "unlink", lambda path, missing_ok=False: self.ask(lambda: unlink(path, missing_ok=missing_ok))
        )

    def ask(self, do):
        if self.left > 0:
            self.left, self.refused = self.left - 1, self.refused + 1
            error = PermissionError(errno.EACCES, "The process cannot access the file")
            error.winerror = IN_USE
            raise error
        return do()


def test_a_file_that_is_open_elsewhere_for_a_moment_is_replaced(tmp_path, monkeypatch):
    path = tmp_path / "spec.json"
    path.write_bytes(b"old")
    system = Windows(monkeypatch, open_for=3)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new" and system.refused == 3
    assert os.listdir(tmp_path) == ["spec.json"]


def test_one_that_stays_open_is_told_and_the_old_content_stays(tmp_path, monkeypatch):
    path = tmp_path / "spec.json"
    path.write_bytes(b"old")
    system = Windows(monkeypatch, open_for=6)
    with pytest.raises(CannotWrite, match=r"spec\.json.*may not write"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old" and system.refused == 6


def test_here_a_refusal_is_one_at_once(tmp_path, monkeypatch):
    system = Windows(monkeypatch, open_for=1)
    monkeypatch.setattr(files, "_WINDOWS", False)
    with pytest.raises(CannotWrite):
        write_whole(tmp_path / "spec.json", b"new")
    assert system.refused == 1


def test_old_checkpoints_that_a_scanner_looks_at_do_not_stop_a_run(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    for step in range(3):
        checkpoints.write_checkpoint(tmp_path, step, {"x": np.arange(3)}, rng)
    Windows(monkeypatch, open_for=0)
    unlink = Path.unlink

    def scanned(path, missing_ok=False):
        if path.name == "00000000.npz":
            raise PermissionError(errno.EACCES, "in use")
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", scanned)
    checkpoints.write_checkpoint(tmp_path, 3, {"x": np.arange(3)}, rng)
    assert checkpoints.read_newest_checkpoint(tmp_path, rng)[0] == 3
    assert remove_file(tmp_path / "00000000.npz") is False
    assert remove_file(tmp_path / "00000001.npz") is True and not (tmp_path / "00000001.npz").exists()


def test_paths_beyond_windows_limit_are_told_as_such(monkeypatch):
    monkeypatch.setattr(files, "_WINDOWS", True)
    deep = Path("/jobs").joinpath(*["deep"] * 60, "spec.json")
    gone = cannot_write(deep, FileNotFoundError(errno.ENOENT, "The system cannot find the path specified"))
    assert "characters, and Windows takes 259" in gone.message and "long paths" in gone.hint
    assert "Windows" not in cannot_write("/jobs/spec.json", FileNotFoundError(errno.ENOENT, "gone")).message
    error = OSError(errno.EINVAL, "The filename or extension is too long")
    error.winerror = 206
    assert is_too_long(error)


def test_junctions_are_links(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    assert not is_link(tmp_path / "real")
    lstat = os.lstat

    def reparse(path, **words):
        about = lstat(path, **words)
        if Path(path).name != "real":
            return about
        return SimpleNamespace(st_mode=stat.S_IFDIR | 0o755, st_file_attributes=0x410)

    monkeypatch.setattr(os, "lstat", reparse)
    assert is_link(tmp_path / "real")


@pytest.fixture
def windows_lock(monkeypatch):
    """The module of locks as Windows loads it; ``msvcrt`` locks one byte of a file for one handle, or refuses."""
    fake = ModuleType("msvcrt")
    fake.LK_NBLCK, fake.LK_UNLCK = 2, 0

    def locking(handle, mode, count):
        assert os.lseek(handle, 0, os.SEEK_CUR) == 0 and count == 1, "another byte would be another lock"
        if mode == fake.LK_UNLCK:
            fcntl.flock(handle, fcntl.LOCK_UN)
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # there are no shared ones
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    fake.locking = locking
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setattr(sys, "platform", "win32")
    spec = importlib.util.spec_from_file_location("sinew.core.jobs.windows_lock", lock.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_lock_of_windows(windows_lock, tmp_path):
    path = tmp_path / "worker.lock"
    assert not windows_lock.is_locked(path)
    with windows_lock.hold_lock(path) as held:
        assert held and windows_lock.is_locked(path) and windows_lock.is_locked(path)
        with windows_lock.hold_lock(path, patience_s=0.05) as second:
            assert not second
        assert windows_lock.is_locked(path), "who was refused took the lock along"
    assert not windows_lock.is_locked(path)
    with windows_lock.hold_lock(path) as again:
        assert again
    windows_lock.close_in_forked_children()  # there are none, and nothing to be registered


def test_nobody_asks_windows_for_a_process_by_a_signal(monkeypatch):
    """There, signal 0 is Ctrl-C for a whole group of processes."""
    monkeypatch.setattr(processes, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("a signal was sent"))
    assert processes._lives(1)


def test_without_proc_a_process_is_asked_for_by_signal_0(monkeypatch):
    """As on macOS."""
    monkeypatch.setattr(processes, "sys", SimpleNamespace(platform="darwin"))
    monkeypatch.setattr(processes, "Path", lambda _: Path("/there is no proc"))
    assert processes._lives(os.getpid())
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    assert not processes._lives(gone.pid)


def test_crashes_are_named_as_the_system_names_them(tmp_path, monkeypatch):
    for code, words in ((-signal.SIGSEGV, "SIGSEGV"), (0xC0000005, "0xC0000005"), (3, "exit code 3")):
        monkeypatch.setitem(processes._children, tmp_path, SimpleNamespace(pid=7, returncode=code))
        assert words in processes.describe_exit(tmp_path, {"pid": 7})


def test_children_open_no_console_and_hear_no_ctrl_c_of_ours(monkeypatch):
    flags = {"CREATE_NO_WINDOW": 0x08000000, "CREATE_NEW_PROCESS_GROUP": 0x00000200}
    for name, value in flags.items():
        monkeypatch.setattr(subprocess, name, value, raising=False)
    monkeypatch.setattr(child_python, "sys", SimpleNamespace(platform="win32"))
    started = []

    class Started:
        def __init__(self, command, **words):
            started.append((command, words))

    monkeypatch.setattr(subprocess, "Popen", Started)
    child_python.start_python(r"C:\Program Files\Blender\python.exe", ["a b.py"], outlives_us=True)
    child_python.start_python("python.exe", ["-c", "pass"])
    assert [words["creationflags"] for _, words in started] == [sum(flags.values()), flags["CREATE_NO_WINDOW"]]
    assert started[0][0] == [r"C:\Program Files\Blender\python.exe", "a b.py"], "spaces are the system's business"


@pytest.mark.parametrize(
    ("platform", "variables", "jobs"),
    [
        ("win32", {"LOCALAPPDATA": "/Users/Ann Lee/AppData/Local"}, "/Users/Ann Lee/AppData/Local/Sinew/jobs"),
        ("win32", {}, "/home/ann/AppData/Local/Sinew/jobs"),
        ("darwin", {"XDG_DATA_HOME": "/ignored"}, "/home/ann/Library/Application Support/Sinew/jobs"),
        ("linux", {}, "/home/ann/.local/share/sinew/jobs"),
    ],
)
def test_jobs_and_caches_are_where_each_system_has_such_things(monkeypatch, platform, variables, jobs):
    for name in ("SINEW_JOBS", "SINEW_CACHE", "LOCALAPPDATA", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/ann", **variables}.items():
        monkeypatch.setenv(name, value)
    for module in (folders, array_cache):
        monkeypatch.setattr(module, "sys", SimpleNamespace(platform=platform))
    assert folders.jobs_root() == Path(jobs)


@pytest.mark.parametrize(
    ("platform", "variables", "encoders"),
    [
        ("win32", {"LOCALAPPDATA": "/Users/Ann Lee/AppData/Local"}, "/Users/Ann Lee/AppData/Local/Sinew/encoders"),
        ("win32", {}, "/home/ann/AppData/Local/Sinew/encoders"),
        ("darwin", {"XDG_CACHE_HOME": "/ignored"}, "/home/ann/Library/Caches/Sinew/encoders"),
        ("linux", {"XDG_CACHE_HOME": "/caches"}, "/caches/sinew/encoders"),
        ("linux", {}, "/home/ann/.cache/sinew/encoders"),
    ],
)
def test_encoders_are_where_each_system_has_what_can_be_made_again(monkeypatch, platform, variables, encoders):
    for name in ("LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/ann", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(autoencoder_cache, "sys", SimpleNamespace(platform=platform))
    assert autoencoder_cache.encoder_folder() == Path(encoders)


def test_where_files_have_no_owners_a_job_from_before_is_known_by_its_place(tmp_path, monkeypatch):
    monkeypatch.setattr(home, "os", SimpleNamespace(environ=os.environ))  # without geteuid
    monkeypatch.setattr(home, "user_data_folder", lambda: tmp_path / "data")
    assert home.is_users_own(Job(tmp_path / "data" / "jobs" / "a"))
    assert not home.is_users_own(Job(tmp_path / "shared" / "jobs" / "a"))


def test_a_bare_name_is_not_looked_for_in_the_working_folder_of_windows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("python.exe").write_text("a trap")
    Path("python.exe").chmod(0o755)
    monkeypatch.setattr(child_python, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}/nowhere")
    assert child_python.find_program("python") is None
