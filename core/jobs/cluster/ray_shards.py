# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollouts of a training on the nodes of a cluster: synchronous, each shard with its own randomness.

A shard that is lost is made anew elsewhere (``remote_object.py``) before the update goes on.
"""

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learn.episode_statistics import EpisodeStatistics
from ...learn.normaliser import RunningStatistics
from ...learn.rollout import Rollout
from ...learn.shards import Collector, CollectorMaker, EnvironmentMaker, PolicyWeights, Shard
from ...paths import is_there
from ..running import Cancelled
from .connection import Cluster, NodeLost, NodeObject
from .remote_object import RemoteObject, count_bytes
from .shard_host import COLUMNS
from .take_relay import RelayedJob

_TOLD = 200  # parts whose seconds are told one by one
_SAY_S = 3.0
_WAIT_S = 0.2

_log = logging.getLogger(__name__)


class RayShards:
    """Spreads the shards of one job's training over a cluster; implements ``core.learn.shards.ShardSpreader``.

    A job may train one thing after the other: the shards of the next one take the place of those before.
    """

    def __init__(self, cluster: Cluster, one: RelayedJob) -> None:
        self._cluster, self._job = cluster, one
        self._objects: list[RemoteObject] = []
        self._count = 0
        self.lost = 0
        self._parts = 0
        self._seconds = dict.fromkeys(("collecting", "rollouts", "learning", "recovering", "all"), 0.0)
        self._bytes = dict.fromkeys(("weights", "rollouts"), 0)
        self._each: list[dict[str, Any]] = []
        self._ended = time.perf_counter()
        self._counted: float | None = None  # until when all seconds are counted

    def spread(
        self, makers: Sequence[EnvironmentMaker], steps: int, generators: Sequence[np.random.Generator]
    ) -> Sequence[Shard]:
        """A shard on some node for each maker; waits for free cores."""
        words = [
            ("ShardHost", function, 1, steps, self._cluster.put(rng), *sent)
            for (function, sent), rng in zip(self._send(makers), generators, strict=True)
        ]
        shards = [RemoteShard(self, each) for each in words]
        self._objects = list(shards)
        for shard in shards:
            shard.read_sizes()
        self._ended, self._counted = time.perf_counter(), None
        return shards

    def place(self, makers: Sequence[CollectorMaker]) -> Sequence[Collector]:
        """A collector on some node for each maker; waits for free cores."""
        self._objects = [
            RemoteObject(self, ("CollectorHost", function, 1, *sent)) for function, sent in self._send(makers)
        ]
        for one in self._objects:
            one.wait_for_place()
        self._ended, self._counted = time.perf_counter(), None
        return self._objects

    def _send(
        self, makers: Sequence[EnvironmentMaker] | Sequence[CollectorMaker]
    ) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
        """Let go of the shards before; gives makers as functions and their words, of which none is sent twice."""
        self.close()
        self._count, sent = len(makers), dict[int, Any]()
        found = []
        for maker in makers:
            function, words = (
                (maker.func, maker.args) if isinstance(maker, partial) and not maker.keywords else (maker, ())
            )
            for word in words:
                if id(word) not in sent:
                    sent[id(word)] = self._cluster.put(word)
            found.append((function, tuple(sent[id(word)] for word in words)))
        return found

    def collect(self, shards: Sequence[Shard], rollout: Rollout, policy: PolicyWeights) -> None:
        """Fill the columns of all shards; returns when the last of them is there."""
        for shard, part in zip(shards, self._collect(policy), strict=True):
            columns = slice(shard.first, shard.first + shard.worlds)
            for name in COLUMNS:
                getattr(rollout, name)[:, columns] = part[name]
            rollout.next_observations[columns] = part["next_observations"]

    def collect_parts(self, collectors: Sequence[Collector], *words: Any) -> list[Any]:
        """The next part of each collector, all told the same; returns when the last of them is there."""
        return [part["part"] for part in self._collect(*words)]

    def _collect(self, *words: Any) -> list[dict[str, Any]]:
        began = time.perf_counter()
        sent = [self._cluster.put(word) for word in words]
        for one in self._objects:
            one.begin_part(*sent)
        parts = [one.finish_part() for one in self._objects]
        spent = [round(part["seconds"], 4) for part in parts]
        now = time.perf_counter()
        if not self._parts:
            self._bytes = {"weights": count_bytes(words), "rollouts": sum(map(count_bytes, parts))}
        self._parts += 1
        self._count_until(now, began)
        self._seconds["collecting"] += now - began
        self._seconds["rollouts"] += max(spent)
        self._each = [
            *self._each[1 - _TOLD :],
            {"between": round(began - self._ended, 4), "all": round(now - began, 4), "shards": spent, "learning": 0.0},
        ]
        self._ended = now
        return parts

    def _count_until(self, now: float, began: float) -> None:
        self._seconds["all"] += now - (began if self._counted is None else self._counted)
        self._counted = now

    def note_learning(self, seconds: float) -> None:
        """Count what is learned between two parts."""
        self._seconds["learning"] += seconds
        if self._each:
            self._each[-1]["learning"] = round(seconds, 4)
        self._count_until(time.perf_counter(), self._ended)

    def close(self) -> None:
        """Give back what was taken of the cluster."""
        for one in self._objects:
            one.close()

    def describe(self) -> dict[str, Any]:
        """What it cost, in seconds and bytes.

        seconds: of collecting, of the slowest shard of each part, of learning, of making lost shards anew, and of all
        from the first part to the end of the last learning. each: of the newest parts the seconds since the one
        before, of the whole part, of each shard, and of learning from it.
        """
        return {
            "shards": len(self._objects),
            "nodes": len({one.place for one in self._objects}),
            "parts": self._parts,
            "lost": self.lost,
            "seconds": dict(self._seconds),
            "bytes": dict(self._bytes),
            "each": self._each,
        }

    def find_share(self) -> float:
        """Cores for each shard: one, or less where there are more shards than cores, which then take turns."""
        cores = sum(self._cluster.count_cores())
        return 1.0 if cores in (0, self._count) else 1.0 / max(1, -(-self._count // cores))

    def make(self, words: tuple[Any, ...], cores: float) -> NodeObject:
        """Begin to make a shard's object on some node. words: its class and what it is made of."""
        return self._cluster.make("shard_host", *words, cores=cores, learns=True)

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


class RemoteShard(RemoteObject):
    """A shard of a ``Trainer`` on some node; implements ``core.learn.shards.Shard``."""

    def __init__(self, shards: RayShards, words: tuple[Any, ...]) -> None:
        super().__init__(shards, words)
        self.first = self.worlds = self.observation_size = self.action_size = 0
        self.statistics = RunningStatistics.empty(0)
        self.truncated: list[tuple[int, NDArray[np.intp], NDArray[np.float32]]] = []
        self._episodes: EpisodeStatistics | None = None

    def read_sizes(self) -> None:
        """Learn how large it is."""
        self.worlds, self.observation_size, self.action_size = self.insist("sizes")

    def finish_part(self) -> dict[str, Any]:
        """The part that was asked for, from wherever it could be had."""
        part = super().finish_part()
        self.statistics, self._episodes = part["statistics"], part["episodes"]
        self.truncated = [(step, self.first + worlds, rows) for step, worlds, rows in part["truncations"]]
        return part

    def pop_statistics(self) -> EpisodeStatistics:
        """Of the newest part."""
        assert self._episodes is not None
        return self._episodes

    def reset(self) -> None:
        """New episodes in all of its worlds."""
        self.do("reset")

    def change(self, name: str, *words: Any) -> None:
        """Call a method of the environment that changes what ``state`` gives."""
        self.do("change", name, *words)
