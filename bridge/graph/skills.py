# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature's Actions as skills: collecting them in its list, and reading them as clips to learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import bpy

from ...core.control.graph.transitions.motion_graph import Skill
from ...core.control.tracking.motion_kind import guess_gait, guess_motion_kind
from ...core.errors import GraphError
from ...core.motion import Clip
from ..jobs.preparing import Preparation, do_at_once
from ..jobs.requests import Request, find_armature
from ..rig import actions, sources
from ..rig.rig_reader import RigMotion
from ..rig.standing import match_skeleton
from ..scene.time_slicing import Slices
from ..stage.timing import Clock

_LEARN = "graph_learn"  # the method that skills are read for
_LOOKS = {"gait": "symmetric gait", "cycle": "cycle", "once": "motion to be played once", "rise": "get-up"}


@dataclass(frozen=True, eq=False)
class ReadSkill:
    """A skill as it was read. action_name: of the Action that it was read from, '' for none."""

    skill: Skill
    action_name: str
    rig: RigMotion

    @property
    def action(self) -> bpy.types.Action | None:
        """The Action, found anew."""
        return bpy.data.actions.get(self.action_name)

    @property
    def clock(self) -> Clock:
        """Between the frames of its Action and the seconds of its clip."""
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


def add_skill(obj: bpy.types.Object, action: bpy.types.Action, name: str = "") -> bpy.types.PropertyGroup:
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


def remove_skill(obj: bpy.types.Object, index: int) -> list[str]:
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


def read_skills(own: Preparation, armature: str, scale: float = 1.0) -> Slices[list[ReadSkill]]:
    """Read every skill on the armature's list, a little at a time; refuses what is no skill, naming it.

    scale: metres a Blender unit.
    """
    obj = find_armature(armature)
    rows = [(row.name, row.kind, row.gait, row.action.name if row.action else "") for row in obj.sinew_skills]
    if not rows:
        raise GraphError(f"'{obj.name}' has no skills", "Add its Actions to the list of skills")
    own.title = obj.name
    found: list[ReadSkill] = []
    for number, (name, kind, gait, action) in enumerate(rows, start=1):
        if not action:
            raise GraphError(f"The Action of skill '{name}' was deleted", "Choose another one, or remove the skill")
        own.text = f"Reading '{name}', {number} of {len(rows)}"
        rig = yield from own.read(Request(armature, action, method=_LEARN, scale=scale))
        if found:
            rig = match_skeleton(rig, found[0].rig.clip.skeleton)
        skill = yield partial(_skill, name, kind, gait, rig.clip)
        found.append(ReadSkill(skill, action, rig))
    own.text = "Getting ready"
    return found


def read_skills_at_once(obj: bpy.types.Object, scale: float = 1.0) -> list[ReadSkill]:
    """The same here and now."""
    return do_at_once(lambda own: read_skills(own, obj.name, scale))


def note_looks(obj: bpy.types.Object, read: Sequence[ReadSkill]) -> None:
    """Note on the list what each skill looks like; once all went well, for what fails changes nothing."""
    for row, one in zip(obj.sinew_skills, read, strict=True):
        row.looks = _LOOKS["gait" if one.skill.gait else one.skill.kind]


def _skill(name: str, kind: str, gait: str, clip: Clip) -> Skill:
    played = guess_motion_kind(clip) if kind == "AUTO" else kind.lower()
    is_gait = gait == "YES" or (gait == "AUTO" and played == "cycle" and guess_gait(clip))
    return Skill(name, clip, played, is_gait)
