# SPDX-License-Identifier: GPL-3.0-or-later
"""The page on directing, ``direct_figures.md``, and its plots, from the rows of ``bench direct``."""

from collections.abc import Sequence
from pathlib import Path

from . import direct_ablations
from .rows import Row, newest_rows, read_rows

ROWS, PAGE, IMAGES = "direct.jsonl", "direct_figures.md", "images/direct"
_HEAD = """# Directing, measured

Made by `./sinew bench direct --page docs`; do not edit it by hand. The rows are in [direct.jsonl](direct.jsonl), from
`./sinew bench direct --rows docs/direct.jsonl` (the library, and what it does without a body) and, of a trained one,
`./sinew bench direct --controller FILE --only policy,wishes,answers,…`. What the words mean: [directing](direct.md).
What is **more** than its goal is marked. Times of frames and searches are processor time of one thread.
"""
# Endings of keys, and how such a number is told.
_UNITS: tuple[tuple[str, float, str], ...] = (
    ("_us", 1.0, "{:.0f} µs"),
    ("error_m", 1000.0, "{:.0f} mm"),
    ("_m_s3", 1.0, "{:.0f} m/s³"),
    ("skate_m_s", 100.0, "{:.2f} cm/s"),
    ("_m_s", 1.0, "{:.2f} m/s"),
    ("_m", 1.0, "{:.2f} m"),
    ("_mb", 1.0, "{:.0f} MB"),
    ("_s", 1.0, "{:.2f} s"),
    ("seconds", 1.0, "{:.1f} s"),
    ("held", 100.0, "{:.0f} %"),
)
_ENDINGS = ("_us", "_m_s3", "_m_s", "_m", "_mb", "_s")
_SAID: dict[str, str] = {
    "com_mean_m": "centre of mass from it, mean",
    "com_most_m": "at most",
    "skate_m_s": "feet that stand slide",
    "physics_skate_m_s": "before feet are held",
    "library_skate_m_s": "in the library",
    "joint_error_m": "joints off",
    "jerk_m_s3": "jerk",
    "library_jerk_m_s3": "in the library",
    "kinematic_jerk_m_s3": "of its motion",
    "idle_jerk_m_s3": "of the library's idling",
    "jerk_ratio": "of that of its motion",
    "drift_m": "drift",
    "rise_s": "rise time",
    "rise_90_s": "nine of ten within",
    "turn_90_s": "rise time",
    "kinematic_turn_90_s": "of its motion",
    "falls_in_10_minutes": "falls in 10 minutes",
    "falls_per_minute": "falls a minute",
    "others_falls_per_minute": "all others",
    "same_styles_falls_per_minute": "as much of the same styles",
    "ratio": "times all others",
    "same_styles_ratio": "times as much of the same styles",
    "lasts_s": "lasts",
    "frame_us": "a frame",
}
_UNTOLD = ("what", "goal", "code", "machine", "mass_kg", "trained", "tests", "family", "variant", "seed", "fell")
_PARTS = ("The library", "Without a body", "With a body", "A frame", "On Bullet")


def write_page(docs: Path) -> Path:
    """Write the page and its plots; gives the page."""
    rows = newest_rows(read_rows(docs / ROWS), ("what", "trained"))
    plots = {**direct_ablations.draw_ablations(rows), **direct_ablations.draw_cubes(rows)}
    parts = [_HEAD, *_tables(rows), *_cubes(rows), *_training(rows)]
    (docs / IMAGES).mkdir(parents=True, exist_ok=True)
    for name, svg in plots.items():
        (docs / IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")
        parts.append(f"![{name.replace('_', ' ').capitalize()}]({IMAGES}/{name}.svg)\n")
    (docs / PAGE).write_text("\n".join(parts), encoding="utf-8")
    return docs / PAGE


def _tables(rows: Sequence[Row]) -> list[str]:
    found = list[str]()
    for title in _PARTS:
        own = [row for row in rows if _part_of(row) == title and "mass_kg" not in row and "family" not in row]
        if own:
            lines = ["| what | | goal | code |", "|---|---|---|---|", *map(_line, own)]
            found += [f"## {title}\n", *lines, ""]
    return found


def _part_of(row: Row) -> str:
    """In which of the parts it stands."""
    what = str(row["what"])
    if "on Bullet" in what:
        return "On Bullet"
    if what.startswith("a frame"):
        return "A frame"
    if what.startswith(("library", "clip added")):
        return "The library"
    with_body = "simulated" in what or what.startswith(("random wishes", "clips left out", "the policy"))
    return "With a body" if with_body else "Without a body"


def _line(row: Row) -> str:
    if "skipped" in row:
        return f"| {row['what']} | {row['skipped']} | | {row.get('code', '')} |"
    goals = row.get("goal", {})
    values = [f"{_name(key)} {_say(key, value)}" for key, value in row.items() if _is_told(key, value)]
    if row.get("fell"):
        values.insert(0, "**it falls**")
    missed = [key for key, most in goals.items() if (row.get(key) or 0) > most]
    wanted = [f"{_name(key)} {_say(key, most)}{' (**more**)' if key in missed else ''}" for key, most in goals.items()]
    return f"| {row['what']} | {'; '.join(values)} | {'; '.join(wanted)} | {row.get('code', '')} |"


def _is_told(key: str, value: object) -> bool:
    return key not in _UNTOLD and isinstance(value, float | int) and not isinstance(value, bool)


def _name(key: str) -> str:
    if key in _SAID:
        return _SAID[key]
    ending = next((one for one in _ENDINGS if key.endswith(one)), "")
    return key.removesuffix(ending).replace("_", " ")


def _say(key: str, value: float) -> str:
    for ending, factor, form in _UNITS:
        if key.endswith(ending):
            return form.format(factor * value)
    return f"{value:.3g}" if isinstance(value, float) else f"{value}"


def _cubes(rows: Sequence[Row]) -> list[str]:
    own = [row for row in rows if "mass_kg" in row]
    if not own:
        return []
    masses = sorted({row["mass_kg"] for row in own})
    lines = [f"| policy | {' | '.join(f'{mass:g} kg' for mass in masses)} | code |", "|---" * (len(masses) + 2) + "|"]
    for trained in dict.fromkeys(row["trained"] for row in own):
        known = {row["mass_kg"]: f"{row['lasts_s']:.1f} s" for row in own if row["trained"] == trained}
        code = next(row.get("code", "") for row in own if row["trained"] == trained)
        lines.append(f"| {trained} | {' | '.join(known.get(mass, '') for mass in masses)} | {code} |")
    told = "How long a run in a circle lasts under a cube at 5 m/s each second, by the policy alone (figure 11)."
    return ["## Cubes\n", told, "", *lines, ""]


def _training(rows: Sequence[Row]) -> list[str]:
    own = [row for row in rows if row["what"] == "the policy" and row.get("tests")]
    found = list[str]()
    for row in own:
        lines = ["| million samples | falls a minute | joints off |", "|---|---|---|"]
        lines += [
            f"| {samples / 1e6:.1f} | {falls:.2f} | {1000 * error:.0f} mm |" for samples, falls, error in row["tests"]
        ]
        found += [
            "## How it learned\n",
            "Tested on wishes that it did not practise, without trying again.\n",
            *lines,
            "",
        ]
    return found
