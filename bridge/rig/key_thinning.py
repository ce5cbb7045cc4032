# SPDX-License-Identifier: GPL-3.0-or-later
"""Which frames of a bone's channels are keyed, where not all of them have to be. Nothing here needs Blender."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.geometry.quaternions import Array
from ...core.motion import Skeleton
from ...core.motion.key_reduction import choose_keys, compute_reaches, measure_channel


@dataclass(frozen=True, eq=False)
class KeyThinning:
    """How few keys there may be.

    tolerance_m: metres by which a channel may move what its bone carries. reaches: by bone, metres from its head to the
    farthest that it carries. unit_m: metres a unit of a bone's location.
    """

    tolerance_m: float
    reaches: Mapping[str, float]
    unit_m: float

    @classmethod
    def of(cls, skeleton: Skeleton, tolerance_m: float, unit_m: float) -> "KeyThinning | None":
        """None where every frame is keyed."""
        if tolerance_m <= 0.0:
            return None
        reaches = compute_reaches(skeleton).tolist()
        return cls(tolerance_m, dict(zip(skeleton.names, reaches, strict=True)), unit_m)

    def choose(self, bone: str, curves: Sequence[tuple[str, int, Array]]) -> dict[str, NDArray[np.int64]]:
        """By path the frames to be keyed of curves (path, component, values (T,)); a channel is keyed as a whole."""
        found = {}
        for path in dict.fromkeys(path for path, _, _ in curves):
            values = np.stack([values for other, _, values in curves if other == path], axis=-1)
            distance = measure_channel(path.rpartition(".")[2], self.reaches[bone], self.unit_m)
            found[path] = choose_keys(values, self.tolerance_m, distance)
        return found
