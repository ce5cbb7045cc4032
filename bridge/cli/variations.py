# SPDX-License-Identifier: GPL-3.0-or-later
"""``simulate --variations``: one take after the other into the same .blend, with a table at the end."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...core import jobs
from ...core.control import registry
from ...core.errors import BadSettings, OtherJob, SinewError
from ...core.limits import LARGEST_SEED
from ...core.sim.variations import SIDES, Variation, VariationSettings
from ...core.texts import one_line
from ..jobs import batches, requests
from ..jobs.batches import Batch
from ..rig.rig_reader import RigMotion
from ..rig.rig_writer import WrittenAction
from . import CANCELLED
from .jobs import run_to_end
from .lines import say_aside
from .together import run_together

_ERRORS = ("joint_error_m", "mean_link_error_m")


@dataclass(frozen=True)
class VariationOutcome:
    """What became of a variation. written: None where nothing could be baked; problem: why."""

    variation: Variation
    job: jobs.Job | None
    report: dict[str, Any]
    written: WrittenAction | None = None
    problem: SinewError | None = None

    @property
    def state(self) -> str:
        """'done', 'failed' or 'cancelled'; a result that could not be baked is a failure."""
        if self.report.get("status") == "cancelled":
            return "cancelled"
        return "done" if self.written is not None else "failed"


def add_variation_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that are about variations."""
    add = parser.add_argument_group("variations").add_argument
    add("--variations", type=int, metavar="N", help="make N takes to choose from, each with a seed of its own")
    add(
        "--only",
        type=int,
        metavar="K",
        help="of the --variations make only this one, from 1 on; --job-dir is then its own",
    )
    add(
        "--anew",
        action="store_true",
        help="where --job-dir holds another job, as of the scene before a change, begin anew in its place",
    )
    add("--from", dest="side", metavar="SIDE", help=f"where pushes come from: {', '.join(side[0] for side in SIDES)}")
    add(
        "--vary",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="what else varies, such as mass=0.1, friction=0.5, gravity=0.2, throw=yes, and bone=, duration_s=, "
        "earliest= and latest= of pushes; may be repeated",
    )


def variation_settings(arguments: argparse.Namespace) -> VariationSettings | None:
    """What was asked for, checked before anything is opened; None for a single take."""
    if arguments.variations is None:
        given = (("--from", arguments.side), ("--vary", arguments.vary), ("--anew", arguments.anew))
        for name, value in (*given, ("--only", arguments.only is not None)):
            if value:
                raise BadSettings(f"{name} is about variations", "Say how many with --variations N")
        return None
    if len(arguments.push) > 1:
        raise BadSettings("Variations are pushed once each", "Write --push once, such as --push 50:200")
    least, most = _range(arguments.push[0]) if arguments.push else (0.0, 0.0)
    texts = [f"count={arguments.variations}", f"least_n={least}", f"most_n={most}"]
    texts += [f"side={arguments.side}"] if arguments.side else []
    settings = VariationSettings.from_texts([*texts, *arguments.vary])
    if not 0 <= arguments.seed <= LARGEST_SEED - settings.count:  # the last variation has the seed so far on
        raise BadSettings(f"The seed is {arguments.seed}", "Give a whole number of at least 0, and not beyond 64 bits")
    if arguments.only is not None and not 1 <= arguments.only <= settings.count:
        raise BadSettings(
            f"There is no variation {arguments.only} of {settings.count}",
            f"Give --only a number from 1 to {settings.count}",
        )
    if arguments.side and not (settings.pushes or settings.throw):
        raise BadSettings("--from says where pushes come from, and there are none", "Add --push 50:200")
    if not registry.get_method(arguments.method).uses_engine:
        batches.require_seeds_only(arguments.method, settings)
    return settings


def simulate_all(
    request: requests.Request,
    rig: RigMotion,
    settings: VariationSettings,
    folder: Path | None,
    *,
    only: int | None = None,
    anew: bool = False,
    where: jobs.Where = jobs.HERE,
) -> tuple[Batch, list[VariationOutcome]]:
    """Simulate and bake one after the other. One that fails does not stop the others; a cancel stops them all.

    folder: for a folder of each, or the folder of the only one. anew: another job there is replaced. where: on a
    cluster all are simulated at once, and then baked.
    """
    batch = batches.plan(request, rig, settings)
    if only is not None:
        batch = replace(batch, variations=batch.variations[only - 1 : only])
    outcomes: list[VariationOutcome] = []
    digits = len(str(len(batch.variations)))
    made: dict[int, jobs.Job] = {}

    def own_folder(variation: Variation) -> Path | None:
        return folder if only is not None else folder and folder / f"{variation.number:0{digits}d}"

    if not where.is_here:
        made = {one.number: _created(batch, one, own_folder(one), anew) for one in batch.variations}
        run_together(list(made.values()), where)
    for variation in batch.variations:
        say_aside(variation.title(rig.clip.name))
        outcomes.append(_simulated(batch, variation, own_folder(variation), anew, made.get(variation.number)))
        if outcomes[-1].state == "cancelled":
            break
    return batch, outcomes


def _simulated(
    batch: Batch, variation: Variation, folder: Path | None, anew: bool, ended: jobs.Job | None
) -> VariationOutcome:
    """ended: its job, where it was done elsewhere."""
    job = ended
    try:
        if job is None:
            job = _created(batch, variation, folder, anew)
        status = run_to_end(job) if ended is None else job.status()
        if status.state == "cancelled":
            return VariationOutcome(variation, job, jobs.unfinished_report(job))
        if status.state != "done":
            raise SinewError(status.message or f"The job was {status.state}", status.hint)
        return VariationOutcome(variation, job, job.result().report, requests.collect(job))
    except SinewError as error:
        say_aside(f"{variation.title(batch.rig.clip.name)}: {error}")
        unfinished = jobs.unfinished_report(job) if job is not None else {"status": "failed"}
        report = {**unfinished, "message": error.message, "hint": error.hint}
        return VariationOutcome(variation, job, report, problem=error)


def _created(batch: Batch, variation: Variation, folder: Path | None, anew: bool) -> jobs.Job:
    try:
        return batch.create(variation, folder)
    except OtherJob:
        if not anew or folder is None:
            raise
        jobs.remove_job(folder)
        return batch.create(variation, folder)


def exit_code(batch: Batch, outcomes: Sequence[VariationOutcome]) -> int:
    """0 if every take is there, fallen or not; 1 if one failed; 130 after a cancel."""
    if any(outcome.state == "cancelled" for outcome in outcomes) or len(outcomes) < len(batch.variations):
        return CANCELLED
    return 1 if any(outcome.state == "failed" for outcome in outcomes) else 0


def report_of(batch: Batch, outcomes: Sequence[VariationOutcome]) -> dict[str, Any]:
    """What was done and measured, for ``--report``: the batch's own numbers, and the whole report of every take."""
    states = [outcome.state for outcome in outcomes]
    code = exit_code(batch, outcomes)
    return {
        "status": {0: "done", CANCELLED: "cancelled"}.get(code, "failed"),
        "batch": batch.id,
        "title": batch.rig.clip.name,
        "method": batch.request.method,
        "seed": batch.request.seed,
        "wanted": len(batch.variations),
        "done": states.count("done"),
        "failed": states.count("failed"),
        "fell": sum(bool(outcome.report.get("fell")) for outcome in outcomes),
        "lost": sum(bool(outcome.report.get("lost")) for outcome in outcomes),
        "variations": [_row(outcome) for outcome in outcomes],
    }


def _row(outcome: VariationOutcome) -> dict[str, Any]:
    variation, written = outcome.variation, outcome.written
    return {
        **outcome.report,
        "status": outcome.state,
        "variation": variation.number,
        "words": variation.words,
        "varied": variation.facts,
        "armature": written.obj.name if written else None,
        "action": written.action.name if written else None,
    }


def table(outcomes: Sequence[VariationOutcome]) -> list[str]:
    """A line for each: number, what was different, how it went, how far it was off, and its Action."""
    rows = [("take", "variation", "result", "error", "action")]
    for outcome in outcomes:
        action = outcome.written.action.name if outcome.written else "-"
        rows.append(
            (
                str(outcome.variation.number),
                outcome.variation.words,
                _fate(outcome),
                _error(outcome.report),
                one_line(action),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _fate(outcome: VariationOutcome) -> str:
    if outcome.state != "done":
        return outcome.state
    report = outcome.report
    if report.get("lost", report["fell"]):
        return f"lost it at {report.get('lost_at_s', report['fell_at_s']):.1f} s"
    return "stayed up"


def _error(report: Mapping[str, Any]) -> str:
    measured = report.get("measurements") or {}
    found = next((measured[name] for name in _ERRORS if measured.get(name) is not None), None)
    return "-" if found is None else f"{100.0 * found:.1f} cm"


def _range(text: str) -> tuple[float, float]:
    least, colon, most = text.partition(":")
    try:
        return float(least), float(most if colon else least)
    except ValueError:
        raise BadSettings(f"'{text}' is no range of forces", "Write newtons, such as --push 50:200") from None
