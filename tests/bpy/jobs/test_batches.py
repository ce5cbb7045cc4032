# SPDX-License-Identifier: GPL-3.0-or-later
"""A batch of variations: ordinary jobs that take turns, whatever becomes of one of them, of the file or of Blender."""

import os
import signal
import time

import bpy
import numpy as np
import pytest

from sinew.bridge.importing.importers import open_input
from sinew.bridge.jobs import batches, job_views, monitor, ownership, queueing, requests, scene_request
from sinew.core import jobs
from sinew.core.errors import BadSettings, JobError
from sinew.core.jobs import JobStatus
from sinew.core.sim.stage_io import stage_from_arrays
from sinew.core.sim.variations import VariationSettings
from sinew.panels import batches as batch_panel
from sinew.panels import jobs as jobs_panel
from sinew.panels import simulate as simulate_panel
from sinew.panels import variations

from ..helpers.interface import animation, hero, new_actions, slowly, tick_to_end
from ..helpers.panel_drawing import Layout, Page


@pytest.fixture
def waiting_layout(monkeypatch):
    """The panels' stand-in layout with what only these panels use."""

    def prop(self, data, name, text=None, icon="NONE", placeholder="", slider=False):
        assert data.bl_rna.properties[name].description
        self.page.props.append(name)

    def prop_search(self, data, name, owner, collection, **_):
        assert hasattr(owner, collection)
        self.page.props.append(name)

    monkeypatch.setattr(Layout, "prop", prop)
    monkeypatch.setattr(Layout, "prop_search", prop_search, raising=False)


def start(count=3):
    """Press the button; gives the jobs' views by their numbers."""
    bpy.context.scene.sinew.variations.count = count
    assert bpy.ops.sinew.simulate_variations("EXEC_DEFAULT", True) == {"FINISHED"}
    return views()


def views():
    return sorted(monitor.watched_jobs(), key=lambda view: view.variation)


def alive():
    """How many are at work; a process that has told its end may take a moment to leave."""
    return sum(view.alive and view.state != "done" for view in monitor.watched_jobs())


def run_counting(seconds=60.0):
    """Tick to the end; gives the most jobs that were alive at once, and the order in which they were."""
    most, order, stop = 0, [], time.monotonic() + seconds
    while monitor.tick_monitor() is not None:
        assert time.monotonic() < stop, monitor.watched_jobs()
        most = max(most, alive())
        order += [view.variation for view in views() if view.alive and view.variation not in order]
        time.sleep(0.02)
    return most, order


def test_variations_are_simulated_one_after_the_other_and_all_are_baked(addon):
    obj = hero()
    before = animation()
    waiting = start(3)
    assert [view.queued for view in waiting] == [True] * 3 and {view.text for view in waiting} == {
        "Waiting for its turn"
    }
    assert [view.title for view in waiting] == [f"Wave {n}: seed {n - 1}" for n in (1, 2, 3)]
    most, order = run_counting()
    assert most == 1 and order == [1, 2, 3]
    assert [view.state for view in views()] == ["done"] * 3
    assert new_actions(before) == [f"Wave variation {n}" for n in (1, 2, 3)]
    assert [row.variation for row in obj.sinew_takes] == [1, 2, 3]
    specs = [monitor.job_of(view.id).spec for view in views()]
    assert [spec.seed for spec in specs] == [0, 1, 2]
    assert len({spec.target.batch for spec in specs}) == 1


def test_a_preference_lets_more_run_at_once(addon):
    hero()
    slowly(0.05)
    bpy.context.preferences.addons["sinew"].preferences.workers_at_once = 2
    start(4)
    most, _ = run_counting()
    assert most == 2 and [view.state for view in views()] == ["done"] * 4


def test_one_whose_events_are_not_read_to_their_end_counts_as_alive(addon, monkeypatch):
    """On a busy machine the time for reading runs out, and one worker too many was started."""
    hero()
    slowly(0.3)
    start(2)
    monitor.tick_monitor()
    assert [view.queued for view in views()] == [False, True]
    until_s = time.monotonic() + 30
    while not monitor.job_of(views()[0].id).status().alive:
        assert time.monotonic() < until_s
        time.sleep(0.02)
    with monkeypatch.context() as patch:
        patch.setattr(monitor, "_READING_S", -1.0)
        while views()[0].state != "reading":  # it says something every now and then
            assert time.monotonic() < until_s and views()[1].queued
            monitor.tick_monitor()
            time.sleep(0.02)
        assert views()[1].queued
    tick_to_end()
    assert [view.state for view in views()] == ["done"] * 2


def test_what_a_worker_does_is_shown_and_its_character_is_known_by_its_mark(addon):
    obj = hero()
    job = monitor.job_of(start(1)[0].id)
    seen = job_views.view_job(job, JobStatus("running", measurements={"doing": "Practising"}))
    assert seen.doing == "Practising" and seen.mark == obj.sinew_mark != ""
    assert job_views.view_job(job, JobStatus("done", measurements={"doing": "Practising"})).doing == ""
    tick_to_end()


def test_one_that_fails_does_not_stop_the_others(addon):
    hero()
    second = start(3)[1]
    (monitor.job_of(second.id).inputs / "clip.npz").write_bytes(b"torn")
    tick_to_end()
    assert [view.state for view in views()] == ["done", "failed", "done"]
    assert views()[1].is_error and views()[1].resumable


def test_one_that_waits_can_be_cancelled_and_started_later(addon):
    hero()
    second = start(3)[1]
    bpy.ops.sinew.cancel(job=second.id)
    assert not views()[1].queued and views()[1].resumable
    tick_to_end()
    assert [view.state for view in views()] == ["done", "created", "done"]
    bpy.ops.sinew.resume(job=second.id)
    tick_to_end()
    assert [view.state for view in views()] == ["done"] * 3


def test_all_of_a_batch_can_be_cancelled(addon):
    hero()
    bpy.context.scene.sinew.variations.count = 2
    bpy.ops.sinew.simulate_variations()
    tick_to_end()
    slowly(0.2)
    bpy.ops.sinew.simulate_variations()
    batch = monitor.watched_jobs()[0].batch
    stop = time.monotonic() + 30
    while not alive() and time.monotonic() < stop:
        monitor.tick_monitor()
        time.sleep(0.02)
    bpy.ops.sinew.cancel_batch(batch=batch)
    tick_to_end()
    own = [view.state for view in views() if view.batch == batch]
    assert sorted(own) == ["cancelled", "created"]
    assert [view.state for view in views() if view.batch != batch] == ["done", "done"]
    bpy.ops.sinew.forget_batch(batch=batch)
    assert [view.state for view in views()] == ["done", "done"]


def test_a_queue_goes_on_when_the_file_is_opened_again(addon, tmp_path):
    hero()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"), check_existing=False)
    start(3)
    monitor.tick_monitor()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # Without its file nothing more is started.
    assert monitor.tick_monitor() is None
    first = jobs.all_jobs()
    for job in first:
        jobs.wait(job)
    assert sorted(job.status().state for job in first) == ["created", "created", "done"]
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hero.blend"))
    tick_to_end()
    assert [view.state for view in views()] == ["done"] * 3
    assert len([action for action in bpy.data.actions if "variation" in action.name]) == 3


def test_a_worker_that_was_killed_meanwhile_starts_again_with_its_file(addon, tmp_path):
    hero()
    slowly(0.2)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"), check_existing=False)
    start(2)
    monitor.tick_monitor()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    job = next(job for job in jobs.all_jobs() if job.status().alive)
    while job.status().state != "running":
        time.sleep(0.02)
    os.kill(job.history.started["pid"], signal.SIGKILL)
    assert jobs.wait(job).state == "lost"
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hero.blend"))
    tick_to_end()
    assert [view.state for view in views()] == ["done"] * 2
    assert job.status().run == 2


def test_a_worker_that_is_killed_before_our_eyes_is_left_to_the_user(addon):
    hero()
    slowly(0.2)
    start(2)
    stop = time.monotonic() + 30
    while not any(view.state == "running" for view in monitor.watched_jobs()) and time.monotonic() < stop:
        monitor.tick_monitor()
        time.sleep(0.02)
    job = monitor.job_of(next(view.id for view in monitor.watched_jobs() if view.alive))
    os.kill(job.history.started["pid"], signal.SIGKILL)
    tick_to_end()
    assert [view.state for view in views()] == ["lost", "done"]


def test_a_worker_that_cannot_start_is_named_and_the_queue_comes_to_an_end(addon, monkeypatch):
    hero()
    start(2)

    def refuse(job, python=None):
        raise JobError("There is no Python", "Install one")

    monkeypatch.setattr(jobs, "launch", refuse)
    tick_to_end()
    assert [(view.state, view.message) for view in views()] == [("created", "There is no Python")] * 2
    assert all(view.resumable for view in views())


def test_all_jobs_or_none(addon, monkeypatch, jobs_folder):
    hero()
    made = []

    def create(self, variation, folder=None):
        if variation.number == 3:
            raise JobError("The disk is full")
        made.append(original(self, variation, folder))
        return made[-1]

    original = batches.Batch.create
    monkeypatch.setattr(batches.Batch, "create", create)
    bpy.context.scene.sinew.variations.count = 4
    with pytest.raises(RuntimeError, match="The disk is full"):
        bpy.ops.sinew.simulate_variations()
    assert len(made) == 2 and jobs.all_jobs() == [] and monitor.watched_jobs() == []


def test_pushes_go_into_each_stage_and_into_the_names(addon):
    open_input("walk")
    obj = requests.find_armature()
    request = requests.Request("", method="sampling", settings={"quality": "draft"}, seed=4)
    rig = requests.read(request)
    batch = batches.plan(request, rig, VariationSettings(3, side="left", mass=0.1))
    made = [batch.create(one) for one in batch.variations]
    same = batches.plan(request, rig, VariationSettings(3, side="left", mass=0.1))
    again = [same.create(one) for one in same.variations]
    assert [job.spec.content for job in made] == [job.spec.content for job in again]
    assert [job.spec.seed for job in made] == [4, 5, 6]
    stages = [stage_from_arrays(*job.attachment("stage")) for job in made]
    forces = [stage.pushes[0].force for stage in stages]
    assert len({tuple(force) for force in forces}) == 3
    assert all(50.0 <= np.linalg.norm(force) <= 200.0 for force in forces)
    assert all(stage.pushes[0].character == obj.name for stage in stages)
    assert all(stage.pushes[0].bone == "chest" and stage.mass_factor != 1.0 for stage in stages)
    for number, (job, force) in enumerate(zip(made, forces, strict=True), start=1):
        newtons = f"{np.linalg.norm(force):.0f} N from the"
        assert job.spec.title.startswith(f"walk push {number}: {newtons}")
        assert job.spec.target.variation == number and job.spec.target.named == f"push {number}"
        assert "mesh.npz" in job.spec.inputs
    # Both within a second, in which their ids know no order.
    assert queueing.in_order([*reversed(again), *reversed(made)]) == [*made, *again]
    for job in (*made, *again):
        ownership.delete(job)


def test_a_method_without_physics_varies_by_seed_alone(addon):
    hero()
    request = scene_request.request_of(bpy.context.scene)
    with pytest.raises(BadSettings, match="only the seed can vary"):
        batches.plan(request, requests.read(request), VariationSettings(2))
    assert not scene_request.variations_of(bpy.context.scene).pushes


def test_the_panel_mirrors_the_settings(addon, waiting_layout):
    hero()
    scene = bpy.context.scene
    page = Page(variations.SINEW_PT_variations)
    assert page.props == ["count"] and "no physics" in page.text
    scene.sinew.method = "sampling"
    page = Page(variations.SINEW_PT_variations)
    assert set(page.props) == set(VariationSettings.__dataclass_fields__)
    assert page.button("sinew.simulate_variations").text == "Simulate 20 Variations"
    assert scene_request.variations_of(scene) == VariationSettings()


def test_muscle_has_its_place_where_there_is_physics(addon, waiting_layout):
    hero()
    assert "muscle" not in Page(simulate_panel.SINEW_PT_simulate).props
    bpy.context.scene.sinew.method = "sampling"
    assert "muscle" in Page(simulate_panel.SINEW_PT_simulate).props


def test_the_list_of_jobs_shows_a_batch_as_one(addon, waiting_layout):
    hero()
    start(3)
    page = Page(jobs_panel.SINEW_PT_jobs)
    assert "Wave: 3 variations" in page.text and (0.0, "0 of 3 done") in page.bars
    assert page.button("sinew.cancel_batch").batch == monitor.watched_jobs()[0].batch
    tick_to_end()
    page = Page(jobs_panel.SINEW_PT_jobs)
    assert "3 of 3 done" in page.text and page.button("sinew.cancel_batch") is None
    assert page.button("sinew.forget_batch") is not None


def test_a_batch_in_a_sentence():
    def view(number, state, **more):
        return monitor.JobView(str(number), f"Walk push {number}: x", "Simulate", state, "", variation=number, **more)

    seen = [view(1, "done"), view(2, "done", lost=True), view(3, "failed"), view(4, "running"), view(5, "created")]
    assert batch_panel.batch_text(seen) == "2 of 5 done, 1 lost it, 1 failed, 1 taken out"


def test_pushes_happen_within_the_range_that_is_simulated(addon):
    open_input("walk")
    request = requests.Request(armature="", action="walk", method="sampling", frames=(20, 30), fade_s=0.1)
    rig = requests.read(request)
    batch = batches.plan(request, rig, VariationSettings(4, 100.0, 100.0))
    starts_s = [variation.parts.pushes[-1].start_s for variation in batch.variations]
    first_s, last_s = (19 / rig.clip.fps, 29 / rig.clip.fps)
    assert len(rig.clip) > 31 and all(first_s <= start_s <= last_s for start_s in starts_s)
