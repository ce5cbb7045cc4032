# SPDX-License-Identifier: GPL-3.0-or-later
"""How many threads to use."""

import os


def count_threads(wanted: int) -> int:
    """As many threads as wanted, or for 0 one each core that this process may run on."""
    if wanted > 0:
        return wanted
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
