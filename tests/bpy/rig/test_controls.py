# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes on a rig's own controls: the bones come out as the take has them, by IK targets, poles and FK chains."""

from dataclasses import replace

import bpy
import numpy as np
import pytest

from sinew.bridge.rig import actions, sources
from sinew.bridge.rig.control_keys import key_controls
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.rig.rig_writer import write_take
from sinew.bridge.scene.time_slicing import run_all_slices
from sinew.core.geometry.quaternions import angle_between

from ..helpers.control_rigs import BODY, LIMB, disturbed, ik_body, reaching, stepping, switched_limb
from ..helpers.rigs import digest

FAR_M, TURNED_RAD = 1e-3, np.radians(0.2)


def misses(obj, take, bones):
    """How far bones are from the take when the armature is read again: metres and radians, at most."""
    clip = read_rig(obj).clip
    (pos, quat), (wanted_pos, wanted_quat) = clip.world(), take.motion.world()
    which = [clip.skeleton.index(name) for name in bones]
    far = np.linalg.norm(pos[:, which] - wanted_pos[:, which], axis=-1).max()
    return far, angle_between(quat[:, which], wanted_quat[:, which]).max()


def written_on(obj, bones, **how):
    rig = read_rig(obj)
    take = disturbed(rig, bones)
    return take, write_take(obj, take, rig, name="again", **how)


@pytest.mark.parametrize("pole_angle", [-np.pi / 2, 0.4, 2.5])
def test_legs_on_ik_targets_and_poles(scene, pole_angle):
    obj = ik_body(pole_angle=pole_angle, roll=0.3)
    source = stepping(obj)
    before = digest(source)
    take, written = written_on(obj, BODY)
    assert written.where == "CONTROLS" and written.obj == obj and written.match.is_close
    far, turned = misses(obj, take, BODY)
    assert far < FAR_M and turned < TURNED_RAD
    assert digest(source) == before and all(c.influence == 1.0 for b in obj.pose.bones for c in b.constraints)
    keyed = {curve.data_path.split('"')[1] for curve in actions.curves_of(written.action, written.action.slots[0])}
    assert {"hips", "foot_ik.L", "knee.R", "thigh.L", "spine"} <= keyed and "root" not in keyed
    assert len(bpy.data.objects) == 1 and len(bpy.data.armatures) == 1 and len(bpy.data.scenes) == 1


def test_legs_without_poles_that_stand_elsewhere(scene):
    obj = ik_body(target=False)
    stepping(obj)
    obj.location, obj.rotation_euler, obj.scale = (1, 2, 0.5), (0, 0, 0.7), (2, 2, 2)
    take, written = written_on(obj, BODY)
    assert written.where == "CONTROLS"
    far, turned = misses(obj, take, BODY)
    assert far < 2 * FAR_M and turned < TURNED_RAD


def test_feet_that_are_edited_afterwards_go_with_their_controls(scene):
    obj = ik_body()
    stepping(obj)
    written_on(obj, BODY)
    scene.frame_set(5)
    before = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["foot.L"].head.copy()
    obj.pose.bones["foot_ik.L"].location.z += 0.05
    bpy.context.view_layer.update()
    after = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["foot.L"].head
    assert 0.03 < (after - before).length < 0.06


def test_limbs_that_a_property_switches_go_by_their_forward_chains(scene):
    obj = switched_limb()
    reaching(obj)
    take, written = written_on(obj, LIMB)
    assert written.where == "CONTROLS", written.match
    far, turned = misses(obj, take, LIMB)
    assert far < FAR_M and turned < TURNED_RAD
    curves = {curve.data_path: curve for curve in actions.curves_of(written.action, written.action.slots[0])}
    assert curves['pose.bones["torso"]["IK_FK"]'].evaluate(1) == 1.0
    assert any("arm_fk" in path for path in curves) and not any("DEF-" in path for path in curves)


def test_the_switch_is_back_where_the_source_shows(scene):
    obj = switched_limb()
    source = reaching(obj)
    before = read_rig(obj)
    prior = sources.prior_animation(obj)
    _, written = written_on(obj, LIMB)
    placed = {**sources.custom_values(obj, written.switches), **prior.placed}
    sources.store_prior(written.action, replace(prior, placed=placed))
    scene.frame_set(5)
    assert obj.pose.bones["torso"]["IK_FK"] == 1.0
    again = read_rig(obj, action=source)  # while the take is on
    with sources.without_takes([obj]):
        assert obj.pose.bones["torso"]["IK_FK"] == 0.0
    assert obj.pose.bones["torso"]["IK_FK"] == 1.0
    sources.restore_prior(obj, written.action)
    assert obj.animation_data.action == source and obj.pose.bones["torso"]["IK_FK"] == 0.0
    assert np.abs(read_rig(obj).clip.world()[0] - before.clip.world()[0]).max() < 1e-5
    assert len(again.clip) == len(before.clip)


def test_what_controls_cannot_reach_goes_onto_a_copy_and_says_why(scene):
    obj = ik_body()
    stepping(obj)
    for side in "LR":
        limit = obj.pose.bones[f"arm.{side}"].constraints.new("LIMIT_ROTATION")
        limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
        limit.owner_space = "LOCAL"
    take, written = written_on(obj, BODY)
    assert (
        written.where == "COPY"
        and written.obj != obj
        and "own controls" in written.match.sentence.replace("no control", "own controls")
    )
    far, turned = misses(written.obj, take, BODY)
    assert far < FAR_M and turned < TURNED_RAD


def test_a_target_that_is_an_object_goes_onto_a_copy(scene):
    obj = ik_body()
    stepping(obj)
    goal = bpy.data.objects.new("Goal", None)
    scene.collection.objects.link(goal)
    obj.pose.bones["shin.L"].constraints["IK"].target = goal
    _, written = written_on(obj, BODY)
    assert written.where == "COPY" and "other objects move the rig" in written.match.sentence


def test_a_copy_or_controls_by_choice(scene):
    obj = ik_body()
    stepping(obj)
    assert written_on(obj, BODY, where="COPY")[1].where == "COPY"
    assert written_on(obj, BODY, where="CONTROLS")[1].where == "CONTROLS"


def test_every_slice_leaves_the_scene_as_it_was(scene):
    obj = ik_body()
    source = stepping(obj)
    rig = read_rig(obj)
    take = disturbed(rig, BODY)
    scene.frame_set(3)
    slices, count = key_controls(obj, take, rig, name=".half", source=source), 0
    try:
        todo = next(slices)
        while True:
            count += 1
            assert obj.animation_data.action == source and scene.frame_current == 3
            todo = slices.send(todo() if todo is not None else None)
    except StopIteration as end:
        keyed, match = end.value
    assert count > len(take.motion) and match.is_close and keyed.place == "CONTROLS"


def test_what_is_dropped_halfway_leaves_nothing(scene):
    obj = ik_body()
    source = stepping(obj)
    rig = read_rig(obj)
    take = disturbed(rig, BODY)
    known = {kind: len(getattr(bpy.data, kind)) for kind in ("actions", "objects", "scenes", "armatures")}
    slices = key_controls(obj, take, rig, name=".half", source=source)
    todo = next(slices)
    for _ in range(20):
        todo = slices.send(todo() if todo is not None else None)
    slices.close()
    assert {kind: len(getattr(bpy.data, kind)) for kind in known} == known


def test_the_same_take_gives_the_same_keys(scene):
    obj = ik_body()
    source = stepping(obj)
    rig = read_rig(obj)
    take = disturbed(rig, BODY)
    found = []
    for name in ("one", "two"):
        keyed, _ = run_all_slices(key_controls(obj, take, rig, name=name, source=source))
        found.append(digest(bpy.data.actions[name]))
        assert keyed.curves == len(found[-1])
    assert found[0] == found[1]
