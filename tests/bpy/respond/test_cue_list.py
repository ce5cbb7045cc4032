# SPDX-License-Identifier: GPL-3.0-or-later
"""Cues in Blender: a list on the armature, targets that say a place, markers of deeds, and a take that does them."""

import bpy
import pytest

from deed_clips import make_deeds
from sinew.bridge import mannequin
from sinew.bridge.jobs import monitor
from sinew.bridge.library.action_deeds import place_action_deeds, propose_action_deeds
from sinew.bridge.methods.adapters import get_adapter
from sinew.core.control.respond.learned_file import RESPONDER
from sinew.core.control.tracking.library_files import store_library
from sinew.core.errors import RigError
from sinew.core.motion.deeds import Deed
from sinew.panels.respond import SINEW_PT_respond

from ..helpers.interface import hero, tick_to_end
from ..helpers.panel_drawing import SkillsLayout, draw_wide


@pytest.fixture
def kicker(addon, tmp_path):
    """A character with a library of kicks, at 30 frames a second."""
    scene = bpy.context.scene
    scene.render.fps = 30
    obj = mannequin.build(scene, make_deeds().body.skeleton)
    scene.sinew.armature = obj
    path = tmp_path / "kicks.library.npz"
    RESPONDER.write_content(path, *store_library(make_deeds()))
    obj.sinew_respond.file = str(path)
    scene.sinew.methods.respond_bake.physics = False
    return obj


def test_from_cues_to_a_take(kicker):
    scene = bpy.context.scene
    adapter = get_adapter("respond")
    assert adapter.why_not_bake(scene) == "There are no cues: add one"
    scene.frame_set(60)
    assert bpy.ops.sinew.respond_cue_add("EXEC_DEFAULT", True) == {"FINISHED"}
    assert adapter.why_not_bake(scene) == "The cue at frame 60 has no deed: name one"
    kicker.sinew_cues[0].deed = "kick"
    target = bpy.data.objects.new("There", None)
    target.location = (1.5, 0.5, 0.0)
    scene.collection.objects.link(target)
    second = kicker.sinew_cues.add()
    second.deed, second.frame, second.target = "walk", 160, target
    ball = bpy.data.objects.new("Ball", None)
    ball.location = (2.4, 0.6, 0.6)
    scene.collection.objects.link(ball)
    third = kicker.sinew_cues.add()
    third.deed, third.frame, third.hit = "kick", 230, ball
    bpy.context.view_layer.update()
    assert adapter.why_not_bake(scene) == ""
    before = set(bpy.data.actions)
    assert bpy.ops.sinew.respond_bake("EXEC_DEFAULT", True) == {"FINISHED"}
    view = tick_to_end()
    assert view.state == "done" and len(set(bpy.data.actions) - before) == 1
    kick, walk, hit = monitor.job_of(view.id).report()["respond"]["cues"]
    assert abs(kick["done_frame"] - 60) <= 1 and walk["distance_m"] < 0.02
    assert hit["distance_m"] < 0.02 and hit["limb"]
    scene.frame_set(1)
    assert bpy.ops.sinew.respond_cue_remove("EXEC_DEFAULT", True) == {"FINISHED"} and len(kicker.sinew_cues) == 2


def test_the_panel_draws_the_library_the_cues_and_the_button(kicker):
    get_adapter("respond").file.view_of(kicker, wait=True)
    page = draw_wide(SINEW_PT_respond, SkillsLayout)
    assert {"sinew.respond_cue_add", "sinew.respond_bake"} <= {f"sinew.{name}" for name in page.idnames} | set(
        page.idnames
    )


def test_markers_of_an_action_are_its_deeds(addon):
    obj = hero()
    action = obj.animation_data.action
    for name, frame in (("kick! begin", 3), ("kick!", 8), ("walk", 1), ("punch!", 12), ("far!", 900)):
        action.pose_markers.new(name).frame = frame
    assert place_action_deeds(obj, action, 10.0) == (Deed("kick", 2, 7, 13), Deed("punch", 6, 11, 17))
    assert propose_action_deeds(action, [Deed("kick", 0, 2, 5), Deed("hop", 2, 4, 8)], 1, 0.5) == ("hop",)
    assert place_action_deeds(obj, action, 10.0)[0] == Deed("hop", 1, 2, 5, True)
    action.pose_markers.new("hop! end").frame = 15
    with pytest.raises(RigError, match="Deed 'hop' at frame 15 has no key moment"):
        place_action_deeds(obj, action, 10.0)
