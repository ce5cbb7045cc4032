# SPDX-License-Identifier: GPL-3.0-or-later
"""Frame rates that files mean: a rate that only rounding keeps from a common one is that one."""

_COMMON = (24, 25, 30, 48, 50, 60, 90, 100, 120, 125, 144, 150, 200, 240)
_ROUNDING = 1e-3


def snap_frame_rate(fps: float) -> float:
    """The common rate that is meant, in frames a second, or the rate as it is."""
    near = min(_COMMON, key=lambda rate: abs(rate - fps))
    return float(near) if abs(near - fps) < _ROUNDING * near else fps
