# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes as the panel and the command line show them: order, words and numbers, ready to draw."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import bpy

from ...core.measure.quality_checks import QualityCheck, check_quality
from ...core.measure.sentences import MARKED, describe_loss
from ...core.sim.engines import ENGINES
from .checked_reports import parse_report
from .copies import is_presented, moved_object, original_of
from .report_texts import measure_text, method_label, time_text
from .rows import is_linked, take_strips, take_title

_UNKNOWN = 1e9  # sorts after every error
_MOST_DIGITS = 40  # of a number in a name that counts


@dataclass(frozen=True)
class TakeView:
    """What there is to see of a take.

    missing: its Action was deleted. shown: it moves the armature now; source_shown: what it was
    made from does. in_nla: it is a strip of the armature's NLA.
    linked: the row comes from another file. label: 'seed 3', or '#3' for the third of a batch.
    source: the Action it was made from, '' if none; source_missing: that was deleted.
    copy_of: the armature that this one is a baked copy of, as it is called now, '' if it is none.
    note: what the animator wants to remember of it.
    asked: what was special about it, for one of a batch: '120 N from the left'.
    lost: it was where its source never is; fell: and stayed down. marks: whether it was lost, skates or sinks in.
    sentences: how it went, in words. placed: where a rig's keys are, and how well that matches; '' for the armature.
    facts and numbers: (name, value) pairs as texts.
    """

    name: str
    missing: bool
    shown: bool
    source_shown: bool
    kept: bool
    in_nla: bool
    linked: bool
    label: str
    fell: bool
    lost: bool
    source: str
    source_missing: bool
    copy_of: str
    asked: str
    note: str
    marks: tuple[QualityCheck, ...]
    sentences: tuple[str, ...]
    placed: str
    facts: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, str], ...]

    @property
    def beyond_marks(self) -> tuple[str, ...]:
        """The sentences that say something else than the marks do."""
        return tuple(sentence for sentence in self.sentences if not sentence.startswith(MARKED))


def view_take(obj: bpy.types.Object, row: bpy.types.PropertyGroup) -> TakeView:
    """The view of one of the armature's takes."""
    report, action, model = take_report(row), row.action, original_of(row)
    return TakeView(
        name=take_title(row),
        missing=action is None,
        shown=is_take_shown(obj, row),
        source_shown=is_presented(obj, obj) and is_shown(obj, row.source),
        kept=action is not None and action.use_fake_user,
        in_nla=bool(take_strips(moved_object(obj, row) or obj, action)),
        linked=is_linked(obj, row),
        label=row.label,
        fell=row.fell,
        lost=was_lost(row),
        source=row.source.name if row.source else row.source_name,
        source_missing=row.source is None,
        copy_of=model.name if model else row.armature_name,
        asked=str(report.get("title", "")).partition(": ")[2] if row.variation else "",
        note=action.sinew_note if action else "",
        marks=take_marks(row),
        sentences=_sentences(report),
        placed=str(report.get("controls", {}).get("says", "")),
        facts=_facts(report),
        numbers=tuple(measure_text(*item) for item in report.get("measurements", {}).items() if item[1] is not None),
    )


def take_mapping(obj: bpy.types.Object, row: bpy.types.PropertyGroup) -> dict[str, Any]:
    """A take as plain values for JSON: its state here, then what its report says."""
    view = asdict(view_take(obj, row))
    for drawn in ("marks", "sentences", "facts", "numbers"):
        del view[drawn]
    view["source_armature"] = view.pop("copy_of") or obj.name
    moved = moved_object(obj, row)
    armature = moved.name if moved is not None else row.copy_name
    state = {"armature": armature, **view, "job": row.job, "made": row.made, "variation": row.variation or None}
    return {**state, "frames": _frames(row.action), "report": take_report(row)}


def is_shown(obj: bpy.types.Object, action: bpy.types.Action | None) -> bool:
    """Whether the Action is what moves the armature."""
    return action is not None and obj.animation_data is not None and obj.animation_data.action == action


def is_take_shown(obj: bpy.types.Object, row: bpy.types.PropertyGroup) -> bool:
    """Whether the take moves the armature or its baked copy now, and it is that one that shows."""
    moved = moved_object(obj, row)
    return moved is not None and is_shown(moved, row.action) and is_presented(obj, moved)


def take_report(row: bpy.types.PropertyGroup) -> Mapping[str, Any]:
    """The take's report; empty where a file holds none that can be read. Not to be changed."""
    return parse_report(row.report)


def find_missing_support_findings(obj: bpy.types.Object, source_name: str) -> tuple[tuple[str, str], ...]:
    """What the newest take of a source showed to be missing, such as stairs or a load: messages with hints."""
    rows = [row for row in obj.sinew_takes if (row.source.name if row.source else row.source_name) == source_name]
    findings = take_report(rows[-1]).get("findings") if rows else None
    return tuple(
        (str(finding.get("message", "")), str(finding.get("hint", "")))
        for finding in (findings if isinstance(findings, list) else ())
        if isinstance(finding, dict) and str(finding.get("kind", "")).startswith("needs_")
    )


def take_marks(row: bpy.types.PropertyGroup) -> tuple[QualityCheck, ...]:
    """Whether the take was lost, skates or sinks in, in this order."""
    report = take_report(row)
    at_s = report.get("lost_at_s", report.get("fell_at_s"))
    return check_quality(report.get("measurements", {}), was_lost(row), at_s, row.fell)


def was_lost(row: bpy.types.PropertyGroup) -> bool:
    """Whether the character ever was where its source never is; files written before know of falls alone."""
    return bool(row.lost or row.fell)


def arrange_takes(
    rows: Sequence[bpy.types.PropertyGroup], sort: str, only_up: bool = False, search: str = ""
) -> tuple[list[bool], list[int]]:
    """For each row whether it is listed, and its place in the order; both in the rows' own order.

    search: what its name or its note has.
    """
    wanted = search.casefold()
    texts = [f"{take_title(row)}\n{row.action.sinew_note if row.action else ''}".casefold() for row in rows]
    listed = [not (only_up and was_lost(row)) and wanted in text for row, text in zip(rows, texts, strict=True)]
    keys = [_KEYS[sort](row) for row in rows]
    places = [0] * len(rows)
    for place, index in enumerate(sorted(range(len(rows)), key=keys.__getitem__)):
        places[index] = place
    return listed, places


def _sentences(report: Mapping[str, Any]) -> tuple[str, ...]:
    if summary := report.get("summary"):
        return tuple(summary)
    if not report:
        return ()
    return (_fate(report),)


def _fate(report: Mapping[str, Any]) -> str:
    fell = bool(report.get("fell"))
    if not report.get("lost", fell):
        return "Stayed with the motion to the end"
    at_s = report.get("lost_at_s", report.get("fell_at_s"))
    return describe_loss(at_s, fell)


def _facts(report: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    if not report:
        return ()
    engine = report.get("engine", "none")
    wall_s, duration_s = report.get("wall_s"), report.get("duration_s")
    facts = [("Method", method_label(report.get("method", "")))]
    if engine != "none":
        facts.append(("Engine", ENGINES[engine].label if engine in ENGINES else engine))
    facts.append(("Seed", str(report.get("seed", ""))))
    if duration_s is not None:
        facts.append(("Length", f"{duration_s:.2f} s"))
    if wall_s is not None:
        facts.append(("Made in", time_text(wall_s)))
    return tuple(facts)


def _frames(action: bpy.types.Action | None) -> list[int] | None:
    return None if action is None else [round(frame) for frame in action.frame_range]


def _natural(text: str) -> tuple[Any, ...]:
    """A key that sorts 'Walk 2' before 'Walk 10', whatever the case."""
    parts = re.split(r"(\d+)", text.casefold())  # words and numbers take turns
    return tuple(int(part[:_MOST_DIGITS]) if place % 2 else part for place, part in enumerate(parts))


# Python's sort leaves what is equal in the rows' own order.
_KEYS = {
    "TIME": lambda row: (row.made, row.variation),
    "NAME": lambda row: _natural(take_title(row)),
    # Errors are counted up to where it was lost, so that one who fell at once has hardly any.
    "ERROR": lambda row: (was_lost(row), row.error_m if row.error_m >= 0.0 else _UNKNOWN),
}
