# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is meant: an armature of the open scene, with the scale at which it is read."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import bpy

from ...core.motion import Skeleton
from ..importing.importers import open_input
from ..jobs import requests
from ..scene import saving
from .library_character import find_character, stand_up_character
from .registering import registered


@dataclass(frozen=True)
class Character:
    """An armature of the open scene. scale: metres a Blender unit, on top of the scene's own unit scale."""

    armature: str
    scale: float = 1.0

    @property
    def obj(self) -> bpy.types.Object:
        """Its object in Blender."""
        return requests.find_armature(self.armature)


Who = Character | bpy.types.Object | str | None
"""What verbs take for a character: one, its object, its name, or None for the only armature in the scene."""


@contextmanager
def session() -> Iterator[None]:
    """Make Sinew's own properties known while it lasts, where no add-on has done so.

    Inside a Blender with Sinew enabled nothing needs to be done and this does nothing; with Blender as a Python module
    everything stands in ``with api.session():``.
    """
    with registered():
        yield


def open_character(file: str | Path, armature: str = "", *, scale: float = 1.0) -> Character:
    """Open a .blend, a motion file or a stock clip, in place of the scene that is open; gives its character.

    file: a .blend, .bvh, .fbx, .glb, .gltf, .npz, a robot's .urdf or .xml, or the name of a stock clip such as 'walk'.
    armature: which one, where there are several. scale: metres a unit of the file, such as 0.01 for centimetres.
    """
    left = open_input(str(file), scale)
    bpy.context.view_layer.update()
    return Character(requests.find_armature(armature).name, left)


def character(who: Who = None, *, scale: float = 1.0) -> Character:
    """A character of the scene that is open, by object or name; without one the only armature there is."""
    if isinstance(who, Character):
        return who
    name = who.name if isinstance(who, bpy.types.Object) else who or ""
    return Character(requests.find_armature(name).name, scale)


def stand_in(who: Who, skeleton: Skeleton, scale: float = 1.0) -> tuple[Character, bool]:
    """Who does what a library is asked for: the one that is meant, the scene's own of its skeleton, or a new one.

    Gives whether it was made here.
    """
    name = "" if who is not None else find_character(skeleton)
    made = who is None and not name
    found = Character(stand_up_character(skeleton, scale).name, scale) if made else character(who or name, scale=scale)
    bpy.context.view_layer.update()
    return found, made


def save(path: str | Path) -> Path:
    """Save the open scene as a .blend, whole or not at all; gives where it is."""
    target = Path(path).resolve()
    saving.require_writable_folder(target.parent)
    saving.save_blend(target)
    return target
