# SPDX-License-Identifier: GPL-3.0-or-later
"""What is baked is listed with its armature, and the list survives whatever happens to a file."""

import json
import shutil

import bpy
import pytest

from sinew.bridge import takes
from sinew.bridge.cli import main
from sinew.bridge.jobs import monitor
from sinew.bridge.takes import views

from ..helpers.interface import hero, simulate, tick_to_end
from ..helpers.rigs import arm
from ..helpers.take_making import as_before, moved_by, names, saved, take


def test_a_bake_becomes_a_take_with_its_report(addon):
    obj = hero()
    bpy.context.scene.sinew.seed = 3
    job = monitor.job_of(simulate())
    tick_to_end()
    (row,) = obj.sinew_takes
    assert (row.action.name, row.source.name, row.job) == ("Wave passthrough", "Wave", job.spec.id)
    assert (row.label, row.fell, row.armature_name) == ("seed 3", False, "")
    whole = job.result().report
    report = views.take_report(row)
    assert {name: whole[name] for name in ("seed", "measurements", "summary", "versions")}.items() <= report.items()
    view = views.view_take(obj, row)
    assert view.shown and not view.kept and not view.missing
    assert ("Seed", "3") in view.facts and view.sentences == tuple(whole["summary"])


def test_takes_nobody_keeps_are_there_after_saving_and_without_the_jobs_folder(addon, tmp_path):
    obj = hero()
    first = monitor.job_of(simulate())
    tick_to_end()
    simulate()
    tick_to_end()
    assert names(obj) == ["Wave passthrough", "Wave passthrough 2"]
    assert not any(row.action.use_fake_user for row in obj.sinew_takes)
    shutil.rmtree(first.folder)
    before = [views.view_take(obj, row) for row in obj.sinew_takes]
    for _ in range(2):  # what a first save drops is missing from the second
        obj = saved(tmp_path)
    assert [views.view_take(obj, row) for row in obj.sinew_takes] == before
    assert moved_by(obj) == "Wave passthrough 2" and "Wave" in bpy.data.actions


def test_a_file_that_was_saved_without_sinew_still_has_them(addon, tmp_path):
    take(hero(), "A")
    saved(tmp_path)
    addon.unregister()
    try:
        for _ in range(2):
            saved(tmp_path)
    finally:
        addon.register()
    assert names(bpy.data.objects["Hero"]) == ["A"]


def test_they_go_along_into_another_file(addon, tmp_path):
    take(hero(), "A", fell_at_s=1.5)
    saved(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "scene.blend"), link=False) as (_, wanted):
        wanted.objects = ["Hero"]
    (obj,) = wanted.objects
    assert names(obj) == ["A"] and obj.sinew_takes[0].source.name == "Wave"
    assert views.view_take(obj, obj.sinew_takes[0]).fell


def test_a_linked_armature_shows_its_takes(addon, tmp_path):
    take(hero(), "A")
    saved(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "scene.blend"), link=True) as (_, wanted):
        wanted.objects = ["Hero"]
    (linked,) = wanted.objects
    bpy.context.scene.collection.objects.link(linked)
    assert names(linked) == ["A"] and views.view_take(linked, linked.sinew_takes[0]).linked


@pytest.mark.parametrize("library_has_takes", [True, False])
def test_an_override_of_an_armature_keeps_its_takes(addon, tmp_path, library_has_takes):
    obj = hero()
    if library_has_takes:
        take(obj, "A")
    saved(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "scene.blend"), link=True) as (_, wanted):
        wanted.objects = ["Hero"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    obj = wanted.objects[0].override_create(remap_local_usages=True)
    take(obj, "B", fell_at_s=0.5)
    for _ in range(2):
        saved(tmp_path.parent)
        obj = next(obj for obj in bpy.data.objects if obj.override_library)
    assert names(obj) == ["A"] * library_has_takes + ["B"]
    assert [views.view_take(obj, row).linked for row in obj.sinew_takes] == [True] * library_has_takes + [False]
    assert views.view_take(obj, obj.sinew_takes[-1]).sentences == ("Fell after 0.5 s",)


def test_a_row_notices_what_happens_to_its_action(addon, tmp_path):
    obj = hero()
    take(obj, "A")
    take(obj, "B")
    bpy.data.actions["A"].name = "Stagger"
    bpy.data.actions.remove(bpy.data.actions["B"])
    assert names(obj) == ["Stagger", None]
    view = views.view_take(obj, obj.sinew_takes[1])
    assert view.missing and view.name == "B" and view.sentences and not view.shown
    assert names(saved(tmp_path)) == ["Stagger", None]


def test_a_deleted_action_that_is_baked_anew_fills_its_row(addon):
    obj = hero()
    job = simulate()
    tick_to_end()
    bpy.data.actions.remove(bpy.data.actions["Wave passthrough"])
    assert names(obj) == [None] and takes.baked_jobs() == {}
    bpy.ops.sinew.collect(job=job)
    assert names(obj) == ["Wave passthrough"]
    bpy.data.actions["Wave passthrough"].name = "Other"
    assert takes.baked_jobs() == {job: "Other"}
    bpy.ops.sinew.collect(job=job)
    assert names(obj) == ["Other", "Wave passthrough"], "one that is still there stays"
    assert len({row.name for row in obj.sinew_takes}) == 2


def test_a_baked_copy_has_the_row_and_knows_its_model_whatever_that_is_called(addon, tmp_path):
    obj = hero()
    take(obj, "A")
    bpy.context.scene.sinew.place = "COPY"
    simulate()
    tick_to_end()
    (copy,) = takes.copies_of(obj, bpy.context.scene)
    assert names(obj) == ["A", "Wave passthrough"] and names(copy) == ["Wave passthrough"]
    as_before(obj)
    obj.name = "Somebody"
    (row,) = copy.sinew_takes
    assert takes.original_of(row) == obj and views.view_take(copy, row).copy_of == "Somebody"
    assert takes.copies_of(obj, bpy.context.scene) == [copy]
    twin = obj.copy()  # has its model's mark
    bpy.context.scene.collection.objects.link(twin)
    twin.name, obj.name = "Zoe", "Hero"
    assert takes.original_of(row) == obj
    bpy.data.objects.remove(obj)
    bpy.data.objects.remove(twin)
    assert takes.original_of(row) is None and views.view_take(copy, row).copy_of == "Hero"


def test_undo_takes_a_row_back_and_redo_brings_it(addon):
    bpy.ops.ed.undo_push(message="Original")
    hero()
    bpy.ops.ed.undo_push(message="Hero")
    simulate()
    tick_to_end()
    for _ in range(3):
        bpy.ops.ed.undo()
        assert names(bpy.data.objects["Hero"]) == []
        bpy.ops.ed.redo()
        assert names(bpy.data.objects["Hero"]) == ["Wave passthrough"]


def test_long_parts_of_the_report_stay_in_the_jobs_folder(addon):
    report = views.take_report(take(hero(), "A"))
    assert "body" not in report and report["measurements"]["joint_error_m"] == 0.03


def test_a_report_that_cannot_be_read_is_none(addon):
    obj = hero()
    row = take(obj, "A")
    for text in ("", "{torn", "[1]"):
        row.report = text
        view = views.view_take(obj, row)
        assert (view.name, view.sentences, view.numbers) == ("A", (), ())


def test_order_and_filter(addon):
    obj = hero()
    take(obj, "Walk 10", error_m=0.01, fell_at_s=1.0, made="2026-01-02")
    take(obj, "walk 2", error_m=0.03, made="2026-01-03")
    take(obj, "Run", error_m=0.02, made="2026-01-01")

    def order(sort, **how):
        listed, places = views.arrange_takes(obj.sinew_takes, sort, **how)
        found = sorted((place, name) for place, name, shown in zip(places, names(obj), listed, strict=True) if shown)
        return [name for _, name in found]

    assert order("TIME") == ["Run", "Walk 10", "walk 2"]
    assert order("NAME") == ["Run", "walk 2", "Walk 10"]
    assert order("ERROR") == ["Run", "walk 2", "Walk 10"], "errors are counted up to the fall"
    assert order("NAME", only_up=True) == ["Run", "walk 2"]
    assert order("NAME", search="WALK") == ["walk 2", "Walk 10"]


def test_variations_of_a_second_are_in_their_order(addon):
    obj = hero()
    for number in (10, 9, 2):
        take(obj, f"V{number}", made="2026-01-01", variation=number)
    assert views.arrange_takes(obj.sinew_takes, "TIME")[1] == [2, 1, 0]
    assert [row.label for row in obj.sinew_takes] == ["#10", "#9", "#2"]


def test_numbers_for_people():
    said = {
        ("joint_error_m", 0.0321): ("Joint error", "3.21 cm"),
        ("skate_m_s", 0.004): ("Skate", "0.4 cm/s"),
        ("jerk_m_s3", 512.0): ("Jerk", "512 m/s³"),
        ("jerk_ratio", 1.25): ("Jerk ratio", "1.25×"),
        ("torque_use", 0.31): ("Torque use", "31 %"),
        ("energy_j_kg", 12.0): ("Energy", "12 J/kg"),
        ("tries", 3): ("Tries", "3"),
        ("done", True): ("Done", "yes"),
        ("note", "x"): ("Note", "x"),
        ("stood", 0.94): ("Stood", "94 %"),
    }
    assert {pair: views.measure_text(*pair) for pair in said} == said


def test_the_command_line_lists_them(addon, tmp_path, capsys):
    obj = hero()
    take(obj, "A", fell_at_s=1.5)
    take(obj, "B", variation=4)
    bpy.data.actions["B"].use_fake_user = True
    take(arm("Bob"), "C")
    path = str(tmp_path / "scene.blend")
    saved(tmp_path)
    capsys.readouterr()
    assert main(["takes", path, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["armature"], one["name"], one["fell"], one["kept"]) for one in told] == [
        ("Bob", "C", False, False),
        ("Hero", "A", True, False),
        ("Hero", "B", False, True),
    ]
    assert told[1]["report"]["fell_at_s"] == 1.5 and told[2]["variation"] == 4
    assert told[2]["frames"] == [5, 15] and told[2]["source"] == "Wave" and told[2]["source_armature"] == "Hero"
    assert main(["takes", path, "--armature", "Hero", "--sort", "name", "--stayed-up"]) == 0
    out = capsys.readouterr().out
    assert "Hero: 'B' (#4, stayed up, active, kept)" in out and "'A'" not in out
    assert "joint error 3 cm" in out and "Stayed with the source" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["walk.bvh"], "is not a .blend"),
        (["none.blend"], "does not exist"),
        ([], "no file"),
        (["HERE", "--armature", "Nobody"], "Those that have takes are: 'Hero'"),
        (["HERE", "--sort", "beauty"], "time, name, error"),
    ],
)
def test_the_command_line_says_what_is_wrong(addon, tmp_path, capsys, words, said):
    take(hero(), "A")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    assert main(["takes", *(str(tmp_path / "scene.blend") if word == "HERE" else word for word in words)]) == 1
    assert said in capsys.readouterr().err
