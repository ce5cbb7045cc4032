# SPDX-License-Identifier: GPL-3.0-or-later
"""Backward LQR pass over the fragments' linear models: feedback gains and value function.

Greedy samples do not know that a leg must be under the body half a second from now. The value function does: it is
the optimal cost of the whole rest of the clip, as far as the linear models reach.
"""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from .linear_dynamics import LinearModels
from .tracking_error import TrackingError

# Control cost R: of a radian of offset, squared and shared by all servos. Much less makes feedback so stiff that it
# shakes.
_CONTROL_COST = 100.0
MAX_OFFSET = 0.6
"""Radians from the reference's targets that the feedback asks for at most."""


@dataclass(frozen=True, eq=False)
class LqrSolution:
    """Time-varying feedback and quadratic value function for F fragments.

    gains: (F, nu, nx) and feedforward: (F, nu): offsets = feedforward + gains @ state error at the start.
    value_hessian: (F + 1, nx, nx) and value_gradient: (F + 1, nx): the cost-to-go of a state error, but for a constant.
    """

    gains: Array
    feedforward: Array
    value_hessian: Array
    value_gradient: Array

    def since(self, index: int) -> "LqrSolution":
        """The solution for fragments from ``index`` on."""
        return LqrSolution(
            self.gains[index:], self.feedforward[index:], self.value_hessian[index:], self.value_gradient[index:]
        )

    def offsets(self, fragment: int, error: Array) -> Array:
        """(N, nu) radians for state errors (N, nx) at the fragment's start."""
        return np.clip(self.feedforward[fragment] + error @ self.gains[fragment].T, -MAX_OFFSET, MAX_OFFSET)

    def value(self, fragment: int, error: Array) -> Array:
        """(N,) cost-to-go from state errors (N, nx) at the fragment's start to the end of the clip."""
        hessian, gradient = self.value_hessian[fragment], self.value_gradient[fragment]
        return np.asarray(0.5 * np.einsum("ni,ij,nj->n", error, hessian, error) + error @ gradient)


def solve_lqr(
    tracking_error: TrackingError,
    models: LinearModels,
    final_hessian: Array | None = None,
    final_gradient: Array | None = None,
) -> LqrSolution:
    """Riccati recursion over fragments' models, in their order.

    final_hessian: (nx, nx), final_gradient: (nx,): the value function after the last one; zero if not given.
    """
    count, nx, nu, servos = len(models.bias), tracking_error.nx, tracking_error.nu, tracking_error.servos
    gains, feedforward = np.zeros((count, nu, nx)), np.zeros((count, nu))
    hessians, gradients = np.zeros((count + 1, nx, nx)), np.zeros((count + 1, nx))
    if final_hessian is not None and final_gradient is not None:
        hessians[-1], gradients[-1] = final_hessian, final_gradient
    control_cost = _CONTROL_COST / max(len(servos), 1) * np.eye(len(servos))
    for index in range(count - 1, -1, -1):
        jacobian, bias = models.jacobian[index], models.bias[index]
        step, drop = jacobian[:nx], bias[:nx]
        weighted = jacobian.T * tracking_error.weights
        onward = step.T @ hessians[index + 1]
        square = weighted @ jacobian + onward @ step
        line = weighted @ bias + onward @ drop + step.T @ gradients[index + 1]
        found = np.linalg.solve(square[nx:, nx:] + control_cost, np.column_stack([square[nx:, :nx], line[nx:]]))
        gains[index, servos], feedforward[index, servos] = -found[:, :-1], -found[:, -1]
        bent = square[:nx, :nx] - square[:nx, nx:] @ found[:, :-1]
        hessians[index] = 0.5 * (bent + bent.T)
        gradients[index] = line[:nx] - square[:nx, nx:] @ found[:, -1]
    return LqrSolution(gains, feedforward, hessians, gradients)
