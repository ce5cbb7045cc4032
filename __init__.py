# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew: gives mocap a body.

Nothing is imported here until Blender calls ``register()``, so that the worker, the tests and the
launcher can load the package without Blender.
"""


def register() -> None:
    """Add Sinew's properties, operators, panels, job monitor and command line to Blender."""
    from . import bridge, operators, panels

    bridge.register()
    operators.register()
    panels.register()


def unregister() -> None:
    """Take everything away again, without a trace."""
    from . import bridge, operators, panels

    panels.unregister()
    operators.unregister()
    bridge.unregister()
