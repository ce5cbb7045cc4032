# SPDX-License-Identifier: GPL-3.0-or-later
"""A job that somebody else has put among ours: it is shown at most, and never decides what is written or where."""

import json
import os
import shutil

import bpy
import numpy as np
import pytest

from sinew.bridge.jobs import monitor, requests
from sinew.bridge.learned import paths
from sinew.bridge.learned.learned_file import learned_file
from sinew.core import jobs
from sinew.core.errors import CannotWrite
from sinew.core.files import sha256_of, write_arrays, write_json
from sinew.core.jobs import home

from ..helpers.interface import hero, simulate, tick_to_end

POSIX = pytest.mark.skipif(os.name == "nt", reason="links need rights there")


def baked():
    return [action.name for action in bpy.data.actions if "passthrough" in action.name]


def save_as(path):
    bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False)


def respell(job, **target):
    """Write the job's spec anew, as whoever plants one does."""
    path = job.folder / "spec.json"
    spec = json.loads(path.read_text(encoding="utf-8"))
    spec["target"] |= target
    path.write_text(json.dumps(spec), encoding="utf-8")


def learned_something(job):
    """Let the done job have a controller beside its take, as a training has."""
    write_arrays(job.product_file("controller"), {"policy": np.arange(3.0)}, {"kind": "none"}, checksum=True)
    lines = job.events.read_text().splitlines()
    end = json.loads(lines[-1])
    end["sha256"]["controller.npz"] = sha256_of(job.product_file("controller"))
    job.events.write_text("\n".join([*lines[:-1], json.dumps(end)]) + "\n")


@pytest.fixture
def planted(addon, tmp_path):
    """A saved file, and a done job with a controller whose spec names that file and paths of its author's choice."""
    (tmp_path / "theirs").mkdir()
    hero()
    save_as(tmp_path / "theirs" / "hero.blend")
    job = monitor.job_of(simulate())
    jobs.wait(job)
    learned_something(job)
    bpy.ops.wm.read_homefile(use_empty=True)
    (tmp_path / "shots").mkdir()
    precious = tmp_path / "precious.safetensors"
    precious.write_bytes(b"precious")
    hero()
    blend = tmp_path / "shots" / "hero.blend"
    save_as(blend)
    respell(job, blend=str(blend), controller_file=str(precious), graph_file=str(precious))
    write_json(job.folder / "home.json", {"blend": str(blend), "settled": False, "proof": "0" * 64})
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    yield jobs.open_job(job.folder)
    assert precious.read_bytes() == b"precious"


def test_it_is_shown_and_not_baked_by_itself(planted, tmp_path):
    view = tick_to_end()
    assert view.id == planted.spec.id and view.state == "done" and "does not know it" in view.message
    assert baked() == []
    assert not (tmp_path / "shots" / "sinew").exists()
    bpy.ops.wm.save_mainfile()
    assert not bpy.context.scene.sinew.jobs, "saving takes nobody in"
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    tick_to_end()
    assert baked() == []


def test_asked_for_it_is_written_beside_the_file_alone(planted, tmp_path):
    tick_to_end()
    before = {path for path in tmp_path.rglob("*") if "jobs" not in path.parts}
    assert bpy.ops.sinew.collect(job=planted.spec.id) == {"FINISHED"}
    assert baked() == ["Wave passthrough"]
    new = {path for path in tmp_path.rglob("*") if "jobs" not in path.parts} - before
    home_folder = tmp_path / "shots" / "sinew"
    assert new == {home_folder, home_folder / "Hero-Wave.safetensors"}


def test_no_name_in_it_leads_elsewhere(planted, tmp_path):
    names = ["../../escaped", "/etc/escaped", "C:\\escaped", "..", "a/b", "NUL", "x" * 300, "\n"]
    for name in names:
        respell(planted, armature="Hero", action=name, varied={"style": name})
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
        tick_to_end()
        requests.collect(monitor.job_of(planted.spec.id))
    new = [path for path in tmp_path.rglob("*.safetensors") if path.name != "precious.safetensors"]
    assert len(new) == len(set(names)) and {path.parent for path in new} == {tmp_path / "shots" / "sinew"}
    assert all(len(path.name.encode()) < 255 and path.stem.upper() != "NUL" for path in new)


@POSIX
def test_a_folder_beside_the_file_that_leads_elsewhere_is_not_used(planted, tmp_path):
    (tmp_path / "shots" / "sinew").symlink_to(tmp_path / "theirs")
    before = sorted(os.listdir(tmp_path / "theirs"))
    tick_to_end()
    with pytest.raises(RuntimeError, match="is a link to another folder"):
        bpy.ops.sinew.collect(job=planted.spec.id)
    assert sorted(os.listdir(tmp_path / "theirs")) == before and baked() == []


def in_the_way(place, how, tmp_path):
    if how in ("file", "other case"):
        place.write_bytes(b"precious")
    elif how == "folder":
        place.mkdir()
    elif how == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(tmp_path / ("precious.safetensors" if how == "link" else "nowhere"))
    if how == "other case":  # on a disk that knows none the name is taken all the same: the system says so
        place.rename(place.with_name("hero-wave.safetensors"))


@POSIX
def test_what_has_the_name_already_stays_as_it_is(planted, tmp_path):
    place = tmp_path / "shots" / "sinew" / "Hero-Wave.safetensors"
    tick_to_end()
    for how in ("file", "link", "to nowhere", "folder", "pipe", "other case"):
        shutil.rmtree(place.parent, ignore_errors=True)
        place.parent.mkdir()
        in_the_way(place, how, tmp_path)
        requests.collect(monitor.job_of(planted.spec.id))
        new = place if how == "other case" else place.with_name("Hero-Wave-2.safetensors")
        assert learned_file("bounds").kind.read_content(new)[1] == {"kind": "none"}
        assert not (tmp_path / "nowhere").exists()
        if how in ("file", "link"):
            assert place.read_bytes() == b"precious"
        requests.collect(monitor.job_of(planted.spec.id))
        assert len(os.listdir(place.parent)) == 2, "twice the same is one"


def test_a_job_that_took_the_name_of_ours_is_not_ours(addon, tmp_path):
    hero()
    save_as(tmp_path / "hero.blend")
    job = monitor.job_of(simulate())
    bpy.ops.wm.save_mainfile()
    jobs.wait(job)
    assert bpy.context.scene.sinew.jobs[0].digest == job.digest
    respell(job, words="planted")
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    view = tick_to_end()
    assert baked() == [] and view.id == job.spec.id
    bpy.ops.sinew.forget_job(job=job.spec.id)
    assert monitor.watched_jobs() == []


def test_a_copy_of_our_own_job_is_not_baked_a_second_time(addon, tmp_path):
    hero()
    save_as(tmp_path / "hero.blend")
    job = monitor.job_of(simulate())
    tick_to_end()
    shutil.copytree(job.folder, job.folder.with_name(f"{job.spec.id}-again"))
    (job.folder.with_name(f"{job.spec.id}-again") / "collected.json").unlink()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    tick_to_end()
    assert baked() == []


@pytest.fixture
def from_before(addon, tmp_path):
    """A done job that the open file lists by its name alone, as an older Sinew left both."""
    hero()
    save_as(tmp_path / "hero.blend")
    job = monitor.job_of(simulate())
    jobs.wait(job)
    bpy.context.scene.sinew.jobs[0].digest = ""
    bpy.app.handlers.save_pre.remove(monitor._on_save)
    bpy.ops.wm.save_mainfile()
    bpy.app.handlers.save_pre.append(monitor._on_save)
    write_json(job.folder / "home.json", {"blend": bpy.data.filepath, "settled": False})
    assert not home.is_proved(job)
    return job


def test_files_from_before_know_their_users_jobs_by_name_alone(from_before):
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    tick_to_end()
    assert baked() == ["Wave passthrough"]


@POSIX
@pytest.mark.parametrize("how", ["another's", "written by others"])
@pytest.mark.parametrize("name", [".", "spec.json", "events.jsonl"])
def test_a_name_that_a_file_from_before_lists_is_not_enough(from_before, name, how, monkeypatch):
    if how == "another's":
        lstat, mine = os.lstat, os.geteuid()
        theirs = str(from_before.folder / name)

        def stranger(path, **words):
            about = list(lstat(path, **words))
            about[4] = mine + 1 if str(path) == theirs else about[4]
            return os.stat_result(about)

        monkeypatch.setattr(home.os, "lstat", stranger)
    else:
        (from_before.folder / name).chmod(0o777)
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    view = tick_to_end()
    assert baked() == [] and view.id == from_before.spec.id and "Bake it if it belongs here" in view.message
    assert bpy.ops.sinew.collect(job=from_before.spec.id) == {"FINISHED"}
    assert baked() == ["Wave passthrough"]


def test_a_job_of_a_newer_sinew_is_told_of(addon, tmp_path, capfd, reported):
    hero()
    save_as(tmp_path / "hero.blend")
    job = monitor.job_of(simulate())
    jobs.wait(job)
    path = job.folder / "spec.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"passthrough"', '"of_a_newer_sinew"'), encoding="utf-8")
    bpy.context.scene.sinew.jobs[0].digest = sha256_of(path)
    bpy.app.handlers.save_pre.remove(monitor._on_save)
    bpy.ops.wm.save_mainfile()
    bpy.app.handlers.save_pre.append(monitor._on_save)
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    view = tick_to_end()
    assert view.state == "done" and view.is_error
    assert "has no method 'of_a_newer_sinew'" in view.message and view.hint == "Update Sinew"
    assert [kind for kind, _ in reported] == ["WARNING"]
    assert "Traceback" not in capfd.readouterr().err


def test_one_odd_job_costs_nobody_the_list(addon, tmp_path):
    hero()
    save_as(tmp_path / "hero.blend")
    ids = [simulate() for _ in range(3)]
    for job_id in ids:
        jobs.wait(monitor.job_of(job_id))
    bpy.ops.wm.save_mainfile()
    odd = jobs.jobs_root() / ids[1]
    (odd / "events.jsonl").unlink()
    (odd / "events.jsonl").mkdir()
    (jobs.jobs_root() / "lost+found").mkdir()
    (jobs.jobs_root() / "20260101-000000-odd-0000").mkdir()
    (jobs.jobs_root() / "20260101-000000-odd-0000" / "spec.json").write_text("[" * 100_000)
    respell(jobs.open_job(jobs.jobs_root() / ids[2]), place=7)
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    tick_to_end()
    views = {view.id: view for view in monitor.watched_jobs()}
    assert set(views) == set(ids)
    assert views[ids[0]].action == "Wave passthrough"
    assert views[ids[1]].state == views[ids[2]].state == "missing" and views[ids[2]].hint
    assert "no plain file" in views[ids[1]].message and "'place'" in views[ids[2]].message


def test_a_long_history_does_not_hold_up_the_monitor(addon, tmp_path):
    hero()
    save_as(tmp_path / "hero.blend")
    first = monitor.job_of(simulate())
    jobs.wait(first)
    bpy.ops.wm.save_mainfile()
    lines = first.events.read_text().splitlines()
    progress = json.dumps({**json.loads(lines[-1]), "kind": "progress", "step": 1, "total": 2})
    block = f"{progress}\n" * (2**20 // len(progress))
    first.events.write_text("\n".join(lines[:-1]) + "\n" + block * 6 + lines[-1] + "\n")
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    ticks = 0
    while (pause_s := monitor.tick_monitor()) == monitor._SOON_S:
        (view,) = monitor.watched_jobs()
        assert view.state == "reading" and baked() == []
        ticks += 1
    assert ticks > 3 and pause_s in (None, monitor.PERIOD_S)
    tick_to_end()
    assert baked() == ["Wave passthrough"]


@POSIX
def test_a_learned_file_among_the_jobs_stays_there(addon, tmp_path, jobs_folder):
    jobs_folder.mkdir(parents=True)
    kind = learned_file("bounds").kind
    data = b"x"
    assert paths.keep_data(paths.folder(kind.folder), "a", kind, data) == jobs_folder / kind.folder / f"a{kind.ending}"
    shutil.rmtree(jobs_folder / kind.folder)
    (jobs_folder / kind.folder).symlink_to(tmp_path)
    with pytest.raises(CannotWrite, match="is a link"):
        paths.folder(kind.folder)
    assert list(tmp_path.iterdir()) == []
