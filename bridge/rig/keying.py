# SPDX-License-Identifier: GPL-3.0-or-later
"""A take's keys, made in slices on an Action that moves nothing yet.

Nothing uses such an Action and its name begins with a dot: menus do not show it and files are saved without it. It
becomes the take's when ``rig_writer`` gives it a name and lets it move the armature, all in one undo step. Undo may
take a half-made one away between two slices, or bring one back as it was: both are noticed.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.geometry.quaternions import Array
from ...core.motion import Take
from ..scene.preserved_state import find_by_uid
from ..scene.time_slicing import SLICE_S, Slices
from . import actions, channels
from .key_thinning import KeyThinning
from .keyed_properties import MUSCLE
from .pose_matrices import pose_matrices, resample_to_scene
from .rest_bones import BONE_CHANNEL, RestBone, rig_fingerprint
from .rig_reader import RigMotion
from .rig_sampling import RigSampling

MOST_M, MOST_DEG = 0.01, 2.0  # by which bones may miss their take when its keys are on the controls
_UNFINISHED = "sinew_unfinished"
_MADE_AT_ONCE = 2_000_000  # numbers of curves that are held at a time
_CURVES = 10  # of a bone, at most


_Curve = tuple[str, str, int, Array, NDArray[np.int64] | None]
"""Group, path, component, values (T,), and the places of those that are keyed; None for all."""


class RigChanged(Exception):
    """The armature or the half-made Action is not as it was when the work was begun: begin again."""


@dataclass(frozen=True)
class ControlMatch:
    """How far bones are from the take when its keys are on the controls: the worst of all bones and frames.

    why_not: why they are not on the controls, '' if they are.
    """

    error_m: float = 0.0
    error_deg: float = 0.0
    why_not: str = ""

    @property
    def text(self) -> str:
        """The distance and the angle, for people."""
        far = f"{1000.0 * self.error_m:.1f} mm" if self.error_m < 0.1 else f"{self.error_m:.2f} m"
        return f"{far} and {self.error_deg:.1f}°"

    @property
    def sentence(self) -> str:
        """Where the keys are, and how well that matches or why they are not on the controls."""
        if self.why_not:
            return f"On a baked copy: {self.why_not}"
        return f"On the rig's own controls: {self.text} off at most"

    def to_mapping(self) -> dict[str, object]:
        """Plain values for a report."""
        return {"error_m": self.error_m, "error_deg": self.error_deg, "why_not": self.why_not, "says": self.sentence}

    @property
    def is_close(self) -> bool:
        """Whether nobody sees the difference."""
        return not self.why_not and self.error_m <= MOST_M and self.error_deg <= MOST_DEG


@dataclass(frozen=True, eq=False)
class KeyedAction:
    """An Action with all keys of a take, by ``session_uid``.

    curves: how many it has. posed_by: the armature's ``rig_fingerprint`` when it was keyed. stands: (4, 4) where
    the armature stands at frame ``first``, in Blender units; stays: whether that is so at all frames. place: where the
    keys belong, '' for where they were asked for. switches: RNA paths of custom properties that it keys. match: what
    came of keying the rig's own controls, None where that was not tried.
    """

    action_uid: int
    curves: int
    posed_by: tuple[object, ...]
    stands: Array
    stays: bool
    first: int
    place: str = ""
    switches: tuple[str, ...] = ()
    match: ControlMatch | None = None


def key_take(
    obj: bpy.types.Object,
    take: Take,
    rig: RigMotion,
    *,
    name: str,
    source: bpy.types.Action | None,
    stands_still: bool = False,
    tolerance_m: float = 0.0,
    slice_s: float = SLICE_S,
) -> Slices[KeyedAction]:
    """Key the take for an armature on a new Action called ``name``.

    source: whose other curves are copied. stands_still: whether what is keyed is a copy, which stays where the armature
    stands now. tolerance_m: metres by which a bone may move what it carries for having fewer keys; 0 for a key a frame.
    slice_s: how long a slice may take.
    """
    action, _, bag = actions.new_action(name, obj)
    mark_unfinished(action)
    uid, obj_uid = action.session_uid, obj.session_uid
    try:
        if source is not None:
            copy_other_curves(obj, source, bag, take, rig, lambda path: bool(BONE_CHANNEL.match(path)))
        bones = tuple(RestBone.of(obj.pose.bones[bone]) for bone in take.motion.skeleton.names)
        posed_by, curves = rig_fingerprint(obj), len(bag.fcurves)
        placed = yield lambda: resample_to_scene(take, rig)
        frames = rig.frame_start + np.arange(len(placed[0]))
        if stands_still:
            evaluated = _found(obj_uid, bones).evaluated_get(bpy.context.evaluated_depsgraph_get())
            stands = np.array(evaluated.matrix_world)[None]
        else:
            stands = yield from find_stands(_found(obj_uid, bones), action_of(uid, curves), frames, slice_s)
        matrices = yield lambda: pose_matrices(stands, placed[0] / rig.metres_per_unit, *placed[1:])
        poses = {bone.name: matrices[:, place] for place, bone in enumerate(bones)}
        size = float(np.cbrt(np.abs(np.linalg.det(stands[0, :3, :3]))))
        thinning = KeyThinning.of(take.motion.skeleton, tolerance_m, size * rig.metres_per_unit)
        for some in _by_turns(bones, len(frames)):
            bases = {}
            for bone in some:
                if not bone.is_plain(poses.get(bone.parent)):
                    bases[bone.name] = yield from _converted(obj_uid, bones, bone, poses, slice_s)
            made = yield lambda some=some, bases=bases: _curves_of(some, poses, bases, thinning)
            curves = yield from add_curves(uid, curves, made, rig.frame_start, slice_s)
        return KeyedAction(uid, curves, posed_by, stands[0], len(stands) == 1, rig.frame_start)
    except BaseException:
        remove_by_uid(uid)
        raise


def still_fits(keyed: KeyedAction, obj: bpy.types.Object) -> bool:
    """Whether the keys are whole, and pose this armature as they were meant to."""
    action = find_by_uid(bpy.data.actions, keyed.action_uid)
    if action is None or len(_bag(action).fcurves) != keyed.curves or keyed.posed_by != rig_fingerprint(obj):
        return False
    if keyed.stays:
        stands = np.array(obj.matrix_world)
    else:
        sampling = RigSampling(obj, action, np.array([float(keyed.first)]))
        sampling.advance()
        stands = sampling.matrix_world[0]
    return bool(np.allclose(stands, keyed.stands, rtol=1e-6, atol=1e-6))


def publish_action(keyed: KeyedAction, name: str, obj: bpy.types.Object) -> bpy.types.Action:
    """The Action under its name, for this object."""
    action = action_of(keyed.action_uid, keyed.curves)
    action.name = name
    del action[_UNFINISHED]
    action.slots[0].name_display = obj.name
    return action


def remove_unfinished(known: set[int]) -> None:
    """Take away every half-made Action but those with these numbers."""
    for action in list(bpy.data.actions):
        if _UNFINISHED in action and action.session_uid not in known:
            bpy.data.actions.remove(action)


def remove_keyed(keyed: KeyedAction | None) -> None:
    """Take the Action away, if it is still there."""
    if keyed is not None:
        remove_by_uid(keyed.action_uid)


def remove_by_uid(uid: int) -> None:
    """Take the Action of that number away, if it is still there."""
    action = find_by_uid(bpy.data.actions, uid)
    if action is not None:
        bpy.data.actions.remove(action)


def mark_unfinished(action: bpy.types.Action) -> None:
    """Say of an Action that it is half made."""
    action[_UNFINISHED] = True


def action_of(uid: int, curves: int) -> bpy.types.Action:
    """The half-made Action of that number with so many curves."""
    action = find_by_uid(bpy.data.actions, uid)
    if action is None or len(_bag(action).fcurves) != curves:
        raise RigChanged
    return action


def _bag(action: bpy.types.Action) -> Any:
    return action.layers[0].strips[0].channelbag(action.slots[0])


def find_source(uid: int | None) -> bpy.types.Action | None:
    """The Action of that number, None for none."""
    if uid is None:
        return None
    action = find_by_uid(bpy.data.actions, uid)
    if action is None:
        raise RigChanged
    return action


def resolve_armature(obj_uid: int) -> bpy.types.Object:
    """The armature of that number."""
    return _found(obj_uid, ())


def _found(obj_uid: int, bones: tuple[RestBone, ...]) -> bpy.types.Object:
    obj = find_by_uid(bpy.data.objects, obj_uid)
    if obj is None or not all(bone.name in obj.pose.bones for bone in bones):
        raise RigChanged
    return obj


def find_stands(obj: bpy.types.Object, action: bpy.types.Action, frames: Array, slice_s: float) -> Slices[Array]:
    """(T, 4, 4) where the object will stand at each frame, or (1, 4, 4) if it stays; in Blender units."""
    with actions.play_temporarily(obj, action):
        stays = _stays(obj)
    sampling = RigSampling(obj, action, np.asarray(frames[:1] if stays else frames, dtype=float))
    while not sampling.advance(slice_s):
        yield None
    return sampling.matrix_world


def _converted(
    obj_uid: int, bones: tuple[RestBone, ...], bone: RestBone, poses: dict[str, Array], slice_s: float
) -> Slices[Array]:
    """(T, 4, 4) the basis of a bone that only Blender can convert."""
    own, above = poses[bone.name], poses.get(bone.parent)
    basis, done, begun = np.empty_like(own), 0, time.perf_counter()
    while done < len(basis):
        done = channels.convert_basis(_found(obj_uid, bones).pose.bones[bone.name].bone, own, above, basis, done)
        if time.perf_counter() - begun > slice_s:
            yield None
            begun = time.perf_counter()
    return basis


def add_curves(uid: int, curves: int, made: list[_Curve], first: int, slice_s: float) -> Slices[int]:
    """Add curves to the Action; gives how many it has then."""
    bag, begun = _bag(action_of(uid, curves)), time.perf_counter()
    for group, path, component, values, kept in made:
        if time.perf_counter() - begun > slice_s:
            yield None
            bag, begun = _bag(action_of(uid, curves)), time.perf_counter()
        actions.add_curve(bag, path, component, group, first, values, kept)
        curves += 1
    return curves


def _by_turns(bones: tuple[RestBone, ...], frames: int) -> Iterator[tuple[RestBone, ...]]:
    """As many bones at a time as memory has room for their curves."""
    count = max(1, _MADE_AT_ONCE // (_CURVES * frames))
    for first in range(0, len(bones), count):
        yield bones[first : first + count]


def _curves_of(
    some: tuple[RestBone, ...], poses: dict[str, Array], bases: dict[str, Array], thinning: KeyThinning | None
) -> list[_Curve]:
    """Every curve of some bones.

    poses: (T, 4, 4) by bone, in armature space. bases: those converted before.
    """
    found: list[_Curve] = []
    for bone in some:
        basis = bases.get(bone.name)
        if basis is None:
            basis = channels.basis_matrices(bone, poses[bone.name], poses.get(bone.parent))
        curves = list(channels.curves(bone, basis))
        kept = {} if thinning is None else thinning.choose(bone.name, curves)
        found += [(bone.name, *curve, kept.get(curve[0])) for curve in curves]
    return found


def _stays(obj: bpy.types.Object) -> bool:
    """Whether nothing moves the object as a whole, whatever its bones do."""
    data = obj.animation_data
    if obj.parent is not None or len(obj.constraints) or (data is not None and (data.drivers or data.nla_tracks)):
        return False
    if data is None or data.action is None:
        return True
    curves = actions.curves_of(data.action, data.action_slot)
    return all(curve.data_path.startswith("pose.bones[") for curve in curves)


def copy_other_curves(
    obj: bpy.types.Object,
    source: bpy.types.Action,
    bag: Any,
    take: Take,
    rig: RigMotion,
    is_own: Callable[[str], bool],
) -> None:
    """Copy what the source animates besides the paths that are the take's own, in the take's time.

    A take with a clock of its own has it all as it is when the source begins.
    """

    def moved(frames: Array) -> Array:
        plain = rig.result_frame(frames)
        source_s = (plain - rig.frame_start) / rig.scene_fps
        return plain + (take.take_time(source_s) - source_s) * rig.scene_fps

    for curve in actions.curves_of(source, actions.slot_for(source, obj)):
        if is_own(curve.data_path) or curve.data_path == MUSCLE:  # which is the source's alone
            continue
        if take.own_clock:
            value = np.array([curve.evaluate(rig.frame_start)])
            actions.add_curve(bag, curve.data_path, curve.array_index, obj.name, rig.frame_start, value)
        else:
            actions.copy_curve(bag, curve, moved)
