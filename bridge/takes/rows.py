# SPDX-License-Identifier: GPL-3.0-or-later
"""Which takes an armature has, and how a finished job becomes one."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from ...core.errors import RigError
from ...core.jobs import Job, Result
from ...core.motion import Take
from ..rig.rig_writer import WrittenAction
from . import companions
from .copies import copies_listed, list_owner, present
from .marks import ensure_mark

# The report's parts that are longer than this stay in the job's folder: twenty takes with the origin of every
# bone's mass in them would make a file slow to save.
_LONGEST_PART = 4000
# Which measurement tells how far a take is from its source, the best first.
_ERRORS = ("joint_error_m", "joint_error_global_m", "tip_error_m", "root_error_m", "com_error_m")


def add_take(
    obj: bpy.types.Object,
    written: WrittenAction,
    job: Job,
    result: Result,
    *,
    take: Take | None = None,
    source: bpy.types.Action | None = None,
) -> None:
    """List what was baked from a job with the object that shows it. The caller owns the undo step.

    obj: the armature that was simulated; ``written.obj`` is another one for a baked copy.
    take, source: of this character, where they are not the job's main ones.
    """
    if not hasattr(bpy.types.Object, "sinew_takes"):
        return  # Sinew is used as a library; the Action keeps the fake user that it was written with
    its_report = _report_of(result, take)
    if written.match is not None:
        its_report["controls"] = written.match.to_mapping()
    # The list holds it from now on. The fake user is the animator's, who keeps a take by it.
    written.action.use_fake_user = False
    lists = [written.obj] if written.obj == obj or obj.library is not None else [written.obj, obj]
    for owner in lists:
        _drop_empty_rows_of(owner, job.spec.id)
    key = _free_key(lists, job.spec.id)
    for owner in lists:
        row = owner.sinew_takes.add()
        row.name, row.action, row.action_name = key, written.action, written.action.name
        _name_source(row, job, source, is_main=take is None or take is result.take)
        if owner != obj:
            row.armature_mark, row.armature_name = ensure_mark(obj), obj.name
        elif written.obj != obj:
            row.copy_mark, row.copy_name = ensure_mark(written.obj), written.obj.name
        companions.note_props(owner, row, written.props)
        _fill(row, job, its_report)
        owner.sinew_take_index = len(owner.sinew_takes) - 1
    present(obj, written.obj)


def take_owner(context: bpy.types.Context) -> bpy.types.Object | None:
    """Whose takes are listed: the active armature's, or those of the one chosen to be simulated.

    For a baked copy it is the armature that it was made from.
    """
    active = context.active_object
    chosen = active if active is not None and active.type == "ARMATURE" else context.scene.sinew.armature
    return list_owner(chosen) if chosen is not None else None


def chosen_index(obj: bpy.types.Object) -> int:
    """The chosen row, -1 without rows. An undo or a script may leave an index beyond the end."""
    return min(obj.sinew_take_index, len(obj.sinew_takes) - 1)


def row_at(obj: bpy.types.Object | None, index: int = -1) -> bpy.types.PropertyGroup:
    """The armature's take at that place of the list, -1 for the chosen one."""
    if obj is None:
        raise RigError("No armature is chosen", "Select one that has takes")
    place = index if index >= 0 else chosen_index(obj)
    if not 0 <= place < len(obj.sinew_takes):
        raise RigError(f"'{obj.name}' has no take {place + 1}", "Choose one in the list")
    return obj.sinew_takes[place]


def take_title(row: bpy.types.PropertyGroup) -> str:
    """The take's name, which is its Action's; the last one known where that is gone."""
    return row.action.name if row.action else row.action_name


def is_linked(obj: bpy.types.Object, row: bpy.types.PropertyGroup) -> bool:
    """Whether the row comes with the armature from another file, which alone can take it off the list."""
    override = obj.override_library
    if obj.library is not None:
        return True
    return override is not None and override.reference is not None and row.name in override.reference.sinew_takes


def take_strips(obj: bpy.types.Object, action: bpy.types.Action | None) -> list[tuple[Any, Any]]:
    """(track, strip) for every place of the object's NLA that plays the Action."""
    data = obj.animation_data
    if data is None or action is None:
        return []
    return [(track, strip) for track in data.nla_tracks for strip in track.strips if strip.action == action]


def copies_of(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The scene's baked copies that have takes made from this armature."""
    return [
        other
        for other in scene.objects
        if other.type == "ARMATURE" and other != obj and any(_is_model(obj, row) for row in other.sinew_takes)
    ]


def copies_apart(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Those of ``copies_of`` whose takes only their own lists have, as in files of before."""
    listed = copies_listed(obj)
    return [copy for copy in copies_of(obj, scene) if copy not in listed]


def armatures_with_takes() -> list[bpy.types.Object]:
    """Every armature of the file that has takes, by name; not a baked copy whose takes its model lists."""
    found = [obj for obj in bpy.data.objects if obj.type == "ARMATURE" and obj.sinew_takes and list_owner(obj) == obj]
    return sorted(found, key=lambda obj: obj.name)


def baked_jobs() -> dict[str, str]:
    """Job id -> the Action that was baked from it, for those whose Action is still here under whatever name."""
    return {row.job: row.action.name for obj in armatures_with_takes() for row in obj.sinew_takes if row.action}


def _is_model(obj: bpy.types.Object, row: bpy.types.PropertyGroup) -> bool:
    if not row.armature_name:
        return False
    return row.armature_mark == obj.sinew_mark if row.armature_mark else row.armature_name == obj.name


def _drop_empty_rows_of(obj: bpy.types.Object, job_id: str) -> None:
    """A take whose Action was deleted makes room for the same one baked anew."""
    for index, row in reversed(list(enumerate(obj.sinew_takes))):
        if row.job == job_id and row.action is None and not is_linked(obj, row):
            obj.sinew_takes.remove(index)


def _name_source(row: Any, job: Job, source: bpy.types.Action | None, *, is_main: bool) -> None:
    """Note what was simulated; a motion that no Action made has no name here, and its armature's in the job."""
    wanted = job.spec.target.action if is_main else ""
    row.source = source or bpy.data.actions.get(wanted)
    if row.source is not None:
        row.source_name = row.source.name
    elif wanted != job.spec.target.armature:
        row.source_name = wanted


def _free_key(lists: Sequence[bpy.types.Object], job_id: str) -> str:
    """A name that no other row of these armatures has: overrides tell rows apart by it."""
    taken, number, key = {row.name for obj in lists for row in obj.sinew_takes}, 1, job_id
    while key in taken:
        number += 1
        key = f"{job_id} {number}"
    return key


def _report_of(result: Result, take: Take | None) -> dict[str, Any]:
    """The report as far as a .blend keeps it, about one character."""
    report = dict(result.report)
    if take is not None and take is not result.take:
        report |= {"fell": take.fell, "fell_at_s": take.fell_at_s, "lost": take.lost, "lost_at_s": take.lost_at_s}
        report["measurements"] = dict(take.measurements)
        report.pop("summary", None)  # speaks of the main character
    return {name: value for name, value in report.items() if len(json.dumps(value)) <= _LONGEST_PART}


def _fill(row: bpy.types.PropertyGroup, job: Job, report: Mapping[str, Any]) -> None:
    variation = job.spec.target.variation
    row.job, row.made = job.spec.id, job.spec.created
    row.variation = variation
    row.label = f"#{variation}" if variation else f"seed {job.spec.seed}"
    row.fell = bool(report.get("fell"))
    row.lost = bool(report.get("lost", row.fell))
    measurements = report.get("measurements") or {}
    errors = [measurements[name] for name in _ERRORS if isinstance(measurements.get(name), float | int)]
    row.error_m = errors[0] if errors else -1.0
    row.report = json.dumps(report, separators=(",", ":"), sort_keys=True)
