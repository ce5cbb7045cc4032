# SPDX-License-Identifier: GPL-3.0-or-later
"""The page that shows what learning within bounds is worth, from the rows of ``bench bounds``: nothing by hand."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..rows import Row, newest_rows
from . import ablation, claims, table
from .drawings import LABELS, suffix

_HEAD = """# What learning within spacetime bounds is worth

Made by `./sinew bench bounds --page --rows docs/bounds.jsonl`; do not edit it by hand. The method and the figures it is
held against are those of Ma et al. 2021, "Learning and Exploring Motor Skills with Spacetime Bounds". Curves show how
long copies live with the noise they learn with, smoothed; a skill is tested without it. Every section says on which
machine and with which state of the code it was measured (a + after it: core was changed since that commit).
"""
_KEY = ("part", "name", "seed", "engine", "bounds", "warm", "variant", "claim", "style")
STYLES = "styles"
"""Among the pictures, the page that has those of the styles."""
_DASH = "–"
_TAUGHT = {"bounds": "bounds, survival alone", "bounds_imitation": "bounds and likeness", "imitation": "likeness alone"}

Pictures = Mapping[str, str]


def known_rows(rows: Sequence[Row]) -> list[Row]:
    """The newest row of each measurement."""
    return newest_rows(rows, _KEY)


def without_failures(rows: Sequence[Row]) -> list[Row]:
    """Those that did not fail."""
    return [row for row in rows if "refused" not in row and "bug" not in row]


def make_bounds_page(rows: Sequence[Row], pictures: Pictures) -> str:
    """Markdown from rows, with pictures by the names that ``drawings`` gives; the newest row of each counts."""
    known, parts = known_rows(rows), [_HEAD]
    for names, title, write in _SECTIONS:
        own = [row for row in known if row["part"] in names]
        if own:
            good = without_failures(own)
            failed = [f"- {_named(row)}: {row.get('refused') or row['bug']}" for row in own if row not in good]
            body = write(good, pictures) if good else []
            parts.append("\n".join([f"## {title}", "", *body, *failed, *([""] if failed else []), _measured(own), ""]))
    return "\n".join(parts)


def _table(rows: Sequence[Row], pictures: Pictures) -> list[str]:
    order = {name: place for place, name in enumerate(table.CLIPS)}
    lines = _heads("clip|seed|bounds|begun|cycle|million samples|minutes|of one core|paper|DeepMimic|fewer than both")
    for row in sorted(rows, key=lambda row: (order.get(row["name"], len(order)), row["seed"])):
        lasts = f"not after {row['samples_m']:.2f}, lasts {row['share']:.0%}"
        cells = (
            row["name"],
            str(row["seed"]),
            row["bounds"],
            "warm" if row.get("warm") else "cold",
            f"{row['cycle_s']:.2f} s",
            lasts if row["done_m"] is None else f"**{row['done_m']:.2f}**",
            f"{row['minutes']:.1f}",
            f"{row['core_minutes']:.1f}",
            _number(row["paper_m"]),
            _number(row["deepmimic_m"]),
            {None: _DASH, True: "yes", False: "**no**"}[row["reached"]],
        )
        lines.append(f"| {' | '.join(cells)} |")
    drawn = _images([f"table_{name}" for name in dict.fromkeys(row["name"] for row in rows)], pictures)
    said = (
        "Samples until the skill lasts 20 s, or to its end over and over where it is no cycle; bounds alone, no "
        "imitation. Steps of tests are not counted. Begun warm is begun with what sampling control knows, whose steps "
        "are counted."
    )
    return [*lines, "", said, "", *drawn]


def _throughput(rows: Sequence[Row], pictures: Pictures) -> list[str]:
    lines = _heads("clip|copies|samples a second|the bare engine|share|by CPU time|goal|reached")
    for row in rows:
        speeds = [f"{row[name]:.0f}" for name in ("worlds", "samples_per_s", "bare_samples_per_s")]
        shares = [f"{row[name]:.0%}" for name in ("share_of_bare", "share_of_bare_by_cpu_time", "goal")]
        lines.append(f"| {' | '.join([row['name'], *speeds, *shares, _yes(row['reached'])])} |")
    return [*lines, ""]


def _ablation(rows: Sequence[Row], pictures: Pictures) -> list[str]:
    lines = _heads("clip|seed|begun|initial states|learned after|samples|minutes|lasts|lives in the end")
    order = list(ablation.VARIANTS)
    for row in sorted(rows, key=lambda row: (row["name"], row["seed"], order.index(row["variant"]))):
        done = _DASH if row["done_m"] is None else f"**{row['done_m']:.2f} M**"
        cells = (f"{row['samples_m']:.2f} M", f"{row['minutes']:.1f}", f"{row['share']:.0%}", f"{_late(row):.1f} s")
        begun = f"{row['name']} | {row['seed']} | {'warm' if row.get('warm') else 'cold'}"
        lines.append(f"| {begun} | {LABELS[row['variant']]} | {done} | {' | '.join(cells)} |")
    lines += ["", "Importance is equation 11, elites equation 12. The last column is the mean over the last tenth.", ""]
    for name, seed in dict.fromkeys((row["name"], row["seed"]) for row in rows):
        kinds = ("ablation", "begun", "returns", "apart", "elites")
        lines += _images([f"{kind}_{suffix(name, seed)}" for kind in kinds], pictures)
    return lines


def _late(row: Row) -> float:
    """Seconds that copies live in the last tenth of the curve."""
    alive = [seconds for _, seconds in row["curve"]]
    last = alive[-max(1, len(alive) // 10) :]
    return float(sum(last) / len(last))


def _claims(rows: Sequence[Row], pictures: Pictures) -> list[str]:
    keyed = [row for row in rows if row["claim"] == claims.KEYFRAMES]
    widths = [row for row in rows if row["claim"] == claims.WIDTH]
    return [*(_keyframes(keyed) if keyed else []), *(_widths(widths) if widths else [])]


def _keyframes(rows: Sequence[Row]) -> list[str]:
    poses, off = rows[0]["poses"], rows[0]["reference_off"]
    said = (
        f"Of the clip {poses} poses a cycle are left, with straight ways between them ({off:.2f} rad a joint from the "
        "clip, as a mean). Likeness alone has no bounds: an episode ends by a fall, when the centre of mass is 0.35 m "
        "too low. All learn from as many samples, and are tested for 20 s from 32 places."
    )
    lines = ["### A reference of few poses", "", said, ""]
    lines += _heads("clip|seed|learned by|million samples|within the bounds|on its feet")
    for row in rows:
        cells = (f"{row['samples_m']:.2f}", *(f"{row[one + '_s']:.1f} s, {row[one]:.0%}" for one in ("does", "stands")))
        lines.append(f"| {row['name']} | {row['seed']} | {_TAUGHT[row['variant']]} | {' | '.join(cells)} |")
    return [*lines, ""]


def _widths(rows: Sequence[Row]) -> list[str]:
    said = (
        "Each clip is learned within several bounds, within some of them again by another seed, all from as many "
        "samples. The policies are watched side by side, from the same beginnings. Distances are radians a joint, as a "
        "mean over joints and moments, without the root; beside them is their share of how far the source's own poses "
        "are from each other. From one seed to another is what chance does: other bounds change a motion if they take "
        "it farther than that, and bounds that leave less freedom have their seeds nearer to each other."
    )
    lines = ["### How wide the bounds are", "", said, "", *_freedom(rows), ""]
    lines += _heads("clip|bounds|seed|begun|million samples|lasts|from its source|from the first|from the other seed")
    for row in rows:
        samples = f"{row['samples_m']:.2f}" + ("" if row["done_m"] is None else f", learned at {row['done_m']:.2f}")
        apart = (
            _DASH if row[name] is None else f"{row[name]:.3f} ({row[name] / row['swing']:.0%})"
            for name in ("from_source", "from_first", "from_other_seed")
        )
        begun = "warm" if row.get("warm") else "cold"
        cells = (row["name"], row["bounds"], str(_seed(row)), begun, samples, f"{row['share']:.0%}", *apart)
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _freedom(rows: Sequence[Row]) -> list[str]:
    """What is left of a motion's freedom within each bounds, all seeds together, and against the first of them."""
    lines = _heads("clip|bounds|from its source|one seed from another|from the first bounds")
    for name in dict.fromkeys(row["name"] for row in rows):
        own = [row for row in rows if row["name"] == name]
        first: tuple[float | None, float | None] | None = None
        for bounds in dict.fromkeys(row["bounds"] for row in own):
            same = [row for row in own if row["bounds"] == bounds]
            source = _mean({_seed(row): row["from_source"] for row in same}.values())
            apart = _mean(row["from_other_seed"] for row in same)
            away = None if first is None else _mean(row["from_first"] for row in same)
            first = first or (source, apart)
            cells = name, bounds, _against(source, first[0]), _against(apart, first[1]), _against(away, None)
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _against(value: float | None, usual: float | None) -> str:
    if value is None:
        return _DASH
    return f"{value:.3f}" + (f" ({value / usual - 1.0:+.0%})" if usual not in (None, value) else "")


def _seed(row: Row) -> int:
    return int(row["seed"]) + row["variant"].endswith(claims.AGAIN)


def _bodies_simulated(rows: Sequence[Row], pictures: Pictures) -> list[str]:
    said = (
        "Stock clips on other bodies, by the roles of their bones and nothing else, as `simulate CLIP --on FILE` has "
        "it: followed by sampling control once. How to do it is in [a motion on another body](other_bodies.md)."
    )
    lines = [said, "", *_heads("motion|kg|links|degrees of freedom|stays up|from its source, mean|at most|seconds")]
    for row in rows:
        stays = "yes" if row["fell_at_s"] is None else f"**falls at {row['fell_at_s']:.1f} s**"
        far = (f"{100 * row[name]:.1f} cm" for name in ("joint_error_m", "joint_error_max_m"))
        cells = (row["name"], f"{row['mass_kg']:.1f}", str(row["links"]), str(row["degrees_of_freedom"]), stays, *far)
        lines.append(f"| {' | '.join(cells)} | {row['wall_s']:.1f} |")
    return [*lines, ""]


def _bodies_learned(rows: Sequence[Row], pictures: Pictures) -> list[str]:
    said = "The same learned within bounds alone (section 5.2, figure 8): a walk and a run must last 20 s."
    lines = [said, "", *_heads("motion|seed|kg|bounds|learned after|million samples|minutes|lasts|reached")]
    for row in rows:
        done = _DASH if row["done_m"] is None else f"**{row['done_m']:.2f} M**"
        cells = (row["name"], str(row["seed"]), f"{row['mass_kg']:.1f}", row["bounds"], done, f"{row['samples_m']:.2f}")
        lasts = f"{row['minutes']:.1f} | {row['share']:.0%} | {_yes(row['reached'])}"
        lines.append(f"| {' | '.join(cells)} | {lasts} |")
    return [*lines, ""]


def _styles(rows: Sequence[Row], pictures: Pictures) -> list[str]:
    lines = [f"With contact sheets in [styles]({pictures[STYLES]}).", ""] if STYLES in pictures else []
    lines += _heads("motion|seed|style|million samples|energy|volume|Gram distance left|last 20 s|reached")
    for row in rows:
        changes = (
            _DASH if row.get(name) is None else form.format(row[name])
            for name, form in (("energy_change", "{:+.0%}"), ("volume_change", "{:+.0%}"), ("left", "{:.0%}"))
        )
        style = str(row["style"]).replace("_", " ")
        cells = (row["name"], str(row["seed"]), style, f"{row['samples_m']:.2f}", *changes, f"{row['lasts']:.0%}")
        lines.append(f"| {' | '.join(cells)} | {_yes(row.get('reached'))} |")
    return [*lines, ""]


def _heads(words: str) -> list[str]:
    heads = words.split("|")
    return [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]


def _images(names: Sequence[str], pictures: Pictures) -> list[str]:
    found = [f"![{name.replace('_', ' ')}]({pictures[name]})" for name in names if name in pictures]
    return [*found, ""] if found else []


def _measured(rows: Sequence[Row]) -> str:
    said = dict.fromkeys(f"{row['machine']}, {row['engine']}, {row['commit'] or _DASH}" for row in rows)
    return f"*Measured with: {'; '.join(said)}.*"


def _named(row: Row) -> str:
    words = (row["name"], f"seed {row['seed']}", *(row.get(name) for name in ("claim", "variant", "style")))
    return ", ".join(str(word) for word in words if word)


def _number(value: float | None) -> str:
    return _DASH if value is None else f"{value:.2f}"


def _yes(reached: bool | None) -> str:
    return {None: _DASH, True: "yes", False: "**no**"}[reached]


_SECTIONS: tuple[tuple[tuple[str, ...], str, Callable[[Sequence[Row], Pictures], list[str]]], ...] = (
    (("table",), "Table 1: samples until a skill lasts", _table),
    (("throughput",), "How much of the engine is left", _throughput),
    (("ablation",), "Where episodes begin: with and without importance sampling and elites", _ablation),
    (("claims",), "The paper's claims", _claims),
    (("bodies_simulated",), "A person's motion on other bodies, simulated", _bodies_simulated),
    (("bodies_learned",), "A person's motion on other bodies, learned", _bodies_learned),
    (("style", "manner"), "Styles", _styles),
)
