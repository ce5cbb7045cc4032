# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a take is better than the recording it was made from, by what makes a recording look broken."""

from typing import Any

import numpy as np

from ..body import BodyModel
from ..body.clearance import clearances, grounded
from ..geometry.differences import velocity
from ..motion import Clip

# What a figure may change by without being better or worse: a share of it, and as much in its own unit.
_SHARE = 0.1
_LEAST = {"fastest_joint_m_s": 0.5, "penetration_max_m": 0.01, "skate_m_s": 0.005, "jerk_m_s3": 0.0}


def before_and_after(source: Clip, motion: Clip, body: BodyModel) -> dict[str, float]:
    """The fastest joint and the deepest point below the floor, of the source and of what was made of it.

    The source's floor is where it stands, wherever that is; the take's is at zero.
    """
    floor = -grounded(body, source)[1].shift
    return {
        "source_fastest_joint_m_s": _fastest(source),
        "fastest_joint_m_s": _fastest(motion),
        "source_penetration_max_m": max(float(floor - clearances(body, source).min()), 0.0),
        "penetration_max_m": max(-float(clearances(body, motion).min()), 0.0),
    }


def verdict(row: dict[str, Any]) -> dict[str, Any]:
    """'better', 'as good', 'mixed' or 'worse' than the source, and which figures say so; 'fell' and 'refused' first.

    row: with figures of the take and, called ``source_…``, of its source.
    """
    if "refused" in row or "bug" in row:
        return {"verdict": "refused" if "refused" in row else "bug"}
    changes = {name: _change(row, name, least) for name, least in _LEAST.items()}
    better = [name for name, change in changes.items() if change < 0]
    worse = [name for name, change in changes.items() if change > 0]
    if row["fell_at_s"] is not None:
        word = "fell"
    elif better and worse:
        word = "mixed"
    else:
        word = "better" if better else "worse" if worse else "as good"
    return {"verdict": word, "better": better, "worse": worse}


def _change(row: dict[str, Any], name: str, least: float) -> int:
    """-1 for less than the source had, which is better for all of them, 1 for more, 0 for about as much or unknown."""
    before, after = row.get(f"source_{name}"), row.get(name)
    if before is None or after is None:
        return 0
    room = max(_SHARE * before, least)
    return -1 if after < before - room else 1 if after > before + room else 0


def _fastest(clip: Clip) -> float:
    return float(np.linalg.norm(velocity(clip.world()[0], clip.dt_s), axis=-1).max())
