# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a stage's balls and hinges are in the rows of poses, velocities and servo targets."""

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, to_rotation_vector
from .engine import character_offsets
from .stage import Stage

Indices = NDArray[np.int64]


class StageLayout:
    """Index arrays over all characters of a stage, in the order of ``BodyModel``.

    nq, nv, nu, links: totals. ball_q: (B, 4), ball_v: (B, 3), ball_u: (B, 3), hinge_q, hinge_v, hinge_u: (H,).
    ball_links: (B,), hinge_links: (H,): which link, over all characters, hangs on it.
    characters: (L,) the character that each link belongs to.
    kp, kd, torque_limit: (nu,).
    """

    def __init__(self, stage: Stage) -> None:
        first = character_offsets(stage)
        self.nq, self.nv, self.nu = (int(first[name][-1]) for name in ("nq", "nv", "nu"))
        self.links = int(first["links"][-1])
        bodies = [character.body for character in stage.characters]
        balls: list[tuple[int, int, int, int]] = []
        hinges: list[tuple[int, int, int, int]] = []
        for index, body in enumerate(bodies):
            for number, link in enumerate(body.links[1:], start=1):
                q = int(first["nq"][index] + body.qpos_starts[number])
                v = int(first["nv"][index] + body.qvel_starts[number])
                u = int(first["nu"][index] + body.qvel_starts[number] - 6)
                (balls if link.joint.kind == "ball" else hinges).append((int(first["links"][index]) + number, q, v, u))
        ball = np.array(balls, dtype=np.int64).reshape(-1, 4)
        hinge = np.array(hinges, dtype=np.int64).reshape(-1, 4)
        self.ball_links: Indices = ball[:, 0]
        self.ball_q: Indices = ball[:, 1:2] + np.arange(4)
        self.ball_v: Indices = ball[:, 2:3] + np.arange(3)
        self.ball_u: Indices = ball[:, 3:4] + np.arange(3)
        self.hinge_links, self.hinge_q, self.hinge_v, self.hinge_u = hinge.T
        self.characters: Indices = np.repeat(np.arange(len(bodies)), [len(body.links) for body in bodies])
        self.kp, self.kd, self.torque_limit = (
            np.concatenate([np.zeros(0), *(body.per_dof(name) for body in bodies if body.nu)])
            for name in ("kp", "kd", "torque_limit")
        )

    def targets_of(self, qpos: Array) -> Array:
        """(..., nu) the servo targets that hold poses (..., nq) where they are."""
        targets = np.zeros((*qpos.shape[:-1], self.nu))
        targets[..., self.ball_u] = to_rotation_vector(qpos[..., self.ball_q])
        targets[..., self.hinge_u] = qpos[..., self.hinge_q]
        return targets
