# SPDX-License-Identifier: GPL-3.0-or-later
"""What simulated takes are held to, and which goals a benchmark's rows meet; every miss by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .bench_run import Row


@dataclass(frozen=True)
class Limit:
    """A number that a run's measurement must keep to. scale, unit: as it is said to people."""

    measurement: str
    most: float
    scale: float
    unit: str

    def said(self, value: float) -> str:
        """The value in words."""
        return f"{value * self.scale:.3g} {self.unit}"


JOINT_ERROR = Limit("joint_error_m", 0.040, 1e3, "mm joint error")
SKATE = Limit("skate_m_s", 0.02, 1e2, "cm/s foot skate")
JERK = Limit("jerk_ratio", 1.5, 1.0, "x the source's jerk")
WORST_RATIO = Limit("wall_over_clip", 4.0, 1.0, "x clip time")
MEDIAN_RATIO = 1.5


def stock_summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Falls, times and errors of the stock clips, and how they stand to the goals."""
    return {
        **_fates(rows),
        "goals": {
            "none falls": {"met": all(map(stood, rows)), "misses": [name_of(row) for row in rows if not stood(row)]},
            "median wall time": _goal_of_median(rows),
            **{f"{limit.measurement} at most {limit.most:g}": _goal(rows, limit) for limit in _LIMITS},
        },
    }


_LIMITS = (WORST_RATIO, JOINT_ERROR, SKATE, JERK)


def stood(row: Row) -> bool:
    """Whether the run came to its end on its feet."""
    return "fell_at_s" in row and row["fell_at_s"] is None


def name_of(row: Row) -> str:
    """A run by name, with what became of it."""
    fate = ""
    if "refused" in row:
        fate = f": refused, {row['refused']}"
    elif "bug" in row:
        fate = f": {row['bug']}"
    elif row["fell_at_s"] is not None:
        fate = f": fell after {row['fell_at_s']:.2f} s of {row['clip_s']:.2f} s"
    return f"{row['clip']} seed {row['seed']}{fate}"


def values_of(rows: Sequence[Row], measurement: str) -> list[float]:
    """The measurement of every run that has it."""
    found = (row.get(measurement) for row in rows)
    return [float(value) for value in found if value is not None]


def line_of(row: Row) -> str:
    """A row as one line for people to watch."""
    start = f"{row['group']:<6} {row['clip']:<28} seed {row['seed']} {row['engine']:<6}"
    if "refused" in row or "bug" in row:
        return f"{start} {row.get('refused') or row['bug']}"
    fell = row["fell_at_s"]
    fate = "stood" if fell is None else f"fell {fell:.2f}"
    figures = [f"{row['clip_s']:5.2f} s in {row['wall_s']:6.1f} s ({row['wall_over_clip']:.2f}x)"]
    short = {JOINT_ERROR: "mm", SKATE: "cm/s skate", JERK: "x jerk"}
    for limit, unit in short.items():
        if row.get(limit.measurement) is not None:
            figures.append(f"{row[limit.measurement] * limit.scale:6.2f} {unit}")
    return f"{start} {fate:<10} {'  '.join(figures)}"


def _fates(rows: Sequence[Row]) -> dict[str, Any]:
    """Counts, falls by name, and means of the runs that have them."""
    ratios = values_of(rows, "wall_over_clip")
    return {
        "runs": len(rows),
        "stood": sum(map(stood, rows)),
        "falls": [name_of(row) for row in rows if not stood(row)],
        "median_wall_over_clip": float(np.median(ratios)) if ratios else None,
        "worst_wall_over_clip": max(ratios, default=None),
        **{f"mean_{limit.measurement}": _mean(rows, limit) for limit in (JOINT_ERROR, SKATE, JERK)},
    }


def _mean(rows: Sequence[Row], limit: Limit) -> float | None:
    values = values_of(rows, limit.measurement)
    return float(np.mean(values)) if values else None


def _goal(rows: Sequence[Row], limit: Limit) -> dict[str, Any]:
    """Whether every run keeps to a limit, whether they do on average, and the runs that do not by name.

    None where nothing was measured.
    """
    known = [row for row in rows if row.get(limit.measurement) is not None]
    misses = [row for row in known if not row[limit.measurement] <= limit.most]
    mean = _mean(rows, limit)
    return {
        "met": not misses if known else None,
        "met_on_average": None if mean is None else mean <= limit.most,
        "misses": [f"{row['clip']} seed {row['seed']}: {limit.said(row[limit.measurement])}" for row in misses],
    }


def _goal_of_median(rows: Sequence[Row]) -> dict[str, Any]:
    ratios = values_of(rows, "wall_over_clip")
    met = bool(ratios) and float(np.median(ratios)) <= MEDIAN_RATIO
    return {"met": met, "misses": [] if met or not ratios else [f"median {float(np.median(ratios)):.2f} x clip time"]}
