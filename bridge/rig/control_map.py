# SPDX-License-Identifier: GPL-3.0-or-later
"""Which controls of a rig can bring its bones where a take wants them: found by looking at its constraints, and by
moving each control a little and seeing which bones go with it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...core.geometry.quaternions import Array
from ..scene.time_slicing import Slices
from .posed_copy import PosedCopy

# Rigify's bones that are no controls, and controls that bend what others pose.
_NO_CONTROL = re.compile(r"^(DEF|ORG|MCH|WGT|VIS)[-_]|tweak|_ik_pole", re.IGNORECASE)
_SWITCH = {re.compile(r"^ik[ _.-]?(to)?[ _.-]?fk", re.IGNORECASE): 1.0, re.compile(r"^fk[ _.-]?ik", re.IGNORECASE): 0.0}
_TURN_RAD, _MOVE = 0.1, 0.05
_SAME = 0.05  # of a turn or a move, by which a bone may miss it and still count as carried
_STRAIGHT = 0.01  # radians, and share of a bone's length
_COPYING = {"COPY_TRANSFORMS", "COPY_ROTATION"}
_ACTING = 0.99


@dataclass(frozen=True)
class IkChain:
    """Inverse kinematics that act: chain from its root to its tip; where on the tip bone the goal is (0 head, 1 tail).

    target, pole: bones, '' for none. reach: where on the target bone the goal is. turns: whether the tip takes the
    target's rotation.
    """

    bones: tuple[str, ...]
    tip: str
    at: float
    target: str
    reach: float
    turns: bool
    pole: str
    pole_angle_rad: float


@dataclass(frozen=True)
class Control:
    """A control that carries a bone: it is moved until the bone is where it should be.

    places: whether it also brings the bone to its place, not only turns it. over: the control next above it, '' for
    none, with which it is carried. roll: by which bone it is turned about the bone's own axis: mostly the bone itself;
    another where a limb is made of pieces that twist one after the other; '' for none. aims: whether it turns the bone
    about other axes than its own.
    """

    name: str
    lead: str
    places: bool
    over: str = ""
    roll: str = ""
    aims: bool = True


@dataclass(frozen=True)
class ControlMap:
    """What is keyed for a take.

    controls: parents first. chains: with inverse kinematics. stand_ins: bone -> bone of the take whose pose it copies
    beforehand. switches: RNA path -> value that lets the forward chains count. why_not: why nothing can be done.
    """

    controls: tuple[Control, ...] = ()
    chains: tuple[IkChain, ...] = ()
    stand_ins: dict[str, str] = field(default_factory=dict)
    switches: dict[str, float] = field(default_factory=dict)
    why_not: str = ""

    @property
    def keyed(self) -> tuple[str, ...]:
        """Every bone that gets keys."""
        of_chains = [bone for chain in self.chains for bone in (*chain.bones, chain.target, chain.pole) if bone]
        return tuple(dict.fromkeys([*of_chains, *(one.name for one in self.controls)]))


def find_switches(obj: bpy.types.Object) -> dict[str, float]:
    """RNA path -> value of every property of a bone or the object that goes over from IK to FK."""
    found = {}
    for holder in (obj, *obj.pose.bones):
        for key, value in holder.items():
            if isinstance(value, int | float):
                for words, wanted in _SWITCH.items():
                    if words.search(key):
                        prefix = holder.path_from_id() if holder != obj else ""
                        found[f'{prefix}["{bpy.utils.escape_identifier(key)}"]'] = wanted
    return found


def map_controls(
    posed: PosedCopy,
    source: Array,
    moved: Sequence[str],
    riders: Mapping[str, str],
    switches: dict[str, float],
    followers: Mapping[str, str],
) -> Slices[ControlMap]:
    """Find the controls of bones that the take moves, parents first, one look a slice.

    source: (B, 4, 4) the poses before its switches were set. riders: bone -> one of those to which it keeps; it needs a
    control where that one's does not carry it, or a switch has changed how they stand to each other. followers: bone ->
    what of those it hangs on, for bones that must keep to them though the take does not move them; they need one, too,
    where the rig does not let them follow, such as a head that stays as it is when its neck turns.

    posed: the rig as the source has it, its switches set; nothing else must move it.
    """
    evaluated = posed.evaluate()
    bones = posed.evaluated().pose.bones
    deforming = [bone.name for bone in bones if bone.bone.use_deform]
    stand_ins = _stand_ins(bones, moved)
    known = {*moved, *stand_ins}
    chains = tuple(_chains(posed.evaluated(), known))
    in_chain = {bone for chain in chains for bone in chain.bones}
    copied = {b for x, b in stand_ins.items() if x in in_chain}
    pieces = _pieces(bones, moved)
    free = [bone for bone in moved if bone not in in_chain and bone not in copied and bone not in pieces]
    targets = {chain.target: chain for chain in chains if chain.target}
    poles = {chain.pole for chain in chains}
    candidates = [name for name in _upstream(bones, [*free, *riders]) if name not in in_chain | poles]
    if any(_NO_CONTROL.search(name) for name in moved):  # Rigify; elsewhere every bone may be its own control
        candidates = [name for name in candidates if not _NO_CONTROL.search(name)]
    mixed, carried = _mixed_in(bones), dict[str, _Carried]()
    for name in candidates:
        carried[name] = _turned(posed, name, evaluated)
        yield None
    candidates = [name for name in candidates if name in carried[name].rigidly]
    chosen = _choose(free, candidates, carried, {*free, *copied, *in_chain}, mixed)
    switched = {bone for bone, lead in riders.items() if not _stands_alike(posed, source, evaluated, bone, lead)}
    _choose_for_riders(riders, candidates, carried, chosen, switched)
    _let_carrier_lead(followers, free, candidates, carried, chosen)
    loose = _left_behind(followers, chosen, carried)
    for name in _upstream(posed.evaluated().pose.bones, loose):  # looking has made the copy anew
        if name not in carried and name not in in_chain | poles and not _NO_CONTROL.search(name):
            carried[name] = _turned(posed, name, evaluated)
            candidates += [name] if name in carried[name].rigidly else []
            yield None
    _choose_for_riders({bone: followers[bone] for bone in loose}, candidates, carried, chosen, set(loose))
    missing = [bone for bone in free if bone not in chosen]
    if missing and not chosen and not chains:  # pieces of a limb go along with it, and are measured in the end
        return ControlMap(why_not=f"no control turns '{missing[0]}' alone")
    if not all(chain.target for chain in chains):
        return ControlMap(why_not="inverse kinematics without a target bone of the rig hold it")
    leading, carrier = _lead(chosen, free, candidates, carried, targets)
    controls = []
    for bone, name in leading:
        own = posed.resolve()[1].pose.bones[name]
        # A bone on a chain of others is where they bring it; only what stands by itself is moved as well.
        places = name in (bone, carrier) and name not in targets and _can_move(own)
        places = places and bone in _moved(posed, name, evaluated)
        above = [other for _, other in leading if other != name and name in carried[other].aimed]
        over = min(above, key=lambda other: len(carried[other].aimed), default="")
        controls.append(Control(name, bone, places, over, _roll(bone, carried[name], deforming)))
        yield None
    controls.sort(key=lambda one: -len(carried[one.name].aimed))
    return ControlMap((*controls, *_twisting_controls(controls, stand_ins)), chains, stand_ins, switches)


def _lead(
    chosen: dict[str, str],
    free: Sequence[str],
    candidates: Sequence[str],
    carried: Mapping[str, "_Carried"],
    targets: Mapping[str, IkChain],
) -> tuple[list[tuple[str, str]], str]:
    """Bones with the controls that lead them, and the control that carries everybody, '' for none.

    That one goes along with the first bone: the others need not make up for where the body is.
    """
    carrier = _carrier([bone for bone, name in chosen.items() if name not in targets], candidates, carried)
    extra = [(free[0], carrier)] if carrier and carrier not in chosen.values() else []
    return [*chosen.items(), *extra], carrier


def _twisting_controls(controls: Sequence[Control], stand_ins: Mapping[str, str]) -> list[Control]:
    """Controls of pieces that twist a bone about its axis, where the one that leads it does not."""
    twisting = {bone: name for name, bone in stand_ins.items()}
    return [
        Control(twisting[one.lead], one.lead, False, one.name, one.lead, aims=False)
        for one in controls
        if one.roll != one.lead and one.lead in twisting
    ]


@dataclass(frozen=True)
class _Carried:
    """The bones that turn exactly as a control does, and those whose own axes go along."""

    rigidly: frozenset[str] = frozenset()
    aimed: frozenset[str] = frozenset()


def _roll(bone: str, carried: _Carried, deforming: Sequence[str]) -> str:
    """By which bone a control is turned about the axis of the bone that it leads."""
    if bone in carried.rigidly:
        return bone
    pieces = [other for other in deforming if other.startswith(bone) and other in carried.rigidly]
    return pieces[0] if pieces else ""


def _choose(
    free: Sequence[str],
    candidates: Sequence[str],
    carried: dict[str, _Carried],
    everything: set[str],
    mixed: set[str],
) -> dict[str, str]:
    """Bone -> the control that carries it and the fewest others; a control leads one bone alone."""
    count = {
        name: (len(carried[name].aimed & everything), name in mixed, len(carried[name].aimed)) for name in candidates
    }
    chosen: dict[str, str] = {}
    for bone in free:
        able = [name for name in candidates if bone in carried[name].aimed and name not in chosen.values()]
        if bone != free[0]:  # what carries everybody leads nobody else
            able = [name for name in able if name == bone or not carried[name].aimed.issuperset(free)]
        if able:
            chosen[bone] = bone if bone in able else min(able, key=count.__getitem__)
    return chosen


def _choose_for_riders(
    riders: Mapping[str, str],
    candidates: Sequence[str],
    carried: dict[str, _Carried],
    chosen: dict[str, str],
    switched: set[str],
) -> None:
    """Give those controls that are not carried along with the bones to which they keep, such as a head on a neck."""
    groups: dict[str, list[str]] = {}
    for bone, name in chosen.items():
        groups.setdefault(bone, []).append(name)
    for bone, lead in riders.items():
        own = groups.setdefault(lead, [])
        goes_along = any(bone in carried[name].rigidly for name in own)
        if not own or (goes_along and bone not in switched):
            continue
        able = [name for name in candidates if bone in carried[name].rigidly and name not in chosen.values()]
        able = [name for name in able if lead not in carried[name].aimed]
        if able:
            chosen[bone] = min(able, key=lambda name: len(carried[name].aimed))
            own.append(chosen[bone])


def _pieces(bones: Sequence[bpy.types.PoseBone], moved: Sequence[str]) -> set[str]:
    """Bones that go straight on from a moved one, whose name they have: limbs are made of pieces, which twist."""
    found = set()
    for name in moved:
        bone, above = bones[name].bone, bones[name].parent
        if above is None or above.name not in moved or not name.startswith(f"{above.name}."):
            continue
        apart = (bone.head_local - above.bone.tail_local).length
        own, before = (one.tail_local - one.head_local for one in (bone, above.bone))
        if apart < _STRAIGHT * bone.length and own.angle(before, 1.0) < _STRAIGHT:
            found.add(name)
    return found


def _let_carrier_lead(
    followers: Mapping[str, str],
    free: Sequence[str],
    candidates: Sequence[str],
    carried: Mapping[str, _Carried],
    chosen: dict[str, str],
) -> None:
    """Let the control that carries everybody lead the first bone, where its own leaves behind what is to follow it."""
    carrier = _carrier(list(chosen), candidates, carried)
    if not free or not carrier or free[0] not in chosen or carrier in chosen.values():
        return
    hanging = {bone for bone, lead in followers.items() if lead == free[0]}
    if hanging & carried[carrier].rigidly - carried[chosen[free[0]]].rigidly:
        chosen[free[0]] = carrier


def _left_behind(followers: Mapping[str, str], chosen: Mapping[str, str], carried: Mapping[str, _Carried]) -> list[str]:
    """Bones that no chosen control takes along with what they hang on."""
    known = [carried[name].rigidly for name in chosen.values()]
    hanging = [bone for bone, lead in followers.items() if lead in chosen]
    return [bone for bone in hanging if not any(bone in rigidly for rigidly in known)]


def _stands_alike(posed: PosedCopy, one: Array, other: Array, bone: str, lead: str) -> bool:
    """Whether a bone stands to another in one pose as in the other."""
    own, over = posed.place[bone], posed.place[lead]
    turns = [unit_axes(poses[over]).T @ unit_axes(poses[own]) for poses in (one, other)]
    return bool(angle_of(turns[0].T @ turns[1]) < _SAME * _TURN_RAD)


def _carrier(free: Sequence[str], candidates: Sequence[str], carried: Mapping[str, _Carried]) -> str:
    """The control that carries all of these and the fewest others; '' if there is none."""
    able = [name for name in candidates if free and carried[name].aimed.issuperset(free)]
    return min(able, key=lambda name: len(carried[name].aimed), default="")


def _turned(posed: PosedCopy, name: str, before: Array) -> _Carried:
    """What goes with a control that is turned a little."""
    change = np.eye(4)
    change[:3, :3] = _rotation(np.ones(3) / np.sqrt(3.0) * _TURN_RAD)
    after, place = _look(posed, name, change), posed.place[name]
    axes_before, axes_after = unit_axes(before), unit_axes(after)
    turns = axes_after @ np.swapaxes(axes_before, -1, -2)
    if angle_of(turns[place]) < 0.5 * _TURN_RAD:
        return _Carried()
    rigidly = angle_of(np.swapaxes(turns[place], -1, -2) @ turns) < _SAME * _TURN_RAD
    expected = np.einsum("ij,bj->bi", turns[place], axes_before[:, :, 1])
    aimed = np.linalg.norm(axes_after[:, :, 1] - expected, axis=-1) < _SAME * _TURN_RAD
    names = np.array(posed.names)
    return _Carried(frozenset(names[rigidly].tolist()), frozenset(names[aimed].tolist()))


def _moved(posed: PosedCopy, name: str, before: Array) -> set[str]:
    """The bones that move exactly as a control does that is moved a little."""
    change = np.eye(4)
    change[:3, 3] = _MOVE
    moves = _look(posed, name, change)[:, :3, 3] - before[:, :3, 3]
    own = moves[posed.place[name]]
    if np.linalg.norm(own) < 1e-6:
        return set()
    same = np.linalg.norm(moves - own, axis=-1) < _SAME * np.linalg.norm(own)
    return {posed.names[index] for index in np.flatnonzero(same)}


def _look(posed: PosedCopy, name: str, change: Array) -> Array:
    """(B, 4, 4) the poses with one control's basis changed; it is put back."""
    own = posed.bases()[name]
    posed.set_bases({name: own @ change})
    after = posed.evaluate()
    posed.set_bases({name: own})
    return after


def _mixed_in(bones: Sequence[bpy.types.PoseBone]) -> set[str]:
    """Bones that others copy in part: they bend a row of bones, none of which they turn as they are turned."""
    return {
        constraint.subtarget
        for bone in bones
        for constraint in _acting(bone, _COPYING)
        if constraint.subtarget and constraint.influence < _ACTING
    }


def _can_move(bone: bpy.types.PoseBone) -> bool:
    return not any(bone.lock_location) and not (bone.bone.use_connect and bone.parent is not None)


def _acting(bone: bpy.types.PoseBone, kinds: set[str]) -> list[bpy.types.Constraint]:
    return [c for c in bone.constraints if c.type in kinds and c.enabled and not c.mute and c.influence > 0.0]


def _stand_ins(bones: Sequence[bpy.types.PoseBone], moved: Sequence[str]) -> dict[str, str]:
    """Bone -> bone that copies it and rests where it rests: the same pose is wanted of both."""
    found = {}
    for name in moved:
        for constraint in _acting(bones[name], _COPYING):
            other = bones.get(constraint.subtarget) if constraint.subtarget else None
            if other is not None and constraint.influence > _ACTING and _rests_alike(bones[name].bone, other.bone):
                found[other.name] = name
    return {other: name for other, name in found.items() if other not in moved}


def _rests_alike(one: bpy.types.Bone, other: bpy.types.Bone) -> bool:
    return bool(np.allclose(np.array(one.matrix_local), np.array(other.matrix_local), atol=1e-3 * max(one.length, 1.0)))


def _chains(obj: bpy.types.Object, known: set[str]) -> Iterator[IkChain]:
    for bone in obj.pose.bones:
        for constraint in _acting(bone, {"IK"}):
            first = bone if constraint.use_tail else bone.parent
            length = constraint.chain_count or 1000
            chain = [first, *first.parent_recursive][:length][::-1] if first is not None else []
            if not any(one.name in known for one in chain):
                continue
            is_own = constraint.target is not None and constraint.target.original.name == obj.original.name
            pole_own = constraint.pole_target is not None and constraint.pole_target.original.name == obj.original.name
            yield IkChain(
                tuple(one.name for one in chain if one.name in known),
                bone.name,
                1.0 if constraint.use_tail else 0.0,
                constraint.subtarget if is_own else "",
                0.0
                if constraint.target is None
                else float(constraint.head_tail)
                if hasattr(constraint, "head_tail")
                else 0.0,
                bool(constraint.use_rotation),
                constraint.pole_subtarget if pole_own else "",
                float(constraint.pole_angle),
            )


def _upstream(bones: Sequence[bpy.types.PoseBone], wanted: Sequence[str]) -> list[str]:
    """Bones on which these depend, by parents and by constraints that act, themselves among them; in pose order."""
    seen: set[str] = set()
    todo = list(wanted)
    while todo:
        name = todo.pop()
        bone = bones.get(name)
        if bone is None or name in seen:
            continue
        seen.add(name)
        if bone.parent is not None:
            todo.append(bone.parent.name)
        for constraint in bone.constraints:
            if constraint.enabled and not constraint.mute and constraint.influence > 0.0:
                todo += [text for key in ("subtarget", "pole_subtarget") if (text := getattr(constraint, key, ""))]
                todo += [one.subtarget for one in constraint.targets] if constraint.type == "ARMATURE" else []
    return [bone.name for bone in bones if bone.name in seen]


def unit_axes(matrices: Array) -> Array:
    """(..., 3, 3) the rotations in matrices (..., 4, 4), their Y axes kept."""
    axes = matrices[..., :3, :3]
    y = axes[..., :, 1] / (np.linalg.norm(axes[..., :, 1], axis=-1, keepdims=True) + 1e-12)
    x = axes[..., :, 0] - np.sum(axes[..., :, 0] * y, -1, keepdims=True) * y
    x = x / (np.linalg.norm(x, axis=-1, keepdims=True) + 1e-12)
    return np.stack([x, y, np.cross(x, y)], axis=-1)


def angle_of(rotations: Array) -> Array:
    """(...) radians of rotations (..., 3, 3); exact for small ones too."""
    off = rotations - np.swapaxes(rotations, -1, -2)
    sine = 0.5 * np.sqrt(off[..., 2, 1] ** 2 + off[..., 0, 2] ** 2 + off[..., 1, 0] ** 2)
    return np.arctan2(sine, 0.5 * (np.trace(rotations, axis1=-2, axis2=-1) - 1.0))


def _rotation(vector: Array) -> Array:
    angle = float(np.linalg.norm(vector))
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
