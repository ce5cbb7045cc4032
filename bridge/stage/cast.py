# SPDX-License-Identifier: GPL-3.0-or-later
"""The motions of everybody on the stage."""

from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ...core.sim.assembly import require_places_apart
from ...core.sim.stage_parts import Finding
from ..rig import sources
from ..rig.rig_reader import RigMotion, RigReading
from ..rig.rig_writer import require_writable
from ..rig.setting_aside import shows_by_itself
from ..scene.sliced_reading import DatablockRef
from ..scene.time_slicing import SLICE_S, Slices
from .reader import objects_on_stage

_STILL_M = 1e-4


@dataclass(frozen=True)
class Cast:
    """Who is simulated together, the main character first.

    motions: armature name -> motion, all over the same frames. actions: armature name -> name of the Action that moved
        it there, '' for what does not come from one; without the main character.
    findings: what the animator should know of how they were read.
    """

    motions: dict[str, RigMotion]
    actions: dict[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def others(self) -> dict[str, RigMotion]:
        """The motions of all but the main character."""
        return {name: rig for name, rig in self.motions.items() if name in self.actions}


def other_characters(scene: bpy.types.Scene, main: bpy.types.Object) -> list[bpy.types.Object]:
    """The armatures that are marked as characters and show, by name, without the main one."""
    marked = [obj for obj in objects_on_stage(scene) if obj.sinew.role == "CHARACTER" and obj.type == "ARMATURE"]
    return [obj for obj in marked if obj != main and shows_by_itself(obj)]


def read_cast_in_slices(
    scene: bpy.types.Scene, main: bpy.types.Object, rig: RigMotion, place: str = "AUTO", *, slice_s: float = SLICE_S
) -> Slices[Cast]:
    """Everybody who is marked, read over the frames of the main character's motion.

    What an armature does before or after its own Action is what the scene shows there: as a rule it holds the first or
    the last pose. Refuses who could not be written to ``place`` later, and characters that begin in one place.
    """
    cast = Cast({main.name: rig})
    others = [DatablockRef("objects", obj) for obj in other_characters(scene, main)]
    if not others:
        return cast
    frames = (rig.frame_start, rig.frame_start + len(rig.clip) - 1)
    scale = rig.metres_per_unit / scene.unit_settings.scale_length
    true_fps = rig.scene_fps / rig.time_stretch
    for one in others:
        obj = one.resolve()
        action = sources.prior_animation(obj).action
        name, moved_by = obj.name, action.name if action is not None else ""
        reading = RigReading(obj, frames=frames, true_fps=true_fps, scale=scale, without_takes=True)
        while not reading.advance(slice_s):
            yield None
        motion: RigMotion = yield reading.finish
        require_writable(one.resolve(), motion.clip.skeleton.names, place)
        cast.motions[name], cast.actions[name] = motion, moved_by
    findings: tuple[Finding, ...] = yield lambda: _findings(cast, frames)
    return replace(cast, findings=findings)


def _findings(cast: Cast, frames: tuple[int, int]) -> tuple[Finding, ...]:
    """Who stands still; refuses characters that begin in one place. For any thread."""
    world = {name: motion.clip.world()[0] for name, motion in cast.motions.items()}
    # Before there are bodies, the middle of everybody's bones tells where they are.
    places = np.array([pos[0].mean(axis=0) for pos in world.values()])
    require_places_apart(list(world), places, [motion.clip.skeleton for motion in cast.motions.values()])
    return tuple(
        Finding(
            "still",
            f"'{name}' has no motion in frames {frames[0]} to {frames[1]} and tries to stand still",
            "Give it an Action there, if it should do something",
        )
        for name in cast.others
        if np.ptp(world[name], axis=0).max() < _STILL_M
    )
