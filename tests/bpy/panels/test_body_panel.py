# SPDX-License-Identifier: GPL-3.0-or-later
"""The Body panel: what it holds reaches the job, presets fill it in, and nothing of it stays behind."""

from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from sinew.bridge import mannequin
from sinew.bridge.jobs import notices, requests, scene_request
from sinew.core.body.presets import body_presets, gain_presets
from sinew.core.control.character import override_choices
from sinew.core.errors import RigError
from sinew.panels import body as panel

from ..helpers.interface import hero
from ..helpers.panel_drawing import BodyLayout
from ..helpers.rigs import wave


def drawn():
    page = SimpleNamespace(texts=[], props=[], buttons=[], bars=[])
    panel.SINEW_PT_body.draw(SimpleNamespace(layout=BodyLayout(page)), bpy.context)
    return page


@pytest.fixture
def person(addon):
    """The mannequin, which has a mesh, chosen in the panel and moved a little."""
    obj = mannequin.build(bpy.context.scene)
    bone = obj.pose.bones[0]
    bone.keyframe_insert("location", frame=1)
    bone.location.x = 0.01
    bone.keyframe_insert("location", frame=10)
    chosen = bpy.context.scene.sinew
    chosen.armature, chosen.method = obj, "sampling"
    return obj


def job_of(folder):
    request = scene_request.request_of(bpy.context.scene)
    return requests.create_job(request, requests.read(request), folder)


def presets():
    (folder,) = bpy.utils.preset_paths("sinew/body")
    return sorted(Path(folder).glob("*.py"))


def test_a_new_character_has_a_plain_body(person):
    body = person.sinew_body
    assert (body.preset, body.gains, body.mass_kg, body.use_mesh) == ("adult", "athlete", 0.0, True)
    items = body.bl_rna.properties
    assert {item.identifier for item in items["preset"].enum_items} == set(body_presets())
    assert {item.identifier for item in items["gains"].enum_items} == set(gain_presets())


def test_the_panel_draws_everything_with_tooltips(person):
    assert panel.SINEW_PT_body.poll(bpy.context)
    person.sinew_body.overrides.add().name = "pelvis"
    page = drawn()
    assert page.props == ["preset", "gains", "mass_kg", "use_mesh", "name", "role"]
    assert [button.idname for button in page.buttons] == ["sinew.body_override_add", "sinew.body_override_remove"]
    for group in (type(person.sinew_body), type(person.sinew_body.overrides[0])):
        assert all(prop.description for prop in group.bl_rna.properties if prop.identifier != "rna_type")
    assert "DEFAULT_CLOSED" in panel.SINEW_PT_body.bl_options
    bpy.context.scene.sinew.armature = None
    assert not panel.SINEW_PT_body.poll(bpy.context)


def test_bones_are_added_once_and_removed(person):
    assert not bpy.ops.sinew.body_override_add.poll() and not bpy.ops.sinew.body_override_remove.poll()
    body, bones = person.sinew_body, person.data.bones
    for name in ("foot.L", "foot.R", "foot.L"):
        bones.active = bones[name]
        assert bpy.ops.sinew.body_override_add() == {"FINISHED"}
    assert [item.name for item in body.overrides] == ["foot.L", "foot.R"] and body.override_index == 0
    body.override_index = 9
    bpy.ops.sinew.body_override_remove()
    assert [item.name for item in body.overrides] == ["foot.L"] and body.override_index == 0
    bpy.ops.sinew.body_override_remove()
    assert not body.overrides and not bpy.ops.sinew.body_override_remove.poll()


def test_every_role_can_be_chosen(person):
    item = person.sinew_body.overrides.add()
    for value, _, _ in override_choices():
        item.role = value
        assert item.role == value


def test_what_the_panel_says_reaches_the_job(person, tmp_path):
    body = person.sinew_body
    body.preset, body.gains, body.mass_kg = "heavy", "stunts", 90.1
    for bone, role in (("foot.L", "ride"), ("foot.R", "merge"), ("", "pelvis")):
        item = body.overrides.add()
        item.name, item.role = bone, role
    job = job_of(tmp_path / "a")
    overrides = {"foot.L": "ride", "foot.R": "merge"}
    assert job.attachment("body")[1] == {
        "preset": "heavy",
        "gains": "stunts",
        "mass_kg": 90.1,
        "overrides": overrides,
    }
    assert len(job.attachment("mesh")[0]["vertices"]) > 100
    body.use_mesh = False
    assert "mesh.npz" not in job_of(tmp_path / "b").spec.inputs


def test_the_mesh_stands_as_the_skeleton_does_whatever_frame_is_shown(person, tmp_path):
    person.keyframe_insert("rotation_euler", frame=1)
    person.rotation_euler.z = 1.5
    person.keyframe_insert("rotation_euler", frame=10)
    bpy.context.scene.frame_set(10)
    job = job_of(tmp_path / "job")
    mesh = job.attachment("mesh")[0]
    heads, _ = job.clip().skeleton.rest_world()
    for bone, head in enumerate(heads):
        held = mesh["vertices"][mesh["weights"][:, bone] > 0.9]
        assert np.linalg.norm(held.mean(0) - head) < 0.3, job.clip().skeleton.names[bone]
    assert bpy.context.scene.frame_current == 10


def test_a_bone_that_is_gone_is_named(person, tmp_path):
    person.sinew_body.overrides.add().name = "foot.X"
    with pytest.raises(RigError, match=r"no bone 'foot.X'.*Did you mean 'foot"):
        job_of(tmp_path / "job")
    assert not (tmp_path / "job").exists()


def test_an_error_goes_when_the_body_is_changed(person):
    error = notices.error(RigError("Mesh 'Coat' has no weights", "Switch Fit to Mesh off"))
    notices.show_notices(scene_request.request_of(bpy.context.scene), (error,))
    assert notices.of(scene_request.request_of(bpy.context.scene)) == (error,)
    person.sinew_body.use_mesh = False
    assert notices.of(scene_request.request_of(bpy.context.scene)) == ()


def test_a_character_without_a_mesh_gets_its_body_from_tables(addon, tmp_path):
    obj = hero()
    wave(obj)
    bpy.context.scene.sinew.method = "sampling"
    assert set(job_of(tmp_path / "job").spec.inputs) == {"clip.npz", "rig.npz", "body.npz", "stage.npz"}


def test_shipped_presets_fill_in_the_panel(person):
    body = person.sinew_body
    body.overrides.add().name = "pelvis"
    found = {}
    for path in presets():
        body.mass_kg = 12.0
        assert bpy.ops.script.execute_preset(filepath=str(path), menu_idname="SINEW_PT_body_presets") == {"FINISHED"}
        assert body.mass_kg == 0.0
        found[bpy.path.display_name(path.name, title_case=False)] = body.preset, body.gains
    assert found["Adult"] == ("adult", "athlete")
    assert found["Child"] == ("child", "athlete")
    assert found["Heavy"] == ("heavy", "athlete")
    assert found["Adult Stunts"] == ("adult", "stunts")
    assert {build for build, _ in found.values()} == set(body_presets())
    assert {gains for _, gains in found.values()} == set(gain_presets())
    assert len(body.overrides) == 1  # they are of the rig, not of the build


def test_a_body_can_be_kept_as_a_preset(person, tmp_path, monkeypatch):
    monkeypatch.setenv("BLENDER_USER_SCRIPTS", str(tmp_path))
    body = person.sinew_body
    body.preset, body.gains, body.mass_kg = "child", "uniform", 24.5
    assert bpy.ops.sinew.body_preset_add(name="My Kid") == {"FINISHED"}
    (kept,) = tmp_path.rglob("*.py")
    assert kept.relative_to(tmp_path) == Path("presets", "sinew", "body", "My_Kid.py")
    body.preset, body.gains, body.mass_kg = "adult", "stunts", 0.0
    bpy.ops.script.execute_preset(filepath=str(kept), menu_idname="SINEW_PT_body_presets")
    assert (body.preset, body.gains, body.mass_kg) == ("child", "uniform", 24.5)


def test_nothing_stays_behind(addon):
    assert presets()
    assert hasattr(bpy.types.Object, "sinew_body")
    addon.unregister()
    try:
        assert bpy.utils.preset_paths("sinew/body") == []
        assert not hasattr(bpy.types.Object, "sinew_body")
        assert not hasattr(bpy.types, "SINEW_PT_body") and not hasattr(bpy.types, "SINEW_UL_bone_overrides")
    finally:
        addon.register()
    assert presets()
