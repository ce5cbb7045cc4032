# SPDX-License-Identifier: GPL-3.0-or-later
"""Skills and transitions that can be a graph come through a job whole; those that cannot are refused by name."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sinew.core import jobs
from sinew.core.control.graph.transitions.motion_graph import (
    MotionGraph,
    Skill,
    Transition,
    motion_graph_attachments,
    read_motion_graph,
)
from sinew.core.control.tracking.skeleton_matching import describe_skeleton_difference
from sinew.core.errors import GraphError
from sinew.core.jobs.running import WorkerRun
from sinew.core.motion import Clip, Skeleton


@pytest.fixture
def walk(stock_skill):
    return stock_skill("walk")


@pytest.fixture
def run(stock_skill):
    return stock_skill("run")


@pytest.fixture
def kick(stock_skill):
    return stock_skill("kick")


@pytest.fixture
def rise(stock_skill):
    return stock_skill("getup_faceup")


def both_ways(one: str, other: str) -> tuple[Transition, Transition]:
    return Transition(one, 0.1, other, 0.2), Transition(other, 0.3, one, 0.4)


def changed(clip: Clip, **fields) -> Clip:
    """The clip on a skeleton with some other fields."""
    return replace(clip, skeleton=replace(clip.skeleton, **fields))


# What is no skill


def test_a_skill_has_a_name(walk):
    with pytest.raises(GraphError, match=r"no name.*such as 'walk'"):
        replace(walk, name=" ")


def test_a_skill_is_of_a_kind_that_there_is(walk):
    with pytest.raises(GraphError, match=r"'walk' is of the kind 'loop'.*cycle, once, rise"):
        replace(walk, kind="loop")


def test_a_clip_shorter_than_two_fragments_is_refused(walk):
    short = walk.clip.frames(0, 6)  # 5/30 s
    with pytest.raises(GraphError, match=r"'walk' lasts only 0\.17 s.*at least 0\.2 s"):
        Skill("walk", short, "once")
    assert Skill("walk", walk.clip.frames(0, 7), "once").fragments == 2


def test_a_cycle_must_end_as_it_begins(kick):
    with pytest.raises(GraphError, match=r"'kick' is no cycle: its end is 36°.*played once"):
        replace(kick, kind="cycle")


def test_a_gait_is_a_cycle(kick):
    with pytest.raises(GraphError, match="'kick' is a gait, but no cycle"):
        replace(kick, gait=True)


# What is no graph


def test_an_empty_graph_is_refused():
    with pytest.raises(GraphError, match=r"no skills.*Collect at least one"):
        MotionGraph(())


def test_hours_of_skills_are_refused_before_memory_is_taken(walk, run):
    endless = replace(run, clip=replace(run.clip, fps=0.01))
    with pytest.raises(GraphError, match=r"minutes together, and 10 are the most.*Cut 'run'"):
        MotionGraph((walk, endless))


def test_two_skills_of_one_name_are_refused(walk, run):
    with pytest.raises(GraphError, match=r"Two skills are called 'walk'.*Rename"):
        MotionGraph((walk, replace(run, name="walk")))


def test_other_bones_are_named(walk, run):
    names = tuple("Kopf" if name == "head" else name for name in run.clip.skeleton.names)
    with pytest.raises(GraphError, match=r"'walk' and 'run' have different skeletons.*the bone 'head'.*retarget"):
        MotionGraph((walk, replace(run, clip=changed(run.clip, names=names))))


def test_a_bone_that_hangs_elsewhere_is_named(walk, run):
    parents = np.array(run.clip.skeleton.parents)
    parents[run.clip.skeleton.index("head")] = 0
    with pytest.raises(GraphError, match="'head' hangs on chest in the first and on pelvis in the second"):
        MotionGraph((walk, replace(run, clip=changed(run.clip, parents=parents))))


def test_another_rest_pose_is_named_by_its_bone(walk, run):
    rest_pos = np.array(run.clip.skeleton.rest_pos)
    rest_pos[run.clip.skeleton.index("shin.L"), 1] += 0.05
    with pytest.raises(GraphError, match=r"'shin\.L' rests in another place"):
        MotionGraph((walk, replace(run, clip=changed(run.clip, rest_pos=rest_pos))))
    turned = np.array(run.clip.skeleton.rest_quat_wxyz)
    turned[run.clip.skeleton.index("foot.R")] = [np.cos(0.05), np.sin(0.05), 0.0, 0.0]
    with pytest.raises(GraphError, match=r"'foot\.R' rests in another place"):
        MotionGraph((walk, replace(run, clip=changed(run.clip, rest_quat_wxyz=turned))))


def test_rounding_in_a_file_is_no_difference(walk, run):
    rounded = np.round(run.clip.skeleton.rest_pos, 4)
    MotionGraph((walk, replace(run, clip=changed(run.clip, rest_pos=rounded))))


def test_the_order_of_bones_is_told():
    def rig(*names):
        count = len(names)
        return Skeleton(
            names, np.full(count, -1), np.zeros((count, 3)), np.tile([1.0, 0, 0, 0], (count, 1)), np.ones(count)
        )

    assert (
        describe_skeleton_difference(rig("a", "b"), rig("b", "a"))
        == "'a' is bone 1 of the first and bone 2 of the second"
    )
    assert describe_skeleton_difference(rig("a"), rig("a", "b")) == "only the second has the bone 'b'"
    assert describe_skeleton_difference(rig("a", "b"), rig("a", "b")) == ""


def test_a_transition_joins_skills_that_there_are(walk, run):
    with pytest.raises(GraphError, match=r"walk@0\.10>fly@0\.00 enters 'fly', which is no skill.*Skills: walk, run"):
        MotionGraph((walk, run), (Transition("walk", 0.1, "fly", 0.0),))
    with pytest.raises(GraphError, match="leaves 'fly'"):
        MotionGraph((walk, run), (Transition("fly", 0.1, "walk", 0.0),))


@pytest.mark.parametrize("time_s", [-0.1, 0.9, np.nan])
def test_a_transition_is_within_its_clips(walk, run, time_s):
    with pytest.raises(GraphError, match=r"enters 'run' at .* s of 0\.80 s.*from 0 to 0\.80"):
        MotionGraph((walk, run), (Transition("walk", 0.1, "run", time_s),))
    with pytest.raises(GraphError, match="leaves 'run'"):
        MotionGraph((walk, run), (Transition("run", time_s, "walk", 0.1),))
    MotionGraph((walk, run), (Transition("run", run.duration_s, "walk", walk.duration_s),))


def test_nothing_leads_into_a_get_up(walk, rise):
    with pytest.raises(GraphError, match=r"enters 'getup_faceup', which is a get-up.*Remove it"):
        MotionGraph((walk, rise), (Transition("walk", 0.1, "getup_faceup", 0.0),))


def test_a_transition_is_there_once(walk, run):
    with pytest.raises(GraphError, match=r"walk@0\.10>run@0\.20 is in the graph twice"):
        MotionGraph((walk, run), 2 * both_ways("walk", "run"))


# What is not whole


def test_one_cycle_alone_is_whole(walk):
    MotionGraph((walk,)).require_connected()


def test_what_ends_alone_is_not_whole(kick):
    with pytest.raises(GraphError, match=r"Nothing leads out of 'kick', which ends.*from the end of 'kick'"):
        MotionGraph((kick,)).require_connected()


def test_a_skill_that_reaches_no_other_is_named(walk, run):
    there, back = both_ways("walk", "run")
    with pytest.raises(GraphError, match=r"From 'run' there is no way to 'walk'.*Add transitions"):
        MotionGraph((walk, run), (there,)).require_connected()
    with pytest.raises(GraphError, match="From 'walk' there is no way to 'run'"):
        MotionGraph((walk, run)).require_connected()
    MotionGraph((walk, run), (there, back)).require_connected()


def test_a_way_may_lead_over_others(walk, run, stock_skill):
    ring = (
        Transition("walk", 0.1, "run", 0.2),
        Transition("run", 0.1, "dance_a", 0.2),
        Transition("dance_a", 0.1, "walk", 0.2),
    )
    MotionGraph((walk, run, stock_skill("dance_a")), ring).require_connected()


def test_who_gets_up_must_get_on(walk, rise):
    with pytest.raises(GraphError, match="Nothing leads out of 'getup_faceup'"):
        MotionGraph((walk, rise)).require_connected()
    MotionGraph((walk, rise), (Transition("getup_faceup", rise.duration_s, "walk", 0.0),)).require_connected()


def test_get_ups_alone_are_not_whole(rise):
    with pytest.raises(GraphError, match="All skills are get-ups"):
        MotionGraph((rise,)).require_connected()


def test_a_skill_entered_after_its_last_way_out_is_a_trap(walk, kick):
    ways = Transition("walk", 0.1, "kick", 1.0), Transition("kick", 0.5, "walk", 0.2)
    with pytest.raises(GraphError, match=r"Nothing leads out of 'kick' from 1\.00 s on"):
        MotionGraph((walk, kick), ways).require_connected()
    early = replace(ways[0], enter_s=0.0)
    MotionGraph((walk, kick), (early, ways[1])).require_connected()


def test_a_body_for_other_bones_is_refused(walk, body):
    graph = MotionGraph((walk,))
    graph.require_body(body)
    names = tuple(name.upper() for name in walk.clip.skeleton.names)
    with pytest.raises(GraphError, match="other bones than the skills"):
        graph.require_body(replace(body, skeleton=replace(walk.clip.skeleton, names=names)))


# Fragments


def test_fragments_cover_the_clip(walk):
    assert walk.fragments == 13
    assert walk.boundaries_s[[0, -1]] == pytest.approx([0.0, walk.duration_s])
    assert np.diff(walk.boundaries_s) == pytest.approx(0.1, abs=0.005)


def test_the_end_of_a_cycle_is_its_beginning(walk, kick):
    assert [walk.boundary_near(time_s) for time_s in (0.0, 0.12, walk.duration_s)] == [0, 1, 0]
    assert kick.boundary_near(kick.duration_s) == kick.fragments == 15


def test_a_skill_is_found_by_name(walk, run):
    graph = MotionGraph((walk, run))
    assert graph.skill("run") is run
    with pytest.raises(GraphError, match=r"no skill 'fly'.*walk, run"):
        graph.skill("fly")


# Through a job


def test_a_graph_comes_through_a_job_to_the_bit(walk, run, rise, tmp_path):
    ways = (*both_ways("walk", "run"), Transition("getup_faceup", rise.duration_s, "walk", 1.0 / 3.0))
    sent = MotionGraph((walk, run, rise), ways)
    job = jobs.create(
        walk.clip, method="sampling", settings={}, attachments=motion_graph_attachments(sent), folder=tmp_path / "job"
    )
    got = read_motion_graph(WorkerRun(job, 1), job.clip())
    assert got.transitions == sent.transitions
    for one, other in zip(got.skills, sent.skills, strict=True):
        assert (one.name, one.kind, one.gait) == (other.name, other.kind, other.gait)
        assert one.clip.local_pos.tobytes() == other.clip.local_pos.tobytes()
        assert one.clip.local_quat_wxyz.tobytes() == other.clip.local_quat_wxyz.tobytes()


def test_a_job_with_a_broken_graph_is_refused(walk, run):
    def received(attachments):
        return read_motion_graph(SimpleNamespace(attachment=attachments.get), walk.clip)

    whole = motion_graph_attachments(MotionGraph((walk, run), both_ways("walk", "run")))
    assert len(received(whole).skills) == 2
    with pytest.raises(GraphError, match="no skills"):
        received({})
    with pytest.raises(GraphError, match="clip of skill 'run' is missing"):
        received({"graph": whole["graph"]})
    for broken in ({}, {"skills": [{"name": "walk"}], "transitions": []}, {"skills": [], "transitions": [{"to": 1}]}):
        with pytest.raises(GraphError, match=r"cannot be read.*Start the job again"):
            received({"graph": ({}, broken)})
    with pytest.raises(GraphError, match="no skills"):
        received({"graph": ({}, {"skills": [], "transitions": []})})
