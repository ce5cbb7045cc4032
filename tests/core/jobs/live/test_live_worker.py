# SPDX-License-Identifier: GPL-3.0-or-later
"""A live worker as a process: it steps, hears, and ends with whoever started it; there is nothing to connect to."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sinew.core import jobs
from sinew.core.control.live.commands import parse_recording
from sinew.core.control.live.method import make_commands_attachment
from sinew.core.errors import JobError
from sinew.core.jobs.live import link as link_module
from sinew.core.jobs.live.link import LiveLink
from sinew.core.motion.plain_walk import plain_walk

SETTINGS = {"quality": "draft", "at_end": "hold"}
posix = pytest.mark.skipif(sys.platform == "win32", reason="looks into a POSIX process")


def short_walk():
    return plain_walk().frames(0, 20)


def live_job(**attachments):
    return jobs.create(short_walk(), method="live", settings=SETTINGS, engine="mujoco", attachments=attachments)


def wait_for(link, what, most_s=60.0):
    """Messages until ``what`` is so."""
    told, until_s = [], time.monotonic() + most_s
    while not what(told) and not link.ended:
        assert time.monotonic() < until_s, told
        told += link.read()
        time.sleep(0.005)
    return told


@pytest.fixture(scope="module")
def link(_no_users_jobs):
    link = LiveLink(live_job())
    wait_for(link, lambda told: link.newest is not None)
    yield link
    link.close()


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_it_steps_and_what_was_done_can_be_made_again(link):
    link.send({"ask": "go"})
    link.send({"do": "push", "bone": "chest", "force": [0, 50, 0]})
    sent = link.sent
    wait_for(link, lambda _: link.newest.seen >= sent and link.newest.frame >= 30)
    link.send({"ask": "pause"})
    link.send({"ask": "recording", "begin": 5})
    told = wait_for(link, lambda told: any(one["kind"] == "recording" for one in told))
    told = next(one for one in told if one["kind"] == "recording")
    recording = parse_recording(told["text"], "it")
    assert [command.does for command in recording.commands] == ["push"]
    job = live_job(**make_commands_attachment(recording))
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    assert job.result().report["live"]["state_sha256"] == told["state_sha256"]


def test_what_cannot_be_done_is_told_and_it_goes_on(link):
    link.send({"ask": "go"})
    link.send({"do": "push", "bone": "tail"})
    link.send({"do": "fly"})
    refused = wait_for(link, lambda told: sum(one["kind"] == "refused" for one in told) == 2)
    assert "'tail' has no body" in str(refused)
    frame = link.newest.frame
    wait_for(link, lambda _: link.newest.frame > frame)


@posix
def test_nobody_can_connect_to_it_and_no_other_child_gets_its_socket(link):
    held = [os.readlink(path) for path in Path(f"/proc/{link.process.pid}/fd").iterdir() if path.exists()]
    sockets = {name[8:-1] for name in held if name.startswith("socket:")}
    assert len(sockets) == 1
    for table in ("tcp", "tcp6", "udp", "udp6"):
        rows = Path(f"/proc/{link.process.pid}/net/{table}").read_text().splitlines()[1:]
        assert not any(row.split()[9] in sockets for row in rows), table
    unix = [row.split() for row in Path(f"/proc/{link.process.pid}/net/unix").read_text().splitlines()[1:]]
    (own,) = [row for row in unix if row[6] in sockets]
    assert len(own) == 7, "it has a name"
    ours = os.readlink(f"/proc/self/fd/{link._wire.socket.fileno()}")
    words = "import os; print([os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd')[:-1]])"
    other = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert ours not in other.stdout


def test_a_message_that_is_none_ends_it(link):
    link._wire.send(b"\xff" * 64)
    told = wait_for(link, lambda _: False)
    assert any(one["kind"] == "failed" and "none of ours" in one["message"] for one in told)
    assert link.ended
    assert link.process.returncode is not None


@posix
def test_it_ends_with_who_started_it(tmp_path, root):
    words = (
        "import sys, time, runpy; runpy.run_path(sys.argv[1])['load_package']()\n"
        "from pathlib import Path\n"
        "from sinew.core.jobs.job import open_job\n"
        "from sinew.core.jobs.live.link import LiveLink\n"
        "link = LiveLink(open_job(Path(sys.argv[2])))\n"
        "print(link.process.pid, flush=True)\n"
        "while True: link.read(); time.sleep(0.01)\n"
    )
    job = live_job()
    command = [sys.executable, "-c", words, str(root / "core" / "entry.py"), str(job.folder)]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE)
    pid = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    until_s = time.monotonic() + 30.0
    while is_running(pid):
        assert time.monotonic() < until_s, "an orphan"
        time.sleep(0.05)


@posix
def test_a_killed_and_a_hung_worker_are_noticed(monkeypatch):
    link = LiveLink(live_job())
    link.process.kill()
    wait_for(link, lambda _: False)
    assert link.ended == "The live worker has ended"
    monkeypatch.setattr(link_module, "_QUIET_PREPARING_S", 0.3)
    link = LiveLink(live_job())
    link.process.send_signal(signal.SIGSTOP)
    wait_for(link, lambda _: False)
    assert "hung" in link.ended
    assert link.process.returncode is not None


def test_a_job_that_cannot_be_live_says_so():
    job = jobs.create(short_walk(), method="passthrough", settings={})
    link = LiveLink(job)
    told = wait_for(link, bool)
    assert told[0]["kind"] == "failed"
    assert "cannot be live" in told[0]["message"]
    link.close()
    with pytest.raises(JobError):
        LiveLink(job, "no python")
