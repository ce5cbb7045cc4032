# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries of an armature's Actions: built in slices, changed Actions noticed, tags that travel with the Action."""

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from sinew.bridge import mannequin
from sinew.bridge.importing.importers import show_clip
from sinew.bridge.library import action_tags
from sinew.bridge.library.action_sources import digest_action
from sinew.bridge.library.assembling import open_library
from sinew.bridge.rig import actions
from sinew.core import limits
from sinew.core.control.tracking.library_files import LIBRARY_FILE
from sinew.core.motion.plain_walk import plain_walk
from sinew.panels.library import SINEW_PT_library, SINEW_UL_library_actions

from ..helpers.interface import refusal
from ..helpers.operator_steps import one_step
from ..helpers.panel_drawing import SkillsLayout, draw_wide

OPS = bpy.ops.sinew


@pytest.fixture
def walker(addon, tmp_path):
    """The mannequin with the Actions 'walk_a' and 'walk_b', saved, and chosen in the panel."""
    clip = plain_walk(2.2)
    scene = bpy.context.scene
    obj = mannequin.build(scene, clip.skeleton)
    slower = replace(clip, local_pos=clip.local_pos * [1.0, 0.9, 1.0])
    for name, motion in (("walk_b", slower), ("walk_a", clip)):
        show_clip(replace(motion, name=name), obj).use_fake_user = True
    scene.sinew.armature = obj
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "walker.blend"))
    return bpy.context.scene.sinew.armature


def library_of(obj):
    return open_library(Path(bpy.path.abspath(obj.sinew_direct.file)))


def given(clip):
    return [(tag.name, tag.start, tag.stop) for tag in clip.tags if not tag.is_proposal]


def test_all_actions_or_those_that_are_named(walker):
    assert OPS.library_build() == {"FINISHED"}
    assert walker.sinew_direct.file == "//sinew/Mannequin.library.npz"
    stored = library_of(walker)
    assert [clip.name for clip in stored.clips] == ["walk_a", "walk_b"]
    assert given(stored.clips[0]) == [("walk", 0, len(stored.clips[0]))]  # both names begin with it
    assert len(stored.library) == 4
    walker.sinew_library.actions = "*_b"
    walker.sinew_library.mirror = False
    assert OPS.library_build() == {"FINISHED"}
    assert [clip.name for clip in library_of(walker).clips] == ["walk_b"]
    assert len(library_of(walker).library) == 1
    walker.sinew_library.actions = "run"
    with refusal("No Action of 'Mannequin' is called 'run'", "Its Actions are: 'walk_a', 'walk_b'"):
        OPS.library_build()
    walker.sinew_library.actions = ""
    bpy.data.actions["walk_b"].sinew_in_library = False
    OPS.library_build()
    assert [clip.name for clip in library_of(walker).clips] == ["walk_a"]
    bpy.data.actions["walk_a"].sinew_in_library = False
    with refusal("No Action of 'Mannequin' is picked for the library", "Pick some"):
        OPS.library_build()


def test_an_action_that_changed_is_noticed_and_only_it_is_prepared(walker, capfd):
    OPS.library_build()
    before = library_of(walker)
    action = bpy.data.actions["walk_b"]
    digests = [digest_action(walker.name, name, 1.0) for name in ("walk_a", "walk_b")]
    curve = actions.curves_of(action, actions.slot_for(action, walker))[0]
    for key in curve.keyframe_points:
        key.co.y += 0.05
    curve.update()
    now = [digest_action(walker.name, name, 1.0) for name in ("walk_a", "walk_b")]
    assert digests[0] == now[0] and digests[1] != now[1]
    capfd.readouterr()
    OPS.library_build()
    assert "1 prepared; changed since: walk_b; 1 as they were" in capfd.readouterr().out
    after = library_of(walker)
    assert after.clips[0].origin.digest == before.clips[0].origin.digest
    assert after.clips[1].origin.digest != before.clips[1].origin.digest
    assert np.array_equal(after.clips[0].local_quat_wxyz, before.clips[0].local_quat_wxyz)
    assert not np.array_equal(after.clips[1].local_pos, before.clips[1].local_pos)


def test_tags_of_markers_come_along_and_move_without_preparing_again(walker):
    OPS.library_build()
    first = library_of(walker).clips[0]
    action_tags.add_action_tag(walker, "stroll", 11, 20)
    markers = walker.animation_data.action.pose_markers
    assert [(marker.name, marker.frame) for marker in markers] == [("stroll", 11), ("stroll end", 20)]
    OPS.library_build()
    stored = library_of(walker)
    assert stored.clips[0].origin.digest == first.origin.digest
    assert given(stored.clips[0]) == [("stroll", 24, 49)]  # frames 10 to 19 of 24 a second
    markers["stroll end"].frame = 30  # moved in the Dope Sheet
    OPS.library_build()
    assert given(library_of(walker).clips[0]) == [("stroll", 24, 74)]


def test_styles_are_proposed_accepted_and_removed(walker):
    assert OPS.library_tag_propose() == {"FINISHED"}
    tags = action_tags.read_action_tags(walker)
    assert [(tag.name, tag.is_proposal) for tag in tags] == [("walk", True)]
    first, last = actions.frame_range(walker.animation_data.action, walker.animation_data.action_slot)
    assert (tags[0].first, tags[0].last) == (first, last)
    OPS.library_tag_propose()  # once more: in place of those before
    assert len(action_tags.read_action_tags(walker)) == 1
    OPS.library_tag_accept()
    assert [marker.name for marker in walker.animation_data.action.pose_markers] == ["walk", "walk end"]
    OPS.library_tag_propose()  # nothing new: that style is given
    assert [tag.is_proposal for tag in action_tags.read_action_tags(walker)] == [False]
    OPS.library_tag_remove(index=0)
    assert not walker.animation_data.action.pose_markers


def test_tags_travel_with_the_action_and_the_file(walker, tmp_path):
    OPS.library_tag_add(name="sneak", first=3, last=9)
    path = str(tmp_path / "copy.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.context.scene.sinew.armature
    assert [(tag.name, tag.first, tag.last) for tag in action_tags.read_action_tags(obj)] == [("sneak", 3, 9)]
    copy = obj.animation_data.action.copy()
    assert [marker.name for marker in copy.pose_markers] == ["sneak", "sneak end"]


def test_the_picture_is_an_image_of_the_file(walker):
    OPS.library_build()
    assert OPS.library_picture() == {"FINISHED"}
    image = bpy.data.images["Mannequin library"]
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    assert image.packed_file is not None
    assert tuple(image.preview.image_size) == tuple(image.size)  # as sharp in the panel
    assert len(np.unique((pixels.reshape(-1, 4)[:, :3] * 255).round(), axis=0)) > 4


def test_a_library_that_is_damaged_is_left_and_another_is_made(walker):
    OPS.library_build()
    path = Path(bpy.path.abspath(walker.sinew_direct.file))
    path.write_bytes(path.read_bytes()[:1000])
    OPS.library_build()
    assert len(path.read_bytes()) == 1000
    assert walker.sinew_direct.file == "//sinew/Mannequin-2.library.npz"
    assert len(library_of(walker).clips) == 2


def test_a_library_that_was_trained_is_left_and_another_is_made(walker):
    OPS.library_build()
    path = Path(bpy.path.abspath(walker.sinew_direct.file))
    arrays, meta = LIBRARY_FILE.read_content(path)
    LIBRARY_FILE.write_content(path, arrays, {**meta, "controller": {}})
    before = path.read_bytes()
    OPS.library_build()
    assert path.read_bytes() == before and walker.sinew_direct.file == "//sinew/Mannequin-2.library.npz"


def test_each_verb_is_one_step(walker):
    bpy.ops.ed.undo_push(message="Original")
    bpy.ops.ed.undo_push(message="Scene")
    one_step("library_build")
    one_step("library_picture")
    one_step("library_tag_propose")


def test_the_list_offers_what_could_move_the_character(walker):
    bpy.data.actions.new("of nobody")
    names = [action.name for action in bpy.data.actions]

    def offered(letters):
        own = SimpleNamespace(filter_name=letters, bitflag_filter_item=4)
        flags, order = SINEW_UL_library_actions.filter_items(own, bpy.context, bpy.data, "actions")
        assert order == []
        return [name for name, flag in zip(names, flags, strict=True) if flag]

    assert offered("") == ["walk_a", "walk_b"]
    assert offered("*_b") == ["walk_b"]


def test_the_panel_shows_tags_the_library_and_what_is_wrong(walker):
    drawn = draw_wide(SINEW_PT_library, SkillsLayout)
    assert "Styles of 'walk_a'" in drawn.text
    assert "library_picture" not in drawn.idnames and "library_build" in drawn.idnames
    assert {"walk_a", "walk_b"} <= set(drawn.texts) and "sinew_in_library" in drawn.props
    markers = walker.animation_data.action.pose_markers
    for name, frame in (("idle?", 3), ("idle? end", 8), ("walk", 12)):
        markers.new(name).frame = frame
    drawn = draw_wide(SINEW_PT_library, SkillsLayout)
    assert [text for text in drawn.texts if text][1:5] == ["idle?", "3 to 8", "walk", "12 to the end"]
    assert drawn.idnames.count("library_tag_accept") == 2  # that one, and all
    assert [button.index for button in drawn.buttons if button.idname == "sinew.library_tag_remove"] == [0, 1]
    walker.sinew_library.actions = "run"
    with refusal("is called 'run'"):
        OPS.library_build()
    assert "No Action of 'Mannequin' is called 'run'" in draw_wide(SINEW_PT_library, SkillsLayout).text
    walker.sinew_library.actions = ""
    OPS.library_build()
    drawn = draw_wide(SINEW_PT_library, SkillsLayout)
    assert "library_picture" in drawn.idnames and "is called" not in drawn.text


def test_an_action_with_markers_without_end_costs_a_line(walker):
    markers = walker.animation_data.action.pose_markers
    for number in range(limits.MARKERS + 5):
        markers.new(f"m{number}").frame = number
    began = time.monotonic()
    for _ in range(20):
        assert len(action_tags.read_action_tags(walker)) == limits.MARKERS
    assert time.monotonic() - began < 2.0, "0.1 s a draw at most, on a busy machine"
    said = f"Only {limits.MARKERS} of {limits.MARKERS + 5} pose markers are read"
    assert said in draw_wide(SINEW_PT_library, SkillsLayout).text
    for verb in (OPS.library_build, OPS.library_tag_propose, OPS.library_tag_remove):
        with pytest.raises(RuntimeError, match="pose markers, and at most"):
            verb()
