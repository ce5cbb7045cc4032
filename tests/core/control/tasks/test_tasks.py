# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks: what they see does not depend on place and heading, and who does them well earns most."""

import numpy as np
import pytest

from sinew.core.control.tasks.task import CONTROL_FPS, Moment
from sinew.core.control.tasks.tasks_table import get_task, task_names
from sinew.core.errors import BadSettings

ALL = np.ones(4, dtype=bool)


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
