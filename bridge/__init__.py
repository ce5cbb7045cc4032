# SPDX-License-Identifier: GPL-3.0-or-later
"""All real bpy work."""

from typing import Any

_commands: list[Any] = []  # Blender's handle on ``blender -c sinew``, needed to take it away again


def register() -> None:
    """Add properties, overlay, preferences, what is ready, the job monitor and the command line to Blender."""
    import bpy

    from . import (
        baking,
        body_properties,
        cli,
        installing,
        monitor,
        overlay,
        overrides,
        preferences,
        preparing,
        properties,
        readiness,
        status_bar,
    )

    properties.register()
    body_properties.register()
    overrides.register()
    overlay.register()
    preferences.register()
    readiness.register()
    installing.register()
    baking.register()
    monitor.register()
    preparing.register()
    status_bar.register()
    _commands.append(bpy.utils.register_cli_command("sinew", cli.main))


def unregister() -> None:
    """Take them away again."""
    import bpy

    from . import (
        baking,
        body_properties,
        installing,
        monitor,
        overlay,
        overrides,
        preferences,
        preparing,
        properties,
        readiness,
        status_bar,
    )

    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
    status_bar.unregister()
    preparing.unregister()
    monitor.unregister()
    baking.unregister()
    installing.unregister()
    readiness.unregister()
    preferences.unregister()
    overlay.unregister()
    overrides.unregister()
    body_properties.unregister()
    properties.unregister()
