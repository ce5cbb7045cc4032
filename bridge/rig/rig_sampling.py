# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature's evaluated pose at many frames, read at once or in slices.

Where nothing depends on the scene around it, an armature is looked at in a scene of its own, which holds nothing else:
no mesh is deformed for it and the animator's scene stays where it is. Between two slices all is as it was, so that
Blender can listen to its user; where that takes too long each time, a copy is sampled instead (``sampling_copy``).
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import bpy
import numpy as np

from ...core.errors import RigError
from ...core.geometry.quaternions import Array
from ..scene.preserved_state import find_by_uid, preserve_scene
from . import actions, sampling_copy, sources

_HEAVY_KEYS = 300_000  # so many take Blender some 10 ms to copy
_LONG_S = 0.02  # of work until a slice's first frame is read


class RigSampling:
    """World matrices (T, 4, 4) and pose matrices (T, B, 4, 4) of an armature at scene frames ``places`` (T,).

    Bones are in pose order, everything in Blender units. Datablocks are found anew for each slice: undo may have
    replaced them.
    """

    def __init__(
        self, obj: bpy.types.Object, action: bpy.types.Action | None, places: Array, *, without_takes: bool = False
    ) -> None:
        self.places = places
        self.done = 0
        count = len(obj.pose.bones)
        self.matrix_world = np.empty((len(places), 4, 4))
        self.pose = np.empty((len(places), count, 4, 4), dtype=np.float32)  # as exact as Blender has it
        self._names = [bone.name for bone in obj.pose.bones]
        self._buffer = np.empty(count * 16, dtype=np.float32)
        self._uids = bpy.context.scene.session_uid, obj.session_uid, action.session_uid if action is not None else None
        self._title = obj.name
        self._without_takes = without_takes
        self._is_heavy = count_keys(obj, action) > _HEAVY_KEYS
        self._standing_in: sampling_copy.SamplingCopy | None = None

    @property
    def fraction(self) -> float:
        """How much of it is read, 0 to 1."""
        return self.done / len(self.places)

    def advance(self, seconds: float = float("inf")) -> bool:
        """Read on for about so long, at least one frame; True if everything is read."""
        begun = time.perf_counter()
        scene, obj, action = self.resolve()
        both = self._stand_in(scene, obj, action) if seconds < float("inf") else None
        if both is not None:
            own, copy = both
            self._read(copy, own, lambda: own.view_layers[0].depsgraph)
            self._read_on(copy, own, lambda: own.view_layers[0].depsgraph, begun + seconds)
            if self.done == len(self.places):
                self.close()
            return self.done == len(self.places)
        worked = time.thread_time()
        with ExitStack() as stack:
            if self._without_takes:
                stack.enter_context(sources.without_takes([obj]))
            stack.enter_context(actions.play_temporarily(obj, action))
            stack.enter_context(unhide(obj))
            place, depsgraph = stack.enter_context(_looked_at(scene, obj))
            if self.done < len(self.places):
                self._read(obj, place, depsgraph)
            self._is_heavy = self._is_heavy or time.thread_time() - worked > _LONG_S
            self._read_on(obj, place, depsgraph, begun + seconds)
        return self.done == len(self.places)

    def close(self) -> None:
        """Leave nothing of it in the file, as when it is not gone on with."""
        if self._standing_in is not None:
            self._standing_in.remove()
            self._standing_in = None

    def _read_on(
        self,
        obj: bpy.types.Object,
        scene: bpy.types.Scene,
        depsgraph: Callable[[], bpy.types.Depsgraph],
        until: float,
    ) -> None:
        """One frame after the other until that time."""
        while self.done < len(self.places) and time.perf_counter() < until:
            self._read(obj, scene, depsgraph)

    def _stand_in(
        self, scene: bpy.types.Scene, obj: bpy.types.Object, action: bpy.types.Action | None
    ) -> tuple[bpy.types.Scene, bpy.types.Object] | None:
        """Scene and copy that a heavy armature is sampled from; None where there can or need be none."""
        found = self._standing_in.resolve() if self._standing_in is not None else None
        if found is None and self._is_heavy and is_self_contained(scene, obj) and sampling_copy.can_be_copied(obj):
            # Saving and undo take them away: then here is the next one.
            self._standing_in = sampling_copy.SamplingCopy(scene, obj, action, without_takes=self._without_takes)
            found = self._standing_in.resolve()
        return found

    def _read(
        self, obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: Callable[[], bpy.types.Depsgraph]
    ) -> None:
        frame = self.places[self.done]
        whole = int(np.floor(frame + 1e-6))
        scene.frame_set(whole, subframe=max(float(frame - whole), 0.0))
        evaluated = obj.evaluated_get(depsgraph())
        self.matrix_world[self.done] = evaluated.matrix_world
        evaluated.pose.bones.foreach_get("matrix", self._buffer)
        # Blender hands out columns.
        self.pose[self.done] = self._buffer.reshape(len(self._names), 4, 4).transpose(0, 2, 1)
        self.done += 1

    def resolve(self) -> tuple[bpy.types.Scene, bpy.types.Object, bpy.types.Action | None]:
        """The datablocks as they are now; they may have gone since the last slice."""
        scene_uid, obj_uid, action_uid = self._uids
        scene, obj = find_by_uid(bpy.data.scenes, scene_uid), find_by_uid(bpy.data.objects, obj_uid)
        action = find_by_uid(bpy.data.actions, action_uid) if action_uid is not None else None
        if scene is None or obj is None or (action is None) != (action_uid is None):
            raise RigError(f"'{self._title}' went while it was read", "Choose it again")
        if len(obj.pose.bones) != len(self._names):
            raise RigError(f"The bones of '{obj.name}' were changed while it was read", "Try again")
        if obj.mode == "EDIT":
            raise RigError(f"Armature '{obj.name}' is in Edit Mode", "Leave Edit Mode with Tab")
        return scene, obj, action


def count_keys(obj: bpy.types.Object, action: bpy.types.Action | None) -> int:
    """How many keys move the armature; Blender copies them to look at it elsewhere."""
    data, known = obj.animation_data, {action}
    if data is not None:
        known |= {data.action, *(strip.action for track in data.nla_tracks for strip in track.strips)}
    slots = [(one, slot) for one in known if one is not None for slot in one.slots]
    return sum(len(curve.keyframe_points) for one, slot in slots for curve in actions.curves_of(one, slot))


@contextmanager
def _looked_at(
    scene: bpy.types.Scene, obj: bpy.types.Object
) -> Iterator[tuple[bpy.types.Scene, Callable[[], bpy.types.Depsgraph]]]:
    """A scene whose frame may be changed, and what the object is evaluated in there."""
    if not is_self_contained(scene, obj):
        with preserve_scene(scene):
            yield scene, bpy.context.evaluated_depsgraph_get
        return
    own = sampling_copy.new_scene(scene, "Sinew reads")
    try:
        own.collection.objects.link(obj)
        layer = own.view_layers[0]
        yield own, lambda: layer.depsgraph
    finally:
        bpy.data.scenes.remove(own)


def is_self_contained(scene: bpy.types.Scene, obj: bpy.types.Object) -> bool:
    """Whether the armature moves in a scene of its own exactly as it does here.

    What it is parented or constrained to comes along by itself. What the scene as a whole does to it does not: rigid
    bodies, handlers that move things, drivers that ask for the scene, and meshes that may be simulated.
    """
    handlers = bpy.app.handlers
    if scene.rigidbody_world is not None or handlers.frame_change_pre or handlers.frame_change_post:
        return False
    data = [block.animation_data for block in (obj, obj.data) if block.animation_data is not None]
    if any(
        variable.type == "CONTEXT_PROP"
        for each in data
        for driver in each.drivers
        for variable in driver.driver.variables
    ):
        return False
    constraints = [*obj.constraints, *(constraint for bone in obj.pose.bones for constraint in bone.constraints)]
    others = [obj.parent, *(getattr(constraint, "target", None) for constraint in constraints)]
    return not any(other is not None and other.type == "MESH" for other in others)


@contextmanager
def unhide(obj: bpy.types.Object) -> Iterator[None]:
    """Blender does not evaluate what is hidden; show the armature while it is read."""
    hidden, disabled = obj.hide_get(), obj.hide_viewport
    if not (hidden or disabled):
        yield
        return
    try:
        obj.hide_viewport = False
        obj.hide_set(False)
        yield
    finally:
        obj.hide_set(hidden)
        obj.hide_viewport = disabled
