# SPDX-License-Identifier: GPL-3.0-or-later
"""Critical response times of deeds (section 7.2): how long the library itself takes from one deed to another.

From a frame it is the shortest path to a key moment; of a pair of deeds it is the longest of those, over all frames of
the first deed, so that what plays the library alone is always on time.
"""

import numpy as np

from ..direct.features import FPS
from .goals import deed_names, find_deed_frames, find_goal
from .responding import Responding
from .response_tables import STEP, STEPS, ResponseTable
from .transition_graph import Frames


def find_shortest(table: ResponseTable, ends: Frames, frames: Frames) -> Frames:
    """(n,) frames that it takes at least from each of some frames to the goal; 0 where there is no way."""
    found = np.zeros(len(frames), dtype=np.int64)
    for count in range(1, STEP * STEPS + 1):
        steps, rest = divmod(count, STEP)
        begins = np.minimum(frames + rest, ends[frames])
        there = (found == 0) & (frames + rest <= ends[frames]) & np.isfinite(table.cost[steps, begins])
        found[there] = count
    return found


def find_critical_times(responding: Responding) -> dict[tuple[str, str], float]:
    """Seconds by pair of deeds; pairs that are beyond the horizon of tables are left out."""
    library, ends, found = responding.library, responding.planner.ends, {}
    for after in deed_names(library):
        table = responding.table(find_goal(library, after))
        for before in deed_names(library):
            frames = find_deed_frames(library, before)
            shortest = find_shortest(table, ends, frames)
            if len(shortest) and shortest.max():
                found[before, after] = float(shortest.max()) / FPS
    return found
