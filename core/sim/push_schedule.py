# SPDX-License-Identifier: GPL-3.0-or-later
"""When the stage's pushes act, so that every engine gives the same impulse."""

import numpy as np
from numpy.typing import NDArray

from ..errors import BadMotion
from ..geometry.quaternions import Array
from .engine import character_offsets
from .stage import Stage


class PushSchedule:
    """The pushes of a stage by time.

    A push that begins or ends within a physics step acts with the share of the step that it covers: force times
    duration is the impulse given, whatever the time step.
    """

    def __init__(self, stage: Stage) -> None:
        first = character_offsets(stage)["links"]
        links = []
        for push in stage.pushes:
            if not 0 <= push.character < len(stage.characters):
                raise BadMotion(f"A push on '{push.bone}' is for character {push.character}, who is not on the stage")
            link = stage.characters[push.character].body.link_of(push.bone)
            if link < 0:
                raise BadMotion(f"A push acts on '{push.bone}', which has no body", "Push a bone that is simulated")
            links.append(int(first[push.character]) + link)
        self.links: NDArray[np.int64] = np.array(links, dtype=np.int64)
        self.forces: Array = np.array([push.force for push in stage.pushes], dtype=float).reshape(-1, 3)
        self.start_s: Array = np.array([push.start_s for push in stage.pushes], dtype=float)
        self.end_s: Array = self.start_s + np.array([push.duration_s for push in stage.pushes], dtype=float)
        self._count = int(first[-1])

    def forces_at(self, time_s: Array, steps: int, dt_s: float) -> Array | None:
        """(N, steps, L, 3) newtons at the links' centres of mass for the physics steps after ``time_s`` (N,).

        None where no push acts in that time, which is nearly always.
        """
        if not len(self.links):
            return None
        begin = np.asarray(time_s)[:, None, None] + dt_s * np.arange(steps)[:, None]
        share = (np.minimum(begin + dt_s, self.end_s) - np.maximum(begin, self.start_s)) / dt_s
        share = np.where(share > 1e-9, share, 0.0)
        if not share.any():
            return None
        forces = np.zeros((*share.shape[:2], self._count, 3))
        for index, link in enumerate(self.links):
            forces[:, :, link] += share[:, :, index, None] * self.forces[index]
        return forces
