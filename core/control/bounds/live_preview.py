# SPDX-License-Identifier: GPL-3.0-or-later
"""A live preview of a policy in training: a few seconds of its motion, now and then, for little of the time."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ...motion import Clip
from ...sim.engine import Engine
from ...sim.stage import Character, Stage
from .closed_loop import Act
from .playback import play_policy
from .reference_trajectory import CONTROL_FPS, FILM_STEPS, ReferenceTrajectory

_EVERY_S = 5.0
_SHARE = 0.03  # of the time of training, at most
_SHORTEST_S, _LONGEST_S = 2.0, 4.0

PreviewFrames = tuple[dict[str, NDArray[Any]], dict[str, Any]]
"""link_pos: (K, L, 3) metres, link_quat_wxyz: (K, L, 4) in the clip's own world, and bones, fps and samples."""


class PolicyPreview:
    """Says when a preview is due, and records it.

    Use it in a ``with``: it has a world of its own, so that training is not affected. clock: seconds.
    """

    def __init__(
        self,
        reference: ReferenceTrajectory,
        widths: Array,
        source: Clip,
        engine: Engine,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._course, self._widths, self._source, self._clock = reference, widths, source, clock
        self._world = engine.compile(Stage((Character(reference.body),)), 1, threads=1)
        self._next = clock() + _EVERY_S
        if reference.cyclic:
            self._seconds = float(np.clip(2.0 * reference.duration_s, _SHORTEST_S, _LONGEST_S))
        else:
            self._seconds = min(reference.duration_s, _LONGEST_S)

    def __enter__(self) -> "PolicyPreview":
        return self

    def __exit__(self, *_: object) -> None:
        self._world.close()

    @property
    def is_due(self) -> bool:
        """Whether the last preview is some seconds ago; how many depends on what it took."""
        return self._clock() >= self._next

    def record(self, act: Act, samples: int) -> PreviewFrames:
        """The motion of a policy after so many samples, from where the source begins, also after a fall."""
        began = self._clock()
        film = play_policy(self._course, self._widths, act, self._world, self._source, self._seconds).film
        pos, quat = (
            values[0, ::FILM_STEPS].astype(np.float32) for values in (film.rows.link_pos, film.rows.link_quat_wxyz)
        )
        whole = np.isfinite(pos).all(axis=(1, 2)) & np.isfinite(quat).all(axis=(1, 2))
        count = len(whole) if whole.all() else int(np.argmin(whole))  # until physics diverged
        now = self._clock()
        self._next = now + max(_EVERY_S, (now - began) / _SHARE)
        bones = [link.bone for link in self._course.body.links]
        about = {"bones": bones, "fps": CONTROL_FPS, "samples": samples}
        return {"link_pos": pos[:count], "link_quat_wxyz": quat[:count]}, about
