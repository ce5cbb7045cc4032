# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that nobody would see, drawn opaque in pictures: FBX files often come in with materials of no opacity."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import bpy

_UNSEEN = 0.05  # opacity below which a material shows nothing


@contextmanager
def show_unseen(worn: Sequence[Sequence[bpy.types.Object]]) -> Iterator[None]:
    """While it lasts, characters all of whose materials are see-through wear opaque copies of them.

    worn: the meshes of each character. One that shows anything at all is as its maker wanted it, and stays. The copies
    are left to whoever cleans up; the meshes have their own materials back.
    """
    changed: list[tuple[bpy.types.MaterialSlot, bpy.types.Material]] = []
    try:
        for meshes in worn:
            slots = [slot for mesh in meshes for slot in mesh.material_slots]
            bare = any(not len(mesh.material_slots) for mesh in meshes)
            if not slots or bare or not all(_is_unseen(slot.material) for slot in slots):
                continue
            copies = {slot.material.name: _opaque_copy(slot.material) for slot in slots}
            mine = [(slot, slot.material) for slot in slots if _may_change(slot)]  # before any of a shared mesh changes
            changed += mine
            for slot, own in mine:
                slot.material = copies[own.name]
        yield
    finally:
        for slot, own in changed:
            slot.material = own


def _is_unseen(material: bpy.types.Material | None) -> bool:
    """Whether a surface of the material is nowhere seen: its opacity is one number, and that is nothing."""
    if material is None or material.node_tree is None:
        return False
    opacities = [node.inputs["Alpha"] for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED"]
    return bool(opacities) and all(not alpha.is_linked and alpha.default_value < _UNSEEN for alpha in opacities)


def _opaque_copy(material: bpy.types.Material) -> bpy.types.Material:
    copy = material.copy()
    for node in copy.node_tree.nodes:
        if node.type == "BSDF_PRINCIPLED":
            node.inputs["Alpha"].default_value = 1.0
    return copy


def _may_change(slot: bpy.types.MaterialSlot) -> bool:
    """Whether the slot can be given another material: not on what is linked from another file."""
    obj = slot.id_data
    return obj.library is None and (slot.link == "OBJECT" or obj.data.library is None)
