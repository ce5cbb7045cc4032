# SPDX-License-Identifier: GPL-3.0-or-later
"""What a good motion is, as numbers and in words, and the benchmarks."""

from .measures import Measures, measured
from .words import summary

__all__ = ["Measures", "measured", "summary"]
