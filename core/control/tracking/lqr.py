# SPDX-License-Identifier: GPL-3.0-or-later
"""Where to sample and what a state is worth: the best linear feedback for the fragments' models, found backwards.

Greedy samples do not know that a leg must be under the body half a second from now. The guide does: it is the solution
of the whole rest of the clip, as far as the linear models reach.
"""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from .linear_dynamics import LinearModels
from .tracking_error import TrackingError

# What a radian of offset costs, squared and shared by all servos. Much less makes feedback so stiff that it shakes.
_OFFSETS = 100.0
MAX_OFFSET = 0.6
"""Radians from the reference's targets that the guide asks for at most."""


@dataclass(frozen=True, eq=False)
class LqrSolution:
    """Feedback and worth for fragments; F of them.

    gains: (F, nu, nx) and aims: (F, nu): offsets = aims + gains @ deviation at the start.
    curves: (F + 1, nx, nx) and slants: (F + 1, nx): what a deviation costs from there to the end, but for a constant.
    """

    gains: Array
    aims: Array
    curves: Array
    slants: Array

    def since(self, index: int) -> "LqrSolution":
        """The guide for fragments from ``index`` on."""
        return LqrSolution(self.gains[index:], self.aims[index:], self.curves[index:], self.slants[index:])

    def offsets(self, fragment: int, deviation: Array) -> Array:
        """(N, nu) radians for state deviations (N, nx) at the fragment's start."""
        return np.clip(self.aims[fragment] + deviation @ self.gains[fragment].T, -MAX_OFFSET, MAX_OFFSET)

    def worth(self, fragment: int, deviation: Array) -> Array:
        """(N,) what the rest of the clip will cost from state deviations (N, nx) at the fragment's start."""
        curve, slant = self.curves[fragment], self.slants[fragment]
        return np.asarray(0.5 * np.einsum("ni,ij,nj->n", deviation, curve, deviation) + deviation @ slant)


def solve_lqr(
    gauge: TrackingError, models: LinearModels, curve: Array | None = None, slant: Array | None = None
) -> LqrSolution:
    """The guide for fragments' models, in their order.

    curve: (nx, nx), slant: (nx,): what deviations cost after the last one; nothing, if not given.
    """
    count, nx, nu, servos = len(models.base), gauge.nx, gauge.nu, gauge.servos
    gains, aims = np.zeros((count, nu, nx)), np.zeros((count, nu))
    curves, slants = np.zeros((count + 1, nx, nx)), np.zeros((count + 1, nx))
    if curve is not None and slant is not None:
        curves[-1], slants[-1] = curve, slant
    price = _OFFSETS / max(len(servos), 1) * np.eye(len(servos))
    for index in range(count - 1, -1, -1):
        slopes, base = models.slopes[index], models.base[index]
        step, drop = slopes[:nx], base[:nx]
        weighted = slopes.T * gauge.weights
        onward = step.T @ curves[index + 1]
        square = weighted @ slopes + onward @ step
        line = weighted @ base + onward @ drop + step.T @ slants[index + 1]
        found = np.linalg.solve(square[nx:, nx:] + price, np.column_stack([square[nx:, :nx], line[nx:]]))
        gains[index, servos], aims[index, servos] = -found[:, :-1], -found[:, -1]
        bent = square[:nx, :nx] - square[:nx, nx:] @ found[:, :-1]
        curves[index] = 0.5 * (bent + bent.T)
        slants[index] = line[:nx] - square[:nx, nx:] @ found[:, -1]
    return LqrSolution(gains, aims, curves, slants)
