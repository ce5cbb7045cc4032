# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks: what they see does not depend on place and heading, and who does them well earns most."""

import numpy as np
import pytest

from directed_walks import make_stored_walks
from sinew.core.control.tasks.crowd import box_obstacle, require_apart
from sinew.core.control.tasks.task import CONTROL_FPS, Moment
from sinew.core.control.tasks.tasks_table import get_task, task_names
from sinew.core.control.tasks.terrain import find_tops, peaks, require_climbable
from sinew.core.control.tasks.walls import Walls
from sinew.core.errors import BadSettings, BadStage
from sinew.core.sim.stage import Character, Stage, Terrain

ALL = np.ones(4, dtype=bool)


@pytest.fixture(scope="module")
def simple_body():
    return make_stored_walks(("stand",)).body


def moment(place=(0.0, 0.0), heading=0.0, velocity=(0.0, 0.0)):
    """Four characters in places (2,) or (4, 2)."""
    root = np.zeros((4, 3))
    root[:, :2] = place
    com_velocity = np.zeros((4, 3))
    com_velocity[:, :2] = velocity
    return Moment(root, np.full(4, heading), root, com_velocity)


def begun(name, points=None, seed=0, start=None):
    task = get_task(name)(4, points)
    task.begin(ALL, start or moment(), np.random.default_rng(seed))
    return task


@pytest.mark.parametrize("name", task_names())
def test_what_is_seen_turns_with_the_character(name):
    here = begun(name)
    seen = here.see(moment(velocity=(1.0, 0.0)))
    assert seen.shape == (4, here.goal_size) and np.isfinite(seen).all()
    turned = begun(name)
    turn = 1.1
    cos, sin = np.cos(turn), np.sin(turn)
    for key in ("goal", "wish", "place"):
        if key in turned.kept:
            x, y = here.kept[key].T
            turned.kept[key] = np.stack([cos * x - sin * y, sin * x + cos * y], axis=1)
    if "turn" in turned.kept:
        turned.kept["turn"] = here.kept["turn"] + turn
    np.testing.assert_allclose(turned.see(moment(heading=turn, velocity=(cos, sin))), seen, atol=1e-9)


@pytest.mark.parametrize("name", task_names())
def test_it_goes_on_from_its_state(name):
    task, rng = begun(name), np.random.default_rng(5)
    other = begun(name, seed=9)
    other.restore(task.state())
    again = np.random.default_rng(5)
    for one, generator in ((task, rng), (other, again)):
        for _ in range(30):
            one.go_on(moment((0.1, 0.2)), generator)
    np.testing.assert_array_equal(task.see(moment()), other.see(moment()))
    with pytest.raises(ValueError, match="instead of"):
        other.restore({**task.state(), "steps": np.zeros(2)})


def test_nearer_to_the_goal_earns_what_it_is_nearer_by():
    task = begun("point_goal")
    way = task.kept["goal"] / np.linalg.norm(task.kept["goal"], axis=1, keepdims=True)
    earned = task.earn(moment(), moment(0.05 * way))
    np.testing.assert_allclose(earned["nearer"], 0.05 * CONTROL_FPS)
    np.testing.assert_allclose(task.earn(moment(), moment(-0.05 * way))["nearer"], -0.05 * CONTROL_FPS)
    goal = task.kept["goal"].copy()
    assert task.figures(moment(goal))["goals_per_minute"].min() > 0.0
    task.go_on(moment(goal), np.random.default_rng(1))
    assert (task.kept["reached"] == 1.0).all() and np.linalg.norm(task.kept["goal"] - goal, axis=1).min() > 0.5


def test_points_of_a_scene_are_gone_to_in_turn_and_the_last_is_stayed_at():
    points = np.array([[2.0, 0.0], [2.0, 3.0]])
    task, rng = begun("point_goal", points), np.random.default_rng(1)
    for at in (points[0], points[1], points[1]):
        np.testing.assert_array_equal(task.kept["goal"], np.repeat(at[None], 4, axis=0))
        task.go_on(moment(at), rng)
    assert (task.kept["reached"] == 3.0).all()


def test_the_wished_velocity_earns_one_and_another_one_less():
    task = begun("joystick")
    wish = task.kept["wish"]
    np.testing.assert_allclose(task.earn(moment(), moment(velocity=wish))["velocity"], 1.0)
    assert task.earn(moment(), moment(velocity=-wish))["velocity"].max() < 1e-4
    assert task.earn(moment(), moment(velocity=0.5 * wish))["velocity"].max() < 1.0
    np.testing.assert_allclose(task.figures(moment(velocity=wish))["velocity_error_m_s"], 0.0, atol=1e-12)
    # By the paper's formula, worked out by hand for one.
    task.kept["wish"] = np.tile([1.0, 0.0], (4, 1))
    expected = np.exp(-5.0 * 2.0) * np.exp(-5.0 * 0.5**2)
    np.testing.assert_allclose(task.earn(moment(), moment(velocity=(0.0, 0.5)))["velocity"], expected)


def test_who_keeps_up_with_the_point_earns_all_and_the_path_comes_round():
    task, rng = begun("path", start=moment((3.0, -2.0), 0.4)), np.random.default_rng(1)
    np.testing.assert_allclose(task.see(moment((3.0, -2.0), 0.4))[:, :2], 0.0, atol=1e-9)
    velocity = task.see(moment((3.0, -2.0), 0.4))[:, 2:4]
    assert (velocity[:, 0] > 0.0).all() and np.abs(velocity[:, 1]).max() < 1e-9  # it goes where the character faces
    place, way = task._point(1)
    np.testing.assert_allclose(task.earn(moment(), moment(place, velocity=way))["path"], 1.0)
    assert task.earn(moment(), moment(place + 2.0, velocity=way))["path"].max() < 0.01
    begins = task._point(0)[0]
    for _ in range(round(47.0 * CONTROL_FPS)):
        task.go_on(moment(task._point(0)[0]), rng)
    np.testing.assert_allclose(task._point(0)[0], begins, atol=1e-6)
    task.go_on(moment(begins + 5.0), rng)
    assert (task.kept["steps"] == 0).all()


def test_a_path_of_points_is_gone_along_and_ends():
    task = begun("path", np.array([[0.0, 0.0], [1.2, 0.0], [1.2, 1.2]]))
    np.testing.assert_allclose(task._point(30)[0], np.tile([1.2, 0.0], (4, 1)), atol=1e-9)
    np.testing.assert_allclose(task._point(45)[1], np.tile([0.0, 1.2], (4, 1)), atol=1e-9)
    place, velocity = task._point(900)
    assert np.allclose(place, [1.2, 1.2]) and not velocity.any()


def test_a_task_that_there_is_not_is_told_with_those_that_there_are():
    with pytest.raises(BadSettings, match="no task 'dance'") as caught:
        get_task("dance")
    assert "point_goal" in caught.value.hint and get_task("point-goal").name == "point_goal"


def test_a_ray_ends_at_the_wall_that_it_meets(simple_body):
    walls = Walls(Stage((Character(simple_body),), obstacles=(box_obstacle("wall", (3.0, 0.0, 1.0), (0.5, 4.0, 1.0)),)))
    directions = np.array([[[1.0, 0.0], [0.0, 1.0], [np.sqrt(0.5), np.sqrt(0.5)], [-1.0, 0.0]]])
    far = walls.cast(np.zeros((1, 2)), directions, 5.0)
    np.testing.assert_allclose(far, [[2.5, 5.0, 2.5 * np.sqrt(2.0), 5.0]], atol=1e-9)


def test_what_is_low_is_no_wall(simple_body):
    step = box_obstacle("step", (3.0, 0.0, 0.1), (0.5, 4.0, 0.1))
    assert not len(Walls(Stage((Character(simple_body),), obstacles=(step,))).edges)
    with pytest.raises(BadStage, match="no walls"):
        get_task("maze").require_stage(Stage((Character(simple_body),), obstacles=(step,)))


def test_all_64_regions_of_the_maze_can_be_come_to(simple_body):
    kind = get_task("maze")
    stage = kind.make_stage(simple_body)
    maze = kind(4, None, stage)
    assert maze.kept["visited"].shape == (4, 64)
    middles = maze._low + (np.stack(np.divmod(np.arange(64), 8), axis=1) + 0.5) * maze._cell
    known, edge = {0}, [0]
    ways = maze.walls.cast(middles, np.tile([[[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]], (64, 1, 1)), 5.0)
    while edge:
        one = edge.pop()
        for far, other in zip(ways[one], (one + 8, one - 8, one + 1, one - 1), strict=True):
            if far > 2.0 and other not in known:
                known.add(other)
                edge.append(other)
    assert known == set(range(64))


def test_a_region_earns_once_and_the_last_one_much(simple_body):
    stage = get_task("maze").make_stage(simple_body)
    maze, rng = get_task("maze")(4, None, stage), np.random.default_rng(0)
    middles = maze._low + (np.stack(np.divmod(np.arange(64), 8), axis=1) + 0.5) * maze._cell
    maze.begin(ALL, moment(middles[0]), rng)
    total, done = 0.0, np.zeros(4, dtype=bool)
    for place in [*middles[:3], *middles]:
        now = moment(place)
        total += sum(maze.earn(now, now).values())[0]
        done = maze.is_done(now)
        maze.go_on(now, rng)
    assert total == 63.0 + 30.0 and done.all()


@pytest.mark.parametrize("name", ["circle", "carrefour", "corridor"])
def test_a_crowd_goes_to_the_other_side_and_sees_who_is_near(simple_body, name):
    kind, rng = get_task(name), np.random.default_rng(0)
    stage = kind.make_stage(simple_body)
    count = 2 * kind.together
    crowd = kind(count, None, stage)
    places = crowd.place(np.ones(count, dtype=bool), rng)
    apart = np.linalg.norm(places[: kind.together, None, :2] - places[None, : kind.together, :2], axis=2)
    assert np.min(apart + 9.0 * np.eye(kind.together)) > 0.5  # nobody begins in somebody
    root = np.concatenate([places[:, :2], np.zeros((count, 1))], axis=1)
    now = Moment(root, places[:, 2], root, np.zeros((count, 3)))
    crowd.begin(np.ones(count, dtype=bool), now, rng)
    away = crowd.kept["goal"] - root[:, :2]
    facing = np.stack([np.cos(places[:, 2]), np.sin(places[:, 2])], axis=1)
    assert ((away * facing).sum(1) > 5.0).all()  # ahead, through all the others
    assert crowd.see(now).shape == (count, kind.goal_size) and not crowd.touches(now).any()
    root[1] = root[0] + (0.3, 0.0, 0.0)
    touching = crowd.touches(Moment(root, places[:, 2], root, np.zeros((count, 3))))
    assert touching[:2].all() and not touching[kind.together :].any()  # those of another world are not there


def test_heights_of_a_terrain_are_seen_from_behind_to_ahead(simple_body):
    kind = get_task("peaks")
    stage = kind.make_stage(simple_body)
    peaks = kind(4, None, stage)
    at = np.array([[4.0, 0.0], [0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])  # the first peak's flank, its top, ...
    root = np.concatenate([at, np.zeros((4, 1))], axis=1)
    heading = np.array([np.pi, 0.0, 0.0, -0.5 * np.pi])
    heights = peaks.heights(Moment(root, heading, root, np.zeros((4, 3)))).reshape(4, 8, 8)
    assert heights[0, -1].min() > 0.5 > 0.0 > heights[0, 0].max()  # up the flank: higher ahead, lower behind
    assert heights[1].max() <= 0.0 and heights[2, -1].max() < 0.0
    np.testing.assert_allclose(heights[3], heights[0], atol=0.02)
    assert peaks.ground(np.zeros((1, 2)))[0] == pytest.approx(4.0)


def test_what_cannot_be_climbed_is_refused(simple_body):
    heights = np.zeros((41, 41))
    heights[:, 24:] = 3.0
    stage = Stage((Character(simple_body),), terrain=Terrain(heights, 0.25, np.array([-5.0, -5.0])))
    require_climbable(stage, np.zeros(2), np.array([[0.0, 4.0]]))
    with pytest.raises(BadStage, match=r"rises by \d+ degrees"):
        require_climbable(stage, np.zeros(2), np.array([[0.0, 4.0], [4.0, 4.0]]))
    with pytest.raises(BadStage, match="is flat"):
        get_task("terrain").require_stage(Stage((Character(simple_body),)))


def test_goals_on_a_scenes_terrain_can_be_climbed_to_and_where_none_can_it_is_refused(simple_body):
    heights = np.zeros((41, 41))
    heights[:, 24:] = 3.0  # a cliff at x = 0.875
    cliff, begin = Stage((Character(simple_body),), terrain=Terrain(heights, 0.25, np.array([-5.0, -5.0]))), np.zeros(2)
    goals = get_task("terrain").choose_points(cliff, begin, np.random.default_rng(0))
    assert len(goals) > 3 and goals[:, 0].max() < 1.0 and np.linalg.norm(np.diff(goals, axis=0), axis=1).min() > 3.0
    steps = 2.0 * (np.add.outer(np.arange(41), np.arange(41)) % 2)
    spikes = Stage((Character(simple_body),), terrain=Terrain(steps, 0.5, np.array([-10.0, -10.0])))
    with pytest.raises(BadStage, match="too steep"):
        get_task("terrain").choose_points(spikes, begin, np.random.default_rng(0))
    with pytest.raises(BadStage, match="has no peaks"):
        get_task("peaks").choose_points(
            Stage((Character(simple_body),), terrain=Terrain(0.0 * heights, 0.25, np.zeros(2))), begin, None
        )


def test_tops_of_a_scenes_terrain_are_the_peaks(simple_body):
    stage = get_task("peaks").make_stage(simple_body)
    tops = find_tops(stage)
    assert len(tops) == 5
    assert np.linalg.norm(tops[:, None] - peaks()[None], axis=2).min(axis=0).max() < 0.5
    way = get_task("peaks").choose_points(stage, np.zeros(2), np.random.default_rng(0))
    assert len(way) == 20 and np.linalg.norm(np.diff(way, axis=0), axis=1).min() > 8.0


def test_points_that_a_task_can_do_nothing_with_are_refused():
    with pytest.raises(BadStage, match="goes to no points"):
        get_task("joystick").require_points(np.zeros((2, 2)))
    with pytest.raises(BadStage, match="One point is no path"):
        get_task("path").require_points(np.zeros((1, 2)))
    get_task("point_goal").require_points(np.zeros((1, 2)))


def test_who_stands_in_somebody_is_refused():
    require_apart(np.zeros((1, 3)), ["a"])
    with pytest.raises(BadStage, match=r"'a' and 'c' begin 0\.10 m apart"):
        require_apart(np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 1.0], [0.1, 0.0, 1.0]]), ["a", "b", "c"])


def test_only_the_hand_that_is_asked_for_earns_by_hitting(simple_body):
    kind = get_task("bag")
    bag = kind(2, None, kind.make_stage(simple_body))
    links = simple_body.links
    left = bag._hands[0][0]
    place, force = np.zeros((2, len(links), 3)), np.zeros((2, len(links), 3))
    place[:, left] = (1.0, 0.0, 1.2)
    force[:, left] = (300.0, 0.0, 0.0)
    root = np.zeros((2, 3))
    props = np.tile([[1.2, 0.0, 0.8]], (2, 1, 1))
    now = Moment(root, np.zeros(2), root, root, place, force, props)
    bag.begin(np.ones(2, dtype=bool), now, np.random.default_rng(0))
    bag.kept["pattern"][:] = [[1.0, 0.0], [0.0, 1.0]]
    earned = bag.earn(now, now)
    assert earned["hit"][0] == pytest.approx(10.0 * 200.0 / 500.0) and earned["hit"][1] == 0.0
    assert earned["collision"][0] == 0.0 and earned["collision"][1] < 0.0
    figures = bag.figures(now)
    assert figures["hits_per_minute"].tolist() == [1800.0, 0.0] and figures["wrong_per_minute"][1] == 1800.0
