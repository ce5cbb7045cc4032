# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recurrent network learns motion from, and how hard: plain arrays and settings, without torch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .recurrent import Floats32

WINDOW = 48
"""Frames of a window of truncated backpropagation."""


@dataclass(frozen=True, eq=False)
class ShownMotion:
    """What is learned from: T frames, sequence after sequence.

    states: (T, S) normalised. controls: (T, U), of the step that leads to the frame. starts: (K + 1,) first frames of
    sequences, then T. weights: (S,) how much a deviation of each number counts.
    """

    states: Floats32
    controls: Floats32
    starts: NDArray[np.int64]
    weights: Floats32


@dataclass(frozen=True, eq=False)
class MotionColumns:
    """What numbers of a state are, for the losses of contacts and of links.

    mean, scale: (S,) a number is normalised by.
    step: 3 columns, metres forwards and to the left, and radians, of the root since the frame before. joints: first
    column of the joints' places, 3 each. contacts: first column of them, one of each of ``feet``, which are joints.
    links: (P, 2) joints that are joined. lengths: (P,) metres.
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


@dataclass(frozen=True)
class RecurrentSettings:
    """units, layers: of the network. streams: sequences side by side (the paper: 128). rate: of Adam, at the beginning.

    updates: over which the rate is annealed. again: share of streams that begin elsewhere in each window.
    contact, rigid: weights of equations 15 and 16, against equation 14.
    """

    units: int = 192
    layers: int = 2
    streams: int = 64
    rate: float = 1e-3
    updates: int = 4000
    again: float = 0.1
    contact: float = 20.0
    rigid: float = 20.0
    noise: float = 0.05
