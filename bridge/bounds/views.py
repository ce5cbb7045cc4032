# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Bounds panel shows: plain texts and numbers, and why something cannot be done yet."""

import bpy

from ...core.errors import SinewError
from ..graph.views import LiveCurve, bars
from ..jobs import monitor
from ..jobs.job_views import JobView
from ..rig import sources
from ..scene.chosen_armature import why_editing, why_no_armature
from . import training

# The curves that an animator watches while it is trained, in their order, and how they are said.
_WATCHED = {"lasts": ("Lasts", "{:.0%}"), "lives_s": ("Tries last", "{:.1f} s"), "earned": ("Reward", "{:.2f}")}

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


def source_of(scene: bpy.types.Scene, obj: bpy.types.Object) -> bpy.types.Action | None:
    """The Action that would be learned: the chosen one, or what moves the armature when no take does."""
    return scene.sinew.action or sources.prior_animation(obj).action


def shows_take(obj: bpy.types.Object) -> bool:
    """Whether a take moves the armature now, and not what bounds are keyed in."""
    action = obj.animation_data.action if obj.animation_data else None
    return action is not None and sources.is_take(action)


def why_not_train(scene: bpy.types.Scene) -> str:
    """Why nothing can be trained yet, with the fix; '' if it can. Cheap enough for ``draw``."""
    if reason := why_no_armature(scene):
        return reason
    chosen, obj = scene.sinew, scene.sinew.armature
    if reason := why_editing(obj):
        return reason
    if source_of(scene, obj) is None and not chosen.use_range:
        return f"'{obj.name}' has no Action: choose one"
    if chosen.use_range and chosen.frame_end <= chosen.frame_start:
        return "The frame range is empty: let it end after it starts"
    view = training_view(obj)
    return "It is being trained already: stop that first, or wait" if view is not None and view.alive else ""


def training_view(obj: bpy.types.Object) -> JobView | None:
    """The newest job that learns for the armature."""
    own = (view for view in monitor.views() if view.armature == obj.name and view.method_name == training.METHOD)
    return next(own, None)


def live_curves(view: JobView) -> tuple[LiveCurve, ...]:
    """The curves that are worth a line."""
    by_name = dict(view.curves)
    return tuple(
        LiveCurve(word, form.format(by_name[name][-1]), bars(by_name[name]))
        for name, (word, form) in _WATCHED.items()
        if by_name.get(name)
    )
