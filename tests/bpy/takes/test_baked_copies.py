# SPDX-License-Identifier: GPL-3.0-or-later
"""One baked copy a rig: all takes in one list, either the rig or the copy shows, and the last take leaves nothing."""

import bpy
import pytest

from sinew.bridge import takes
from sinew.bridge.jobs import requests
from sinew.bridge.takes import views
from sinew.core.errors import RigError

from ..helpers.interface import animation, hero, simulate, tick_to_end
from ..helpers.take_making import as_before, moved_by, names, saved

OPS = bpy.ops.sinew


@pytest.fixture
def rig(addon):
    """'Hero' with a mesh and a constraint that fights keys, and what is in the file."""
    bpy.ops.ed.undo_push(message="Original")
    obj = hero()
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(0, 0, 0), (0, 0, 1), (0, 1, 0)], [], [(0, 1, 2)])
    skin = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    skin.vertex_groups.new(name="bone0").add([0, 1, 2], 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = obj
    bpy.context.scene.sinew.place = "COPY"
    bpy.ops.ed.undo_push(message="Hero")
    return obj


def bake():
    simulate()
    return tick_to_end().action


def contents():
    """What the file has: every datablock by kind and name, with its custom properties and what hides it."""
    kinds = ("objects", "armatures", "actions", "meshes", "collections", "scenes")
    found = {kind: sorted(block.name for block in getattr(bpy.data, kind)) for kind in kinds}
    own = {obj.name: (obj.hide_viewport, obj.hide_render, obj.sinew_hidden) for obj in bpy.data.objects}
    ours = {obj.name: sorted(key for key, _ in obj.items() if not key.startswith("sinew_")) for obj in bpy.data.objects}
    return found | {"hidden": own, "custom": ours}


def hidden(name):
    obj = bpy.data.objects[name]
    assert obj.hide_viewport == obj.hide_render
    return obj.hide_viewport


def copy_of(obj):
    (copy,) = takes.copies_of(obj, bpy.context.scene)
    return copy


def test_a_second_take_is_another_action_of_the_same_copy(rig):
    first = bake()
    copy, objects = copy_of(rig), len(bpy.data.objects)
    second = bake()
    assert takes.copies_of(rig, bpy.context.scene) == [copy] and len(bpy.data.objects) == objects
    assert names(rig) == names(copy) == [first, second] and moved_by(copy) == second and moved_by(rig) == "Wave"
    assert takes.armatures_with_takes() == [rig]
    for each in (rig, copy):
        bpy.context.view_layer.objects.active = each
        assert takes.take_owner(bpy.context) == rig


def test_either_the_rig_shows_or_its_copy(rig):
    bpy.data.objects["Skin"].hide_render = True  # the animator's own choice comes back
    bake()
    copy = copy_of(rig)
    skin = next(o for o in bpy.data.objects if o.type == "MESH" and o.modifiers[0].object == copy)
    assert hidden("Hero") and bpy.data.objects["Skin"].hide_viewport and bpy.context.active_object == copy
    assert not hidden(copy.name) and not skin.hide_viewport and skin.hide_render
    OPS.take_show_source()
    assert not hidden("Hero") and hidden(copy.name) and hidden(skin.name) and bpy.context.active_object == rig
    assert not bpy.data.objects["Skin"].hide_viewport and bpy.data.objects["Skin"].hide_render
    view = views.view_take(rig, rig.sinew_takes[0])
    assert view.source_shown and not view.shown
    OPS.take_compare()
    view = views.view_take(rig, rig.sinew_takes[0])
    assert hidden("Hero") and not hidden(copy.name) and view.shown and not view.source_shown


def test_the_hidden_rig_is_still_what_is_simulated(rig):
    request = requests.Request("Hero", "Wave")
    before = requests.read(request).clip.world()[0]
    bake()
    assert hidden("Hero")
    assert abs(requests.read(request).clip.world()[0] - before).max() < 1e-6


def test_the_last_take_leaves_nothing(rig):
    before = contents()
    first = bake()
    second = bake()
    hat = bpy.data.objects.new("Hat", None)
    bpy.context.scene.collection.objects.link(hat)
    hat.parent = copy_of(rig)
    OPS.take_delete(index=1)
    assert names(rig) == names(copy_of(rig)) == [first] and second not in bpy.data.actions
    assert not hidden("Hero") and hidden(copy_of(rig).name)
    OPS.take_show()
    OPS.take_delete()
    assert bpy.data.objects["Hat"].parent is None, "what the animator hung on it stays"
    bpy.data.objects.remove(hat)
    assert contents() == before and not rig.sinew_takes and moved_by(rig) == "Wave"


def test_all_that_is_not_kept_goes_at_once(rig):
    before = contents()
    bake()
    kept = bake()
    OPS.take_keep(index=1)
    OPS.take_delete_unkept()
    assert names(rig) == [kept] and copy_of(rig)
    OPS.take_keep()
    OPS.take_delete_unkept()
    assert contents() == before


def test_undo_and_redo(rig):
    def state():
        return animation(), contents(), names(bpy.data.objects["Hero"])

    steps = [state()]
    bake()
    steps.append(state())
    for verb in (OPS.take_show_source, OPS.take_show, OPS.take_delete):
        assert verb("EXEC_DEFAULT", True) == {"FINISHED"}
        steps.append(state())
    for expected in reversed(steps[1:-1]):
        bpy.ops.ed.undo()
        assert state() == expected
    for expected in steps[2:]:
        bpy.ops.ed.redo()
        assert state() == expected
    assert steps[-1] == steps[0]


def test_renamed_saved_and_opened_again(rig, tmp_path):
    bake()
    copy_of(rig).name = "Double"
    obj = saved(tmp_path)
    obj.name = "Star"
    (row,) = obj.sinew_takes
    copy = takes.moved_object(obj, row)
    assert copy.name == "Double" and takes.list_owner(copy) == obj and hidden("Star")
    bpy.context.view_layer.objects.active = copy
    OPS.take_show_source()
    assert not hidden("Star") and hidden("Double")
    OPS.take_delete()
    assert "Double" not in bpy.data.objects


def test_the_nla_plays_it_on_the_copy(rig):
    action = bake()
    copy = copy_of(rig)
    OPS.take_show_source()
    OPS.take_to_nla()
    assert moved_by(copy) is None and [t.strips[0].action.name for t in copy.animation_data.nla_tracks] == [action]
    assert hidden("Hero") and views.view_take(rig, rig.sinew_takes[0]).in_nla
    with pytest.raises(RuntimeError, match="in the NLA of"):
        OPS.take_delete()
    OPS.take_delete(anyway=True)
    assert len(bpy.data.armatures) == 1 and not hidden("Hero")


def test_a_copy_that_was_deleted_is_named_and_another_made(rig):
    bake()
    bpy.data.objects.remove(copy_of(rig))
    with pytest.raises(RuntimeError, match=r"baked copy 'Hero baked' of take .* was deleted"):
        OPS.take_show()
    OPS.take_show_source()
    assert not hidden("Hero") and not hidden("Skin")
    bake()
    assert moved_by(copy_of(rig)) and len(rig.sinew_takes) == 2


def test_another_rest_pose_needs_another_copy(rig):
    bake()
    first = copy_of(rig)
    rig.pose.bones["bone1"].rotation_mode = "QUATERNION"
    bake()
    copies = takes.copies_of(rig, bpy.context.scene)
    assert len(copies) == 2 and len(rig.sinew_takes) == 2
    assert [hidden(copy.name) for copy in copies] == [copy == first for copy in copies]


def test_without_its_rig_a_copy_keeps_its_takes(rig, tmp_path):
    bake()
    bake()
    copy = copy_of(rig)
    bpy.context.scene.sinew.armature = None
    bpy.data.objects.remove(rig)
    copy.name = "Hero"
    copy = saved(tmp_path)
    assert len(copy.sinew_takes) == 2 and all(row.action for row in copy.sinew_takes)
    assert takes.list_owner(copy) == copy
    OPS.take_show(index=0)
    assert moved_by(copy) == names(copy)[0]


def test_files_of_before_with_a_copy_for_each_take(rig, tmp_path):
    before = contents()
    for _ in range(2):
        bake()
        as_before(rig)
    obj = saved(tmp_path)
    copies = takes.copies_of(obj, bpy.context.scene)
    assert len(copies) == 2 and takes.copies_apart(obj, bpy.context.scene) == copies and not obj.sinew_takes
    OPS.take_visit(name=copies[0].name)
    assert takes.take_owner(bpy.context) == copies[0]
    OPS.take_show()
    with pytest.raises(RuntimeError, match="is a baked copy"):
        OPS.take_show_source()
    bake()
    assert len(obj.sinew_takes) == 1 and len(takes.copies_apart(obj, bpy.context.scene)) == 2
    for copy in copies:
        OPS.take_visit(name=copy.name)
        OPS.take_delete()
    bpy.context.view_layer.objects.active = obj
    OPS.take_delete()
    assert contents() == before


def test_a_request_for_a_copy_says_when_it_cannot_be(rig):
    with pytest.raises(RigError, match="no armature 'Nobody'"):
        requests.read(requests.Request("Nobody", place="COPY"))
