# SPDX-License-Identifier: GPL-3.0-or-later
"""Moments are as far apart as they look, and transitions are proposed where skills meet."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.body.clearance import floor_height, link_clearances
from sinew.core.control.graph.transitions.distances import (
    GOOD_M,
    VELOCITY_S,
    Candidate,
    find_candidates,
    point_cloud_distances,
    point_clouds_of,
    propose_transitions,
    select_candidates,
)
from sinew.core.control.graph.transitions.motion_graph import MotionGraph, Skill, Transition
from sinew.core.errors import GraphError
from sinew.core.geometry.quaternions import from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip
from sinew.core.motion.io import stock

from .boundary_distances import skill_distances


def standing(velocity=(0.0, 0.0, 0.0), frames: int = 61) -> Clip:
    """The humanoid at rest, moved along as a whole in m/s."""
    skeleton = stock.stock_skeleton()
    pos = np.tile(skeleton.rest_pos, (frames, 1, 1))
    pos[:, 0] += np.arange(frames)[:, None] / 60.0 * np.array(velocity)
    return Clip(skeleton, 60.0, pos, np.tile(skeleton.rest_quat_wxyz, (frames, 1, 1)), "standing")


def elsewhere(clip: Clip, turn: float, shift) -> Clip:
    """The same clip in another place, facing another way."""
    pos, quat = np.array(clip.local_pos), np.array(clip.local_quat_wxyz)
    by = from_rotation_vector(np.array([0.0, 0.0, turn]))
    pos[:, 0] = rotate(by, pos[:, 0]) + shift
    quat[:, 0] = multiply(by, quat[:, 0])
    return replace(clip, local_pos=pos, local_quat_wxyz=quat)


def sides_down(body, skill: Skill, time_s: float) -> set[str]:
    """Which feet are within 3 cm of the floor."""
    height = link_clearances(body, skill.clip) - floor_height(body, skill.clip)
    frame = round(time_s * skill.clip.fps)
    return {link.side for i, link in enumerate(body.links) if link.role == "foot" and height[frame, i] < 0.03}


def test_a_moment_is_nowhere_near_as_far_from_itself_as_from_others(body, stock_skill):
    walk = stock_skill("walk")
    far = skill_distances(body, walk, walk)
    assert far.shape == (walk.fragments + 1, walk.fragments + 1)
    assert np.diag(far) == pytest.approx(0.0, abs=1e-6)
    assert far[0, walk.fragments // 2] > 0.2  # the other foot is ahead
    assert far[0, -1] == pytest.approx(0.0, abs=1e-6)  # a cycle's end is its beginning


def test_place_and_heading_are_no_difference(body):
    kick = stock.load_stock("kick")
    moved = elsewhere(kick, 2.0, [5.0, -3.0, 0.0])
    far = skill_distances(body, Skill("kick", kick, "once"), Skill("kick", moved, "once"))
    assert np.diag(far) == pytest.approx(0.0, abs=1e-6)
    same = skill_distances(body, Skill("kick", kick, "once"), Skill("kick", kick, "once"))
    np.testing.assert_allclose(far, same, atol=1e-6)


def test_the_height_of_the_floor_is_no_difference(body):
    kick = stock.load_stock("kick")
    first, second = (Skill("kick", clip, "once") for clip in (kick, elsewhere(kick, 0.0, [0.0, 0.0, 0.3])))
    assert np.diag(skill_distances(body, first, second)) == pytest.approx(0.0, abs=1e-6)


def test_a_pose_before_the_capture_is_not_looked_at(body, stock_skill):
    kick = stock_skill("kick")
    pos, quat = np.array(kick.clip.local_pos), np.array(kick.clip.local_quat_wxyz)
    pos[0], quat[0] = pos[0] + [0.0, 9.0, 0.0], kick.clip.skeleton.rest_quat_wxyz
    spoilt = replace(kick, clip=replace(kick.clip, local_pos=pos, local_quat_wxyz=quat))
    assert np.diag(skill_distances(body, kick, spoilt)).max() < 0.05


def test_there_and_back_is_as_far(body, stock_skill):
    walk, run = stock_skill("walk"), stock_skill("run")
    np.testing.assert_allclose(skill_distances(body, walk, run), skill_distances(body, run, walk).T, atol=1e-12)


def test_a_speed_counts_as_what_it_comes_to_in_a_moment(body):
    still, sliding = (Skill("s", standing(v), "once") for v in ((0.0, 0.0, 0.0), (0.0, -1.5, 0.0)))
    np.testing.assert_allclose(skill_distances(body, still, sliding), 1.5 * VELOCITY_S, rtol=1e-6)


def test_the_best_of_all_turns_is_taken(body, stock_skill):
    first, second = (point_clouds_of(body, stock_skill(name)) for name in ("walk", "dance_a"))
    found = point_cloud_distances(first, second)[3, 5]
    tried = []
    for turn in np.linspace(-np.pi, np.pi, 721):
        by = from_rotation_vector(np.array([0.0, 0.0, turn]))
        off = first.pos[3] - rotate(by, second.pos[5]), VELOCITY_S * (first.vel[3] - rotate(by, second.vel[5]))
        tried.append(np.sqrt(sum(float(np.sum(first.weight[:, None] * one**2)) for one in off)))
    assert found == pytest.approx(min(tried), abs=1e-4)
    assert found <= min(tried)


def test_speeds_are_the_body_s(body, stock_skill):
    walk = stock_skill("walk")
    moments = point_clouds_of(body, walk)
    # The walk turns a little from cycle to cycle, which is why its speed is looked at and not its direction.
    speed = np.linalg.norm(np.sum(moments.weight[:, None] * moments.vel, axis=1)[:-1].mean(0))
    way = walk.clip.local_pos[-1, 0] - walk.clip.local_pos[0, 0]
    assert speed == pytest.approx(np.linalg.norm(way) / walk.duration_s, abs=0.02)


def test_a_walk_becomes_a_run_on_the_same_foot(body, stock_skill):
    skills = [stock_skill("walk"), stock_skill("run")]
    for one in find_candidates(body, skills):
        by_name = {skill.name: skill for skill in skills}
        way = one.transition
        down = sides_down(body, by_name["run"], way.enter_s if way.target == "run" else way.leave_s)
        assert len(down) == 1
        assert down <= sides_down(body, by_name["walk"], way.leave_s if way.source == "walk" else way.enter_s)


@pytest.mark.parametrize("name", ["getup_faceup", "getup_facedown"])
def test_who_got_up_walks_off_with_the_feet_together(body, stock_skill, name):
    walk = stock_skill("walk")
    rise = stock_skill(name)
    (way,) = propose_transitions(body, [walk, rise])
    assert (way.source, way.leave_s, way.target) == (name, pytest.approx(rise.duration_s), "walk")
    feet = [i for i, link in enumerate(body.links) if link.role == "foot"]
    apart_m = np.linalg.norm(np.diff(point_clouds_of(body, walk).pos[:-1, feet, :2], axis=1)[:, 0], axis=-1)
    assert apart_m[walk.boundary_near(way.enter_s)] < np.median(apart_m)


def test_what_is_played_once_is_entered_at_its_beginning_and_left_at_its_end(body, stock_skill):
    skills = [stock_skill(name) for name in ("walk", "kick", "punch", "getup_faceup")]
    found = [one.transition for one in find_candidates(body, skills, per_pair=3)]
    by_name = {skill.name: skill for skill in skills}
    assert {(way.source, way.target) for way in found} == {
        (one, other) for one in by_name for other in ("walk", "kick", "punch") if one != other
    }
    for way in found:
        if way.source != "walk":
            assert way.leave_s == pytest.approx(by_name[way.source].duration_s)
        if way.target != "walk":
            assert way.enter_s == 0.0


def test_candidates_are_the_nearest_of_their_surroundings(body, stock_skill):
    walk, run = stock_skill("walk"), stock_skill("run")
    found = find_candidates(body, [walk, run], per_pair=10)
    assert [one.distance for one in found] == sorted(one.distance for one in found)
    far = skill_distances(body, walk, run)[:-1, :-1]
    out = [one for one in found if one.transition.source == "walk"]
    assert out[0].distance == pytest.approx(far.min())
    assert len(out) > 1
    for one in out:
        leave, enter = walk.boundary_near(one.transition.leave_s), run.boundary_near(one.transition.enter_s)
        around = far[np.ix_(np.arange(leave - 1, leave + 2) % len(far), np.arange(enter - 1, enter + 2) % far.shape[1])]
        assert one.distance == pytest.approx(around.min())
    assert len(find_candidates(body, [walk, run], per_pair=1)) == 2


def test_no_candidates_at_all_cannot_be_asked_for(body, stock_skill):
    with pytest.raises(GraphError, match=r"0 transitions for each pair.*one or more"):
        find_candidates(body, [stock_skill("walk")], per_pair=0)


def test_what_is_proposed_is_whole_and_no_more_than_it_must_be(body, stock_skill):
    names = ("walk", "run", "dance_a", "kick", "getup_faceup", "getup_facedown")
    skills = tuple(stock_skill(name) for name in names)
    ways = propose_transitions(body, skills)
    MotionGraph(skills, ways).require_connected()
    assert ways == propose_transitions(body, skills)
    for name in ("getup_faceup", "getup_facedown"):
        assert [way.target for way in ways if way.source == name] == ["walk"]
    for way in ways:
        with pytest.raises(GraphError):
            MotionGraph(skills, tuple(one for one in ways if one != way)).require_connected()


def test_the_nearest_that_do_are_kept_and_others_that_are_as_near():
    clip = standing()
    skills = [Skill(name, clip) for name in "abc"]
    far = {"ab": 0.5, "ba": 0.6, "bc": 0.7, "cb": 0.4, "ac": 0.9, "ca": GOOD_M}
    found = [Candidate(Transition(way[0], 0.1, way[1], 0.2), distance) for way, distance in far.items()]
    kept = {one.transition.source + one.transition.target for one in select_candidates(skills, found)}
    # a > b > c > a is the ring with the smallest greatest distance; b > a and c > b are not needed for it.
    assert kept == {"ab", "bc", "ca"}
    near = [*found[:1], replace(found[1], distance=0.9 * GOOD_M), *found[2:]]
    assert {one.transition.source + one.transition.target for one in select_candidates(skills, near)} == {
        "ab",
        "ba",
        "bc",
        "ca",
    }


def test_a_get_up_leads_to_something_played_once_only_if_there_is_no_cycle(body, stock_skill):
    rise, kick, punch, walk = (stock_skill(name) for name in ("getup_faceup", "kick", "punch", "walk"))

    def after_rising(*skills):
        return [way.target for way in propose_transitions(body, skills) if way.source == rise.name]

    assert after_rising(rise, kick, punch) == ["punch"]
    assert after_rising(rise, kick, punch, walk) == ["walk"]
    # though that is further
    found = find_candidates(body, [rise, punch, walk])
    far = {one.transition.target: one.distance for one in found if one.transition.source == rise.name}
    assert far["punch"] < far["walk"]


def test_one_cycle_needs_no_transitions(body, stock_skill):
    assert propose_transitions(body, [stock_skill("walk")]) == ()


def test_skills_of_different_skeletons_are_refused(body, stock_skill):
    walk, run = stock_skill("walk"), stock_skill("run")
    names = tuple(name.upper() for name in run.clip.skeleton.names)
    other = replace(run, clip=replace(run.clip, skeleton=replace(run.clip.skeleton, names=names)))
    with pytest.raises(GraphError, match="different skeletons"):
        find_candidates(body, [walk, other])
    with pytest.raises(GraphError, match="The body has other bones"):
        skill_distances(body, walk, other)


def test_a_clip_too_short_to_be_a_skill_is_refused():
    with pytest.raises(GraphError, match=r"'walk' lasts only 0\.10 s"):
        Skill("walk", stock.load_stock("walk").frames(0, 4), "once")


def test_the_seam_of_a_cycle_is_not_seen(body, stock_skill):
    moments = point_clouds_of(body, stock_skill("run"))
    far = point_cloud_distances(moments, moments)
    assert far[0, -1] == pytest.approx(0.0, abs=1e-6)
    assert far[0, 1] == pytest.approx(far[-1, 1])
