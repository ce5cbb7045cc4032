# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole jobs on the nodes of a cluster: inputs out; events, checkpoints and results home into the job's own folder.

As many hosts as jobs or cores, each with the next job as soon as it is free. A job whose host is lost goes on at
another one from the newest checkpoint that came home. What a host says after it was given up is never read, so nothing
is doubled.
"""

import logging
import re
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import ClusterError, JobError, SinewError
from ...files import remove_file, write_whole
from ...paths import find_in_folder, is_there
from ..event_checks import Event
from ..events import TERMINAL, append_event
from ..job import Job
from .connection import Cluster, NodeLost, NodeObject
from .take_host import read_job_files

_LOOK_S = 0.2
_SAY_S = 3.0  # until somebody is told that a job waits for a core
_MOST_LOSSES = 20  # of one job: then it is the job that ends its nodes
_KEEP = 3  # checkpoints
_RELAYED = ("resumed", "progress", "paused", "continued", *TERMINAL)
_FILE = re.compile(r"checkpoints/[0-9]{1,12}\.npz|shown\.npz")
_RESULT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class RelayedJob:
    """A job on its way. number: of its run. said: what it waits for. findings: that were told in this run."""

    job: Job
    number: int
    losses: int = 0
    since: float = field(default_factory=time.monotonic)
    said: str = ""
    findings: list[dict[str, str]] = field(default_factory=list)

    def write(self, kind: str, **fields: Any) -> None:
        """Append an event of this run."""
        append_event(self.job.events, kind, self.number, mode=self.job.mode, **fields)

    def wait_for(self, what: str) -> None:
        """Say for what it waits, once."""
        if what != self.said:
            self.said = what
            self.write("waiting", message=what)

    def fail(self, error: SinewError) -> None:
        """Write that it failed."""
        self.write("failed", message=error.message, hint=error.hint)


@dataclass(eq=False)
class _Host:
    """An object on a node, and the job that it works at. asked: what it was asked, and its answer is waited for."""

    remote: NodeObject
    doing: RelayedJob | None = None
    asked: Any = None
    passed_on: dict[str, bool] = field(default_factory=dict)


def relay_jobs(cluster: Cluster, wanted: Sequence[RelayedJob]) -> None:
    """Have the jobs done on the cluster; each gets exactly one last event."""
    relay = _Relay(cluster, wanted)
    try:
        relay.begin()
        relay.run()
    except ClusterError as error:
        for one in relay.left():
            one.fail(error)
    except Exception as error:  # noqa: BLE001 - every job ends with a word
        _log.exception("A bug")
        what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        for one in relay.left():
            one.fail(JobError(f"Sinew met a bug: {what}", f"Look into '{one.job.log}' and report it"))
    finally:
        relay.close()


class _Relay:
    def __init__(self, cluster: Cluster, wanted: Sequence[RelayedJob]) -> None:
        self._cluster, self._waiting = cluster, deque(wanted)
        self._each, self._most = 1, 1
        self._hosts: list[_Host] = []
        self._wasted = 0  # hosts that were lost before they could begin, one after the other

    def begin(self) -> None:
        """Ask for as many hosts as there are jobs or cores; each has as many cores as there are to go round."""
        cores, count = self._cluster.count_cores(), len(self._waiting)
        self._each = max(1, min(min(cores, default=1), sum(cores) // max(1, count)))
        self._most = min(count, max(1, sum(one // self._each for one in cores)))
        self._hosts += [self._make() for _ in range(self._most)]

    def _make(self) -> _Host:
        return _Host(self._cluster.make("take_host", "TakeHost", self._each, cores=self._each))

    def left(self) -> list[RelayedJob]:
        """The jobs that have not ended."""
        return [*(host.doing for host in self._hosts if host.doing is not None), *self._waiting]

    def close(self) -> None:
        """Give back what was taken of the cluster."""
        for host in self._hosts:
            host.remote.close()

    def run(self) -> None:
        """Until no job is left."""
        while self.left():
            self._cluster.check()
            for host in list(self._hosts):
                try:
                    self._attend(host)
                except NodeLost as lost:
                    self._replace(host, lost)
                except SinewError as error:
                    self._give_up(host, error)
            self._look_at_waiting()
            self._cluster.wait_for_any([host.asked for host in self._hosts if host.asked is not None], _LOOK_S)

    def _give_up(self, host: _Host, error: SinewError) -> None:
        """A node cannot do what it was given: its job failed, or where it had none yet, all that wait."""
        failed = [host.doing] if host.doing is not None else list(self._waiting)
        if host.doing is None:
            self._waiting.clear()
        host.doing = None
        for one in failed:
            one.fail(error)
        self._hosts.remove(host)
        host.remote.close()
        if self._waiting:
            self._hosts.append(self._make())

    def _replace(self, host: _Host, lost: NodeLost) -> None:
        """What a lost host was at comes first at the next one."""
        _log.warning("A node is lost: %s", lost)
        self._hosts.remove(host)
        host.remote.close()
        if host.doing is None:
            self._wasted += 1
            if self._wasted >= _MOST_LOSSES:
                raise ClusterError(f"{self._wasted} nodes were lost before they could begin", "Look into Ray's logs")
        if (one := host.doing) is not None:
            one.losses += 1
            if one.losses >= _MOST_LOSSES:
                one.fail(ClusterError(f"{one.losses} nodes were lost while they worked at it", "Look into Ray's logs"))
            else:
                self._waiting.appendleft(one)
                one.wait_for(f"The node {host.remote.node} is lost; it is done again elsewhere")
        if len(self._hosts) < min(self._most, len(self.left())):
            self._hosts.append(self._make())

    def _attend(self, host: _Host) -> None:
        if not host.remote.is_ready():
            return
        if host.doing is None:
            self._wasted = 0
            self._begin(host)
            return
        self._pass_on_requests(host)
        if host.asked is None:
            host.asked = host.remote.ask("look")
        found = self._cluster.wait(host.asked, 0.0)
        if found is None:
            return
        host.asked = None
        _bring_home(host.doing.job, found[0]["files"])
        for event in found[0]["events"]:
            self._relay(host, event)
            if host.doing is None:
                self._begin(host)
                return
        if found[0]["code"] is not None:
            _log.error("%s", host.remote.call("log"))
            raise JobError(
                f"The worker on node '{host.remote.node}' ended without a word (exit code {found[0]['code']})",
                f"Resume it, or look into '{host.doing.job.log}'",
            )

    def _begin(self, host: _Host) -> None:
        while self._waiting:
            one = self._waiting.popleft()
            if is_there(one.job.cancel_file):
                _write_cancelled(one)
                continue
            host.doing, host.asked, host.passed_on = one, None, {}
            host.remote.call("begin", read_job_files(one.job))
            one.said = ""
            host.asked = host.remote.ask("look")
            return

    def _pass_on_requests(self, host: _Host) -> None:
        assert host.doing is not None
        job = host.doing.job
        for name, path in (("cancel", job.cancel_file), ("pause", job.pause_file), ("finish", job.finish_file)):
            wanted = is_there(path)
            if wanted != host.passed_on.get(name, False):
                host.remote.call("request", name, wanted)
                host.passed_on[name] = wanted

    def _relay(self, host: _Host, event: Event) -> None:
        one = host.doing
        assert one is not None
        kind, fields = event["kind"], {name: event[name] for name in event if name not in ("time", "run", "kind")}
        if kind == "finding" and event["finding"] not in one.findings:  # a job that is done again tells it again
            one.findings.append(event["finding"])
            one.write(kind, **fields)
        if kind not in _RELAYED:
            return
        if kind == "done":
            _keep_results(one.job, host.remote.call("results"), event.get("sha256", {}))
        if kind == "failed":
            fields["message"] = f"On node '{host.remote.node}': {fields.get('message', '')}"
        one.write(kind, **fields)
        if kind in TERMINAL:
            host.doing = None

    def _look_at_waiting(self) -> None:
        """Say so where a job waits for a free core, and let go of one that is cancelled meanwhile."""
        for one in list(self._waiting):
            if is_there(one.job.cancel_file):
                self._waiting.remove(one)
                _write_cancelled(one)
            elif not one.said and time.monotonic() - one.since > _SAY_S:
                busy = any(host.doing is not None for host in self._hosts)
                one.wait_for("Waiting for its turn" if busy else "Waiting for a free core of the cluster")


def _write_cancelled(one: RelayedJob) -> None:
    one.write("cancelled", message="Cancelled", hint="Resume it to go on from its last checkpoint")


def _bring_home(job: Job, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        if _FILE.fullmatch(name):
            write_whole(job.folder / name, data, job.mode)
    if any(name.startswith("checkpoints/") for name in files):
        there = [path for path in find_in_folder(job.checkpoints, ".npz") if path.stem.isdecimal()]
        for path in sorted(there, key=lambda path: int(path.stem))[:-_KEEP]:
            remove_file(path)


def _keep_results(job: Job, files: dict[str, bytes], hashes: dict[str, str]) -> None:
    """Write what belongs to the result; what is not as the node made it shows by the hashes of the last event."""
    folder: Path = job.take_file.parent
    for name in hashes:
        if name not in files or not _RESULT.fullmatch(name):
            raise JobError(f"The node has no '{name}', which belongs to the result", "Resume the job")
        write_whole(folder / name, files[name], job.mode)
