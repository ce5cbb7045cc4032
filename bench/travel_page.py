# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of cycles on the spot: how each travels, whether it stays up, and how its loop closes; from rows alone."""

from collections.abc import Sequence

from .rows import Row

_HEAD = """# Cycles on the spot

Made by `./sinew bench travel --rows docs/travel.jsonl --page docs`; do not edit it by hand. It needs the files in
`../shared`, which are no part of the project.

Walks and runs of game characters stay where they are, and their feet slide back. Each gets the travel that its feet ask
for, is simulated over five cycles (quality {quality}), and comes back as a loop on the spot. A seam is how far a loop's
last frame is from its first: the mean angle of a joint, and the distance of the body. Joint error is root-relative.
"""
_COLUMNS = ("cycle", "travels", "stayed up", "joint error", "skate", "seam", "seam of the source", "closes as well")


def travel_page(rows: Sequence[Row]) -> str:
    """Markdown from the newest row of each cycle."""
    known = [row for row in rows if "skipped" not in row]
    lines = [f"| {' | '.join(_COLUMNS)} |", "|---" * len(_COLUMNS) + "|"]
    lines += [f"| {row['cycle']} | {' | '.join(_cells(row))} |" for row in known]
    up = sum(_stayed(row) for row in known)
    closed = sum(closes_as_well(row) for row in known)
    said = f"{up} of {len(known)} stay up over all their cycles; {closed} close as well as their sources do.\n"
    quality = ", ".join(dict.fromkeys(str(row["quality"]) for row in known if "quality" in row)) or "normal"
    return "\n".join([_HEAD.format(quality=quality), said, *lines, *_notes(known)]) + "\n"


def closes_as_well(row: Row) -> bool:
    """Whether it came back as a loop whose ends differ by no more than the source's do."""
    if "seam_rad" not in row:
        return False
    return bool(row["seam_rad"] <= row["source_seam_rad"] + 1e-6 and row["seam_m"] <= row["source_seam_m"] + 1e-6)


def _cells(row: Row) -> list[str]:
    if "speed_m_s" not in row:
        why = row.get("refused") or "not found to be on the spot"
        return [why.replace("|", "/"), *["–"] * (len(_COLUMNS) - 2)]
    fate = "yes" if _stayed(row) else f"lost at {row['lost_at_s']:.1f} s of {row['cycles'] * row['cycle_s']:.1f} s"
    return [
        f"{row['speed_m_s']:.2f} m/s",
        fate,
        f"{1e3 * row['joint_error_m']:.0f} mm" if "joint_error_m" in row else "–",
        f"{1e2 * row['skate_m_s']:.1f} cm/s" if "skate_m_s" in row else "–",
        _seam(row.get("seam_rad"), row.get("seam_m")),
        _seam(row["source_seam_rad"], row["source_seam_m"]),
        "yes" if closes_as_well(row) else "**no**" if "seam_rad" in row else "no loop",
    ]


def _seam(angle_rad: float | None, apart_m: float | None) -> str:
    return "–" if angle_rad is None or apart_m is None else f"{angle_rad:.4f} rad, {1e3 * apart_m:.2f} mm"


def _stayed(row: Row) -> bool:
    return "speed_m_s" in row and row.get("lost_at_s") is None


def _notes(rows: Sequence[Row]) -> list[str]:
    found = [f"- {row['cycle']}: {text}." for row in rows for text in row.get("missing", ())]
    return ["", "What the report says is missing:", "", *found] if found else []
