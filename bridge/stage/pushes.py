# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes as the scene has them: force and direction frame by frame, steady stretches as one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.errors import BadStage
from ...core.geometry.quaternions import Array
from ...core.sim.stage_parts import Finding, PushPart
from ..rig.rig_reader import RigMotion
from .properties import intent_of
from .timing import Clock


@dataclass(frozen=True)
class PushSpan:
    """A push with whom and which bone it is for, and the frames that it covers, from the first to before the last.

    intent: the reaction that its strength is to be found for, '' for none.
    """

    name: str
    character: str
    bone: str
    frames: range
    ends: float
    intent: str = ""


def find_push_span(obj: bpy.types.Object, cast: Mapping[str, RigMotion]) -> PushSpan | Finding:
    """When the push acts, or why it does not."""
    clock, push = Clock.of(next(iter(cast.values()))), obj.sinew
    character = push.armature.name if push.armature else next(iter(cast))
    if character not in cast:
        return left_out_finding(obj, f"it pushes '{character}', who is not simulated", "Simulate them together")
    ends = push.start_frame + push.duration / clock.frame_s
    last = clock.frame(clock.duration_s)
    if ends <= clock.frame_start or push.start_frame >= last:
        why = f"it acts at frame {push.start_frame}, outside of frames {clock.frame_start} to {last:.0f}"
        return left_out_finding(obj, why, "Move its start frame")
    frames = range(max(push.start_frame, clock.frame_start), int(np.ceil(min(ends, last) - 1e-6)))
    return PushSpan(obj.name, character, push.bone, frames, min(ends, last), intent_of(obj))


def left_out_finding(obj: bpy.types.Object, why: str, fix: str) -> Finding:
    """The finding for something that takes no part."""
    return Finding("left_out", f"'{obj.name}' was left out: {why}", fix)


def read_force(obj: bpy.types.Object) -> Array:
    """(3,) newtons in the world, at the current frame."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    arrow = np.array(evaluated.matrix_world)[:3, 2]
    length = float(np.linalg.norm(arrow))
    if not length > 1e-9:
        raise BadStage(f"Push '{evaluated.name}' has a scale of zero and points nowhere", "Set its scale to 1")
    return arrow / length * evaluated.sinew.force


def make_push_parts(span: PushSpan, forces: Mapping[int, Array], clock: Clock) -> list[PushPart]:
    """One part for every stretch of frames with the same force; none where there is no force.

    forces: by frame (3,) newtons, in the order of the frames.
    """
    parts: list[PushPart] = []
    if not any(np.any(force) for force in forces.values()):
        raise BadStage(f"Push '{span.name}' has no force", "Give it a force above zero")
    for frame, force in forces.items():
        start_s, end_s = clock.seconds(frame), clock.seconds(min(frame + 1, span.ends))
        if parts and np.allclose(parts[-1].force, force, rtol=1e-5, atol=1e-3):
            parts[-1] = replace(parts[-1], duration_s=end_s - parts[-1].start_s)
        else:
            parts.append(PushPart(span.name, span.character, span.bone, force, start_s, end_s - start_s, span.intent))
    return [part for part in parts if np.any(part.force)]
