# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Skills panel shows: plain texts and numbers, and why something cannot be done yet."""

import bpy

from ..scene.chosen_armature import why_editing, why_no_armature


def why_no_skills(scene: bpy.types.Scene, least: int = 1) -> str:
    """Why the skills cannot be read yet, with the fix; '' if they can. Like the others here, cheap enough for draw."""
    if reason := why_no_armature(scene):
        return reason
    obj = scene.sinew.armature
    if reason := why_editing(obj):
        return reason
    skills = obj.sinew_skills
    if len(skills) < least:
        return "No skills yet: add Actions" if not skills else "Add another skill: transitions lead from one to another"
    empty = next((skill.name for skill in skills if skill.action is None), None)
    return f"Skill '{empty}' has no Action: choose one, or remove it" if empty else ""


def why_not_learn(scene: bpy.types.Scene) -> str:
    """Why nothing can be learned yet."""
    if reason := why_no_skills(scene):
        return reason
    obj = scene.sinew.armature
    ways = [way for way in obj.sinew_transitions if way.use]
    if len(obj.sinew_skills) > 1 and not ways:
        return "No transitions yet: propose them"
    known = {skill.name for skill in obj.sinew_skills}
    lost = next((name for way in ways for name in (way.source, way.target) if name not in known), None)
    return f"A transition is about '{lost}', which is no skill: choose another" if lost is not None else ""


def transition_text(way: bpy.types.PropertyGroup) -> str:
    """A transition in words: 'walk 12 to run 3'."""
    return f"{way.source} {way.leave_frame} to {way.target} {way.enter_frame}"
