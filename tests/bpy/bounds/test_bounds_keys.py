# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds on the armature: what is keyed arrives frame by frame, what nothing is within is refused, and undo works."""

from pathlib import Path

import bpy
import numpy as np
import pytest

from sinew.bridge.bounds import painting, training
from sinew.bridge.bounds.reading import read_widths
from sinew.bridge.jobs import requests
from sinew.bridge.jobs.preparing import do_at_once
from sinew.bridge.methods.adapters import get_adapter
from sinew.bridge.rig import actions
from sinew.bridge.scene.time_slicing import run_all_slices
from sinew.core.control.bounds.bounds import BOUNDS, Bounds, bound_names, bounds_of_preset
from sinew.core.control.bounds.presets import bounds_preset, bounds_presets
from sinew.core.control.character import BODY
from sinew.core.errors import BoundsError
from sinew.core.motion.io import stock

from ...stock_clips import needs_stock
from ..helpers.interface import refusal
from ..helpers.keyframes import key
from ..helpers.rigs import wave
from ..helpers.skilled_mannequin import mannequin
from ..helpers.training_jobs import create_training

pytestmark = needs_stock


@pytest.fixture
def walker(addon):
    """The mannequin, which the stock walk moves, chosen in the panel; tables give it its body."""
    obj = mannequin("walk")
    obj.sinew_body.use_mesh = False
    return obj


def asked(obj):
    """What the panel asks for, and the motion."""
    request = get_adapter("bounds").train_request(bpy.context.scene, obj)
    return request, requests.read(request)


def bounds_in(job) -> Bounds:
    """The bounds that travel with a job."""
    arrays, meta = job.attachment(BOUNDS)
    return Bounds(tuple(meta["names"]), arrays["widths"])


def bounds_now(obj) -> Bounds:
    request, rig = asked(obj)
    inputs = requests.inputs_of(request, rig)
    return do_at_once(lambda own: training.read_bounds(own, request, rig, inputs.attachments[BODY]))


def factors(obj):
    """What the Action says of the room, as (frame, value)."""
    curve = painting.curve_of(obj, "sinew_bounds.factor")
    return [] if curve is None else [tuple(point.co) for point in curve.keyframe_points]


def paint(verb="loosen", **words):
    return getattr(bpy.ops.sinew, f"bounds_{verb}")("EXEC_DEFAULT", True, **words)


def test_bounds_that_are_not_keyed_are_one_row_and_those_of_the_preset(walker):
    found = bounds_now(walker)
    assert found.widths.shape[0] == 1
    assert np.all(found.widths[0, :3] == pytest.approx(0.2))
    assert found.widths[0, found.names.index("joint thigh.L")] == pytest.approx(0.7)
    assert found.widths[0, found.names.index("effector forearm.R")] == pytest.approx(0.5)


def test_keyed_bounds_travel_with_the_job_frame_by_frame(walker):
    key(walker, "sinew_bounds.com", (1, 0.3), (11, 0.1), index=2)
    walker.sinew_bounds.use_root = True
    walker.keyframe_insert("sinew_bounds.use_root", frame=1)
    walker.sinew_bounds.use_root = False
    walker.keyframe_insert("sinew_bounds.use_root", frame=20)
    request, rig = asked(walker)
    found = bounds_in(create_training(request, rig))
    assert found.widths.shape == (len(rig.clip), len(found.names))
    column = found.names.index("com z")
    assert found.widths[:11, column] == pytest.approx(np.linspace(0.3, 0.1, 11), abs=1e-6)
    assert found.widths[11:, column] == pytest.approx(0.1)
    root = found.widths[:, found.names.index("root")]
    assert np.isfinite(root[:19]).all() and np.isinf(root[19:]).all()
    assert found.widths[:, 0] == pytest.approx(0.2)


def test_single_parts_go_before_all_and_single_bones_before_parts(walker):
    own = walker.sinew_bounds
    own.use_joints = False
    for part, bone, angle in (("foot", "", 0.4), ("BONE", "foot.L", 0.2)):
        row = walker.sinew_bound_parts.add()
        row.part, row.bone, row.angle = part, bone, angle
    row = walker.sinew_bound_parts.add()
    row.kind, row.part, row.use = "EFFECTOR", "forearm", False
    key(walker, "sinew_bound_parts[0].angle", (1, 0.4), (31, 0.1))
    found = bounds_now(walker)
    at = {name: found.widths[:, found.names.index(name)] for name in found.names}
    assert at["joint foot.R"] == pytest.approx(np.interp(np.arange(len(at["root"])), [0, 30], [0.4, 0.1]), abs=1e-6)
    assert at["joint foot.L"] == pytest.approx(0.2)
    assert np.isinf(at["joint thigh.L"]).all() and np.isinf(at["effector forearm.L"]).all()
    assert at["effector foot.L"] == pytest.approx(0.5)


def test_room_is_a_factor_on_all_of_them(walker):
    key(walker, "sinew_bounds.factor", (1, 1.0), (21, 3.0))
    found = bounds_now(walker)
    assert found.widths[10] == pytest.approx(2.0 * found.widths[0])


@pytest.mark.parametrize("frame", [-3, 400])
def test_keys_outside_of_the_motion_are_refused_by_name(walker, frame):
    key(walker, "sinew_bounds.com", (5, 0.2), (frame, 0.1), index=1)
    action = walker.animation_data.action
    last = len(stock.load_stock("walk"))
    assert actions.frame_range(action, actions.slot_for(action, walker)) == (1, last)
    with pytest.raises(BoundsError, match=rf"'Centre of Mass Y' has a key at frame {frame}, .* frames 1 to {last}"):
        create_training(*asked(walker))
    with refusal(f"has a key at frame {frame}"):
        bpy.ops.sinew.bounds_train()


def test_bounds_that_nothing_is_within_are_refused_with_their_frame(walker):
    key(walker, "sinew_bounds.root", (1, 0.5), (11, 0.0))
    with pytest.raises(BoundsError, match=r"'Root' of 'Mannequin' is 0 wide at frame 11"):
        create_training(*asked(walker))
    painting.clear_bound_keys(walker)
    walker.sinew_bounds.root = 0.5
    walker.sinew_bounds.factor = 0.0
    with pytest.raises(BoundsError, match=r"'Centre of Mass X' of 'Mannequin' is 0 wide: nothing is within it"):
        create_training(*asked(walker))


def test_a_character_that_is_held_by_nothing_is_refused(walker):
    own = walker.sinew_bounds
    own.use_com = (False, False, False)
    own.use_root = own.use_joints = own.use_effectors = False
    with pytest.raises(BoundsError, match="All bounds of 'Mannequin' are off"):
        create_training(*asked(walker))


def test_a_bone_that_has_no_such_bound_is_refused_by_name(walker):
    row = walker.sinew_bound_parts.add()
    row.kind, row.part, row.bone = "EFFECTOR", "BONE", "thigh.L"
    with pytest.raises(BoundsError, match=r"'thigh.L' is no end effector .*foot\.L"):
        create_training(*asked(walker))


def test_what_another_action_has_painted_does_not_count(walker):
    walk = walker.animation_data.action
    wave(walker, "Other")
    key(walker, "sinew_bounds.factor", (1, 5.0), (20, 5.0))
    bpy.context.scene.frame_set(7)
    assert walker.sinew_bounds.factor == pytest.approx(5.0)
    rig = requests.read(requests.Request(walker.name, action=walk.name))
    assert run_all_slices(read_widths(walker, rig, walk))[0, 0] == pytest.approx(0.2)


def test_shipped_presets_are_those_of_the_command_line_and_can_be_undone(walker):
    bpy.ops.ed.undo_push(message="before")
    (folder,) = bpy.utils.preset_paths("sinew/bounds")
    files = {path.stem.lower(): path for path in Path(folder).glob("*.py")}
    assert set(files) == set(bounds_presets())
    body, _ = _body(walker)
    for name in bounds_presets():
        assert bpy.ops.sinew.bounds_preset("EXEC_DEFAULT", True, filepath=str(files[name])) == {"FINISHED"}
        obj = bpy.data.objects["Mannequin"]
        wanted = bounds_of_preset(body, bounds_preset(name))
        found = bounds_now(obj)
        assert found.names == wanted.names == bound_names(body)
        np.testing.assert_allclose(found.widths, wanted.widths, rtol=1e-6, err_msg=name)
    assert bpy.data.objects["Mannequin"].sinew_bounds.root == pytest.approx(0.35)  # tight is the last of them
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Mannequin"]
    assert obj.sinew_bounds.root == pytest.approx(0.7) and len(obj.sinew_bound_parts) == 3


def _body(obj):
    from sinew.core.body.build import build_body

    clip = requests.read(requests.Request(obj.name)).clip
    return build_body(clip.skeleton, clip=clip)


def test_bounds_can_be_kept_as_a_preset_with_their_parts(walker, tmp_path, monkeypatch):
    monkeypatch.setenv("BLENDER_USER_SCRIPTS", str(tmp_path))
    walker.sinew_bounds.com = (0.11, 0.22, 0.33)
    row = walker.sinew_bound_parts.add()
    row.part, row.angle = "shin", 0.25
    assert bpy.ops.sinew.bounds_preset_add(name="My Bounds") == {"FINISHED"}
    (kept,) = tmp_path.rglob("*.py")
    assert kept.relative_to(tmp_path) == Path("presets", "sinew", "bounds", "My_Bounds.py")
    walker.sinew_bounds.com = (0.5, 0.5, 0.5)
    walker.sinew_bound_parts.clear()
    bpy.ops.sinew.bounds_preset(filepath=str(kept))
    assert tuple(walker.sinew_bounds.com) == pytest.approx((0.11, 0.22, 0.33))
    assert [(row.part, round(row.angle, 3)) for row in walker.sinew_bound_parts] == [("shin", 0.25)]


def test_loosening_eases_in_and_out_and_is_one_undo_step(walker):
    bpy.context.scene.frame_set(20)
    bpy.ops.ed.undo_push(message="before")
    assert paint(amount=2.0, frames=8) == {"FINISHED"}
    obj = bpy.data.objects["Mannequin"]
    assert factors(obj) == [(12.0, 1.0), (20.0, 2.0), (28.0, 1.0)]
    assert obj.sinew_bounds.factor == pytest.approx(2.0)
    curve = painting.curve_of(obj, "sinew_bounds.factor")
    steps = np.diff([curve.evaluate(frame) for frame in range(12, 21)])
    assert np.all(steps > 0.0) and steps[0] < 0.5 * steps[3] and steps[-1] < 0.5 * steps[3]
    widths = bounds_now(obj).widths
    assert widths[19] == pytest.approx(2.0 * widths[0]) and widths[30] == pytest.approx(widths[0])
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Mannequin"]
    assert factors(obj) == [] and obj.sinew_bounds.factor == 1.0
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Mannequin"]
    assert factors(obj) == [(12.0, 1.0), (20.0, 2.0), (28.0, 1.0)]


def test_painting_twice_adds_up_and_stays_within_the_motion(walker):
    bpy.context.scene.frame_set(3)
    paint(amount=2.0, frames=8)
    paint("tighten", amount=4.0, frames=8)
    found = factors(walker)
    assert found[0][0] == 1.0 and found[-1] == (11.0, 1.0)
    assert dict(found)[3.0] == pytest.approx(0.5)
    assert 0.5 < dict(found)[1.0] < 1.0
    create_training(*asked(walker))


def test_one_kind_of_bound_is_painted_alone_and_keys_are_cleared(walker):
    bpy.context.scene.frame_set(15)
    paint("tighten", amount=2.0, frames=5, what="COM")
    found = bounds_now(walker)
    assert found.widths[14, :3] == pytest.approx(0.1)
    assert found.widths[14, 3] == pytest.approx(0.7)
    assert bpy.ops.sinew.bounds_clear_keys() == {"FINISHED"}
    assert not painting.is_keyed(walker) and not bpy.ops.sinew.bounds_clear_keys.poll()
    assert len(actions.curves_of(walker.animation_data.action, walker.animation_data.action_slot)) > 10


@pytest.mark.parametrize("frame", [0, 300])
def test_nothing_is_painted_outside_of_the_motion(walker, frame):
    bpy.context.scene.frame_set(frame)
    assert not bpy.ops.sinew.bounds_loosen.poll()
    assert f"Frame {frame} is outside of Action 'walk'" in painting.why_not(walker, frame)


def test_keys_follow_their_part_when_another_one_goes(walker):
    for part in ("foot", "shin", "hand"):
        bpy.ops.sinew.bounds_part_add()
        walker.sinew_bound_parts[-1].part = part
    for index, value in enumerate((0.1, 0.2, 0.3)):
        key(walker, f"sinew_bound_parts[{index}].angle", (1, value))
    walker.sinew_bound_part_index = 1
    assert bpy.ops.sinew.bounds_part_remove() == {"FINISHED"}
    assert [row.part for row in walker.sinew_bound_parts] == ["foot", "hand"]
    found = [painting.curve_of(walker, f"sinew_bound_parts[{index}].angle") for index in range(3)]
    assert [curve.evaluate(1) for curve in found[:2]] == pytest.approx([0.1, 0.3]) and found[2] is None
