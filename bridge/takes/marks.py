# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks: by what takes know an object, whatever it is called."""

import re
import secrets

import bpy

from ...core.errors import RigError


def ensure_mark(obj: bpy.types.Object) -> str:
    """The object's mark, made when it is first needed; '' for a linked one, which cannot keep any."""
    if not hasattr(obj, "sinew_mark"):
        return ""  # Sinew is used as a library
    if not obj.sinew_mark and obj.library is None:
        obj.sinew_mark = secrets.token_hex(8)
    return str(obj.sinew_mark)


def find_marked(name: str, mark: str) -> bpy.types.Object | None:
    """The object that was called so and is marked so, if it is still in a scene."""
    named = bpy.data.objects.get(name)
    marked = [obj for obj in bpy.data.objects if mark and obj.sinew_mark == mark]
    if named is not None and (named in marked or not marked):  # a duplicate has its model's mark
        marked = [named]
    return next((obj for obj in marked if obj.users_scene), None)


def find_renamed(scene: bpy.types.Scene, name: str, mark: str) -> bpy.types.Object | None:
    """The scene's object that was called so when it got its mark, whatever it is called now; None for none.

    A duplicate has its model's mark: where several have it and none has the name, nobody can tell which is meant, and
    one that is called like Blender calls duplicates is taken for nobody else.
    """
    named = scene.objects.get(name)
    marked = [obj for obj in scene.objects if mark and getattr(obj, "sinew_mark", "") == mark]
    if named is not None and (named in marked or not marked):
        return named
    renamed = [obj for obj in marked if not re.fullmatch(rf"{re.escape(name)}\.\d{{3,}}", obj.name)]
    if len(renamed) > 1:
        names = " and ".join(f"'{obj.name}'" for obj in renamed)
        raise RigError(
            f"'{name}' was renamed, and {names} are copies of each other: any of them may be it",
            f"Call the right one '{name}' again, and bake the result",
        )
    return renamed[0] if renamed else None
