# SPDX-License-Identifier: GPL-3.0-or-later
"""From what is keyed on an armature to bounds as ``core.control.bounds`` has them, frame by frame of a clip."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import bpy
import numpy as np

from ...core.body import BodyModel
from ...core.control.bounds.bounds import AXES, Bounds, bound_names
from ...core.control.bounds.reference_trajectory import EndEffectors
from ...core.errors import BoundsError
from ...core.geometry.quaternions import Array
from ..rig import actions, keyed_properties
from ..rig.rig_reader import RigMotion
from ..scene.sliced_reading import DatablockRef
from ..scene.time_slicing import Slices
from .properties import FACTOR, ONE_BONE, PREFIX

LABELS = (*(f"Centre of Mass {axis}" for axis in "XYZ"), "Root", "Joints", "End Effectors")
"""What the columns of ``widths_of`` are, before those of single parts."""
_ROOT, _JOINTS, _EFFECTORS = 3, 4, 5
_NEAR = 0.01  # frames that a key may be beside the clip's end, by rounding


@dataclass(frozen=True)
class Part:
    """Whose bound a line of the list is: every joint or end effector of a role, or that of one bone."""

    kind: str
    part: str
    bone: str

    @property
    def label(self) -> str:
        """Its name for people."""
        whose = self.bone if self.part == ONE_BONE else self.part.replace("_", " ")
        return f"{'Joint' if self.kind == 'JOINT' else 'End Effector'} '{whose}'"


def parts_of(obj: bpy.types.Object) -> tuple[Part, ...]:
    """The lines of the armature's list; cheap enough for every redraw."""
    return tuple(Part(row.kind, row.part, row.bone if row.part == ONE_BONE else "") for row in obj.sinew_bound_parts)


def widths_of(obj: bpy.types.Object, room: float | None = None) -> list[float]:
    """Metres and radians to either side as they are now: of ``LABELS``, then of each part; infinite where off.

    room: the factor on all of them, None for the armature's own.
    """
    own = obj.sinew_bounds
    factor = own.factor if room is None else room
    said = [
        *zip(own.use_com, own.com, strict=True),
        (own.use_root, own.root),
        (own.use_joints, own.joints),
        (own.use_effectors, own.effectors),
        *((row.use, row.angle if row.kind == "JOINT" else row.reach) for row in obj.sinew_bound_parts),
    ]
    return [width * factor if used else np.inf for used, width in said]


def read_widths(
    obj: bpy.types.Object, rig: RigMotion, action: bpy.types.Action | None = None, *, slice_s: float = float("inf")
) -> Slices[Array]:
    """(T, 6 + parts) ``widths_of`` at each frame of the clip, or (1, 6 + parts) where nothing of it moves.

    Read a little at a time. action: what ``rig`` was read from, None for whatever moves the armature now. Refuses keys
    outside of the clip, and bounds that nothing is within.
    """
    frames, painted = keyed_properties.scene_frames(rig), keyed_properties.is_animated(obj, FACTOR)
    known = DatablockRef("objects", obj)
    with actions.play_temporarily(obj, action):
        _require_keys_within(obj, frames)
        # Room that another Action's keys made is only what they left behind at this frame.
        room = 1.0 if painted and not keyed_properties.is_animated(obj, FACTOR) else None
        moves = keyed_properties.is_animated(obj, PREFIX)
        widths = np.array([widths_of(obj, room)])
    if moves:
        widths = yield from keyed_properties.sample_property_in_slices(
            obj, action, frames, lambda evaluated: widths_of(evaluated, room), slice_s=slice_s
        )
    _require_wide(known.resolve(), widths, frames)
    return widths


def bounds_for(body: BodyModel, parts: Sequence[Part], widths: Array) -> Bounds:
    """Bounds of a body from widths (T, 6 + parts); single parts go before all, and single bones before parts."""
    columns = _columns(body, tuple(parts))
    return Bounds(bound_names(body), widths[:, columns])


def columns_of(body: BodyModel, parts: Sequence[Part]) -> Array:
    """(R,) for each bound of a body the column of ``widths_of`` that it has its width from."""
    return _columns(body, tuple(parts))


@lru_cache(maxsize=16)
def _columns(body: BodyModel, parts: tuple[Part, ...]) -> Any:
    tips = EndEffectors(body)
    joints = {link.bone: link.role for link in body.links[1:]}
    ends = {body.links[index].bone: body.links[index].role for index in tips.links}
    found = [
        *range(len(AXES)),
        _ROOT,
        *(_column(parts, "JOINT", bone, role, _JOINTS) for bone, role in joints.items()),
        *(_column(parts, "EFFECTOR", bone, role, _EFFECTORS) for bone, role in ends.items()),
    ]
    return np.array(found)


def _column(parts: Sequence[Part], kind: str, bone: str, role: str, otherwise: int) -> int:
    own = [at for at, part in enumerate(parts) if part.kind == kind and part.part == ONE_BONE and part.bone == bone]
    alike = [at for at, part in enumerate(parts) if part.kind == kind and part.part == role]
    chosen = own or alike
    return len(LABELS) + chosen[-1] if chosen else otherwise


def require_parts(obj: bpy.types.Object, body: BodyModel) -> None:
    """Refuse lines of the list about bones that have no such bound, naming them."""
    names = set(bound_names(body))
    for part in parts_of(obj):
        if part.part != ONE_BONE:
            continue
        if f"{part.kind.lower()} {part.bone}" not in names:
            kind = "joint" if part.kind == "JOINT" else "end effector"
            those = [name.partition(" ")[2] for name in bound_names(body) if name.startswith(part.kind.lower())]
            raise BoundsError(
                f"'{part.bone}' is no {kind} of the body of '{obj.name}'", f"Choose one of: {', '.join(those)}"
            )


def _require_keys_within(obj: bpy.types.Object, frames: Array) -> None:
    """Refuse keys of bounds before or after the motion: nobody would see what they do."""
    action = obj.animation_data.action if obj.animation_data else None
    if action is None:
        return
    for curve in actions.curves_of(action, actions.slot_for(action, obj)):
        if not curve.data_path.startswith(PREFIX):
            continue
        for point in curve.keyframe_points:
            if not frames[0] - _NEAR <= point.co.x <= frames[-1] + _NEAR:
                raise BoundsError(
                    f"The bound '{curve_label(obj, curve)}' has a key at frame {point.co.x:g}, and the motion the "
                    f"frames {frames[0]:g} to {frames[-1]:g}",
                    "Put its keys within the motion, or learn a longer range of the Action",
                )


def curve_label(obj: bpy.types.Object, curve: bpy.types.FCurve) -> str:
    """What a curve moves, for people."""
    owner, _, name = curve.data_path.rpartition(".")
    try:
        group = obj.path_resolve(owner)
    except ValueError:  # a part that is not in the list any more
        return curve.data_path
    found = group.bl_rna.properties[name]
    word = found.name.removesuffix(" (m)")
    return f"{word} {'XYZ'[curve.array_index]}" if getattr(found, "is_array", False) else word


def _require_wide(obj: bpy.types.Object, widths: Array, frames: Array) -> None:
    names = [*LABELS, *(part.label for part in parts_of(obj))]
    narrow = ~(widths > 0.0)  # also what is no number
    if narrow.any():
        row, column = (int(index) for index in np.argwhere(narrow)[0])
        where = f" at frame {frames[row]:g}" if len(widths) > 1 else ""
        raise BoundsError(
            f"The bound '{names[column]}' of '{obj.name}' is {widths[row, column]:g} wide{where}: nothing is within it",
            "Make it wider than zero, or switch it off",
        )
    if not np.isfinite(widths).any():
        raise BoundsError(f"All bounds of '{obj.name}' are off: anything would do", "Switch at least one of them on")
