# SPDX-License-Identifier: GPL-3.0-or-later
"""What travels with the jobs that learn and bake, and what is refused before there is one."""

import bpy
import numpy as np
import pytest

from sinew.bridge.graph import baking
from sinew.bridge.graph.baking import GraphBakeRequest
from sinew.bridge.graph.learning import GraphLearnRequest, learn_graph_job
from sinew.bridge.jobs import requests
from sinew.bridge.jobs.preparing import do_at_once
from sinew.bridge.learned.learned_file import learned_file
from sinew.bridge.methods.adapters import get_adapter
from sinew.core.body.build import build_body
from sinew.core.control.graph.learned_file import GRAPH
from sinew.core.control.graph.model.control_graph import ControlGraph
from sinew.core.control.graph.model.features import Features
from sinew.core.control.graph.model.io import graph_from_arrays, save_graph
from sinew.core.control.graph.model.policies import zero_policies
from sinew.core.control.graph.model.structure import convert_motion_graph
from sinew.core.control.graph.transitions.motion_graph import MotionGraph, Skill
from sinew.core.control.graph.transitions.motion_graph import read_motion_graph as graph_of_run
from sinew.core.errors import BadStage, GraphError
from sinew.core.jobs.running import WorkerRun
from sinew.core.motion import Take
from sinew.core.motion.io import stock
from sinew.core.motion.io.npz import clip_from_arrays
from sinew.core.sim.stage_io import stage_from_arrays
from sinew.core.sim.variations import facing_direction_at

from ...stock_clips import needs_stock
from ..helpers.curve_objects import poly
from ..helpers.finished_jobs import finish
from ..helpers.graphs import learned_by, unlearned
from ..helpers.skilled_mannequin import mannequin
from ..helpers.stage_objects import arrow

FILES = learned_file("graph")

pytestmark = needs_stock


def learned_from(obj, request):
    """The job that learns the armature's skills, made at once."""
    return do_at_once(lambda own: learn_graph_job(own, obj.name, request))


@pytest.fixture
def runner(addon, tmp_path):
    """The mannequin with walk and run, and a graph file of both that it refers to."""
    obj, graph = unlearned("walk", "run")
    save_graph(tmp_path / "both.graph.npz", graph)
    obj.sinew_graph.file = str(tmp_path / "both.graph.npz")
    return obj


def baked(obj, **wanted):
    """A job that bakes."""
    return baking.create_bake_job(GraphBakeRequest(obj.name, **wanted), FILES.read(obj))


def twin(obj, location, turned=0.0):
    """Another armature like it, on the stage as a character, with its mesh."""
    other = obj.copy()
    bpy.context.scene.collection.objects.link(other)
    other.location, other.rotation_euler.z = location, turned
    other.sinew.role = "CHARACTER"
    bpy.context.view_layer.update()
    return other


def test_a_job_that_learns_carries_every_skill_and_transition(runner):
    job = learned_from(runner, get_adapter("graph").graph_learn_request(bpy.context.scene, runner))
    graph = graph_of_run(WorkerRun(job, 1), job.clip())
    assert [(skill.name, skill.kind, skill.gait) for skill in graph.skills] == [
        ("run", "cycle", True),
        ("walk", "cycle", True),
    ]
    assert len(graph.transitions) == len(runner.sinew_transitions)
    assert {"rig.npz", "body.npz", "mesh.npz", "graph.npz", "skill1_clip.npz"} <= set(job.spec.inputs)
    assert job.spec.title == "Mannequin: run, walk"
    assert job.spec.target.action == "run"


def test_what_was_learned_comes_home_with_a_walk_named_after_the_armature(runner, tmp_path):
    graph = FILES.read(runner).model
    job = learned_from(runner, GraphLearnRequest())
    learned_by(job, graph)
    written = requests.collect(job, files={"graph": tmp_path / "asked.npz"})
    assert written.action.name == "Mannequin skills"
    assert FILES.path_of(runner) == tmp_path / "asked.npz"
    assert runner.sinew_takes[0].source.name == "run"


def test_a_graph_that_is_not_whole_makes_no_job(runner):
    runner.sinew_transitions.clear()
    with pytest.raises(GraphError, match="there is no way to"):
        learned_from(runner, GraphLearnRequest())
    runner.sinew_skills.clear()
    with pytest.raises(GraphError, match="has no skills"):
        learned_from(runner, GraphLearnRequest())


def test_a_bake_begins_where_the_character_stands_and_is_as_long_as_wanted(runner):
    runner.location, runner.rotation_euler.z = (3.0, 1.0, 0.0), 1.0
    bpy.context.view_layer.update()
    job = baked(runner, seconds=4.0, frame_start=5, seed=7)
    clip = job.clip()
    assert clip.duration_s == pytest.approx(4.0, abs=0.02)
    stands = requests.read(requests.Request(runner.name)).clip.world()[0][4]
    np.testing.assert_allclose(clip.world()[0][0], stands, atol=1e-4)
    np.testing.assert_array_equal(clip.local_pos[0], clip.local_pos[-1])
    assert (job.spec.seed, job.spec.settings["mode"], job.spec.settings["seconds"]) == (7, "walk", 4.0)
    # The skeleton is the graph's own, however the object is turned.
    graph = graph_from_arrays(*job.attachment(GRAPH.attachment))
    np.testing.assert_array_equal(clip.skeleton.rest_quat_wxyz, graph.body.skeleton.rest_quat_wxyz)
    finish(job, Take(clip, own_clock=True))
    written = requests.collect(job)
    assert written.action.name == "Mannequin random walk"
    assert tuple(written.action.frame_range) == (5.0, 5.0 + len(clip) - 1)


def test_pushes_of_the_stage_come_in_the_bakes_own_time(runner):
    arrow(bone=runner.data.bones[1].name, start_frame=101, duration=0.1, force=150.0)
    fps = bpy.context.scene.render.fps
    job = baked(runner, mode="PUSHED", skills="walk", seconds=8.0, frame_start=11)
    (push,) = stage_from_arrays(*job.attachment("stage")).pushes
    assert push.start_s == pytest.approx(90 / fps) and np.linalg.norm(push.force) == pytest.approx(150.0)
    assert (job.spec.settings["mode"], job.spec.settings["skills"]) == ("sequence", "walk")


def test_a_path_travels_with_the_job(runner):
    poly("Way", [(0, 0, 0), (4, 0, 0), (4, 4, 0)])
    arrays, _ = baked(runner, mode="PATH", curve="Way").attachment("path")
    np.testing.assert_allclose(arrays["points"], [(0, 0, 0), (4, 0, 0), (4, 4, 0)], atol=1e-6)
    arrays, _ = baked(runner, mode="PATH", points=((0.0, 0.0), (1.0, 2.0))).attachment("path")
    np.testing.assert_allclose(arrays["points"], [(0, 0, 0), (1, 2, 0)])


def test_a_job_knows_whether_its_path_is_closed(runner):
    poly("Ring", [(0, 0, 0), (4, 0, 0), (4, 4, 0)], closed=True)
    assert baked(runner, mode="PATH", curve="Ring").attachment("path")[1] == {"closed": True}
    around = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 0.0))
    for points, closed in ((around, True), (around[:3], False), (((0.0, 0.0), (4.0, 0.0), (0.0, 0.0)), False)):
        assert baked(runner, mode="PATH", points=points).attachment("path")[1] == {"closed": closed}


def test_who_goes_along_a_path_begins_on_it_or_where_it_stands(runner):
    poly("Way", [(7, 3, 0), (7, 9, 0)])
    body = FILES.read(runner).model.body
    here = baked(runner, mode="PATH", curve="Way", from_start=False).clip()
    there = baked(runner, mode="PATH", curve="Way").clip()
    root = here.skeleton.index(body.links[0].bone)
    np.testing.assert_allclose(there.world()[0][0, root, :2], (7, 3), atol=1e-4)
    np.testing.assert_allclose(facing_direction_at(body, there, 0.0), (0, 1, 0), atol=1e-4)
    # Nothing else about the pose has changed.
    heights = [clip.world()[0][0, :, 2] for clip in (here, there)]
    np.testing.assert_allclose(*heights, atol=1e-6)
    np.testing.assert_allclose(here.local_quat_wxyz[0, 1:], there.local_quat_wxyz[0, 1:], atol=1e-6)
    assert np.linalg.norm(here.world()[0][0, root, :2]) < 1.0


def test_everybody_on_the_stage_plays_the_graph(runner):
    other = twin(runner, (3.0, 0.0, 0.0), 3.0)
    job = baked(runner, mode="MEET", seconds=3.0)
    arrays, meta = job.attachment("cast1_clip")
    assert meta["character"] == other.name
    clip = clip_from_arrays(arrays, meta)
    assert len(clip) == len(job.clip())
    assert np.linalg.norm((clip.world()[0] - job.clip().world()[0])[0, 0, :2]) > 2.0
    finish(job, Take(job.clip(), own_clock=True, others=(Take(clip, own_clock=True),)))
    written = requests.collect(job)
    assert [one.action.name for one in (written, *written.others)] == [
        f"{runner.name} collision",
        f"{other.name} collision",
    ]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"mode": "SEQUENCE"}, "No skills are named"),
        ({"mode": "PATH"}, "No curve is chosen"),
        ({"mode": "PATH", "curve": "Nowhere"}, "no curve 'Nowhere'"),
        ({"mode": "PUSHED"}, "Nothing pushes"),
        ({"mode": "MEET"}, "Nobody else is on the stage"),
    ],
)
def test_what_the_scene_lacks_is_said_before_there_is_a_job(runner, wanted, words):
    with pytest.raises(GraphError, match=words):
        baked(runner, **wanted)


def test_a_graph_that_was_learned_from_files_has_its_bones_in_another_order_and_still_fits(runner, tmp_path):
    learned = FILES.read(runner).model
    skeleton = stock.stock_skeleton()
    assert skeleton.names != learned.body.skeleton.names
    body, _ = build_body(skeleton)
    graph = MotionGraph((Skill("walk", stock.load_stock("walk"), "cycle", True),))
    structure, track = convert_motion_graph(body, graph)
    acts = len(Features(body).action_dofs)
    states = np.zeros((structure.count, learned.policies.states.shape[1]))
    save_graph(
        tmp_path / "f.npz",
        ControlGraph(structure, track, zero_policies(states, acts), np.zeros((structure.count, acts))),
    )
    runner.sinew_graph.file = str(tmp_path / "f.npz")
    stands = requests.read(requests.Request(runner.name)).clip
    clip = baked(runner, seconds=1.0).clip()
    assert clip.skeleton.names == skeleton.names
    for bone in ("pelvis", "foot.L"):
        wanted = stands.world()[0][0, stands.skeleton.index(bone)]
        np.testing.assert_allclose(clip.world()[0][0, clip.skeleton.index(bone)], wanted, atol=1e-4)


def test_two_in_one_place_are_refused_by_name(runner):
    twin(runner, (0.0, 0.0, 0.0))
    with pytest.raises(BadStage, match="begin in one place"):
        baked(runner, mode="MEET")


def test_a_graph_of_another_skeleton_is_refused_by_name(runner):
    path = FILES.path_of(runner)
    other = mannequin("walk")
    other.sinew_graph.file = str(path)
    other.scale = (1.2, 1.2, 1.2)
    bpy.context.view_layer.update()
    with pytest.raises(GraphError, match=r"(?s)another skeleton than that of 'Mannequin'.*rests in another place"):
        baked(other)
