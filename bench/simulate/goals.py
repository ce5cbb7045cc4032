# SPDX-License-Identifier: GPL-3.0-or-later
"""What simulated takes are held to, and which goals a benchmark's rows meet; every miss by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..run import Row

Summary = dict[str, Any]


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
WORST_RATIO = Limit("wall_over_clip", 2.5, 1.0, "x clip time")
MEDIAN_RATIO = 0.7
AGAIN_RATIO = 0.35
"""Median wall time over clip time of a second take of the same source."""
SMOOTH_M_S3 = 60.0
"""Jerk that is no fault, whatever the source's."""
_SHARES = {JOINT_ERROR: 42 / 45, SKATE: 38 / 45}
FILES_SHARE, FILES_NEAR_SHARE, FILES_MEDIAN_M = 0.97, 0.9, 0.025
PUSHES = 30 / 32
# Timing is never the same twice; a ratio of two times may be off by this much.
_TIMING = 1.1


def stock_summary(rows: Sequence[Row]) -> Summary:
    """Falls, times and errors of the stock clips, and how they stand to the goals."""
    goals = {"none falls": _goal_of_falls(rows, 1.0), _said_of_median(MEDIAN_RATIO): _goal_of_median(rows)}
    return {**count_outcomes(rows), "goals": goals | {_said(limit): _goal(rows, limit) for limit in _LIMITS}}


def again_summary(rows: Sequence[Row]) -> Summary:
    """How much sooner a second take is there, with another seed and with a push."""
    kinds = sorted({row["again"] for row in rows})
    each = {kind: [row for row in rows if row["again"] == kind] for kind in kinds}
    goals = {f"{kind}: {_said_of_median(AGAIN_RATIO)}": _goal_of_median(each[kind], AGAIN_RATIO) for kind in kinds}
    return {kind: count_outcomes(each[kind]) for kind in kinds} | {"goals": goals}


def bullet_summary(rows: Sequence[Row], others: Sequence[Row], own_ratio: float | None) -> Summary:
    """The same on Bullet, which may be slower than MuJoCo by the engines' own ratio.

    others: rows of MuJoCo, of which those with the same clip and seed are compared with.
    """
    walls = {(row["clip"], row["seed"]): row["wall_s"] for row in others if "wall_s" in row}
    pairs = [(row, walls.get((row["clip"], row["seed"]))) for row in rows if "wall_s" in row]
    slower = {row["clip"]: row["wall_s"] / wall for row, wall in pairs if wall}
    median = float(np.median(list(slower.values()))) if slower else None
    known = median is not None and own_ratio is not None
    met = median <= _TIMING * own_ratio if median is not None and own_ratio is not None else None
    goals = {
        "none falls": _goal_of_falls(rows, 1.0),
        "slower by no more than the engines' own ratio": {
            "met": met,
            "misses": [f"median {median:.2f} x, the engines alone {own_ratio:.2f} x"] if known and not met else [],
        },
        **{_said(limit): _goal(rows, limit) for limit in _LIMITS if limit is not WORST_RATIO},
    }
    return {**count_outcomes(rows), "slower_than_mujoco": slower, "engines_own_ratio": own_ratio, "goals": goals}


def files_summary(rows: Sequence[Row]) -> Summary:
    """How many Actions of users' files stay up and how near they come, with and without those that need what is absent.

    Refused ones are no motion, and are named with the reason.
    """
    whole = [row for row in rows if not row.get("needs") and "refused" not in row]
    lacking = [row for row in rows if row.get("needs")]
    said = [row for row in lacking if row.get("missing")]
    return {
        **count_outcomes(rows),
        "refused": {row["clip"]: row["refused"] for row in rows if "refused" in row},
        "need_what_is_missing": {row["clip"]: row["needs"] for row in lacking},
        "told_to_need_more": {row["clip"]: row["missing"] for row in whole if row.get("missing")},
        "goals": {
            "97 % that need nothing absent stay up": _goal_of_falls(whole, FILES_SHARE),
            "median below 25 mm joint error": _goal_of_median_error(whole),
            "90 % at most 40 mm joint error": _goal(whole, JOINT_ERROR, FILES_NEAR_SHARE),
            "those that need something absent are told what": {
                "met": len(said) == len(lacking) if lacking else None,
                "misses": [f"{run_name(row)}: nothing was said" for row in lacking if row not in said],
            },
        },
    }


def _goal_of_median_error(rows: Sequence[Row]) -> Summary:
    errors = _measurement_values(rows, JOINT_ERROR.measurement)
    if not errors:
        return {"met": None, "misses": []}
    median = float(np.median(errors))
    met = median < FILES_MEDIAN_M
    return {"met": met, "misses": [] if met else [f"median {JOINT_ERROR.said(median)}"]}


def odd_summary(rows: Sequence[Row]) -> Summary:
    """Each low-quality file: better than it was, refused with the reason, or neither; with its own hint taken, too."""
    files: dict[str, list[Row]] = {}
    for row in rows:
        files.setdefault(row["clip"], []).append(row)
    fine = ("better", "as good", "refused")
    verdicts = {
        file: [row["verdict"] + (f" ({row['hint_taken']})" if row.get("hint_taken") else "") for row in found]
        for file, found in files.items()
    }
    misses = [file for file, found in files.items() if not any(row["verdict"] in fine for row in found)]
    return {"verdicts": verdicts, "goals": {"better or refused": {"met": not misses, "misses": misses}}}


def push_summary(rows: Sequence[Row]) -> Summary:
    """How many pushes were recovered from."""
    return {**count_outcomes(rows), "goals": {"30 of 32 recover": _goal_of_falls(rows, PUSHES)}}


_LIMITS = (WORST_RATIO, JOINT_ERROR, SKATE, JERK)


def stayed_up(row: Row) -> bool:
    """Whether the run came to its end and was never lost."""
    return "fell_at_s" in row and lost_at_s(row) is None


def lost_at_s(row: Row) -> float | None:
    """Seconds until the run was lost, None if it never was; rows written before know of falls alone."""
    found = row.get("lost_at_s")
    return row["fell_at_s"] if found is None else found


def run_name(row: Row) -> str:
    """A run by name."""
    words = [row["clip"], f"seed {row['seed']}"]
    if "again" in row:
        words.append(f"with {row['again']}")
    if "from" in row:
        words.append(f"pushed from the {row['from']} at {row['phase']:.0%} of the cycle")
    if "needs" in row:
        words.append(f"(needs {row['needs']})")
    return " ".join(words)


def _run_outcome(row: Row) -> str:
    """What became of a run that did not stand."""
    if "refused" in row or "bug" in row:
        return str(row.get("refused") or row["bug"])
    return f"lost it at {lost_at_s(row):.2f} s of {row['clip_s']:.2f} s"


def count_outcomes(rows: Sequence[Row]) -> Summary:
    """Counts, falls by name, and means over the runs that have them."""
    ratios = _measurement_values(rows, "wall_over_clip")
    return {
        "runs": len(rows),
        "stood": sum(map(stayed_up, rows)),
        "falls": _falls(rows),
        "median_wall_over_clip": float(np.median(ratios)) if ratios else None,
        "worst_wall_over_clip": max(ratios, default=None),
        **{
            f"mean_{limit.measurement}": mean_measurement(rows, limit.measurement)
            for limit in (JOINT_ERROR, SKATE, JERK)
        },
    }


def has_wall_time(row: Row) -> bool:
    """Whether a run's wall time is its own: one that got less than a core on the mean has waited for other programs.

    Rows written before do not say how much processor time they took, and count.
    """
    return row.get("processor_over_clip", np.inf) >= row.get("wall_over_clip", np.inf)


def _measurement_values(rows: Sequence[Row], measurement: str) -> list[float]:
    """The measurement of every run that has it; wall times only where they are the run's own."""
    if measurement == WORST_RATIO.measurement:
        rows = [row for row in rows if has_wall_time(row)]
    found = (row.get(measurement) for row in rows)
    return [float(value) for value in found if value is not None]


def mean_measurement(rows: Sequence[Row], measurement: str) -> float | None:
    """Its mean, or None where no run has it."""
    values = _measurement_values(rows, measurement)
    return float(np.mean(values)) if values else None


def run_line(row: Row) -> str:
    """A row as one line for people to watch."""
    start = f"{row['group']:<6} {row['clip']:<28} seed {row['seed']} {row['engine']:<6}"
    if "from" in row:
        start += f" {row['from']:>11} {row['phase']:.2f}"
    if "refused" in row or "bug" in row:
        return f"{start} {_run_outcome(row)}"
    lost = lost_at_s(row)
    fate = "stood" if lost is None else f"lost {lost:.2f}"
    figures = [f"{row['clip_s']:5.2f} s in {row['wall_s']:6.1f} s ({row['wall_over_clip']:.2f}x)"]
    short = {JOINT_ERROR: "mm", SKATE: "cm/s skate", JERK: "x jerk"}
    for limit, unit in short.items():
        if row.get(limit.measurement) is not None:
            figures.append(f"{row[limit.measurement] * limit.scale:6.2f} {unit}")
    return f"{start} {fate:<10} {'  '.join([*figures, row.get('verdict', '')])}".rstrip()


def _falls(rows: Sequence[Row]) -> list[str]:
    return [f"{run_name(row)}: {_run_outcome(row)}" for row in rows if not stayed_up(row)]


def _said(limit: Limit) -> str:
    share, else_ = _SHARES.get(limit), f" or {SMOOTH_M_S3:g} m/s³" if limit is JERK else ""
    return f"at most {limit.said(limit.most)}{else_}" + (f" in {45 * share:.0f} of 45" if share else "")


def _said_of_median(most: float) -> str:
    return f"median wall time at most {most:g} x clip time"


def _is_smooth(row: Row, limit: Limit) -> bool:
    return limit is JERK and row.get("jerk_m_s3", np.inf) <= SMOOTH_M_S3


def _goal_of_falls(rows: Sequence[Row], share: float) -> Summary:
    """Whether at least ``share`` of the runs stood; None where there were none."""
    count = sum(map(stayed_up, rows))
    return {
        "met": count >= share * len(rows) if rows else None,
        "stood": f"{count} of {len(rows)}",
        "misses": _falls(rows),
    }


def _goal(rows: Sequence[Row], limit: Limit, share: float | None = None) -> Summary:
    """Whether enough runs keep to a limit, whether they do on average, and the runs that do not by name.

    None where nothing was measured, or where it hangs on runs whose wall time is not their own. Crawls and rolls count
    like all others, by what their feet carry.
    """
    measured = [row for row in rows if row.get(limit.measurement) is not None]
    known = [row for row in measured if limit is not WORST_RATIO or has_wall_time(row)]
    misses = [row for row in known if not (row[limit.measurement] <= limit.most or _is_smooth(row, limit))]
    mean = mean_measurement(rows, limit.measurement)
    kept = len(known) - len(misses)
    met = kept >= (share or _SHARES.get(limit, 1.0)) * len(known) - 1e-9
    is_known = bool(known) and (len(known) == len(measured) or not met)
    return {
        "met": met if is_known else None,
        "kept": f"{kept} of {len(known)}",
        "met_on_average": None if mean is None else mean <= limit.most,
        "misses": [f"{run_name(row)}: {limit.said(row[limit.measurement])}" for row in misses],
    }


def _goal_of_median(rows: Sequence[Row], most: float = MEDIAN_RATIO) -> Summary:
    ratios = _measurement_values(rows, "wall_over_clip")
    if not ratios:
        return {"met": None, "misses": []}
    median = float(np.median(ratios))
    met = median <= most
    return {"met": met, "median": median, "misses": [] if met else [f"median {WORST_RATIO.said(median)}"]}
