# SPDX-License-Identifier: GPL-3.0-or-later
"""Critical response times of deeds (section 7.2): how long the library itself takes from one deed to another.

From a frame it is the shortest path to a key moment; of a pair of deeds it is the longest of those, over all frames of
the first deed, so that what plays the library alone is always on time.
"""

import numpy as np

from ..matching.features import FPS
from .goals import deed_names, find_deed_frames, find_goal
from .responding import Responding
from .response_tables import STEP, STEPS, ResponseTable
from .transition_graph import Frames


def find_shortest(table: ResponseTable, ends: Frames, frames: Frames) -> Frames:
    """(n,) frames that it takes at least from each of some frames to the goal; 0 where there is no way."""
    found, left = np.zeros(len(frames), dtype=np.int64), np.arange(len(frames))
    for count in range(1, STEP * STEPS + 1):
        steps, rest = divmod(count, STEP)
        own = frames[left]
        begins = np.minimum(own + rest, ends[own])
        there = (own + rest <= ends[own]) & np.isfinite(table.cost[steps, begins])
        found[left[there]] = count
        left = left[~there]
        if not len(left):
            break
    return found


def find_critical_times(responding: Responding) -> dict[tuple[str, str], float]:
    """Seconds by pair of deeds; pairs that are beyond the horizon of tables are left out."""
    library, ends, names = responding.library, responding.planner.ends, deed_names(responding.library)
    found: dict[tuple[str, str], float] = {}
    frames = [find_deed_frames(library, name) for name in names]
    parts = np.cumsum([0, *map(len, frames)])
    for after in names:
        shortest = find_shortest(responding.table(find_goal(library, after)), ends, np.concatenate(frames))
        for before, first, stop in zip(names, parts[:-1], parts[1:], strict=True):
            if longest := int(shortest[first:stop].max(initial=0)):
                found[before, after] = longest / FPS
    return found
