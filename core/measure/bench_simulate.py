# SPDX-License-Identifier: GPL-3.0-or-later
"""What is simulated to see whether Sinew keeps what it promises: the stock clips, on both engines."""

import math
from collections.abc import Iterator, Sequence

from ..errors import BadSettings
from ..motion import Clip
from ..motion.io import stock
from ..motion.loops import is_cyclic, looped
from .bench_run import Case

LEAST_S = 5.0
"""Cyclic clips are played on until they last this long."""


def stock_cases(names: Sequence[str], seeds: Sequence[int], engine: str, group: str = "stock") -> Iterator[Case]:
    """The named stock clips, or all, each with every seed."""
    known = stock.names()
    if unknown := [name for name in names if name not in known]:
        raise BadSettings(f"There is no stock clip '{unknown[0]}'", f"Choose from: {', '.join(known)}")
    for name in names or known:
        clip = long_enough(stock.load(name))
        for seed in seeds:
            yield Case(group, name, clip, seed, engine)


def long_enough(clip: Clip, least_s: float = LEAST_S) -> Clip:
    """A cyclic clip looped to at least ``least_s`` seconds; any other as it is."""
    if clip.duration_s >= least_s or not is_cyclic(clip):
        return clip
    return looped(clip, math.ceil(least_s / clip.duration_s - 1e-9))
