# SPDX-License-Identifier: GPL-3.0-or-later
"""What a joint does by itself, without any servo."""

import numpy as np

from ..body import Link

# Per second. With a forearm of 1.5 kg this is 0.1 N·m·s/rad, with a thigh 0.8: the order of what is measured on people
# who let their limbs go. It is also what keeps a limp body, thrown and tumbling, from gathering speed at 1/120 s.
PASSIVE_RATE = 20.0


def passive_damping(link: Link) -> float:
    """N·m·s/rad by which flesh and ligaments resist turning, for each degree of freedom of the link's joint.

    In proportion to the link's own inertia, so that a child and a giant fall alike.
    """
    return PASSIVE_RATE * float(np.trace(link.inertia)) / 3.0
