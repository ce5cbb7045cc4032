# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions are collected as skills, and the ways between them are proposed, added, switched off and removed."""

import bpy
import pytest

from sinew.bridge.graph import skills as collecting
from sinew.bridge.graph import transitions
from sinew.bridge.methods.adapters import get_adapter
from sinew.core.errors import GraphError

from ...stock_clips import needs_stock
from ..helpers.interface import hero, refusal
from ..helpers.rigs import arm, wave
from ..helpers.skilled_mannequin import mannequin, skills, ways
from ..helpers.take_making import take

pytestmark = needs_stock


def test_the_active_action_becomes_a_skill_once(addon):
    obj = hero()
    assert bpy.ops.sinew.graph_skill_add() == {"FINISHED"}
    assert bpy.ops.sinew.graph_skill_add() == {"FINISHED"}
    assert skills(obj) == ["Wave"]
    assert obj.sinew_skills[0].action.name == "Wave"


def test_a_take_stands_for_its_source(addon):
    obj = hero()
    source = obj.animation_data.action
    take(obj, "Wave simulated")
    obj.animation_data.action["sinew_placed"], obj.animation_data.action["sinew_source"] = "{}", source
    bpy.ops.sinew.graph_skill_add()
    assert obj.sinew_skills[0].action == source


def test_all_actions_of_the_armature_but_its_takes(addon):
    obj = hero()
    wave(obj, "Jump")
    take(obj, "Wave simulated")
    other = arm("Other", bones=5)
    wave(other, "Theirs")
    bpy.data.actions.new("Empty")
    assert bpy.ops.sinew.graph_skill_add_all() == {"FINISHED"}
    assert skills(obj) == ["Jump", "Wave"]


def test_an_action_that_keys_a_property_besides_the_bones_is_no_other_characters(addon):
    obj = hero()
    obj["by_hand"] = 1.0
    obj.keyframe_insert('["by_hand"]')
    assert bpy.ops.sinew.graph_skill_add_all() == {"FINISHED"}
    assert skills(obj) == ["Wave"]


def test_nobody_is_refused_without_a_word(addon):
    for name in ("skill_add", "skill_add_all", "skill_remove", "propose", "transition_add", "transition_remove"):
        with refusal("Choose an armature"):
            getattr(bpy.ops.sinew, f"graph_{name}")()
    obj = arm("Hero")
    bpy.ops.sinew.pick_selected()
    with refusal("'Hero' has no Action"):
        bpy.ops.sinew.graph_skill_add()
    with refusal("No Action moves the bones of 'Hero'"):
        bpy.ops.sinew.graph_skill_add_all()
    with refusal("no skill in the list"):
        bpy.ops.sinew.graph_skill_remove()
    with refusal("No skills yet"):
        bpy.ops.sinew.graph_propose()
    assert str(get_adapter("graph").problem_of(obj.name)).startswith("No Action moves")


def test_no_two_skills_have_one_name_and_transitions_follow_a_new_one(addon):
    obj = hero()
    wave(obj, "Jump")
    bpy.ops.sinew.graph_skill_add_all()
    row = obj.sinew_transitions.add()
    row.source, row.target = "Jump", "Wave"
    obj.sinew_skills["Jump"].name = "Leap"
    assert ways(obj) == [("Leap", "Wave")]
    obj.sinew_skills["Leap"].name = "Wave"
    assert skills(obj) == ["Wave 2", "Wave"] and ways(obj) == [("Wave 2", "Wave")]
    obj.sinew_skills["Wave 2"].name = "  "
    assert skills(obj) == ["Wave 2", "Wave"]


def test_a_removed_skill_takes_its_transitions_along(addon):
    obj = hero()
    wave(obj, "Jump")
    wave(obj, "Turn")
    bpy.ops.sinew.graph_skill_add_all()
    for source, target in (("Jump", "Turn"), ("Turn", "Wave"), ("Wave", "Jump")):
        row = obj.sinew_transitions.add()
        row.source, row.target = source, target
    obj.sinew_skill_index = skills(obj).index("Jump")
    bpy.ops.sinew.graph_skill_remove()
    assert skills(obj) == ["Turn", "Wave"] and ways(obj) == [("Turn", "Wave")]
    assert bpy.data.actions["Jump"]


def test_skills_are_read_as_they_look_or_as_they_are_told(addon):
    obj = mannequin("walk", "run", "getup_faceup", "kick")
    bpy.ops.sinew.graph_skill_add_all()
    read = collecting.read_skills_at_once(obj)
    collecting.note_looks(obj, read)
    found = {one.skill.name: one.skill for one in read}
    assert {name: (skill.kind, skill.gait) for name, skill in found.items()} == {
        "walk": ("cycle", True),
        "run": ("cycle", True),
        "getup_faceup": ("rise", False),
        "kick": ("once", False),
    }
    assert obj.sinew_skills["walk"].looks == "symmetric gait" and obj.sinew_skills["kick"].looks.endswith("once")
    obj.sinew_skills["walk"].gait = "NO"
    obj.sinew_skills["run"].kind = "ONCE"
    found = {one.skill.name: one.skill for one in collecting.read_skills_at_once(obj)}
    assert not found["walk"].gait and (found["run"].kind, found["run"].gait) == ("once", False)


def test_an_object_that_was_turned_for_one_skill_is_still_one_skeleton(addon):
    obj = mannequin("walk", "run")
    bpy.ops.sinew.graph_skill_add_all()
    action = obj.sinew_skills["run"].action
    curve = action.layers[0].strips[0].channelbag(action.slots[0]).fcurves.new("rotation_euler", index=2)
    curve.keyframe_points.insert(1, 1.0)
    read = collecting.read_skills_at_once(obj)
    assert transitions.graph_of(obj, read).skeleton is read[1].skill.clip.skeleton


def test_transitions_are_proposed_once_and_make_a_whole_graph(addon):
    obj = mannequin("walk", "run", "getup_faceup")
    bpy.ops.sinew.graph_skill_add_all()
    assert bpy.ops.sinew.graph_propose() == {"FINISHED"}
    found = ways(obj)
    assert ("walk", "run") in found and ("run", "walk") in found
    assert any(source == "getup_faceup" for source, _ in found) and all(target != "getup_faceup" for _, target in found)
    assert all(row.distance > 0.0 for row in obj.sinew_transitions)
    read = collecting.read_skills_at_once(obj)
    graph = transitions.graph_of(obj, read)
    graph.require_connected()
    # What was read as frames is at the same fragment boundaries as what was found in seconds.
    wanted = {str(one.transition) for one in _offered(obj, read)}
    skills_by_name = {one.skill.name: one.skill for one in read}
    for way in graph.transitions:
        near = [
            skills_by_name[name].boundaries_s[skills_by_name[name].boundary_near(time_s)]
            for name, time_s in ((way.source, way.leave_s), (way.target, way.enter_s))
        ]
        assert f"{way.source}@{near[0]:.2f}>{way.target}@{near[1]:.2f}" in wanted
    bpy.ops.sinew.graph_propose()
    assert ways(obj) == found


def _offered(obj, read):
    return transitions.find_candidates(transitions.plain_body_builder(obj, read)(), [one.skill for one in read])


def test_a_transition_is_added_where_the_skills_are_most_alike(addon):
    obj = mannequin("walk", "run", "getup_faceup")
    bpy.ops.sinew.graph_skill_add_all()
    assert bpy.ops.sinew.graph_transition_add(source="walk", target="run") == {"FINISHED"}
    assert ways(obj) == [("walk", "run")]
    best = obj.sinew_transitions[0].distance
    read = collecting.read_skills_at_once(obj)
    ends = ("walk", "run")
    offered = [one for one in _offered(obj, read) if (one.transition.source, one.transition.target) == ends]
    assert best == pytest.approx(min(one.distance for one in offered))
    with refusal("get-up"):
        bpy.ops.sinew.graph_transition_add(source="walk", target="getup_faceup")
    with refusal("itself"):
        bpy.ops.sinew.graph_transition_add(source="walk", target="walk")
    with refusal("Choose both"):
        bpy.ops.sinew.graph_transition_add(source="walk")
    bpy.ops.sinew.graph_transition_remove()
    assert ways(obj) == []


def test_a_transition_that_is_switched_off_is_not_learned(addon):
    obj = mannequin("walk", "run")
    bpy.ops.sinew.graph_skill_add_all()
    bpy.ops.sinew.graph_propose()
    read = collecting.read_skills_at_once(obj)
    before = transitions.graph_of(obj, read).transitions
    obj.sinew_transitions[0].use = False
    after = transitions.graph_of(obj, read).transitions
    assert after == before[1:] and after


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda obj: obj.sinew_skills.clear(), "has no skills"),
        (lambda obj: setattr(obj.sinew_skills["walk"], "action", None), "Action of skill 'walk' was deleted"),
        (lambda obj: setattr(obj.sinew_skills["kick"], "kind", "CYCLE"), "'kick' is no cycle"),
        (lambda obj: setattr(obj.sinew_transitions[0], "target", "dance"), "'dance', which is no skill"),
        (lambda obj: setattr(obj.sinew_transitions[0], "leave_frame", 5000), "Choose a time from 0"),
    ],
)
def test_what_is_no_graph_is_refused_by_name(addon, change, words):
    obj = mannequin("walk", "kick")
    bpy.ops.sinew.graph_skill_add_all()
    bpy.ops.sinew.graph_propose()
    change(obj)
    with pytest.raises(GraphError, match=words):
        transitions.graph_of(obj, collecting.read_skills_at_once(obj))


def test_a_skill_that_leads_nowhere_is_refused_by_name(addon):
    obj = mannequin("walk", "run")
    bpy.ops.sinew.graph_skill_add_all()
    bpy.ops.sinew.graph_propose()
    for row in obj.sinew_transitions:
        row.use = row.source == "walk"
    with pytest.raises(GraphError, match="From 'run' there is no way to 'walk'"):
        transitions.graph_of(obj, collecting.read_skills_at_once(obj)).require_connected()


def test_a_clip_shorter_than_two_fragments_is_refused_by_name(addon):
    obj = mannequin("walk")
    bpy.ops.sinew.graph_skill_add()
    action = obj.animation_data.action
    action.use_frame_range, action.frame_start, action.frame_end = True, 1, 4
    with pytest.raises(GraphError, match="'walk' lasts only"):
        collecting.read_skills_at_once(obj)


def test_skills_survive_saving(addon, tmp_path):
    obj = hero()
    bpy.ops.sinew.graph_skill_add()
    row = obj.sinew_transitions.add()
    row.source = row.target = "Wave"
    row.leave_frame, obj.sinew_graph.file = 7, "//sinew/Hero.graph.npz"
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Hero"]
    assert skills(obj) == ["Wave"] and obj.sinew_skills[0].action.name == "Wave"
    assert obj.sinew_transitions[0].leave_frame == 7 and obj.sinew_graph.file == "//sinew/Hero.graph.npz"
