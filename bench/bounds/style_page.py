# SPDX-License-Identifier: GPL-3.0-or-later
"""The page that shows what styles within bounds are worth, from the rows of ``bench bounds`` alone."""

from collections.abc import Mapping, Sequence

from ..rows import Row, newest_rows

_HEAD = """# Styles within bounds

Made by `./sinew bench bounds --only style,manner --rows docs/bounds.jsonl --sheets`; do not edit it by hand.

Every style begins with the neutral policy of its motion, is learned within the bounds for style exploration, and then
watched for 20 s from 16 places on the motion, without noise. Energy is kinetic, about the centre of mass; volume is the
convex hull of the root and the ends of the limbs. In the pictures the neutral policy is blue.
"""
_KEY = ("part", "name", "seed", "style", "engine")


def make_styles_page(rows: Sequence[Row], pictures: Mapping[str, str]) -> str:
    """Markdown from the newest rows of each style, with pictures by ``picture_name``."""
    known = newest_rows([row for row in rows if row["part"] in ("style", "manner")], _KEY)
    parts = [_HEAD]
    for part, title, write in (("style", "Energy and volume", _styles), ("manner", "In the manner of", _manners)):
        own = [row for row in known if row["part"] == part]
        if own:
            parts += [f"## {title}", "", *write(own), "", *_failed(own), *_shown(own, pictures)]
    return "\n".join(parts)


def picture_name(row: Row) -> str:
    """What a row's contact sheet is called."""
    return f"{row['name']}_{row['style']}"


def _styles(rows: Sequence[Row]) -> list[str]:
    lines = ["| motion | style | learned | energy | volume | last 20 s | reached |", "|---|---|---|---|---|---|---|"]
    for row in _whole(rows):
        energy, volume = f"{row['energy_j']:.1f} J", f"{1000.0 * row['volume_m3']:.0f} l"
        if "energy_change" in row:
            energy += f" ({row['energy_change']:+.0%})"
            volume += f" ({row['volume_change']:+.0%})"
        lines.append(f"| {_name(row)} | {_style(row)} | {_learned(row)} | {energy} | {volume} | {_end(row)} |")
    return [*lines, "", "The goal is 30 % each way from the neutral policy, while all stay within the bounds for 20 s."]


def _manners(rows: Sequence[Row]) -> list[str]:
    lines = [
        "| motion | in the manner of | learned | Gram distance, neutral | styled | last 20 s | reached |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in _whole(rows):
        if "left" in row:
            before, after = f"{row['distance_neutral']:.2f}", f"{row['distance']:.2f} ({row['left']:.0%} is left)"
            lines.append(f"| {_name(row)} | {_style(row)} | {_learned(row)} | {before} | {after} | {_end(row)} |")
    return [*lines, "", "The goal is half of the neutral policy's distance."]


def _whole(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if "refused" not in row and "bug" not in row]


def _failed(rows: Sequence[Row]) -> list[str]:
    lines = [
        f"- {_name(row)}, {_style(row)}: {row.get('refused') or row['bug']}" for row in rows if row not in _whole(rows)
    ]
    return [*lines, ""] if lines else []


def _shown(rows: Sequence[Row], pictures: Mapping[str, str]) -> list[str]:
    found = [row for row in rows if picture_name(row) in pictures]
    return [line for row in found for line in (f"{_name(row)}, {_style(row)}:", "", _image(row, pictures), "")]


def _image(row: Row, pictures: Mapping[str, str]) -> str:
    return f"![{_name(row)}, {_style(row)}]({pictures[picture_name(row)]})"


def _name(row: Row) -> str:
    return str(row["name"]) + (f" (seed {row['seed']})" if row["seed"] else "")


def _style(row: Row) -> str:
    return str(row["style"]).replace("_", " ")


def _learned(row: Row) -> str:
    return f"{row['samples_m']:.2f} M, {row['minutes']:.1f} min" + ("" if row["finished"] else ", not finished")


def _end(row: Row) -> str:
    reached = {None: "–", True: "yes", False: "**no**"}[row.get("reached")]
    return f"{row['lasts']:.0%} | {reached}"
