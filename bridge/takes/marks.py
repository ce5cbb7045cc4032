# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks: by what takes know an object, whatever it is called."""

import secrets

import bpy


def ensure_mark(obj: bpy.types.Object) -> str:
    """The object's mark, made when it is first needed; '' for a linked one, which cannot keep any."""
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
