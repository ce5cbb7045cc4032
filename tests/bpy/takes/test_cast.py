# SPDX-License-Identifier: GPL-3.0-or-later
"""Two and more characters in one job: read together, and each gets its own Action, or none does."""

from dataclasses import replace

import bpy
import numpy as np
import pytest

from sinew.bridge.jobs import monitor, requests
from sinew.bridge.rig import sources
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.takes import write_takes
from sinew.core import jobs
from sinew.core.control.cast import load_cast
from sinew.core.control.sampling.method import SamplingMethod
from sinew.core.errors import BadStage, JobError, RigError
from sinew.core.jobs.running import WorkerRun

from ..helpers.finished_jobs import finish, for_everybody, job_of, stage_of, take_of
from ..helpers.interface import animation, hero, new_actions
from ..helpers.rigs import arm, digest, wave
from ..helpers.stage_objects import arrow, cast, on_stage


@pytest.fixture
def two(addon, monkeypatch):
    """Hero and, two metres beside, Anna, both waving through frames 1 to 20."""
    for_everybody(monkeypatch)
    bpy.context.scene.render.fps = 24
    anna = arm("Anna", bones=4)
    wave(anna, "Dance", seed=3)
    anna.location.x = 2.0
    on_stage(anna, "CHARACTER")
    return hero(), anna


def test_everybody_who_is_marked_travels_with_the_job(two):
    _, anna = two
    anna.sinew_body.mass_kg = 50.0
    job = job_of()
    assert stage_of(job).characters == ("Hero", "Anna") and stage_of(job).findings == ()
    assert job.spec.target.cast == (jobs.CastTarget("Anna", "Dance", bpy.data.objects["Anna"].sinew_mark),)
    (member,) = load_cast(WorkerRun(job, 1))
    source = read_rig(anna).clip
    assert member.clip.local_pos.tobytes() == source.local_pos.tobytes()
    assert (member.name, member.clip.name, len(member.clip)) == ("Anna", "Dance", 20)
    assert job.attachment("cast1_body")[1]["mass_kg"] == 50.0 and job.attachment("body")[1]["mass_kg"] is None


def test_nobody_else_costs_nothing(two):
    _, anna = two
    anna.sinew.role = "NONE"
    job = job_of()
    assert not [name for name in job.spec.inputs if name.startswith("cast")] and job.spec.target.cast == ()
    on_stage(anna, "CHARACTER")
    anna.hide_viewport = True
    assert stage_of(job_of()).characters == ("Hero",)


def test_a_method_for_one_leaves_the_others_out_and_says_so(two, monkeypatch):
    monkeypatch.setattr(SamplingMethod, "simulates_cast", False)
    job = job_of()
    assert stage_of(job).characters == ("Hero",) and not load_cast(WorkerRun(job, 1))
    (finding,) = stage_of(job).findings
    assert "'Anna' was left out" in finding.message


def test_others_are_read_over_the_main_one_s_frames_and_hold_their_poses(two):
    hero_obj, anna = two
    wave(hero_obj, "Long", frames=40)
    clip = cast().motions["Anna"].clip
    assert len(clip) == 20  # the chosen Action is still the short one
    job = job_of(action="Long", frames=(11, 40))
    (member,) = load_cast(WorkerRun(job, 1))
    pos = member.clip.world()[0]
    assert len(member.clip) == len(job.clip()) == 30 and member.clip.fps == job.clip().fps
    source = read_rig(anna).clip.world()[0]
    np.testing.assert_allclose(pos[:10], source[10:], atol=1e-6)
    np.testing.assert_allclose(pos[10:], np.repeat(source[-1:], 20, axis=0), atol=1e-6)


def test_a_wrong_frame_rate_and_scale_are_everybody_s(two):
    job = job_of(true_fps=12.0, scale=0.5)
    (member,) = load_cast(WorkerRun(job, 1))
    assert member.clip.fps == job.clip().fps == 12.0
    assert member.clip.world()[0][0].mean(axis=0)[0] == pytest.approx(
        0.5 * cast().motions["Anna"].clip.world()[0][0].mean(axis=0)[0]
    )


def test_somebody_without_a_motion_stands_and_is_named(two):
    _, anna = two
    anna.animation_data_clear()
    anna.pose.bones[1].rotation_euler = (0.5, 0.0, 0.0)
    job = job_of()
    (finding,) = stage_of(job).findings
    assert finding.kind == "still" and "'Anna'" in finding.message and finding.hint
    (member,) = load_cast(WorkerRun(job, 1))
    assert np.ptp(member.clip.world()[0], axis=0).max() < 1e-6
    assert job.spec.target.cast == (jobs.CastTarget("Anna", "", bpy.data.objects["Anna"].sinew_mark),)


def test_two_in_one_place_are_refused_by_name(two):
    _, anna = two
    wave(anna, "Same", seed=0)
    anna.location.x = 0.0
    bpy.data.objects["Hero"].location.x = 0.0
    twin = arm("Twin")
    wave(twin, "Twin")
    on_stage(twin, "CHARACTER")
    with pytest.raises(BadStage, match=r"'Hero', .*'Twin' begin in one place"):
        job_of()
    bpy.context.scene.sinew.method = "sampling"
    with pytest.raises(RuntimeError, match="one place"):
        bpy.ops.sinew.stage_check()


def test_a_push_may_be_for_somebody_else(two):
    arrow(armature=two[1], bone="bone2")
    (push,) = stage_of(job_of()).pushes
    assert push.character == "Anna"


def test_everybody_gets_an_action_of_their_own(two):
    hero_obj, anna = two
    sources_before = {name: digest(bpy.data.actions[name]) for name in ("Wave", "Dance")}
    clips = {obj.name: read_rig(obj).clip for obj in two}
    job = job_of()
    finish(job, take_of(job, main=(0, 1, 0), others=[(0, 0, 0.5)]))
    written = requests.collect(job)
    assert (written.obj, written.action.name) == (hero_obj, "Wave, simulated")
    (other,) = written.others
    assert (other.obj, other.action.name, other.where) == (anna, "Dance, simulated", "ACTION")
    assert anna.animation_data.action == other.action and hero_obj.animation_data.action == written.action
    for obj, by in ((hero_obj, (0, 1, 0)), (anna, (0, 0, 0.5))):
        np.testing.assert_allclose(read_rig(obj).clip.world()[0], clips[obj.name].world()[0] + by, atol=1e-4)
    assert {name: digest(bpy.data.actions[name]) for name in sources_before} == sources_before
    assert job.collected()["others"] == [{"action": "Dance, simulated", "object": "Anna"}]
    assert [row.action.name for row in anna.sinew_takes] == ["Dance, simulated"]


def test_a_second_take_is_of_the_source_not_of_the_first_take(two):
    _, anna = two
    source = read_rig(anna).clip
    for place in ("ACTION", "NLA"):
        job = job_of(place=place, action="Wave")
        finish(job, take_of(job, others=[(0, 0, 3.0)]))
        requests.collect(job)
        again = job_of(action="Wave")
        (member,) = load_cast(WorkerRun(again, 1))
        np.testing.assert_allclose(member.clip.world()[0], source.world()[0], atol=1e-5)
        assert again.spec.target.cast[0].action == "Dance"


def test_somebody_without_an_action_is_read_again_as_they_stood(two):
    _, anna = two
    anna.animation_data_clear()
    anna.pose.bones[1].rotation_euler = (0.5, 0.0, 0.0)
    stood = cast().motions["Anna"].clip.world()[0]
    job = job_of(action="Wave")
    finish(job, take_of(job, others=[(0, 0, 1.0)]))
    (other,) = requests.collect(job).others
    assert other.action.name == "Anna, simulated"
    bpy.context.scene.frame_set(10)
    playing = animation()
    np.testing.assert_allclose(cast().motions["Anna"].clip.world()[0], stood, atol=1e-5)
    assert animation() == playing  # and the take still plays


def test_bones_that_the_source_does_not_key_are_read_as_before_the_take(two):
    hero_obj, _ = two
    bag = bpy.data.actions["Wave"].layers[0].strips[0].channelbag(bpy.data.actions["Wave"].slots[0])
    for curve in [curve for curve in bag.fcurves if "bone2" in curve.data_path]:
        bag.fcurves.remove(curve)
    hero_obj.pose.bones["bone2"].rotation_euler = (0.2, 0.0, 0.0)
    before = requests.read(requests.Request("Hero", "Wave")).clip.world()[1]
    job = job_of(action="Wave")
    take = take_of(job)
    turned = np.array(take.motion.local_quat_wxyz)
    turned[:, 2] = [0.0, 1.0, 0.0, 0.0]
    finish(job, replace(take, motion=replace(take.motion, local_quat_wxyz=turned)))
    requests.collect(job)
    bpy.context.scene.frame_set(5)
    np.testing.assert_allclose(requests.read(requests.Request("Hero", "Wave")).clip.world()[1], before, atol=1e-5)


@pytest.mark.parametrize("place", ["COPY", "NLA"])
def test_others_go_where_the_main_one_goes(two, place):
    _, anna = two
    job = job_of(place=place)
    finish(job, take_of(job))
    (other,) = requests.collect(job).others
    assert other.where == place and (other.obj != anna) == (place == "COPY")
    assert stage_of(job_of(action="Wave")).characters == ("Hero", "Anna")  # a copy is nobody on the stage


def gone(anna):
    bpy.data.objects.remove(anna)


def renamed_bone(anna):
    anna.data.bones["bone3"].name = "tail"


@pytest.mark.parametrize(("spoil", "words"), [(gone, "'Anna'"), (renamed_bone, "'bone3'")])
def test_what_cannot_be_written_to_somebody_is_written_to_nobody(two, spoil, words):
    job = job_of()
    finish(job, take_of(job))
    spoil(two[1])
    before = animation()
    with pytest.raises(RigError, match=words) as caught:
        requests.collect(job)
    assert caught.value.hint and animation() == before and job.collected() is None


@pytest.mark.parametrize("place", ["ACTION", "NLA", "COPY"])
def test_a_bug_halfway_leaves_nothing_behind(two, monkeypatch, place):
    job = job_of(place=place)
    finish(job, take_of(job))
    before = animation()
    write, told = write_takes.write_take, []

    def fail_at_the_second(obj, *words, **more):
        if told:
            raise ZeroDivisionError
        told.append(obj)
        return write(obj, *words, **more)

    monkeypatch.setattr(write_takes, "write_take", fail_at_the_second)
    with pytest.raises(ZeroDivisionError):
        requests.collect(job)
    assert told and animation() == before
    monkeypatch.undo()
    assert requests.collect(job).others


def test_a_take_with_too_few_characters_is_refused(two):
    job = job_of()
    finish(job, replace(take_of(job), others=()))
    before = animation()
    with pytest.raises(JobError, match="0 other characters"):
        requests.collect(job)
    assert animation() == before


def test_everything_is_one_undo_step(two):
    job = job_of()
    finish(job, take_of(job, main=(0, 1, 0), others=[(0, 0, 0.5)]))
    before = animation()
    monitor.watch(job, bpy.context.scene)
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.sinew.collect("EXEC_DEFAULT", True, job=job.spec.id)
    assert new_actions(before) == ["Dance, simulated", "Wave, simulated"]
    bpy.ops.ed.undo()
    assert new_actions(before) == [] and animation()["objects"] == before["objects"]


def test_without_takes_leaves_everything_as_it_was_whatever_happens(two):
    _, anna = two
    job = job_of()
    finish(job, take_of(job, others=[(0, 0, 1.0)]))
    requests.collect(job)
    bpy.context.scene.frame_set(7)
    before, pose = animation(), [tuple(bone.location) for bone in anna.pose.bones]

    def stumble():
        with sources.without_takes([anna]):
            assert anna.animation_data.action.name == "Dance"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stumble()
    assert animation() == before and [tuple(bone.location) for bone in anna.pose.bones] == pose
