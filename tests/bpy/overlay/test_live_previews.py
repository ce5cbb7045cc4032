# SPDX-License-Identifier: GPL-3.0-or-later
"""What a policy in training does is seen beside its character, moves by itself, and touches nothing of the file."""

import dataclasses

import bpy
import numpy as np
import pytest

from sinew.bridge import mannequin
from sinew.bridge.body import fitted_bodies
from sinew.bridge.jobs import monitor
from sinew.bridge.jobs.job_views import JobView
from sinew.bridge.overlay import draw_handler, live_previews
from sinew.core.files import write_arrays
from sinew.core.jobs.job import Job

from ..helpers.overlay_scenes import frame_state_now

VIEW = JobView("7", "walk", "Train", "running", "42 %", 0.42, armature="", method_name="bounds_train")


@pytest.fixture
def person(addon, monkeypatch, tmp_path):
    """A fitted mannequin that something is trained for, in a job whose worker has shown nothing yet."""
    scene, obj = bpy.context.scene, mannequin.build(bpy.context.scene)
    scene.sinew.armature = bpy.context.view_layer.objects.active = obj
    obj.sinew_body.use_mesh = False
    scene.sinew_overlay.show, scene.sinew_overlay.body = True, False
    fitted_bodies.fit_now(scene, obj)
    trained(monkeypatch, obj, "running")
    monkeypatch.setattr(monitor, "job_of", lambda _: Job(tmp_path))
    yield obj
    live_previews.forget_previews()


def trained(monkeypatch, obj, state):
    monkeypatch.setattr(monitor, "watched_jobs", lambda: [dataclasses.replace(VIEW, armature=obj.name, state=state)])


def seen_now():
    (shown,) = frame_state_now().characters
    return shown


def show(folder, bones, fps=30.0, **changed):
    """What a worker would show: all links one metre higher at every moment."""
    pos = np.zeros((4, len(bones), 3), dtype=np.float32)
    pos[..., 2] = np.arange(4)[:, None]
    quat = np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (4, len(bones), 1))
    arrays = {"link_pos": pos, "link_quat_wxyz": quat, **changed}
    write_arrays(Job(folder).shown_file, arrays, {"bones": list(bones), "fps": fps, "samples": 4096})


def test_it_plays_over_and_over_beside_the_character(person, tmp_path):
    shown = seen_now()
    assert live_previews.preview_pose(shown, 10.0) is None
    live_previews.read_previews(10.0)
    assert live_previews.preview_pose(shown, 10.1) is None  # nothing was shown yet
    show(tmp_path, shown.parts.bones)
    live_previews.read_previews(11.0)
    for after_s, height in ((0.01, 0.0), (0.04, 1.0), (0.11, 3.0), (0.14, 0.0)):
        pos, axes = live_previews.preview_pose(shown, 11.0 + after_s)
        np.testing.assert_allclose(pos[:, 2], height / shown.metres)
        np.testing.assert_allclose(axes, np.broadcast_to(np.eye(3), axes.shape))
    before = [action.name for action in bpy.data.actions], len(bpy.data.objects), person.animation_data
    own = bpy.context.scene.sinew_overlay
    own.rehearsal = False
    alone = len(draw_handler.current_draw_list(bpy.context).solids)
    own.rehearsal = True
    assert len(draw_handler.current_draw_list(bpy.context).solids) == alone + 1
    assert ([action.name for action in bpy.data.actions], len(bpy.data.objects), person.animation_data) == before


def test_what_is_shown_next_takes_its_place(person, tmp_path):
    shown = seen_now()
    show(tmp_path, shown.parts.bones)
    live_previews.preview_pose(shown, 10.0)
    live_previews.read_previews(10.0)
    assert live_previews.preview_pose(shown, 10.0)[0][0, 2] == 0.0
    high = np.full((2, len(shown.parts.bones), 3), 5.0, dtype=np.float32)
    quat = np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (2, len(shown.parts.bones), 1))
    show(tmp_path, shown.parts.bones, link_pos=high, link_quat_wxyz=quat)
    live_previews.read_previews(10.2)  # too soon to look again
    assert live_previews.preview_pose(shown, 10.2)[0][0, 2] < 5.0
    live_previews.read_previews(11.3)
    assert live_previews.preview_pose(shown, 11.3)[0][0, 2] == pytest.approx(5.0 / shown.metres)


def test_torn_and_foreign_files_are_not_drawn(person, tmp_path):
    shown = seen_now()
    live_previews.preview_pose(shown, 10.0)
    Job(tmp_path).shown_file.write_bytes(b"PK half a file")
    live_previews.read_previews(10.0)
    assert live_previews.preview_pose(shown, 10.0) is None
    show(tmp_path, shown.parts.bones[:-1])
    live_previews.read_previews(11.5)
    assert live_previews.preview_pose(shown, 11.5) is None  # other bones than those it is drawn with
    show(tmp_path, shown.parts.bones, link_pos=np.zeros((4, 2, 3)))
    live_previews.read_previews(13.0)
    assert live_previews.preview_pose(shown, 13.0) is None


def test_when_training_is_over_nobody_is_left_standing_there(person, tmp_path, monkeypatch):
    shown = seen_now()
    show(tmp_path, shown.parts.bones)
    live_previews.preview_pose(shown, 10.0)
    live_previews.read_previews(10.0)
    assert live_previews.preview_pose(shown, 10.0) is not None
    trained(monkeypatch, person, "done")
    assert live_previews.preview_pose(shown, 10.1) is None
    live_previews.read_previews(10.1)
    trained(monkeypatch, person, "running")
    assert live_previews.preview_pose(shown, 10.2) is None  # it was forgotten, and is looked for anew
    live_previews.read_previews(10.2)
    assert live_previews.preview_pose(shown, 10.2) is not None


def test_a_take_that_is_being_made_plays_where_it_will_be_and_grows(person, tmp_path, monkeypatch):
    shown = seen_now()
    view = dataclasses.replace(VIEW, armature=person.name, method_name="sampling")
    monkeypatch.setattr(monitor, "watched_jobs", lambda: [view])
    show(tmp_path, shown.parts.bones)
    assert live_previews.preview_pose(shown, 10.0) is None
    live_previews.read_previews(10.0)
    assert live_previews.is_in_place(shown)
    assert live_previews.preview_pose(shown, 10.05)[0][0, 2] == pytest.approx(1.0 / shown.metres)
    longer = np.zeros((30, len(shown.parts.bones), 3), dtype=np.float32)
    longer[..., 2] = np.arange(30)[:, None]
    quat = np.tile(np.float32([1.0, 0.0, 0.0, 0.0]), (30, len(shown.parts.bones), 1))
    show(tmp_path, shown.parts.bones, link_pos=longer, link_quat_wxyz=quat)
    live_previews.read_previews(10.6)
    # It goes on where it was, and does not begin anew with what has come.
    assert live_previews.preview_pose(shown, 10.61)[0][0, 2] == pytest.approx(18.0 / shown.metres)


def test_a_take_that_is_made_is_seen_with_no_overlay_and_no_body(person, tmp_path, monkeypatch):
    scene, bones = bpy.context.scene, tuple(bone.name for bone in person.data.bones[:2])
    fitted_bodies.forget_fits()
    view = dataclasses.replace(VIEW, method_name="sampling", armature=person.name)
    monkeypatch.setattr(monitor, "watched_jobs", lambda: [view])
    show(tmp_path, bones)
    for is_on in (False, True):
        scene.sinew_overlay.show = is_on
        draw_handler.current_draw_list(bpy.context)
        live_previews.read_previews(1e9)
        found = draw_handler.current_draw_list(bpy.context)
        points, _ = found.lines[-1]
        assert len(points) == 2 * len(bones)
        lengths = np.linalg.norm(points[1::2] - points[::2], axis=-1)
        np.testing.assert_allclose(lengths, [person.data.bones[name].length for name in bones], rtol=1e-5)
    scene.sinew_overlay.rehearsal = scene.sinew_overlay.show = False
    assert draw_handler.current_draw_list(bpy.context) is None
    scene.sinew_overlay.rehearsal = True
    monkeypatch.setattr(monitor, "watched_jobs", list)
    assert draw_handler.current_draw_list(bpy.context) is None
