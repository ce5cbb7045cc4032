# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of figures about improvising, from rows of ``bench improvise``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .plots import Series, draw_axes
from .rows import Row, newest_rows, read_rows

_HEAD = """# Improvising, measured

Made by `./sinew bench improvise --rows docs/improvise.jsonl --page docs`; do not edit it by hand. Every row, also those
of before, is in [improvise.jsonl](improvise.jsonl), with the state of the code that it was measured with. What
improvising is: [the guide](improvise.md). Goals are those of two cores.
"""
_UP, _TASKS = "images/improvise_up.svg", "images/improvise_tasks.svg"
_FIGURES = {
    "goals_per_minute": ("goals a minute", "{:.1f}"),
    "velocity_error_m_s": ("velocity off by m/s", "{:.2f}"),
    "direction_error_deg": ("direction off by degrees", "{:.0f}"),
    "path_error_m": ("off the path by m", "{:.2f}"),
    "lost_per_minute": ("lost a minute", "{:.1f}"),
    "regions": ("regions visited, on average over the time", "{:.1f}"),
    "new_per_minute": ("new regions a minute", "{:.1f}"),
    "touching": ("of the time somebody in the way", "{:.1%}"),
    "reached": ("have been at their goals, on average over the time", "{:.0%}"),
    "hits_per_minute": ("hits a minute with the right hand", "{:.1f}"),
    "wrong_per_minute": ("with the wrong one", "{:.1f}"),
}


def write_improvise_page(docs: Path, rows: Path) -> Path:
    """Write ``improvise_figures.md`` and its plots into the folder of pages."""
    known = newest_rows((row for row in read_rows(rows) if "kind" in row), ("library", "kind", "what"))
    parts = [_HEAD]
    for library in dict.fromkeys(row["library"] for row in known):
        own = [row for row in known if row["library"] == library]
        parts += [f"## {library.capitalize()}\n", _table(own)]
        parts += [_styles(row) for row in own if row["kind"] == "rollouts"]
    plots = {_UP: _draw_up(known), _TASKS: _draw_tasks(known)}
    for name, text in plots.items():
        if text:
            (docs / name).write_text(text, encoding="utf-8")
            parts.append(f"![{'Time until fall' if name == _UP else 'Tasks'} over samples]({name})\n")
    page = docs / "improvise_figures.md"
    page.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")
    return page


def _table(rows: Sequence[Row]) -> str:
    lines = ["| what | measured | goal |", "|---|---|---|"]
    for row in rows:
        for what, measured, goal in _KINDS[row["kind"]](row):
            lines.append(f"| {what} | {measured} | {goal} |")
    return "\n".join(lines) + "\n"


def _training(row: Row) -> list[tuple[str, str, str]]:
    steadied = row.get("million_samples_steadied", 0.0)
    distilled = row["million_samples"] - steadied
    said = f"{row['minutes']:.1f} min, {distilled:.2f} million samples, and {steadied:.2f} of trial"
    found = [("training, world model, VAE and steadying together", said, f"{row['goal']['minutes']:.0f} min")]
    if row.get("pairs_minutes"):
        found.append(
            ("of that 180,000 pairs of the expert, and the world model", f"{row['pairs_minutes']:.1f} min", "3 min")
        )
    if "world_model_after_1_m" in row:
        names = ("world_model_after", "world_model_standing_still")
        both = [[f"{1000 * row[f'{name}_{steps}_m']:.0f}" for name in names] for steps in (1, 8, 30)]
        errors = ", ".join(f"{error} ({still})" for error, still in both)
        found.append(("world model's error after 1, 8 and 30 steps, and of who stands still", f"{errors} mm", ""))
    return found


def _rollouts(row: Row) -> list[tuple[str, str, str]]:
    return [
        (
            f"mean time until fall, {row['rollouts']} random rollouts, cut at {row['seconds']:g} s",
            f"{row['mean_time_until_fall_s']:.1f} s; {row['falls']} fall",
            f"{row['goal']['mean_time_until_fall_s']:.0f} s",
        ),
        (
            "what they come near to of the library; how evenly they share its styles",
            f"{row['coverage']:.0%}; {row['evenness']:.2f}",
            "",
        ),
        ("how fast they go; the library", f"{row['speed_m_s']:.2f}; {row['library_speed_m_s']:.2f} m/s", ""),
    ]


def _together(row: Row) -> list[tuple[str, str, str]]:
    shown = f"{row['styles_shown']} of {row['styles']} styles, {row['spread_m']:.1f} m apart"
    shown += f", coverage {row['coverage']:.0%}"
    return [(row["what"], shown, "every style")]


def _cost(row: Row) -> list[tuple[str, str, str]]:
    each = next(name for name in row if name.startswith("each_of_"))
    number = each.rpartition("_")[2]
    return [(row["what"], f"one {row['one']:.3f}, each of {number} {row[each]:.3f}", f"{row['goal']['one']:g}")]


def _crowd(row: Row) -> list[tuple[str, str, str]]:
    measured = f"{row['wall']:.2f} by the clock, {row['processor']:.2f} of a processor"
    return [(row["what"], measured, f"{row['goal']['wall']:g}")]


def _task(row: Row) -> list[tuple[str, str, str]]:
    words = [form.format(row[name]) + f" {label}" for name, (label, form) in _FIGURES.items() if name in row]
    up = f"up {row['mean_up_s']:.1f} of {row['seconds']:g} s"
    goals = [f"{row['goal'][name]:g} {label}" for name, (label, _) in _FIGURES.items() if name in row.get("goal", {})]
    trained = f"{row['what']}, σ {row['sigma_rad']:g}, after {row['minutes']:.1f} min, "
    trained += f"{row['million_samples']:.2f} million samples"
    return [(trained, "; ".join([*words, up]), ", ".join(goals))]


def _variant(row: Row) -> list[tuple[str, str, str]]:
    measured = f"{row['mean_up_s_of_30']:.1f} of 30 s; {row['falls_of_32']} of 32 fall"
    return [(f"{row['what']}, {row['million_samples']:.2f} million samples", measured, "")]


_KINDS = {
    "training": _training,
    "rollouts": _rollouts,
    "together": _together,
    "cost": _cost,
    "crowd": _crowd,
    "task": _task,
    "variant": _variant,
}


def _styles(row: Row) -> str:
    lines = ["| style | of the library | of the time | come near to |", "|---|---|---|---|"]
    styles: Mapping[str, Any] = row["styles"]
    lines += [
        f"| {name} | {one['library']:.0%} | {one['time']:.0%} | {one['coverage']:.0%} |" for name, one in styles.items()
    ]
    return "\n".join(lines) + "\n"


def _draw_up(rows: Sequence[Row]) -> str:
    marks = [
        Series(row["library"], [samples / 1e6 for samples, _ in points], [share for _, share in points])
        for row in rows
        if row["kind"] == "training" and len(points := row.get("up_share_at", ())) > 1
    ]
    return (
        draw_axes("Share of the time up on noise, of the cut", "million samples", "share", marks, 1.0) if marks else ""
    )


def _draw_tasks(rows: Sequence[Row]) -> str:
    marks = [
        Series(
            row["what"], [samples / 1e6 for samples, _ in row["earned_at"]], [earned for _, earned in row["earned_at"]]
        )
        for row in rows
        if row["kind"] == "task" and len(row.get("earned_at", ())) > 1
    ]
    return draw_axes("Earned a step, when tested", "million samples", "earned", marks) if marks else ""
