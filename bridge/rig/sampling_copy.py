# SPDX-License-Identifier: GPL-3.0-or-later
"""A temporary copy of an armature in a scene of its own, for motions that take long to sample.

Blender copies a whole Action for every scene in which it is evaluated for the first time: 0.4 s where it has 60,000
frames. So a heavy motion is read from a copy of the armature in a scene of its own, and both stay until all is read.
They are never saved with a file, and what undo brings back of them goes again. The animator's armature is not touched.
"""

import re
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import bpy
from bpy.app.handlers import persistent

from ..scene.preserved_state import find_by_uid
from . import actions, sources

_NAME = ".Sinew reads"
_MARK = "sinew_reads"
_DRAWING = re.compile(r"\.(bbone_\w+|hide|hide_select|is_visible|color\.\w+)$")  # which moves no bone
_TIMING = ("fps", "fps_base", "frame_map_old", "frame_map_new")


def new_scene(scene: bpy.types.Scene, name: str) -> bpy.types.Scene:
    """An empty scene with the same frames a second."""
    own = bpy.data.scenes.new(name)
    for each in _TIMING:
        setattr(own.render, each, getattr(scene.render, each))
    return own


def can_be_copied(obj: bpy.types.Object, *, with_data: bool = False) -> bool:
    """Whether a copy moves as the armature does: what it is bound to is itself or nobody.

    with_data: its bones are copied too, and stay as they are now whatever drives how they are drawn.
    """
    if obj.parent is not None or obj.library is not None or obj.override_library is not None:
        return False
    animated = obj.data.animation_data
    if animated is not None:
        drawn = all(_DRAWING.search(driver.data_path) for driver in animated.drivers)
        if not (with_data and drawn) or animated.action is not None or animated.nla_tracks:
            return False
    return all(other is None or other == obj for other in (*_bound_to(obj), *_driven_by(obj)))


class SamplingCopy:
    """A copy of an armature in a scene of its own, by their numbers."""

    _alive: ClassVar["weakref.WeakSet[SamplingCopy]"] = weakref.WeakSet()

    def __init__(
        self,
        scene: bpy.types.Scene,
        obj: bpy.types.Object,
        action: bpy.types.Action | None,
        *,
        without_takes: bool,
        with_data: bool = False,
    ) -> None:
        """``action`` moves it, None for what moves the armature now. with_data: its bones are copied too."""
        _remove(keep={uid for one in self._alive for uid in one._uids})  # whose reading was not gone on with
        own, copy = new_scene(scene, _NAME), obj.copy()  # what was bound to itself is bound to the copy
        own[_MARK] = copy[_MARK] = True
        copy.name = _NAME
        if with_data:
            copy.data = obj.data.copy()
            copy.data.animation_data_clear()
            copy.data[_MARK] = True
        own.collection.objects.link(copy)
        copy.hide_viewport = False
        if without_takes:
            sources.unassign_take(copy)
        if action is not None:
            actions.assign(copy, action, actions.slot_for(action, obj))
        self._uids = own.session_uid, copy.session_uid, copy.data.session_uid
        self._alive.add(self)

    def resolve(self) -> tuple[bpy.types.Scene, bpy.types.Object] | None:
        """Scene and copy, None once either is gone."""
        own, copy = find_by_uid(bpy.data.scenes, self._uids[0]), find_by_uid(bpy.data.objects, self._uids[1])
        return (own, copy) if own is not None and copy is not None else None

    def remove(self) -> None:
        """It is not needed any more."""
        self._alive.discard(self)
        _remove(keep={uid for one in self._alive for uid in one._uids})


def _remove(keep: set[int]) -> None:
    """Remove all temporary copies and scenes but these."""
    for blocks in (bpy.data.scenes, bpy.data.objects, bpy.data.armatures):
        for block in [one for one in blocks if _MARK in one and one.session_uid not in keep]:
            blocks.remove(block)


def _bound_to(obj: bpy.types.Object) -> Iterator[bpy.types.Object | None]:
    """Whom constraints of the object and its bones name."""
    for owner in (obj, *obj.pose.bones):
        for constraint in owner.constraints:
            for holder in (constraint, *_several(constraint)):
                for prop in holder.bl_rna.properties:
                    if prop.type == "POINTER" and prop.fixed_type.identifier == "Object":
                        yield getattr(holder, prop.identifier)


def _several(constraint: bpy.types.Constraint) -> Iterable[Any]:
    return constraint.targets if constraint.type == "ARMATURE" else ()


def _driven_by(obj: bpy.types.Object) -> list[Any]:
    """What its drivers ask."""
    drivers = obj.animation_data.drivers if obj.animation_data else ()
    return [target.id for curve in drivers for variable in curve.driver.variables for target in variable.targets]


@persistent
def _sweep(*_: Any) -> None:
    _remove(keep=set())


_HANDLERS = ("save_pre", "load_post", "undo_post", "redo_post")


def register() -> None:
    """Keep them out of files, and out of what undo brings back."""
    for name in _HANDLERS:
        getattr(bpy.app.handlers, name).append(_sweep)


def unregister() -> None:
    """Leave nothing behind."""
    for name in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(_sweep)
    _remove(keep=set())
