# SPDX-License-Identifier: GPL-3.0-or-later
"""What a good motion is, in numbers and in words."""

from .measures import TakeMeasures, measure_take
from .sentences import summarize_measurements

__all__ = ["TakeMeasures", "measure_take", "summarize_measurements"]
