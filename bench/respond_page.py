# SPDX-License-Identifier: GPL-3.0-or-later
"""The page on responses, ``respond_figures.md``, and its plots, from the rows of ``bench respond``."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .plots import Series, draw_axes
from .rows import Row, newest_rows, read_rows

ROWS, PAGE, IMAGES = "respond.jsonl", "respond_figures.md", "images/respond"
_HEAD = """# Responses, measured

Made by `./sinew bench respond --page docs`; do not edit it by hand. The rows are in [respond.jsonl](respond.jsonl),
from `./sinew bench respond` (as planned, without a body) and, of a trained library, `./sinew bench respond --trained
FILE --figures turns,deeds,courses --rows docs/respond.jsonl`. What the words mean: [deeds on cue](respond.md).
"""
_ANGLES = np.linspace(0.0, 180.0, 37)


def write_page(docs: Path) -> Path:
    """Write the page and its plots; gives the page."""
    rows = newest_rows(read_rows(docs / ROWS), ("what", "answer", "tau_s", "weight", "share"))
    plots: dict[str, str] = {}
    parts = [_HEAD, *_turns(rows, plots), *_deeds(rows, plots), *_courses(rows, plots), *_others(rows)]
    (docs / IMAGES).mkdir(parents=True, exist_ok=True)
    for name, svg in plots.items():
        (docs / IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")
    (docs / PAGE).write_text("\n".join(parts), encoding="utf-8")
    return docs / PAGE


def expected_ttc(turns_deg: Sequence[float], ttc_s: Sequence[float | None], at_deg: np.ndarray) -> np.ndarray:
    """(A,) seconds until a change of direction by an angle is done, by kernel density (equation 17).

    Of turns to either side; those that were never done are left out, and counted elsewhere.
    """
    known = [(abs(turn), time_s) for turn, time_s in zip(turns_deg, ttc_s, strict=True) if time_s is not None]
    turns, times = (np.array(column, dtype=float) for column in zip(*known, strict=True))
    bandwidth = max(1.06 * float(turns.std()) * len(turns) ** -0.2, 1e-6)
    kernel = np.exp(-0.5 * ((at_deg[:, None] - turns) / bandwidth) ** 2)
    return np.asarray((kernel * times).sum(axis=1) / np.maximum(kernel.sum(axis=1), 1e-12))


def _turns(rows: Sequence[Row], plots: dict[str, str]) -> list[str]:
    own = [row for row in rows if row["what"] == "turns"]
    if not own:
        return []
    found, lines = ["## Changes of direction\n"], []
    for name in ("student", "exact"):
        for row in (row for row in own if row["answer"] == name):
            done = [pair for pair in zip(row["turn_deg"], row["ttc_s"], strict=True) if pair[1] is not None]
            dots = Series("a turn", [abs(turn) for turn, _ in done], [time_s for _, time_s in done], dots=True)
            curve = Series("expected", _ANGLES.tolist(), expected_ttc(row["turn_deg"], row["ttc_s"], _ANGLES).tolist())
            title = f"{name.capitalize()}, within {row['tau_s']:g} s"
            plot = f"turns_{name}_{round(1000 * row['tau_s'])}"
            plots[plot] = draw_axes(title, "degrees", "seconds", (dots, curve), row["tau_s"])
            lines.append(f"![{title}]({IMAGES}/{plot}.svg)")
    curves = {
        "student": [row for row in own if row["answer"] == "student"],
        "matching": [row for row in own if row["answer"] == "motion matching"],
    }
    for name, chosen in curves.items():
        if chosen:
            series = [
                Series(_label(row), _ANGLES.tolist(), expected_ttc(row["turn_deg"], row["ttc_s"], _ANGLES).tolist())
                for row in chosen
            ]
            title = {"student": "The student by response time", "matching": "Motion matching by weight"}[name]
            plots[f"expected_{name}"] = draw_axes(title, "degrees", "seconds", series)
            lines.append(f"![{title}]({IMAGES}/expected_{name}.svg)")
    found += [_turn_table(own), *lines]
    if plot := _draw_ablation(own):
        plots["distillation"] = plot
        found.append(f"![Distillation]({IMAGES}/distillation.svg)")
    return [*found, ""]


def _label(row: Row) -> str:
    return f"{row['tau_s']:g} s" if "tau_s" in row else f"w = {row['weight']:g}"


def _turn_table(rows: Sequence[Row]) -> str:
    lines = ["| answer | | trials | on time | never done | 9 of 10 within |", "|---|---|---|---|---|---|"]
    for row in rows:
        times = [time_s for time_s in row["ttc_s"] if time_s is not None]
        on_time = f"{row['on_time']:.1%}" if "tau_s" in row else ""
        late = f"{np.percentile(times, 90):.2f} s" if times else ""
        never = len(row["ttc_s"]) - len(times)
        lines.append(f"| {row['answer']} | {_label(row)} | {row['trials']} | {on_time} | {never} | {late} |")
    told = (
        "*As recorded*: the exact answer through the library's frames, never played faster, which is the ceiling of "
        "what a teacher can do. *Exact*: the same, hurried. Expected times by angle: figures 3 and 4, equation 17."
    )
    return "\n".join([told, "", *lines, ""])


def _draw_ablation(rows: Sequence[Row]) -> str:
    """Section 7.7: on time over the response time, of what only goes through frames, and of the student."""
    series = []
    for name in ("as recorded", "exact", "student"):
        own = sorted((row["tau_s"], 100.0 * row["on_time"]) for row in rows if row["answer"] == name)
        if own:
            series.append(Series(name, [x for x, _ in own], [y for _, y in own]))
    return draw_axes("Turns on time", "response time (s)", "%", series, 99.0) if series else ""


def _deeds(rows: Sequence[Row], plots: dict[str, str]) -> list[str]:
    own = [row for row in rows if row["what"] == "deeds"]
    if not own:
        return []
    lines = ["| answer | of the library's own time | trials | on time | after warping |", "|---|---|---|---|---|"]
    for row in own:
        error = "" if row["warped_error_m"] is None else f"{100 * row['warped_error_m']:.1f} cm"
        lines.append(f"| {row['answer']} | {row['share']:.0%} | {row['trials']} | {row['on_time']:.1%} | {error} |")
    found = ["## Deeds in less time than they take\n", "\n".join([*lines, ""])]
    names = ("exact", "as recorded", "student")
    for plot, title, column, scale in (
        ("quality", "Difference after warping", "warped_error_m", 100.0),
        ("deeds", "Deeds on time", "on_time", 100.0),
    ):
        series = []
        for name in names:
            points = sorted((100.0 * row["share"], row[column]) for row in own if row["answer"] == name and row[column])
            series.append(Series(name, [x for x, _ in points], [scale * y for _, y in points]))
        up = "cm" if plot == "quality" else "%"
        plots[plot] = draw_axes(title, "% of the library's own time", up, [one for one in series if one.x])
        found.append(f"![{title}]({IMAGES}/{plot}.svg)")
    for name in ("exact", "student"):
        if chosen := [row for row in own if row["answer"] == name]:
            found.append(_deed_table(name, chosen))
    return [*found, ""]


def _deed_table(name: str, rows: Sequence[Row]) -> str:
    """Figure 5: seconds to completion of each deed, at least, on average and at most."""
    head = " | ".join(f"{row['share']:.0%}" for row in rows)
    lines = [f"\nSeconds to completion ({name}): least, mean, most, and how many were on time.\n"]
    lines += [f"| deed | {head} |", "|---" * (len(rows) + 1) + "|"]
    for deed in sorted({deed for row in rows for deed in row["by_deed"]}):
        cells = []
        for row in rows:
            one = row["by_deed"].get(deed)
            times = one and one["ttc_s"]
            cells.append(f"{times[0]:.2f} {times[1]:.2f} {times[2]:.2f}, {one['on_time']:.0%}" if times else "")
        lines.append(f"| {deed} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _courses(rows: Sequence[Row], plots: dict[str, str]) -> list[str]:
    own = sorted((row for row in rows if row["what"] == "courses"), key=lambda row: row["tau_s"])
    if not own:
        return []
    known = [row for row in own if row["overshoot_m"] is not None]
    beyond = Series("beyond a line", [row["tau_s"] for row in known], [row["overshoot_m"] for row in known])
    passed = [row for row in own if row["gate_miss_m"]]
    missed = Series(
        "from a gate", [row["tau_s"] for row in passed], [float(np.mean(row["gate_miss_m"])) for row in passed]
    )
    plots["courses"] = draw_axes("Shuttle run and slalom", "response time (s)", "metres", (beyond, missed))
    lines = ["| response time | turns back | beyond a line | gates passed | from a gate |", "|---|---|---|---|---|"]
    for row in own:
        over = "" if row["overshoot_m"] is None else f"{row['overshoot_m']:.2f} m"
        gates = row["gate_miss_m"]
        miss = f"{np.mean(gates):.2f} m" if gates else ""
        lines.append(f"| {row['tau_s']:g} s | {row['turns']} | {over} | {len(gates)} | {miss} |")
    told = "A student that is told another direction at a line, or at a gate, as with a joystick (section 7.1.3)."
    return ["## Courses\n", told, "", "\n".join([*lines, ""]), f"![Courses]({IMAGES}/courses.svg)", ""]


def _others(rows: Sequence[Row]) -> list[str]:
    """Everything else, as a table of its numbers."""
    lines = []
    for row in rows:
        if row["what"] in ("turns", "deeds", "courses"):
            continue
        numbers = [f"{name} {value:.3g}" for name, value in row.items() if isinstance(value, int | float)]
        lines.append(f"| {row['what']} | {', '.join(numbers)} | {row.get('code', '')} |")
    return ["## Everything else\n", "| what | figures | code |\n|---|---|---|", *lines, ""] if lines else []
