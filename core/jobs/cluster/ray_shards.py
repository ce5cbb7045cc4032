# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollouts of a training on the nodes of a cluster: synchronous, each shard with its own randomness.

A shard that is lost is made anew elsewhere: it begins with its last known state, repeats what was asked of it since
with the weights of then, and so gives the very part that was lost.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ClusterError
from ...learn.episode_statistics import EpisodeStatistics
from ...learn.normaliser import RunningStatistics
from ...learn.rollout import Rollout
from ...learn.shards import EnvironmentMaker, PolicyWeights, Shard
from ...paths import is_there
from ..running import Cancelled
from .connection import Cluster, NodeLost, NodeObject
from .shard_host import COLUMNS
from .take_relay import RelayedJob

_REMEMBERED = 32  # parts that a lost shard repeats at most
_MOST_LOSSES = 50  # of one shard: then it is the shard that ends its nodes
_TOLD = 200  # parts whose seconds are told one by one
_SAY_S, _REPLACED_S = 3.0, 5.0
_WAIT_S = 0.2

_log = logging.getLogger(__name__)


class RayShards:
    """Spreads the shards of one job's training over a cluster; implements ``core.learn.shards.ShardSpreader``."""

    def __init__(self, cluster: Cluster, one: RelayedJob) -> None:
        self._cluster, self._job = cluster, one
        self._shards: list[RemoteShard] = []
        self._count = 0
        self.lost = 0
        self._parts, self._began = 0, time.perf_counter()
        self._seconds = dict.fromkeys(("collecting", "rollouts", "recovering"), 0.0)
        self._bytes = dict.fromkeys(("weights", "rollouts"), 0)
        self._each: list[dict[str, Any]] = []
        self._ended = self._began

    def spread(
        self, makers: Sequence[EnvironmentMaker], steps: int, generators: Sequence[np.random.Generator]
    ) -> Sequence[Shard]:
        """A shard on some node for each maker; waits for free cores."""
        words = [
            (self._cluster.put(maker), steps, self._cluster.put(rng), 1)
            for maker, rng in zip(makers, generators, strict=True)
        ]
        self._count = len(words)
        self._shards = [RemoteShard(self, one) for one in words]
        for shard in self._shards:
            shard.read_sizes()
        self._began = time.perf_counter()
        return self._shards

    def collect(self, shards: Sequence[Shard], rollout: Rollout, policy: PolicyWeights) -> None:
        """Fill the columns of all shards; returns when the last of them is there."""
        began = time.perf_counter()
        weights = self._cluster.put(policy)
        self._bytes["weights"] = policy.weights.nbytes + policy.statistics.mean.nbytes * 2 + policy.noise.nbytes
        for shard in self._shards:
            shard.begin_part(weights)
        spent, size = [], 0
        for shard in self._shards:
            part = shard.finish_part()
            columns = slice(shard.first, shard.first + shard.worlds)
            for name in COLUMNS:
                getattr(rollout, name)[:, columns] = part[name]
                size += part[name].nbytes
            rollout.next_observations[columns] = part["next_observations"]
            spent.append(round(part["seconds"], 4))
        self._bytes["rollouts"] = size
        self._parts += 1
        now = time.perf_counter()
        self._seconds["collecting"] += now - began
        self._seconds["rollouts"] += max(spent)
        self._each = [
            *self._each[1 - _TOLD :],
            {"between": round(began - self._ended, 4), "all": round(now - began, 4), "shards": spent},
        ]
        self._ended = now

    def describe(self) -> dict[str, Any]:
        """What it cost, in seconds and bytes.

        seconds: of collecting, of the slowest shard of each part, and of making lost shards anew. each: of the newest
        parts the seconds since the one before, of the whole part, and of each shard.
        """
        return {
            "shards": len(self._shards),
            "nodes": len({shard.place for shard in self._shards}),
            "parts": self._parts,
            "lost": self.lost,
            "seconds": {**self._seconds, "all": time.perf_counter() - self._began},
            "bytes": dict(self._bytes),
            "each": self._each,
        }

    def find_share(self) -> float:
        """Cores for each shard: one, or less where there are more shards than cores, which then take turns."""
        cores = sum(self._cluster.count_cores())
        return 1.0 if cores in (0, self._count) else 1.0 / max(1, -(-self._count // cores))

    def make(self, words: tuple[Any, ...], cores: float) -> NodeObject:
        """Begin to make a shard's object on some node."""
        return self._cluster.make("shard_host", "ShardHost", *words, cores=cores, learns=True)

    def wait(self, look: Callable[[], Any], said: str = "") -> Any:
        """What ``look`` gives once that is something; a cancel ends it. said: for what it waits, if that takes long."""
        since = time.monotonic()
        while not (found := look()):
            if is_there(self._job.job.cancel_file):
                raise Cancelled
            if said and time.monotonic() - since > _SAY_S:
                self._job.wait_for(said)
            time.sleep(0.02 if said else 0.0)
        if self._job.said:
            self._job.said = ""
        return found

    def answer(self, ref: Any) -> Any:
        """The answer of a node; ``NodeLost`` where there will be none."""
        return self.wait(lambda: self._cluster.wait(ref, time.monotonic() + _WAIT_S))[0]

    def note_loss(self, node: str, lost: NodeLost, seconds: float) -> None:
        """Count a shard that was made anew."""
        _log.warning("A shard on node %s was lost and made anew in %.1f s: %s", node, seconds, lost)
        self.lost += 1
        self._seconds["recovering"] += seconds


class RemoteShard:
    """A shard on some node; implements ``core.learn.shards.Shard``.

    What was asked of it since its last known state is kept, so that it can be made anew and be as it was.
    """

    def __init__(self, shards: RayShards, words: tuple[Any, ...]) -> None:
        self._shards, self._words, self._cores = shards, words, shards.find_share()
        self._remote, self._since_s = shards.make(words, self._cores), time.monotonic()
        self._known: dict[str, NDArray[Any]] | None = None
        self._since: list[tuple[Any, ...]] = []
        self._configured: dict[str, tuple[Any, ...]] = {}
        self._asked: Any = None
        self._losses = 0
        self.first = self.worlds = self.observation_size = self.action_size = 0
        self.statistics = RunningStatistics.empty(0)
        self.truncated: list[tuple[int, NDArray[np.intp], NDArray[np.float32]]] = []
        self._episodes: EpisodeStatistics | None = None

    @property
    def place(self) -> str:
        """The node that it is on."""
        return self._remote.place

    def read_sizes(self) -> None:
        """Learn how large it is."""
        self.worlds, self.observation_size, self.action_size = self._insist("sizes")

    def begin_part(self, weights: Any) -> None:
        """Ask for the next part."""
        self._since.append(("collect", weights))
        self._asked = self._remote.ask("collect", weights) if self._remote.node else None

    def finish_part(self) -> dict[str, Any]:
        """The part that was asked for, from wherever it could be had."""
        try:
            if self._asked is None:
                raise NodeLost("it was not there yet")
            part: dict[str, Any] = self._shards.answer(self._asked)
        except NodeLost as lost:
            part = self._make_anew(lost)
        self._asked = None
        self.statistics, self._episodes = part["statistics"], part["episodes"]
        self.truncated = [(step, self.first + worlds, rows) for step, worlds, rows in part["truncations"]]
        if len(self._since) > _REMEMBERED:
            self.state()
        return part

    def pop_statistics(self) -> EpisodeStatistics:
        """Of the newest part."""
        assert self._episodes is not None
        return self._episodes

    def reset(self) -> None:
        """New episodes in all of its worlds."""
        self._do("reset")

    def change(self, name: str, *words: Any) -> None:
        """Call a method of the environment that changes what ``state`` gives."""
        self._do("change", name, *words)

    def configure(self, name: str, *words: Any) -> None:
        """Call a method of the environment that sets what ``state`` does not know."""
        self._configured[name] = words
        self._insist("change", name, *words)

    def state(self) -> dict[str, NDArray[Any]]:
        """All of it as plain arrays; it can begin here if it is lost."""
        # Arrays from the object store live as long as somebody looks at them, and are read-only.
        self._known = {name: np.array(array) for name, array in self._insist("state").items()}
        self._since.clear()
        return self._known

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self._insist("restore", dict(arrays))
        self._known = dict(arrays)
        self._since.clear()

    def _do(self, *asked: Any) -> None:
        """Ask for something that changes its state."""
        self._since.append(asked)
        try:
            self._wait_for_place()
            self._shards.answer(self._remote.ask(*asked))
        except NodeLost as lost:
            self._make_anew(lost)

    def _insist(self, *asked: Any) -> Any:
        """Ask for something that does not, as often as it takes."""
        while True:
            try:
                self._wait_for_place()
                return self._shards.answer(self._remote.ask(*asked))
            except NodeLost as lost:
                self._make_anew(lost)

    def _wait_for_place(self) -> None:
        if not self._remote.node:
            self._shards.wait(self._is_placed, "Waiting for a free core of the cluster")

    def _is_placed(self) -> bool:
        if self._remote.is_ready():
            return True
        if time.monotonic() - self._since_s > _REPLACED_S:
            # A cluster that has lost nodes may have fewer cores than shards by now: then it goes beside others.
            self._since_s = time.monotonic()
            if self._losses and self._cores and self._shards.find_share() < 1.0:
                self._remote.close()
                self._cores = 0.0
                self._remote = self._shards.make(self._words, 0.0)
        return False

    def _make_anew(self, lost: NodeLost) -> Any:
        """Make it again, as it was; gives what the last thing that was asked of it gave."""
        began, node = time.perf_counter(), self._remote.node
        while True:
            self._losses += 1
            if self._losses > _MOST_LOSSES:
                raise ClusterError(f"A shard was lost {self._losses} times", "Look into Ray's logs on its nodes")
            self._remote.close()
            self._cores = self._shards.find_share()
            self._remote, self._since_s = self._shards.make(self._words, self._cores), time.monotonic()
            try:
                given = self._repeat()
                break
            except NodeLost as again:
                lost = again
        self._shards.note_loss(node, lost, time.perf_counter() - began)
        return given

    def _repeat(self) -> Any:
        self._wait_for_place()
        given = None
        if self._known is not None:
            self._shards.answer(self._remote.ask("restore", self._known))
        for name, words in self._configured.items():
            self._shards.answer(self._remote.ask("change", name, *words))
        for asked in self._since:
            given = self._shards.answer(self._remote.ask(*asked))
        return given
