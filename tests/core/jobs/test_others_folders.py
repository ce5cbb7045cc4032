# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder that others write to: what cannot be read costs one line, and nothing is written where a link leads."""

import contextlib
import errno
import json
import os
import random
import shutil
import stat
import sys
import time
from functools import partial

import pytest

from sinew.core import jobs, limits
from sinew.core.errors import CannotWrite, JobError, SinewError
from sinew.core.jobs import home, memory

from ...permissions import NOBODY, as_nobody, open_folder

POSIX = pytest.mark.skipif(os.name == "nt", reason="permissions, pipes and links are POSIX")


@pytest.fixture
def shared(monkeypatch):
    """A folder for jobs that anybody may look into and write to."""
    with open_folder() as root:
        monkeypatch.setenv("SINEW_JOBS", str(root))
        yield root


def spoil(job, **changes):
    path = job.folder / "spec.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        inner, _, name = key.rpartition("__")
        (values[inner] if inner else values)[name] = value
    path.write_text(json.dumps(values), encoding="utf-8")


@POSIX
def test_a_folder_that_may_not_be_looked_into_costs_its_line(make, shared):
    whole = make()
    closed, unlisted = make(), make()
    (shared / "lost+found").mkdir()
    (shared / "graphs").mkdir()  # no job, and nothing to say of it
    os.chown(whole.folder, NOBODY if os.geteuid() == 0 else -1, -1)
    for path in whole.folder.rglob("*"):
        os.chown(path, NOBODY if os.geteuid() == 0 else -1, -1)
    closed.folder.chmod(0o000)
    unlisted.folder.chmod(0o644)
    (shared / "lost+found").chmod(0o000)
    try:
        with as_nobody():
            found = {one.folder.name: one for one in jobs.find_jobs()}
            assert [job.spec.id for job in jobs.all_jobs()] == [whole.spec.id]
            assert found[whole.spec.id].status().state == "created"
    finally:
        for path in (closed.folder, unlisted.folder, shared / "lost+found"):
            path.chmod(0o700)
    assert set(found) == {whole.spec.id, closed.spec.id, unlisted.spec.id, "lost+found"}
    for name in set(found) - {whole.spec.id}:
        assert isinstance(found[name], jobs.UnreadableJob)
        assert name in found[name].problem.message and "Permission denied" in found[name].problem.message
        assert found[name].problem.hint


WRONG_SPECS = {
    "an id that leads elsewhere": {"id": "../../elsewhere"},
    "an id of another system": {"id": "C:\\Windows"},
    "a number for an id": {"id": 5},
    "an id without end": {"id": "a" * 10_000},
    "yes for a seed": {"seed": True},
    "a seed below nothing": {"seed": -1},
    "a number for a title": {"title": 7},
    "a title without end": {"title": "x" * 1_000_000},
    "a list of inputs": {"inputs": []},
    "an input that leads elsewhere": {"inputs": {"../../../etc/passwd": "0"}},
    "a number for a hash": {"inputs": {"clip.npz": 1}},
    "a text for settings": {"settings": "fast"},
    "nothing for a target": {"target": None},
    "a number for an armature": {"target__armature": 1},
    "a number for a .blend": {"target__blend": 4},
    "a variation without end": {"target__variation": 10**30},
    "a variation below nothing": {"target__variation": -5},
    "a text for a cast": {"target__cast": "Anna"},
    "a cast of numbers": {"target__cast": [1]},
    "a cast without names": {"target__cast": [{}]},
    "a list for what varies": {"target__varied": [1]},
    "no version": {"schema": 0},
}


def test_a_spec_with_something_wrong_costs_its_line(make):
    whole, odd = make(), make()
    text = (odd.folder / "spec.json").read_text(encoding="utf-8")
    for what, changes in WRONG_SPECS.items():
        (odd.folder / "spec.json").write_text(text, encoding="utf-8")
        spoil(odd, **changes)
        assert [job.spec.id for job in jobs.all_jobs()] == [whole.spec.id], what
        (unreadable,) = (one for one in jobs.find_jobs() if isinstance(one, jobs.UnreadableJob))
        assert unreadable.folder == odd.folder and str(odd.folder) in unreadable.problem.message, what


def in_the_way(path, kind):
    """Put something there that is no plain file."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "circle":
        path.symlink_to(path)
    elif kind == "sparse":
        with path.open("wb") as stream:
            stream.truncate(200 * limits.GIB)
    else:
        path.write_bytes(kind)


ODD = ["pipe", "folder", "device", "circle", "sparse", b"", b"\xff\xfe", b"null", b"[" * 100_000, b'{"a": NaN}', b"[1]"]


@POSIX
@pytest.mark.parametrize(
    "name", ["spec.json", "home.json", "collected.json", "seen.json", "worker.lock", "events.jsonl"]
)
def test_anything_in_place_of_a_file_costs_one_job_at_most(make, name):
    whole, odd = make(), make()
    path = odd.folder / name
    for kind in ODD:
        in_the_way(path, kind)
        assert whole.spec.id in [job.spec.id for job in jobs.all_jobs()], kind
        for found in jobs.find_jobs():
            if isinstance(found, jobs.Job):
                with contextlib.suppress(SinewError):
                    assert found.status().state in ("created", "lost")
                assert isinstance(home.read_home(found), dict) and found.collected() is None
                assert not home.is_proved(found)
        if kind == "folder":
            path.rmdir()
    jobs.clean_jobs(older_than_days=0.0)
    assert not whole.folder.exists()


def test_two_jobs_never_have_one_name(make):
    job = make()
    shutil.copytree(job.folder, job.folder.with_name(f"{job.spec.id}-2"))
    assert [found.folder for found in jobs.all_jobs()] == [job.folder]
    assert f"Call it '{job.spec.id}'" in next(
        one.problem.hint for one in jobs.find_jobs() if isinstance(one, jobs.UnreadableJob)
    )


@POSIX
def test_a_link_among_the_jobs_is_none(make, tmp_path):
    job = make(folder=tmp_path / "elsewhere" / "job")
    make()
    os.symlink(job.folder, jobs.jobs_root() / job.spec.id)
    assert job.spec.id not in [found.spec.id for found in jobs.all_jobs()]
    os.utime(job.folder / "spec.json", (0, 0))
    jobs.clean_jobs(older_than_days=0.0, keep_uncollected=False)
    assert (job.folder / "spec.json").exists()


def asked_for(job):
    """All that is asked of a worker by files, and the worker itself."""
    files = (job.cancel_file, job.finish_file, job.pause_file, job.folder / "queue")
    return [*(partial(job.touch, path) for path in files), lambda: jobs.wait(job, jobs.launch(job))]


@POSIX
@pytest.mark.parametrize("how", ["link", "second name", "to nowhere"])
@pytest.mark.parametrize("name", ["events.jsonl", "worker.log", "worker.lock"])
def test_nothing_is_written_where_a_link_leads(make, tmp_path, name, how):
    job, theirs = make(), tmp_path / "theirs"
    theirs.write_bytes(b"precious\nwithout an end")
    before = theirs.stat().st_mtime_ns
    for place in (name, "cancel", "finish", "pause", "queue"):
        if how == "second name":
            os.link(theirs, job.folder / place)
        else:
            (job.folder / place).symlink_to(theirs if how == "link" else tmp_path / "nowhere")
    for act in asked_for(job):
        with contextlib.suppress(CannotWrite):
            act()
    with pytest.raises(CannotWrite, match=name):
        jobs.launch(job)
    assert theirs.read_bytes() == b"precious\nwithout an end" and theirs.stat().st_mtime_ns == before
    assert not (tmp_path / "nowhere").exists()


@POSIX
@pytest.mark.parametrize("name", ["checkpoints", "result", "inputs"])
def test_no_folder_of_a_job_leads_elsewhere(make, tmp_path, name, run_worker):
    job, theirs = make(chunk_frames=10), tmp_path / "theirs"
    if (job.folder / name).exists():
        (job.folder / name).rename(theirs)
    else:
        theirs.mkdir()
    for file in ("take.npz", "00000001.npz", ".take.npz.0.part"):
        (theirs / file).write_bytes(b"precious")
    (job.folder / name).symlink_to(theirs)
    with pytest.raises(JobError, match=f"{name}' is a link to another folder"):
        jobs.launch(job)
    assert run_worker(job).returncode == 1
    for file in ("take.npz", "00000001.npz", ".take.npz.0.part"):
        assert (theirs / file).read_bytes() == b"precious"


@POSIX
def test_a_job_is_its_users_own(make, run_worker):
    before = os.umask(0o022)
    try:
        job = make(chunk_frames=10)
        assert jobs.wait(job, jobs.launch(job)).state == "done"
        job.mark_collected({})
        job.pause()
        home.write_home(job, "/a.blend")
        paused = make()
        paused.pause()
    finally:
        os.umask(before)
    for made in (job, paused):
        for path in (made.folder, *made.folder.rglob("*")):
            assert stat.S_IMODE(path.lstat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert {"result", "worker.log", "events.jsonl", "home.json"} <= set(os.listdir(job.folder))


@POSIX
def test_a_job_is_shared_if_that_is_asked_for(make, monkeypatch):
    monkeypatch.setenv("SINEW_SHARE_JOBS", "1")
    before = os.umask(0o022)
    try:
        job = make(chunk_frames=10)
        assert jobs.wait(job, jobs.launch(job)).state == "done"
    finally:
        os.umask(before)
    for path in (job.folder, *job.folder.rglob("*")):
        assert stat.S_IMODE(path.lstat().st_mode) == (0o755 if path.is_dir() else 0o644), path


def test_a_home_is_proved_by_its_user_alone(make, tmp_path, monkeypatch):
    job = make()
    assert not home.is_proved(job)
    home.write_home(job, "/shots/a.blend")
    assert home.is_proved(job) and home.read_home(job) == {**home.read_home(job), "blend": "/shots/a.blend"}
    note = json.loads((job.folder / "home.json").read_text())
    for changes in ({"blend": "/shots/b.blend"}, {"proof": ""}, {"proof": "0" * 64}, {"proof": 5}, {"proof": "é"}):
        (job.folder / "home.json").write_text(json.dumps(note | changes))
        assert not home.is_proved(jobs.open_job(job.folder))
    (job.folder / "home.json").write_text(json.dumps(note))
    spoil(job, title="another")
    assert not home.is_proved(jobs.open_job(job.folder)), "what was proved is this very spec"
    spoil(job, title=job.spec.title)
    monkeypatch.setenv("SINEW_KEY", str(tmp_path / "somebody else's"))
    assert not home.is_proved(jobs.open_job(job.folder))


@POSIX
def test_a_key_is_never_anybodys_and_none_is_no_trouble(make, tmp_path, monkeypatch):
    monkeypatch.setenv("SINEW_KEY", str(tmp_path / "a" / "key"))
    home.write_home(make(), "")
    assert stat.S_IMODE((tmp_path / "a" / "key").stat().st_mode) == 0o600
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "key", tmp_path, tmp_path / "file"):
        monkeypatch.setenv("SINEW_KEY", str(place))
        job = make()
        home.write_home(job, "/a.blend")
        assert home.read_home(job)["blend"] == "/a.blend" and not home.is_proved(job)


def seeded_event(rng):
    """A line that might be an event."""
    odd = [None, True, -1, 0, 10**30, 1.5, -1e300, "", "x" * 5000, [], {}, [[1]], {"a": [1]}, "\u0000", {"a": "b"}]
    names = ("time", "run", "kind", "step", "total", "measurements", "message", "hint", "sha256", "finding")
    names += ("pid", "host", "summary", "fell", "memory_ends", "boot")
    event = {"time": time.time(), "run": 1, "kind": "progress", "step": 1, "total": 2, "pid": 1, "host": ""}
    event["kind"] = rng.choice(
        ["launched", "started", "resumed", "progress", "paused", "continued", "finding", "done", "failed", "magic"]
    )
    for name in rng.sample(names, rng.randint(0, 4)):
        event[name] = rng.choice(odd)
    return json.dumps(event)


def test_events_of_any_kind_cost_nobody_anything(make):
    job, rng = make(), random.Random(19)
    for _ in range(60):
        job.events.write_text("\n".join(seeded_event(rng) for _ in range(20)) + "\n")
        found = jobs.open_job(job.folder)
        status = found.status()
        assert isinstance(status.message, str) and isinstance(status.fraction, float) and 0.0 <= status.fraction <= 1.0
        assert all(isinstance(text, str) and len(text) <= limits.TEXT_LETTERS for text in (status.message, status.hint))
        assert all(isinstance(sentence, str) for sentence in status.summary)
        assert all(isinstance(value, float) for points in status.curves.values() for value in points)
        json.dumps(jobs.unfinished_report(found), allow_nan=False)
        with contextlib.suppress(SinewError):
            found.result()
        found.has_result()


def test_a_result_is_only_looked_for_in_its_own_folder(make, run_worker):
    job = make()
    run_worker(job)
    lines = job.events.read_text().splitlines()
    end = json.loads(lines[-1])
    end["sha256"] |= {"../spec.json": "0", "/etc/passwd": "0", "..": "0", "a\\b": "0"}
    job.events.write_text("\n".join([*lines[:-1], json.dumps(end)]) + "\n")
    assert jobs.open_job(job.folder).result().report["status"] == "done"
    end["sha256"] = ["take.npz"]
    job.events.write_text("\n".join([*lines[:-1], json.dumps(end)]) + "\n")
    with pytest.raises(JobError, match="damaged"):
        jobs.open_job(job.folder).result()


ENDED = """
from sinew.core.jobs import memory
memory._COUNTS = type(memory._COUNTS)({counts!r})
Passthrough.run = lambda *_: die()
"""
GIVEN_UP = 'Passthrough.run = lambda *_: (os.write(2, b"terminate called: std::bad_alloc\\n"), os.abort())'
# So little that NumPy's own libraries are loaded, and not much more.
SHORT = """
import resource
import numpy as np
def run(*_):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, used + 2**26))
    return [np.ones(2**20) for _ in range(100)]
Passthrough.run = run
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts them")
def test_a_worker_that_the_system_ended_for_memory_says_so(make, run_worker, tmp_path, monkeypatch):
    counts = tmp_path / "vmstat"
    counts.write_text("nr_free_pages 5\noom_kill 3\n")
    monkeypatch.setattr(memory, "_COUNTS", counts)
    job = make()
    run_worker(job, ENDED.format(counts=str(counts)))
    assert "memory" not in job.status().message
    counts.write_text("nr_free_pages 5\noom_kill 4\n")
    status = job.status()
    assert status.state == "lost" and "memory seems to have run out" in status.message and "fewer" in status.hint


@POSIX
def test_a_worker_whose_library_gave_up_for_memory_says_so(make, run_worker):
    job = make()
    job.log.write_text(run_worker(job, GIVEN_UP).stderr)
    assert job.status().state == "lost" and "memory seems to have run out" in job.status().message
    job.log.write_text(job.log.read_text() + run_worker(job, "Passthrough.run = lambda *_: die()").stderr)
    assert job.status().state == "lost" and "memory" not in job.status().message, "that was the run before"


@pytest.mark.skipif(sys.platform != "linux", reason="reads how much it uses from /proc")
def test_a_worker_that_gets_no_more_memory_says_so(make, run_worker):
    job = make()
    assert run_worker(job, SHORT).returncode == 1
    assert (job.status().state, job.status().message) == ("failed", "The worker ran out of memory")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "x"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 5 bytes"), True),
        (RuntimeError("std::bad_alloc"), True),
        (OSError(errno.ENOSPC, "x"), False),
        (ValueError("a memory of summer"), False),
    ],
)
def test_libraries_say_in_their_own_words_that_memory_is_at_its_end(error, expected):
    assert memory.is_out_of_memory(error) is expected


def long_history(job, mebibytes):
    """Events that take so much room, of a run that is lost."""
    began = time.time() - 1000.0
    line = json.dumps({"time": began, "run": 1, "kind": "progress", "step": 7, "total": 90, "measurements": {"a": 0.5}})
    with job.events.open("w") as stream:
        stream.write(json.dumps({"time": began, "run": 1, "kind": "started", "pid": 1, "host": "here"}) + "\n")
        block = (line + "\n") * (2**20 // len(line))
        for number in range(mebibytes):
            stream.write(block)
            finding = {"kind": "k", "message": f"{number}", "hint": ""}
            stream.write(json.dumps({"time": began, "run": 1, "kind": "finding", "finding": finding}) + "\n")
        stream.write(line.replace('"step": 7', '"step": 45') + "\n")


def test_a_long_history_is_read_a_little_at_a_time(make):
    job = make()
    long_history(job, 12)
    assert job.status(until_s=0.0).state == "reading", "no time, no reading"
    looks = 0
    while (status := job.status(until_s=time.monotonic() + 0.001)).state == "reading":
        looks += 1
    assert looks > 10 and status.state == "lost" and status.step == 45 and status.fraction == 0.5
    assert [one["message"] for one in status.findings] == [str(number) for number in range(12)]
    assert jobs.open_job(job.folder).status().step == 45


def test_a_line_without_end_is_passed_over(make):
    job = make()
    started = json.dumps({"time": 5.0, "run": 1, "kind": "started", "pid": 1, "host": "here"})
    end = json.dumps({"time": 6.0, "run": 1, "kind": "failed", "message": "x" * 10_000})
    with job.events.open("w") as stream:
        stream.write(f"{started}\n" + "y" * (3 * limits.EVENT_LINE_BYTES) + f"\n{end}\n" + "z" * 100)
    status = job.status()
    assert status.state == "failed" and status.message == "x" * limits.TEXT_LETTERS
    with job.events.open("w") as stream:
        stream.write(f"{started}\n")
        stream.truncate(limits.EVENTS_BYTES + 1)
    with pytest.raises(JobError, match="too large"):
        jobs.open_job(job.folder).status()
