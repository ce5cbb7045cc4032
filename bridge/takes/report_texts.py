# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurements, durations and methods in words, for reports, panels and the command line."""

import math
from typing import Any

from ...core.control import registry
from ...core.errors import SinewError

# Longer endings first; a length that matters to an animator is one in centimetres.
_UNITS = (
    ("_m_s3", 1.0, " m/s³"),
    ("_m_s", 100.0, " cm/s"),
    ("_j_kg", 1.0, " J/kg"),
    ("_kg", 1.0, " kg"),
    ("_nm", 1.0, " N·m"),
    ("_n", 1.0, " N"),
    ("_m", 100.0, " cm"),
    ("_s", 1.0, " s"),
)


def measure_text(name: str, value: Any) -> tuple[str, str]:
    """A measurement for people: ('joint_error_m', 0.0321) is ('Joint error', '3.21 cm')."""
    if isinstance(value, bool):
        return _words(name), "yes" if value else "no"
    if not isinstance(value, float | int):
        return _words(name), str(value)
    if "_use" in name or name == "stood":  # shares
        return _words(name), f"{100.0 * value:.0f} %"
    if name.endswith("_ratio"):
        return _words(name), f"{value:.3g}×"
    for ending, factor, unit in _UNITS:
        if name.endswith(ending):
            return _words(name.removesuffix(ending)), f"{value * factor:.3g}{unit}"
    return _words(name), f"{value:.4g}"


def time_text(seconds: float) -> str:
    """A duration for people: '8 s', '2 min 05 s', '3 h 10 min'."""
    whole = max(0, math.ceil(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def method_label(method: str) -> str:
    """The method's label; its name where this Sinew does not know it."""
    try:
        return registry.get_method(method).label
    except SinewError:
        return method


def _words(name: str) -> str:
    text = name.replace("_", " ").strip()
    return text[:1].upper() + text[1:]
