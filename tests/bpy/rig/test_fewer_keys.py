# SPDX-License-Identifier: GPL-3.0-or-later
"""A take with fewer keys moves the armature as the take does, within the tolerance of each bone."""

import numpy as np
import pytest

from sinew.bridge.rig import actions
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.rig.rig_writer import write_take
from sinew.core.motion import Take

from ..helpers.rigs import arm, wave


def keys_of(action, obj):
    return sum(len(curve.keyframe_points) for curve in actions.curves_of(action, actions.slot_for(action, obj)))


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_a_wave_with_fewer_keys_is_the_same_wave(addon, mode):
    obj = arm("Hero")
    wave(obj)
    rig = read_rig(obj)
    for bone in obj.pose.bones:
        bone.rotation_mode = mode
    every, few = (
        write_take(obj, Take(rig.clip), rig, name=name, where="ACTION", tolerance_m=tolerance).action
        for name, tolerance in (("every", 0.0), ("few", 0.002))
    )
    assert keys_of(few, obj) < 0.7 * keys_of(every, obj)
    assert few.frame_range[:] == every.frame_range[:]
    wanted, found = (read_rig(obj, action=action).clip.world()[0] for action in (every, few))
    # Every bone may be off by the tolerance, and carries those below it.
    assert np.abs(wanted - found).max() < 0.002 * len(obj.pose.bones)
