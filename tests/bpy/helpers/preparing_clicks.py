# SPDX-License-Identifier: GPL-3.0-or-later
"""A click whose work is done in slices: what it starts, and the timer that takes it on."""

import inspect
import time

import bpy

from sinew.bridge.jobs import preparing


def click(verb):
    """What a click on a button does; Blender itself only does it where there is a window."""
    kind = bpy.types.Operator.bl_rna_get_subclass_py(f"SINEW_OT_{verb}")
    assert kind.poll(bpy.context)
    return kind.prepare(_Clicked(kind), bpy.context)


class _Clicked:
    """An operator that nobody has to register a window for: what its class has, and reports that go nowhere."""

    def __init__(self, kind):
        self._kind = kind

    def __getattr__(self, name):
        verb = self._kind.bl_idname.partition("_OT_")[2] or self._kind.bl_idname.partition(".")[2]
        found = getattr(bpy.ops.sinew, verb).get_rna_type().properties.get(name)
        if found is not None and not hasattr(self._kind, name):
            return found.default
        value = getattr(self._kind, name)
        return value.__get__(self) if inspect.isfunction(value) else value

    def report(self, *_):
        pass


def prepare(seconds=60.0):
    """Tick as Blender's timer would until nothing is prepared any more; gives how often."""
    stop, ticks = time.monotonic() + seconds, 0
    while preparing.tick_preparations() is not None:
        assert time.monotonic() < stop, preparing.preparation_views()
        ticks += 1
        time.sleep(0.005)
    return ticks


def same(one, other):
    assert one.clip.skeleton.names == other.clip.skeleton.names and one.clip.fps == other.clip.fps
    for name in ("local_pos", "local_quat_wxyz"):
        assert getattr(one.clip, name).tobytes() == getattr(other.clip, name).tobytes(), name
    assert one.bone_stretch.tobytes() == other.bone_stretch.tobytes()
