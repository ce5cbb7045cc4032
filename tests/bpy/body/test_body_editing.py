# SPDX-License-Identifier: GPL-3.0-or-later
"""Editing the body by hand: what a bone's line says reaches the job, mirrors, resets, and is one undo step each."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Vector

from sinew.bridge import mannequin
from sinew.bridge.body import fitted_bodies, part_editing
from sinew.bridge.body.body_inputs import read_body_request
from sinew.bridge.body.edits import override_row, read_edit
from sinew.bridge.cli.bone_texts import read_bones
from sinew.bridge.jobs import requests, scene_request
from sinew.bridge.overlay import gizmos
from sinew.bridge.overlay.parts import BodyParts
from sinew.core.body.part_edit import PartEdit
from sinew.core.control.character import BodyChoices
from sinew.core.errors import BadSettings
from sinew.panels import body_part as panel

from ..helpers.interface import refusal
from ..helpers.panel_drawing import BodyLayout


@pytest.fixture
def person(addon):
    """The mannequin, chosen, without its mesh: fitting it takes a while and is looked at elsewhere."""
    obj = mannequin.build(bpy.context.scene)
    bpy.context.scene.sinew.armature = obj
    obj.sinew_body.use_mesh = False
    return obj


def activate(obj, bone):
    obj.data.bones.active = obj.data.bones[bone]


def press(name, undo=False):
    operator = getattr(bpy.ops.sinew, name)
    assert (operator("EXEC_DEFAULT", True) if undo else operator()) == {"FINISHED"}


def said(obj):
    """Everything that is said of bones, in plain values."""
    return {row.name: (row.role, read_edit(row)) for row in obj.sinew_body.overrides}


def drawn():
    page = SimpleNamespace(texts=[], props=[], buttons=[], bars=[])
    context = SimpleNamespace(
        scene=bpy.context.scene, region=SimpleNamespace(width=320), preferences=bpy.context.preferences
    )
    panel.SINEW_PT_body_part.draw(SimpleNamespace(layout=BodyLayout(page)), context)
    return page


def test_editing_begins_at_what_was_fitted_and_changes_nothing_yet(person):
    activate(person, "shin.L")
    press("body_part_edit")
    row, link = override_row(person, "shin.L"), fitted_bodies.fit_now(bpy.context.scene, person).base
    link = link.links[link.link_of("shin.L")]
    assert row.role == "auto" and row.shape == link.shapes[0].kind
    assert row.mass_kg == pytest.approx(link.mass) and row.is_hinge
    assert (row.lower, row.upper) == pytest.approx((link.joint.lower, link.joint.upper))
    assert read_body_request(person).overrides == {} and read_body_request(person).edits == {}


def test_what_is_ticked_reaches_the_job_and_its_body(person, tmp_path):
    bone = person.pose.bones[0]
    bone.keyframe_insert("location", frame=1)
    bone.keyframe_insert("location", frame=10)
    bpy.context.scene.sinew.method = "sampling"
    activate(person, "shin.L")
    press("body_part_edit")
    row = override_row(person, "shin.L")
    row.use_shape, row.shape, row.edges = True, "box", (0.1, 0.12, 0.4)
    row.use_mass, row.mass_kg = True, 5.5
    row.use_limits, row.lower, row.upper = True, 0.0, 1.0
    row.use_stiffness, row.stiffness = True, 0.5
    request = scene_request.request_of(bpy.context.scene)
    job = requests.create_job(request, requests.read(request), tmp_path / "job")
    mapping = job.attachment("body")[1]
    edit = PartEdit("box", (0.1, 0.12, 0.4), mass_kg=5.5, limits_rad=(0.0, 1.0), stiffness=0.5)
    assert BodyChoices.from_mapping(mapping).edits == {"shin.L": edit}
    # The overlay shows the same body at once.
    fitted = fitted_bodies.fit_now(bpy.context.scene, person)
    link = fitted.body.links[fitted.body.link_of("shin.L")]
    assert link.mass == 5.5 and link.shapes[0].kind == "box" and link.joint.upper == 1.0
    # And so does the command line.
    text = "shin.L=shape:box,size:0.1x0.12x0.4,mass:5.5,limits:0:57.29577951308232,stiffness:0.5"
    (bone, told), *_ = read_bones([text])[1].items()
    assert bone == "shin.L" and told.limits_rad == pytest.approx(edit.limits_rad)
    assert (told.shape, told.size_m, told.mass_kg, told.stiffness) == ("box", (0.1, 0.12, 0.4), 5.5, 0.5)


def test_the_other_side_gets_the_same(person):
    activate(person, "shin.L")
    press("body_part_edit")
    row = override_row(person, "shin.L")
    row.use_mass, row.mass_kg, row.use_limits, row.upper = True, 5.5, True, 1.5
    row.role = "shin.L"
    press("body_part_mirror")
    other = override_row(person, "shin.R")
    assert other.role == "shin.R" and read_edit(other).mass_kg == 5.5
    assert read_edit(other).limits_rad == read_edit(override_row(person, "shin.L")).limits_rad
    fitted = fitted_bodies.fit_now(bpy.context.scene, person)
    left, right = (fitted.body.links[fitted.body.link_of(name)] for name in ("shin.L", "shin.R"))
    assert left.mass == right.mass == 5.5
    activate(person, "head")
    press("body_part_edit")
    with refusal("no counterpart"):
        bpy.ops.sinew.body_part_mirror()


def test_reset_is_as_fitted(person):
    for bone in ("shin.L", "shin.R"):
        activate(person, bone)
        press("body_part_edit")
        override_row(person, bone).use_mass = True
    press("body_part_reset")
    assert list(said(person)) == ["shin.L"]
    assert not bpy.ops.sinew.body_part_reset.poll() and not bpy.ops.sinew.body_part_mirror.poll()
    press("body_reset")
    assert said(person) == {} and not bpy.ops.sinew.body_reset.poll()


def test_each_is_one_step_back_and_forth(person):
    bpy.ops.ed.undo_push(message="Original")
    activate(person, "shin.L")
    bpy.ops.ed.undo_push(message="Bone")
    states = [said(person)]
    press("body_part_edit", undo=True)
    states.append(said(person))
    row = override_row(person, "shin.L")
    row.use_mass, row.mass_kg = True, 4.25
    bpy.ops.ed.undo_push(message="Mass")
    states.append(said(person))
    for name in ("body_part_mirror", "body_part_reset", "body_reset"):
        press(name, undo=True)
        states.append(said(bpy.context.scene.sinew.armature))
    assert states[3]["shin.R"][1].mass_kg == 4.25 and states[-1] == {}
    for _ in range(3):
        for state in states[-2::-1]:
            bpy.ops.ed.undo()
            assert said(bpy.context.scene.sinew.armature) == state
        for state in states[1:]:
            bpy.ops.ed.redo()
            assert said(bpy.context.scene.sinew.armature) == state


def test_polls_say_why_not(person):
    assert part_editing.why_no_part(bpy.context) == "Select a bone of the character in Pose Mode"
    assert not bpy.ops.sinew.body_part_edit.poll()
    activate(person, "shin.L")
    assert part_editing.why_no_part(bpy.context) == "" and bpy.ops.sinew.body_part_edit.poll()
    bpy.context.view_layer.objects.active = person
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Edit Mode" in part_editing.why_no_part(bpy.context) and not bpy.ops.sinew.overlay_refit.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.scene.sinew.armature = None
    assert part_editing.why_no_part(bpy.context) == "Choose an armature"
    assert not bpy.ops.sinew.body_reset.poll() and not bpy.ops.sinew.overlay_refit.poll()


def test_a_bone_that_is_no_part_says_whose_it_is(person):
    row = person.sinew_body.overrides.add()
    row.name, row.role = "foot.L", "merge"
    activate(person, "foot.L")
    with refusal("'foot.L' moves with 'shin.L'", "Edit that one"):
        bpy.ops.sinew.body_part_edit()
    row.role = "ride"
    with refusal("'foot.L' is no part of the body"):
        bpy.ops.sinew.body_part_edit()


def test_the_panel_shows_what_was_fitted_and_then_the_fields(person):
    assert "Select a bone" in " ".join(drawn().texts)
    activate(person, "shin.L")
    fitted_bodies.fit_now(bpy.context.scene, person)
    page = drawn()
    assert "shin.L" in page.texts and "Mass" in page.texts and "Hinge" in page.texts
    assert [button.idname for button in page.buttons] == ["sinew.body_part_edit", "sinew.body_reset"]
    press("body_part_edit")
    page = drawn()
    ticks = {"use_shape", "use_offset", "use_mass", "use_limits", "use_stiffness"}
    assert set(page.props) == {"role", *ticks}, "what is not ticked is as fitted, and told above"
    for tick in ticks:
        setattr(override_row(person, "shin.L"), tick, True)
    page = drawn()
    assert {"role", "use_shape", "shape", "use_mass", "mass_kg", "lower", "upper", "stiffness"} <= set(page.props)
    assert "sinew.body_part_mirror" in [button.idname for button in page.buttons]
    activate(person, "thigh.L")
    press("body_part_edit")
    override_row(person, "thigh.L").use_limits = True
    assert "reach" in drawn().props and "lower" not in drawn().props


def test_crossed_limits_while_dragging_do_no_harm(person):
    activate(person, "shin.L")
    press("body_part_edit")
    row = override_row(person, "shin.L")
    row.use_limits, row.lower, row.upper = True, 1.0, 0.5
    low, high = read_edit(row).limits_rad
    assert low < high
    body = fitted_bodies.fit_now(bpy.context.scene, person).body
    assert np.isfinite(BodyParts(body).tints).all()


def test_handles_read_and_write_the_sizes_that_they_stand_for(person):
    scene = bpy.context.scene
    scene.sinew_overlay.show = True
    bpy.context.view_layer.objects.active = person
    bpy.ops.object.mode_set(mode="POSE")
    activate(person, "shin.L")
    assert not gizmos.SINEW_GGT_part.poll(bpy.context)
    press("body_part_edit")
    row = override_row(person, "shin.L")
    row.use_shape, row.shape, row.radius, row.length = True, "capsule", 0.05, 0.4
    assert gizmos.SINEW_GGT_part.poll(bpy.context)
    assert [gizmos._reader(axis)() for axis in "xyz"] == pytest.approx([0.05, 0.0, 0.2])
    gizmos._writer("z")(0.25)
    gizmos._writer("y")(0.7)
    assert (row.radius, row.length) == pytest.approx((0.05, 0.5))
    row.shape, row.edges = "box", (0.1, 0.2, 0.3)
    gizmos._writer("y")(-1.0)
    assert tuple(row.edges) == pytest.approx((0.1, 0.001, 0.3))
    # The tip of an arrow along the shape lies on the shape's surface.
    row.shape, row.radius, row.length = "capsule", 0.05, 0.4
    centre, axes, metres = gizmos._place(bpy.context)
    tip = gizmos._along(centre, axes, metres, 2) @ Vector((0.0, 0.0, 0.2))
    assert np.allclose(np.array(tip) - centre, 0.2 * axes[:, 2], atol=1e-5)
    assert gizmos._push() is None


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("shin.L", "says not which bone is what"),
        ("shin.L=shin.L,thigh.L", "several roles"),
        ("shin.L=weight:3", "'weight' in .* is nothing that a part has"),
        ("shin.L=mass:much", "is not in numbers. Write mass:4"),
        ("shin.L=limits:40:10", "second angle be larger"),
        ("shin.L=size:0.1", "size without a shape"),
    ],
)
def test_wrong_words_on_the_command_line_are_named(text, wrong):
    with pytest.raises(BadSettings, match=wrong):
        read_bones([text])


def test_roles_and_edits_can_be_said_together():
    roles, edits = read_bones(["mixamorig:LeftLeg=shin.L,mass:4", "a=b=ride", "Foot=stiffness:2", "Foot=mass:1"])
    assert roles == {"mixamorig:LeftLeg": "shin.L", "a=b": "ride"}
    assert edits == {"mixamorig:LeftLeg": PartEdit(mass_kg=4.0), "Foot": PartEdit(mass_kg=1.0, stiffness=2.0)}
