# SPDX-License-Identifier: GPL-3.0-or-later
"""How many threads to use."""

import os

from ..cores import allowed_cores


def count_threads(wanted: int) -> int:
    """As many threads as wanted, or for 0 one each core that this process may run on."""
    if (fixed := max(wanted, 0) or allowed_cores()) > 0:
        return fixed
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
