# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Skills panel shows: plain texts and numbers, and why something cannot be done yet."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy

from ...core.errors import SinewError
from ..jobs import monitor
from ..jobs.job_views import JobView
from ..scene.chosen_armature import why_editing, why_no_armature
from ..takes.report_texts import measure_text
from . import learning

_BARS = "▁▂▃▄▅▆▇█"
_WIDEST = 8
# The curves that an animator watches while skills are learned, in their order.
_WATCHED = ("change", "push_n", "stood", "cost")

# What went wrong last, by armature: as long as nothing else was done there.
_problems: dict[str, SinewError] = {}


def say(armature: str, problem: SinewError | None) -> None:
    """Show a problem in the panel until something goes well; None for that."""
    _problems.pop(armature, None)
    if problem is not None:
        _problems[armature] = problem


def problem_of(armature: str) -> SinewError | None:
    """What went wrong last for the armature."""
    return _problems.get(armature)


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


@dataclass(frozen=True)
class LiveCurve:
    """How a number goes while skills are learned: its name, its newest value, and its way so far as small bars."""

    name: str
    value: str
    bars: str


def learning_view(obj: bpy.types.Object) -> JobView | None:
    """The newest job that learns the armature's skills."""
    own = (view for view in monitor.views() if view.armature == obj.name and view.method_name == learning.METHOD)
    return next(own, None)


def live_curves(view: JobView) -> tuple[LiveCurve, ...]:
    """The curves that are worth a line."""
    by_name = dict(view.curves)
    return tuple(
        LiveCurve(*measure_text(name, by_name[name][-1]), bars(by_name[name])) for name in _WATCHED if name in by_name
    )


def bars(points: Sequence[float]) -> str:
    """A curve as a few small bars, from its lowest to its highest point."""
    count = min(len(points), _WIDEST)
    if count < 2:
        return ""
    chosen = [points[round(i * (len(points) - 1) / (count - 1))] for i in range(count)]
    low, span = min(chosen), max(chosen) - min(chosen)
    if span <= 0.0:
        return _BARS[0] * count
    return "".join(_BARS[min(int((value - low) / span * len(_BARS)), len(_BARS) - 1)] for value in chosen)
