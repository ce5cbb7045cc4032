# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole way of a job: create, launch, wait, result; cancel and resume; who sees what."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from sinew.core import jobs
from sinew.core.errors import JobError
from sinew.core.jobs.events import append_event
from sinew.core.motion import Clip, Skeleton


def wait_for_step(job: jobs.Job, step: int) -> None:
    """Block until the running job has done the step."""
    give_up = time.monotonic() + 30
    while job.status().step < step:
        assert time.monotonic() < give_up, job.log.read_text()
        time.sleep(0.01)


def events(job: jobs.Job) -> list[dict]:
    return [json.loads(line) for line in job.events.read_text().splitlines()]


def test_a_clip_comes_home_as_it_was(clip, same):
    rig = ({"bone_scale": np.ones((40, 3, 3))}, {"frame_start": 12})
    job = jobs.create(clip, method="passthrough", settings={"chunk_frames": 7}, seed=5, attachments={"rig": rig})
    assert job.status().state == "created"
    seen = []
    status = jobs.wait(job, jobs.launch(job), seen.append, poll_s=0.01)

    assert (status.state, status.step, status.total, status.fraction, status.run) == ("done", 40, 40, 1.0, 1)
    assert status.finished
    assert not status.alive
    assert status.measurements["frames"] == 40
    assert status.summary == ("Stayed with the source exactly",)
    assert {s.state for s in seen} <= {"starting", "running", "done"}
    assert seen[0].alive
    result = jobs.open_job(job.folder).result()
    same(result.take.motion, clip)
    same(job.clip(), clip)
    arrays, meta = job.attachment("rig")
    assert meta == {"frame_start": 12}
    assert np.array_equal(arrays["bone_scale"], np.ones((40, 3, 3)))
    assert [event["kind"] for event in events(job) if event["kind"] in ("done", "failed", "cancelled")] == ["done"]


def test_the_report_says_what_was_done_and_with_what(make, clip):
    job = make()
    jobs.wait(job, jobs.launch(job))
    report = job.result().report
    expected = {"status": "done", "method": "passthrough", "engine": "none", "seed": 0, "runs": 1}
    expected |= {"fell": False, "fell_at_s": None, "lost": False, "lost_at_s": None, "findings": []}
    assert {key: report[key] for key in expected} == expected
    assert report["job"] == job.spec.id
    assert report["title"] == clip.name
    assert report["settings"] == {"chunk_frames": 30, "pause_s": 0.0}
    assert report["duration_s"] == clip.duration_s
    assert report["wall_s"] > 0
    assert (report["measurements"]["frames"], report["measurements"]["joint_error_m"]) == (40, 0.0)
    assert report["summary"] == ["Stayed with the source exactly"]
    assert {"sinew", "python", "numpy", "platform"} <= set(report["versions"])


def test_what_is_odd_about_the_motion_is_said_in_status_and_report(clip):
    bones = clip.skeleton
    rest = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 100.0], [0.0, 0.0, 70.0]])
    giant = Skeleton(bones.names, bones.parents, rest, bones.rest_quat_wxyz, bones.lengths)
    in_centimetres = Clip(giant, clip.fps, np.tile(rest, (40, 1, 1)), np.tile([1.0, 0, 0, 0], (40, 3, 1)), "Giant")
    job = jobs.create(in_centimetres, method="passthrough", settings={})
    status = jobs.wait(job, jobs.launch(job))
    (finding,) = status.findings
    assert finding["kind"] == "scale"
    assert "tall" in finding["message"]
    assert "--scale 0.01" in finding["hint"]
    assert job.result().report["findings"] == [finding]


def test_a_cancelled_job_goes_on_where_it_stopped(make, clip, same):
    job = make(chunk_frames=1, pause_s=0.02)
    process = jobs.launch(job)
    wait_for_step(job, 5)
    job.cancel()
    status = jobs.wait(job, process)
    assert status.state == "cancelled"
    assert status.hint
    assert 5 <= status.step < 40
    with pytest.raises(JobError, match="it is cancelled"):
        job.result()

    process = jobs.launch(job)
    assert jobs.wait(job, process).state == "done"
    second = [event for event in events(job) if event["run"] == 2]
    resumed = next(event["step"] for event in second if event["kind"] == "resumed")
    assert resumed >= 5
    assert min(event["step"] for event in second if event["kind"] == "progress") > resumed
    assert job.result().report["runs"] == 2
    same(job.result().take.motion, clip)


def test_cancelling_before_the_worker_is_up_is_heard(make):
    job = make(pause_s=0.1)
    process = jobs.launch(job)
    job.cancel()
    assert jobs.wait(job, process).state == "cancelled"


def test_cancelling_a_job_nobody_works_on_changes_nothing(make):
    job = make()
    job.cancel()
    assert job.status().state == "created"
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    job.cancel()
    assert job.status().state == "done"
    assert job.result()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no polite signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_polite_signal_cancels(make, number):
    job = make(chunk_frames=1, pause_s=0.02)
    process = jobs.launch(job)
    wait_for_step(job, 2)
    process.send_signal(number)
    assert jobs.wait(job, process).state == "cancelled"
    assert jobs.wait(job, jobs.launch(job)).state == "done"


def test_a_running_job_is_not_launched_again(make):
    job = make(chunk_frames=1, pause_s=0.05)
    process = jobs.launch(job)
    with pytest.raises(JobError, match="running already"):
        jobs.launch(jobs.open_job(job.folder))
    wait_for_step(job, 1)
    assert job.status().state == "running"
    with pytest.raises(JobError, match="running already"):
        jobs.launch(job)
    job.cancel()
    assert jobs.wait(job, process).state == "cancelled"
    assert job.status().run == 1


def test_a_second_worker_refuses_and_leaves_the_first_alone(make, run_worker):
    job = make(chunk_frames=1, pause_s=0.25)
    process = jobs.launch(job)
    wait_for_step(job, 1)
    refused = run_worker(job)
    assert refused.returncode == 3
    assert "Another worker" in refused.stderr
    assert jobs.wait(job, process).state == "done"
    assert {event["run"] for event in events(job)} == {1}


def test_of_many_launches_at_once_one_succeeds(make, root):
    job = make(chunk_frames=1, pause_s=0.02)
    script = f"""
import runpy
runpy.run_path({str(root / "core" / "entry.py")!r})["load_package"]()
from sinew.core import jobs
job = jobs.open_job({str(job.folder)!r})
jobs.find_worker_python()
print("ready", flush=True)
input()
try:
    jobs.launch(job)
    print("launched")
except jobs.job.JobError as error:
    print(error)
"""
    launchers = [
        subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for launcher in launchers:
        assert launcher.stdout.readline() == "ready\n"
    for launcher in launchers:
        launcher.stdin.write("\n")
        launcher.stdin.flush()
    answers = [launcher.communicate()[0].strip() for launcher in launchers]
    assert answers.count("launched") == 1, answers
    assert all("running already" in answer for answer in answers if answer != "launched"), answers
    assert jobs.wait(job).state == "done"
    assert {event["run"] for event in events(job)} == {1}


def test_a_done_job_is_not_run_again_unless_its_result_is_damaged(make, clip, same):
    job = make()
    jobs.wait(job, jobs.launch(job))
    with pytest.raises(JobError, match="done already"):
        jobs.launch(job)
    job.take_file.write_bytes(job.take_file.read_bytes()[:-20])
    with pytest.raises(JobError, match=re.escape(f"'{job.take_file}' is damaged")):
        job.result()
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    same(job.result().take.motion, clip)


@pytest.mark.skipif(os.name == "nt", reason="process groups are POSIX")
def test_the_job_goes_on_when_who_started_it_is_killed(make, clip, same, root):
    job = make(chunk_frames=1, pause_s=0.02)
    script = f"""
import runpy, time
runpy.run_path({str(root / "core" / "entry.py")!r})["load_package"]()
from sinew.core import jobs
jobs.launch(jobs.open_job({str(job.folder)!r}))
print("launched", flush=True)
time.sleep(60)
"""
    starter = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    assert starter.stdout.readline() == b"launched\n"
    assert job.status().alive
    wait_for_step(job, 1)
    os.killpg(starter.pid, signal.SIGKILL)  # with all its group, as a closed terminal would
    starter.wait()
    assert job.status().state == "running"
    assert jobs.wait(job).state == "done"
    same(job.result().take.motion, clip)


def test_a_worker_that_dies_unseen_by_its_parent_is_lost_not_starting(make, root, tmp_path):
    """The parent never asks for its dead child, so a zombie remains."""
    job = make()
    script = f"""
import runpy, subprocess, sys, time
runpy.run_path({str(root / "core" / "entry.py")!r})["load_package"]()
from sinew.core import jobs
from sinew.core.jobs import launching
launching._ENTRY = {str(tmp_path / "no such file.py")!r}
process = jobs.launch(jobs.open_job({str(job.folder)!r}))
print(process.pid, flush=True)
time.sleep(60)
"""
    starter = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    try:
        assert starter.stdout.readline()
        assert jobs.wait(job).state == "lost"
    finally:
        starter.kill()
        starter.wait()


def test_progress_has_a_fraction_and_a_time_left(make):
    job = make(chunk_frames=1, pause_s=0.05)
    process = jobs.launch(job)
    wait_for_step(job, 20)
    status = job.status()
    assert status.fraction == status.step / 40
    assert status.message == f"Step {status.step} of 40"
    # At least the pauses that are left, and not a wild guess.
    assert 0.05 * (40 - status.step) * 0.8 < status.eta_s < 60
    job.cancel()
    jobs.wait(job, process)
    assert job.status().eta_s is None


def test_jobs_are_found_in_order_and_others_are_skipped(make, jobs_folder):
    assert jobs.all_jobs() == []
    made = sorted([make().folder, make().folder])
    (jobs_folder / "not a job").mkdir()
    torn = make()
    (torn.folder / "spec.json").write_text('{"schema": 1, "id"')
    assert [job.folder for job in jobs.all_jobs()] == made
    for folder in made:
        assert re.fullmatch(r"\d{8}-\d{6}-gehen-schrag-[0-9a-f]{4}", folder.name)
        assert folder.name == jobs.open_job(folder).spec.id


def test_the_same_command_in_the_same_folder_gives_the_same_job(clip, tmp_path):
    folder = tmp_path / "job"
    job = jobs.create(clip, method="passthrough", settings={}, folder=folder)
    again = jobs.create(clip, method="passthrough", settings={"chunk_frames": 30}, folder=folder, title="Another title")
    assert again.spec == job.spec
    with pytest.raises(JobError, match="holds another job"):
        jobs.create(clip, method="passthrough", settings={"chunk_frames": 31}, folder=folder)
    with pytest.raises(JobError, match="holds another job"):
        jobs.create(clip.frames(0, 39), method="passthrough", settings={}, folder=folder)
    with pytest.raises(JobError, match="holds another job"):
        jobs.create(clip, method="passthrough", settings={}, seed=1, folder=folder)


def test_a_folder_with_other_files_is_left_alone(make, tmp_path):
    (tmp_path / "holiday.jpg").touch()
    with pytest.raises(JobError, match="holds other files"):
        make(folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]


def test_what_was_baked_is_remembered(make):
    job = make()
    assert job.collected() is None
    job.mark_collected({"action": "Walk (Sinew)", "blend": "/tmp/größe.blend"})
    assert jobs.open_job(job.folder).collected() == {"action": "Walk (Sinew)", "blend": "/tmp/größe.blend"}


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"SINEW_JOBS": "/data/jobs"}, "/data/jobs"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/sinew/jobs"),
        ("linux", {"HOME": "/home/ann"}, "/home/ann/.local/share/sinew/jobs"),
        ("darwin", {"HOME": "/Users/ann"}, "/Users/ann/Library/Application Support/Sinew/jobs"),
        ("win32", {"LOCALAPPDATA": "/C/Local"}, "/C/Local/Sinew/jobs"),
    ],
)
def test_jobs_live_where_the_system_keeps_user_data(monkeypatch, platform, variables, expected):
    for name in ("SINEW_JOBS", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert jobs.jobs_root().as_posix() == expected


def test_last_words_that_come_while_we_look_are_heard(make, monkeypatch):
    """Between reading the events and looking at the lock the worker may finish: that is done, not lost."""
    job = make()
    append_event(job.events, "started", 1)

    def finish_and_let_go(_):
        append_event(job.events, "done", 1, message="Done")
        return False

    monkeypatch.setattr(jobs.job, "is_locked", finish_and_let_go)
    assert job.status().state == "done"
