# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirroring of observations and actions in the second stride of a symmetric gait.

The policy then has one stride to learn instead of two, from twice as many samples.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...body.mirroring import BodyMirror
from ...geometry.quaternions import Array

_ROUNDING = 1e-12


class GaitMirror:
    """The mirror of a body on a reference along ``direction`` (2,).

    effectors: (E,) the links of the end effectors.
    """

    def __init__(self, body: BodyModel, direction: Array, effectors: NDArray[np.int64]) -> None:
        mirror = BodyMirror(body)
        across = np.array([-direction[1], direction[0], 0.0]) / np.linalg.norm(direction)
        flip = np.eye(3) - 2.0 * np.outer(across, across)
        rates = mirror.velocity(np.eye(body.nv)).T
        self._actions = _sparse(mirror.offsets)
        partners = [list(effectors).index(mirror.links[tip]) for tip in effectors]
        swapped = np.zeros((3 * len(effectors), 3 * len(effectors)))
        for own, other in enumerate(partners):
            swapped[3 * other : 3 * other + 3, 3 * own : 3 * own + 3] = flip
        joints = rates[6:, 6:]
        self._observations = _sparse(_blocks(flip, flip, -flip, -np.eye(1), rates[3:6, 3:6], joints, joints, swapped))

    def mirror_actions(self, rows: Array) -> Array:
        """(n, nu) the mirror images of corrections (n, nu)."""
        return np.asarray((self._actions @ rows.T).T)

    def mirror_observations(self, rows: Array) -> Array:
        """(n, S) mirror images of observations without the phase (n, S), see ``RelativeKinematics.observations``."""
        return np.asarray((self._observations @ rows.T).T)


def _sparse(matrix: Array) -> Any:
    """The matrix as a sparse array of scipy's, without rounding.

    A dense product would be no slower by itself, but be given to threads of the linear algebra library, which then keep
    a core busy with waiting for the next one: a tenth of all the time that learning took.
    """
    from scipy.sparse import csr_array

    return csr_array(np.where(np.abs(matrix) > _ROUNDING, matrix, 0.0))


def _blocks(*parts: Array) -> Array:
    """The square matrices along the diagonal of one."""
    size, at = sum(len(part) for part in parts), 0
    found = np.zeros((size, size))
    for part in parts:
        found[at : at + len(part), at : at + len(part)] = part
        at += len(part)
    return found
