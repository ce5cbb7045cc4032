# SPDX-License-Identifier: GPL-3.0-or-later
"""What a deviation will cost on the way through a graph: foresight for guided sampling.

The sampler's linear models tell what a fragment does with small deviations. Here place and heading are taken out of
them, because a graph leads anywhere, and the best feedback is found backwards around the graph until it settles.
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

_AROUND = 0.5  # how far around the track its surroundings are explored, of the gauge's distances
_PRICE = 100.0  # of a radian of action, squared and shared by all of them
_SWEEPS = 60
_SETTLED = 1e-3


@dataclass(frozen=True, eq=False)
class GraphFeedback:
    """Feedback and worth of deviations (nx,) at the starts of F fragments.

    gains: (F, A, nx). curves: (F, nx, nx), slants: (F, nx): 0.5 d' curve d + slant d is what d will cost from there on.
    """

    gains: Array
    aims: Array
    curves: Array
    slants: Array

    def actions(self, fragments: Indices, deviation: Array) -> Array:
        """(N, A) the best linear feedback for deviations (N, nx)."""
        return np.asarray(self.aims[fragments] + np.einsum("nax,nx->na", self.gains[fragments], deviation))

    def worth(self, fragments: Indices, deviation: Array) -> Array:
        """(N,) what deviations (N, nx) at the starts of fragments (N,) will cost."""
        curved = np.einsum("nxy,ny->nx", self.curves[fragments], deviation)
        return np.asarray(np.sum((0.5 * curved + self.slants[fragments]) * deviation, axis=-1))


def deviations(track: Track, gauge: TrackingError, fragments: Indices, qpos: Array, qvel: Array) -> Array:
    """(N, nx) how far states are from the starts of fragments (N,), whatever their place and heading."""
    base = track.qpos[fragments, 0]
    heading = twist_angle(qpos[:, 3:7], base[:, 3:7])
    posed, moved = rotate_pose_about_z(-heading, qpos, qvel)
    posed[:, :2] = base[:, :2]
    pose = track.space.difference(base, posed)
    rates = moved - track.rates[fragments, 0]
    return np.concatenate([pose[:, gauge.dofs], rates[:, gauge.dofs]], axis=-1)


def solve_graph_lqr(
    track: Track,
    reference: FragmentReference,
    world: World,
    features: Features,
    successors: Sequence[Sequence[int]],
    rng: np.random.Generator,
) -> tuple[GraphFeedback, TrackingError]:
    """The best feedback by the action's servos in the graph, and the gauge of its deviations.

    Fragments that nothing follows are left out, and cost nothing.
    """
    gauge = TrackingError(reference)
    gauge.servos = features.acts
    some = np.array([index for index, after in enumerate(successors) if after], dtype=np.int64)
    models = fit_linear_models(world, gauge, reference_fragments(gauge, some), _AROUND, rng)
    size = gauge.nx + 3 * len(track.body.links)
    slopes, base = np.zeros((len(track), size, gauge.nx + len(gauge.servos))), np.zeros((len(track), size))
    weights = np.array(gauge.weights)
    weights[:2] = 0.0
    onward: list[list[tuple[tuple[Array, Array], int]]] = [[] for _ in range(len(track))]
    for index, fragment in enumerate(some):
        level = _place_and_heading_projection(track, gauge, reference, int(fragment))
        slopes[fragment], base[fragment] = level @ models.jacobian[index], level @ models.bias[index]
        onward[fragment] = [
            (_deviation_transform(track, gauge, int(fragment), after), after) for after in successors[fragment]
        ]
    return _iterate_riccati(slopes, base, weights, gauge.nx, onward), gauge


def _iterate_riccati(
    slopes: Array, base: Array, weights: Array, nx: int, onward: Sequence[Sequence[tuple[tuple[Array, Array], int]]]
) -> GraphFeedback:
    """Riccati's recursion around the graph; where ways part, what comes after is their average."""
    count, acts = len(slopes), slopes.shape[-1] - nx
    gains, aims = np.zeros((count, acts, nx)), np.zeros((count, acts))
    curves, slants = np.zeros((count, nx, nx)), np.zeros((count, nx))
    price = _PRICE / acts * np.eye(acts)
    for _ in range(_SWEEPS):
        before = np.array(gains)
        for fragment in (index for index in range(count - 1, -1, -1) if onward[index]):
            curve, slant = np.zeros((nx, nx)), np.zeros(nx)
            for (turn, shift), after in onward[fragment]:
                share = 1.0 / len(onward[fragment])
                curve += share * turn.T @ curves[after] @ turn
                slant += share * turn.T @ (slants[after] + curves[after] @ shift)
            step, drop = slopes[fragment, :nx], base[fragment, :nx]
            weighted = slopes[fragment].T * weights
            square = weighted @ slopes[fragment] + step.T @ curve @ step
            line = weighted @ base[fragment] + step.T @ (curve @ drop + slant)
            found = np.linalg.solve(square[nx:, nx:] + price, np.column_stack([square[nx:, :nx], line[nx:]]))
            gains[fragment], aims[fragment] = -found[:, :-1], -found[:, -1]
            bent = square[:nx, :nx] - square[:nx, nx:] @ found[:, :-1]
            curves[fragment] = 0.5 * (bent + bent.T)
            slants[fragment] = line[:nx] - square[:nx, nx:] @ found[:, -1]
        if np.abs(gains - before).max() < _SETTLED:
            break
    return GraphFeedback(gains, aims, curves, slants)


def _place_and_heading_projection(
    track: Track, gauge: TrackingError, reference: FragmentReference, fragment: int
) -> Array:
    """(ny, ny) takes place and heading out of what is seen at a fragment's end."""
    frame = int(reference.frames_of(fragment)[-1])
    half, links = gauge.nx // 2, len(track.body.links)
    upward = to_matrix(track.qpos[fragment, -1, 3:7])[2]  # the world's up in the root's own frame
    matrix = np.eye(gauge.nx + 3 * links)
    yaw = np.zeros(len(matrix))
    yaw[3:6] = upward
    matrix[:2] = 0.0
    matrix[3:6] -= np.outer(upward, yaw)
    speed = track.rates[fragment, -1, :3]
    matrix[half : half + 3] -= np.outer([-speed[1], speed[0], 0.0], yaw)
    places = reference.rows.link_pos[0, frame] - track.qpos[fragment, -1, :3]
    for link in range(links):
        at = gauge.nx + 3 * link
        matrix[at : at + 2, :2] -= np.eye(2)
        matrix[at : at + 3] -= np.outer([-places[link, 1], places[link, 0], 0.0], yaw)
    return matrix


def _deviation_transform(track: Track, gauge: TrackingError, fragment: int, after: int) -> tuple[Array, Array]:
    """How a deviation at a fragment's end is one at the start of the next: (nx, nx) and what is added (nx,)."""
    heading = twist_angle(track.qpos[fragment, -1, 3:7], track.qpos[after, 0, 3:7])
    cos, sin = np.cos(-heading), np.sin(-heading)
    turn, half = np.eye(gauge.nx), gauge.nx // 2
    turn[half : half + 2, half : half + 2] = [[cos, -sin], [sin, cos]]
    end = (track.qpos[fragment, -1][None], track.rates[fragment, -1][None])
    return turn, deviations(track, gauge, np.array([after]), *end)[0]
