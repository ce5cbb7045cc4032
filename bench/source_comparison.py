# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a take is better than the recording it was made from, by what makes a recording look broken."""

from typing import Any

import numpy as np

from ..core.body import BodyModel
from ..core.body.clearance import link_clearances, put_on_floor
from ..core.geometry.differences import velocity
from ..core.measure import smoothness
from ..core.motion import Clip

# A figure is better where it is under this share of the source's, and worse where it is over that: a simulated limb may
# be a little faster, and the goal for jerk is 1.5. Neither where it changed by less than so much in its own unit.
_BETTER = 0.9
_WORSE = {"fastest_joint_m_s": 1.25, "deepest_m": 1.1, "skate_m_s": 1.1, "jerk_m_s3": 1.5}
_LEAST = {"fastest_joint_m_s": 0.5, "deepest_m": 0.01, "skate_m_s": 0.005, "jerk_m_s3": 0.0}


def compare_with_source(source: Clip, motion: Clip, body: BodyModel) -> dict[str, float]:
    """The fastest joint, the deepest point below the floor and the jerk, of the source and of what was made of it.

    The source's floor is where it stands, wherever that is; the take's is at zero. Errors of capture are the source's.
    """
    floor = -put_on_floor(body, source)[1].shift
    found = {}
    for name, clip, level in (("source_", source, floor), ("", motion, 0.0)):
        places = smoothness.bone_places(clip, range(len(clip.skeleton)), source.fps, source.duration_s)
        found[f"{name}fastest_joint_m_s"] = float(
            np.linalg.norm(velocity(places, 1.0 / source.fps), axis=-1).max(initial=0.0)
        )
        found[f"{name}deepest_m"] = max(float(level - link_clearances(body, clip).min()), 0.0)
        found[f"{name}jerk_m_s3"] = smoothness.jerk(places, source.fps) or 0.0
    return found


def judge_take(row: dict[str, Any]) -> dict[str, Any]:
    """'better', 'as good', 'mixed' or 'worse' than the source, and which figures say so; 'fell' and 'refused' first.

    row: with figures of the take and, called ``source_…``, of its source.
    """
    if "refused" in row or "bug" in row:
        return {"verdict": "refused" if "refused" in row else "bug"}
    changes = {name: _change(row, name) for name in _LEAST}
    better = [name for name, change in changes.items() if change < 0]
    worse = [name for name, change in changes.items() if change > 0]
    if row["fell_at_s"] is not None or row.get("lost_at_s") is not None:
        word = "fell"
    elif better and worse:
        word = "mixed"
    else:
        word = "better" if better else "worse" if worse else "as good"
    return {"verdict": word, "better": better, "worse": worse}


def _change(row: dict[str, Any], name: str) -> int:
    """-1 for less than the source had, which is better for all of them, 1 for more, 0 for about as much or unknown."""
    before, after = row.get(f"source_{name}"), row.get(name)
    if before is None or after is None or abs(after - before) <= _LEAST[name]:
        return 0
    return -1 if after < _BETTER * before else 1 if after > _WORSE[name] * before else 0
