# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes from a learned graph: of the length and in the place that were asked for; what cannot be is refused."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.bench.run import BenchRun, hash_take
from sinew.core.body.poses import clip_of_pose, pose_of_clip
from sinew.core.control.cast import CastMember, make_member_attachments
from sinew.core.control.graph.bake_method import GraphBake
from sinew.core.control.graph.model.io import graph_to_arrays
from sinew.core.control.registry import all_method_names, get_method
from sinew.core.control.tracking.facing import facing_direction, rotate_pose_about_z, upright_rotation
from sinew.core.errors import BadStage, GraphError, SinewError
from sinew.core.motion import Clip
from sinew.core.motion.io import stock
from sinew.core.sim.stage_io import stage_to_arrays
from sinew.core.sim.stage_parts import PushPart, StageParts


def held(body, place=(0.0, 0.0), heading: float = 0.0, name: str = "Hero") -> Clip:
    """The stock humanoid, held for a second at a place, facing along a heading."""
    walk = stock.load_stock("walk").frames(0, 2)
    qpos, qvel = pose_of_clip(body, walk)
    qpos, _ = rotate_pose_about_z(np.full(2, heading - faces(body, qpos[0])), qpos, qvel)
    qpos[:, :2] = place
    clip = clip_of_pose(body, walk, np.repeat(qpos[:1], 31, axis=0), 30.0)
    return replace(clip, name=name)


def faces(body, qpos) -> float:
    ahead = facing_direction(qpos[3:7], upright_rotation(body))
    return float(np.arctan2(ahead[1], ahead[0]))


@pytest.fixture
def bake(walker, body):
    """Bakes with settings, and with attachments in place of the walker's graph; gives take and run."""
    learned = graph_to_arrays(walker)

    def make(clip=None, attachments=None, seed: int = 0, **settings):
        method = GraphBake()
        run = BenchRun("mujoco", seed, {"graph_file": learned, **(attachments or {})})
        settings = {"seconds": 1.0, **settings}
        return method.run(clip or held(body), method.settings_type(**settings), run), run

    return make


def test_baking_is_a_method_of_graphs_for_everybody_on_the_stage():
    assert "graph_bake" in all_method_names() and get_method("graph_bake").simulates_cast
    assert isinstance(get_method("graph_bake"), GraphBake)


def test_a_bake_lasts_as_long_as_was_asked_for_and_begins_where_the_character_stands(bake, body):
    take, run = bake(held(body, (2.0, -3.0), 1.2), seconds=2.0)
    assert len(take.motion) == 61 and take.motion.fps == 30.0
    assert take.own_clock and take.fell_at_s is None and take.measurements == {"falls": 0}
    qpos, _ = pose_of_clip(body, take.motion)
    assert qpos[0, :2] == pytest.approx([2.0, -3.0], abs=0.02)
    assert faces(body, qpos[0]) == pytest.approx(1.2, abs=0.25)
    way = qpos[-1, :2] - qpos[0, :2]
    assert np.linalg.norm(way) > 1.5 and np.arctan2(way[1], way[0]) == pytest.approx(1.2, abs=0.5)
    assert take.contacts is not None and take.contacts.any() and not run.findings
    assert len(run.traces) == 1 and len(run.traces[0].seen_pos) == 121


def test_the_same_bake_is_the_same_action(bake):
    assert hash_take(bake(seed=3)[0]) == hash_take(bake(seed=3)[0])


def test_a_pushed_bake_falls_and_says_so(bake):
    push = PushPart("Shove", "Hero", "chest", np.array([0.0, 1500.0, 0.0]), 0.5, 0.1)
    take, run = bake(attachments={"stage": stage_to_arrays(StageParts(("Hero",), pushes=(push,)))}, seconds=3.0)
    assert take.measurements["falls"] == 1 and run.findings == ["Somebody fell once"]


def test_two_characters_meet(bake, body):
    other = held(body, (2.5, 0.0), np.pi, "Other")
    attachments = make_member_attachments(CastMember("Other", other, 1), {})
    attachments["stage"] = stage_to_arrays(StageParts(("Hero", "Other")))
    take, run = bake(held(body), attachments, mode="meet", seconds=2.5)
    assert len(take.others) == 1 and len(run.traces) == 2 and take.others[0].own_clock
    (one, _), (two, _) = (pose_of_clip(body, its.motion) for its in (take, take.others[0]))
    gap = np.linalg.norm(one[:, :2] - two[:, :2], axis=1)
    assert gap[0] == pytest.approx(2.5, abs=0.05) and gap.min() < 0.7


def test_characters_who_stand_in_each_other_are_refused(bake, body):
    attachments = make_member_attachments(CastMember("Other", held(body, (0.0, 0.0), 0.0, "Other"), 1), {})
    attachments["stage"] = stage_to_arrays(StageParts(("Hero", "Other")))
    with pytest.raises(BadStage, match="begin in one place"):
        bake(held(body), attachments)


def test_a_path_is_walked_along(bake, body):
    points = np.array([[0.0, 0.0, 0.0], [8.0, 0.0, 0.0]])
    take, _ = bake(mode="path", attachments={"path": ({"points": points}, {"closed": False})}, seconds=3.0)
    places = pose_of_clip(body, take.motion)[0][:, :2]
    assert take.fell_at_s is None and places[-1, 0] > 2.5 and np.abs(places[:, 1]).max() < 0.6


def test_who_cannot_keep_to_a_path_says_so(bake):
    points = np.array([[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [1.5, 9.0, 0.0]])
    _, run = bake(mode="path", attachments={"path": ({"points": points}, {"closed": False})}, seconds=4.5)
    assert len(run.findings) == 1 and "m from the path" in run.findings[0]


WRONG = {
    "a skill that is not there": ({"mode": "sequence", "skills": "fly 3"}, {}, "no skill 'fly'"),
    "a text that is no list": ({"mode": "sequence", "skills": "walk -1"}, {}, "which skill for how long"),
    "no path": ({"mode": "path"}, {}, "no path to go along"),
    "a path that is too short": (
        {"mode": "path"},
        {"path": ({"points": np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0]])}, {})},
        "0.30 m long",
    ),
    "a path of one point": ({"mode": "path"}, {"path": ({"points": np.zeros((1, 3))}, {})}, "no two points"),
    "no graph": ({}, {"graph_file": None}, "no learned graph"),
}


@pytest.mark.parametrize(("settings", "attachments", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_baked_is_refused_with_what_to_do(bake, settings, attachments, message):
    with pytest.raises(GraphError, match=message) as caught:
        bake(None, attachments, **settings)
    assert caught.value.hint


def test_a_get_up_in_a_list_is_refused(bake, faller):
    with pytest.raises(GraphError, match="'getup_faceup' is a get-up"):
        bake(None, {"graph_file": graph_to_arrays(faller)}, mode="sequence", skills="walk 1, getup_faceup")


def test_a_character_with_another_skeleton_is_refused(bake, body):
    clip = held(body)
    skeleton = replace(clip.skeleton, names=tuple(f"{name}_x" for name in clip.skeleton.names))
    with pytest.raises(GraphError, match="another skeleton than that of 'Hero'") as caught:
        bake(replace(clip, skeleton=skeleton))
    assert "Learn the skills for this armature" in caught.value.hint


def test_a_file_that_is_no_graph_is_refused(bake):
    with pytest.raises(SinewError, match="no control graph"):
        bake(None, {"graph_file": ({}, {"kind": "something else"})})


def test_a_list_is_baked_in_its_order(bake, faller):
    take, _ = bake(None, {"graph_file": graph_to_arrays(faller)}, mode="sequence", skills="walk 1", seconds=1.5)
    assert take.fell_at_s is None and len(take.motion) == 46
