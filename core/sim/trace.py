# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated trajectory of a character beside its reference, for measuring the take."""

from dataclasses import dataclass

import numpy as np

from ..body import BodyModel
from ..errors import BadMotion
from ..geometry.quaternions import Array
from ..motion.skeleton import freeze_array
from .stage import Stage


@dataclass(frozen=True, eq=False)
class Trace:
    """K control steps of one character with L links, step ``i`` at ``i / fps`` seconds, with the reference beside them.

    character: its place among the stage's characters, whose body is ``body``. fps: moments a second (the control rate).
    wanted_pos: (K, L, 3) metres, wanted_quat_wxyz: (K, L, 4): the links' frames in the world as the source has them,
        after it was put on the ground. wanted_com: (K, 3) metres.
    seen_pos, seen_quat_wxyz, seen_com: the same, as simulated; not numbers from where physics blew up. Where a method
        holds feet for its take, the places are the take's; all that follows is of physics.
    contact_force: (K, L, 3) newtons in the world, the sum of what touches each link.
    torque: (K, nu) N·m of the servos and rate: (K, nu) rad/s of their joints, laid out as ``BodyModel`` says.
    begin_s: seconds of the take at the first moment, where only some of its frames were simulated.
    source_skate_m_s: foot skate of the source as it came, before its feet were planted; None where nobody measured it.
    away: ranges of moments in which it did not follow its source, because it had fallen and got up again.
    is_part: only some links were simulated, and the others kept the body where its source is: it cannot be lost.
    """

    body: BodyModel
    stage: Stage
    character: int
    fps: float
    wanted_pos: Array
    wanted_quat_wxyz: Array
    wanted_com: Array
    seen_pos: Array
    seen_quat_wxyz: Array
    seen_com: Array
    contact_force: Array
    torque: Array
    rate: Array
    begin_s: float = 0.0
    is_part: bool = False
    source_skate_m_s: float | None = None
    away: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if not (np.isfinite(self.fps) and self.fps > 0.0):
            raise BadMotion(f"A trace of {self.fps} moments a second is none")
        moments, links, dofs = len(self.wanted_pos), len(self.body.links), self.body.nu
        if not moments:
            raise BadMotion("A trace of no moments is none")
        rows = {
            **dict.fromkeys(("wanted_pos", "seen_pos", "contact_force"), (links, 3)),
            **dict.fromkeys(("wanted_quat_wxyz", "seen_quat_wxyz"), (links, 4)),
            **dict.fromkeys(("wanted_com", "seen_com"), (3,)),
            **dict.fromkeys(("torque", "rate"), (dofs,)),
        }
        for name, row in rows.items():
            array = np.array(getattr(self, name), dtype=float)
            if array.shape != (moments, *row):
                raise BadMotion(f"The trace's {name} has shape {array.shape}, not {(moments, *row)}")
            object.__setattr__(self, name, freeze_array(array))

    def __len__(self) -> int:
        return len(self.wanted_pos)

    @property
    def dt_s(self) -> float:
        """Seconds from moment to moment."""
        return 1.0 / self.fps
