# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a body edited by hand: begun at what was fitted, mirrored to the other side, reset.

What is edited stands in ``object.sinew_body.overrides``; operators own the undo step.
"""

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.body import BodyModel
from ...core.body.edits import main_shape, mirror_edit, opposite_link, size_for_kind
from ...core.errors import RigError
from ..scene.chosen_armature import why_editing, why_no_armature
from . import edits, fitted_bodies
from .edits import AUTO, override_row, read_edit

_OTHER_SIDE = {".L": ".R", ".R": ".L"}


@dataclass(frozen=True)
class PartView:
    """What there is to see of a bone's part, ready to draw.

    bone: whose part it is, of the link that the active bone moves with. is_link: whether that is the active bone.
    facts: (name, value) pairs as texts, of what was fitted. hinge: its joint bends about one axis; None for the root.
    """

    bone: str
    is_link: bool
    role: str
    facts: tuple[tuple[str, str], ...]
    hinge: bool | None


def why_no_part(context: bpy.types.Context) -> str:
    """Why no part can be edited now, in a sentence with the fix; '' if one can. Cheap enough for ``poll``."""
    if reason := why_no_armature(context.scene):
        return reason
    obj = context.scene.sinew.armature
    if reason := why_editing(obj):
        return reason
    if obj.data.bones.active is None:
        return "Select a bone of the character in Pose Mode"
    return ""


def active_bone(context: bpy.types.Context) -> str:
    """The character's active bone, '' for none."""
    obj = context.scene.sinew.armature
    bone = obj.data.bones.active if obj is not None else None
    return bone.name if bone is not None else ""


def begin_edit(scene: bpy.types.Scene, obj: bpy.types.Object, bone: str) -> bpy.types.PropertyGroup:
    """The line of a bone, made if there is none; it shows what was fitted, and changes nothing until it is ticked."""
    body = require_fitted_body(scene, obj)
    index = _link(body, bone)
    row = override_row(obj, bone)
    if row is None:
        row = obj.sinew_body.overrides.add()
        row.name, row.role = bone, AUTO
    edits.show_fitted_values(row, body.links[index])
    obj.sinew_body.override_index = obj.sinew_body.overrides.find(bone)
    return row


def mirror_part_edit(scene: bpy.types.Scene, obj: bpy.types.Object, bone: str) -> str:
    """Say of the bone on the other side what is said of this one, mirrored; gives its name."""
    row = override_row(obj, bone)
    if row is None:
        raise RigError(f"Nothing of bone '{bone}' is edited", "Edit it first")
    body = require_fitted_body(scene, obj)
    here = _link(body, bone)
    there = opposite_link(body, here)
    if there < 0:
        raise RigError(
            f"Bone '{bone}' has no counterpart on the other side of the body", "Edit the other one by itself"
        )
    edit, role = mirror_edit(body, here, there, read_edit(row)), row.role
    other = begin_edit(scene, obj, body.links[there].bone)
    other.role = role[:-2] + _OTHER_SIDE[role[-2:]] if role[-2:] in _OTHER_SIDE else role
    edits.write_edit(other, edit)
    return str(other.name)


def reset_edits(obj: bpy.types.Object, bone: str) -> int:
    """Let a bone's part, or every part for '', be as fitted again; gives how many lines are gone."""
    rows = obj.sinew_body.overrides
    gone = [index for index, row in enumerate(rows) if not bone or row.name == bone]
    for index in reversed(gone):
        rows.remove(index)
    obj.sinew_body.override_index = max(min(obj.sinew_body.override_index, len(rows) - 1), 0)
    return len(gone)


def require_fitted_body(scene: bpy.types.Scene, obj: bpy.types.Object) -> BodyModel:
    """The armature's body as fitted, without what is edited by hand; says why where there is none."""
    fitted = fitted_bodies.fit_now(scene, obj)
    if fitted.base is None:
        assert fitted.problem is not None
        raise fitted.problem
    return fitted.base


def view_part(obj: bpy.types.Object, bone: str) -> PartView | None:
    """The view of a bone's part as it is fitted; None where no body is known yet, or the bone has no part in it."""
    fitted = fitted_bodies.known_fit(obj)
    if fitted is None or fitted.base is None or fitted.body is None:
        return None
    index = fitted.base.link_of(bone)
    if index < 0:
        return None
    link = fitted.base.links[index]
    shape, joint = main_shape(link), link.joint
    size = " × ".join(f"{100.0 * value:.1f}" for value in size_for_kind(shape, shape.kind))
    facts = [("Shape", f"{shape.kind.title()}, {size} cm"), ("Mass", f"{link.mass:.2f} kg")]
    if joint.kind == "hinge":
        low, high = np.degrees([joint.lower, joint.upper])
        facts.append(("Hinge", f"{low:.0f}° to {high:.0f}°"))
    elif joint.kind == "ball":
        facts.append(("Ball", f"{np.degrees(joint.max_angle):.0f}° any way"))
    role = f"{link.role}.{link.side}" if link.side else link.role
    hinge = None if joint.kind == "free" else joint.kind == "hinge"
    return PartView(link.bone, link.bone == bone, role, tuple(facts), hinge)


def _link(body: BodyModel, bone: str) -> int:
    """The bone's own link."""
    index = body.link_of(bone)
    if index < 0:
        raise RigError(f"Bone '{bone}' is no part of the body", "Give it a role in Bone Roles, or choose another bone")
    if body.links[index].bone != bone:
        raise RigError(f"Bone '{bone}' moves with '{body.links[index].bone}'", "Edit that one instead")
    return index
