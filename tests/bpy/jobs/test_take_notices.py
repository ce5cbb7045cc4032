# SPDX-License-Identifier: GPL-3.0-or-later
"""What a take showed to be missing stands in the box of the check, as long as the source's newest take says so."""

import json

import bpy

from sinew.bridge.jobs import notices, scene_request
from sinew.panels import simulate as panel

from ..helpers.interface import hero
from ..helpers.panel_drawing import Page
from ..helpers.take_making import take


def say(row, *findings):
    row.report = json.dumps({"findings": [{"kind": kind, "message": kind, "hint": "Do"} for kind in findings]})


def test_what_the_newest_take_showed_stands_in_the_box(addon):
    obj = hero()
    for name in ("A", "B"):
        take(obj, name)
    for row in obj.sinew_takes:
        row.source = bpy.data.actions["Wave"]
    say(obj.sinew_takes[0], "needs_load")
    say(obj.sinew_takes[1], "needs_stairs", "held")
    found = notices.of_takes(obj, "Wave")
    assert [(one.message, one.hint, one.is_error) for one in found] == [("needs_stairs", "Do", False)]
    assert notices.of_takes(obj, "Other") == () and notices.of_takes(None, "Wave") == ()
    bpy.context.scene.sinew.action = bpy.data.actions["Wave"]
    assert scene_request.request_of(bpy.context.scene).action == "Wave"
    assert "needs_stairs" in Page(panel.SINEW_PT_simulate).text
    say(obj.sinew_takes[1])
    assert "needs_" not in Page(panel.SINEW_PT_simulate).text
