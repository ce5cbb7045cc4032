# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rows of ``bench bounds`` show better than they say: learning curves, and where episodes began.

Learning curves with and without importance sampling and elite evolution (figure 11 of Ma et al. 2021), where episodes
began and what could be earned from there, and how far elites went from the source (figure 13).
"""

from collections.abc import Sequence

import numpy as np

from ..plots import Series, draw_axes, draw_heatmap, running_mean
from ..rows import Row
from .ablation import VARIANTS

_ACROSS, _ALIVE = "million samples", "seconds alive"
_LASTS_S = 20.0
LABELS = {"both": "both", "importance": "importance only", "evolution": "elites only", "neither": "neither"}


def drawings(rows: Sequence[Row]) -> dict[str, str]:
    """SVG by name, such as 'table_walk' or 'begun_backflip', of rows that did not fail."""
    found = {}
    for name in _names(rows, "table"):
        # A policy that survives right after its warm start has no learning curve.
        own = [row for row in rows if row["part"] == "table" and row["name"] == name and row.get("curve")]
        found[f"table_{name}"] = _learning(name, [(_label(row), row) for row in own])
    for name in _names(rows, "ablation"):
        for seed in dict.fromkeys(row["seed"] for row in rows if row["part"] == "ablation" and row["name"] == name):
            variants = {str(row["variant"]): row for row in rows if _is(row, name, seed)}
            found |= {f"{kind}_{suffix(name, seed)}": drawing for kind, drawing in _ablation(name, variants).items()}
    return found


def suffix(name: str, seed: int) -> str:
    """What the drawings of a clip's ablation are called by."""
    return f"{name}_{seed}" if seed else name


def _names(rows: Sequence[Row], part: str) -> list[str]:
    return list(dict.fromkeys(row["name"] for row in rows if row["part"] == part and row.get("curve")))


def _is(row: Row, name: str, seed: int) -> bool:
    return row["part"] == "ablation" and (row["name"], row["seed"]) == (name, seed) and bool(row.get("curve"))


def _label(row: Row) -> str:
    return f"seed {row['seed']}, {row['bounds']}{', warm' if row.get('warm') else ''}"


def _learning(title: str, named: Sequence[tuple[str, Row]]) -> str:
    marks = []
    for label, row in named:
        samples, alive = np.array(row["curve"], dtype=float).T
        marks.append(Series(label, (samples / 1e6).tolist(), running_mean(np.minimum(alive, 2.0 * _LASTS_S).tolist())))
    return draw_axes(title, _ACROSS, _ALIVE, marks)


def _ablation(name: str, by_variant: dict[str, Row]) -> dict[str, str]:
    ordered = [(LABELS[variant], by_variant[variant]) for variant in VARIANTS if variant in by_variant]
    found = {"ablation": _learning(f"{name}: how long copies live", ordered)}
    # Where both are on, each changes what the other does: what one does is best seen alone.
    begun = by_variant.get("importance") or by_variant.get("both")
    elites = by_variant.get("evolution") or by_variant.get("both")
    if begun is not None and begun["starts"]["samples"]:
        found["begun"] = _field(f"{name}: how often episodes begin there", begun, "chances")
        found["returns"] = _field(f"{name}: what is earned from there", begun, "returns")
    if elites is not None and elites["starts"]["samples"]:
        found["apart"] = _field(f"{name}: radians from elites to the source", elites, "apart")
        found["elites"] = _elites(name, elites)
    return found


def _field(title: str, row: Row, what: str) -> str:
    starts = row["starts"]
    x = [samples / 1e6 for samples in starts["samples"]]
    return draw_heatmap(title, _ACROSS, "seconds", np.array(starts[what], dtype=float), x, starts["seconds"])


def _elites(name: str, row: Row) -> str:
    elites = row["elites"]
    times_s = np.linspace(0.0, row["cycle_s"], len(elites["course"])).tolist()
    source = Series("source", times_s, elites["course"])
    kept = Series("elites", elites["seconds"], elites["first"], dots=True)
    return draw_axes(f"{name}: elites in the end", "seconds", "first component (rad)", [source, kept])
