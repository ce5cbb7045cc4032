# SPDX-License-Identifier: GPL-3.0-or-later
"""Give It Travel: a walk on the spot becomes an Action of its own that travels; without physics."""

import bpy
import numpy as np
import pytest

from sinew.bridge.importing.importers import show_clip
from sinew.bridge.jobs import notices
from sinew.bridge.jobs.scene_request import request_of
from sinew.bridge.rig.armatures import armature_from_skeleton
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core.control.registry import get_method
from sinew.core.errors import BadMotion
from sinew.core.motion.plain_walk import SPEED_M_S, STRIDE_S, plain_walk

from ...on_the_spot import walk_on_the_spot
from ..helpers.interface import tick_to_end


@pytest.fixture
def walker(addon):
    """An armature that walks on the spot, chosen in the panel."""
    clip = walk_on_the_spot(30.0)
    obj = armature_from_skeleton(clip.skeleton, "Hero", bpy.context.scene.collection)
    show_clip(clip, obj)
    bpy.context.scene.sinew.armature = obj
    return obj


def keys_of(action):
    bag = action.layers[0].strips[0].channelbags[0]
    return [
        (curve.data_path, curve.array_index, [tuple(key.co) for key in curve.keyframe_points]) for curve in bag.fcurves
    ]


def test_it_travels_in_an_action_of_its_own(walker, capfd):
    source = walker.animation_data.action
    before = keys_of(source)
    bpy.ops.sinew.give_travel(cycles=3)
    said = capfd.readouterr().out
    assert "Giving travel to 'Walk" in said and "Simulating" not in said
    view = tick_to_end()
    assert view.action == "Walk travelling"
    made = bpy.data.actions[view.action]
    assert walker.animation_data.action == made and keys_of(source) == before
    rig = read_rig(walker)
    assert len(rig.clip) == 3 * (len(walk_on_the_spot(30.0)) - 1) + 1
    way = np.linalg.norm((rig.clip.world()[0][-1, 0] - rig.clip.world()[0][0, 0])[:2])
    assert way == pytest.approx(3 * STRIDE_S * SPEED_M_S, rel=0.03)
    assert bpy.context.scene.sinew.action == source, "the source stays chosen"


def test_what_stands_already_is_told_so():
    method = get_method("travel")
    with pytest.raises(BadMotion, match="stand already, so there is no travel to give it"):
        method.run(plain_walk(STRIDE_S, 30.0), method.settings_type(), None)


def test_the_check_says_so_and_offers_it(walker):
    scene = bpy.context.scene
    scene.sinew.method = "sampling"
    bpy.ops.sinew.check_source()
    (notice,) = notices.of(request_of(scene))
    assert "on the spot" in notice.message and notice.offer == "sinew.give_travel" and not notice.fix
    assert "as it would travel" in notice.hint
    scene.sinew.methods.sampling.travel = "off"
    bpy.ops.sinew.check_source()
    (notice,) = notices.of(request_of(scene))
    assert notice.fix == "travel"
    bpy.ops.sinew.fix_source(fix="travel")
    assert scene.sinew.methods.sampling.travel == "auto"
    scene.sinew.method = "passthrough"
    bpy.ops.sinew.check_source()
    assert not notices.of(request_of(scene)), "what changes nothing may be on the spot"
