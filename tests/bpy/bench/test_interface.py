# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench interface`` presses every button: one that it can no longer press would end it half way."""

import bpy
import pytest

from sinew import operators
from sinew.bench import heavy_scenes
from sinew.bench.interface import clicks, command, learning_clicks, other_clicks, rounds

# Buttons that the benchmark does not press, and why.
UNPRESSED = {
    "install_missing": "what it waits for is a download in another process",
    "install_cancel": "there is nothing to cancel without it",
    "tell": "only the monitor calls it",
    "open_help": "what it waits for is a browser",
    "cancel_preparing": "every click is one that is not stopped",
    **dict.fromkeys(
        [f"{family}_finish" for family in ("bounds", "direct", "respond", "improvise", "medley")],
        "leaves an empty file in the job's folder, as cancel does",
    ),
    **dict.fromkeys(
        [f"{kind}_preset_add" for kind in ("body", "gains", "bounds", "style", "disturbance", "push")],
        "writes a dozen lines to the user's own folder",
    ),
}


def test_every_step_is_taken_and_timed(addon):
    spent = rounds.take_round(lambda: heavy_scenes.long_action(90))
    pressed = {*rounds.USUAL, *learning_clicks.LIBRARY, *other_clicks.OTHERS} - {"try_mannequin", "collect"}
    assert pressed <= set(spent)
    assert {"bake, longest piece", "draw, with a take: This Action", "library_build, longest piece"} <= set(spent)
    assert all(ms >= 0.0 for both in spent.values() for ms in both)
    assert any(action.name.startswith("long walk") for action in bpy.data.actions)


def test_every_button_is_pressed_or_said_why_not(addon):
    pressed = {*rounds.USUAL, *learning_clicks.LIBRARY, *learning_clicks.LEARNING, *other_clicks.OTHERS}
    every = {cls.bl_idname.removeprefix("sinew.") for cls in operators._CLASSES}
    assert pressed | set(UNPRESSED) == every and not pressed & set(UNPRESSED)


def test_what_blender_does_by_itself_is_not_sinews(addon):
    assert command.is_sinews("simulate") and command.is_sinews("simulate, longest piece")
    assert not command.is_sinews("simulate" + clicks.BLENDERS_LOOK) and not command.is_sinews(rounds.UNDO_PUSH)


def test_a_click_has_its_propertys_default_or_what_it_is_given(addon):
    kind = clicks.kind_of("give_travel")
    assert clicks.Clicked(kind).cycles == 5 and clicks.Clicked(kind, cycles=2).cycles == 2


def test_a_click_that_fails_ends_the_benchmark(addon):
    heavy_scenes.long_action(90)
    with pytest.raises(Exception, match="Nothing is asked of frame"):
        clicks.click(clicks.StepClock(), "retime_and_reach")
