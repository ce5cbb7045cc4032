# SPDX-License-Identifier: GPL-3.0-or-later
"""The Improvise panel says where to go once a task was learned that goes anywhere, and what a task needs."""

from dataclasses import replace

import bpy
import numpy as np
import pytest

from directed_walks import make_stored_walks
from little_improvisers import make_improviser, make_policy
from sinew.bridge.api.library_character import stand_up_character
from sinew.bridge.improvise import adapter as improvising
from sinew.bridge.methods.adapters import get_adapter
from sinew.bridge.setup import readiness
from sinew.core.control.improvise.learned_file import IMPROVISER, TaskPolicy
from sinew.core.control.tasks.tasks_table import get_task
from sinew.panels import families

from ..helpers.panel_drawing import SkillsLayout, draw_wide

PANEL = next(one for one in families.CLASSES if one.bl_idname == "SINEW_PT_improvise")


@pytest.fixture
def walker(addon, tmp_path, monkeypatch):
    """A character whose improviser has learned a task, by name; '' for none."""
    monkeypatch.setattr(readiness, "lacks_learning", lambda: None)
    stored = make_stored_walks(("stand",))
    plain = make_improviser(stored.body, stored.library.clip(0))
    obj = stand_up_character(stored.body.skeleton, 1.0)
    bpy.context.scene.sinew.armature = obj

    def learned(task=""):
        made = plain
        if task:
            size = plain.model.latent_size
            policy = make_policy(plain.model.state_size + get_task(task).goal_size, size, np.zeros(size))
            made = replace(plain, task=TaskPolicy(task, policy, 0.0, {}, {"seconds": 60.0}))
        path = tmp_path / f"{task or 'plain'}.improvise.npz"
        IMPROVISER.write_content(path, *made.to_content())
        obj.sinew_improvise.file = str(path)
        get_adapter("improvise").file.read(obj)
        return obj

    return learned


@pytest.mark.parametrize(("task", "goes"), [("", False), ("joystick", False), ("path", True), ("circle", True)])
def test_goals_and_curve_are_asked_for_where_something_goes_there(walker, task, goes):
    walker(task)
    page = draw_wide(PANEL, SkillsLayout)
    assert ({"goals", "curve"} <= set(page.props)) is goes
    assert "improvise_task" in page.idnames and "task" in page.props


def test_a_task_that_needs_more_freedom_says_so(walker):
    walker()
    settings = bpy.context.scene.sinew.methods.improvise_task
    settings.task = "bag"
    assert "learned with a Freedom of 0.5 rad" in draw_wide(PANEL, SkillsLayout).text
    settings.sigma = 0.5
    assert "Freedom of" not in draw_wide(PANEL, SkillsLayout).text


def test_what_is_chosen_in_the_panel_is_what_is_gone_to(walker, monkeypatch):
    obj = walker("point_goal")
    goals = bpy.data.collections.new("Goals")
    for number, place in enumerate(((3.0, 0.0), (1.0, 2.0))):
        empty = bpy.data.objects.new(f"goal {number}", None)
        empty.location[:2] = place
        goals.objects.link(empty)
    bpy.context.scene.collection.children.link(goals)
    obj.sinew_improvise.goals = goals
    asked = []
    monkeypatch.setattr(improvising, "improvise_bake_job", lambda own, request, learned: asked.append(request))
    adapter = get_adapter("improvise")
    monkeypatch.setattr(adapter, "playing_recipe", lambda obj, make, doing: make(None, adapter.file.read(obj)))
    adapter.bake(bpy.context.scene, obj)
    walker("joystick")
    adapter.bake(bpy.context.scene, obj)
    assert [one.goals for one in asked] == [("goal 0", "goal 1"), ()]
    curve = bpy.data.objects.new("Way", bpy.data.curves.new("Way", "CURVE"))
    obj.sinew_improvise.curve = curve
    walker("path")
    adapter.bake(bpy.context.scene, obj)
    assert (asked[-1].curve, asked[-1].goals) == ("Way", ())
