# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals for control graphs, and which of them the rows of ``bench graph`` meet; every miss by name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...core.control.graph.testing.pushed_walks import UP_WITHIN_S
from ..rows import Row
from .measurements import SECONDS, STRETCHED

Summary = dict[str, Any]
LEARN_S_PER_S = 600.0
COST_S_PER_S = 0.1
_AS_HARD = 0.9  # of what was learned from nothing stands: pushes of two runs differ by that much


def graph_goal_summary(part: str, rows: Sequence[Row]) -> Summary:
    """How a part's rows stand to its goals."""
    failed = [f"{graph_row_name(row)}: {row.get('refused') or row['bug']}" for row in rows if not _known(row)]
    goals = {said: _goal(_wanted(rows, part), judge, failed) for said, judge in _GOALS[part].items()}
    return {"rows": len(rows), "failed": failed, "goals": goals}


def graph_row_name(row: Row) -> str:
    """A row by name."""
    return f"{row['name']} seed {row['seed']}"


def graph_row_line(row: Row) -> str:
    """A row as one line for people to watch."""
    start = f"{row['part']:<9} {row['name']:<9} seed {row['seed']}"
    if not _known(row):
        return f"{start} {row.get('refused') or row['bug']}"
    return f"{start} {_SAID[row['part']](row)}"


def is_fall_unfinished(row: Row, fall: Mapping[str, Any]) -> bool:
    """Whether a film ended before a fall's character had its time to get up."""
    return fall["up_s"] is None and row["seconds"] - fall["fell_s"] < UP_WITHIN_S


def _known(row: Row) -> bool:
    return "refused" not in row and "bug" not in row


def _wanted(rows: Iterable[Row], part: str) -> list[Row]:
    return [row for row in rows if row["part"] == part and _known(row)]


# A judge gives None where a row has nothing to say to its goal, '' where it meets it, and else what is amiss.
_Judge = Callable[[Row], str | None]


def _goal(rows: Sequence[Row], judge: _Judge, failed: Sequence[str]) -> Summary:
    """Whether every row that a goal is about meets it; what failed cannot. None where nothing was measured."""
    said = [(row, judge(row)) for row in rows]
    misses = [f"{graph_row_name(row)}: {amiss}" for row, amiss in said if amiss]
    misses += failed
    measured = any(amiss is not None for _, amiss in said)
    return {"met": not misses if measured or failed else None, "misses": misses}


def _floor(row: Row) -> str | None:
    if row["floor_n"] is None:
        return None
    return "" if row["reached"] else f"{_stands(row)} of {row['floor_n']:.0f} N"


def _stands(row: Row) -> str:
    return "falls unpushed, 0 N" if row.get("falls_unpushed") else f"{row['push_n']:.0f} N"


def _stretch(row: Row) -> str | None:
    if row["stretch_n"] is None:
        return None
    return "" if row["stretched"] else f"{_stands(row)} of {row['stretch_n']:.0f} N"


def _learned_soon(row: Row) -> str | None:
    if row["name"] not in STRETCHED or row["learn_s_per_s"] is None:
        return None
    return "" if row["learn_s_per_s"] < LEARN_S_PER_S else f"{row['learn_s_per_s'] / 60.0:.1f} minutes"


def _no_fall(row: Row) -> str | None:
    if row["falls"]:
        return f"fell after {row['lasted_s']:.1f} s"
    return _long_enough(row)


def _up_again(row: Row) -> str | None:
    never = row["times_down"] - row["up_again"]
    return f"{never} of {row['times_down']} times it stayed down" if never else _long_enough(row)


def _up_soon(row: Row) -> str | None:
    late = row["times_down"] - row["up_within_10_s"]
    return f"{late} of {row['times_down']} times it took longer" if late else _long_enough(row)


def _long_enough(row: Row) -> str:
    """A short try does not prove a long one."""
    wanted = SECONDS[row["part"]]
    return "" if row["seconds"] >= wanted else f"only {row['seconds']:.0f} s of {wanted:.0f} s were played"


def _cheap(row: Row) -> str | None:
    if row["engine"] != "mujoco":
        return None
    return "" if row["wall_s_per_s"] < COST_S_PER_S else f"{row['wall_s_per_s']:.3f} of real time"


def _collided(row: Row) -> str | None:
    if not row["touched_s"]:
        return f"they came no nearer than {row['nearest_m']:.2f} m"
    falls = [fall for own in row["down"] for fall in own]
    if not falls:
        return "nobody fell"
    if not row["by_a_touch"]:
        return "nobody fell because of the other"
    stayed = [fall for fall in falls if fall["up_s"] is None and not is_fall_unfinished(row, fall)]
    if stayed:
        return f"{len(stayed)} of {len(falls)} times somebody stayed down"
    return "" if any(fall["up_s"] is not None for fall in falls) else "nobody was up again before the end"


def _sooner(row: Row) -> str | None:
    cold, warm = row["cold"], row["warm"]
    if warm["learn_s"] >= cold["learn_s"]:
        return f"{warm['learn_s']:.0f} s instead of {cold['learn_s']:.0f} s"
    return "" if warm["push_n"] >= _AS_HARD * cold["push_n"] else f"{_stands(warm)} instead of {_stands(cold)}"


_GOALS: dict[str, dict[str, _Judge]] = {
    "table": {
        "stands the paper's push, scaled by mass": _floor,
        "walk and run stand twice that (a stretch)": _stretch,
        "walk and run are learned in under 10 minutes for each second of motion": _learned_soon,
    },
    "endurance": {"10 minutes without a fall": _no_fall},
    "walk": {
        "5 minutes with pushes: it keeps its feet or gets up by itself every time": _up_again,
        "it is up again within 10 s": _up_soon,
    },
    "cost": {"under 1/10 of real time on one core with MuJoCo": _cheap},
    "collide": {"two characters collide, fall and rise": _collided},
    "retarget": {"on longer legs, what another body knows is learned sooner and stands as much": _sooner},
}


def _table_said(row: Row) -> str:
    verdict = "" if row["floor_n"] is None else f" ({'reaches' if row['reached'] else 'misses'} {row['floor_n']:.0f} N)"
    learned = "" if row["learn_s"] is None else f", {row['learn_s']:.0f} s to learn ({row['learn_s_per_s']:.0f} s/s)"
    return f"{_stands(row)}{verdict}{learned}, {row['iterations']} iterations"


def _walk_said(row: Row) -> str:
    down = f"{row['times_down']} times down ({row['by_a_push']} by a push)"
    return f"{row['seconds']:.0f} s, {row['pushes']} pushes: {down}, {row['up_within_10_s']} up within 10 s"


def _collide_said(row: Row) -> str:
    falls = [fall for own in row["down"] for fall in own]
    ups = sum(fall["up_s"] is not None for fall in falls)
    down = f"{len(falls)} times down ({row['by_a_touch']} by a touch)"
    return f"touched {len(row['touched_s'])} times, {down}, {ups} times up again"


def _retarget_said(row: Row) -> str:
    said = (
        f"{how} {_stands(own)} after {own['learn_s']:.0f} s and {own['iterations']} iterations"
        for how, own in (("cold", row["cold"]), ("warm", row["warm"]))
    )
    return f"legs x {row['longer_legs']:g}: {', '.join(said)}"


_SAID: dict[str, Callable[[Row], str]] = {
    "table": _table_said,
    "endurance": lambda row: f"{row['lasted_s']:.0f} s of {row['seconds']:.0f} s, {row['falls']} falls",
    "walk": _walk_said,
    "cost": lambda row: (
        f"{row['wall_s_per_s']:.4f} s for a second ({row['core_s_per_s']:.4f} s of a core), "
        f"{row['over_bare']:.1f} x the bare engine"
    ),
    "collide": _collide_said,
    "retarget": _retarget_said,
}
