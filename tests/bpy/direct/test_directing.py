# SPDX-License-Identifier: GPL-3.0-or-later
"""Directing in Blender: the armature says where to go, how fast and which way to face, and the button bakes that."""

import bpy
import numpy as np
import pytest

from directed_walks import make_walks
from sinew.bridge import mannequin
from sinew.bridge.direct.wishes import DirectRequest, read_wish
from sinew.bridge.methods.adapters import get_adapter
from sinew.bridge.methods.job_inputs import read_beginning
from sinew.bridge.scene.time_slicing import run_all_slices
from sinew.core import jobs
from sinew.core.control.tracking.facing import upright_rotation
from sinew.core.control.tracking_policy.learned_file import DIRECTED
from sinew.panels.direct import SINEW_PT_direct

from ..helpers.interface import hero, refusal, tick_to_end
from ..helpers.panel_drawing import SkillsLayout, draw_wide


@pytest.fixture(scope="module")
def walks():
    return make_walks()


@pytest.fixture
def walker(addon, walks, tmp_path):
    """A mannequin with the library of the walks, chosen in the panel, without physics, for two seconds."""
    DIRECTED.write_content(tmp_path / "walks.library.npz", *walks[0].to_arrays())
    obj = mannequin.build(bpy.context.scene)
    scene = bpy.context.scene
    scene.sinew.armature = obj
    scene.sinew.methods.direct_bake.physics = False
    own = obj.sinew_direct
    own.file, own.seconds, own.speed, own.style = str(tmp_path / "walks.library.npz"), 2.0, 1.05, "walk"
    return obj


def straight(name="Way", points=((0, 0, 0), (6, 0, 0))):
    """A curve of straight pieces."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(len(points) - 1)
    for point, place in zip(spline.points, points, strict=True):
        point.co = (*place, 1.0)
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def empty(name, *places):
    """An empty that goes from the first place to the others, a second each."""
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = (*places[0], 0.0)
    for number, place in enumerate(places if len(places) > 1 else ()):
        obj.location = (*place, 0.0)
        obj.keyframe_insert("location", frame=1 + 24 * number)
    return obj


def bake():
    """Press the button and wait; gives where the pelvis is, frame by frame (T, 2)."""
    assert bpy.ops.sinew.direct_bake("EXEC_DEFAULT", True) == {"FINISHED"}
    assert tick_to_end().state == "done"
    scene, obj = bpy.context.scene, bpy.context.scene.sinew.armature
    first, last = (int(frame) for frame in obj.animation_data.action.frame_range)
    found = []
    for frame in range(first, last + 1):
        scene.frame_set(frame)
        found.append((obj.matrix_world @ obj.pose.bones["pelvis"].matrix).translation[:2])
    return np.array(found), (first, last)


def test_a_curve_is_gone_along_and_the_take_is_a_take(walker):
    walker.sinew_direct.curve, walker.sinew_direct.frame_start = straight(), 11
    way, frames = bake()
    assert frames == (11, 59) and walker.animation_data.action.name == "Mannequin directed"
    assert np.linalg.norm(way[0]) < 0.1 and way[-1][0] == pytest.approx(2.1, abs=0.3)
    assert walker.sinew_takes[0].action == walker.animation_data.action


def test_an_object_is_gone_after_from_where_the_character_stands(walker):
    walker.location = (1.0, 1.0, 0.0)
    walker.sinew_direct.way, walker.sinew_direct.target = "OBJECT", empty("Ball", (1.0, -5.0))
    way, _ = bake()
    assert np.linalg.norm(way[0] - [1.0, 1.0]) < 0.15 and way[-1][1] < -0.2


def read(walks, obj, **words):
    """The wish of the scene."""
    request = DirectRequest(armature=obj.name, seconds=2.0, **words)
    rig = run_all_slices(read_beginning(request))
    root = (walks[1].skeleton.index("pelvis"), upright_rotation(walks[1]))
    return run_all_slices(read_wish(bpy.context.scene, request, rig, root, float("inf")))


def test_what_is_keyed_and_what_moves_is_read_frame_by_frame(walker, walks):
    own = walker.sinew_direct
    for frame, speed, heading in ((1, 0.0, 0.0), (25, 1.0, 1.5)):
        own.speed, own.heading = speed, heading
        own.keyframe_insert("speed", frame=frame)
        own.keyframe_insert("heading", frame=frame)
    empty("Ball", (0.0, 0.0), (4.0, 0.0))
    wish = read(walks, walker, target="Ball", look_at="Ball", facing="KEYED")
    assert len(wish) == 121 and wish.speed_m_s[0] == 0.0 and wish.speed_m_s[90] == pytest.approx(1.0)
    assert 0.2 < wish.speed_m_s[30] < 0.8 and wish.heading[-1] == pytest.approx(1.5)
    assert wish.goal[0, 0] == pytest.approx(0.0, abs=1e-6) and wish.goal[60, 0] == pytest.approx(4.0)
    assert wish.look_at is None and wish.path is None
    assert bpy.context.scene.frame_current == 1
    facing = read(walks, walker, points=((0, 0), (3, 0)), look_at="Ball", facing="OBJECT", speed_m_s=0.5)
    assert facing.look_at.shape == (121, 2) and facing.heading is None and (facing.speed_m_s == 0.5).all()
    with pytest.raises(Exception, match="There is no object 'Nobody'"):
        read(walks, walker, target="Nobody")


def test_another_skeleton_is_refused_before_there_is_a_job(walker):
    obj = hero()
    obj.sinew_direct.file = walker.sinew_direct.file
    obj.sinew_direct.curve = straight()
    with refusal("The library is of another skeleton than that of 'Hero'", "build one for it"):
        bpy.ops.sinew.direct_bake("EXEC_DEFAULT", True)
    assert "another skeleton" in str(get_adapter("direct").problem_of("Hero")) and jobs.all_jobs() == []


def test_the_panel_says_what_is_missing_and_draws_what_there_is(walker):
    page = draw_wide(SINEW_PT_direct, SkillsLayout)
    assert "Styles: fast, idle, start, turn, walk" in page.text and "No curve is chosen" in page.text
    assert not bpy.ops.sinew.direct_bake.poll() and "look_at" not in page.props
    walker.sinew_direct.curve = straight()
    walker.sinew_direct.facing = "OBJECT"
    page = draw_wide(SINEW_PT_direct, SkillsLayout)
    assert "look_at" in page.props and "No object to face is chosen" in page.text
    walker.sinew_direct.facing = "KEYED"
    page = draw_wide(SINEW_PT_direct, SkillsLayout)
    assert "heading" in page.props and bpy.ops.sinew.direct_bake.poll()
    walker.sinew_direct.file = ""
    assert "direct_bake" not in draw_wide(SINEW_PT_direct, SkillsLayout).idnames
