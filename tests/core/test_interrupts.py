# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl-C ends a command at once, with what is only its own, and never in the middle of a step."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from sinew.core.interrupts import finish_first, leave_on_interrupt, raise_on_interrupt

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals as POSIX has them")

LEAVING = """
import os, runpy, signal, sys, tempfile, time
runpy.run_path(sys.argv[1])["load_package"]()
from sinew.core import child_python, interrupts
with interrupts.leave_on_interrupt():
    words, silent = ["-c", "import time; time.sleep(60)"], {"stdout": -3, "stderr": -3}  # DEVNULL
    child = child_python.start_python(sys.executable, words, **silent)
    kept = child_python.start_python(sys.executable, words, outlives_us=True, **silent)
    print(child.pid, kept.pid, tempfile.mkdtemp(), flush=True)
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    finally:
        print("unwound", flush=True)
"""


def lives(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_leaving_takes_children_and_temporary_files_along(root):
    command = [sys.executable, "-c", LEAVING, str(root / "core" / "entry.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    child, kept, folder = done.stdout.split()
    assert (done.returncode, done.stderr) == (130, "sinew: cancelled\n")
    assert not lives(child) and lives(kept) and not os.path.exists(os.path.dirname(folder))
    os.kill(int(kept), signal.SIGKILL)


def test_a_step_is_finished_first():
    done = []

    def step():
        with finish_first():
            with finish_first():
                os.kill(os.getpid(), signal.SIGINT)
                done.append("inner")
            done.append("outer")

    with raise_on_interrupt():
        with pytest.raises(KeyboardInterrupt):
            step()
        with finish_first():
            done.append("the interrupt came once")
    assert done == ["inner", "outer", "the interrupt came once"]


def test_what_another_thread_finishes_is_not_waited_for():
    started, ended = threading.Event(), threading.Event()

    def work():
        with finish_first():
            started.set()
            ended.wait(30.0)

    thread = threading.Thread(target=work)
    thread.start()
    started.wait(30.0)
    with raise_on_interrupt(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    ended.set()
    thread.join()


def test_everything_is_as_it_was_afterwards():
    before, folder = signal.getsignal(signal.SIGINT), tempfile.gettempdir()
    with leave_on_interrupt():
        own = tempfile.gettempdir()
        assert signal.getsignal(signal.SIGINT) is not before and own != folder
    assert signal.getsignal(signal.SIGINT) is before and tempfile.gettempdir() == folder and not os.path.exists(own)


def test_a_background_job_goes_on_ignoring_it(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with leave_on_interrupt(), raise_on_interrupt():
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
