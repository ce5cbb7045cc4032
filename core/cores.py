# SPDX-License-Identifier: GPL-3.0-or-later
"""How many processors this process may keep busy, where somebody has said so."""

import os

CORES = "SINEW_CORES"
"""The environment variable that says it: for who runs several jobs on a machine at once."""


def allowed_cores() -> int:
    """At most so many; 0 where nobody has said."""
    text = os.environ.get(CORES, "")
    return int(text) if text.isdecimal() and len(text) <= 4 else 0
