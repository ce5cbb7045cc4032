# SPDX-License-Identifier: GPL-3.0-or-later
"""LQR on the graph: linear feedback and a quadratic value function for deviations, which guide the sampling.

Linear models tell what a fragment does with small deviations, as in ``core/control/tracking``. Here place and heading
are projected out of them, because a graph leads anywhere, and Riccati's recursion goes backward around the graph until
it converges. The paper has no such guide: its first iteration samples around zero policies, with more samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....geometry.quaternions import Array, to_matrix
from ....sim.engine import World
from ...tracking.facing import rotate_pose_about_z, twist_angle
from ...tracking.linear_dynamics import fit_linear_models, reference_fragments
from ...tracking.tracking_error import TrackingError
from ..model.features import Features
from ..model.fragments import FragmentReference, Indices, Track

_AROUND = 0.5  # how far from the track linear models are fitted, in units of the tracking error
_ACTION_COST = 100.0  # of a radian, squared and shared by all actions
_SWEEPS = 60
_CONVERGED = 1e-3


@dataclass(frozen=True, eq=False)
class GraphFeedback:
    """LQR feedback and value function at the starts of F fragments.

    gains: (F, A, nx) and feedforward: (F, A): action = feedforward + gains @ deviation. value_hessians: (F, nx, nx),
    value_gradients: (F, nx): the cost to go of a deviation d is 0.5 d' hessian d + gradient d, but for a constant.
    """

    gains: Array
    feedforward: Array
    value_hessians: Array
    value_gradients: Array

    def actions(self, fragments: Indices, deviation: Array) -> Array:
        """(N, A) LQR actions for deviations (N, nx) at the starts of fragments (N,)."""
        return np.asarray(self.feedforward[fragments] + np.einsum("nax,nx->na", self.gains[fragments], deviation))

    def value(self, fragments: Indices, deviation: Array) -> Array:
        """(N,) the value function of deviations (N, nx) at the starts of fragments (N,)."""
        curved = np.einsum("nxy,ny->nx", self.value_hessians[fragments], deviation)
        return np.asarray(np.sum((0.5 * curved + self.value_gradients[fragments]) * deviation, axis=-1))


def deviations(track: Track, tracking_error: TrackingError, fragments: Indices, qpos: Array, qvel: Array) -> Array:
    """(N, nx) deviations of states from the starts of fragments (N,), without place and heading."""
    base = track.qpos[fragments, 0]
    heading = twist_angle(qpos[:, 3:7], base[:, 3:7])
    posed, moved = rotate_pose_about_z(-heading, qpos, qvel)
    posed[:, :2] = base[:, :2]
    pose = track.space.difference(base, posed)
    rates = moved - track.rates[fragments, 0]
    return np.concatenate([pose[:, tracking_error.dofs], rates[:, tracking_error.dofs]], axis=-1)


def solve_graph_lqr(
    track: Track,
    reference: FragmentReference,
    world: World,
    features: Features,
    successors: Sequence[Sequence[int]],
    rng: np.random.Generator,
) -> tuple[GraphFeedback, TrackingError]:
    """LQR feedback by the servos of the action, and the tracking error that deviations are measured by.

    Fragments without successors are left out, and their value function is zero.
    """
    tracking_error = TrackingError(reference)
    tracking_error.servos = features.action_dofs
    some = np.array([index for index, after in enumerate(successors) if after], dtype=np.int64)
    models = fit_linear_models(world, tracking_error, reference_fragments(tracking_error, some), _AROUND, rng)
    size = tracking_error.nx + 3 * len(track.body.links)
    jacobians, base = (
        np.zeros((len(track), size, tracking_error.nx + len(tracking_error.servos))),
        np.zeros((len(track), size)),
    )
    weights = np.array(tracking_error.weights)
    weights[:2] = 0.0
    onward: list[list[tuple[tuple[Array, Array], int]]] = [[] for _ in range(len(track))]
    for index, fragment in enumerate(some):
        projection = _place_and_heading_projection(track, tracking_error, reference, int(fragment))
        jacobians[fragment], base[fragment] = projection @ models.jacobian[index], projection @ models.bias[index]
        onward[fragment] = [
            (_deviation_transform(track, tracking_error, int(fragment), after), after) for after in successors[fragment]
        ]
    return _iterate_riccati(jacobians, base, weights, tracking_error.nx, onward), tracking_error


def _iterate_riccati(
    jacobians: Array, base: Array, weights: Array, nx: int, onward: Sequence[Sequence[tuple[tuple[Array, Array], int]]]
) -> GraphFeedback:
    """Riccati's recursion around the graph: backward sweeps until gains converge; successors' values are averaged."""
    count, acts = len(jacobians), jacobians.shape[-1] - nx
    gains, feedforward = np.zeros((count, acts, nx)), np.zeros((count, acts))
    value_hessians, value_gradients = np.zeros((count, nx, nx)), np.zeros((count, nx))
    price = _ACTION_COST / acts * np.eye(acts)
    for _ in range(_SWEEPS):
        before = np.array(gains)
        for fragment in (index for index in range(count - 1, -1, -1) if onward[index]):
            hessian, gradient = np.zeros((nx, nx)), np.zeros(nx)
            for (turn, shift), after in onward[fragment]:
                share = 1.0 / len(onward[fragment])
                hessian += share * turn.T @ value_hessians[after] @ turn
                gradient += share * turn.T @ (value_gradients[after] + value_hessians[after] @ shift)
            step, drop = jacobians[fragment, :nx], base[fragment, :nx]
            weighted = jacobians[fragment].T * weights
            square = weighted @ jacobians[fragment] + step.T @ hessian @ step
            line = weighted @ base[fragment] + step.T @ (hessian @ drop + gradient)
            found = np.linalg.solve(square[nx:, nx:] + price, np.column_stack([square[nx:, :nx], line[nx:]]))
            gains[fragment], feedforward[fragment] = -found[:, :-1], -found[:, -1]
            bent = square[:nx, :nx] - square[:nx, nx:] @ found[:, :-1]
            value_hessians[fragment] = 0.5 * (bent + bent.T)
            value_gradients[fragment] = line[:nx] - square[:nx, nx:] @ found[:, -1]
        if np.abs(gains - before).max() < _CONVERGED:
            break
    return GraphFeedback(gains, feedforward, value_hessians, value_gradients)


def _place_and_heading_projection(
    track: Track, tracking_error: TrackingError, reference: FragmentReference, fragment: int
) -> Array:
    """(ny, ny) projection of the models' outputs at a fragment's end that removes place and heading."""
    frame = int(reference.frames_of(fragment)[-1])
    half, links = tracking_error.nx // 2, len(track.body.links)
    upward = to_matrix(track.qpos[fragment, -1, 3:7])[2]  # the world's up in the root's frame
    matrix = np.eye(tracking_error.nx + 3 * links)
    yaw = np.zeros(len(matrix))
    yaw[3:6] = upward
    matrix[:2] = 0.0
    matrix[3:6] -= np.outer(upward, yaw)
    speed = track.rates[fragment, -1, :3]
    matrix[half : half + 3] -= np.outer([-speed[1], speed[0], 0.0], yaw)
    places = reference.rows.link_pos[0, frame] - track.qpos[fragment, -1, :3]
    for link in range(links):
        at = tracking_error.nx + 3 * link
        matrix[at : at + 2, :2] -= np.eye(2)
        matrix[at : at + 3] -= np.outer([-places[link, 1], places[link, 0], 0.0], yaw)
    return matrix


def _deviation_transform(track: Track, tracking_error: TrackingError, fragment: int, after: int) -> tuple[Array, Array]:
    """From a deviation at a fragment's end to one at the start of the next: (nx, nx) and a shift (nx,)."""
    heading = twist_angle(track.qpos[fragment, -1, 3:7], track.qpos[after, 0, 3:7])
    cos, sin = np.cos(-heading), np.sin(-heading)
    turn, half = np.eye(tracking_error.nx), tracking_error.nx // 2
    turn[half : half + 2, half : half + 2] = [[cos, -sin], [sin, cos]]
    end = (track.qpos[fragment, -1][None], track.rates[fragment, -1][None])
    return turn, deviations(track, tracking_error, np.array([after]), *end)[0]
