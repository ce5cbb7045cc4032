# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of takes share: takes with reports of our own choosing, made by the way that a bake makes them."""

import itertools
from types import SimpleNamespace

import bpy
import numpy as np

from sinew.bridge import takes
from sinew.bridge.rig import actions
from sinew.bridge.rig.rig_writer import WrittenAction
from sinew.bridge.rig.setting_aside import bring_back
from sinew.core.jobs import Target

_numbers = itertools.count(1)


def take(obj, name, *, fell_at_s=None, error_m=0.03, made="", source="Wave", put=True, shown=None, props=(), **target):
    """List a take called ``name`` whose bones turn between frames 5 and 15; gives its row."""
    shown = shown or obj
    action, slot, bag = actions.new_action(name, shown)
    for bone in shown.pose.bones if shown.pose else ():
        path = bone.path_from_id("rotation_euler")
        actions.add_curve(bag, path, 0, bone.name, 5, np.linspace(0.0, error_m + next(_numbers), 11))
    if put:
        actions.assign(shown, action, slot)
    actions.add_fake_users([action])
    number = next(_numbers)
    report = {
        "status": "done",
        "title": f"{name}: 120 N from the left",
        "method": "passthrough",
        "engine": "none",
        "seed": 7,
        "fell": fell_at_s is not None,
        "fell_at_s": fell_at_s,
        "duration_s": 0.4,
        "wall_s": 61.0,
        "measurements": {"joint_error_m": error_m, "skate_m_s": 0.004, "energy_j_kg": None},
        "summary": [f"Fell after {fell_at_s} s"] if fell_at_s else ["Stayed with the source: 3.0 cm on average"],
        "body": {"bones": ["x" * 100] * 100},
    }
    target = Target(**{"armature": obj.name, "action": source, **target})
    created = made or f"2026-01-01T{number // 60:02d}:{number % 60:02d}"
    spec = SimpleNamespace(id=f"job-{number:05d}", seed=7, created=created, target=target)
    written = WrittenAction(action, shown, "ACTION" if shown == obj else "COPY")
    if props:
        written = WrittenAction(action, shown, written.where, props=tuple(props))
    takes.add_take(obj, written, SimpleNamespace(spec=spec), SimpleNamespace(report=report, take=None))
    return shown.sinew_takes[-1]


def names(obj):
    """The takes' names in the rows' own order."""
    return [row.action.name if row.action else None for row in obj.sinew_takes]


def moved_by(obj):
    """The Action that moves the object, by name."""
    data = obj.animation_data
    return data.action.name if data and data.action else None


def saved(tmp_path):
    """Save, open again, and give the armature 'Hero' as it is then."""
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.data.objects["Hero"]


def as_before(obj):
    """Leave takes on baked copies as files of before have them: listed with the copies alone, and all of it shown."""
    for place in reversed(range(len(obj.sinew_takes))):
        if obj.sinew_takes[place].copy_name:
            obj.sinew_takes.remove(place)
    bring_back(obj)
    bpy.context.view_layer.objects.active = obj
