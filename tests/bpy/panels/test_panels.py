# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels draw every state without work, name only what exists, and mirror the methods' settings."""

import dataclasses

import blf
import bpy
import pytest

from sinew.bridge.jobs import notices, requests, scene_request
from sinew.bridge.scene import settings_groups
from sinew.bridge.takes.report_texts import time_text
from sinew.core.control import registry
from sinew.core.errors import RigError
from sinew.core.settings import Settings, setting
from sinew.panels import drawing, simulate

from ..helpers.interface import hero
from ..helpers.panel_drawing import Page, show
from ..helpers.rigs import arm


def test_an_empty_scene_says_what_to_do(addon):
    page = Page()
    assert "Select an armature" in page.text and "Choose an armature" in page.text and "No jobs yet" in page.text


def test_the_active_armature_is_offered_in_one_click(addon):
    arm("Hero")
    assert Page().button("sinew.pick_selected").text == "Use 'Hero'"
    bpy.ops.sinew.pick_selected()
    assert "'Hero' has no Action: choose one" in Page().text


def test_what_keeps_the_button_grey_is_written_above_it(addon):
    hero()
    assert scene_request.why_no_request(bpy.context.scene) == "" and bpy.ops.sinew.simulate.poll()
    bpy.context.scene.sinew.use_range = True
    bpy.context.scene.sinew.frame_end = 0
    assert not bpy.ops.sinew.simulate.poll()
    assert "The frame range is empty" in Page().text


@pytest.fixture
def letters(monkeypatch):
    """Letters that are all six pixels wide: in the background Blender has no fonts."""
    monkeypatch.setattr(blf, "dimensions", lambda font, text: (6.0 * len(text), 11.0))
    drawing._wrapped.cache_clear()
    yield
    drawing._wrapped.cache_clear()


def test_a_long_error_is_wrapped_and_kept_whole(addon, letters):
    hero()
    bpy.context.scene.sinew.show_advanced = True
    path = "/some/very/long/path/without/any/space/in/it/at/all.blend"
    error = RigError(f"Bone 'a' of '{path}' is {'very ' * 20}", "Fix it")
    notices.show_notices(scene_request.request_of(bpy.context.scene), (notices.error(error),))
    page = Page(simulate.SINEW_PT_simulate)
    lines = page.texts[page.texts.index("Units and Engine") + 1 :]
    assert len(lines) > 5
    assert "".join(lines).replace(" ", "") == (error.message + error.hint).replace(" ", "")


def test_a_word_longer_than_the_panel_is_cut_and_never_endless(letters):
    assert drawing._wrapped("of wwwwwwwwwwwwwwww a b", 30.0, 11.0) == ("of", "wwwww", "wwwww", "wwwww", "w a b")
    assert drawing._wrapped("ww", 0.1, 11.0) == ("w", "w")
    assert drawing._wrapped("", 100.0, 11.0) == ()


def test_doubts_come_with_a_button(addon):
    hero()
    doubts = (
        notices.Notice("It falls too fast", "Set it (--fps 60)", fix="frame_rate", value=60.0),
        notices.Notice("It is too tall", "Give --scale 0.01", fix="scale", value=0.01),
    )
    notices.show_notices(scene_request.request_of(bpy.context.scene), doubts)
    page = Page(simulate.SINEW_PT_simulate)
    rate, scale, everything = (button for button in page.buttons if button.idname == "sinew.fix_source")
    assert (rate.text, rate.fix, rate.value) == ("Fix: 60 Frames a Second", "frame_rate", 60.0)
    assert (scale.text, scale.fix, scale.value) == ("Fix: 0.01 Metres a Unit", "scale", 0.01)
    assert everything.text == "Fix All" and not hasattr(everything, "fix")
    assert "too fast" in page.text and "--" not in page.text


def test_a_running_job_has_a_bar_with_the_time_left_and_a_cancel(addon, monkeypatch):
    page = show(monkeypatch, state="running", fraction=0.25, text="25%  ·  8 s left")
    assert page.bars == [(0.25, "25%  ·  8 s left")]
    assert page.button("sinew.cancel").job == "1"
    assert page.button("sinew.resume") is None and page.button("sinew.forget_job") is None


@pytest.mark.parametrize("state", ["created", "cancelled", "failed", "lost"])
def test_what_stopped_can_go_on(addon, monkeypatch, state):
    page = show(monkeypatch, state=state, message="It broke", hint="Mend it", is_error=True)
    assert page.button("sinew.resume").job == "1" and page.button("sinew.forget_job").job == "1"
    assert "It broke" in page.text and "Mend it" in page.text


def test_a_done_job_shows_its_action_or_offers_to_bake_it(addon, monkeypatch):
    bpy.data.actions.new("Wave simulated")
    page = show(monkeypatch, state="done", action="Wave simulated", summary=("Feet slide 0.4 cm/s",))
    assert "Wave simulated" in page.text and page.button("sinew.collect") is None
    assert "Feet slide" not in page.text  # that stands in Takes
    bpy.data.actions.remove(bpy.data.actions["Wave simulated"])
    page = show(monkeypatch, state="done", action="Wave simulated")
    assert page.button("sinew.collect").job == "1"


def test_every_operator_and_class_has_a_tooltip(addon):
    for name in dir(bpy.ops.sinew):
        kind = getattr(bpy.ops.sinew, name).get_rna_type()
        assert kind.description.strip(), name
        for prop in kind.properties:
            assert prop.identifier == "rna_type" or prop.description, f"{name}.{prop.identifier}"


def test_time_left_for_people():
    times = {0: "0 s", 0.2: "1 s", 59: "59 s", 125: "2 min 05 s", 3 * 3600 + 600: "3 h 10 min"}
    assert {seconds: time_text(seconds) for seconds in times} == times


@pytest.mark.parametrize("name", registry.clip_method_names())
def test_a_methods_settings_are_mirrored(addon, name):
    scene = bpy.context.scene
    scene.sinew.method, scene.sinew.show_advanced = name, True
    kind = registry.get_method(name).settings_type
    group = scene_request.method_group(scene)
    for field in dataclasses.fields(kind):
        _check_mirror(group.bl_rna.properties[field.name], field)
    # What the panel holds at first is what the method would use by itself.
    assert kind.from_mapping(scene_request.method_settings(scene)) == kind()
    if hasattr(group, "bones"):
        group.bones = "left_arm"  # how soft they are is asked only where some are chosen
    assert set(Page(simulate.SINEW_PT_simulate).props) >= {field.name for field in dataclasses.fields(kind)}


@dataclasses.dataclass(frozen=True)
class Everything(Settings):
    """One of each kind."""

    flag: bool = setting(True, "Flag", "A flag")
    count: int = setting(3, "Count", "A count", minimum=1, maximum=9)
    free: int = setting(-5, "Free", "A number without limits")
    gain: float = setting(0.1, "Gain", "A gain", minimum=0.1, maximum=0.3)
    angle: float = setting(0.5, "Angle", "An angle", unit="rad")
    pause: float = setting(0.5, "Pause", "A pause", minimum=0.0, unit="s")
    reach: float = setting(0.7, "Reach", "A length", unit="m")
    style: str = setting("b", "Style", "A style", choices=[("a", "A", "First"), ("b", "B", "Second")])
    note: str = setting("x", "Note", "A text")


@pytest.fixture
def everything():
    """A property group made from ``Everything``, on scenes."""
    group = settings_groups.settings_group("SINEW_PG_everything", Everything)
    bpy.utils.register_class(group)
    bpy.types.Scene.everything = bpy.props.PointerProperty(type=group)
    yield bpy.context.scene.everything
    del bpy.types.Scene.everything
    bpy.utils.unregister_class(group)


def test_every_kind_of_setting_has_its_property(scene, everything):
    for field in dataclasses.fields(Everything):
        _check_mirror(everything.bl_rna.properties[field.name], field)
    rna = everything.bl_rna.properties
    assert (rna["angle"].unit, rna["pause"].unit) == ("ROTATION", "TIME_ABSOLUTE")
    # Metres are metres whatever the scene's unit scale, so Blender's own length unit would be wrong.
    assert (rna["reach"].unit, rna["reach"].name) == ("NONE", "Reach (m)")
    assert [item.identifier for item in rna["style"].enum_items] == ["a", "b"]
    assert settings_groups.plain_values(everything, Everything) == Everything().to_mapping()


def test_values_at_their_limits_are_still_valid(scene, everything):
    everything.gain = 5.0
    everything.count = -5
    values = Everything.from_mapping(settings_groups.plain_values(everything, Everything))
    assert (values.gain, values.count) == (0.3, 1)


def _check_mirror(prop, field):
    meta = field.metadata
    assert prop.name.startswith(meta["label"]) and prop.description == meta["help"]
    wanted = pytest.approx(field.default) if isinstance(field.default, float) else field.default
    assert prop.default == wanted
    if meta["minimum"] is not None:
        assert prop.hard_min == pytest.approx(meta["minimum"])
    if meta["maximum"] is not None:
        assert prop.hard_max == pytest.approx(meta["maximum"])


def test_a_choice_keeps_its_number_when_the_list_grows():
    few = settings_groups.enum_items([("a", "A", ""), ("b", "B", "")])
    more = settings_groups.enum_items([("z", "Z", ""), ("b", "B", ""), ("a", "A", "")])
    assert {item[0]: item[3] for item in few}.items() <= {item[0]: item[3] for item in more}.items()


def test_the_request_is_what_the_panel_says(addon):
    hero()
    chosen = bpy.context.scene.sinew
    chosen.engine, chosen.seed, chosen.place, chosen.true_fps, chosen.scale = "bullet", 7, "NLA", 59.94, 0.01
    chosen.use_range, chosen.frame_start, chosen.frame_end = True, 3, 12
    chosen.methods.passthrough.pause_s = 0.1
    assert scene_request.request_of(bpy.context.scene) == requests.Request(
        armature="Hero",
        action="Wave",
        method="passthrough",
        settings={"chunk_frames": 30, "pause_s": 0.1},
        engine="bullet",
        seed=7,
        frames=(3, 12),
        true_fps=59.94,
        scale=0.01,
        place="NLA",
    )


def test_a_range_can_keep_the_rest_and_bones_can_be_chosen(addon):
    obj = hero()
    chosen = bpy.context.scene.sinew
    chosen.method, chosen.use_range, chosen.frame_start, chosen.frame_end = "sampling", True, 3, 12
    assert scene_request.request_of(bpy.context.scene).fade_s is None
    chosen.keep_rest, chosen.fade_s = True, 0.5
    assert scene_request.request_of(bpy.context.scene).fade_s == 0.5
    page = Page(simulate.SINEW_PT_simulate)
    assert "Part of It" in page.texts and "fade_s" in page.props and "softness" not in page.props
    for bone in obj.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "bone1"
    assert bpy.ops.sinew.choose_part(part="SELECTED") == {"FINISHED"}
    assert scene_request.request_of(bpy.context.scene).settings["bones"] == "bone1"
    bpy.ops.sinew.choose_part(part="left_arm")
    assert scene_request.request_of(bpy.context.scene).settings["bones"] == "left_arm"
    assert "softness" in Page(simulate.SINEW_PT_simulate).props
    bpy.ops.sinew.choose_part(part="WHOLE")
    assert scene_request.request_of(bpy.context.scene).settings["bones"] == ""
