# SPDX-License-Identifier: GPL-3.0-or-later
"""A rehearsal of a policy in training: a few seconds of its motion, now and then, for little of the time."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...sim.engine import Engine
from ...sim.stage import Character, Stage
from .controller import TrackingController
from .playing import PolicyLoop
from .reference_streams import CONTROL_FPS, ReferenceStreams

_EVERY_S = 10.0
_SHARE = 0.02  # of the time of training, at most
_SECONDS = 4.0


class PolicyRehearsal:
    """Says when a rehearsal is due, and records it; it has a world of its own, so that training is not affected."""

    def __init__(self, streams: ReferenceStreams, engine: Engine) -> None:
        self._streams = streams
        self._world = engine.compile(Stage((Character(streams.body),)), 1, threads=1)
        self._next, self._turn = time.monotonic() + _EVERY_S, 0

    def __enter__(self) -> "PolicyRehearsal":
        return self

    def __exit__(self, *_: object) -> None:
        self._world.close()

    @property
    def is_due(self) -> bool:
        """Whether the last one is some seconds ago; how many depends on what it took."""
        return time.monotonic() >= self._next

    def record(self, controller: TrackingController, samples: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The motion of a policy after so many samples on the next stream, also after a fall.

        link_pos: (K, L, 3) metres, link_quat_wxyz: (K, L, 4), and bones, fps and samples.
        """
        began = time.monotonic()
        first = self._streams.starts[self._turn % (len(self._streams.starts) - 1)]
        self._turn += 1
        loop = PolicyLoop(controller, self._streams, self._world, np.array([first]))
        pos, quat = [], []
        for _ in range(round(_SECONDS * CONTROL_FPS)):
            loop.step()
            pos.append(loop.rows.link_pos[0, -1].astype(np.float32))
            quat.append(loop.rows.link_quat_wxyz[0, -1].astype(np.float32))
        whole = np.isfinite(np.array(pos)).all(axis=(1, 2))
        count = len(whole) if whole.all() else int(np.argmin(whole))  # until physics diverged
        now = time.monotonic()
        self._next = now + max(_EVERY_S, (now - began) / _SHARE)
        bones = [link.bone for link in self._streams.body.links]
        shown = {"link_pos": np.array(pos[:count]), "link_quat_wxyz": np.array(quat[:count])}
        return shown, {"bones": bones, "fps": CONTROL_FPS, "samples": samples}
