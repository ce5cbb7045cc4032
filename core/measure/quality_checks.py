# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a take was lost, skates or sinks in: what an animator looks for first, as marks with a few words each."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..motion.take import Measurement
from .sentences import describe_loss

Fault = Literal["fell", "skates", "sinks"]
"""'fell' stands for lost in whatever way: marks are drawn by these names."""

SKATES_M_S = 0.02
"""Standing feet that slide faster than this are seen to: what the benchmark's takes are held to (``goals.SKATE``)."""
SINKS_M = 0.02
"""Deeper than this in the ground is more than the give of soft contacts, which is about half a centimetre."""


@dataclass(frozen=True)
class QualityCheck:
    """One of the three questions about a take. bad: None where it was not measured. words: the answer."""

    fault: Fault
    bad: bool | None
    words: str


def check_quality(
    measurements: Mapping[str, Measurement], lost: bool, lost_at_s: float | None = None, fell: bool = False
) -> tuple[QualityCheck, ...]:
    """The answers to all three questions, always in the same order: is it up, do its feet hold, is it on the ground.

    lost: it was where its source never is, since lost_at_s; fell: it stayed down.
    """
    return (_loss(measurements, lost, lost_at_s, fell), _skate(measurements), _depth(measurements))


def _loss(measurements: Mapping[str, Measurement], lost: bool, at_s: float | None, fell: bool) -> QualityCheck:
    if not lost:
        return QualityCheck("fell", False, "Stayed up")
    lost_s, rejoined_at_s = (_number(measurements, name) for name in ("lost_s", "rejoined_at_s"))
    return QualityCheck("fell", True, describe_loss(at_s, fell, lost_s, rejoined_at_s))


def _skate(measurements: Mapping[str, Measurement]) -> QualityCheck:
    speed, before = _number(measurements, "skate_m_s"), _number(measurements, "source_skate_m_s")
    if speed is None:
        return QualityCheck("skates", None, "Feet: not measured")
    if speed <= SKATES_M_S:
        return QualityCheck("skates", False, f"Feet stand still ({_cm(speed)}/s)")
    return QualityCheck(
        "skates", True, f"Feet slide {_cm(speed)}/s" + ("" if before is None else f" (source {_cm(before)}/s)")
    )


def _depth(measurements: Mapping[str, Measurement]) -> QualityCheck:
    most = _number(measurements, "penetration_max_m")
    if most is None:
        return QualityCheck("sinks", None, "Ground: not measured")
    if most <= SINKS_M:
        return QualityCheck("sinks", False, f"Stayed on the ground ({_cm(most)} deep)")
    return QualityCheck("sinks", True, f"Sinks {_cm(most)} into the ground")


def _number(measurements: Mapping[str, Measurement], name: str) -> float | None:
    value = measurements.get(name)
    if isinstance(value, bool) or not isinstance(value, float | int) or not math.isfinite(value):
        return None
    return float(value)


def _cm(metres: float) -> str:
    return f"{100.0 * metres:.1f} cm"
