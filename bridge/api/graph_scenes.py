# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene for a graph that comes without one: characters who stand there, pushes, and a path."""

import math
from collections.abc import Sequence

import bpy
import numpy as np

from ...core.body import BodyModel
from ...core.control.graph.model.control_graph import ControlGraph
from ...core.errors import BadSettings
from ...core.motion import Clip, Skeleton
from ...core.motion.io import stock
from ...core.sim.stage_parts import PushPart
from ...core.sim.variations import facing_direction_at, trunk_bone
from .. import mannequin
from ..importing.importers import set_frame_rate
from ..rig.rig_reader import read_rig
from ..scene.muted_output import mute_output
from .trunk_pushes import parse_trunk_push

_APART_M = 3.0
_MOST = 12
_SAME_M, _FPS = 1e-3, 30.0


def stand_up(graph: ControlGraph, count: int) -> bpy.types.Object:
    """An empty scene with so many characters of the graph's skeleton, on a circle and facing its middle."""
    if not 1 <= count <= _MOST:
        raise BadSettings(f"{count} characters are no company", f"Give a number from 1 to {_MOST}")
    skeleton = _dressed(graph.body.skeleton)
    with mute_output():
        bpy.ops.wm.read_homefile(use_empty=True)
        scene = bpy.context.scene
        set_frame_rate(scene, _FPS)
        made = [mannequin.build(scene, skeleton) for _ in range(count)]
        rest = Clip(skeleton, 30.0, skeleton.rest_pos[None], skeleton.rest_quat_wxyz[None])
        ahead = facing_direction_at(graph.body, rest, 0.0)
        radius = 0.0 if count == 1 else _APART_M / (2.0 * math.sin(math.pi / count))
        for number, obj in enumerate(made):
            angle = 2.0 * math.pi * number / count
            obj.location = (radius * math.cos(angle), radius * math.sin(angle), 0.0)
            if count > 1:
                obj.rotation_euler.z = angle + math.pi - math.atan2(ahead[1], ahead[0])
            if number:
                obj.sinew.role = "CHARACTER"
        bpy.context.view_layer.update()
        mannequin.build_set(scene)
    return made[0]


def _dressed(skeleton: Skeleton) -> Skeleton:
    """The stock clips' skeleton in place of one that is it but for Blender's rounding: the mannequin fits only that."""
    known = stock.stock_skeleton()
    if set(known.names) != set(skeleton.names):
        return skeleton
    order = [skeleton.index(name) for name in known.names]
    apart = np.abs(skeleton.rest_world()[0][order] - known.rest_world()[0]).max()
    return known if apart < _SAME_M else skeleton


def pushes_of(texts: Sequence[str], body: BodyModel, obj: bpy.types.Object, frame: int) -> tuple[PushPart, ...]:
    """Pushes on the trunk from texts such as '150@2:left'; sides are seen from where it faces when it begins."""
    if not texts:
        return ()
    clip = read_rig(obj, frames=(frame, frame + 1)).clip
    ahead = facing_direction_at(body, clip, 0.0)
    bone, pushes = trunk_bone(body), enumerate(map(parse_trunk_push, texts), start=1)
    return tuple(push.place(number, bone, obj.name, ahead) for number, push in pushes)


def points_of(text: str | None) -> tuple[tuple[float, float], ...]:
    """Points in metres from a text such as '0,0 3,0 5,2'."""
    if not text:
        return ()
    try:
        found = tuple((float(x), float(y)) for x, y in (word.split(",") for word in text.split()))
    except ValueError:
        raise BadSettings(f"'{text}' is no path", "Write points in metres, such as '0,0 3,0 5,2'") from None
    if len(found) < 2:
        raise BadSettings(f"'{text}' is a single point", "Give at least two")
    return found
