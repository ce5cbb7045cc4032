# SPDX-License-Identifier: GPL-3.0-or-later
"""What a policy in training does by now, as something to look at: a few seconds, now and then, for little time."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ...motion import Clip
from ...sim.engine import Engine
from ...sim.stage import Character, Stage
from .course import CONTROL_FPS, FILM_STEPS, Course
from .playing import Act, played

_EVERY_S = 5.0
_SHARE = 0.03  # of the time of training, at most
_SHORTEST_S, _LONGEST_S = 2.0, 4.0

Shown = tuple[dict[str, NDArray[Any]], dict[str, Any]]
"""link_pos: (K, L, 3) metres, link_quat_wxyz: (K, L, 4) in the clip's own world, and bones, fps and samples."""


class Rehearsal:
    """Knows when it is time to look at the policy again, and what is then to be seen.

    Use it in a ``with``: it has a world of its own, so that nothing of the training knows of it. clock: seconds.
    """

    def __init__(
        self, course: Course, widths: Array, source: Clip, engine: Engine, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._course, self._widths, self._source, self._clock = course, widths, source, clock
        self._world = engine.compile(Stage((Character(course.body),)), 1, threads=1)
        self._next = clock() + _EVERY_S
        if course.cyclic:
            self._seconds = float(np.clip(2.0 * course.duration_s, _SHORTEST_S, _LONGEST_S))
        else:
            self._seconds = min(course.duration_s, _LONGEST_S)

    def __enter__(self) -> "Rehearsal":
        return self

    def __exit__(self, *_: object) -> None:
        self._world.close()

    @property
    def is_time(self) -> bool:
        """Whether the last look is some seconds ago; how many depends on what it took."""
        return self._clock() >= self._next

    def looked_at(self, act: Act, samples: int) -> Shown:
        """What a policy does that has seen so many samples, from where the source begins, also after a fall."""
        began = self._clock()
        film = played(self._course, self._widths, act, self._world, self._source, self._seconds).film
        pos, quat = (
            values[0, ::FILM_STEPS].astype(np.float32) for values in (film.rows.link_pos, film.rows.link_quat_wxyz)
        )
        whole = np.isfinite(pos).all(axis=(1, 2)) & np.isfinite(quat).all(axis=(1, 2))
        count = len(whole) if whole.all() else int(np.argmin(whole))  # until it blew up
        now = self._clock()
        self._next = now + max(_EVERY_S, (now - began) / _SHARE)
        bones = [link.bone for link in self._course.body.links]
        about = {"bones": bones, "fps": CONTROL_FPS, "samples": samples}
        return {"link_pos": pos[:count], "link_quat_wxyz": quat[:count]}, about
