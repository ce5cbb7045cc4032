# SPDX-License-Identifier: GPL-3.0-or-later
"""What Sinew shows over the scene: bodies, joints, balance, contacts, pushes, and the source beside its take.

    body.fitted_bodies (which body) -> frame_state (where it stands) -> layers (arrays) -> canvas (on the screen)

Only the first and the last cost something: bodies are fitted in the background and kept, and what is drawn is arrays.
"""


def register() -> None:
    """Add the switches and the draw handler."""
    from . import draw_handler, properties

    properties.register()
    draw_handler.register()


def unregister() -> None:
    """Take them away again."""
    from . import draw_handler, properties

    draw_handler.unregister()
    properties.unregister()
