# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recurrent network learns motion from, and how hard: plain arrays and settings, without torch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .recurrent import Floats32

WINDOW = 48
"""Frames of a window of truncated backpropagation."""

APPROACH = 8
"""Frames before what is asked for is due in which what is left of the way to it is made up for."""
HOLD = 0.3
"""Share of the angle to a heading that is made up for in each frame after it was due."""


def approach_weight(due: NDArray[np.int64]) -> Floats32:
    """(...,) how much the way that is left counts with so many frames to go: 1 at 0, and 0 from ``APPROACH`` on."""
    return np.where(due >= 0, np.clip(1.0 - due / APPROACH, 0.0, 1.0), 0.0).astype(np.float32)


@dataclass(frozen=True, eq=False)
class ShownMotion:
    """What is learned from: T frames, sequence after sequence.

    states: (T, S) normalised. controls: (T, U), of the step that leads to the frame. starts: (K + 1,) first frames of
    sequences, then T. weights: (S,) how much a deviation of each number counts.
    begins: (A,) frames after which something new is asked for: where a character that plays begins, and half of the
    streams as well. due: (T,) frames that are left after a step until what is asked for is done, -1 after that.
    targets: (G, P) poses to come to. target_of: (T,) which of them each step is on its way to, -1 for none.
    """

    states: Floats32
    controls: Floats32
    starts: NDArray[np.int64]
    weights: Floats32
    begins: NDArray[np.int64]
    due: NDArray[np.int64]
    targets: Floats32
    target_of: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MotionColumns:
    """What numbers of a state are, for the losses of contacts and of links.

    mean, scale: (S,) a number is normalised by.
    step: 3 columns, metres forwards and left, and radians, of the root since the frame before. joints: first column of
    the joints' places, 3 each. contacts: first column of them, one of each of ``feet``, which are joints.
    links: (P, 2) joints that are joined. lengths: (P,) metres. pose: first column of what a target has, and the one
    after its last. heading, place: first columns of controls that say whether there is one, and where (cosine and sine
    of the angle that is left; metres forwards and to the left).
    """

    mean: Floats32
    scale: Floats32
    step: int
    joints: int
    joint_count: int
    contacts: int
    feet: tuple[int, ...]
    links: NDArray[np.int64]
    lengths: Floats32
    pose: tuple[int, int]
    heading: int
    place: int


@dataclass(frozen=True)
class RecurrentSettings:
    """units, layers: of the network. streams: sequences side by side (the paper: 128). rate: of Adam, at the beginning.

    updates: over which the rate is annealed. again: share of streams that begin elsewhere in each window.
    contact, rigid, drift: weights of equations 15 and 16, and of how far the root is from where it was shown (metres,
    radians), against equation 14.
    shown_first, shown_last: chance that in a frame a stream goes on from what was shown rather than from its own, at
    the beginning and from ``settled`` of all updates on. noise: added to what was shown then, in standard deviations.
    """

    units: int = 192
    layers: int = 2
    streams: int = 64
    rate: float = 1e-3
    updates: int = 4000
    again: float = 0.1
    contact: float = 20.0
    rigid: float = 20.0
    drift: float = 0.2
    noise: float = 0.05
    shown_first: float = 0.5
    shown_last: float = 0.03
    settled: float = 0.5
