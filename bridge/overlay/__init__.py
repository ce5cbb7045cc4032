# SPDX-License-Identifier: GPL-3.0-or-later
"""What Sinew shows over the scene: bodies, joints, balance, contacts, pushes, and the source beside its take.

    fitting (which body) -> moment (where it stands) -> layers (what to say about it) -> canvas (on the screen)

Only the first and the last cost something: bodies are fitted in the background and kept, and what is drawn is arrays.
"""


def register() -> None:
    """Add the switches and the draw handler."""
    from . import painting, properties

    properties.register()
    painting.register()


def unregister() -> None:
    """Take them away again."""
    from . import painting, properties

    painting.unregister()
    properties.unregister()
