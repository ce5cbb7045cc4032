# SPDX-License-Identifier: GPL-3.0-or-later
"""A character that is linked from another file: nothing of it can be changed, and the fix is named; an override can."""

import bpy
import pytest

from sinew.bridge.scene.chosen_armature import why_linked
from sinew.panels import character

from ..helpers import linked_characters
from ..helpers.interface import animation, refusal, simulate, tick_to_end
from ..helpers.panel_drawing import Page
from ..helpers.take_making import moved_by, names

OPS = bpy.ops.sinew
FIX = ("'Hero' is linked from another file", "Object > Library Override > Make")
# Everything that would change the character itself.
CHANGES = (
    "body_override_add",
    "body_override_remove",
    "body_part_edit",
    "body_part_mirror",
    "body_part_reset",
    "body_reset",
    "body_preset",
    "body_preset_add",
    "gains_preset",
    "gains_preset_add",
    "bounds_loosen",
    "bounds_tighten",
    "bounds_clear_keys",
    "bounds_part_add",
    "bounds_part_remove",
    "bounds_preset",
    "bounds_preset_add",
    "bounds_train",
    "bounds_styles",
    "bounds_bake",
    "bounds_bring_along",
    "graph_skill_add",
    "graph_skill_add_all",
    "graph_skill_remove",
    "graph_propose",
    "graph_distances",
    "graph_transition_add",
    "graph_transition_remove",
    "graph_learn",
    "graph_bake",
    "graph_bring_along",
    "direct_train",
    "direct_bake",
    "direct_bring_along",
    "respond_train",
)


@pytest.fixture
def linked(addon, tmp_path):
    """'Hero' linked from a file of its own, with two takes."""
    return linked_characters.link(linked_characters.library(tmp_path, takes=2))


def test_what_would_change_it_is_refused_with_the_fix(linked):
    for name in CHANGES:
        with refusal(*FIX):
            getattr(OPS, name)()
    for verb in (OPS.take_show, OPS.take_show_source, OPS.take_compare, OPS.take_to_nla, OPS.take_delete):
        with refusal("linked", "Library Override"):
            verb()
    with refusal("'Hero' is linked from", "Library Override", "copy"):
        OPS.simulate()
    with refusal("'Hero' is linked", "Library Override"):
        OPS.stage_mark(role="CHARACTER")
    assert FIX[0] in Page(character.SINEW_PT_character).text


def test_without_an_override_a_copy_is_baked_and_the_linked_one_stays(linked):
    before = animation()
    bpy.context.scene.sinew.place = "COPY"
    simulate()
    assert tick_to_end().state == "done"
    after = animation()
    assert after["objects"]["Hero"] == before["objects"]["Hero"]
    assert {name: after["actions"][name] for name in before["actions"]} == before["actions"]
    assert len(after["objects"]) == len(before["objects"]) + 1


def everything(obj):
    """Say something of everything that an animator can set on a character."""
    body, bounds, graph = obj.sinew_body, obj.sinew_bounds, obj.sinew_graph
    body.preset, body.gains, body.mass_kg, body.muscle, body.use_mesh = "heavy", "stunts", 90.5, 0.5, False
    row = body.overrides.add()
    row.name, row.role, row.use_shape, row.shape, row.edges = "bone1", "pelvis", True, "box", (0.125, 0.25, 0.5)
    bounds.com, bounds.use_com, bounds.joints, bounds.file = (0.125, 0.25, 0.5), (True, False, True), 0.25, "//a.npz"
    bounds.manner = bpy.data.actions.new("Mood")
    part = obj.sinew_bound_parts.add()
    part.part, part.bone, part.angle = "BONE", "bone2", 0.5
    skill = obj.sinew_skills.add()
    skill.name = "wave"
    graph.sequence, graph.seconds, graph.mode = "wave 3", 7.5, "SEQUENCE"
    obj.sinew.role, obj.sinew.friction = "CHARACTER", 0.5


def said(obj):
    """All of it, as plain values."""
    body, bounds, graph = obj.sinew_body, obj.sinew_bounds, obj.sinew_graph
    rows = [(row.name, row.role, row.use_shape, row.shape, tuple(row.edges)) for row in body.overrides]
    return (
        (body.preset, body.gains, body.mass_kg, body.muscle, body.use_mesh, rows),
        (tuple(bounds.com), tuple(bounds.use_com), bounds.joints, bounds.file, bounds.manner and bounds.manner.name),
        [(part.part, part.bone, part.angle) for part in obj.sinew_bound_parts],
        [skill.name for skill in obj.sinew_skills],
        (graph.sequence, graph.seconds, graph.mode, obj.sinew.role, obj.sinew.friction),
    )


@pytest.mark.parametrize("library_says", [False, True])
def test_what_is_said_of_an_override_is_there_when_the_shot_is_opened_again(addon, tmp_path, library_says):
    def change(obj):
        obj.sinew_body.overrides.add().name = "bone0"
        obj.sinew_body.mass_kg, obj.sinew_bounds.seed, obj.sinew_graph.seed = 60.0, 3, 4
        obj.sinew.start_frame = 9

    obj = linked_characters.override(
        linked_characters.link(linked_characters.library(tmp_path, change=change if library_says else None))
    )
    assert why_linked(obj) == ""
    everything(obj)
    wanted = said(obj)
    for number in range(2):
        obj = linked_characters.shot(tmp_path, f"shot{number}.blend")
        assert said(obj) == wanted
    obj.sinew_body.mass_kg = 71.0
    obj = linked_characters.shot(tmp_path, "last.blend")
    assert obj.sinew_body.mass_kg == 71.0
    if library_says:
        assert (obj.sinew_bounds.seed, obj.sinew_graph.seed, obj.sinew.start_frame) == (3, 4, 9)


def test_an_override_is_simulated_and_its_take_stays_with_the_shot(addon, tmp_path):
    obj = linked_characters.override(linked_characters.link(linked_characters.library(tmp_path, takes=1)))
    simulate()
    assert tick_to_end().action == "Wave passthrough"
    assert names(obj) == ["Take 0", "Wave passthrough"] and moved_by(obj) == "Wave passthrough"
    OPS.take_compare()
    assert moved_by(obj) == "Wave"
    obj = linked_characters.shot(tmp_path)
    assert names(obj) == ["Take 0", "Wave passthrough"] and moved_by(obj) == "Wave"
    with refusal("'Take 0' comes with the armature from another file", "Delete it there"):
        OPS.take_delete(index=0)


def test_an_override_can_be_worked_on_like_any_other(addon, tmp_path):
    obj = linked_characters.override(linked_characters.link(linked_characters.library(tmp_path)))
    obj.data.bones.active = obj.data.bones[0]
    verbs = ("body_override_add", "bounds_part_add", "graph_skill_add", "bounds_part_remove", "graph_skill_remove")
    for verb in (*verbs, "body_override_remove"):
        assert getattr(OPS, verb)() == {"FINISHED"}, verb
    assert OPS.stage_mark(role="CHARACTER") == {"FINISHED"} and obj.sinew.role == "CHARACTER"
