# SPDX-License-Identifier: GPL-3.0-or-later
"""The Bounds panel reads in the order of work, names only what exists, and says why not; the viewport shows bounds."""

import dataclasses

import bpy
import numpy as np
import pytest

from sinew.bridge.body import fitted_bodies
from sinew.bridge.jobs import monitor
from sinew.bridge.jobs.job_views import JobView
from sinew.bridge.methods.adapters import get_adapter
from sinew.bridge.overlay.draw_list import BOX, DrawList
from sinew.bridge.overlay.layers.bounds import draw_bounds
from sinew.bridge.setup import readiness
from sinew.core.control import registry
from sinew.core.errors import BoundsError
from sinew.core.learn.requirement import missing_package_error
from sinew.panels import bounds as panel

from ...stock_clips import needs_stock
from ..helpers.interface import hero
from ..helpers.overlay_scenes import frame_state_now
from ..helpers.panel_drawing import SkillsLayout, draw_wide
from ..helpers.skilled_mannequin import mannequin


class BoundsLayout(SkillsLayout):
    """A layout with components of vectors."""

    def prop(self, data, name, text=None, icon="NONE", emboss=True, placeholder="", index=-1, toggle=False):
        assert index < 0 or data.bl_rna.properties[name].array_length > index
        super().prop(data, name, text=text, icon=icon)


@pytest.fixture(autouse=True)
def _ready(monkeypatch):
    """Whoever asks is told at once that torch is there."""
    monkeypatch.setattr(readiness, "lacks_learning", lambda: None)


def drawn():
    """What the panel drew."""
    return draw_wide(panel.SINEW_PT_bounds, BoundsLayout)


def test_an_empty_scene_says_what_to_do(addon):
    assert drawn().texts == ["Choose an armature"]
    assert not bpy.ops.sinew.bounds_train.poll() and not bpy.ops.sinew.bounds_loosen.poll()


def test_it_reads_in_the_order_of_work(addon):
    obj = hero()
    bpy.context.scene.sinew.show_advanced = True
    page = drawn()
    order = ["com", "root", "joints", "effectors", "factor", "paint_amount", "bounds", "millions", "seed", "file"]
    assert [page.props.index(name) for name in order] == sorted(page.props.index(name) for name in order)
    verbs = ["bounds_part_add", "bounds_loosen", "bounds_tighten", "bounds_clear_keys", "bounds_train"]
    assert [name for name in page.idnames if name in verbs] == verbs
    assert "bounds_bake" not in page.idnames
    row = obj.sinew_bound_parts.add()
    row.part, row.bone = "BONE", "bone1"
    page = drawn()
    assert "Single Parts (1)" in page.text and "bone" in page.props and "angle" in page.props
    row.kind = "EFFECTOR"
    assert "reach" in drawn().props
    for kind in (type(obj.sinew_bounds), type(row)):
        assert all(prop.description for prop in kind.bl_rna.properties if prop.identifier not in ("rna_type", "name"))


def test_what_is_painted_is_what_the_panel_says(addon):
    obj = hero()
    obj.sinew_bounds.paint_amount, obj.sinew_bounds.paint_frames = 3.0, 4
    (button,) = (button for button in drawn().buttons if button.idname == "sinew.bounds_loosen")
    assert (button.amount, button.frames) == (3.0, 4)


def test_the_settings_of_training_are_mirrored(addon):
    obj = hero()
    kind = registry.get_method("bounds_train").settings_type
    request = get_adapter("bounds").train_request(bpy.context.scene, obj)
    assert kind.from_mapping(request.settings) == kind()
    # The preset is in the panel's header, and what is keyed goes before it.
    bpy.context.scene.sinew.methods.bounds_train.style = "manner"
    bpy.context.scene.sinew.show_advanced = True
    page = drawn()
    assert {field.name for field in dataclasses.fields(kind)} - {"bounds"} <= set(page.props)
    assert {"manner", "begin"} <= set(page.props)


def test_what_is_missing_for_training_is_said_and_all_else_works(addon, monkeypatch):
    hero()
    monkeypatch.setattr(readiness, "lacks_learning", lambda: missing_package_error("/a/python", "torch"))
    page = drawn()
    assert "Training needs torch" in page.text and "/a/python -m pip install torch" in page.text
    assert "bounds_train" in page.idnames


def test_training_shows_its_curves_and_can_go_on(addon, monkeypatch):
    hero()
    curves = (("lives_s", (0.5, 1.0, 4.25)), ("lasts", (0.25, 0.5)), ("kl", (0.1,)))
    view = JobView(
        "7", "Hero: Wave", "Train", "running", "42 %", 0.42, armature="Hero", method_name="bounds_train", curves=curves
    )
    monkeypatch.setattr(monitor, "watched_jobs", lambda: [view])
    page = drawn()
    assert page.bars == [(0.42, "42 %")] and "bounds_train" not in page.idnames
    assert {"cancel", "bounds_finish"} <= set(page.idnames)
    assert "rehearsal" in page.props and "show" in page.props  # the overlay is off
    assert "Lasts: 50%" in page.text and "Stays up: 4.2 s" in page.text and "kl" not in page.text.lower()
    assert not bpy.ops.sinew.bounds_train.poll()
    monkeypatch.setattr(monitor, "watched_jobs", lambda: [dataclasses.replace(view, state="cancelled")])
    page = drawn()
    (resume,) = (button for button in page.buttons if button.idname == "sinew.resume")
    assert (resume.text, resume.job) == ("Go On From 42%", "7") and "bounds_train" in page.idnames


def test_an_error_stands_in_the_panel_until_something_goes_well(addon):
    hero()
    get_adapter("bounds").say("Hero", BoundsError("Nothing is within", "Make it wider"))
    assert "Nothing is within" in drawn().text and "Make it wider" in drawn().text
    bpy.ops.sinew.bounds_part_add()
    assert "Nothing is within" not in drawn().text


@needs_stock
def test_the_viewport_shows_bounds_around_the_motion_as_wide_as_they_are_now(addon):
    obj = mannequin("walk")
    obj.sinew_body.use_mesh = False
    scene = bpy.context.scene
    own = obj.sinew_bounds
    own.com, own.use_joints = (0.1, 0.2, 0.3), False
    fitted_bodies.fit_now(scene, obj)

    def seen():
        found = DrawList()
        draw_bounds(frame_state_now(), found)
        return found

    found = seen()
    (box,) = (solids for solids in found.solids if solids.sizes[0, 3] == BOX)
    assert box.sizes[0, :3] == pytest.approx((0.1, 0.2, 0.3))
    (shown,) = frame_state_now().characters
    np.testing.assert_allclose(box.places[0, :3, 3], shown.parts.com(shown.pos, shown.axes, shown.metres), atol=1e-5)
    (balls,) = (solids for solids in found.solids if solids.sizes[0, 3] != BOX)
    assert len(balls) == 5 and balls.sizes[:, 0] == pytest.approx(0.5)
    heads = {bone.name: obj.matrix_world @ bone.tail for bone in obj.pose.bones}
    assert np.linalg.norm(balls.places[:, :3, 3] - heads["foot.L"], axis=-1).min() < 1e-4

    own.factor = 2.0
    assert next(solids for solids in seen().solids if solids.sizes[0, 3] == BOX).sizes[0, 0] == pytest.approx(0.2)
    own.use_effectors, own.use_com = False, (False, False, False)
    found = seen()
    assert not found.solids and len(found.lines) == 1  # the root's cone is left
