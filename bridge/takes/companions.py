# SPDX-License-Identifier: GPL-3.0-or-later
"""What shared the stage with a take: other characters, who have takes of their own from the same bake, and props.

They are found by marks and names, never held: a pointer would keep a deleted object in the file, and bring
everything along when the armature is appended elsewhere.
"""

from collections.abc import Sequence
from typing import Any

import bpy

from ...core.errors import RigError
from ..rig import actions, nla, sources
from ..rig.rig_writer import WrittenAction
from .copies import is_presented, list_owner, moved_object, present
from .marks import ensure_mark, find_marked


def note_props(obj: bpy.types.Object, row: Any, written: Sequence[WrittenAction]) -> None:
    """Note how each thing moved in the take that was just baked.

    A thing that did what it shows already got no Action of its own: it shares the one that it shows.
    """
    made = {one.obj.name: (one.obj, one.action) for one in written}
    known = {find_marked(prop.name, prop.mark) for other in obj.sinew_takes for prop in other.props}
    for thing in known - {None}:
        if thing.name not in made and thing.animation_data and _is_known(obj, thing.animation_data.action):
            made[thing.name] = thing, thing.animation_data.action
    for name, (thing, action) in made.items():
        prop = row.props.add()
        prop.name, prop.mark, prop.action = name, ensure_mark(thing), action
    for one in written:
        one.action.use_fake_user = False  # as with the take's own: the list holds it


def show_companions(obj: bpy.types.Object, row: Any) -> int:
    """Let everything else move as it did in the take; gives how many others were changed."""
    changed = 0
    for other, its_take in _takes_of_others(obj, row):
        shown = moved_object(other, its_take)
        if shown is not None and _is_free(shown):
            changed += _assign(shown, its_take.action) or not is_presented(other, shown)
            present(other, shown)
    own = {find_marked(prop.name, prop.mark): prop.action for prop in row.props}
    for thing in _things(obj):
        if own.get(thing) is not None:
            changed += _assign(thing, own[thing])
        else:
            changed += _put_back(obj, thing)
    return changed


def show_companion_sources(obj: bpy.types.Object, row: Any) -> None:
    """Let everything else move as it did before the take."""
    for other, its_take in _takes_of_others(obj, row):
        if moved_object(other, its_take) != other:
            present(other, other)
        elif other.animation_data is not None and other.animation_data.action == its_take.action:
            sources.restore_prior(other, its_take.action)
    for thing in _things(obj):
        _put_back(obj, thing)


def keep_props(obj: bpy.types.Object, row: Any) -> None:
    """Keep the props' motions as long as a take is kept in which they moved so."""
    for prop in row.props:
        if prop.action is not None and prop.action.library is None:
            sharing = [other for other in obj.sinew_takes if any(one.action == prop.action for one in other.props)]
            prop.action.use_fake_user = any(other.action and other.action.use_fake_user for other in sharing)


def send_props_to_nla(row: Any) -> None:
    """Put the props' motions into the NLA as well."""
    for prop in row.props:
        thing = find_marked(prop.name, prop.mark)
        slot = actions.slot_for(prop.action, thing) if prop.action and thing and _is_free(thing) else None
        if slot is not None:
            actions.protect_current_action(thing)
            nla.play_strip(thing, prop.action, slot)


def delete_props(obj: bpy.types.Object, props: Sequence[tuple[str, str, bpy.types.Action | None]]) -> None:
    """Delete the motions of a deleted take's props (name, mark, Action) that nothing else uses."""
    for name, mark, action in props:
        if action is None or action.library is not None or _is_known(obj, action):
            continue
        thing = find_marked(name, mark)
        if thing is not None and _is_free(thing) and thing.animation_data and thing.animation_data.action == action:
            sources.restore_prior(thing, action)
        action.use_fake_user = False
        if action.users == 0:
            bpy.data.actions.remove(action)


def _takes_of_others(obj: bpy.types.Object, row: Any) -> list[tuple[bpy.types.Object, Any]]:
    """(armature, take) of the other characters from the same bake; not of a duplicate, which shares the take."""
    found = []
    for other in bpy.data.objects:
        its_take = other.sinew_takes.get(row.name) if other.type == "ARMATURE" and other != obj else None
        if its_take is None or its_take.action in (None, row.action) or not (_is_free(other) and other.users_scene):
            continue
        if list_owner(other) == other:  # a baked copy is shown by its model's take
            found.append((other, its_take))
    return found


def _things(obj: bpy.types.Object) -> set[bpy.types.Object]:
    """Every prop that moved in any of the armature's takes and can be changed."""
    found = {find_marked(prop.name, prop.mark) for row in obj.sinew_takes for prop in row.props}
    return {thing for thing in found if thing is not None and _is_free(thing)}


def _assign(thing: bpy.types.Object, action: bpy.types.Action) -> int:
    slot = actions.slot_for(action, thing)
    if slot is None or (thing.animation_data and thing.animation_data.action == action):
        return 0
    actions.protect_current_action(thing)
    actions.assign(thing, action, slot)
    nla.end_solo(thing)
    return 1


def _put_back(obj: bpy.types.Object, thing: bpy.types.Object) -> int:
    """Take one of the armature's takes off a thing."""
    data = thing.animation_data
    if data is None:
        return 0
    playing = [strip.action for track in data.nla_tracks if not track.mute for strip in track.strips]
    known = [action for action in ([data.action] if data.action else playing) if _is_known(obj, action)]
    for action in known:
        sources.restore_prior(thing, action)
    return 1 if known else 0


def _is_known(obj: bpy.types.Object, action: bpy.types.Action | None) -> bool:
    """Whether a prop moved so in one of the armature's takes."""
    return action is not None and any(prop.action == action for row in obj.sinew_takes for prop in row.props)


def _is_free(thing: bpy.types.Object) -> bool:
    try:
        actions.require_no_tweak_mode(thing)
    except RigError:
        return False
    return thing.library is None
