# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command line gives to learn: clips by name or file, or the skills that were collected in a .blend."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import bpy

from ...core.control.graph.transitions.motion_graph import KINDS, Skill, Transition
from ...core.control.tracking.motion_kind import guess_gait, guess_motion_kind
from ...core.control.tracking.skeleton_matching import describe_skeleton_difference
from ...core.errors import BadSettings, GraphError
from ...core.motion import Clip
from ..graph import skills, transitions
from ..graph.skills import ReadSkill
from ..importing.importers import open_input
from ..jobs import requests
from ..rig.standing import match_skeleton

_WAY = re.compile(r"\s*(?P<source>.+?)@(?P<leave>[\d.]+)\s*>\s*(?P<target>.+?)@(?P<enter>[\d.]+)\s*")
_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True)
class Choices:
    """What is said of skills by name: kinds, gaits, and the ways between them."""

    kinds: Mapping[str, str]
    gaits: Mapping[str, bool]
    ways: tuple[Transition, ...]

    def require_known(self, names: Sequence[str]) -> None:
        """Refuse words about a skill that is not there."""
        for name in (*self.kinds, *self.gaits):
            if name not in names:
                raise GraphError(f"There is no skill '{name}'", f"The skills are: {', '.join(names)}")


def choices_of(kinds: Sequence[str], gaits: Sequence[str], ways: Sequence[str]) -> Choices:
    """What was said on the command line, checked before anything is opened."""
    return Choices(
        dict(_kind(text) for text in kinds), dict(_gait(text) for text in gaits), tuple(_way(text) for text in ways)
    )


def _kind(text: str) -> tuple[str, str]:
    name, _, kind = text.rpartition("=")
    if not name or kind not in KINDS:
        raise BadSettings(f"'{text}' says not of which kind a skill is", f"Write NAME=KIND, with {', '.join(KINDS)}")
    return name, kind


def _gait(text: str) -> tuple[str, bool]:
    name, _, word = text.rpartition("=") if "=" in text else (text, "", "yes")
    if not name or word.lower() not in _YES:
        raise BadSettings(f"'{text}' says not whether a skill is a gait", "Write NAME, or NAME=no")
    return name, _YES[word.lower()]


def _way(text: str) -> Transition:
    match = _WAY.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        return Transition(match["source"], float(match["leave"]), match["target"], float(match["enter"]))
    except ValueError:
        hint = "Write seconds of both, such as 'walk@0.4>run@0.1'"
        raise BadSettings(f"'{text}' is no transition", hint) from None


def open_files(texts: Sequence[str], scale: float, choices: Choices) -> tuple[bpy.types.Object, list[ReadSkill]]:
    """Open clips by name or file, the first one last: its armature is the one that stays. Refuses other skeletons."""
    read = {}
    for text in (*texts[1:], texts[0]):
        left = open_input(text, scale)
        name = _free_name(Path(text).stem if Path(text).suffix else text, read)
        read[name] = requests.read(requests.Request("", method="graph_learn", scale=left))
    names = list(read)[-1:] + list(read)[:-1]
    choices.require_known(names)
    obj, first = requests.find_armature(), read[names[0]]
    found = []
    for name in names:
        rig = match_skeleton(read[name], first.clip.skeleton)
        if why := describe_skeleton_difference(first.clip.skeleton, rig.clip.skeleton):
            raise GraphError(
                f"The skills '{names[0]}' and '{name}' have different skeletons: {why}",
                "Give motions of one skeleton, or retarget one of them",
            )
        action = obj.animation_data.action if obj.animation_data else None
        found.append(ReadSkill(skill_of(name, rig.clip, choices), action.name if action else "", rig))
    return obj, found


def open_blend(
    text: str, armature: str, actions: Sequence[str], scale: float, choices: Choices
) -> tuple[bpy.types.Object, list[ReadSkill], tuple[Transition, ...]]:
    """What was collected in a .blend ('' for the open one), or the Actions that are named; and its transitions."""
    if not text and not bpy.data.filepath:
        raise BadSettings("There is nothing to learn", "Give stock clips, motion files or a .blend (see 'sinew clips')")
    left = open_input(text, scale) if text else scale
    obj = requests.find_armature(armature)
    if actions:
        obj.sinew_skills.clear()
        obj.sinew_transitions.clear()
        for name in actions:
            skills.add_skill(obj, requests.find_action(name))
    if not obj.sinew_skills:
        raise GraphError(
            f"'{obj.name}' has no skills in '{text or bpy.data.filepath}'",
            "Collect its Actions in the Skills panel, or name them with --action",
        )
    choices.require_known([row.name for row in obj.sinew_skills])
    for row in obj.sinew_skills:
        if row.name in choices.kinds:
            row.kind = choices.kinds[row.name].upper()
        if row.name in choices.gaits:
            row.gait = "YES" if choices.gaits[row.name] else "NO"
    found = skills.read_skills_at_once(obj, left)
    return obj, found, transitions.graph_of(obj, found).transitions


def skill_of(name: str, clip: Clip, choices: Choices) -> Skill:
    """A clip as a skill: as was said, else as it looks."""
    kind = choices.kinds.get(name) or guess_motion_kind(clip)
    gait = choices.gaits.get(name, kind == "cycle" and guess_gait(clip))
    return Skill(name, clip, kind, gait)


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    if name in taken:
        raise BadSettings(f"Two inputs are called '{name}'", "Rename one of the files: skills are known by their names")
    return name
