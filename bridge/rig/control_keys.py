# SPDX-License-Identifier: GPL-3.0-or-later
"""A take's keys on the rig's own controls, on an Action that moves nothing yet: IK targets, poles and FK chains.

What cannot be brought there, or comes out elsewhere than the take has it, is said; then a baked copy takes the take.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import bpy
import numpy as np

from ...core.geometry.quaternions import Array, angle_between, conjugate, multiply, rotate
from ...core.motion import Take
from ..scene.time_slicing import SLICE_S, Slices
from . import actions, channels, control_map, keying, sampling_copy, sources
from .control_map import ControlMap
from .control_solving import ControlSolving
from .keying import ControlMatch, KeyedAction
from .pose_matrices import pose_matrices, resample_to_scene
from .posed_copy import PosedCopy
from .rest_bones import BONE_CHANNEL, RestBone, rig_fingerprint
from .rig_reader import RigMotion
from .rig_sampling import is_self_contained

_STILL_RAD, _STILL_M = 2e-3, 1e-3
_LOOKED_AT = 40  # frames, to see which bones keep together


def why_no_controls(obj: bpy.types.Object) -> str:
    """Why nothing can be keyed on the rig's own controls, '' if it may be tried."""
    if obj.library is not None or obj.override_library is not None:
        return "the rig comes from another file"
    if (
        obj.parent is not None
        or not is_self_contained(bpy.context.scene, obj)
        or not sampling_copy.can_be_copied(obj, with_data=True)
    ):
        return "other objects move the rig"
    data = obj.animation_data
    if data is not None and (data.action_blend_type != "REPLACE" or data.action_influence < 1.0):
        return "its Action is only mixed in"
    if data is not None and any(not track.mute and track.strips for track in data.nla_tracks):
        return "its NLA moves it too"
    return ""


def key_controls(
    obj: bpy.types.Object,
    take: Take,
    rig: RigMotion,
    *,
    name: str,
    source: bpy.types.Action | None,
    slice_s: float = SLICE_S,
) -> Slices[tuple[KeyedAction | None, ControlMatch]]:
    """Key the take on the armature's controls, on a new Action called ``name``; no Action where it cannot be done."""
    if why := why_no_controls(obj):
        return None, ControlMatch(why_not=why)
    obj_uid, posed_by = obj.session_uid, rig_fingerprint(obj)
    placed = yield lambda: resample_to_scene(take, rig)
    deforming = {bone.name for bone in keying.resolve_armature(obj_uid).data.bones if bone.use_deform}
    moved, riders = yield lambda: moved_bones(take, rig, deforming)
    posed = PosedCopy(bpy.context.scene, keying.resolve_armature(obj_uid), source)
    uid = 0
    try:
        yield None  # a large rig takes Blender a while to copy, and again to look at for the first time
        switches = control_map.find_switches(posed.resolve()[1])
        before = _begin(posed, rig.frame_start, switches)
        yield None
        followers = _followers(take, (*moved, *riders), deforming)
        found = yield from control_map.map_controls(posed, before, moved, riders, switches, followers)
        if found.why_not:
            return None, ControlMatch(why_not=found.why_not)
        uid, curves = _new_action(keying.resolve_armature(obj_uid), name, source, take, rig, found)
        frames = rig.frame_start + np.arange(len(placed[0]))
        stands = yield from keying.find_stands(
            keying.resolve_armature(obj_uid), keying.action_of(uid, curves), frames, slice_s
        )
        poses = yield lambda: pose_matrices(stands, placed[0] / rig.metres_per_unit, *placed[1:])
        wanted = {bone: poses[:, place] for place, bone in enumerate(take.motion.skeleton.names)}
        measured = _measured_bones(wanted, {*moved, *deforming}, found)
        posed.assign(keying.action_of(uid, curves))
        metres = rig.metres_per_unit * float(np.cbrt(abs(np.linalg.det(stands[0, :3, :3]))))
        bases, match = yield from _solved(
            posed, found, wanted, _following(posed, measured, (*moved, *riders)), metres, frames
        )
        curves = yield from _keyed(obj_uid, uid, curves, found, bases, rig.frame_start, slice_s)
        keyed = KeyedAction(uid, curves, posed_by, stands[0], len(stands) == 1, rig.frame_start)
        return replace(keyed, place="CONTROLS", switches=tuple(found.switches), match=match), match
    except BaseException:
        if uid:
            keying.remove_by_uid(uid)
        raise
    finally:
        posed.remove()


def _followers(take: Take, moved: Sequence[str], deforming: Set[str]) -> dict[str, str]:
    """Bones that deform and hang on what the take moves without being moved themselves -> the nearest of those."""
    skeleton, found = take.motion.skeleton, dict[str, str]()
    for index, name in enumerate(skeleton.names):
        if name in moved or name not in deforming:
            continue
        above = int(skeleton.parents[index])
        while above >= 0 and skeleton.names[above] not in moved:
            above = int(skeleton.parents[above])
        if above >= 0:
            found[name] = skeleton.names[above]
    return found


def _new_action(
    obj: bpy.types.Object, name: str, source: bpy.types.Action | None, take: Take, rig: RigMotion, found: ControlMap
) -> tuple[int, int]:
    """An Action with what is not the take's to key, and the switches; its session_uid and how many curves it has."""
    action, _, bag = actions.new_action(name, obj)
    keying.mark_unfinished(action)
    if source is not None:
        _copy_curves(obj, source, bag, take, rig, found)
    for path, value in found.switches.items():
        actions.add_curve(bag, path, 0, "Controls", rig.frame_start, np.array([value]))
    return action.session_uid, len(bag.fcurves)


def _measured_bones(wanted: Mapping[str, Array], counted: set[str], found: ControlMap) -> tuple[str, ...]:
    """The bones of the take that must come out right: those that count and are not targets or poles."""
    skip = {chain.target for chain in found.chains} | {chain.pole for chain in found.chains}
    return tuple(bone for bone in wanted if bone in counted and bone not in skip)


def moved_bones(take: Take, rig: RigMotion, deforming: Set[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The bones, parents first, that the take moves otherwise than its source does; the rest go along with parents.

    Beside them bone -> one of those, for bones that keep to it as in the source without being its children.
    deforming: where it moves any of these, only they count: the others are a rig's machinery, which shows nothing.
    """
    source, motion = rig.clip, take.motion
    names = motion.skeleton.names
    if take.own_clock or source.skeleton.names != names:
        return tuple(name for name in names if name in deforming) or names, {}
    places = np.clip(np.rint(take.source_time(np.arange(len(motion)) / motion.fps) * source.fps), 0, len(source) - 1)
    at = places.astype(int)
    turned = angle_between(motion.local_quat_wxyz, source.local_quat_wxyz[at]).max(axis=0)
    far = np.linalg.norm(motion.local_pos - source.local_pos[at], axis=-1).max(axis=0)
    moved = np.flatnonzero((turned > _STILL_RAD) | (far > _STILL_M))
    counts = np.isin(np.array(names)[moved], sorted(deforming))
    moved = moved[counts] if counts.any() else moved
    some = np.unique(np.linspace(0, len(motion) - 1, _LOOKED_AT).astype(int))
    now = [array[some][:, moved] for array in motion.world()]
    before = [array[at[some]][:, moved] for array in source.world()]
    leaders: list[int] = []
    riders: dict[str, str] = {}
    for own in range(len(moved)):
        kept = next((lead for lead in leaders if _keeps(now, before, lead, own)), None)
        if kept is None:
            leaders.append(own)
        else:
            riders[names[moved[own]]] = names[moved[kept]]
    return tuple(names[moved[lead]] for lead in leaders), riders


def _keeps(now: list[Array], before: list[Array], lead: int, own: int) -> bool:
    """Whether a bone stands to another as before; now, before: world positions (T, B, 3) and rotations (T, B, 4)."""
    (far, turn), (far_before, turn_before) = (
        (
            rotate(conjugate(quat[:, lead]), pos[:, own] - pos[:, lead]),
            multiply(conjugate(quat[:, lead]), quat[:, own]),
        )
        for pos, quat in (now, before)
    )
    moved_m = np.linalg.norm(far - far_before, axis=-1).max()
    return bool(moved_m < 5 * _STILL_M and angle_between(turn, turn_before).max() < 5 * _STILL_RAD)


def _following(posed: PosedCopy, measured: Sequence[str], moved: Sequence[str]) -> tuple[str, ...]:
    """Of the bones to be measured those that hang on what the take moves, or are that."""
    bones, known = posed.resolve()[1].pose.bones, {*moved}
    found = (
        name for name in measured if name in known or any(one.name in known for one in bones[name].parent_recursive)
    )
    return tuple(found) or tuple(measured) or tuple(posed.names)


def _begin(posed: PosedCopy, frame: int, switches: dict[str, float]) -> Array:
    """Let the copy stand as the source has it at its first frame, with its forward chains on.

    Gives the poses (B, 4, 4) before that.
    """
    before = posed.evaluate(float(frame))
    posed.assign(None)
    copy = posed.resolve()[1]
    for path, value in switches.items():
        sources.set_custom(copy, path, value)
    posed.evaluate()
    return before


def _solved(
    posed: PosedCopy,
    found: ControlMap,
    wanted: dict[str, Array],
    measured: tuple[str, ...],
    metres: float,
    frames: Array,
) -> Slices[tuple[dict[str, Array], ControlMatch]]:
    """(T, 4, 4) by control, and how well that matches."""
    solving = ControlSolving(posed, found, wanted, measured, metres)
    bases = {name: np.empty((len(frames), 4, 4)) for name in found.keyed}
    worst_m = worst_rad = 0.0
    for index, frame in enumerate(frames):
        at, far, turned = yield from solving.solve_frame(index, float(frame))
        for name, basis in at.items():
            bases[name][index] = basis
        worst_m, worst_rad = max(worst_m, float(far.max())), max(worst_rad, float(turned.max()))
    return bases, ControlMatch(worst_m, float(np.degrees(worst_rad)))


def _keyed(
    obj_uid: int, uid: int, curves: int, found: ControlMap, bases: dict[str, Array], first: int, slice_s: float
) -> Slices[int]:
    """Key the controls; gives how many curves the Action has then."""
    rests = [RestBone.of(keying.resolve_armature(obj_uid).pose.bones[name]) for name in found.keyed]
    made = yield lambda: [
        (rest.name, *curve, None)
        for rest in rests
        for curve in channels.curves(rest, bases[rest.name])
        if not curve[0].endswith(".scale")
    ]
    return (yield from keying.add_curves(uid, curves, made, first, slice_s))


def _copy_curves(
    obj: bpy.types.Object, source: bpy.types.Action, bag: object, take: Take, rig: RigMotion, found: ControlMap
) -> None:
    """Copy all that the source animates but what the take keys itself."""
    keyed = {f'pose.bones["{bpy.utils.escape_identifier(name)}"]' for name in found.keyed}

    def is_own(path: str) -> bool:
        channel = BONE_CHANNEL.match(path)
        return path in found.switches or (channel is not None and path.rpartition(".")[0] in keyed)

    keying.copy_other_curves(obj, source, bag, take, rig, is_own)
