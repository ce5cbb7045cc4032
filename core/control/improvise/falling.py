# SPDX-License-Identifier: GPL-3.0-or-later
"""When a body that follows nothing has fallen: its head or its root is far lower than the library ever has it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..matching.features import find_head
from ..tracking_policy.reference_streams import ReferenceStreams

_SHARE = 0.6  # of the lowest of the library


@dataclass(frozen=True)
class FallHeights:
    """Metres above the ground below which head or root belong to a body that has fallen, be it sitting."""

    head_m: float
    root_m: float


def find_fall_heights(streams: ReferenceStreams) -> FallHeights:
    """Those of a library."""
    links = (find_head(streams.body), 0)
    return FallHeights(*(_SHARE * float(np.quantile(streams.link_pos[:, link, 2], 0.002)) for link in links))


def has_fallen(link_pos: NDArray[np.floating], head: int, heights: FallHeights) -> NDArray[np.bool_]:
    """(N,) whether bodies with links at (N, L, 3) have fallen; one that blew up has, too."""
    found: NDArray[np.bool_] = ~(link_pos[:, head, 2] > heights.head_m) | ~(link_pos[:, 0, 2] > heights.root_m)
    return found
