# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work feels alive: pauses, turns, time left, curves, and word of what ended while nobody looked."""

import os
import re
import signal
import time
from types import SimpleNamespace

import bpy
import pytest

from sinew.bridge import cli
from sinew.bridge.jobs import monitor, status_bar
from sinew.bridge.jobs.job_views import JobView
from sinew.bridge.jobs.live_curves import live_curves
from sinew.core import jobs
from sinew.panels import batches
from sinew.panels import jobs as jobs_panel

from ..helpers.interface import baked, hero, simulate, slowly, tick_to_end, tick_until
from ..helpers.panel_drawing import Page, show


@pytest.fixture
def turns(monkeypatch):
    """Jobs wait for each other, as they do where Blender has a window."""
    monkeypatch.setattr(monitor, "takes_turns", lambda: True)


def save_as(path):
    bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False)


def by_id(job_id):
    return next(view for view in monitor.watched_jobs() if view.id == job_id)


def test_paused_and_resumed_it_bakes_the_same_action(addon):
    hero()
    simulate()
    plain = baked(tick_to_end().action)
    slowly(0.1)
    job = simulate()
    tick_until(lambda view: view.fraction > 0)
    assert bpy.ops.sinew.pause(job=job) == {"FINISHED"}
    assert monitor.watched_jobs()[0].paused
    view = tick_until(lambda view: view.state == "paused")
    assert re.fullmatch(r"Paused at \d+%", view.text) and view.alive and view.paused
    assert monitor.tick_monitor() is not None, "who is paused is still followed"
    page = Page(jobs_panel.SINEW_PT_jobs)
    assert page.button("sinew.resume").job == job and page.button("sinew.pause") is None
    assert page.button("sinew.forget_job").job != job
    bpy.ops.sinew.resume(job=job)
    view = tick_to_end()
    assert (view.id, view.state, view.paused) == (job, "done", False)
    assert baked(view.action) == plain


def test_the_command_line_pauses_and_resumes(addon, capsys):
    hero()
    slowly(0.1)
    job = simulate()
    assert cli.main(["jobs", "pause", job]) == 0
    assert capsys.readouterr().out.endswith(f"{job}: paused\n")
    assert cli.main(["jobs", "resume", job]) == 0
    assert capsys.readouterr().out.endswith(f"{job}: done\n")
    assert cli.main(["jobs", "pause", job]) == 1


def test_a_pause_outlives_blender(addon, tmp_path):
    hero()
    save_as(tmp_path / "hero.blend")
    slowly(0.1)
    job = simulate()
    bpy.ops.sinew.pause(job=job)
    tick_until(lambda view: view.state == "paused")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert monitor.watched_jobs() == []
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hero.blend"))
    view = tick_until(lambda view: view.id == job)
    assert view.state == "paused" and view.paused
    bpy.ops.sinew.resume(job=job)
    assert tick_to_end().action == "Wave passthrough"


def test_who_is_cancelled_in_a_pause_leaves_no_process(addon):
    hero()
    slowly(0.1)
    job = monitor.job_of(simulate())
    bpy.ops.sinew.pause(job=job.spec.id)
    tick_until(lambda view: view.state == "paused")
    pid = job.history.started["pid"]
    bpy.ops.sinew.cancel(job=job.spec.id)
    assert tick_to_end().state == "cancelled"
    end = time.monotonic() + 20.0
    while jobs.processes._lives(pid):
        job.status()  # which lets go of a child that has ended
        assert time.monotonic() < end
        time.sleep(0.05)
    bpy.ops.sinew.resume(job=job.spec.id)
    assert tick_to_end().state == "done"


def test_jobs_take_turns_in_the_order_in_which_they_were_asked_for(addon, turns):
    hero()
    slowly(0.05)
    seen = [simulate()]
    for _ in range(2):
        assert bpy.ops.sinew.simulate("EXEC_DEFAULT", True) == {"FINISHED"}
        seen.append(next(view.id for view in monitor.watched_jobs() if view.id not in seen))
    assert [by_id(job).queued for job in seen] == [False, True, True]
    assert by_id(seen[1]).text == "Waiting for its turn" and by_id(seen[1]).armature == "Hero"
    at_once, begun = 0, []
    end = time.monotonic() + 60.0
    while monitor.tick_monitor() is not None:
        assert time.monotonic() < end
        alive = [view.id for view in monitor.watched_jobs() if view.alive]
        begun += [job for job in alive if job not in begun]
        at_once = max(at_once, len(alive))
        time.sleep(0.03)
    assert at_once == 1 and [job for job in seen if job in begun] == begun
    started = [jobs.open_job(jobs.jobs_root() / job) for job in seen]
    for job in started:
        assert job.status().state == "done"
    times = [job.history.started["time"] for job in started]
    assert times == sorted(times)


def test_the_queue_outlives_blender_and_who_is_paused_holds_it_up(addon, turns, tmp_path):
    hero()
    save_as(tmp_path / "hero.blend")
    slowly(0.1)
    first = simulate()
    bpy.ops.sinew.simulate("EXEC_DEFAULT", True)
    second = next(view.id for view in monitor.watched_jobs() if view.id != first)
    bpy.ops.sinew.pause(job=first)
    tick_until(lambda view: by_id(first).state == "paused")
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hero.blend"))
    for _ in range(3):
        monitor.tick_monitor()
    assert by_id(first).state == "paused" and by_id(second).queued
    bpy.ops.sinew.pause(job=second)  # it loses its turn, not its place
    assert by_id(second).text == "Paused before its turn" and not by_id(second).queued
    bpy.ops.sinew.resume(job=first)
    tick_until(lambda view: by_id(first).state == "done")
    monitor.tick_monitor()
    assert by_id(second).state == "created"
    bpy.ops.sinew.resume(job=second)
    tick_until(lambda view: by_id(second).state == "done")


def test_a_job_that_waits_may_be_started_at_once_or_taken_out(addon, turns):
    hero()
    slowly(0.2)
    first = simulate()
    bpy.ops.sinew.simulate("EXEC_DEFAULT", True)
    second = next(view.id for view in monitor.watched_jobs() if view.id != first)
    bpy.ops.sinew.cancel(job=second)
    assert not by_id(second).queued and by_id(second).resumable
    bpy.ops.sinew.resume(job=second)
    assert by_id(first).alive and by_id(second).alive
    tick_to_end()
    assert {view.state for view in monitor.watched_jobs()} == {"done"}


def test_a_batch_rests_as_a_whole_and_goes_on(addon):
    hero()
    slowly(0.1)
    wanted = bpy.context.scene.sinew.variations
    wanted.count, wanted.least_n, wanted.most_n = 2, 0.0, 0.0
    assert bpy.ops.sinew.simulate_variations("EXEC_DEFAULT", True) == {"FINISHED"}
    batch = monitor.watched_jobs()[0].batch
    tick_until(lambda _: any(view.alive for view in monitor.watched_jobs()))
    bpy.ops.sinew.pause_batch(batch=batch)
    tick_until(lambda _: any(view.state == "paused" for view in monitor.watched_jobs()))
    assert all(view.paused for view in monitor.watched_jobs())
    assert Page(jobs_panel.SINEW_PT_jobs).button("sinew.resume_batch").batch == batch
    for _ in range(3):
        monitor.tick_monitor()
    assert sorted(view.state for view in monitor.watched_jobs()) == ["created", "paused"]
    bpy.ops.sinew.resume_batch(batch=batch)
    assert Page(jobs_panel.SINEW_PT_jobs).button("sinew.pause_batch").batch == batch
    tick_to_end()
    assert {view.state for view in monitor.watched_jobs()} == {"done"}


def test_what_went_wrong_while_the_file_was_closed_is_told_once(addon, reported, tmp_path):
    hero()
    save_as(tmp_path / "hero.blend")
    slowly(0.2)
    job = monitor.job_of(simulate())
    tick_until(lambda view: view.fraction > 0)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    os.kill(job.history.launched["pid"], signal.SIGKILL)
    jobs.wait(job)
    assert reported == []
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hero.blend"))
    assert tick_to_end().state == "lost"
    assert (
        len(reported) == 1 and reported[0][0] == "WARNING" and "Wave" in reported[0][1] and "Resume" in reported[0][1]
    )
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hero.blend"))
    assert tick_to_end().state == "lost" and len(reported) == 1
    bpy.ops.sinew.resume(job=job.spec.id)
    assert tick_to_end().state == "done"
    assert reported[1:] == [("INFO", "Baked 'Wave passthrough'")]


def test_a_result_that_came_while_the_file_was_closed_is_baked_and_told(addon, reported, tmp_path):
    hero()
    save_as(tmp_path / "hero.blend")
    job = simulate()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    jobs.wait(jobs.open_job(jobs.jobs_root() / job))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hero.blend"))
    assert tick_to_end().action == "Wave passthrough"
    assert reported == [("INFO", "Baked 'Wave passthrough'")]


def view(number, state, **more):
    told = {"id": str(number), "title": f"Walk {number}", "method": "Sampling", "text": state}
    return JobView(**told | {"state": state} | more)


def test_the_status_bar_says_what_runs_and_how_much_waits(addon):
    assert status_bar.text_of([view(1, "done"), view(2, "created", queued=True)]) is None
    running = view(2, "running", text="45%  ·  12 s left", fraction=0.45)
    said = status_bar.text_of([view(4, "created", queued=True), view(3, "created", queued=True), running])
    assert said == ("Walk 2  45%  ·  12 s left  ·  2 waiting", 0.45)
    resting = view(1, "paused", paused=True, text="Paused at 10%", fraction=0.1)
    assert status_bar.text_of([running, resting]) == ("Walk 2  45%  ·  12 s left  ·  1 more", 0.45)
    assert status_bar.text_of([resting]) == ("Walk 1  Paused at 10%", 0.1)
    long = view(5, "running", title="A very long title of a motion that nobody could read", text="1%")
    assert len(status_bar.text_of([long])[0]) < 40


def test_the_status_bar_is_left_as_it_was(addon):
    header = bpy.types.STATUSBAR_HT_header
    assert status_bar._draw in header.draw._draw_funcs
    addon.unregister()
    assert status_bar._draw not in header.draw._draw_funcs
    addon.register()


def test_it_draws_where_the_status_bar_is(addon, monkeypatch):
    bars = []
    row = SimpleNamespace(progress=lambda text, factor: bars.append((text, factor)))
    header = SimpleNamespace(layout=SimpleNamespace(row=lambda: row))
    status_bar._draw(header, bpy.context)
    assert bars == []
    monkeypatch.setattr(monitor, "watched_jobs", lambda: [view(1, "running", text="5%", fraction=0.05)])
    status_bar._draw(header, bpy.context)
    assert bars == [("Walk 1  5%", 0.05)]


def test_every_job_that_reports_numbers_has_a_curve(addon, monkeypatch):
    shown = {"state": "running", "fraction": 0.25, "method_name": "passthrough"}
    page = show(monkeypatch, **shown, curves=(("cost", (4.0, 3.0, 1.0)), ("sway_m", (0.01,))))
    assert "Cost: 1" in page.texts and "█▆▁" in page.texts and "Sway: 1 cm" in page.texts
    shown |= {"method_name": "sampling", "doing": "Simulating: 1.2 s of 4.5"}
    curves = (("planned_s", (0.0, 0.6, 1.2)), ("cost", (4.0, 3.0, 1.0)))
    page = show(monkeypatch, **shown, curves=curves)
    assert {"Simulating: 1.2 s of 4.5", "Simulated: 1.2 s"} <= set(page.texts) and "Cost: 1.00" not in page.texts
    bpy.context.scene.sinew.show_advanced = True  # research terms are for those who ask for them
    assert "Cost: 1.00" in show(monkeypatch, **shown, curves=curves).texts
    learned = view(1, "running", method_name="bounds_train", curves=(("lasts", (0.1, 0.5)), ("kl", (0.1, 0.2))))
    assert [(curve.name, curve.value) for curve in live_curves(learned)] == [("Lasts", "50%")]
    assert [curve.name for curve in live_curves(learned, advanced=True)] == ["KL divergence"]
    assert live_curves(view(1, "running")) == ()


def test_a_batch_says_how_long_it_still_takes():
    done = [view(1, "done", wall_s=10), view(2, "done", wall_s=20)]
    alive = view(3, "running", eta_s=5, wall_s=10)
    waits = [view(4, "created", queued=True), view(5, "created", queued=True)]
    assert batches.left_s([*done, alive, *waits]) == 5 + 2 * 15
    assert batches.batch_text([*done, alive, *waits]) == "2 of 5 done  ·  35 s left"
    assert batches.left_s([alive, *waits]) == 5 + 2 * 15
    assert batches.left_s(done) is None and batches.left_s(waits) is None
    assert batches.left_s([view(3, "running", eta_s=None), *waits]) is None
