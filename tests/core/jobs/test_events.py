# SPDX-License-Identifier: GPL-3.0-or-later
"""The event file: whole lines in, each event out once, whatever a kill or a disk left behind."""

import json
import os
import platform
import subprocess
import sys
import time

import numpy as np
import pytest

from sinew.core.errors import CannotWrite, JobError
from sinew.core.jobs import events, processes
from sinew.core.jobs.history import History
from sinew.core.jobs.lock import hold_lock, is_locked


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.jsonl"


def test_each_event_comes_once(path):
    reader = events.EventReader(path)
    assert reader.poll() == []
    events.append_event(path, "progress", 1, step=1)
    events.append_event(path, "progress", 1, step=2)
    assert [event["step"] for event in reader.poll()] == [1, 2]
    assert reader.poll() == []
    events.append_event(path, "progress", 1, step=3)
    assert [event["step"] for event in reader.poll()] == [3]


def test_a_torn_line_waits_until_it_is_whole(path):
    reader = events.EventReader(path)
    line = json.dumps({"time": 1.0, "run": 1, "kind": "done"}).encode() + b"\n"
    for end in range(len(line)):
        path.write_bytes(line[:end])
        assert reader.poll() == []
    path.write_bytes(line)
    assert [event["kind"] for event in reader.poll()] == ["done"]


def test_a_reader_survives_that_the_torn_tail_is_cut(path):
    reader = events.EventReader(path)
    events.append_event(path, "started", 1)
    with path.open("ab") as stream:
        stream.write(b'{"time": 2.0, "run": 1, "ki')
    assert [event["kind"] for event in reader.poll()] == ["started"]
    events.cut_torn_tail(path)
    events.append_event(path, "started", 2)
    assert [(event["kind"], event["run"]) for event in reader.poll()] == [("started", 2)]
    assert all(json.loads(line) for line in path.read_bytes().splitlines())


def test_a_tail_is_not_looked_for_in_a_file_that_nobody_would_read(tmp_path):
    path = tmp_path / "events.jsonl"
    with path.open("wb") as stream:
        stream.truncate(200 << 30)
    with pytest.raises(JobError, match="too large: 204800 MB"):
        events.cut_torn_tail(path)
    assert path.stat().st_size == 200 << 30


def test_lines_that_are_no_events_are_skipped(path):
    events.append_event(path, "started", 1)
    with path.open("ab") as stream:
        stream.write(b'\0\0\0\0\n[1, 2]\n{"kind": "done"}\nnonsense\n')
    events.append_event(path, "progress", 1, step=1)
    assert [event["kind"] for event in events.EventReader(path).poll()] == ["started", "progress"]


def test_numbers_that_json_cannot_hold_become_none(path):
    events.append_event(
        path, "progress", 1, numbers={"a": float("nan"), "b": np.float32(0.5), "c": [np.inf, np.int64(3)]}
    )
    told = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert told["numbers"] == {"a": None, "b": 0.5, "c": [None, 3]}


def test_a_line_that_fits_only_in_part_leaves_the_file_whole(path, mount):
    path = mount("size=8k") / "events.jsonl"
    events.append_event(path, "started", 1)

    def until_full():
        for step in range(1000):
            events.append_event(path, "progress", 1, step=step)

    with pytest.raises(CannotWrite, match="the disk is full"):
        until_full()
    assert path.read_bytes().endswith(b"}\n")


@pytest.fixture
def tell(path):
    """Appends events with times of our choice, and gives the history."""
    history = History(path)

    def tell(*told: tuple[float, int, str, dict]) -> History:
        with path.open("a") as stream:
            for moment, run, kind, fields in told:
                stream.write(json.dumps({"time": moment, "run": run, "kind": kind, **fields}) + "\n")
        history.refresh()
        return history

    return tell


def test_the_time_left_follows_the_recent_rate(tell):
    now = time.time()
    # Five steps a second for a minute, then one a second for another.
    fast = [(now - 120 + i, 1, "progress", {"step": 5 * i, "total": 420}) for i in range(61)]
    slow = [(now - 60 + i, 1, "progress", {"step": 300 + i, "total": 420}) for i in range(1, 61)]
    # A little of the fast minute is remembered; the mean of both would say 20 s.
    assert tell(*fast, *slow).eta_s() == pytest.approx(60.0, rel=0.2)


def test_live_numbers_become_curves(tell):
    def at(step, **numbers):
        return float(step), 1, "progress", {"step": step, "total": 3000, "measurements": numbers}

    history = tell(
        at(1, change=0.5, push_n=100), at(2, change=0.25, push_n=100, note="x"), at(3, change=None, best=True)
    )
    assert history.curves == {"change": [0.5, 0.25], "push_n": [100.0]}
    history = tell(*(at(step, cost=1.0 / step) for step in range(1, 2000)))
    points = history.curves["cost"]
    assert 200 < len(points) <= 512 and points[0] == 1.0 and points[-1] == 1.0 / 1999
    assert points == sorted(points, reverse=True)


def test_a_resumed_run_begins_its_rate_anew_and_does_not_fall_back_to_zero(tell):
    now = time.time()
    history = tell(
        (now - 100, 1, "started", {}),
        (now - 90, 1, "progress", {"step": 50, "total": 100}),
        (now - 10, 2, "launched", {"pid": 1, "host": "x"}),
        (now - 9, 2, "started", {}),
        (now - 8, 2, "resumed", {"step": 40}),
    )
    assert (history.run, history.step, history.total) == (2, 40, 100)
    assert history.eta_s() is None
    history = tell(
        (now - 2, 2, "progress", {"step": 50, "total": 100}),
        (now, 2, "progress", {"step": 60, "total": 100}),
    )
    assert history.eta_s() == pytest.approx(8.0, abs=0.5)


def test_a_launch_told_after_the_worker_spoke_changes_nothing(tell):
    history = tell((1.0, 1, "started", {}), (2.0, 1, "done", {}), (1.5, 1, "launched", {"pid": 1, "host": "x"}))
    assert history.end["kind"] == "done"
    assert history.next_run == 2


def test_a_launch_that_never_started_does_not_count_as_a_run(tell):
    assert tell().next_run == 1
    assert tell((1.0, 1, "launched", {"pid": 1, "host": "x"})).next_run == 1
    assert tell((2.0, 1, "started", {})).next_run == 2


def test_progress_is_not_written_more_often_than_anyone_looks(make, run_worker):
    job = make()
    fast = """
def run(self, clip, settings, run):
    for step in range(1, 20_001):
        run.progress(step, 20_001)
    return inner(self, clip, settings, running.WorkerRun(run.job, run.number))
inner, Passthrough.run = Passthrough.run, run
"""
    assert run_worker(job, fast).returncode == 0
    lines = [event for event in events.EventReader(job.events).poll() if event["kind"] == "progress"]
    assert len(lines) < 200
    assert lines[-1]["step"] == 20_000, "the last report waits for its turn and then comes"


def test_a_lock_is_seen_while_held_and_not_after(tmp_path):
    lock = tmp_path / "worker.lock"
    assert not is_locked(lock)
    with hold_lock(lock) as held:
        assert held
        assert is_locked(lock)
        with hold_lock(lock, patience_s=0.05) as second:
            assert not second
        assert is_locked(lock)
    assert not is_locked(lock)


def test_asking_does_not_keep_a_worker_from_its_lock(tmp_path):
    """Many askers all the time, and the lock is still had by who wants it."""
    lock = tmp_path / "worker.lock"
    lock.touch()
    script = f"""
import runpy
runpy.run_path({str(processes.__file__).replace("jobs/processes.py", "entry.py")!r})["load_package"]()
from pathlib import Path
from sinew.core.jobs.lock import is_locked
print("asking", flush=True)
while True:
    is_locked(Path({str(lock)!r}))
"""
    askers = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for asker in askers:
            assert asker.stdout.readline() == b"asking\n"
        for _ in range(20):
            with hold_lock(lock) as held:
                assert held
    finally:
        for asker in askers:
            asker.kill()
            asker.wait()


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_a_zombie_does_not_count_as_starting(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    launched = {"pid": process.pid, "host": platform.node(), "time": time.time()}
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead, but nobody has asked for it
    assert not processes.is_starting(tmp_path, launched)
    process.wait()
    assert not processes.is_starting(tmp_path, launched)


def test_a_launch_is_believed_for_a_while_only(tmp_path):
    launched = {"pid": os.getpid(), "host": platform.node(), "time": time.time()}
    assert processes.is_starting(tmp_path, launched)
    assert not processes.is_starting(tmp_path, {**launched, "time": time.time() - 60})
    assert processes.is_starting(tmp_path, {**launched, "pid": 2**22 + 1, "host": "another computer"})
    assert not processes.is_starting(tmp_path, None)
