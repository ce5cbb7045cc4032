# SPDX-License-Identifier: GPL-3.0-or-later
"""What was measured, in a few short sentences that an animator can use."""

import math
from collections.abc import Mapping

from ..motion.take import Measurement

MARKED = ("Lost", "Fell", "Feet", "Sinks")
"""How the sentences begin that say what ``marks`` say; 'Fell' in reports written before."""

# Less than this is not visible, in metres and in metres a second.
_SAME_M, _STANDING_M_S = 0.0005, 0.0005
# Soft contacts sink in a little; a character that moves away from its place does so by more than this.
_SUNK_M, _AWAY_M = 0.005, 0.05
# Between these a motion is as smooth as another.
_SMOOTHER, _JERKIER = 0.8, 1.25
# Everyday motions take less than this share of a body's strength.
_HARD = 0.25


def summarize_measurements(
    measurements: Mapping[str, Measurement], lost_at_s: float | None, fell: bool = False, own_clock: bool = False
) -> list[str]:
    """Sentences about a take, the most important first; what was not measured is not spoken of.

    lost_at_s: when it was first where its source never is; fell: it stayed down. Both as ``Take`` says.
    own_clock: it follows no source, but what its skills want, wherever on the ground that brings it.
    """
    numbers = {
        name: value
        for name, value in measurements.items()
        if isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)
    }
    sentences = (
        ""
        if lost_at_s is None
        else describe_loss(lost_at_s, fell, numbers.get("lost_s"), numbers.get("rejoined_at_s")),
        _closeness(numbers, lost_at_s is not None, "its skills" if own_clock else "the source"),
        "" if own_clock else _away(numbers),
        _skate(numbers, "its skills" if own_clock else "the source"),
        _depth(numbers),
        _smoothness(numbers),
        _strength(numbers),
    )
    return [sentence for sentence in sentences if sentence]


def describe_loss(
    lost_at_s: float | None, fell: bool, lost_s: float | None = None, rejoined_at_s: float | None = None
) -> str:
    """'Lost it at 5.2 s', and what became of it.

    lost_at_s: None where only that is known. lost_s: how long in all. rejoined_at_s: when it was back for good.
    """
    when = "" if lost_at_s is None else f" at {lost_at_s:.1f} s" if lost_at_s >= 0.05 else " at once"
    after = " and stayed down" if fell else f", for {lost_s:.1f} s" if lost_s is not None else ""
    back = "" if fell or rejoined_at_s is None else f"; back with it at {rejoined_at_s:.1f} s"
    return f"Lost it{when}{after}{back}"


def _closeness(numbers: Mapping[str, float], lost: bool, followed: str) -> str:
    error, most = numbers.get("joint_error_m"), numbers.get("joint_error_max_m")
    if error is None:
        return ""
    if error < _SAME_M and (most is None or most < _SAME_M):
        return f"Stayed with {followed} exactly" if not lost else ""
    at_most = "" if most is None else f", {_cm(most)} at most"
    return f"{'Until then stayed' if lost else 'Stayed'} with {followed}: {_cm(error)} on average{at_most}"


def _away(numbers: Mapping[str, float]) -> str:
    most = numbers.get("root_error_max_m", 0.0)
    return f"Moves up to {_cm(most)} away from the source's path" if most > _AWAY_M else ""


def _skate(numbers: Mapping[str, float], followed: str) -> str:
    skate, before = numbers.get("skate_m_s"), numbers.get("source_skate_m_s")
    if skate is None:
        return ""
    if skate < _STANDING_M_S:
        return "Feet stand still"
    source = "" if before is None else f" (in {followed} {_cm(before)}/s)"
    return f"Feet slide {_cm(skate)}/s{source}"


def _depth(numbers: Mapping[str, float]) -> str:
    most = numbers.get("penetration_max_m", 0.0)
    return f"Sinks up to {_cm(most)} into the ground" if most > _SUNK_M else ""


def _smoothness(numbers: Mapping[str, float]) -> str:
    ratio = numbers.get("jerk_ratio")
    if ratio is None:
        return ""
    if ratio > _JERKIER:
        return f"{ratio:.1f} times as jerky as the source"
    return "As smooth as the source" if ratio >= _SMOOTHER else "Smoother than the source"


def _strength(numbers: Mapping[str, float]) -> str:
    use = numbers.get("torque_use", 0.0)
    return f"Hard work: {use:.0%} of its strength on average" if use > _HARD else ""


def _cm(metres: float) -> str:
    """Centimetres with a digit where it matters; metres where they are many."""
    if metres >= 1.0:
        return f"{metres:.1f} m"
    return f"{100.0 * metres:.1f} cm" if metres < 0.0995 else f"{100.0 * metres:.0f} cm"
