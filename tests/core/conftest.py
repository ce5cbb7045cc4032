# SPDX-License-Identifier: GPL-3.0-or-later
"""Core tests run without Blender: a bpy that slips in is a fault of the test or of core."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _no_blender():
    """The rooms of core are tested in a Python that knows nothing of Blender."""
    had_bpy = "bpy" in sys.modules
    yield
    assert had_bpy or "bpy" not in sys.modules, "this core test imported bpy"
