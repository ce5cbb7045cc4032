# SPDX-License-Identifier: GPL-3.0-or-later
"""When a body that follows nothing has fallen: its head is lower than the library ever has it."""

import numpy as np
from numpy.typing import NDArray

from ..direct.features import find_head
from ..direct.policy.reference_streams import ReferenceStreams

_SHARE = 0.6  # of the lowest head of the library


def find_fall_height(streams: ReferenceStreams) -> float:
    """Metres above the ground below which a head belongs to a body that has fallen."""
    heights = streams.link_pos[:, find_head(streams.body), 2]
    return _SHARE * float(np.quantile(heights, 0.002))


def has_fallen(link_pos: NDArray[np.floating], head: int, fallen_m: float) -> NDArray[np.bool_]:
    """(N,) whether bodies with links at (N, L, 3) have fallen; one that blew up has, too."""
    found: NDArray[np.bool_] = ~(link_pos[:, head, 2] > fallen_m)
    return found
