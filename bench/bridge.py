# SPDX-License-Identifier: GPL-3.0-or-later
"""What the two doors cost: reading a pose and writing a take, a frame."""

import time
from typing import Any

import bpy

from ..bridge.importing.importers import open_input
from ..bridge.rig.rig_reader import read_rig
from ..bridge.rig.rig_writer import write_take
from ..core.motion import Take
from ..core.motion.io import stock


def measure() -> dict[str, Any]:
    """Milliseconds a frame to read and to write every stock clip on the mannequin, against a bare frame change."""
    read_s = write_s = bare_s = 0.0
    frames = bones = 0
    for name in stock.stock_names():
        open_input(name)
        scene = bpy.context.scene
        obj = next(found for found in scene.objects if found.type == "ARMATURE")
        for child in list(obj.children):
            bpy.data.objects.remove(child)  # the doors alone, without the cost of deforming a mesh
        begin = time.perf_counter()
        for frame in range(scene.frame_start, scene.frame_end + 1):
            scene.frame_set(frame)
        bare_s += time.perf_counter() - begin
        begin = time.perf_counter()
        rig = read_rig(obj)
        read_s += time.perf_counter() - begin
        begin = time.perf_counter()
        write_take(obj, Take(rig.clip), rig, name="bench")
        write_s += time.perf_counter() - begin
        frames, bones = frames + len(rig.clip), len(rig.clip.skeleton)
    return {
        "bones": bones,
        "frames": frames,
        "frame_set_ms": 1e3 * bare_s / frames,
        "read_ms_a_frame": 1e3 * read_s / frames,
        "write_ms_a_frame": 1e3 * write_s / frames,
        "read_over_frame_set": read_s / bare_s,
    }
