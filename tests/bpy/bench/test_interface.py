# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench interface`` goes through every step: a click that it can no longer make would end it half way."""

import bpy

from sinew.bench import heavy_scenes, interface


def test_every_step_is_taken_and_timed(addon):
    spent = interface._round(lambda: heavy_scenes.long_action(90))
    clicks = {"check_source", "fix_source", "give_travel", "retime_and_reach", "simulate", "simulate_variations"}
    assert clicks | {"stage_check"} <= set(spent)
    assert {"bake, longest piece", "take_to_nla", "bounds_loosen", "draw, with a take"} <= set(spent)
    assert all(ms >= 0.0 for both in spent.values() for ms in both)
    assert any(action.name.startswith("long walk") for action in bpy.data.actions)


def test_a_click_has_its_propertys_default_or_what_it_is_given(addon):
    kind = bpy.types.Operator.bl_rna_get_subclass_py("SINEW_OT_give_travel")
    assert interface._Clicked(kind).cycles == 5 and interface._Clicked(kind, cycles=2).cycles == 2
