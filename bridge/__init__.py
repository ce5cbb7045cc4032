# SPDX-License-Identifier: GPL-3.0-or-later
"""All real bpy work."""

from typing import Any

_commands: list[Any] = []  # Blender's handle on ``blender -c sinew``, needed to take it away again


def register() -> None:
    """Add properties, overlay, preferences, what is ready, the job monitor and the command line to Blender."""
    import bpy

    from . import cli, overlay, properties
    from .body import fitted_bodies
    from .body import properties as body_properties
    from .jobs import baking, monitor, preparing, status_bar
    from .scene import change_counter, library_overrides
    from .setup import installing, preferences, readiness

    properties.register()
    body_properties.register()
    library_overrides.register()
    change_counter.register()
    fitted_bodies.register()
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

    from . import overlay, properties
    from .body import fitted_bodies
    from .body import properties as body_properties
    from .jobs import baking, monitor, preparing, status_bar
    from .scene import change_counter, library_overrides
    from .setup import installing, preferences, readiness

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
    fitted_bodies.unregister()
    change_counter.unregister()
    library_overrides.unregister()
    body_properties.unregister()
    properties.unregister()
