# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature's Actions as skills: collecting them in its list, and reading them as clips to learn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.control.graph.transitions.motion_graph import Skill
from ...core.control.tracking.motion_kind import guess_gait, guess_motion_kind
from ...core.errors import GraphError
from ...core.motion import Clip, Skeleton
from ..jobs.requests import Request, read
from ..rig import actions, sources
from ..rig.rig_reader import RigMotion
from ..stage.timing import Clock

_SAME_M, _SAME = 1e-3, 1e-4
_LOOKS = {"gait": "symmetric gait", "cycle": "cycle", "once": "motion to be played once", "rise": "get-up"}


@dataclass(frozen=True, eq=False)
class Collected:
    """A skill as it was read. clock: between the frames of its Action and the seconds of its clip."""

    skill: Skill
    action: bpy.types.Action
    rig: RigMotion

    @property
    def clock(self) -> Clock:
        """The clock of its clip."""
        return Clock.of(self.rig)

    def seconds(self, frame: float) -> float:
        """Seconds in its clip at a frame of its Action, never beyond its ends by a rounding."""
        found = self.clock.seconds(frame)
        near = 0.5 * self.clock.frame_s
        held = min(max(found, 0.0), self.skill.duration_s)
        return held if abs(found - held) <= near else found

    def frame(self, seconds: float) -> int:
        """The frame of its Action that is nearest to a time in its clip."""
        return round(self.clock.frame(seconds))


def add(obj: bpy.types.Object, action: bpy.types.Action, name: str = "") -> bpy.types.PropertyGroup:
    """Put an Action on the list of skills, or choose it if it is there."""
    index = next((i for i, row in enumerate(obj.sinew_skills) if row.action == action), -1)
    if index < 0:
        if actions.frame_range(action, actions.slot_for(action, obj)) is None:
            raise GraphError(f"Action '{action.name}' has no keys for '{obj.name}'", "Choose an Action that moves it")
        row = obj.sinew_skills.add()
        row.action = action
        row.name = name or action.name
        index = len(obj.sinew_skills) - 1
    obj.sinew_skill_index = index
    return obj.sinew_skills[index]


def active_action(obj: bpy.types.Object) -> bpy.types.Action | None:
    """The Action that moves the armature; for a take, the one that it was made from."""
    return sources.prior_animation(obj).action


def own_actions(obj: bpy.types.Object) -> list[bpy.types.Action]:
    """Every Action of the file that was made for this armature and is no take."""
    takes = {row.action for row in obj.sinew_takes}
    found = []
    for action in bpy.data.actions:
        slot = actions.slot_for(action, obj)
        if slot is None or action in takes or sources.is_take(action):
            continue
        bones = {curve.data_path.split('"')[1] for curve in actions.curves_of(action, slot) if '"' in curve.data_path}
        if bones and bones <= {bone.name for bone in obj.data.bones}:
            found.append(action)
    return found


def remove(obj: bpy.types.Object, index: int) -> list[str]:
    """Take a skill off the list, and the transitions that lead to or from it; gives those, in words."""
    name = obj.sinew_skills[index].name
    ways = obj.sinew_transitions
    gone = [place for place, way in enumerate(ways) if name in (way.source, way.target)]
    words = [f"{ways[place].source} to {ways[place].target}" for place in gone]
    for place in reversed(gone):
        ways.remove(place)
    obj.sinew_skills.remove(index)
    obj.sinew_skill_index = max(min(index, len(obj.sinew_skills) - 1), 0)
    obj.sinew_transition_index = max(min(obj.sinew_transition_index, len(ways) - 1), 0)
    return words


def collected(obj: bpy.types.Object, scale: float = 1.0) -> list[Collected]:
    """Read every skill on the list; refuses what is no skill, naming it.

    scale: metres a Blender unit.
    """
    found: list[Collected] = []
    for row in obj.sinew_skills:
        if row.action is None:
            raise GraphError(f"The Action of skill '{row.name}' was deleted", "Choose another one, or remove the skill")
        rig = read(Request(obj.name, row.action.name, scale=scale))
        if found:
            rig = standing_as(rig, found[0].rig.clip.skeleton)
        found.append(Collected(_skill(row, rig.clip), row.action, rig))
    if not found:
        raise GraphError(f"'{obj.name}' has no skills", "Add its Actions to the list of skills")
    return found


def note_looks(obj: bpy.types.Object, read: Sequence[Collected]) -> None:
    """Note on the list what each skill looks like; once all went well, for what fails changes nothing."""
    for row, one in zip(obj.sinew_skills, read, strict=True):
        row.looks = _LOOKS["gait" if one.skill.gait else one.skill.kind]


def standing_as(rig: RigMotion, skeleton: Skeleton) -> RigMotion:
    """The motion on a skeleton that differs only in the order of its bones and in how its roots rest.

    A graph may have been learned from files, whose bones come in another order than Blender's; and roots rest otherwise
    where the object itself was turned. On a skeleton that differs in more, the motion is left as it is.
    """
    own = rig.clip.skeleton
    if set(own.names) != set(skeleton.names):
        return rig
    order = [own.index(name) for name in skeleton.names]
    held = np.asarray(skeleton.parents) >= 0
    over = [own.names[own.parents[bone]] if own.parents[bone] >= 0 else "" for bone in order]
    far = np.abs(own.rest_pos[order] - skeleton.rest_pos)[held].max(initial=0.0)
    cosines = np.abs(np.sum(own.rest_quat_wxyz[order] * skeleton.rest_quat_wxyz, axis=-1))
    longer = np.abs(own.lengths[order] - skeleton.lengths).max(initial=0.0)
    if over != [skeleton.names[parent] if parent >= 0 else "" for parent in skeleton.parents]:
        return rig
    if far > _SAME_M or longer > _SAME_M or 1.0 - cosines[held].min(initial=1.0) > _SAME:
        return rig
    pos, quat = rig.clip.local_pos[:, order], rig.clip.local_quat_wxyz[:, order]
    clip = Clip(skeleton, rig.clip.fps, pos, quat, rig.clip.name, rig.clip.tags)
    return replace(rig, clip=clip, bone_stretch=rig.bone_stretch[:, order])


def _skill(row: bpy.types.PropertyGroup, clip: Clip) -> Skill:
    kind = guess_motion_kind(clip) if row.kind == "AUTO" else row.kind.lower()
    gait = row.gait == "YES" or (row.gait == "AUTO" and kind == "cycle" and guess_gait(clip))
    return Skill(row.name, clip, kind, gait)
