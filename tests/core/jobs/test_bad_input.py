# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that can be wrong around a job, each with a message that names the thing and the fix."""

import errno
import json
import os
import re
import stat
import sys
from pathlib import Path

import pytest

from sinew.core import files, jobs
from sinew.core.errors import BadSettings, CannotWrite, EngineMissing, JobError, SinewError, UnknownMethod
from sinew.core.jobs import engine_choice


def spoil_spec(job: jobs.Job, **changes) -> None:
    """Change the spec as another version or a broken disk would."""
    path = job.folder / "spec.json"
    values = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps({key: value for key, value in values.items() if value is not None}), encoding="utf-8")


@pytest.mark.parametrize(
    ("choice", "error", "message", "hint"),
    [
        ({"method": "magic"}, UnknownMethod, "magic", "passthrough"),
        ({"settings": {"chunk_frames": 0}}, BadSettings, "chunk_frames", "between 1"),
        ({"settings": {"speed": 1}}, BadSettings, "speed", "chunk_frames"),
        ({"engine": "havok"}, EngineMissing, "havok", "auto, mujoco, bullet"),
        ({"seed": -1}, JobError, "-1", "at least 0"),
        ({"seed": 10**44}, JobError, "147 bits", "at most 18446744073709551615"),
        ({"attachments": {"../x": ({}, {})}}, JobError, "../x", "small letters"),
        ({"attachments": {"clip": ({}, {})}}, JobError, "clip", "small letters"),
    ],
)
def test_wrong_choices_are_refused_before_anything_is_written(clip, jobs_folder, choice, error, message, hint):
    with pytest.raises(error) as caught:
        jobs.create(clip, **({"method": "passthrough", "settings": {}} | choice))
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert not jobs_folder.exists()


def test_a_folder_without_a_job(tmp_path):
    with pytest.raises(JobError, match=re.escape(f"There is no job in '{tmp_path}'. Choose a folder")):
        jobs.open_job(tmp_path)


def test_a_spec_of_a_newer_version(make, run_worker):
    job = make()
    spoil_spec(job, schema=jobs.SCHEMA + 1, sinew_version="9.0.0", engine=["a list, in that version"])
    with pytest.raises(JobError, match=r"spec\.json' was made by a newer Sinew \(9\.0\.0.*Update Sinew") as caught:
        jobs.open_job(job.folder)
    assert caught.value.hint == "Update Sinew"
    assert jobs.all_jobs() == []
    assert run_worker(job).returncode == 1
    status = job.status()
    assert status.state == "failed"
    assert status.hint == "Update Sinew"


@pytest.mark.parametrize("changes", [{"seed": None}, {"settings": "fast"}, {"schema": None}])
def test_a_spec_with_something_missing(make, changes):
    job = make()
    spoil_spec(job, **changes)
    with pytest.raises(JobError, match=f"'{next(iter(changes))}' is missing or wrong"):
        jobs.open_job(job.folder)


def test_a_torn_spec(make):
    job = make()
    (job.folder / "spec.json").write_text('{"schema": 1')
    with pytest.raises(JobError, match=r"spec\.json' cannot be read"):
        jobs.open_job(job.folder)


def test_a_truncated_input(make):
    job = make()
    path = job.inputs / "clip.npz"
    path.write_bytes(path.read_bytes()[:-100])
    status = jobs.wait(job, jobs.launch(job))
    assert status.state == "failed"
    assert str(path) in status.message
    assert "damaged" in status.message
    assert status.hint == "Simulate the Action again"
    with pytest.raises(JobError, match="it is failed"):
        job.result()


def test_a_missing_input(make, run_worker):
    job = make()
    (job.inputs / "clip.npz").unlink()
    run_worker(job)
    assert job.status().state == "failed"
    assert "clip.npz' cannot be read" in job.status().message


def test_a_setting_that_this_version_does_not_know(make, run_worker):
    job = make()
    spoil_spec(job, settings={"chunk_frames": 3, "warp": 9})
    run_worker(job)
    assert job.status().state == "failed"
    assert "warp" in job.status().message


def script(path: Path, text: str) -> str:
    """A program that stands in for a Python."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_missing_worker_python(make, tmp_path):
    job = make()
    with pytest.raises(JobError, match=r"no/python' does not exist.*preferences.*SINEW_PYTHON"):
        jobs.launch(job, str(tmp_path / "no" / "python"))
    assert job.status().state == "created"


def test_a_missing_worker_python_in_the_environment(make, monkeypatch):
    monkeypatch.setenv("SINEW_PYTHON", "python-of-nobody")
    with pytest.raises(JobError, match="'python-of-nobody' does not exist"):
        jobs.launch(make())


@pytest.mark.skipif(os.name == "nt", reason="shell scripts are POSIX")
@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("echo \"ModuleNotFoundError: No module named 'numpy'\" >&2; exit 1", "has no numpy", "-m pip install numpy"),
        ("echo 3.9", "is not a Python of version 3.11 or newer: it says '3.9'", "SINEW_PYTHON"),
        ("echo hello", "is not a Python", "SINEW_PYTHON"),
        ("echo 'cannot open libpython' >&2; exit 127", "does not work: cannot open libpython", "SINEW_PYTHON"),
        ("exit 5", "does not work: exit code 5", "SINEW_PYTHON"),
    ],
)
def test_a_python_that_cannot_be_the_worker(make, tmp_path, text, message, hint):
    job = make()
    python = script(tmp_path / "python", text)
    with pytest.raises(JobError) as caught:
        jobs.launch(job, python)
    assert python in caught.value.message
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert job.status().state == "created"


@pytest.mark.skipif(os.name == "nt", reason="permissions are POSIX")
def test_a_file_that_is_not_a_program(make, tmp_path):
    (tmp_path / "python").write_text("text")
    with pytest.raises(JobError, match="is not a program that can be run"):
        jobs.launch(make(), str(tmp_path / "python"))
    with pytest.raises(JobError, match="is not a program that can be run"):
        jobs.launch(make(), str(tmp_path))
    (tmp_path / "python").chmod(0o755)
    with pytest.raises(JobError, match="cannot be run"):
        jobs.launch(make(), str(tmp_path / "python"))


def test_a_non_ascii_path_with_spaces(clip, same, tmp_path):
    folder = tmp_path / "Büro für Bewegung" / "走る 人 №1"
    job = jobs.create(clip, method="passthrough", settings={}, folder=folder, title="走る")
    assert jobs.wait(job, jobs.launch(job, sys.executable)).state == "done"
    opened = jobs.open_job(folder)
    same(opened.result().take.motion, clip)
    assert opened.spec.title == "走る"
    assert re.fullmatch(r"\d{8}-\d{6}-job-[0-9a-f]{4}", opened.spec.id)


def test_a_job_folder_below_a_file(make, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CannotWrite, match=r"Cannot write .*file/job.*is a file"):
        make(folder=tmp_path / "file" / "job")
    with pytest.raises(CannotWrite, match=r"Cannot (write|make the folder) .*file"):
        make(folder=tmp_path / "file")


def refuse(number: int):
    def write(*_):
        raise OSError(number, os.strerror(number))

    return write


@pytest.mark.parametrize(
    ("number", "message"),
    [(errno.ENOSPC, "the disk is full"), (errno.EROFS, "read-only"), (errno.EACCES, "may not write")],
)
def test_a_job_that_cannot_be_written_leaves_nothing_behind(make, tmp_path, monkeypatch, number, message):
    monkeypatch.setattr(files.os, "fsync", refuse(number))
    with pytest.raises(CannotWrite, match=f"Cannot write .*{message}") as caught:
        make(folder=tmp_path / "job")
    assert caught.value.hint
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    assert make(folder=tmp_path / "job").status().state == "created"


def test_a_read_only_disk(make, mount):
    with pytest.raises(CannotWrite, match="read-only disk"):
        make(folder=mount("size=64k,ro") / "job")


def fill(disk: Path, leave: int = 0) -> Path:
    """Fill the disk up to ``leave`` pages; gives the file that does it."""
    ballast = disk / "ballast"
    space = os.statvfs(disk)
    ballast.write_bytes(b"x" * ((space.f_bavail - leave) * space.f_bsize))
    return ballast


def test_a_disk_that_is_full_when_the_job_is_launched(make, mount):
    disk = mount("size=256k")
    job = make(folder=disk / "job")
    ballast = fill(disk)
    with pytest.raises(CannotWrite, match="the disk is full"):
        jobs.launch(job)
    ballast.unlink()
    assert jobs.wait(job, jobs.launch(job)).state == "done"


def test_a_disk_that_fills_up_during_the_run(make, mount, clip, same):
    disk = mount("size=256k")
    job = make(folder=disk / "job", chunk_frames=10)
    ballast = fill(disk, leave=4)
    status = jobs.wait(job, jobs.launch(job))
    assert status.state == "failed"
    assert "Cannot write" in status.message
    assert "the disk is full" in status.message
    assert "Free some space" in status.hint
    ballast.unlink()
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    same(job.result().take.motion, clip)


NO_LAST_WORD = """
from sinew.core.errors import CannotWrite
def full(path, kind, run, **fields):
    if kind in ("done", "failed", "cancelled"):
        raise CannotWrite(f"Cannot write '{path}': the disk is full", "Free some space and try again")
    return whole(path, kind, run, **fields)
whole, worker.append_event = worker.append_event, full
time.sleep = lambda _: None
"""


def test_a_disk_too_full_for_the_last_word_makes_the_job_lost_not_done(make, mount, run_worker):
    disk = mount("size=256k")
    job = make(folder=disk / "job")
    ended = run_worker(job, NO_LAST_WORD)
    assert ended.returncode == 1
    assert "the disk is full" in ended.stderr
    fill(disk)
    status = job.status()
    assert status.state == "lost"
    assert "is full" in status.message
    assert status.hint == "Free space and resume"
    with pytest.raises(JobError, match="it is lost"):
        job.result()


@pytest.mark.parametrize(
    ("body", "message", "hint"),
    [
        ("raise SinewError('Bone X is odd', 'Fix bone X')", "Bone X is odd", "Fix bone X"),
        ("raise MemoryError", "The worker ran out of memory", "fewer frames"),
        ("raise OSError(28, 'No space left', '/data/big')", "Cannot write '/data/big': the disk is full", "Free some"),
        ("[][1]", "Sinew met a bug: IndexError: list index out of range", "worker.log"),
        ("sys.exit(0)", "Sinew met a bug: SystemExit: 0", "worker.log"),
        ("raise ValueError('two\\nlines')", "Sinew met a bug: ValueError: two lines", "worker.log"),
    ],
)
def test_a_method_that_fails(make, run_worker, body, message, hint):
    job = make()
    fault = f"from sinew.core.errors import SinewError\ndef run(*_):\n    {body}\nPassthrough.run = run"
    ended = run_worker(job, fault)
    assert ended.returncode == 1
    assert "Traceback" in ended.stderr
    status = job.status()
    assert status.state == "failed"
    assert status.finished
    assert status.message == message
    assert hint in status.hint
    assert jobs.wait(job, jobs.launch(job)).state == "done", "what failed can be tried again"


def test_a_method_cannot_swallow_a_cancel(make, run_worker):
    job = make()
    fault = """
def run(self, clip, settings, run):
    run.job.ask_to_stop()
    try:
        run.progress(1, 2)
    except Exception:
        pass
    return None
Passthrough.run = run
"""
    assert run_worker(job, fault).returncode == 2
    assert job.status().state == "cancelled"


def test_a_measurement_that_is_not_a_number_does_not_spoil_the_result(make, run_worker):
    job = make()
    fault = """
import dataclasses, numpy as np
inner = Passthrough.run
def run(*args):
    return dataclasses.replace(inner(*args), measurements={"skate_m_s": np.float32("nan"), "count": np.int64(3)})
Passthrough.run = run
"""
    assert run_worker(job, fault).returncode == 0
    result = job.result()
    for measurements in (result.report["measurements"], result.take.measurements):
        assert {name: measurements[name] for name in ("skate_m_s", "count")} == {"skate_m_s": None, "count": 3}
    assert not any("slide" in sentence for sentence in result.report["summary"])


def test_a_take_that_cannot_be_measured_is_still_a_take(make, run_worker, clip, same):
    job = make()
    fault = """
from sinew.core.jobs import measuring
measuring.measure_take = lambda *_: 1 / 0
"""
    assert run_worker(job, fault).returncode == 0
    same(job.result().take.motion, clip)
    (finding,) = job.result().report["findings"]
    assert "measured" in finding["message"] and str(job.log) in finding["hint"]


def test_a_job_that_is_not_done_still_has_a_report(make, run_worker):
    job = make()
    run_worker(job, "Passthrough.run = lambda *_: [][1]")
    report = jobs.unfinished_report(job)
    assert report["status"] == "failed"
    assert report["duration_s"] == pytest.approx(1.3)
    assert {"method", "engine", "seed", "wall_s", "fell", "versions"} <= set(report)
    json.dumps(report, allow_nan=False)


class NeedsEngine:
    uses_engine = True


class NeedsNone:
    uses_engine = False


@pytest.mark.parametrize(
    ("installed", "engine", "expected"),
    [
        ({"mujoco", "pybullet"}, "auto", "mujoco"),
        ({"pybullet"}, "auto", "bullet"),
        ({"mujoco", "pybullet"}, "bullet", "bullet"),
    ],
)
def test_the_fastest_installed_engine_is_taken(monkeypatch, installed, engine, expected):
    monkeypatch.setattr(engine_choice, "find_spec", lambda name: name in installed)
    assert engine_choice.resolve_engine(engine, NeedsEngine()) == expected
    assert engine_choice.resolve_engine(engine, NeedsNone()) == "none"


@pytest.mark.parametrize(
    ("installed", "engine", "message", "package"),
    [
        (set(), "auto", "No physics engine is installed", "mujoco"),
        ({"mujoco"}, "bullet", "The engine 'bullet' is not installed", "pybullet"),
    ],
)
def test_a_missing_engine_says_how_to_get_it(monkeypatch, installed, engine, message, package):
    monkeypatch.setattr(engine_choice, "find_spec", lambda name: name in installed)
    with pytest.raises(EngineMissing, match=message) as caught:
        engine_choice.resolve_engine(engine, NeedsEngine())
    assert f"pip install {package}" in caught.value.hint
    assert isinstance(caught.value, SinewError)
