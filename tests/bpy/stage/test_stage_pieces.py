# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies and stage read a little at a time are what they are read at once, and a click on Check Stage says so."""

import threading

import bpy
import numpy as np
import pytest

from sinew.bridge.jobs import monitor, notices, preparing, recipes, requests
from sinew.bridge.jobs.scene_request import request_of
from sinew.bridge.scene.time_slicing import run_all_slices
from sinew.core import jobs
from sinew.core.errors import JobError, RigError

from ..helpers.finished_jobs import for_everybody
from ..helpers.interface import animation, hero
from ..helpers.preparing_clicks import click, prepare
from ..helpers.rigs import arm, wave
from ..helpers.skinned_meshes import skin, tube
from ..helpers.stage_objects import arrow, mesh, on_stage, refusal, sphere

LOOKS_RIGHT = ("INFO", "The stage looks right: 1 obstacles, 0 props and projectiles, 0 pushes")


@pytest.fixture
def hero_here(addon):
    """Hero waves through frames 1 to 20 at 24 frames a second."""
    bpy.context.scene.render.fps = 24
    return hero()


@pytest.fixture
def crowd(hero_here, monkeypatch):
    """Something of every kind around Hero, who wears two meshes and whose muscle is keyed."""
    for_everybody(monkeypatch)
    for name in ("Body", "Coat"):
        skin(tube(name), hero_here)
    for frame, value in ((1, 1.0), (15, 0.2)):
        hero_here.sinew_body.muscle = value
        hero_here.keyframe_insert("sinew_body.muscle", frame=frame)
    anna = arm("Anna", bones=4)
    wave(anna, "Dance", seed=3)
    anna.location.x = 4.0
    on_stage(anna, "CHARACTER")
    mesh("Ground", "TERRAIN", friction=0.7).location.z = -1.0
    mesh("Wall").location.y = 9.0
    mesh("Crate", "PROP", mass=3.0).location.y = -9.0
    sphere("Ball", "PROJECTILE", start_frame=4, bone="bone1", speed=12.0).location.y = 5.0
    push = arrow(duration=0.5)
    for frame, turn in ((4, 0.0), (12, 1.0)):
        push.rotation_euler.x = turn
        push.keyframe_insert("rotation_euler", frame=frame)
    arrow("Late", start_frame=400)
    bpy.context.scene.sinew.method = "sampling"
    bpy.context.scene.frame_set(7)
    return hero_here


def asked():
    return request_of(bpy.context.scene)


def driven(steps, pause=lambda: None):
    """All steps with ``pause`` called in each pause; gives what they made, and how many pauses there were."""
    made, pauses = None, 0
    while True:
        try:
            todo = steps.send(made)
        except StopIteration as end:
            return end.value, pauses
        pauses += todo is None
        made = todo() if todo is not None else pause()


def stage_alone(rig):
    return requests.read_stage_in_slices(bpy.context.scene, {"Hero": rig}, slice_s=0.0)


def everything(rig):
    return requests.inputs_in_slices(asked(), rig, slice_s=0.0)


def with_others(rig):
    return requests.stage_for(asked(), rig, slice_s=0.0)


def plain(attachments):
    """Attachments as bytes and plain values."""
    given = {name: each() if callable(each) else each for name, each in attachments.items()}
    return {
        name: ({key: (np.shape(array), np.asarray(array).tobytes()) for key, array in arrays.items()}, meta)
        for name, (arrays, meta) in given.items()
    }


def test_what_is_read_in_the_smallest_pieces_is_what_is_read_at_once(crowd):
    rig = requests.read(asked())
    crowd.pose.bones["bone1"].rotation_euler = (0.7, 0.1, 0.2)  # by hand, and not keyed yet
    bpy.context.view_layer.update()
    at_once, before = requests.inputs_of(asked(), rig), animation()

    def all_is_as_it_was():
        assert bpy.context.scene.frame_current == 7 and crowd.data.pose_position == "POSE"
        assert tuple(round(value, 4) for value in crowd.pose.bones["bone1"].rotation_euler) == (0.7, 0.1, 0.2)
        assert animation() == before

    inputs, pauses = driven(everything(rig), all_is_as_it_was)
    # Two meshes, 20 frames of muscle and of Anna, and of the stage six things and eleven frames of a push.
    assert pauses > 50
    assert plain(inputs.attachments) == plain(at_once.attachments) and inputs.target == at_once.target
    assert {"mesh", "muscle", "stage", "cast1_clip"} <= set(inputs.attachments)
    assert len(inputs.parts.pushes) > 5 and [finding.kind for finding in inputs.parts.findings] == ["left_out"]


def test_undo_between_two_pieces_does_no_harm(crowd):
    rig = requests.read(asked())
    at_once = requests.inputs_of(asked(), rig)
    bpy.ops.ed.undo_push(message="Before")
    undone = []

    def undo():
        if len(undone) < 3:
            bpy.ops.ed.undo_push(message="Something")
            bpy.ops.ed.undo()
            undone.append(True)

    (parts, _), _ = driven(with_others(rig), undo)
    assert len(undone) == 3
    assert plain({"stage": requests.stage_to_arrays(parts)}) == plain({"stage": at_once.attachments["stage"]})


@pytest.mark.parametrize(
    ("steps", "name"),
    [(stage_alone, "Wall"), (stage_alone, "Crate"), (stage_alone, "Push"), (with_others, "Anna"), (everything, "Coat")],
)
def test_what_goes_between_two_pieces_is_named(crowd, steps, name):
    rig = requests.read(asked())

    def delete():
        if name in bpy.data.objects:
            bpy.data.objects.remove(bpy.data.objects[name])

    with pytest.raises(RigError, match=f"'{name}' went while it was read") as raised:
        driven(steps(rig), delete)
    assert raised.value.hint
    assert bpy.context.scene.frame_current == 7 and crowd.data.pose_position == "POSE"


def test_another_scene_opened_between_two_pieces_is_not_read(crowd):
    rig, first = requests.read(asked()), bpy.context.scene
    other = bpy.data.scenes.new("Other")

    def leave():
        bpy.context.window.scene = other

    with pytest.raises(RigError, match="Another scene was opened before all of this one was read"):
        driven(stage_alone(rig), leave)
    bpy.context.window.scene = first
    assert first.frame_current == 7


def test_a_click_on_check_stage_says_that_it_looks_right(hero_here, reported, monkeypatch):
    def none(_):
        raise JobError("There is no Python", "Install one")

    monkeypatch.setattr(jobs, "find_worker_python", none)  # who only looks needs no worker
    mesh("Wall")
    before = animation()
    assert click("stage_check") == {"FINISHED"}
    assert [view.title for view in preparing.preparation_views()] == ["Wave"] and reported == []
    assert prepare() > 1
    assert reported == [LOOKS_RIGHT] and animation() == before
    assert jobs.all_jobs() == [] and monitor.watched_jobs() == []


def test_a_click_on_check_stage_says_what_it_finds(hero_here, reported):
    mesh("Wall")
    arrow("Late", start_frame=400)
    click("stage_check")
    prepare()
    (one,) = reported
    assert one[0] == "WARNING" and one[1].startswith("'Late' was left out: it acts at frame 400")
    assert one[1].endswith("Move its start frame")


def test_what_is_wrong_with_the_stage_is_told_with_its_fix_until_it_is_mended(hero_here, reported):
    wall = mesh("Wall")
    wall.scale.z = 0.0
    click("stage_check")
    prepare()
    assert reported == [
        ("WARNING", "'Wall' is flat: it has no volume. Give it some thickness, such as a Solidify modifier")
    ]
    (notice,) = notices.of(asked())
    assert notice.is_error and notice.hint.startswith("Give it some thickness")
    wall.scale.z = 1.0
    click("stage_check")
    prepare()
    assert reported[1:] == [LOOKS_RIGHT] and notices.of(asked()) == ()
    with refusal("Push 'Push' has no bone"):
        arrow(bone="")
        run_all_slices(requests.stage_for(asked(), requests.read(asked())))


def test_a_wall_that_goes_while_the_stage_is_read_is_told(hero_here, reported, monkeypatch):
    monkeypatch.setattr(preparing, "SLICE_S", 0.0)
    for name in ("A", "B"):
        mesh(name)
    click("stage_check")
    while preparing.preparation_views()[0].text != "Reading the stage":
        preparing.tick_preparations()
    bpy.data.objects.remove(bpy.data.objects["B"])
    prepare()
    assert reported == [("WARNING", "'B' went while it was read. Undo, or choose again")]


@pytest.mark.parametrize("read", [0, 1])
def test_stopped_while_it_checks_nothing_is_said(hero_here, reported, monkeypatch, read):
    monkeypatch.setattr(preparing, "SLICE_S", 0.0)
    mesh("Wall")
    click("stage_check")
    while read and preparing.preparation_views()[0].text != "Reading the stage":
        preparing.tick_preparations()
    bpy.ops.sinew.cancel_preparing(number=preparing.preparation_views()[0].id)
    prepare()
    assert reported == [] and preparing.preparation_views() == [] and bpy.context.scene.frame_current == 1


def test_opening_a_file_while_it_checks_says_nothing(hero_here, reported):
    mesh("Wall")
    click("stage_check")
    preparing.tick_preparations()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert preparing.preparation_views() == [] and preparing.tick_preparations() is None and reported == []


@pytest.mark.parametrize("leave", ["cancel", "open"])
def test_a_job_that_nobody_wants_any_more_when_it_is_made_is_deleted(hero_here, jobs_folder, monkeypatch, leave):
    begun, go_on, ended = (threading.Event() for _ in range(3))
    make = recipes.create_from

    def slowly(*given):
        begun.set()
        assert go_on.wait(30.0)
        try:
            return make(*given)
        finally:
            ended.set()

    monkeypatch.setattr(recipes, "create_from", slowly)
    click("simulate")
    while not begun.is_set():
        preparing.tick_preparations()
    thread = next(one for one in threading.enumerate() if one.name.startswith("sinew"))
    if leave == "cancel":
        bpy.ops.sinew.cancel_preparing(number=preparing.preparation_views()[0].id)
    else:
        bpy.ops.wm.read_factory_settings(use_empty=True)
    go_on.set()
    thread.join(30.0)
    assert ended.is_set() and prepare() == 0
    assert jobs.all_jobs() == [] and monitor.watched_jobs() == []
