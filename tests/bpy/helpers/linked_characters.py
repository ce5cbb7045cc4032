# SPDX-License-Identifier: GPL-3.0-or-later
"""A character in a file of its own, linked into a shot as studios do."""

import bpy

from .interface import hero
from .take_making import take


def library(folder, *, takes=0, change=None):
    """Save 'Hero', moved by 'Wave' whatever its takes, in a file of its own, and begin an empty one; gives the path."""
    obj = hero()
    for number in range(takes):
        take(obj, f"Take {number}", put=False)
    if change is not None:
        change(obj)
    path = folder / "hero.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True)
    return path


def link(path):
    """Link 'Hero' into the scene and choose it, with the method that changes nothing."""
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = ["Hero"]
    (obj,) = wanted.objects
    scene = bpy.context.scene
    scene.collection.objects.link(obj)
    _activate(obj)
    scene.sinew.armature, scene.sinew.method = obj, "passthrough"
    return obj


def override(obj):
    """Make a library override of a linked armature, as Object > Library Override > Make does."""
    made = obj.override_create(remap_local_usages=True)
    _activate(made)
    return made


def _activate(obj):
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj


def shot(folder, name="shot.blend"):
    """Save the shot and open it again; gives 'Hero' as it is then."""
    path = str(folder / name)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.context.scene.objects["Hero"]
