# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay's arrays say what stands where; it survives what animators do. Drawing itself needs a window."""

import time

import bpy
import numpy as np
import pytest

from sinew.bridge import mannequin
from sinew.bridge.body import fitted_bodies
from sinew.bridge.overlay import draw_handler, frame_state, ghosts
from sinew.bridge.overlay.canvas import flatten_solids, sort_back_to_front
from sinew.bridge.overlay.draw_list import CONE, DrawList
from sinew.bridge.overlay.parts import mass_tints
from sinew.bridge.overlay.solid_mesh import make_solid_mesh
from sinew.bridge.rig.rig_reader import read_rig, rotation_of
from sinew.bridge.scene.time_slicing import TimeSlicedTask
from sinew.bridge.takes import take_data
from sinew.core.body.clearance import link_clearances
from sinew.core.body.poses import link_transforms, pose_of_clip
from sinew.core.motion import Clip, Take

from ..helpers.overlay_scenes import a_take, frame_state_now, pose, read_ghosts
from ..helpers.rigs import arm
from ..helpers.stage_objects import arrow


@pytest.fixture
def person(addon):
    """The mannequin without its mesh, chosen, with everything switched on and fitted."""
    obj = mannequin.build(bpy.context.scene)
    scene = bpy.context.scene
    scene.sinew.armature = bpy.context.view_layer.objects.active = obj
    obj.sinew_body.use_mesh = False
    scene.sinew_overlay.show = scene.sinew_overlay.ghost = True
    fitted_bodies.fit_now(scene, obj)
    return obj


def shown():
    """The characters as they stand now."""
    return frame_state_now().characters


def worked(timer):
    """Let a timer do all that it has to do; in so many pieces."""
    pieces = 0
    while timer() is not None:
        pieces += 1
        time.sleep(0.005)
    return pieces


def solids():
    found = draw_handler.current_draw_list(bpy.context)
    return sum(len(each) for each in found.solids) if found else 0


def only(*switches):
    own = bpy.context.scene.sinew_overlay
    for name in ("body", "joint", "balance", "contacts", "pushes", "ghost"):
        setattr(own, name, name in switches)


def volume(points, triangles):
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    return float(np.sum(np.cross(a, b) * c) / 6.0)


def test_the_one_mesh_is_ball_capsule_and_box():
    mesh = make_solid_mesh(8)
    assert volume(mesh.cube, mesh.triangles) == pytest.approx(8.0)  # seen from outside everywhere
    assert volume(mesh.ball, mesh.triangles) == pytest.approx(4.0 / 3.0 * np.pi, rel=0.03)
    capsule = mesh.ball + np.outer(mesh.end, [0.0, 0.0, 2.0])
    assert volume(capsule, mesh.triangles) == pytest.approx(4.0 / 3.0 * np.pi + 4.0 * np.pi, rel=0.03)
    assert np.all(np.sum(mesh.face * mesh.cube, axis=-1) == 1.0)


def test_shapes_stand_where_the_body_does(person):
    person.location, person.scale = (1.0, -2.0, 0.3), (1.2, 1.2, 1.2)
    person.rotation_euler.z = 0.7
    person.pose.bones["thigh.L"].rotation_mode = "XYZ"
    person.pose.bones["thigh.L"].rotation_euler.x = 0.6
    bpy.context.view_layer.update()
    fitted_bodies.fit_now(bpy.context.scene, person)
    (seen,) = shown()
    rig = read_rig(person, frames=(1, 2))
    clip = Clip(seen.parts.body.skeleton, 1.0, rig.clip.local_pos, rig.clip.local_quat_wxyz)
    pos, _ = link_transforms(seen.parts.body, pose_of_clip(seen.parts.body, clip)[0])
    assert np.abs(seen.pos - pos[0]).max() < 2e-3
    lowest = seen.parts.lowest(seen.pos, seen.axes, seen.metres)
    assert lowest[:, 2].min() == pytest.approx(link_clearances(seen.parts.body, clip).min(), abs=2e-3)
    com = seen.parts.com(seen.pos, seen.axes, seen.metres)
    assert seen.pos[:, :2].min(0)[0] < com[0] < seen.pos[:, :2].max(0)[0]


def test_rotations_are_those_that_jobs_read():
    matrices = np.random.default_rng(1).normal(size=(7, 3, 3))
    assert np.allclose(frame_state.rotations(matrices), rotation_of(matrices))


def test_sizes_follow_metres_a_unit(person):
    (before,) = shown()
    bpy.context.scene.sinew.scale = 0.5
    fitted_bodies.fit_now(bpy.context.scene, person)
    (after,) = shown()
    # Half the metres: the body is half as large, and drawn where it ever was.
    half, whole = (each.parts.body.links[1].joint.pos for each in (after, before))
    assert np.allclose(half, 0.5 * whole, atol=1e-4)
    sizes = [np.ptp(each.parts.lowest(each.pos, each.axes, each.metres), axis=0) for each in (before, after)]
    assert np.allclose(*sizes, rtol=0.1, atol=0.05)
    own, its = (each.parts.com(each.pos, each.axes, each.metres) for each in (before, after))
    assert np.allclose(own, its, atol=0.02)


def test_heavier_is_warmer():
    tints = mass_tints(np.array([0.5, 4.0, 30.0]))
    assert tints[0, 2] > tints[0, 0] and tints[2, 0] > tints[2, 2]
    assert np.isfinite(mass_tints(np.ones(3))).all()


def test_every_switch_adds_something_and_none_nothing(person):
    only()
    assert solids() == 0
    only("body")
    assert solids() == sum(len(link.shapes) for link in shown()[0].parts.body.links)
    only("balance")
    found = draw_handler.current_draw_list(bpy.context)
    com, foot = found.lines[0][0]
    assert foot[2] == 0.0 and np.allclose(com[:2], foot[:2]) and 0.7 < com[2] < 1.3
    bpy.context.scene.sinew_overlay.show = False
    assert draw_handler.current_draw_list(bpy.context) is None


@pytest.mark.parametrize(("bone", "fans"), [("shin.L", 1), ("thigh.L", 1), ("pelvis", 0)])
def test_the_active_bones_joint_is_shown(person, bone, fans):
    only("joint")
    pose(person, bone)
    assert len(draw_handler.current_draw_list(bpy.context).triangles) == fans
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not draw_handler.current_draw_list(bpy.context).triangles


def test_a_hinge_beyond_its_limit_is_red(person):
    only("joint")
    pose(person, "shin.L")
    body = fitted_bodies.fit_now(bpy.context.scene, person).body
    joint = body.links[body.link_of("shin.L")].joint

    def now(angle):
        bone = person.pose.bones["shin.L"]
        bone.rotation_mode = "AXIS_ANGLE"
        rest = fitted_bodies.known_fit(person).base
        assert rest is not None
        bone.rotation_axis_angle = (angle, *joint.axis)
        bpy.context.view_layer.update()
        return draw_handler.current_draw_list(bpy.context).lines[-1][1][0]

    assert np.allclose(now(0.3)[:3], 1.0)
    assert now(joint.upper + 0.5)[0] == 1.0 and now(joint.upper + 0.5)[1] < 0.5


def test_pushes_end_at_the_bone_and_are_faint_while_they_do_not_push(person):
    only("pushes")
    obj = arrow(bone="chest", force=200.0)
    frame_state.forget_frame_state()
    bpy.context.scene.frame_set(5)
    head, _ = draw_handler.current_draw_list(bpy.context).solids
    assert head.sizes[0, 3] == CONE and head.colors[0, 3] > 0.9
    bpy.context.scene.frame_set(1)
    assert draw_handler.current_draw_list(bpy.context).solids[0].colors[0, 3] < 0.5
    obj.hide_set(True)
    assert not draw_handler.current_draw_list(bpy.context).solids


def test_contacts_are_the_takes(person):
    action, _ = a_take(person)
    assert take_data.bones_in_contact(action, 1) == ("foot.L",) and take_data.bones_in_contact(action, 11) == ()
    assert take_data.bones_in_contact(action, 10) == ("foot.L",)
    assert take_data.bones_in_contact(bpy.data.actions["Source"], 1) is None
    only("contacts")
    bpy.context.scene.frame_set(3)
    arrows = draw_handler.current_draw_list(bpy.context).solids
    assert len(arrows) == 3
    (seen,) = shown()
    foot = seen.parts.lowest(seen.pos, seen.axes, seen.metres)[seen.parts.body.link_of("foot.L")]
    assert np.allclose(arrows[-1].places[0, :3, 3], foot, atol=1e-5)
    bpy.context.scene.frame_set(15)
    assert not draw_handler.current_draw_list(bpy.context).solids


def test_the_ghost_goes_where_the_source_went(person):
    _, rig = a_take(person)
    only("ghost")
    bpy.context.scene.sinew_overlay.ghost_distance = 0.0
    bpy.context.scene.frame_set(11)
    assert not draw_handler.current_draw_list(bpy.context).solids  # not read yet
    read_ghosts()
    (ghost,) = draw_handler.current_draw_list(bpy.context).solids
    (seen,) = shown()
    stood = frame_state_now()
    pos, _, left = ghosts.ghost_pose(stood, seen)
    links = [rig.clip.skeleton.index(bone) for bone in seen.parts.bones]
    assert np.allclose(pos, rig.clip.world()[0][10, links], atol=1e-4)
    bpy.context.scene.sinew_overlay.ghost_distance = 2.0
    (beside,) = draw_handler.current_draw_list(bpy.context).solids
    moved = beside.places[:, :3, 3] - ghost.places[:, :3, 3]
    assert np.allclose(moved, 2.0 * left, atol=1e-4) and abs(left[2]) < 1e-9


def test_a_take_with_a_clock_of_its_own_has_no_ghost_and_a_retimed_one_follows(person):
    action, rig = a_take(person)
    assert take_data.source_frame(action, 7.0) == 7.0
    times = np.linspace(0.0, (len(rig.clip) - 1) / rig.clip.fps, len(rig.clip)) * 0.5
    slow = Take(rig.clip, source_times_s=times)
    take_data.store_take_data(action, slow, rig)
    first = action.frame_range[0]
    assert take_data.source_frame(action, first + 10.0) == pytest.approx(rig.frame_start + 5.0, abs=0.01)
    take_data.store_take_data(action, Take(rig.clip, own_clock=True), rig)
    assert take_data.source_frame(action, 7.0) is None


def test_scrubbing_refits_nothing_and_edits_show_at_once(person):
    known = fitted_bodies.fit_now(bpy.context.scene, person)
    base, body, parts = known.base, known.body, shown()[0].parts
    assert parts.body is body
    for frame in range(1, 20):
        bpy.context.scene.frame_set(frame)
        assert shown()[0].parts is parts
    assert fitted_bodies.known_fit(person).base is base and known.wanted == known.done
    row = person.sinew_body.overrides.add()
    row.name, row.role, row.use_mass, row.mass_kg = "shin.L", "auto", True, 9.0
    assert shown()[0].parts.body.mass == pytest.approx(
        body.mass - body.links[body.link_of("shin.L")].mass + 9.0, rel=1e-5
    )
    assert fitted_bodies.known_fit(person).base is base  # nothing was fitted for that


def test_the_timer_fits_what_is_out_of_date(person):
    person.sinew_body.preset = "heavy"
    before = fitted_bodies.known_fit(person).body.mass
    shown()
    assert bpy.app.timers.is_registered(fitted_bodies._work)
    worked(fitted_bodies._work)
    assert shown()[0].parts.body.mass > 1.1 * before


def test_a_body_that_is_read_in_pieces_is_the_same(person):
    person.pose.bones[0].constraints.new("LIMIT_SCALE")  # limits nothing, but only Blender knows that
    a_take(person)
    scene, whole = bpy.context.scene, fitted_bodies.known_fit(person).base
    fitted_bodies.refit(scene, person)
    known = fitted_bodies.known_fit(person)
    known.work = TimeSlicedTask(known.steps(scene, person, 0.0))
    assert worked(fitted_bodies._work) > 20  # frames
    assert known.base is not whole and known.wanted == known.done
    for own, its in zip(known.base.links, whole.links, strict=True):
        assert own.mass == its.mass and np.array_equal(own.com, its.com)
        assert (own.joint.lower, own.joint.upper) == (its.joint.lower, its.joint.upper)


def test_what_changes_while_it_is_read_is_read_again(person):
    a_take(person)
    scene, before = bpy.context.scene, fitted_bodies.known_fit(person).body
    fitted_bodies.refit(scene, person)
    known = fitted_bodies.known_fit(person)
    known.work = first = TimeSlicedTask(known.steps(scene, person, 0.0))
    assert fitted_bodies._work() is not None and known.work is first
    scene.sinew.scale = 0.5
    shown()
    assert fitted_bodies._work() is not None and known.work is not first
    worked(fitted_bodies._work)
    assert known.wanted == known.done and known.body.links[1].joint.pos == pytest.approx(
        0.5 * before.links[1].joint.pos, abs=1e-4
    )
    fitted_bodies.refit(scene, person)
    known.work = TimeSlicedTask(known.steps(scene, person, 0.0))
    assert fitted_bodies._work() is not None
    bpy.data.objects.remove(person)
    assert fitted_bodies._work() is None and not fitted_bodies._known


def test_a_ghost_is_read_beside_the_interface(person):
    a_take(person)
    only("ghost")
    assert solids() == 0 and bpy.app.timers.is_registered(ghosts._work)
    assert worked(ghosts._work) > 1
    assert solids() > 10 and not ghosts._wanted and not ghosts._going


def test_what_cannot_be_fitted_is_told_and_not_tried_again(addon):
    obj = arm("Post")
    scene = bpy.context.scene
    scene.sinew.armature, scene.sinew_overlay.show = obj, True
    fitted = fitted_bodies.fit_now(scene, obj)
    assert fitted.body is None and fitted.problem is not None and fitted.problem.hint
    assert shown() == () and fitted.wanted == fitted.done
    with pytest.raises(RuntimeError):
        bpy.ops.sinew.overlay_refit()


def test_it_survives_deleting_hiding_undoing_and_another_file(person, tmp_path):
    bpy.ops.ed.undo_push(message="Original")
    bpy.context.view_layer.objects.active = person
    person.location.x = 2.0
    bpy.ops.ed.undo_push(message="Move")
    count = solids()
    assert count > 10
    bpy.ops.ed.undo()
    assert solids() == count
    person = bpy.context.scene.sinew.armature
    person.hide_set(True)
    assert solids() == 0
    person.hide_set(False)
    person.data.pose_position = "REST"
    assert solids() == count
    person.data.pose_position = "POSE"
    bpy.context.view_layer.objects.active = person
    bpy.ops.object.mode_set(mode="EDIT")
    assert solids() == 0
    person.data.edit_bones.remove(person.data.edit_bones["foot.L"])
    bpy.ops.object.mode_set(mode="OBJECT")
    assert solids() == 0  # the body is of other bones
    fitted_bodies.fit_now(bpy.context.scene, person)
    assert solids() > 10
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert bpy.context.scene.sinew_overlay.show and solids() == 0
    fitted_bodies.fit_now(bpy.context.scene, bpy.context.scene.sinew.armature)
    assert solids() > 0
    bpy.data.objects.remove(bpy.context.scene.sinew.armature)
    assert solids() == 0 and fitted_bodies._work() is None and not fitted_bodies._known


def test_solids_are_drawn_from_far_to_near():
    scenery = DrawList()
    scenery.add_balls(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -3.0], [0.0, 0.0, 2.0]]), 0.1, (1.0, 0.0, 0.0, 1.0))
    # Looking down from above, the lowest is the farthest.
    data = sort_back_to_front(flatten_solids(scenery.solids), np.array([0.0, 0.0, 1.0]))
    assert data[:, 14].tolist() == [-3.0, 1.0, 2.0]
    assert data.shape == (3, 24) and data.dtype == np.float32


def test_handlers_go_with_the_addon(addon):
    assert draw_handler._handles and draw_handler._on_load in bpy.app.handlers.load_post
    addon.unregister()
    try:
        assert not draw_handler._handles and draw_handler._on_load not in bpy.app.handlers.load_post
        assert not hasattr(bpy.types.Scene, "sinew_overlay")
    finally:
        addon.register()


def test_one_bug_is_told_once(person, monkeypatch):
    calls = []

    def broken(_context):
        calls.append(1)
        raise ValueError("broken")

    monkeypatch.setattr(draw_handler, "current_draw_list", broken)
    monkeypatch.setattr(draw_handler, "_shows_overlays", lambda _context: True)
    draw_handler.draw_overlay()
    draw_handler.draw_overlay()
    assert calls == [1] and "broken" in draw_handler.draw_error()
    draw_handler.retry_drawing()
    assert draw_handler.draw_error() == ""
