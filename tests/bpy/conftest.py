# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender tests: each begins in an empty factory scene, with or without the add-on."""

import atexit
import os
import sys

import bpy
import pytest

_status = [0]


def pytest_sessionfinish(exitstatus):
    """Keep the session's result for ``_leave``."""
    _status[0] = int(exitstatus)


@atexit.register
def _leave():
    """End here and now: bpy 4.5 hangs for ever at exit if a failed test has left a handler or class registered."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(_status[0])


@pytest.fixture
def scene() -> bpy.types.Scene:
    """An empty scene in a fresh file with factory settings; Sinew is not registered."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return bpy.context.scene


@pytest.fixture
def addon(scene):
    """The package ``sinew``, registered in an empty scene, with its entry in the preferences."""
    package = sys.modules["sinew"]
    entry = bpy.context.preferences.addons.new()
    entry.module = "sinew"
    package.register()
    yield package
    package.unregister()
    # A test may have loaded a file, and with it other preferences.
    addons = bpy.context.preferences.addons
    if "sinew" in addons:
        addons.remove(addons["sinew"])


@pytest.fixture
def reported(monkeypatch) -> list[tuple[str, str]]:
    """(kind, text) of what the user is told about work that goes on after a click."""
    from sinew.bridge.jobs import reports

    said: list[tuple[str, str]] = []
    monkeypatch.setattr(reports, "report_to_user", lambda text, kind: said.append((kind, text)))
    return said
