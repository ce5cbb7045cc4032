# SPDX-License-Identifier: GPL-3.0-or-later
"""Critically damped springs in closed form: how a wish is approached, and how the mark of a transition fades."""

import numpy as np

from ...geometry.quaternions import Array

_LN2 = float(np.log(2.0))


def damping_of(half_life_s: float) -> float:
    """1/s of the spring that has gone half its way after about so long."""
    return 2.0 * _LN2 / max(half_life_s, 1e-4)


def decay_offset(offset: Array, rate: Array, damping: float, t_s: Array) -> Array:
    """What is left of an offset that began with a rate of change, after t_s; all of one shape, or broadcast."""
    found: Array = np.exp(-damping * t_s) * (offset + (rate + damping * offset) * t_s)
    return found


def decay_rate(offset: Array, rate: Array, damping: float, t_s: Array) -> Array:
    """How fast that changes."""
    found: Array = np.exp(-damping * t_s) * (rate - damping * (rate + damping * offset) * t_s)
    return found


def fade(damping: float, t_s: Array) -> Array:
    """The share of a difference that is left after t_s, which began at rest."""
    found: Array = np.exp(-damping * t_s) * (1.0 + damping * t_s)
    return found


def fade_integral(damping: float, t_s: Array) -> Array:
    """Seconds: the integral of ``fade`` from 0 to t_s."""
    found: Array = (2.0 - np.exp(-damping * t_s) * (2.0 + damping * t_s)) / damping
    return found
