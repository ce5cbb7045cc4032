# SPDX-License-Identifier: GPL-3.0-or-later
"""The device of the networks, and how many threads they use."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import torch

from ..errors import BadSettings

First = TypeVar("First")
Second = TypeVar("Second")
_WAIT_S = 0.2


def choose_device(wanted: str) -> str:
    """'cuda', 'mps' or 'cpu'; 'auto' is the first that PyTorch finds. One that it does not find is refused."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wanted == "auto":
        return next(name for name, usable in there.items() if usable)
    if not there.get(wanted, False):
        usable = ", ".join(name for name, good in there.items() if good)
        raise BadSettings(f"PyTorch finds no '{wanted}' on this machine", f"Choose auto or one of: {usable}")
    return wanted


def run_side_by_side(
    first: Callable[[], First],
    second: Callable[[], Second],
    threads: int,
    device: str,
    *,
    while_waiting: Callable[[], None] = lambda: None,
) -> tuple[First, Second]:
    """Both results, each computed with half of the threads; one after the other where there is nothing to halve.

    while_waiting: called in this thread now and then while both are computed in others.

    Two independent networks keep two cores busier than one network on two threads does: small matrix products do not
    scale with threads.
    """
    if threads < 2 or device != "cpu":
        return run_with_threads(threads, first), run_with_threads(threads, second)

    with ThreadPoolExecutor(2) as pool:
        one, other = (
            pool.submit(run_with_threads, threads // 2, first),
            pool.submit(run_with_threads, threads // 2, second),
        )
        both: list[Future[Any]] = [one, other]
        while wait(both, _WAIT_S).not_done:
            while_waiting()
        return one.result(), other.result()


def run_with_threads(threads: int, work: Callable[[], First]) -> First:
    """The result, computed by this Python thread with so many threads of torch."""
    torch.set_num_threads(threads)
    return work()
