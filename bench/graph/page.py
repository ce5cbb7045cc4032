# SPDX-License-Identifier: GPL-3.0-or-later
"""The page that shows what control graphs are worth, from the rows of ``bench graph``: nothing is typed by hand."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..rows import Row
from .goals import graph_row_name

_HEAD = """# What learned control graphs are worth

Made by `./sinew bench graph --rows docs/graph.jsonl --sheets`; do not edit it by hand. Every row says on which machine
and with which state of the code it was measured (a + after it: core was changed since that commit).
"""
_DASH = "–"


def graph_page(summaries: Mapping[str, Mapping[str, Any]], rows: Sequence[Row], pictures: Mapping[str, str]) -> str:
    """Markdown from rows, what each part's come to, and pictures by name: 'collide', and curves as ``curve_name``."""
    parts = [_HEAD, _goals(summaries)]
    for part, title, write in _SECTIONS:
        own = [row for row in rows if row["part"] == part]
        if own:
            known = [row for row in own if "refused" not in row and "bug" not in row]
            text = write(known, pictures) if known else ""
            failed = [
                f"- {graph_row_name(row)}: {_cell(row.get('refused') or row['bug'])}" for row in own if row not in known
            ]
            parts.append("\n".join([f"## {title}", "", text, *failed, _measured(own), ""]))
    return "\n".join(parts)


def curve_name(row: Row) -> str:
    """What a row's drawing is called."""
    return f"curve_{row['name']}" + (f"_{row['seed']}" if row["seed"] else "")


def _goals(summaries: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["## Goals", "", "| part | goal | met | misses |", "|---|---|---|---|"]
    for part, summary in summaries.items():
        for goal, found in summary["goals"].items():
            met = {True: "yes", False: "**no**", None: "not measured"}[found["met"]]
            lines.append(f"| {part} | {goal} | {met} | {_cell('; '.join(found['misses']) or _DASH)} |")
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Row], pictures: Mapping[str, str]) -> str:
    heads = (
        "skill|length|learned in|work of cores|refining|for 1 s of motion|iterations + practice|push|floor|twice that"
    ).split("|")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        stretch = _DASH if row["stretch_n"] is None else f"{row['stretch_n']:.0f} N {_tick(row['stretched'])}"
        practised = sum("felled" in one for one in row["curve"])
        floor = _DASH if row["floor_n"] is None else f"{row['floor_n']:.0f} N {_tick(row['reached'])}"
        cells = [
            row["name"] + (f" (seed {row['seed']})" if row["seed"] else ""),
            f"{row['motion_s']:.2f} s",
            _number(row["learn_s"], "s"),
            _number(row["learn_core_s"], "s"),
            _number(row["refine_s"], "s"),
            _number(row["learn_s_per_s"], "s"),
            f"{row['iterations'] - practised} + {practised}",
            "falls by itself" if row.get("falls_unpushed") else f"**{row['push_n']:.0f} N**",
            floor,
            stretch,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    mass = rows[0]["mass_kg"]
    lines += ["", f"The character weighs {mass:.1f} kg; floors are the paper's pushes of a character of 62 kg, scaled."]
    lines += ["The push is at the trunk, for 0.1 s, along the facing direction, in steps of 10 N, stood for 20 cycles."]
    drawings = [f"![{row['name']}]({pictures[name]})" for row in rows if (name := curve_name(row)) in pictures]
    if drawings:
        lines += ["", "How much policies still change (blue, falling) and the push they stand (orange), by iteration"]
        lines += [
            "and turn of practice after them; the dashed line is the floor, and a ring a fall without any push:",
            "",
            *drawings,
        ]
    return "\n".join(lines) + "\n"


def _endurance(rows: Sequence[Row], pictures: Mapping[str, str]) -> str:
    lines = ["| skill | played | falls | went | wall time |", "|---|---|---|---|---|"]
    for row in rows:
        lasted = f"{row['lasted_s']:.0f} s of {row['seconds']:.0f} s"
        lines.append(
            f"| {graph_row_name(row)} | {lasted} | {row['falls']} | {row['went_m']:.0f} m | {row['wall_s']:.0f} s |"
        )
    return "\n".join(lines) + "\n"


def _walk(rows: Sequence[Row], pictures: Mapping[str, str]) -> str:
    lines = []
    for row in rows:
        lines += [
            f"{graph_row_name(row)}: {row['seconds']:.0f} s, {row['pushes']} pushes of {row['push_n']:.0f} N "
            f"from anywhere. Down {row['times_down']} times, {row['by_a_push']} of them soon after a push; up again "
            f"{row['up_again']} times, {row['up_within_10_s']} within 10 s"
            + ("" if row["slowest_up_s"] is None else f", the slowest after {row['slowest_up_s']:.1f} s")
            + f". Learned in {_number(row['learn_s'], 's')}, transitions {', '.join(row['transitions']) or 'none'}.",
            "",
            "| skill | seconds |",
            "|---|---|",
            *(f"| {name} | {seconds:.1f} |" for name, seconds in row["seconds_in"].items()),
            "",
        ]
        if row["down"]:
            lines += ["| fell at | doing | up again after |", "|---|---|---|"]
            lines += [f"| {fall['fell_s']:.1f} s | {fall['in']} | {_took(fall)} |" for fall in row["down"]] + [""]
    return "\n".join(lines)


def _cost(rows: Sequence[Row], pictures: Mapping[str, str]) -> str:
    lines = ["| skill | engine | wall time for 1 s | work of one core | the bare engine | over bare |"]
    lines += ["|---|---|---|---|---|---|"]
    for row in rows:
        figures = [row[name] for name in ("wall_s_per_s", "core_s_per_s", "bare_s_per_s")]
        cells = [*(f"{value * 1e3:.1f} ms" for value in figures), f"{row['over_bare']:.1f} ×"]
        lines.append(f"| {graph_row_name(row)} | {row['engine']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _collide(rows: Sequence[Row], pictures: Mapping[str, str]) -> str:
    lines = []
    for row in rows:
        touched = ", ".join(f"{moment:.1f} s" for moment in row["touched_s"]) or "never"
        met = f"two who {row['skill']} for each other, {row['seconds']:.0f} s"
        lines += [f"{graph_row_name(row)}: {met}. Touched at {touched}."]
        lines += ["", "| who | fell at | doing | up again after |", "|---|---|---|---|"]
        for who, falls in enumerate(row["down"], start=1):
            lines += [f"| {who} | {fall['fell_s']:.1f} s | {fall['in']} | {_took(fall)} |" for fall in falls]
        lines.append("")
    if "collide" in pictures:
        lines += [
            f"![Two characters collide, fall and rise]({pictures['collide']})",
            "",
            "Numbers are frames, 30 a second.",
        ]
    return "\n".join(lines) + "\n"


def _retarget(rows: Sequence[Row], pictures: Mapping[str, str]) -> str:
    lines = ["| skill | body | begins with | learned in | iterations | push after the first | push in the end |"]
    lines += ["|---" * 7 + "|"]
    for row in rows:
        body = f"legs × {row['longer_legs']:g}, {row['mass_kg']:.0f} kg"
        for how, words in (("cold", "nothing"), ("warm", "what the first body knows")):
            own = row[how]
            stands = "falls by itself" if own["falls_unpushed"] else f"**{own['push_n']:.0f} N**"
            first = _number(own["first_push_n"], "N")
            cells = (
                graph_row_name(row),
                body,
                words,
                _number(own["learn_s"], "s"),
                str(own["iterations"]),
                first,
                stands,
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _took(fall: Mapping[str, Any]) -> str:
    return _DASH if fall["up_s"] is None else f"{fall['up_s'] - fall['fell_s']:.1f} s"


def _measured(rows: Sequence[Row]) -> str:
    """In what circumstances."""
    said = dict.fromkeys(
        f"{row['machine']}, {row['engine']}, {row['study'] or 'as it comes'}, "
        f"learned at {row.get('learned_at') or _DASH}, measured at {row['commit'] or _DASH}"
        for row in rows
    )
    return f"*Measured with: {'; '.join(said)}.*"


def _tick(met: bool) -> str:
    return "✓" if met else "✗"


def _number(value: float | None, unit: str) -> str:
    return _DASH if value is None else f"{value:.0f} {unit}"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


_SECTIONS: tuple[tuple[str, str, Callable[[Sequence[Row], Mapping[str, str]], str]], ...] = (
    ("table", "Cyclic skills: learning and pushes", _table),
    ("endurance", "Endurance", _endurance),
    ("walk", "A random walk that is pushed every 10 s", _walk),
    ("cost", "What it costs to play one character", _cost),
    ("collide", "Two characters run into each other", _collide),
    ("retarget", "Another body", _retarget),
)
