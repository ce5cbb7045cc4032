# SPDX-License-Identifier: GPL-3.0-or-later
"""Cues to be seen: markers on the timeline that follow the list, and ghosts of key poses in their places."""

import bpy
import numpy as np
import pytest

from deed_clips import make_deeds
from sinew.bridge import mannequin
from sinew.bridge.body import fitted_bodies
from sinew.bridge.methods.adapters import get_adapter
from sinew.bridge.overlay import draw_handler, ghosts
from sinew.core.control.respond.learned_file import RESPONDER
from sinew.core.control.tracking.library_files import store_library

from ..helpers.interface import tick_to_end


@pytest.fixture
def kicker(addon, tmp_path):
    """A fitted character with a library of kicks, whose overlay shows its cues alone."""
    scene = bpy.context.scene
    scene.render.fps = 30
    obj = mannequin.build(scene, make_deeds().body.skeleton)
    scene.sinew.armature = bpy.context.view_layer.objects.active = obj
    obj.sinew_body.use_mesh = False
    path = tmp_path / "kicks.library.npz"
    RESPONDER.write_content(path, *store_library(make_deeds()))
    obj.sinew_respond.file = str(path)
    get_adapter("respond").file.view_of(obj, wait=True)
    own = scene.sinew_overlay
    own.show = True
    for name in ("body", "balance", "contacts", "pushes", "joint", "rehearsal"):
        setattr(own, name, False)
    fitted_bodies.fit_now(scene, obj)
    return obj


def add(obj, deed, frame, target=None):
    cue = obj.sinew_cues.add()
    cue.deed, cue.frame, cue.target = deed, frame, target
    return cue


def ghosts_now():
    """Where the middle of each ghost is: (N, 3)."""
    found = draw_handler.current_draw_list(bpy.context).solids
    return np.array([one.places[:, :3, 3].mean(axis=0) for one in found])


def markers():
    return sorted((marker.frame, marker.name) for marker in bpy.context.scene.timeline_markers)


def test_markers_follow_the_list(kicker):
    scene = bpy.context.scene
    scene.timeline_markers.new("mine", frame=60)
    first, _ = add(kicker, "kick", 60), add(kicker, "walk", 100)
    assert markers() == [(60, f"kick ({kicker.name})"), (60, "mine"), (100, f"walk ({kicker.name})")]
    first.frame, first.deed = 70, "jump"
    assert markers() == [(60, "mine"), (70, f"jump ({kicker.name})"), (100, f"walk ({kicker.name})")]
    assert bpy.ops.sinew.respond_cue_remove("EXEC_DEFAULT", True) == {"FINISHED"}
    assert markers() == [(60, "mine"), (100, f"walk ({kicker.name})")]


def test_key_poses_stand_in_their_places_and_a_moving_place_counts_at_its_frame(kicker):
    target = bpy.data.objects.new("There", None)
    bpy.context.scene.collection.objects.link(target)
    for frame, x in ((1, 0.0), (100, 4.0)):
        target.location.x = x
        target.keyframe_insert("location", frame=frame)
    add(kicker, "kick", 100, target)
    add(kicker, "walk", 150)  # a style has no key pose
    bpy.context.view_layer.update()
    (middle,) = ghosts_now()
    assert np.hypot(middle[0] - 4.0, middle[1]) < 0.4
    add(kicker, "kick", 60)  # without a place it is shown while it is chosen, where the one before it is
    assert len(ghosts_now()) == 1
    kicker.sinew_cue_index = 2
    found = ghosts_now()
    assert len(found) == 2 and np.hypot(found[1][0] - 4.0, found[1][1]) < 0.4
    bpy.context.scene.sinew_overlay.cues = False
    assert len(ghosts_now()) == 0


def test_a_take_shows_what_it_does_at_its_cues(kicker):
    scene = bpy.context.scene
    scene.sinew.methods.respond_bake.physics = False
    add(kicker, "kick", 60)
    add(kicker, "kick", 120)
    assert bpy.ops.sinew.respond_bake("EXEC_DEFAULT", True) == {"FINISHED"}
    assert tick_to_end().state == "done"
    fitted_bodies.fit_now(scene, kicker)
    ghosts_now()
    while ghosts._work() is not None:
        pass
    found = draw_handler.current_draw_list(bpy.context).solids
    assert len(found) == 2
    # The ghost of a cue is the body as it stands at its frame.
    scene.sinew_overlay.body = True
    for number, frame in enumerate((60, 120)):
        scene.frame_set(frame)
        solids = draw_handler.current_draw_list(bpy.context).solids
        np.testing.assert_allclose(solids[number].places[:, :3, 3], solids[-1].places[:, :3, 3], atol=5e-3)
