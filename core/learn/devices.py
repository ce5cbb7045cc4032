# SPDX-License-Identifier: GPL-3.0-or-later
"""Where networks live, and how many threads they may use."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from ..errors import BadSettings

First = TypeVar("First")
Second = TypeVar("Second")


def chosen_device(wanted: str) -> str:
    """'cuda', 'mps' or 'cpu'; 'auto' is the best there is. One that is not there is refused."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wanted == "auto":
        return next(name for name, usable in there.items() if usable)
    if not there.get(wanted, False):
        usable = ", ".join(name for name, good in there.items() if good)
        raise BadSettings(f"PyTorch finds no '{wanted}' on this machine", f"Choose auto or one of: {usable}")
    return wanted


def cores(wanted: int) -> int:
    """How many threads to use: as many as wanted, or for 0 one each core that this process may run on."""
    if wanted > 0:
        return wanted
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def side_by_side(
    first: Callable[[], First], second: Callable[[], Second], threads: int, device: str
) -> tuple[First, Second]:
    """Both results, each worked out with half of the threads; one after the other where there is nothing to halve.

    Two networks that know nothing of each other keep two cores busier than one network on two threads does, for small
    ones wait more than they work.
    """
    if threads < 2 or device != "cpu":
        return on_threads(threads, first), on_threads(threads, second)

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.submit(on_threads, threads // 2, first), pool.submit(on_threads, threads // 2, second)
        return one.result(), other.result()


def on_threads(threads: int, work: Callable[[], First]) -> First:
    """The result, worked out by this thread of Python with so many of torch's."""
    torch.set_num_threads(threads)
    return work()
