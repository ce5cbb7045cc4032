# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies with a link that no builder would make."""

from dataclasses import replace

from sinew.core.body import BodyModel, Link


def replace_link(body: BodyModel, index: int, link: Link) -> BodyModel:
    """The body with one link replaced."""
    return replace(body, links=body.links[:index] + (link,) + body.links[index + 1 :])
