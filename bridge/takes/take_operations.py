# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be done with a take. Each gives the sentence that says what was done; the caller owns the undo step."""

import bpy

from ...core.errors import RigError
from ..rig import actions, nla, sources
from . import companions, copies, preview_range
from .copies import moved_object, original_of
from .rows import chosen_index, is_linked, row_at, take_strips, take_title
from .views import is_take_shown


def show_take(obj: bpy.types.Object, index: int = -1) -> str:
    """Let the take move the armature, or its baked copy, which then shows instead of it."""
    row = row_at(obj, index)
    action, moved = _action_of(row), _moved_by(obj, row)
    _require_changeable(moved)
    _play(moved, action)
    copies.present(obj, moved)
    others = companions.show_companions(obj, row)
    preview_range.follow_action(moved, action)
    obj.sinew_take_index = index if index >= 0 else chosen_index(obj)
    return f"'{moved.name}' shows '{action.name}'" + (f", and {others} more what they did in it" if others else "")


def show_chosen(obj: bpy.types.Object) -> None:
    """Show the chosen take, unless it shows already, as the Action or as a strip of the NLA."""
    row = row_at(obj)
    moved = moved_object(obj, row)
    if row.action is None or moved is None or is_take_shown(obj, row):
        return
    in_nla = any(not track.mute for track, _ in take_strips(moved, row.action))
    if not (in_nla and moved.animation_data.action is None):
        show_take(obj)


def show_take_source(obj: bpy.types.Object, index: int = -1) -> str:
    """Let the source of the take move the armature again."""
    row = row_at(obj, index)
    if row.armature_name:
        raise RigError(
            f"'{obj.name}' is a baked copy, which its source does not move",
            f"Look at '{model.name}', which it was made from" if (model := original_of(row)) else "",
        )
    _require_changeable(obj)
    if row.source is None and row.source_name:
        raise RigError(
            f"The source '{row.source_name}' of take '{take_title(row)}' is not in this file any more",
            "Append it from an older version of the file",
        )
    actions.protect_current_action(obj)
    if row.copy_name:
        sources.unassign_take(obj)  # the take moved the copy; another may be on the armature itself
    elif row.action is not None:
        sources.restore_prior(obj, row.action)  # also what the take keys and its source does not
    if row.source is not None:
        _play(obj, row.source)
    elif obj.animation_data is not None and not row.copy_name:
        obj.animation_data.action = None
    copies.present(obj, obj)
    companions.show_companion_sources(obj, row)
    preview_range.follow_action(obj, row.source)
    return f"'{obj.name}' shows its source" + (f" '{row.source.name}'" if row.source else "")


def compare_take(obj: bpy.types.Object, index: int = -1) -> str:
    """Show the take where its source is shown, or anything else, and its source where the take is."""
    return (show_take_source if is_take_shown(obj, row_at(obj, index)) else show_take)(obj, index)


def rename_take(obj: bpy.types.Object, name: str, index: int = -1) -> str:
    """Rename the take, which is its Action."""
    row = row_at(obj, index)
    action = _action_of(row)
    _require_local(action)
    if not name.strip():
        raise RigError(f"Take '{action.name}' needs a name", "Type one")
    action.name = name.strip()
    row.action_name = action.name
    if action.name != name.strip():
        return f"Another Action is called '{name.strip()}', so this one is '{action.name}'"
    return f"Renamed to '{action.name}'"


def toggle_keep(obj: bpy.types.Object, index: int = -1) -> str:
    """Keep the take, or no longer: its Action's fake user, which keeps it even when the armature is deleted."""
    row = row_at(obj, index)
    action = _action_of(row)
    _require_local(action)
    action.use_fake_user = not action.use_fake_user
    companions.keep_props(obj, row)
    return f"'{action.name}' is kept" if action.use_fake_user else f"'{action.name}' is no longer kept"


def send_take_to_nla(obj: bpy.types.Object, index: int = -1) -> str:
    """Put the take on a new track above all others, unless it is on one, and let the NLA move the armature."""
    row = row_at(obj, index)
    action, moved = _action_of(row), _moved_by(obj, row)
    _require_changeable(moved)
    slot = _slot_of(action, moved)
    already = "already " if take_strips(moved, action) else ""
    actions.protect_current_action(moved)
    strip = nla.play_strip(moved, action, slot)
    copies.present(obj, moved)
    companions.send_props_to_nla(row)
    obj.sinew_take_index = index if index >= 0 else chosen_index(obj)
    return f"'{action.name}' is {already}in the NLA from frame {strip.frame_start:g} to {strip.frame_end:g}"


def why_confirm_delete(obj: bpy.types.Object, index: int = -1) -> str:
    """Why the take should not be deleted without asking, '' if nothing speaks for it."""
    row = row_at(obj, index)
    if row.action is not None and row.action.library is None and not other_users(obj, row.action):
        if row.action.use_fake_user:
            return f"Take '{row.action.name}' is kept"
        moved = moved_object(obj, row)
        if moved is not None and take_strips(moved, row.action):
            return f"Take '{row.action.name}' is in the NLA of '{moved.name}'"
    return ""


def delete_take(obj: bpy.types.Object, index: int = -1, *, anyway: bool = False) -> str:
    """Take it off the list and delete its Action, unless somebody else uses that."""
    chosen = chosen_index(obj)
    place = index if index >= 0 else chosen
    row = row_at(obj, place)
    _require_changeable(obj)
    if is_linked(obj, row):
        raise RigError(f"Take '{take_title(row)}' comes with the armature from another file", "Delete it there")
    if (reason := why_confirm_delete(obj, place)) and not anyway:
        raise RigError(reason, "Take its star off first" if row.action.use_fake_user else "Remove its strip first")
    why_left, name, is_gone = _remove(obj, place)
    if not is_gone:
        last = max(len(obj.sinew_takes) - 1, 0)
        obj.sinew_take_index = min(chosen - 1 if place < chosen else chosen, last)
    return f"'{name}' is off the list; its Action stays, because {why_left}" if why_left else f"Deleted '{name}'"


def unkept_takes(obj: bpy.types.Object) -> tuple[int, ...]:
    """Places in the list of all takes that are neither kept, nor in the NLA, nor from another file."""
    rows = enumerate(obj.sinew_takes)
    return tuple(index for index, row in rows if not (_is_held(obj, row) or is_linked(obj, row)))


def delete_unkept(obj: bpy.types.Object) -> str:
    """Delete every take that is not kept."""
    _require_changeable(obj)
    places = unkept_takes(obj)
    if not places:
        raise RigError(f"Every take of '{obj.name}' is kept, linked or in the NLA", "Take a star off first")
    removed = [_remove(obj, place) for place in reversed(places)]
    left = [why_left for why_left, _, _ in removed if why_left]
    if not removed[-1][2]:
        obj.sinew_take_index = 0
    deleted = len(places) - len(left)
    text = f"Deleted {deleted} {'take' if deleted == 1 else 'takes'}"
    return f"{text}; {len(left)} only off the list, because {left[0]}" if left else text


def other_users(obj: bpy.types.Object, action: bpy.types.Action) -> list[str]:
    """What uses the Action besides this armature, each in a few words that go on from 'because'."""
    users = bpy.data.user_map(subset=[action]).get(action, set()) - {obj, *copies.copies_listed(obj)}
    return [_use(user) for user in sorted(users, key=lambda user: (user.id_type, user.name))]


def _use(user: bpy.types.ID) -> str:
    if user.id_type == "SCENE":
        return f"it is the motion to simulate in '{user.name}'"
    return f"'{user.name}' uses it"


def _remove(obj: bpy.types.Object, place: int) -> tuple[str, str, bool]:
    """Take a row off the list, and its Action out of the file unless somebody else uses it.

    A baked copy goes with its last take. Gives who uses the Action, the take's name, and whether ``obj`` is gone.
    """
    row = obj.sinew_takes[place]
    key, name, action, source = row.name, take_title(row), row.action, row.source
    moved, model = moved_object(obj, row), original_of(row)
    props = [(prop.name, prop.mark, prop.action) for prop in row.props]
    why_left = ""
    if action is not None:
        users = other_users(obj, action)
        why_left = "it is linked from another file" if action.library is not None else (users or [""])[0]
        if not why_left:
            _take_off(obj, place, action)
    obj.sinew_takes.remove(place)
    if moved is not None and moved != obj:
        copies.drop_from_copy(moved, key)
    if action is not None and not why_left:
        bpy.data.actions.remove(action)
        companions.delete_props(obj, props)
    if source is not None and source != action and source.library is None and source.users == 0:
        source.use_fake_user = True  # the list was all that held it
    is_gone = _remove_copy(obj, moved, model)
    return why_left, name, is_gone


def _remove_copy(obj: bpy.types.Object, moved: bpy.types.Object | None, model: bpy.types.Object | None) -> bool:
    """Remove the baked copy that a deleted take moved, if it was its last; True if that is the list's own armature."""
    if moved is None or (moved == obj and model is None):
        return False
    if moved != obj:
        if copies.is_presented(obj, moved) and moved.sinew_mark not in {row.copy_mark for row in obj.sinew_takes}:
            copies.present(obj, obj)
        copies.remove_unused_copy(moved, obj)
        return False
    return copies.remove_unused_copy(obj, model)


def _take_off(obj: bpy.types.Object, place: int, action: bpy.types.Action) -> None:
    """Let nothing of the armature play the Action any more, nor of its baked copy."""
    row = obj.sinew_takes[place]
    if is_take_shown(obj, row):
        try:
            show_take_source(obj, place)
        except RigError:  # a baked copy of before, or a source that was deleted
            copies.present(obj, obj)
    for moved in {obj, moved_object(obj, row) or obj}:
        if moved.animation_data is not None and moved.animation_data.action == action:
            moved.animation_data.action = None
        for track, strip in take_strips(moved, action):
            track.strips.remove(strip)
            if not track.strips:
                moved.animation_data.nla_tracks.remove(track)


def _play(obj: bpy.types.Object, action: bpy.types.Action) -> None:
    slot = _slot_of(action, obj)
    actions.protect_current_action(obj)
    actions.assign(obj, action, slot)
    nla.end_solo(obj)


def _slot_of(action: bpy.types.Action, obj: bpy.types.Object) -> object:
    slot = actions.slot_for(action, obj)
    if slot is None:
        raise RigError(f"Action '{action.name}' has no slot for an armature", "Choose a take that moves one")
    return slot


def _action_of(row: bpy.types.PropertyGroup) -> bpy.types.Action:
    if row.action is None:
        raise RigError(
            f"The Action of take '{take_title(row)}' was deleted",
            "Bake it again from the Jobs panel, or delete the take",
        )
    return row.action


def _moved_by(obj: bpy.types.Object, row: bpy.types.PropertyGroup) -> bpy.types.Object:
    moved = moved_object(obj, row)
    if moved is None:
        raise RigError(
            f"The baked copy '{row.copy_name}' of take '{take_title(row)}' was deleted",
            "Bake it again from the Jobs panel, or delete the take",
        )
    return moved


def _is_held(obj: bpy.types.Object, row: bpy.types.PropertyGroup) -> bool:
    if row.action is None:
        return False
    return row.action.use_fake_user or bool(take_strips(moved_object(obj, row) or obj, row.action))


def _require_changeable(obj: bpy.types.Object) -> None:
    if obj.library is not None:
        raise RigError(
            f"Armature '{obj.name}' is linked from '{obj.library.filepath}'",
            "Make a library override of it (Object > Library Override > Make)",
        )
    actions.require_no_tweak_mode(obj)


def _require_local(action: bpy.types.Action) -> None:
    if action.library is not None:
        raise RigError(f"Action '{action.name}' is linked from '{action.library.filepath}'", "Change it in that file")
