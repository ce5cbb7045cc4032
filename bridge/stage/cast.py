# SPDX-License-Identifier: GPL-3.0-or-later
"""The motions of everybody on the stage."""

from dataclasses import dataclass, field

import bpy
import numpy as np

from ...core.sim.assembly import require_places_apart
from ...core.sim.parts import Finding
from .. import sources
from ..rig_reader import RigMotion, read_rig
from ..rig_writer import require_writable
from .reader import declared, on_stage

_STILL_M = 1e-4


@dataclass(frozen=True)
class Cast:
    """Who is simulated together, the main character first.

    motions: armature name -> motion, all over the same frames. actions: armature name -> what moved it there, None
        for what does not come from an Action; without the main character.
    findings: what the animator should know of how they were read.
    """

    motions: dict[str, RigMotion]
    actions: dict[str, bpy.types.Action | None] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def others(self) -> dict[str, RigMotion]:
        """The motions of all but the main character."""
        return {name: rig for name, rig in self.motions.items() if name in self.actions}


def other_characters(scene: bpy.types.Scene, main: bpy.types.Object) -> list[bpy.types.Object]:
    """The armatures that are marked as characters and show, by name, without the main one."""
    with declared():
        marked = [obj for obj in on_stage(scene) if obj.sinew.role == "CHARACTER" and obj.type == "ARMATURE"]
        return [obj for obj in marked if obj != main and obj.visible_get()]


def read_cast(scene: bpy.types.Scene, main: bpy.types.Object, rig: RigMotion, place: str = "AUTO") -> Cast:
    """Everybody who is marked, read over the frames of the main character's motion.

    What an armature does before or after its own Action is what the scene shows there: as a rule it holds the first or
    the last pose. Refuses who could not be written to ``place`` later, and characters that begin in one place.
    """
    cast, findings = Cast({main.name: rig}), []
    others = other_characters(scene, main)
    if not others:
        return cast
    frames = (rig.frame_start, rig.frame_start + len(rig.clip) - 1)
    scale = rig.metres_per_unit / scene.unit_settings.scale_length
    for obj in others:
        action = sources.before_of(obj).action
        with sources.without_takes([obj]):
            motion = read_rig(obj, frames=frames, true_fps=rig.scene_fps / rig.time_stretch, scale=scale)
        require_writable(obj, motion.clip.skeleton.names, place)
        cast.motions[obj.name], cast.actions[obj.name] = motion, action
        if np.ptp(motion.clip.world()[0], axis=0).max() < _STILL_M:
            message = f"'{obj.name}' has no motion in frames {frames[0]} to {frames[1]} and tries to stand still"
            findings.append(Finding("still", message, "Give it an Action there, if it should do something"))
    clips = [motion.clip for motion in cast.motions.values()]
    # Before there are bodies, the middle of everybody's bones tells where they are.
    places = np.array([clip.world()[0][0].mean(axis=0) for clip in clips])
    require_places_apart(list(cast.motions), places, [clip.skeleton for clip in clips])
    return Cast(cast.motions, cast.actions, tuple(findings))
