# SPDX-License-Identifier: GPL-3.0-or-later
"""What a good motion is, as numbers and in words, and the benchmarks."""

from .measures import Measures, measured

__all__ = ["Measures", "measured"]
