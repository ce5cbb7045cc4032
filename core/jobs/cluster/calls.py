# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls of a function that need nothing of each other, on the nodes of a cluster: a core each, as many as there are.

A call whose node is lost is made again elsewhere. Nothing is kept of calls: what must survive the caller is a job.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...errors import ClusterError
from .call_host import CallHost
from .connection import Cluster, NodeLost, NodeObject

_LOOK_S = 0.2
_MOST_LOSSES = 20  # of one call: then it is the call that ends its nodes

_log = logging.getLogger(__name__)


def spread_calls(
    cluster: Cluster, function: Callable[..., Any], calls: Sequence[Sequence[Any]]
) -> Iterator[tuple[int, Any]]:
    """(number of the call, what it returned), as they come. function: of a module of this package; calls: its words."""
    pool = _Pool(cluster, function, calls)
    try:
        yield from pool.run()
    finally:
        pool.close()


class _Pool:
    def __init__(self, cluster: Cluster, function: Callable[..., Any], calls: Sequence[Sequence[Any]]) -> None:
        self._cluster, self._calls = cluster, calls
        self._words = (function.__module__, function.__name__, 1)
        self._waiting, self._lost = deque(range(len(calls))), [0] * len(calls)
        self._free: list[NodeObject] = []
        self._coming = [self._make() for _ in range(min(len(calls), max(1, sum(cluster.count_cores()))))]
        self._doing: dict[NodeObject, tuple[int, Any]] = {}
        self._wasted = 0  # nodes that were lost before they could begin, one after the other

    def _make(self) -> NodeObject:
        return self._cluster.make("call_host", CallHost.__name__, *self._words)

    def close(self) -> None:
        """Give back what was taken of the cluster."""
        for host in (*self._coming, *self._free, *self._doing):
            host.close()

    def run(self) -> Iterator[tuple[int, Any]]:
        """Until all calls have returned."""
        while self._waiting or self._doing:
            self._cluster.check()
            self._welcome()
            while self._free and self._waiting:
                host, number = self._free.pop(), self._waiting.popleft()
                self._doing[host] = number, host.ask("call", *self._calls[number])
            for host, (number, asked) in list(self._doing.items()):
                try:
                    found = self._cluster.wait(asked, 0.0)
                except NodeLost as lost:
                    self._replace(host, number, lost)
                    continue
                if found is not None:
                    del self._doing[host]
                    self._free.append(host)
                    yield number, found[0]
            self._cluster.wait_for_any([asked for _, asked in self._doing.values()], _LOOK_S)

    def _welcome(self) -> None:
        for host in list(self._coming):
            try:
                if not host.is_ready():
                    continue
                self._free.append(host)
                self._wasted = 0
            except NodeLost as lost:
                _log.warning("A node is lost: %s", lost)
                host.close()
                self._wasted += 1
                if self._wasted >= _MOST_LOSSES:
                    raise ClusterError(
                        f"{self._wasted} nodes were lost before they could begin", "Look into Ray's logs"
                    ) from lost
                self._coming.append(self._make())
            self._coming.remove(host)

    def _replace(self, host: NodeObject, number: int, lost: NodeLost) -> None:
        _log.warning("A node is lost: %s", lost)
        self._lost[number] += 1
        if self._lost[number] >= _MOST_LOSSES:
            raise ClusterError(f"{self._lost[number]} nodes were lost at the same call", "Look into Ray's logs")
        del self._doing[host]
        host.close()
        self._waiting.appendleft(number)
        self._coming.append(self._make())
