# SPDX-License-Identifier: GPL-3.0-or-later
"""All real bpy work."""

import itertools
import sys
from collections.abc import Sequence
from typing import Any

from ..core.interrupts import leave_from_now_on

_commands: list[Any] = []  # Blender's handle on ``blender -c sinew``, needed to take it away again


def is_command(words: Sequence[str]) -> bool:
    """Whether Blender was started with these words to run a verb of Sinew."""
    pairs = itertools.pairwise(words)
    return any(option in ("-c", "--command") and name == "sinew" for option, name in pairs)


def register() -> None:
    """Add properties, overlay, preferences, what is ready, the job monitor and the command line to Blender."""
    import bpy

    if is_command(sys.argv):  # Blender itself only takes note of Ctrl-C, and the file is yet to be loaded
        leave_from_now_on()

    from . import cli, overlay, properties
    from .body import fitted_bodies
    from .body import properties as body_properties
    from .jobs import baking, monitor, preparing, status_bar
    from .live import properties as live_properties
    from .live import running as live_running
    from .live import shortcut as live_shortcut
    from .scene import change_counter, console_log, library_overrides, stored_types
    from .setup import installing, preferences, readiness

    console_log.register()
    properties.register()
    body_properties.register()
    library_overrides.register()
    stored_types.register()
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
    live_running.register()
    live_properties.register()
    live_shortcut.register()
    _commands.append(bpy.utils.register_cli_command("sinew", cli.main))


def unregister() -> None:
    """Take them away again."""
    import bpy

    from . import overlay, properties
    from .body import fitted_bodies
    from .body import properties as body_properties
    from .jobs import baking, monitor, preparing, status_bar
    from .live import properties as live_properties
    from .live import running as live_running
    from .live import shortcut as live_shortcut
    from .scene import change_counter, console_log, library_overrides, stored_types
    from .setup import installing, preferences, readiness

    while _commands:
        bpy.utils.unregister_cli_command(_commands.pop())
    live_shortcut.unregister()
    live_properties.unregister()
    live_running.unregister()
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
    stored_types.unregister()
    library_overrides.unregister()
    body_properties.unregister()
    properties.unregister()
    console_log.unregister()
