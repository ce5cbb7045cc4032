# SPDX-License-Identifier: GPL-3.0-or-later
"""The page on how far it scales, from the rows of ``bench scale`` and what ``bench timeline`` makes of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .rows import Row

_HEAD = """# How far it scales

Made by `./sinew bench timeline --page`; do not edit it by hand. What was measured is from `./sinew bench scale`, with
its rows in [scale.jsonl](scale.jsonl): a real Ray cluster of several nodes on one computer, each with a core, and the
same work without Ray in the same run. Every part says on which machine and with which state of the code (a + after it:
core was changed since that commit). See [on a cluster](cluster.md) for how to use one.
"""
_END = """
Updates are synchronous, so that the weights are the same wherever shards are. A training therefore stops getting faster
where learning from all shards and taking in what they send home, which grow with the shards, take longer than the
slowest rollout of one. What would have to change then: learning spread over several machines or on a graphics card (the
last two columns), larger batches with fewer epochs, or updates that do not wait, which would give up that results are
the same. Takes need nothing of each other: there only the driver, which hands them out, and its network are shared.
"""


def make_scale_page(known: Mapping[str, Row], slow: Mapping[str, Any], fast: Mapping[str, Any], faster: float) -> str:
    """Markdown. known: the newest row of each part. slow, fast: timelines, with a learner ``faster`` times as fast."""
    parts = [_HEAD, "## Takes\n"]
    parts += [_takes(known["takes"]), "## Trainings\n", _trainings(known["training"])]
    if "kills" in known or "lost" in known:
        parts += ["## What is lost\n", *_losses(known)]
    parts += ["## What more cores would give\n", _timeline(slow, fast, faster, known["training"]["copies"]), _END]
    return "\n".join(parts)


def _takes(row: Row) -> str:
    each = row["take_s"]
    same = "the same bit for bit" if row["same_bits"] else "**not the same**"
    return (
        f"{row['takes']} variations of {row['clip_s']:.1f} s, pushed: {row['here_s']:.1f} s here, with {row['nodes']} "
        f"workers of a core each at once, and {row['there_s']:.1f} s on {row['nodes']} nodes of a core each, {same}: "
        f"{row['overhead']:+.0%}. All of it counts from the command on, with nothing known of the source on either "
        f"side; the cluster was there before. Each was simulated in {min(each):.1f} to {max(each):.1f} s there; "
        f"{row['inputs_bytes'] / 1e3:.0f} kB went out and {row['result_bytes'] / 1e3:.0f} kB came home for each."
        f"{_measured(row)}\n"
    )


def _trainings(row: Row) -> str:
    table = _table(
        (
            "shards",
            "nodes",
            "same weights",
            "here",
            "there",
            "an update",
            "rollouts",
            "learning",
            "neither",
            "to each",
            "home",
        ),
        (
            (
                one["shards"],
                one["nodes"],
                "yes" if one["same_weights"] else "**no**",
                f"{one['here_s']:.1f} s",
                f"{one['there_s']:.1f} s",
                f"{one['seconds_an_update']:.2f} s",
                f"{one['share_rollouts']:.0%}",
                f"{one['share_learning']:.0%}",
                f"{one['share_neither']:.1%}",
                f"{one['bytes_an_update']['weights_to_each'] / 1e3:.0f} kB",
                f"{one['bytes_an_update']['rollouts_home'] / 1e3:.0f} kB",
            )
            for one in row["rows"]
        ),
    )
    return (
        f"A walk within bounds, {row['rows'][0]['updates']} updates of {row['copies']} copies, with the start of a "
        "cluster's job in *there*. *Neither*: the share of time between the first rollout and the last learning that "
        f"is neither. *To each* and *home*: bytes of an update.\n\n{table}{_measured(row)}\n"
    )


def _losses(known: Mapping[str, Row]) -> Iterable[str]:
    if (kills := known.get("kills")) is not None:
        for what in ("takes", "training"):
            one = kills[what]
            came = "every time the same results, each once" if one["same"] else "**not the same results**"
            killed = f"{one['killed']} nodes killed (SIGKILL, when seeded parts of the work were done)"
            again = f"parts of the work were lost {one['lost_work']} times"
            yield f"- {killed} in {one['runs']} runs of {what}; {again} and done again: {came}."
        yield _measured(kills)
    if (lost := known.get("lost")) is not None:
        driver, cluster = lost["driver"], lost["cluster"]
        same = "the same weights" if driver["resumed"] else "**other weights**"
        yield f"- The worker here killed: the job was {driver['state']}, and resumed there it gave {same}."
        same = "the same weights" if cluster["resumed_here"] else "**other weights**"
        yield (
            f"- The head killed: after {cluster['said_after_s']:.0f} s the job was {cluster['state']} "
            f"(*{cluster['message']}*), and resumed here it gave {same}.{_measured(lost)}\n"
        )


def _timeline(slow: Mapping[str, Any], fast: Mapping[str, Any], faster: float, copies: int) -> str:
    trainings = _table(
        ("cores", "faster", "learning takes", "neither", "MB an update", f"learner {faster:g} x", "learning takes"),
        (
            (
                f"{one['cores']:,}",
                f"{one['faster_than_one_core']:.1f} x",
                f"{one['shares']['learning']:.0%}",
                f"{one['shares']['neither']:.0%}",
                f"{one['megabytes_an_update']:,.0f}",
                f"{other['faster_than_one_core']:.1f} x",
                f"{other['shares']['learning']:.0%}",
            )
            for one, other in zip(slow["training"], fast["training"], strict=True)
        ),
    )
    takes = _table(
        ("cores", "takes", "seconds", "of the cores' time in takes"),
        (
            (f"{one['cores']:,}", f"{one['takes']:,}", f"{one['seconds']:.0f}", f"{one['used']:.0%}")
            for one in slow["takes"]
        ),
    )
    proved, told = (
        f"As a check, {what} above: {check['measured_s']:.2f} s as measured, {check['simulated_s']:.2f} s as simulated."
        for what, check in (
            (f"an update of the two shards on two nodes (of {copies} copies)", slow["check"]),
            ("all takes on their nodes", slow["takes_check"]),
        )
    )
    return (
        "Simulated from the seconds above: every shard draws the seconds of its rollout from those measured, the "
        "slowest decides, then the driver takes in what comes home over 1 Gbit/s and learns from all of it. How "
        f"much faster than a single core a training is, with a shard of {copies // 2} copies on each:\n\n"
        f"{trainings}\n\n{proved}\n\n"
        f"Takes, one or ten for each core, handed out by one driver:\n\n{takes}\n\n{told}\n"
    )


def _measured(row: Row) -> str:
    load = f", load {row['load']:.0f} when it ended" if "load" in row else ""
    return f"\n\nMeasured at {row['version']} on {row['machine']}{load}.\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)
