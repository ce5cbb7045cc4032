# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes as the scene has them: force and direction frame by frame, steady stretches as one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.errors import BadStage
from ...core.geometry.quaternions import Array
from ...core.sim.parts import Finding, PushPart
from ..rig_reader import RigMotion
from .timing import Clock


@dataclass(frozen=True)
class _Span:
    """A push with the character it is for and the frames that it covers, from the first to before the last."""

    obj: bpy.types.Object
    character: str
    frames: range
    ends: float


def read_pushes(
    scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], cast: Mapping[str, RigMotion]
) -> tuple[list[PushPart], list[Finding]]:
    """The pushes of ``objects`` on the characters, and those that were left out. Moves the scene's frame."""
    spans, findings = [], []
    clock = Clock.of(next(iter(cast.values())))
    for obj in objects:
        span = _span(obj, cast, clock)
        (findings if isinstance(span, Finding) else spans).append(span)
    forces: dict[str, dict[int, Array]] = {span.obj.name: {} for span in spans}
    for frame in sorted({frame for span in spans for frame in span.frames}):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for span in spans:
            if frame in span.frames:
                forces[span.obj.name][frame] = _force(span.obj.evaluated_get(depsgraph))
    return [part for span in spans for part in _parts(span, forces[span.obj.name], clock)], findings


def _span(obj: bpy.types.Object, cast: Mapping[str, RigMotion], clock: Clock) -> _Span | Finding:
    """When the push acts, or why it does not."""
    push = obj.sinew
    character = push.armature.name if push.armature else next(iter(cast))
    if character not in cast:
        return left_out(obj, f"it pushes '{character}', who is not simulated", "Simulate them together")
    ends = push.start_frame + push.duration / clock.frame_s
    last = clock.frame(clock.duration_s)
    if ends <= clock.frame_start or push.start_frame >= last:
        why = f"it acts at frame {push.start_frame}, outside of frames {clock.frame_start} to {last:.0f}"
        return left_out(obj, why, "Move its start frame")
    frames = range(max(push.start_frame, clock.frame_start), int(np.ceil(min(ends, last) - 1e-6)))
    return _Span(obj, character, frames, min(ends, last))


def left_out(obj: bpy.types.Object, why: str, fix: str) -> Finding:
    """The finding for something that takes no part."""
    return Finding("left_out", f"'{obj.name}' was left out: {why}", fix)


def _force(evaluated: bpy.types.Object) -> Array:
    """(3,) newtons in the world."""
    arrow = np.array(evaluated.matrix_world)[:3, 2]
    length = float(np.linalg.norm(arrow))
    if not length > 1e-9:
        raise BadStage(f"Push '{evaluated.name}' has a scale of zero and points nowhere", "Set its scale to 1")
    return arrow / length * evaluated.sinew.force


def _parts(span: _Span, forces: Mapping[int, Array], clock: Clock) -> list[PushPart]:
    """One part for every stretch of frames with the same force; none where there is no force."""
    parts: list[PushPart] = []
    name, bone = span.obj.name, span.obj.sinew.bone
    if not any(np.any(force) for force in forces.values()):
        raise BadStage(f"Push '{name}' has no force", "Give it a force above zero")
    for frame, force in forces.items():
        start_s, end_s = clock.seconds(frame), clock.seconds(min(frame + 1, span.ends))
        if parts and np.allclose(parts[-1].force, force, rtol=1e-5, atol=1e-3):
            parts[-1] = replace(parts[-1], duration_s=end_s - parts[-1].start_s)
        else:
            parts.append(PushPart(name, span.character, bone, force, start_s, end_s - start_s))
    return [part for part in parts if np.any(part.force)]
