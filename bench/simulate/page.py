# SPDX-License-Identifier: GPL-3.0-or-later
"""The page that shows what simulation is worth: pictures and tables from a benchmark's rows, nothing typed by hand."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..run import Row
from .cases import PHASES, SIDES
from .goals import JERK, JOINT_ERROR, SKATE, lost_at_s, mean_measurement, stayed_up

_HEAD = """# What simulation makes of motions

Made by `./sinew bench simulate --rows docs/simulate.jsonl --sheets`; do not edit it by hand. Wall time is measured on
the machine that made the page ({machine}), quality {quality}. Joint error is root-relative, mean over joints and time;
skate is how fast the soles of standing feet slide; jerk is against the source's. Times are shares of the
clip's; wall time is left out where other programs had the machine, and processor time is that of all threads.

A foot stands while its leg carries a tenth of the weight or more, but for when its source has it glide over the ground
at more than 25 cm/s. What slides is the slowest point of its sole that is on the ground: a foot that rolls or pivots
does not. Crawls and rolls count like all others, by the moments in which their feet stand so.
"""
_DASH = "–"
_FIGURES = ("joint error", "skate", "jerk", "wall time", "processor time")


def simulate_page(result: Mapping[str, Any], rows: Sequence[Row], pictures: Mapping[str, str], machine: str) -> str:
    """Markdown from rows, a result's summaries of them, and the pictures of stock clips by name."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    parts = [_HEAD.format(machine=machine, quality=result["settings"].get("quality", _DASH))]
    parts += [_goals(result["summary"])]
    for name, title, write in _SECTIONS:
        if name in groups:
            parts.append(f"## {title}\n\n{write(groups[name])}")
    if pictures:
        parts.append(_pictures(groups.get("stock", []), pictures))
    return "\n".join(parts)


def _goals(summaries: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["## Goals", "", "| what | goal | met | misses |", "|---|---|---|---|"]
    for group, summary in summaries.items():
        for goal, found in summary.get("goals", {}).items():
            met = {True: "yes", False: "**no**", None: "not measured"}[found["met"]]
            if found["met"] is False and found.get("met_on_average"):
                met = "on average"
            lines.append(f"| {group} | {goal} | {met} | {_cell('; '.join(found['misses']) or _DASH)} |")
    return "\n".join(lines) + "\n"


def _by_clip(rows: Sequence[Row]) -> str:
    lines = [f"| clip | length | stood | {' | '.join(_FIGURES)} |", "|---" * (3 + len(_FIGURES)) + "|"]
    for clip in dict.fromkeys(row["clip"] for row in rows):
        own = [row for row in rows if row["clip"] == clip]
        lines.append(f"| {_cell(clip)} | {own[0]['clip_s']:.1f} s | {_fate(own)} | {' | '.join(_figures(own))} |")
    return "\n".join(lines) + "\n"


def _figures(rows: Sequence[Row]) -> list[str]:
    found = []
    for name, scale, unit in (
        (JOINT_ERROR.measurement, 1e3, "mm"),
        (SKATE.measurement, 1e2, "cm/s"),
        (JERK.measurement, 1.0, "×"),
        ("wall_over_clip", 1.0, "×"),
        ("processor_over_clip", 1.0, "×"),
    ):
        value = mean_measurement(rows, name)
        digits = 0 if unit == "mm" else 2 if unit == "×" else 1
        found.append(_DASH if value is None else f"{value * scale:.{digits}f} {unit}")
    return found


def _fate(rows: Sequence[Row]) -> str:
    """How many stood, and when the others were lost; or why it was refused."""
    if len(rows) == 1 and ("refused" in rows[0] or "bug" in rows[0]):
        return _cell(f"refused: {rows[0]['refused']}" if "refused" in rows[0] else rows[0]["bug"])
    losses = [f"{lost_at_s(row):.1f} s" for row in rows if "fell_at_s" in row and not stayed_up(row)]
    count = sum(map(stayed_up, rows))
    return f"{count} of {len(rows)}" + (f" (lost at {', '.join(losses)})" if losses else "")


def _files(rows: Sequence[Row]) -> str:
    """The table, what was accepted of the check, and what is absent of whom."""
    intro = (
        "Every Action of files that nobody here made, opened at their own scale and simulated whole, calibration poses "
        "and all, on its own skeleton. What the check offers about size and frame rate was accepted, and nothing else "
        "is known of them.\n\n"
    )
    notes = []
    if needs := {row["clip"]: row for row in rows if row.get("needs")}:
        notes += ["", "Made with what is not in the file:", ""]
        notes += [f"- {clip} needs {row['needs']}. Said: {_missing(row)}." for clip, row in needs.items()]
    if accepted := [(row["clip"], text) for row in rows for text in row.get("accepted", ())]:
        notes += ["", "What the check said, and was let mend:", ""]
        notes += [f"- {clip}: {_cell(text)}." for clip, text in dict.fromkeys(accepted)]
    return intro + _by_clip(rows) + "\n".join(notes) + ("\n" if notes else "")


def _missing(row: Row) -> str:
    return ", ".join(kind.removeprefix("needs_") for kind in row.get("missing", ())) or "nothing"


def _odd(rows: Sequence[Row]) -> str:
    lines = ["| file | verdict | fastest joint | below the floor | jerk |", "|---|---|---|---|---|"]
    for row in rows:
        name = row["clip"] + (f" ({row['hint_taken']})" if row.get("hint_taken") else "")
        why = f": {row['refused']}" if "refused" in row else ""
        figures = [
            f"{row[f'source_{name}'] * scale:.{digits}f} → {row[name] * scale:.{digits}f} {unit}"
            if name in row
            else _DASH
            for name, scale, digits, unit in (
                ("fastest_joint_m_s", 1.0, 1, "m/s"),
                ("deepest_m", 1e2, 1, "cm"),
                ("jerk_m_s3", 1.0, 0, "m/s³"),
            )
        ]
        lines.append(f"| {name} | {_cell(row['verdict'] + why)} | {' | '.join(figures)} |")
    return "\n".join(lines) + "\n"


def _push(rows: Sequence[Row]) -> str:
    found = {(row["from"], row["phase"]): row for row in rows if row["clip"] == rows[0]["clip"]}
    lines = ["| from the | " + " | ".join(f"at {phase:.0%} of a cycle" for phase in PHASES) + " |"]
    lines.append("|---|" + "---|" * len(PHASES))
    for side in SIDES:
        cells = [_fell(found.get((side, phase))) for phase in PHASES]
        lines.append(f"| {side} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _fell(row: Row | None) -> str:
    if row is None:
        return _DASH
    if stayed_up(row):
        return "stood"
    return f"lost {lost_at_s(row) - row['push_at_s']:.1f} s after" if "fell_at_s" in row else "refused"


def _pictures(rows: Sequence[Row], pictures: Mapping[str, str]) -> str:
    """The sheets of the clips, each with its figures of the seed that it shows, the lowest."""
    lines = ["## Pictures", "", "The take is light, its source blue beside it. Numbers are frames."]
    for clip, picture in pictures.items():
        own = sorted((row for row in rows if row["clip"] == clip), key=lambda row: row["seed"])[:1]
        lines += ["", f"### {clip}", "", f"![{clip}, simulated]({picture})"]
        if own:
            figures = [f"{name} {value}" for name, value in zip(_FIGURES, _figures(own), strict=True) if value != _DASH]
            fate = "stood" if stayed_up(own[0]) else _fate(own)
            lines += ["", f"Seed {own[0]['seed']}: {fate}; {', '.join(figures)}."]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


_SECTIONS: tuple[tuple[str, str, Callable[[Sequence[Row]], str]], ...] = (
    ("stock", "Stock clips", _by_clip),
    ("again", "Stock clips a second time, with another seed and with a push", _by_clip),
    ("bullet", "Stock clips on Bullet", _by_clip),
    ("push", "A walk pushed at the trunk, 200 N for 0.1 s", _push),
    ("files", "Files as users have them", _files),
    ("odd", "Low-quality files, before → after", _odd),
)
