# SPDX-License-Identifier: GPL-3.0-or-later
"""An object on a node of a cluster that is made anew, as it was, where its node is lost.

It begins with its last known state and repeats what was asked of it since, with the very words of then: so it gives the
very part that was lost.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import ClusterError
from .connection import NodeLost, NodeObject

_REMEMBERED = 32  # parts that a lost object repeats at most
_MOST_LOSSES = 50  # of one object: then it is the object that ends its nodes
_REPLACED_S = 5.0


class Nodes(Protocol):
    """Where such objects are made, and waited for."""

    def find_share(self) -> float:
        """Cores for each object: one, or less where there are more objects than cores, which then take turns."""

    def make(self, words: tuple[Any, ...], cores: float) -> NodeObject:
        """Begin to make an object on some node."""

    def wait(self, look: Callable[[], Any], said: str = "") -> Any:
        """What ``look`` gives once that is something. said: for what it waits, if that takes long."""

    def answer(self, ref: Any) -> Any:
        """The answer of a node; ``NodeLost`` where there will be none."""

    def note_loss(self, node: str, lost: NodeLost, seconds: float) -> None:
        """Count an object that was made anew."""


class RemoteObject:
    """An object on some node that gives one part after the other; implements ``core.learn.shards.Collector``.

    words: what it is made of. Methods of the object are ``collect``, ``change``, ``state`` and ``restore``.
    """

    def __init__(self, nodes: Nodes, words: tuple[Any, ...]) -> None:
        self._nodes, self._words, self._cores = nodes, words, nodes.find_share()
        self._remote, self._since_s = nodes.make(words, self._cores), time.monotonic()
        self._known: dict[str, NDArray[Any]] | None = None
        self._since: list[tuple[Any, ...]] = []
        self._configured: dict[str, tuple[Any, ...]] = {}
        self._asked: Any = None
        self._losses = self._size = 0  # bytes of its newest part

    @property
    def place(self) -> str:
        """The node that it is on."""
        return self._remote.place

    def collect(self, *words: Any) -> Any:
        """The next part, and nothing else meanwhile."""
        self.begin_part(*words)
        return self.finish_part()["part"]

    def begin_part(self, *words: Any) -> None:
        """Ask for the next part."""
        self._since.append(("collect", *words))
        self._asked = self._remote.ask("collect", *words, size=self._size) if self._remote.node else None

    def finish_part(self) -> dict[str, Any]:
        """The part that was asked for, from wherever it could be had."""
        try:
            if self._asked is None:
                raise NodeLost("it was not there yet")
            part: dict[str, Any] = self._nodes.answer(self._asked)
        except NodeLost as lost:
            part = self._make_anew(lost)
        self._asked, self._size = None, count_bytes(part)
        if len(self._since) > _REMEMBERED:
            self.state()
        return part

    def configure(self, name: str, *words: Any) -> None:
        """Call a method that sets what ``state`` does not know."""
        self._configured[name] = words
        self.insist("change", name, *words)

    def state(self) -> dict[str, NDArray[Any]]:
        """All of it as plain arrays; it can begin here if it is lost."""
        # Arrays from the object store live as long as somebody looks at them, and are read-only.
        self._known = {name: np.array(array) for name, array in self.insist("state").items()}
        self._since.clear()
        return self._known

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self.insist("restore", dict(arrays))
        self._known = dict(arrays)
        self._since.clear()

    def close(self) -> None:
        """End it, and give its cores back."""
        self._remote.close()

    def do(self, *asked: Any) -> None:
        """Ask for something that changes its state."""
        self._since.append(asked)
        try:
            self.wait_for_place()
            self._nodes.answer(self._remote.ask(*asked))
        except NodeLost as lost:
            self._make_anew(lost)

    def insist(self, *asked: Any) -> Any:
        """Ask for something that does not, as often as it takes."""
        while True:
            try:
                self.wait_for_place()
                return self._nodes.answer(self._remote.ask(*asked))
            except NodeLost as lost:
                self._make_anew(lost)

    def wait_for_place(self) -> None:
        """Wait until it is there."""
        if not self._remote.node:
            self._nodes.wait(self._is_placed, "Waiting for a free core of the cluster")

    def _is_placed(self) -> bool:
        if self._remote.is_ready():
            return True
        if time.monotonic() - self._since_s > _REPLACED_S:
            # A cluster that has lost nodes may have fewer cores than objects by now: then it goes beside others.
            self._since_s = time.monotonic()
            if self._losses and self._cores and self._nodes.find_share() < 1.0:
                self._remote.close()
                self._cores = 0.0
                self._remote = self._nodes.make(self._words, 0.0)
        return False

    def _make_anew(self, lost: NodeLost) -> Any:
        """Make it again, as it was; gives what the last thing that was asked of it gave."""
        began, node = time.perf_counter(), self._remote.node
        while True:
            self._losses += 1
            if self._losses > _MOST_LOSSES:
                raise ClusterError(f"A shard was lost {self._losses} times", "Look into Ray's logs on its nodes")
            self._remote.close()
            self._cores = self._nodes.find_share()
            self._remote, self._since_s = self._nodes.make(self._words, self._cores), time.monotonic()
            try:
                given = self._repeat()
                break
            except NodeLost as again:
                lost = again
        self._nodes.note_loss(node, lost, time.perf_counter() - began)
        return given

    def _repeat(self) -> Any:
        self.wait_for_place()
        given = None
        if self._known is not None:
            self._nodes.answer(self._remote.ask("restore", self._known))
        for name, words in self._configured.items():
            self._nodes.answer(self._remote.ask("change", name, *words))
        for asked in self._since:
            given = self._nodes.answer(self._remote.ask(*asked))
        return given


def count_bytes(value: Any) -> int:
    """Bytes of the arrays in something that travels; what else it says is little."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, Mapping):
        value = value.values()
    elif hasattr(value, "__dict__"):
        value = vars(value).values()
    elif not isinstance(value, (list, tuple)):
        return 0
    return sum(map(count_bytes, value))
