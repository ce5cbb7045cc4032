# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew's properties, for a verb that reads them in a Blender without the add-on."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from .. import properties
from ..body import properties as body_properties


@contextmanager
def registered() -> Iterator[None]:
    """What a .blend says about its characters is read through Sinew's properties, also where no add-on has them."""
    if hasattr(bpy.types.Scene, "sinew"):
        yield
        return
    properties.register()
    body_properties.register()
    try:
        yield
    finally:
        body_properties.unregister()
        properties.unregister()
