# SPDX-License-Identifier: GPL-3.0-or-later
"""What is no motion, left out of a simulation: everything else on the stage keeps its moment."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...motion import Clip
from ...motion.cut_bridging import bridge_cuts
from ...motion.source_finding import SourceFinding
from ...motion.trim import MotionTrim, find_trim
from ...settings import setting
from ...sim.stage import Push, Stage
from ...sim.stage_parts import Finding


def trim_setting() -> Any:
    """The setting of every method that simulates a clip frame by frame."""
    return setting(
        "auto",
        "Trim",
        "What becomes of frames that are no motion: calibration poses and frozen frames at the ends, and cuts",
        choices=(
            (
                "auto",
                "Automatic",
                "Leave them out at the ends, where the take holds its first or last pose; bridge cuts",
            ),
            ("off", "Off", "Simulate every frame as it is"),
        ),
    )


def bridge_source(clip: Clip, choice: str) -> tuple[Clip, MotionTrim]:
    """The clip with its cuts bridged, as long as before, and what of it is to be simulated."""
    trim = find_trim(clip) if choice == "auto" else MotionTrim.whole(clip)
    return bridge_cuts(clip, trim.cuts), trim


def trim_findings(findings: Iterable[SourceFinding], name: str = "") -> tuple[Finding, ...]:
    """What was done, for the report; name: to whom, if not to the main character."""
    hint = "Set Trim to Off (--trim off) to have every frame simulated"
    whose = f"{name}: " if name else ""
    return tuple(Finding(one.kind, f"{whose}{one.message}. {one.hint}", hint) for one in findings)


def shift_stage(stage: Stage, later_s: float) -> Stage:
    """The stage for a clip that begins ``later_s`` after the source's first frame: pushes and props keep their moments.

    What a push did before is gone; a prop that was there before is there at once.
    """
    if not later_s:
        return stage
    pushes = [_shifted(push, later_s) for push in stage.pushes]
    props = tuple(replace(prop, appears_s=max(prop.appears_s - later_s, 0.0)) for prop in stage.props)
    return replace(stage, pushes=tuple(push for push in pushes if push is not None), props=props)


def _shifted(push: Push, later_s: float) -> Push | None:
    start_s, stop_s = push.start_s - later_s, push.start_s + push.duration_s - later_s
    return replace(push, start_s=max(start_s, 0.0), duration_s=stop_s - max(start_s, 0.0)) if stop_s > 1e-9 else None
