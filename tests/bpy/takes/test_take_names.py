# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes are called after what happened in them, and find their armature whatever that is called by now."""

import bpy
import pytest

from sinew.bridge.jobs import batches, requests
from sinew.bridge.takes.take_names import LONGEST, compose_name, find_free_name, shorten_name
from sinew.core.errors import RigError
from sinew.core.sim.variations import VariationSettings

from ..helpers.finished_jobs import finish, for_everybody, job_of, take_of
from ..helpers.interface import hero
from ..helpers.rigs import arm, wave
from ..helpers.stage_objects import arrow, sphere
from ..helpers.take_making import moved_by


@pytest.fixture
def hero_here(addon):
    """Hero waves through frames 1 to 20."""
    bpy.context.scene.render.fps = 24
    return hero()


def bake(job):
    finish(job, take_of(job))
    return requests.collect(job)


def test_a_pushed_take_says_which_bone_and_how_hard(hero_here):
    arrow("Push", bone="bone2", force=200.0, start_frame=5)
    assert bake(job_of(action="Wave")).action.name == "Wave, push bone2 200 N"


def test_without_anything_happening_it_was_simulated_and_the_next_has_a_number(hero_here):
    assert bake(job_of(action="Wave")).action.name == "Wave, simulated"
    assert bake(job_of(action="Wave")).action.name == "Wave, simulated 2"


def test_what_is_unusual_is_said(hero_here):
    job = job_of(action="Wave", settings={"quality": "draft"}, engine="bullet")
    assert job.spec.target.words == "simulated, draft, Bullet"
    assert job_of(action="Wave", settings={"quality": "normal"}, engine="mujoco").spec.target.words == "simulated"


def test_a_thrown_ball_is_named(hero_here):
    sphere("Ball", "PROJECTILE", start_frame=5, speed=8.0, bone="bone2").location = (0.0, -2.0, 0.5)
    assert job_of(action="Wave").spec.target.words == "Ball thrown 8 m/s"


def test_one_of_a_batch_has_its_number(addon):
    from sinew.bridge.importing.importers import open_input

    open_input("punch")
    request = requests.Request("", method="sampling", frames=(1, 12))
    batch = batches.plan(request, requests.read(request), VariationSettings(2, 100.0, 100.0))
    words = [batch.create(variation).spec.target.words for variation in batch.variations]
    assert [text.rpartition(", ")[2] for text in words] == ["variation 1", "variation 2"]
    assert all(text.startswith("push ") and " 100 N" in text for text in words)


def test_long_names_keep_whole_characters_and_what_happened():
    name = compose_name("Très long déplacement à travers la forêt enchantée de Brocéliande", "push chest 200 N")
    assert len(name.encode()) <= LONGEST and name.endswith("…, push chest 200 N") and name.startswith("Très long")
    assert compose_name("Walk", "push chest 200 N") == "Walk, push chest 200 N"
    assert len(shorten_name("歩" * 40).encode()) <= LONGEST and shorten_name("歩" * 40).strip("歩") == "…"
    second = find_free_name("歩" * 40, {shorten_name("歩" * 40)})
    assert second.endswith("… 2") and len(second.encode()) <= LONGEST


def test_blender_takes_the_name_as_it_is(scene):
    name = compose_name("歩く" * 20, "push 胸 200 N, draft")
    assert bpy.data.actions.new(name).name == name


def test_a_renamed_armature_is_still_found(hero_here):
    job = job_of(action="Wave")
    hero_here.name = "Kim"
    written = bake(job)
    assert written.obj == hero_here and moved_by(hero_here) == "Wave, simulated"


def test_a_renamed_one_is_found_too_where_another_has_its_name(hero_here):
    job = job_of(action="Wave")
    hero_here.name = "Kim"
    stranger = hero_here.copy()
    stranger.sinew_mark, stranger.name = "", "Hero"
    bpy.context.scene.collection.objects.link(stranger)
    assert bake(job).obj == hero_here


def duplicate(obj, name):
    copy = obj.copy()
    copy.name = name
    bpy.context.scene.collection.objects.link(copy)
    return copy


def test_a_duplicate_is_not_taken_for_its_model(hero_here):
    job = job_of(action="Wave")
    duplicate(hero_here, "Hero.001")
    assert bake(job).obj == hero_here
    job = job_of(action="Wave")
    hero_here.name = "Kim"
    assert bake(job).obj == hero_here


def test_of_two_that_may_be_it_neither_is_taken(hero_here):
    job = job_of(action="Wave")
    duplicate(hero_here, "Lee")
    hero_here.name = "Kim"
    finish(job, take_of(job))
    before = set(bpy.data.actions.keys())
    with pytest.raises(RigError, match="'Hero' was renamed, and 'Kim' and 'Lee'") as told:
        requests.collect(job)
    assert "Call the right one 'Hero' again" in told.value.hint and set(bpy.data.actions.keys()) == before
    hero_here.name = "Hero"
    assert requests.collect(job).obj == hero_here


def test_what_was_deleted_is_not_there(hero_here):
    job = job_of(action="Wave")
    duplicate(hero_here, "Hero.001")
    bpy.data.objects.remove(hero_here)
    finish(job, take_of(job))
    with pytest.raises(RigError, match="There is no armature 'Hero' in this scene"):
        requests.collect(job)


def test_others_on_the_stage_are_found_as_well(hero_here, monkeypatch):
    for_everybody(monkeypatch)
    anna = arm("Anna")
    wave(anna, "Dance")
    anna.sinew.role, anna.location.x = "CHARACTER", 3.0
    job = job_of("Hero", action="Wave")
    assert [one.mark for one in job.spec.target.cast] == [anna.sinew_mark] != [""]
    anna.name = "Eva"
    assert bake(job).others[0].obj == anna


def test_a_job_of_before_marks_goes_by_the_name(hero_here):
    from dataclasses import replace

    request = requests.Request("Hero", method="sampling", action="Wave")
    rig = requests.read(request)
    inputs = requests.inputs_of(request, rig)
    job = requests.create_from(request, rig, replace(inputs, target=replace(inputs.target, mark="")))
    assert "mark" not in job.spec.target.to_mapping()
    assert bake(job).obj == hero_here
